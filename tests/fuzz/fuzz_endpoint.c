/* SPDX-License-Identifier: MPL-2.0 */
/*
 * A listening port that gets anything at all, well sealed or not.  Replies stay
 * below a third of what came, connections below their limit, and what goes to
 * an address that has not proven itself below three times what came from it.
 */
#include <string.h>

#include <tltcp/conn.h>

#include "internal/secure/hello.h"
#include "internal/secure/packet.h"
#include "libtltcp/engine/config.h"
#include "libtltcp/engine/endpoint.h"
#include "tests/fuzz/script.h"
#include "tests/support/alloc.h"

#define CONNS 16

/* A connection that the endpoint made. */
struct guest {
    tltcp_conn *conn;
    uint64_t in;
    uint64_t out;
    bool proven;
};

struct world {
    sec__key key;
    bool secured;
    struct script in;
    struct test_alloc alloc;
    tltcp_endpoint *ep;
    struct guest guest[CONNS];
    tltcp_time now;
    uint8_t dgram[2048];
    size_t len;
    uint64_t path;
};

static void flush(struct world *w, struct guest *g) {
    static uint8_t buf[65536];
    tltcp_pktinfo info;
    tltcp_event ev;
    size_t segment = 0;
    size_t n;
    int left = 1000;
    do {
        while (tltcp_conn_next_event(g->conn, &ev) > 0) {
            g->proven |= ev.type == TLTCP_EVENT_CONNECTED;
        }
        n = tltcp_conn_send(g->conn, &info, buf, sizeof(buf), &segment, w->now);
        g->out += n;
        FUZZ_CHECK(n == 0 || (segment > 0 && segment <= n));
        FUZZ_CHECK(g->proven || g->out <= 3 * g->in);
        FUZZ_CHECK(--left > 0);
    } while (n > 0);
}

static struct guest *guest_of(struct world *w, const tltcp_conn *conn) {
    for (int i = 0; i < CONNS; i++) {
        if (w->guest[i].conn == conn) {
            return &w->guest[i];
        }
    }
    return NULL;
}

static void welcome(struct world *w, tltcp_conn *conn) {
    struct guest *g = guest_of(w, NULL);
    FUZZ_CHECK(g != NULL); /* max_connections */
    *g = (struct guest){.conn = conn, .in = w->len};
    switch (script_below(&w->in, 4)) {
    case 0:
        FUZZ_CHECK(tltcp_conn_refuse(conn, "no", w->now) == 0);
        break;
    case 1:
        break; /* later, or never */
    default:
        FUZZ_CHECK(tltcp_conn_accept(conn, w->now) == 0);
        break;
    }
    flush(w, g);
}

static void deliver(struct world *w) {
    tltcp_pktinfo info = {.path = w->path,
                          .ecn = (uint32_t)script_below(&w->in, 4),
                          .network = w->path / 2};
    tltcp_dispatch out;
    struct guest *g;
    switch (tltcp_endpoint_recv(w->ep, &info, w->dgram, w->len, &out, w->now)) {
    case TLTCP_TAKEN:
        g = guest_of(w, out.conn);
        FUZZ_CHECK(g != NULL);
        g->in += w->len;
        flush(w, g);
        break;
    case TLTCP_CALLER:
        welcome(w, out.conn);
        break;
    case TLTCP_REPLY:
        FUZZ_CHECK(out.reply_len > 0 && 3 * out.reply_len <= w->len);
        break;
    default:
        break;
    }
}

static void put_noise(struct world *w, cmn__writer *wr, size_t n) {
    while (n-- > 0) {
        cmn__put8(wr, (uint8_t)script_number(&w->in, 1));
    }
}

/* The first message of one who has the key, around parameters and noise; it is
 * spoilt now and then. */
static void put_hello(struct world *w, cmn__writer *wr, const sec__packet *p,
                      const tltcp__params *params) {
    static const uint8_t e[TLTCP_SEED_LEN] = {5};
    const sec__admission *a = &w->ep->shared->admission;
    const sec__terms t = {.version = TLTCP__VERSION,
                          .caller_id = p->scid,
                          .token = p->token,
                          .token_len = p->token_len,
                          .salt = a->salt,
                          .public_key = a->tokens.now.public_key};
    sec__hello h = {0};
    uint8_t payload[200];
    cmn__writer text = cmn__writer_of(payload, sizeof(payload));
    uint8_t *start = wr->p;
    if (script_below(&w->in, 8) != 0) {
        tltcp__params_put(&text, params);
    }
    put_noise(w, &text, (size_t)script_below(&w->in, 32));
    FUZZ_CHECK(sec__hello_call(&h, &t, &w->key, e, payload,
                               (size_t)(text.p - payload)));
    sec__hello_put(wr, &h);
    if (script_below(&w->in, 4) == 0) {
        start[script_below(&w->in, (uint64_t)(wr->p - start))] ^= 1;
    }
}

