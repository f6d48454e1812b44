/* SPDX-License-Identifier: MPL-2.0 */
/*
 * A careless driver: the calls of connections and of their endpoint come in any
 * order and in any state, with odd arguments.  Each returns what its header
 * says; nothing hangs or leaks.
 */
#include <string.h>

#include <tltcp/conn.h>
#include <tltcp/local.h>

#include "tests/fuzz/script.h"
#include "tests/support/alloc.h"
#include "tests/support/odd.h"

#define CALLERS 3
#define PARTS 3
#define ROOM 3000
#define DGRAM 1500
#define STEPS_MAX 1500
#define MEMORY_MAX ((size_t)64 << 20)

/* The two ends of a connection; each may be NULL. Its path is its index + 1. */
struct pair {
    tltcp_conn *caller;
    tltcp_conn *called;
};

static struct test_alloc memory;
static tltcp_endpoint *endpoint;
static struct pair pairs[CALLERS];
static tltcp_time now;
static struct script *in;
static uint8_t room[ROOM];

static uint64_t below(uint64_t n) {
    return script_below(in, n);
}

/* Mostly false. */
static bool odd(void) {
    return below(16) == 15;
}

static tltcp_time when(void) {
    switch (below(8)) {
    case 0:
        return 0;
    case 1:
        return TLTCP_TIME_NEVER;
    case 2:
        return TLTCP_TIME_NEVER - 1;
    default:
        return now + below(256) * TLTCP_MS;
    }
}

static void configure(tltcp_config *c) {
    static const char *const recoveries[] = {"packet", "packet", "dupack",
                                             "dupack-sack"};
    static const uint8_t key[32] = {9};
    static const uint32_t edges[] = {0, 1, 16, 1200, INT32_MAX, UINT32_MAX};
    uint32_t *const fields[] = {&c->connect_timeout_ms,
                                &c->idle_timeout_ms,
                                &c->keep_alive_ms,
                                &c->latency_ms,
                                &c->controller.initial_window,
                                &c->controller.max_window,
                                &c->packets.max_ack_delay_ms,
                                &c->packets.max_datagram,
                                &c->paper.rto_min_ms,
                                &c->io.timer_granularity_us};
    uint64_t x = script_number(in, 2);
    tltcp_config_init(c);
    c->allocator = (tltcp_allocator){test_alloc_realloc, &memory};
    c->recovery = recoveries[x & 3];
    c->unordered = (x >> 2 & 1) != 0;
    c->report_fates = (x >> 3 & 1) != 0;
    c->deadline_at_receiver = (x >> 4 & 1) != 0;
    c->send_buffer = (x >> 5 & 1) != 0 ? 4096 : 65536;
    c->recv_buffer = (x >> 6 & 1) != 0 ? 4096 : 65536;
    c->max_sections = (x >> 7 & 1) != 0 ? 16 : 1024;
    c->listener.max_connections = CALLERS;
    c->listener.always_retry = (x >> 8 & 1) != 0;
    if ((x >> 9 & 3) == 0) {
        c->key = key;
        c->key_len = sizeof(key);
    }
    if ((x >> 11 & 7) == 0) {
        *fields[below(10)] = edges[below(6)];
    }
    if ((x >> 14 & 3) == 0) {
        c->max_rate = below(2) == 0 ? 1 : UINT64_MAX;
    }
}

/* --- The network --------------------------------------------------------- */

static void take_events(tltcp_conn *c) {
    tltcp_event ev;
    int n = 0;
    while (below(8) != 7 && tltcp_conn_next_event(c, &ev) == 1) {
        FUZZ_CHECK(++n < 100000);
    }
}

static void deliver(struct pair *p, bool to_listener, const uint8_t *dgram,
                    size_t len) {
    const tltcp_pktinfo info = {.path = (uint64_t)(p - pairs) + 1,
                                .ecn = (uint32_t)below(4)};
    tltcp_dispatch out;
    if (below(16) == 15) { /* lost */
        return;
    }
    if (!to_listener) {
        FUZZ_EXPECT(p->caller != NULL
                        ? tltcp_conn_recv(p->caller, &info, dgram, len, now)
                        : 0,
                    TLTCP_ERR_CLOSED);
        return;
    }
    switch (tltcp_endpoint_recv(endpoint, &info, dgram, len, &out, now)) {
    case TLTCP_CALLER:
        tltcp_conn_free(p->called);
        p->called = out.conn;
        break;
    case TLTCP_REPLY:
        if (p->caller != NULL) {
            (void)tltcp_conn_recv(p->caller, &info, out.reply, out.reply_len,
                                  now);
        }
        break;
    default:
        break;
    }
}

