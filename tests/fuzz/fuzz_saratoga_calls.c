/* SPDX-License-Identifier: MPL-2.0 */
/*
 * A careless application: two engines whose calls come in any order, for any
 * handle, with odd arguments and with results of work that make no sense. Each
 * call returns what its header says, and nothing hangs or leaks.
 */
#include <string.h>

#include <saratoga/engine.h>

#include "tests/fuzz/script.h"
#include "tests/support/alloc.h"

#define HANDLES 8
#define WORKS 8
#define DGRAM 700
#define STEPS_MAX 1500
#define MEMORY_MAX ((size_t)64 << 20)

struct app {
    saratoga_engine *engine;
    struct test_alloc alloc;
    saratoga_handle handle[HANDLES]; /* the newest, whether valid or not */
    saratoga_work work[WORKS];       /* not yet done; id 0: none */
};

static struct app apps[2];
static saratoga_time now;
static struct script *in;

static uint64_t below(uint64_t n) {
    return script_below(in, n);
}

/* Mostly false. */
static bool odd(void) {
    return below(16) == 15;
}

static saratoga_handle any(const struct app *a) {
    return odd() ? script_number(in, 8) : a->handle[below(HANDLES)];
}

static void keep(struct app *a, saratoga_handle h) {
    a->handle[below(HANDLES)] = h;
}

/* --- Arguments ----------------------------------------------------------- */

static uint64_t edge(void) {
    static const uint64_t edges[] = {0,          1,         UINT32_MAX,
                                     UINT64_MAX, INT64_MAX, UINT64_MAX - 1};
    return edges[below(6)];
}

static uint64_t number(uint64_t usual) {
    return odd() ? edge() : usual;
}

/* Gives one option a value at the edge of its range, or beyond. */
static void spoil_option(saratoga_options *o) {
    uint64_t *const wide[] = {
        &o->rate_bps,      &o->unconfirmed,  &o->uplink_bps,
        &o->request_retry, &o->early,        &o->status_spacing,
        &o->first_spacing, &o->quiet_status, &o->metadata_wait,
        &o->inactivity,    &o->linger,       &o->poll,
        &o->poll_max,      &o->rtt_hint};
    uint32_t *const narrow[] = {
        &o->profile,       &o->checksum,  &o->descriptor, &o->max_descriptor,
        &o->timestamps,    &o->payload,   &o->copies,     &o->cycles,
        &o->request_tries, &o->max_holes, &o->blocks,     &o->spacing_packets};
    size_t *const sizes[] = {&o->window, &o->block, &o->struct_size};
    switch (below(4)) {
    case 0:
        *sizes[below(3)] = below(2) == 0 ? 0 : SIZE_MAX;
        break;
    case 1:
        *narrow[below(12)] = (uint32_t)edge();
        break;
    default:
        *wide[below(14)] = edge();
        break;
    }
}

static void set_options(saratoga_options *o) {
    static const char *const names[] = {"open",  "stfrc", "tfrc",
                                        "cubic", NULL,    "none such"};
    bool *const flags[] = {
        &o->unreliable,   &o->no_status,       &o->multicast,   &o->lite,
        &o->update_check, &o->half_open_holes, &o->wide_entries};
    saratoga_options_init(o);
    o->rate_bps = 1000000;
    o->congestion = names[below(odd() ? 6 : 5)];
    o->checksum = (uint32_t)below(4);
    o->timestamps = (uint32_t)below(7);
    o->block = 4096;
    if (below(4) == 0) {
        *flags[below(7)] = true;
    }
    if (below(8) == 7) {
        spoil_option(o);
    }
}

static void set_source(saratoga_source *s) {
    memset(s, 0, sizeof(*s));
    s->kind = (uint32_t)number(below(8) == 0 ? SARATOGA_STREAM : SARATOGA_FILE);
    s->entry.size = number(s->kind == SARATOGA_STREAM ? 0 : below(20000));
    s->entry.directory = below(16) == 0;
    s->entry.descriptor = (uint32_t)number(SARATOGA_DESCRIPTOR_FIT);
    s->checksum = (uint32_t)number(below(4));
    s->digest_later = below(8) == 0;
    s->unchanged = below(16) == 0;
    memset(s->entry.path, 'p', odd() ? sizeof(s->entry.path) : 3);
}