/* A packet that is nearly right. */
static void forge(struct world *w) {
    static const uint8_t types[] = {SEC__INITIAL, SEC__SHORT, SEC__INITIAL,
                                    SEC__ANSWER,  SEC__RETRY, SEC__VERSIONS};
    const tltcp_conn *c = w->guest[script_below(&w->in, CONNS)].conn;
    uint8_t token[24] = {0};
    sec__packet p = {.type = types[script_below(&w->in, 6)],
                     .version = TLTCP__VERSION,
                     .dcid = c != NULL ? tltcp_conn_id(c) : 0,
                     .scid = script_below(&w->in, 8),
                     .pn = (uint32_t)script_below(&w->in, 300),
                     .token = token,
                     .token_len = script_below(&w->in, 2) * sizeof(token)};
    tltcp__params params = {.window = 65536,
                            .sections = 100,
                            .datagram = 1472,
                            .ack_every = 2,
                            .features = TLTCP__FEATURE_SKIP};
    cmn__writer wr = cmn__writer_of(w->dgram, 1400);
    if (w->secured && script_below(&w->in, 8) != 0) {
        const sec__bearer who = {.path = w->path, .id = p.scid};
        sec__tokens_make(&w->ep->shared->admission.tokens, &w->ep->secret, &who,
                         w->now, token);
        p.token_len = sizeof(token);
    }
    p.version += (uint32_t)(script_below(&w->in, 16) == 0);
    sec__packet_put(&wr, &p);
    if (p.type == SEC__INITIAL && w->secured) {
        put_hello(w, &wr, &p, &params);
    } else if (p.type == SEC__INITIAL && script_below(&w->in, 8) != 0) {
        tltcp__params_put(&wr, &params);
    }
    put_noise(w, &wr, (size_t)script_below(&w->in, 64));
    if (script_below(&w->in, 8) != 0) {
        memset(wr.p, 0, 1300);
        wr.p = w->dgram + 1300 < wr.p ? wr.p : w->dgram + 1300;
    }
    sec__packet_seal(&wr, w->dgram);
    w->len = (size_t)(wr.p - w->dgram);
}

static void noise(struct world *w) {
    cmn__writer wr = cmn__writer_of(w->dgram, sizeof(w->dgram));
    put_noise(w, &wr, (size_t)script_below(&w->in, 200));
    if (script_below(&w->in, 2) == 1) {
        sec__packet_seal(&wr, w->dgram);
    }
    w->len = (size_t)(wr.p - w->dgram);
}

static void pass_time(struct world *w) {
    w->now += script_below(&w->in, 256) * 20 * TLTCP_MS;
    for (int i = 0; i < CONNS; i++) {
        struct guest *g = &w->guest[i];
        if (g->conn != NULL) {
            tltcp_conn_on_timeout(g->conn, w->now);
            flush(w, g);
            FUZZ_CHECK(tltcp_conn_timeout(g->conn) > w->now ||
                       tltcp_conn_is_closed(g->conn) || !g->proven);
        }
    }
}

static void part(struct world *w) {
    struct guest *g = &w->guest[script_below(&w->in, CONNS)];
    if (g->conn == NULL) {
        return;
    }
    if (script_below(&w->in, 4) == 0) {
        (void)tltcp_conn_accept(g->conn, w->now);
        flush(w, g);
    } else if (script_below(&w->in, 2) == 0 || tltcp_conn_is_closed(g->conn)) {
        tltcp_conn_free(g->conn);
        g->conn = NULL;
    } else {
        tltcp_conn_close(g->conn, TLTCP_TIME_NEVER, w->now);
        flush(w, g);
    }
}

static void step(struct world *w) {
    w->path = 1 + script_below(&w->in, 8);
    switch (script_below(&w->in, 8)) {
    case 0:
        noise(w);
        deliver(w);
        break;
    case 1:
        pass_time(w);
        break;
    case 2:
        part(w);
        break;
    default:
        forge(w);
        deliver(w);
        break;
    }
}

static void open_endpoint(struct world *w) {
    static const uint8_t seed[TLTCP_SEED_LEN] = {1, 2, 3};
    static const uint8_t key[32] = {4, 5, 6};
    uint64_t x = script_number(&w->in, 1);
    tltcp_config c;
    tltcp_config_init(&c);
    c.allocator = (tltcp_allocator){test_alloc_realloc, &w->alloc};
    c.listener.max_connections = CONNS;
    c.listener.max_half_open = 1 + (uint32_t)(x & 15);
    c.listener.always_retry = (x & 16) != 0;
    c.unordered = (x & 32) != 0;
    w->secured = (x & 64) != 0;
    if (w->secured) {
        c.key = key;
        c.key_len = sizeof(key);
    }
    c.listener.max_half_open_per_address = 1 + (uint32_t)(x >> 7) * 5;
    FUZZ_CHECK(tltcp_endpoint_new(&w->ep, &c, seed, w->now) == 0);
    w->key = w->secured ? w->ep->keys[0] : w->key;
}

int LLVMFuzzerTestOneInput(const uint8_t *in, size_t size) {
    static struct world w; /* large */
    memset(&w, 0, sizeof(w));
    w.in = (struct script){in, in + size};
    w.alloc.limit = 64 << 20;
    w.now = 1000;
    open_endpoint(&w);
    while (script_left(&w.in)) {
        step(&w);
        FUZZ_CHECK(tltcp_endpoint_count(w.ep) <= CONNS);
    }
    for (int i = 0; i < CONNS; i++) {
        tltcp_conn_free(w.guest[i].conn);
    }
    FUZZ_CHECK(tltcp_endpoint_count(w.ep) == 0);
    FUZZ_CHECK(w.alloc.peak < 16 << 20);
    tltcp_endpoint_free(w.ep);
    FUZZ_CHECK(w.alloc.blocks == 0);
    return 0;
}