static void pump(struct pair *p, bool caller) {
    static uint8_t buf[16 * DGRAM];
    tltcp_pktinfo info;
    size_t segment = 0;
    size_t len = 1;
    for (int i = 0; len > 0 && (caller ? p->caller : p->called) != NULL; i++) {
        tltcp_conn *c = caller ? p->caller : p->called;
        FUZZ_CHECK(i < 10000);
        take_events(c);
        len = tltcp_conn_send(c, &info, buf, sizeof(buf), &segment, now);
        FUZZ_CHECK(len == 0 || (segment > 0 && segment <= len));
        for (size_t at = 0; at < len; at += segment) {
            deliver(p, caller, buf + at,
                    len - at < segment ? len - at : segment);
        }
    }
}

/* --- Calls --------------------------------------------------------------- */

static void call_new(struct pair *p) {
    static const uint8_t seed[TLTCP_SEED_LEN] = {1};
    tltcp_config c;
    tltcp_conn *made = NULL;
    configure(&c);
    FUZZ_EXPECT(tltcp_conn_new(&made, &c, seed, (uint64_t)(p - pairs) + 1, now),
                TLTCP_ERR_INVAL, TLTCP_ERR_UNSUPPORTED);
    if (made != NULL) {
        tltcp_conn_free(p->caller);
        p->caller = made;
    }
}

static struct iovec part(void) {
    size_t len = 1 + (size_t)below(ROOM);
    return odd_part(room, len, odd() ? (unsigned)below(ODD_PARTS) : ODD_PARTS);
}

static void call_write(tltcp_conn *c) {
    const struct iovec v[PARTS] = {part(), part(), part()};
    tltcp_section s = {.data = odd() ? NULL : v,
                       .count = odd() ? 0 : 1 + (size_t)below(PARTS),
                       .deadline = when()};
    if (below(2) == 0) {
        s.meta = (struct tltcp_meta){
            .section_class = (uint32_t)below(TL_CLASS_LAST + 1 + odd()),
            .stream = (uint32_t)below(TL_STREAMS_MAX + odd()),
            .depends = (uint32_t)(odd() ? script_number(in, 4) : below(4)),
            .reserved = odd(),
            .due = when()};
    }
    FUZZ_EXPECT(tltcp_conn_write(c, odd() ? NULL : &s, odd() ? 0 : 1, now),
                TLTCP_ERR_INVAL, TLTCP_ERR_TOO_BIG, TLTCP_ERR_AGAIN,
                TLTCP_ERR_STATE, TLTCP_ERR_CLOSED);
}

static void call_read(tltcp_conn *c) {
    static uint8_t got[PARTS][ROOM];
    struct tltcp_segment segments[PARTS];
    struct tltcp_meta metas[PARTS];
    tltcp_buf bufs[PARTS];
    size_t count = odd() ? 0 : 1 + (size_t)below(PARTS);
    int64_t rv;
    for (size_t i = 0; i < PARTS; i++) {
        bufs[i] = (tltcp_buf){got[i], odd() ? 0 : 1 + (size_t)below(ROOM)};
    }
    (void)tltcp_conn_readable(c);
    (void)tltcp_conn_section_ready(c);
    rv = tltcp_conn_read_meta(c, bufs, segments, below(2) ? metas : NULL,
                              &count, now);
    FUZZ_CHECK(count <= PARTS && (rv > 0) == (count > 0));
}

static void call_handshake(tltcp_conn *c) {
    switch (below(6)) {
    case 0:
    case 1:
        FUZZ_EXPECT(tltcp_conn_accept(c, now), TLTCP_ERR_STATE);
        break;
    case 2:
        FUZZ_EXPECT(tltcp_conn_refuse(c, below(2) ? "no" : NULL, now),
                    TLTCP_ERR_STATE);
        break;
    case 3:
        tltcp_conn_defer_keys(c);
        FUZZ_CHECK(tltcp_conn_key_job(c) == NULL); /* no passphrase */
        break;
    case 4:
        FUZZ_EXPECT(
            tltcp_conn_set_local(c, (const uint8_t *)"sixteen octets .."),
            TLTCP_ERR_STATE);
        break;
    default:
        FUZZ_EXPECT(tltcp_conn_set_reliable(c, tltcp_conn_path(c), now),
                    TLTCP_ERR_STATE, TLTCP_ERR_UNSUPPORTED);
        break;
    }
}

