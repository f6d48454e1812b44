/* SPDX-License-Identifier: MPL-2.0 */
/* Datagrams that are written or come together are the same, and have the same
 * effect, as one by one. */
#include <stdlib.h>
#include <string.h>

#include <tltcp/burst.h>

#include "libtltcp/engine/conn.h"
#include "libtltcp/engine/endpoint.h"
#include "tests/support/cmocka.h"

#define PATH 7u
#define BURST 65000u
#define DATAGRAM 1400u
#define STEPS 1200
#define SECTION_MAX 150000u

static const uint8_t key[32] = {1, 2, 3};
static uint8_t content[SECTION_MAX];

/* How datagrams are written and passed on. */
enum manner { ONE_BY_ONE, TOGETHER, LENT };

/* Both ends, and everything that they have said. */
struct world {
    tltcp_endpoint *ep;
    tltcp_conn *client;
    tltcp_conn *server;
    tltcp_time now;
    uint64_t luck;
    enum manner manner;
    uint64_t sum;  /* over all bytes that were sent or read */
    uint64_t read; /* bytes */
    uint64_t kept; /* buffers */
};

static uint32_t draw(struct world *w, uint32_t n) {
    w->luck = w->luck * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((w->luck >> 33) % n);
}

static void note(struct world *w, const void *data, size_t len) {
    const uint8_t *p = data;
    for (size_t i = 0; i < len; i++) {
        w->sum = (w->sum ^ p[i]) * 1099511628211u;
    }
}

static void world_open(struct world *w, bool sealed, enum manner manner,
                       uint64_t luck) {
    static const uint8_t seed[2][TLTCP_SEED_LEN] = {{1}, {2}};
    tltcp_config cfg;
    tltcp_config_init(&cfg);
    cfg.key = sealed ? key : NULL;
    cfg.key_len = sealed ? sizeof(key) : 0;
    cfg.packets.max_datagram = DATAGRAM;
    cfg.packets.base_datagram = DATAGRAM;
    cfg.packets.ack_every = 40;
    cfg.report_fates = true;
    cfg.send_buffer = (size_t)1 << 20;
    cfg.recv_buffer = (size_t)1 << 20;
    *w = (struct world){.now = TLTCP_S, .manner = manner, .luck = luck};
    assert_int_equal(tltcp_endpoint_new(&w->ep, &cfg, seed[0], w->now), 0);
    assert_int_equal(tltcp_conn_new(&w->client, &cfg, seed[1], PATH, w->now),
                     0);
}

static void world_close(struct world *w) {
    tltcp_conn_free(w->client);
    tltcp_conn_free(w->server);
    tltcp_endpoint_free(w->ep);
}

/* Passes a datagram to the listener. */
static void to_listener(struct world *w, const tltcp_pktinfo *info,
                        const uint8_t *dgram, size_t len) {
    const tltcp_pktinfo back = {.path = PATH};
    tltcp_dispatch out;
    int verdict = tltcp_endpoint_recv(w->ep, info, dgram, len, &out, w->now);
    if (verdict == TLTCP_CALLER) {
        w->server = out.conn;
        assert_int_equal(tltcp_conn_accept(w->server, w->now), 0);
    } else if (verdict == TLTCP_REPLY) {
        (void)tltcp_conn_recv(w->client, &back, out.reply, out.reply_len,
                              w->now);
    }
}

/* In a room of its own, which is useless afterwards if it was not kept. */
static size_t lend(struct world *w, tltcp_conn *to, const tltcp_pktinfo *info,
                   const uint8_t *data, size_t len, size_t segment) {
    size_t most = TLTCP_ROOM_BYTES / segment * segment;
    void *lent = malloc(TLTCP_ROOM_BYTES);
    void *room = lent;
    size_t n = len < most ? len : most;
    assert_non_null(room);
    memcpy(room, data, n);
    n = tltcp_conn_recv_lent(to, info, &room, 0, n, segment, w->now);
    w->kept += room != lent;
    memset(room, 0xee, TLTCP_ROOM_BYTES);
    free(room);
    return n;
}

