/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Two nodes and a network that the input governs: what arrives, when, how often
 * and how damaged.  As long as nothing was damaged or made up, a file or stream
 * that is committed is the one that was sent; in any case nothing hangs, leaks
 * or grows.
 */
#include <string.h>

#include <saratoga/engine.h>

#include "tests/fuzz/script.h"
#include "tests/support/alloc.h"

#define FILE_LEN 3000
#define QUEUE 64
#define DGRAM 700
#define STEPS_MAX 3000
#define MEMORY_MAX ((size_t)8 << 20)
#define ID 7 /* of the transfer, so that it can be aimed at */

struct dgram {
    uint8_t bytes[DGRAM];
    size_t len;
};

struct side {
    saratoga_engine *node;
    struct test_alloc alloc;
    struct dgram out[QUEUE];
    size_t n;
    uint8_t file[FILE_LEN];
    bool committed;
    saratoga_handle sender; /* its transfer, where it sends */
    size_t written;         /* of a stream */
};

static struct side side[2];
static saratoga_time now;
static bool stream;

static uint8_t octet(size_t i) {
    return (uint8_t)(i * 7 + i / 251);
}

static int64_t work(struct side *s, const saratoga_work *w) {
    if (w->type == SARATOGA_WORK_COMMIT) {
        s->committed = true;
        return 0;
    }
    if (w->type != SARATOGA_WORK_READ && w->type != SARATOGA_WORK_WRITE) {
        return 0;
    }
    if (w->offset > FILE_LEN || w->len > FILE_LEN - w->offset) {
        return SARATOGA_ERR_NO_SPACE;
    }
    for (size_t i = 0; i < w->len; i++) {
        if (w->type == SARATOGA_WORK_READ) {
            w->buf[i] = octet((size_t)w->offset + i);
        } else {
            s->file[w->offset + i] = w->buf[i];
        }
    }
    return w->type == SARATOGA_WORK_READ ? (int64_t)w->len : 0;
}

static saratoga_source source(void) {
    saratoga_source src;
    memset(&src, 0, sizeof(src));
    src.kind = stream ? SARATOGA_STREAM : SARATOGA_FILE;
    src.entry.size = stream ? 0 : FILE_LEN;
    strncpy(src.entry.path, "f", 2);
    return src;
}

static void answer(struct side *s, const saratoga_event *ev) {
    saratoga_answer a;
    saratoga_source src = source();
    saratoga_answer_init(&a);
    a.source = &src;
    (void)saratoga_transfer_accept(s->node, ev->handle, &a, now);
    s->sender = ev->handle;
}

/* Goes on with a stream; no octets: ends it. */
static void write_stream(struct side *s, size_t len) {
    uint8_t octets[256];
    int64_t n;
    len = len < FILE_LEN - s->written ? len : FILE_LEN - s->written;
    for (size_t i = 0; i < len; i++) {
        octets[i] = octet(s->written + i);
    }
    if (len == 0) {
        (void)saratoga_stream_finish(s->node, s->sender, now);
        return;
    }
    n = saratoga_stream_write(s->node, s->sender, octets, len, now);
    s->written += n > 0 ? (size_t)n : 0;
}

static void keep(struct side *s, const uint8_t *bytes, size_t len) {
    if (s->n < QUEUE) { /* else the network is full */
        memcpy(s->out[s->n].bytes, bytes, len);
        s->out[s->n++].len = len;
    }
}

static void pump(struct side *s) {
    saratoga_event ev;
    saratoga_work w;
    saratoga_pktinfo to;
    size_t segment;
    size_t len;
    static uint8_t buf[DGRAM];
    int spins = 0;
    do {
        FUZZ_CHECK(++spins < 10000);
        while (saratoga_engine_next_event(s->node, &ev) > 0) {
            if (ev.type == SARATOGA_EVENT_REQUEST) {
                answer(s, &ev);
            } else if (ev.type == SARATOGA_EVENT_DONE) {
                (void)saratoga_transfer_release(s->node, ev.handle, now);
            }
        }
        while (saratoga_engine_next_work(s->node, &w) > 0) {
            (void)saratoga_engine_work_done(s->node, w.id, work(s, &w), now);
        }
        len =
            saratoga_engine_send(s->node, &to, buf, sizeof(buf), &segment, now);
        for (size_t at = 0; at < len; at += segment) {
            keep(s, buf + at, len - at < segment ? len - at : segment);
        }
    } while (len > 0);
}

static void take_out(struct side *s, size_t i) {
    memmove(&s->out[i], &s->out[i + 1], (s->n - i - 1) * sizeof(s->out[0]));
    s->n--;
}