static void call_end(tltcp_conn *c) {
    int error = odd() ? (int)script_number(in, 4) : -(int)below(25);
    switch (below(4)) {
    case 0:
        tltcp_conn_finish(c, now);
        break;
    case 1:
        tltcp_conn_close(c, when(), now);
        break;
    case 2:
        tltcp_conn_abort(c, error, below(2) ? "why" : NULL, now);
        break;
    default:
        tltcp_conn_lost(c, error, below(2) ? "why" : NULL, now);
        break;
    }
}

static void call_watch(tltcp_conn *c) {
    tltcp_stats st;
    tltcp_event ev;
    tltcp_stats_init(&st);
    st.struct_size = odd() ? (size_t)below(sizeof(st) + 2) : st.struct_size;
    switch (below(6)) {
    case 0:
        FUZZ_EXPECT(tltcp_conn_get_stats(c, &st, now), TLTCP_ERR_INVAL);
        break;
    case 1:
        (void)tltcp_conn_would_arrive(c, odd() ? SIZE_MAX : 1, when(), now);
        (void)tltcp_conn_writable(c);
        break;
    case 2:
        FUZZ_EXPECT(tltcp_conn_rekey(c), TLTCP_ERR_STATE);
        break;
    case 3:
        (void)tltcp_conn_migrate(c);
        break;
    case 4:
        (void)tltcp_conn_next_signal(c, &ev);
        FUZZ_CHECK(tltcp_conn_fates(c) <= 65536);
        break;
    default:
        tltcp_conn_set_blocked(c, below(4) == 0);
        FUZZ_CHECK(strlen(tltcp_conn_stream_id(c)) == 0);
        (void)tltcp_conn_secret(c);
        (void)tltcp_conn_identity(c);
        (void)tltcp_conn_is_closed(c);
        break;
    }
}

static void call_endpoint(void) {
    tltcp_stats st;
    tltcp_stats_init(&st);
    FUZZ_CHECK(tltcp_endpoint_get_stats(endpoint, &st) == 0);
    FUZZ_CHECK(tltcp_endpoint_count(endpoint) <= CALLERS);
    (void)tltcp_endpoint_rejected(endpoint);
}

static void pass_time(uint64_t ns) {
    now += ns;
    for (int i = 0; i < 2 * CALLERS; i++) {
        tltcp_conn *c = i % 2 ? pairs[i / 2].caller : pairs[i / 2].called;
        if (c != NULL) {
            tltcp_conn_on_timeout(c, now);
            (void)tltcp_conn_timeout(c);
        }
    }
}

static void step(void) {
    struct pair *p = &pairs[below(CALLERS)];
    bool caller = below(2) == 0;
    tltcp_conn **c = caller ? &p->caller : &p->called;
    static void (*const calls[])(tltcp_conn *) = {
        call_write, call_write, call_read,  call_read,
        call_read,  call_watch, call_watch, call_handshake};
    switch (below(16)) {
    case 0:
        call_new(p);
        break;
    case 1:
        pass_time(script_number(in, 2) * 100000);
        break;
    case 2:
        call_endpoint();
        break;
    case 3:
        if (odd()) {
            tltcp_conn_free(*c);
            *c = NULL;
        } else if (*c != NULL && below(4) == 0) {
            call_end(*c);
        }
        break;
    default:
        if (*c != NULL) {
            calls[below(8)](*c);
        }
        break;
    }
    if (below(2) == 0) {
        pump(p, caller);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const uint8_t seed[TLTCP_SEED_LEN] = {2};
    struct script script = {data, data + size};
    tltcp_config c;
    in = &script;
    memset(&memory, 0, sizeof(memory));
    memset(pairs, 0, sizeof(pairs));
    now = 1000;
    configure(&c);
    endpoint = NULL;
    FUZZ_EXPECT(tltcp_endpoint_new(&endpoint, &c, seed, now), TLTCP_ERR_INVAL,
                TLTCP_ERR_UNSUPPORTED);
    for (int i = 0; endpoint != NULL && script_left(in) && i < STEPS_MAX; i++) {
        step();
    }
    for (int i = 0; i < CALLERS; i++) {
        tltcp_conn_free(pairs[i].caller);
        tltcp_conn_free(pairs[i].called);
    }
    tltcp_endpoint_free(endpoint);
    FUZZ_CHECK(memory.peak < MEMORY_MAX);
    FUZZ_CHECK(memory.blocks == 0);
    return 0;
}