static void deliver(struct world *w, tltcp_conn *from, uint8_t *data,
                    size_t len, size_t segment) {
    const tltcp_pktinfo info = {.path = PATH,
                                .ecn = draw(w, 50) == 0 ? TLTCP__ECN_CE : 0};
    tltcp_conn *to = from == w->client ? w->server : w->client;
    size_t at = 0;
    while (at < len) {
        size_t n = len - at < segment ? len - at : segment;
        if (w->manner != ONE_BY_ONE && to != NULL) {
            at += w->manner == LENT
                      ? lend(w, to, &info, data + at, len - at, segment)
                      : tltcp_conn_recv_burst(to, &info, data + at, len - at,
                                              segment, w->now);
            n = len - at < segment ? len - at : segment;
        }
        if (at < len && from == w->client) {
            to_listener(w, &info, data + at, n);
        } else if (at < len) {
            (void)tltcp_conn_recv(to, &info, data + at, n, w->now);
        }
        at += n;
    }
}

/* Loses and damages datagrams of a burst, and swaps some. Returns what is
 * left. */
static size_t mistreat(struct world *w, uint8_t *data, size_t len,
                       size_t segment, bool bad) {
    size_t kept = 0;
    for (size_t at = 0; at < len; at += segment) {
        size_t n = len - at < segment ? len - at : segment;
        bool lost = bad && draw(w, 40) == 0;
        if (!lost) {
            memmove(data + kept, data + at, n);
            kept += n;
        }
        if (!lost && bad && draw(w, 200) == 0) {
            data[kept - 1 - draw(w, (uint32_t)n)] ^= 1;
        }
        if (!lost && bad && draw(w, 60) == 0 && n == segment &&
            kept >= 2 * segment) {
            uint8_t held[DATAGRAM];
            memcpy(held, data + kept - n, n);
            memcpy(data + kept - n, data + kept - 2 * n, n);
            memcpy(data + kept - 2 * n, held, n);
        }
    }
    return kept;
}

/* Sends all that a connection has to send now. */
static void pump(struct world *w, tltcp_conn *from, bool bad) {
    static uint8_t data[1 << 20];
    size_t full = from != NULL && from->full > 0 ? from->full : DATAGRAM;
    size_t len = 0;
    while (from != NULL) {
        tltcp_pktinfo info;
        size_t segment;
        size_t n = tltcp_conn_send(from, &info, data + len,
                                   w->manner != ONE_BY_ONE ? BURST : DATAGRAM,
                                   &segment, w->now);
        note(w, data + len, n);
        len += n;
        if (n == 0 || len > sizeof(data) - BURST || n % full != 0) {
            break;
        }
    }
    len = mistreat(w, data, len, full, bad);
    deliver(w, from, data, len, full);
}

static void write_some(struct world *w, tltcp_conn *c) {
    struct iovec part = {.iov_base = content,
                         .iov_len =
                             1 + draw(w, draw(w, 4) == 0 ? SECTION_MAX : 3000)};
    tltcp_section s = {.data = &part,
                       .count = 1,
                       .deadline = draw(w, 4) == 0
                                       ? w->now + draw(w, 15) * TLTCP_MS
                                       : TLTCP_TIME_NEVER};
    s.meta.section_class = draw(w, 3) == 0 ? TL_CLASS_KEY : TL_CLASS_OTHER;
    if (c != NULL) {
        (void)tltcp_conn_write(c, &s, 1, w->now);
    }
}

static void read_some(struct world *w, tltcp_conn *c) {
    static uint8_t room[1 << 16];
    for (uint32_t i = draw(w, 40); c != NULL && i > 0; i--) {
        tltcp_buf buf = {.base = room, .len = sizeof(room)};
        struct tltcp_segment segment;
        size_t count = 1;
        int64_t n = tltcp_conn_read(c, &buf, &segment, &count, w->now);
        if (n <= 0) {
            break;
        }
        if (segment.kind == TL_DATA) {
            note(w, room, (size_t)n);
            w->read += (uint64_t)n;
        }
        note(w, &segment, sizeof(segment));
    }
}

static void serve_timers(struct world *w) {
    tltcp_conn *ends[] = {w->client, w->server};
    for (int i = 0; i < 2; i++) {
        if (ends[i] != NULL && tltcp_conn_timeout(ends[i]) <= w->now) {
            tltcp_conn_on_timeout(ends[i], w->now);
        }
    }
}

static void note_events(struct world *w, tltcp_conn *c) {
    tltcp_event ev;
    tltcp_stats st;
    tltcp_stats_init(&st);
    if (c != NULL) {
        while (tltcp_conn_next_event(c, &ev) > 0) {
            note(w, &ev.type, sizeof(ev.type));
            note(w, &ev.fate, sizeof(ev.fate));
            note(w, &ev.section, sizeof(ev.section));
            note(w, &ev.now, sizeof(ev.now));
        }
        assert_int_equal(tltcp_conn_get_stats(c, &st, w->now), 0);
        note(w, &st, sizeof(st));
    }
}