static void set_partial(saratoga_partial *p, saratoga_range *r, size_t n) {
    memset(p, 0, sizeof(*p));
    p->entry.size = number(20000);
    p->checksum = (uint32_t)number(SARATOGA_NONE);
    for (size_t i = 0; i < n; i++) {
        r[i].start = odd() ? number(i) : 1000 * i;
        r[i].end = odd() ? number(i) : 1000 * i + 500;
    }
    p->ranges = r;
    p->count = n;
}

static saratoga_pktinfo peer_of(const struct app *a) {
    uint64_t t = a == &apps[0] ? 2 : 1;
    saratoga_pktinfo to = {.host = number(t), .path = number(t)};
    to.flags = (uint32_t)number(below(16) == 0 ? SARATOGA_PKT_MULTICAST : 0);
    return to;
}

/* --- Calls --------------------------------------------------------------- */

static void call_start(struct app *a) {
    static const uint32_t types[] = {
        SARATOGA_GET,    SARATOGA_PUT,    SARATOGA_TAKE, SARATOGA_GIVE,
        SARATOGA_DELETE, SARATOGA_GETDIR, SARATOGA_NOOP, SARATOGA_BLIND_PUT};
    static const uint8_t auth[300];
    saratoga_request q;
    saratoga_options o;
    saratoga_source s;
    saratoga_partial p;
    saratoga_range r[4];
    saratoga_handle h = 0;
    int rv;
    saratoga_request_init(&q);
    set_options(&o);
    set_source(&s);
    set_partial(&p, r, (size_t)below(5));
    q.type = odd() ? (uint32_t)below(300) : types[below(8)];
    q.id = (uint32_t)below(4);
    q.to = peer_of(a);
    q.path = odd() ? NULL : "path";
    q.options = below(2) == 0 ? NULL : &o;
    q.source = odd() ? NULL : &s;
    q.partial = below(2) == 0 ? NULL : &p;
    q.auth = auth;
    q.auth_len = below(8) == 0 ? (size_t)below(sizeof(auth)) : 0;
    if (odd()) {
        q.struct_size = 0;
    }
    rv = saratoga_transfer_start(a->engine, &q, &h, now);
    FUZZ_EXPECT(rv, SARATOGA_ERR_INVAL, SARATOGA_ERR_ALGORITHM,
                SARATOGA_ERR_TOO_LONG, SARATOGA_ERR_STATE, SARATOGA_ERR_LIMIT);
    if (rv == 0) {
        keep(a, h);
    }
}

static void call_accept(struct app *a) {
    saratoga_answer w;
    saratoga_options o;
    saratoga_source s;
    saratoga_partial p;
    saratoga_range r[4];
    saratoga_answer_init(&w);
    set_options(&o);
    set_source(&s);
    set_partial(&p, r, (size_t)below(5));
    w.options = below(2) == 0 ? NULL : &o;
    w.source = odd() ? NULL : &s;
    w.partial = below(2) == 0 ? NULL : &p;
    if (below(16) == 0) {
        w.group = peer_of(a);
    }
    FUZZ_EXPECT(
        saratoga_transfer_accept(a->engine, any(a), odd() ? NULL : &w, now),
        SARATOGA_ERR_GONE, SARATOGA_ERR_STATE, SARATOGA_ERR_INVAL,
        SARATOGA_ERR_ALGORITHM, SARATOGA_ERR_TOO_LONG);
}

static void call_end(struct app *a) {
    unsigned status = (unsigned)(odd() ? script_number(in, 2) : 1 + below(18));
    switch (below(4)) {
    case 0:
        FUZZ_EXPECT(saratoga_transfer_refuse(a->engine, any(a), status, now),
                    SARATOGA_ERR_GONE, SARATOGA_ERR_STATE, SARATOGA_ERR_INVAL);
        break;
    case 1:
        FUZZ_EXPECT(saratoga_transfer_cancel(a->engine, any(a), status, now),
                    SARATOGA_ERR_GONE, SARATOGA_ERR_STATE, SARATOGA_ERR_INVAL);
        break;
    default:
        FUZZ_EXPECT(saratoga_transfer_release(a->engine, any(a), now),
                    SARATOGA_ERR_GONE);
        break;
    }
}