static void deliver(int from, const void *bytes, size_t len) {
    const saratoga_pktinfo peer = {.host = (uint64_t)from + 1,
                                   .path = (uint64_t)from + 1};
    saratoga_engine_recv(side[1 - from].node, &peer, bytes, len, now);
    pump(&side[1 - from]);
}

static void advance(uint64_t ns) {
    now += ns;
    for (int i = 0; i < 2; i++) {
        if (saratoga_engine_timeout(side[i].node) <= now) {
            saratoga_engine_on_timeout(side[i].node, now);
        }
        pump(&side[i]);
    }
}

/* A packet of any type, mostly of the transfer that there is. */
static void make_up(struct script *in, int from) {
    uint8_t made[48];
    size_t len = (size_t)script_below(in, sizeof(made));
    bool aimed = script_below(in, 4) != 0;
    for (size_t k = 0; k < len; k++) {
        made[k] = (uint8_t)script_number(in, 1);
    }
    made[0] = (uint8_t)(0x20 | (made[0] & 7));
    if (aimed) {
        memset(made + 3, 0, 4); /* success */
        made[7] = ID;
    }
    deliver(from, made, len);
}

/* One decision; true: something was damaged or made up. */
static bool step(struct script *in) {
    int from = (int)script_below(in, 2);
    struct side *s = &side[from];
    size_t i = s->n > 0 ? (size_t)script_below(in, s->n) : 0;
    switch (script_below(in, 8)) {
    case 0:
        advance(script_number(in, 2) * 100000);
        return false;
    case 1:
        make_up(in, from);
        return true;
    case 2:
        if (s->n > 0) {
            struct dgram d = s->out[i];
            d.bytes[script_below(in, d.len)] ^= (uint8_t)script_number(in, 1);
            deliver(from, d.bytes, d.len);
        }
        return s->n > 0;
    case 3:
        if (s->n > 0) {
            take_out(s, i);
        }
        return false;
    case 4:
        if (stream) {
            write_stream(s, (size_t)script_below(in, 256));
            pump(s);
        }
        return false;
    default:
        if (s->n > 0) {
            struct dgram d = s->out[i];
            if (script_below(in, 8) != 0) { /* else it comes again */
                take_out(s, i);
            }
            deliver(from, d.bytes, d.len);
        }
        return false;
    }
}

static void start(struct script *in) {
    saratoga_config c;
    saratoga_options o;
    uint8_t seed[SARATOGA_SEED_LEN] = {3};
    static const uint32_t types[] = {SARATOGA_GET, SARATOGA_PUT, SARATOGA_TAKE,
                                     SARATOGA_GIVE};
    saratoga_request q;
    saratoga_source src;
    saratoga_handle handle;
    stream = script_below(in, 4) == 0;
    src = source();
    saratoga_options_init(&o);
    saratoga_config_init(&c);
    o.rate_bps = 1000000;
    o.timestamps = (uint32_t)script_below(in, 7);
    o.congestion = script_below(in, 2) != 0 ? "stfrc" : "open";
    c.transfer = &o;
    c.mtu = 600;
    c.update_check = script_below(in, 4) == 0;
    memset(side, 0, sizeof(side));
    now = 1;
    for (int i = 0; i < 2; i++) {
        c.allocator = (saratoga_allocator){test_alloc_realloc, &side[i].alloc};
        FUZZ_CHECK(saratoga_engine_new(&side[i].node, &c, seed, now) == 0);
    }
    saratoga_request_init(&q);
    q.type = types[script_below(in, 4)];
    q.path = "f";
    q.id = ID;
    q.source = &src;
    q.to = (saratoga_pktinfo){.host = 1, .path = 1};
    FUZZ_CHECK(saratoga_transfer_start(side[1].node, &q, &handle, now) == 0);
    side[1].sender = handle;
    pump(&side[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct script in = {data, data + size};
    bool damaged = false;
    start(&in);
    for (int i = 0; script_left(&in) && i < STEPS_MAX; i++) {
        damaged |= step(&in);
    }
    for (int i = 0; i < 400; i++) { /* then all goes well */
        for (int from = 0; from < 2; from++) {
            if (side[from].n > 0) {
                struct dgram d = side[from].out[0];
                take_out(&side[from], 0);
                deliver(from, d.bytes, d.len);
            }
        }
        advance(50000000);
    }
    for (int i = 0; i < 2; i++) {
        size_t len = stream ? side[1 - i].written : FILE_LEN;
        for (size_t k = 0; !damaged && side[i].committed && k < len; k++) {
            FUZZ_CHECK(side[i].file[k] == octet(k));
        }
        FUZZ_CHECK(side[i].alloc.peak < MEMORY_MAX);
        saratoga_engine_free(side[i].node);
        FUZZ_CHECK(side[i].alloc.blocks == 0);
    }
    return 0;
}