/* One of two equal worlds; what it says must not depend on `manner`. */
static void step(struct world *w, int i) {
    bool bad = i / 200 % 2 == 1;
    serve_timers(w);
    for (uint32_t n = draw(w, 4); n > 0; n--) {
        write_some(w, w->client);
    }
    if (draw(w, 5) == 0) {
        write_some(w, w->server);
    }
    pump(w, w->client, bad);
    if (draw(w, 3) > 0) {
        w->now += draw(w, 4000) * TLTCP_US;
    }
    read_some(w, w->server);
    pump(w, w->server, bad);
    read_some(w, w->client);
    note_events(w, w->client);
    note_events(w, w->server);
}

static void compare(bool sealed, enum manner manner, uint64_t luck) {
    struct world one;
    struct world all;
    world_open(&one, sealed, ONE_BY_ONE, luck);
    world_open(&all, sealed, manner, luck);
    for (int i = 0; i < STEPS; i++) {
        step(&one, i);
        step(&all, i);
        assert_int_equal(one.sum, all.sum);
    }
    assert_true(one.read > (uint64_t)5 << 20);
    assert_int_equal(all.kept > 0, manner == LENT);
    world_close(&one);
    world_close(&all);
}

TEST(datagrams_that_come_together_are_as_one_by_one) {
    for (uint64_t luck = 1; luck <= 3; luck++) {
        compare(false, TOGETHER, luck);
    }
}

TEST(so_are_sealed_ones) {
    for (uint64_t luck = 1; luck <= 3; luck++) {
        compare(true, TOGETHER, luck);
    }
}

TEST(and_those_in_buffers_that_may_be_kept) {
    for (uint64_t luck = 1; luck <= 3; luck++) {
        compare(false, LENT, luck);
        compare(true, LENT, luck);
    }
}

/* Carries a section whose end does not arrive. Returns how many bytes the
 * server holds in buffers that it kept. */
static size_t hold(struct world *w, size_t len) {
    struct iovec part = {.iov_base = content, .iov_len = len};
    tltcp_section s = {.data = &part, .count = 1, .deadline = TLTCP_TIME_NEVER};
    assert_int_equal(tltcp_conn_write(w->client, &s, 1, w->now), 1);
    for (int i = 0; i < 20; i++) {
        pump(w, w->client, false);
        w->now += TLTCP_MS;
        pump(w, w->server, false);
        serve_timers(w);
    }
    return w->server->reasm.lent == NULL
               ? 0
               : w->server->reasm.lent->rooms * TLTCP_ROOM_BYTES;
}

static void read_all(struct world *w) {
    for (int i = 0; i < 100; i++) {
        read_some(w, w->server);
    }
}

/* With a window that is large enough. */
static void world_warm(struct world *w) {
    world_open(w, false, LENT, 1);
    for (int i = 0; i < 20; i++) {
        (void)hold(w, SECTION_MAX);
        read_all(w);
    }
    assert_int_equal(w->read, 20 * SECTION_MAX);
}

TEST(kept_buffers_are_counted_and_given_back) {
    struct world w;
    world_warm(&w);
    assert_true(hold(&w, SECTION_MAX) >= TLTCP_ROOM_BYTES);
    assert_true(w.server->caller.charged >= TLTCP_ROOM_BYTES);
    read_all(&w);
    w.now += 10 * TLTCP_S;
    assert_int_equal(hold(&w, 20000), 0); /* too little for a buffer */
    world_close(&w);
}

TEST(a_listener_at_its_limit_keeps_no_buffers) {
    struct world w;
    world_warm(&w);
    w.now += 10 * TLTCP_S;
    (void)hold(&w, 1000);
    w.ep->shared->budget.max_memory = TLTCP__BUDGET_OWN;
    assert_int_equal(hold(&w, SECTION_MAX), 0);
    world_close(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(datagrams_that_come_together_are_as_one_by_one),
        cmocka_unit_test(so_are_sealed_ones),
        cmocka_unit_test(and_those_in_buffers_that_may_be_kept),
        cmocka_unit_test(kept_buffers_are_counted_and_given_back),
        cmocka_unit_test(a_listener_at_its_limit_keeps_no_buffers),
    };
    for (size_t i = 0; i < sizeof(content); i++) {
        content[i] = (uint8_t)(i * 2654435761u >> 13);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