static void call_transfer(struct app *a) {
    static const uint8_t data[5000];
    saratoga_range r;
    saratoga_stats st;
    switch (below(10)) {
    case 0:
        FUZZ_EXPECT(saratoga_transfer_join(a->engine, any(a), any(a), now),
                    SARATOGA_ERR_GONE, SARATOGA_ERR_STATE);
        break;
    case 1:
        FUZZ_EXPECT(saratoga_transfer_challenge(a->engine, any(a), now),
                    SARATOGA_ERR_GONE, SARATOGA_ERR_STATE);
        break;
    case 2:
        FUZZ_EXPECT(saratoga_transfer_set_digest(a->engine, any(a),
                                                 SARATOGA_NONE, NULL, now),
                    SARATOGA_ERR_GONE, SARATOGA_ERR_STATE);
        break;
    case 3:
        FUZZ_EXPECT(saratoga_transfer_set_digest(a->engine, any(a),
                                                 (uint32_t)number(below(17)),
                                                 data, now),
                    SARATOGA_ERR_GONE, SARATOGA_ERR_STATE, SARATOGA_ERR_INVAL);
        break;
    case 4:
        FUZZ_EXPECT(
            saratoga_transfer_set_rate(a->engine, any(a), number(1000000), now),
            SARATOGA_ERR_GONE, SARATOGA_ERR_STATE);
        break;
    case 5:
        FUZZ_EXPECT(saratoga_transfer_set_link_down(a->engine, any(a),
                                                    below(2) == 0, now),
                    SARATOGA_ERR_GONE);
        break;
    case 6:
        FUZZ_EXPECT(saratoga_transfer_held(a->engine, any(a), number(0), &r),
                    SARATOGA_ERR_GONE);
        break;
    case 7:
        saratoga_stats_init(&st);
        FUZZ_EXPECT(saratoga_transfer_get_stats(a->engine, any(a), &st, now),
                    SARATOGA_ERR_GONE);
        break;
    case 8:
        FUZZ_EXPECT(saratoga_stream_write(a->engine, any(a), data,
                                          (size_t)below(sizeof(data)), now),
                    SARATOGA_ERR_AGAIN, SARATOGA_ERR_GONE, SARATOGA_ERR_STATE);
        break;
    default:
        FUZZ_EXPECT(saratoga_stream_finish(a->engine, any(a), now),
                    SARATOGA_ERR_GONE, SARATOGA_ERR_STATE);
        break;
    }
}

static void call_engine(struct app *a) {
    saratoga_pktinfo to = peer_of(a);
    switch (below(4)) {
    case 0:
        FUZZ_EXPECT(saratoga_engine_beacon(a->engine, &to, now),
                    SARATOGA_ERR_LIMIT);
        break;
    case 1:
        saratoga_engine_set_free_space(a->engine, number(1000));
        break;
    case 2:
        saratoga_engine_set_willing(a->engine, below(2) == 0, below(2) == 0);
        break;
    default:
        saratoga_engine_set_uplink(a->engine, number(100000));
        break;
    }
}

/* --- Work ---------------------------------------------------------------- */

/* Done as it should be, or in a way that makes no sense. */
static int64_t result_of(saratoga_work *w) {
    static const int64_t results[] = {
        INT64_MAX, INT64_MIN, 1, -1, -1000, SARATOGA_ERR_NO_SPACE};
    if (w->buf != NULL && w->type == SARATOGA_WORK_READ) {
        memset(w->buf, 'x', w->len);
    }
    if (odd()) {
        return results[below(6)];
    }
    return w->type == SARATOGA_WORK_READ ? (int64_t)w->len : 0;
}

static void finish_work(struct app *a) {
    size_t at = (size_t)below(WORKS);
    saratoga_work *w = &a->work[at];
    int64_t result;
    for (size_t i = 0; i < WORKS && w->id == 0; i++) {
        w = &a->work[(at + i) % WORKS];
    }
    if (w->id != 0) {
        result = result_of(w);
        FUZZ_CHECK(saratoga_engine_work_done(a->engine, w->id, result, now) ==
                   0);
    }
    FUZZ_CHECK(saratoga_engine_work_done(a->engine, w->id, 0, now) ==
               SARATOGA_ERR_GONE);
    w->id = 0;
}

static void take_work(struct app *a) {
    for (size_t i = 0; i < WORKS; i++) {
        if (a->work[i].id == 0 &&
            saratoga_engine_next_work(a->engine, &a->work[i]) == 0) {
            a->work[i].id = 0;
            return;
        }
    }
}

/* --- The network --------------------------------------------------------- */

static void deliver(struct app *to, const uint8_t *bytes, size_t len) {
    const uint64_t t = to == &apps[0] ? 2 : 1;
    const saratoga_pktinfo from = {.host = t, .path = t};
    if (below(32) != 31) {
        saratoga_engine_recv(to->engine, &from, bytes, len, now);
    }
}

static void pump(struct app *a) {
    static uint8_t buf[DGRAM];
    struct app *other = a == &apps[0] ? &apps[1] : &apps[0];
    saratoga_pktinfo to;
    saratoga_event ev;
    size_t segment;
    size_t len;
    int spins = 0;
    while (below(8) != 7 && saratoga_engine_next_event(a->engine, &ev) == 1) {
        if (ev.handle != 0) {
            keep(a, ev.handle);
        }
    }
    take_work(a);
    for (uint64_t n = below(WORKS); n > 0; n--) {
        finish_work(a);
    }
    do {
        FUZZ_CHECK(++spins < 10000);
        len = saratoga_engine_send(a->engine, &to, buf, sizeof(buf), &segment,
                                   now);
        for (size_t at = 0; at < len; at += segment) {
            deliver(other, buf + at, len - at < segment ? len - at : segment);
        }
    } while (len > 0);
}

static void pass_time(uint64_t ns) {
    now += ns;
    for (int i = 0; i < 2; i++) {
        saratoga_engine_on_timeout(apps[i].engine, now);
        (void)saratoga_engine_timeout(apps[i].engine);
    }
}

static void step(void) {
    struct app *a = &apps[below(2)];
    switch (below(12)) {
    case 0:
    case 1:
        call_start(a);
        break;
    case 2:
    case 3:
        call_accept(a);
        break;
    case 4:
        call_end(a);
        break;
    case 5:
    case 6:
        call_transfer(a);
        break;
    case 7:
        call_engine(a);
        break;
    case 8:
        pass_time(script_number(in, 2) * 100000);
        break;
    case 9:
    case 10:
        finish_work(a);
        break;
    default:
        break;
    }
    if (below(2) == 0) {
        pump(a);
    }
}

static void open_app(struct app *a) {
    static const uint8_t seed[SARATOGA_SEED_LEN] = {3};
    saratoga_config c;
    saratoga_config_init(&c);
    c.mtu = 600;
    c.eid = "eid";
    c.max_transfers = 20;
    c.allocator = (saratoga_allocator){test_alloc_realloc, &a->alloc};
    FUZZ_CHECK(saratoga_engine_new(&a->engine, &c, seed, now) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct script script = {data, data + size};
    in = &script;
    memset(apps, 0, sizeof(apps));
    now = 1;
    open_app(&apps[0]);
    open_app(&apps[1]);
    for (int i = 0; script_left(in) && i < STEPS_MAX; i++) {
        step();
    }
    for (int i = 0; i < 2; i++) {
        FUZZ_CHECK(apps[i].alloc.peak < MEMORY_MAX);
        saratoga_engine_free(apps[i].engine);
        FUZZ_CHECK(apps[i].alloc.blocks == 0);
    }
    return 0;
}
