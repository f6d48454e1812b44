/* SPDX-License-Identifier: MPL-2.0 */
/*
 * The engine over a reliable transport: two engines, and between them in each
 * direction a byte pipe as TCP is, in virtual time. The pipe has a rate, a
 * delay and a small send buffer; it loses nothing, but may stand still, and
 * everything behind a lost packet then waits for it.
 */
#include <stdlib.h>
#include <string.h>

#include <tltcp/conn.h>

#include "tests/support/cmocka.h"

#define MS TLTCP_MS
#define ROOM 6144u /* bytes that the transport takes before it is blocked */
#define FRAMES 4096u
#define PATH 7

struct frame {
    size_t len;
    tltcp_time at; /* arrives */
    uint8_t data[1500];
};

/* One direction. */
struct pipe {
    struct frame *frame;
    size_t head;
    size_t tail;
    double rate; /* bytes per nanosecond */
    tltcp_time delay;
    tltcp_time free_at; /* the last byte accepted has been sent */
    tltcp_time still_from;
    tltcp_time still_until;
    uint64_t bytes;
};

struct net {
    tltcp_time now;
    struct pipe pipe[2]; /* from the caller, from the listener */
    tltcp_endpoint *endpoint;
    tltcp_conn *conn[2]; /* caller, listener's */
    tltcp_stats st;
    uint64_t data; /* bytes read */
    uint64_t gap;
    uint64_t end;      /* place behind the newest piece */
    tltcp_time latest; /* arrival - writing of the newest section */
};

/* --- The pipe ------------------------------------------------------------ */

static tltcp_time still(const struct pipe *p, tltcp_time at) {
    return at >= p->still_from && at < p->still_until ? p->still_until : at;
}

/* Bytes that were accepted and not yet sent. */
static double unsent(const struct pipe *p, tltcp_time now) {
    return p->free_at > now ? (double)(p->free_at - now) * p->rate : 0;
}

static bool is_blocked(const struct pipe *p, tltcp_time now) {
    return unsent(p, now) >= ROOM;
}

static void pipe_put(struct pipe *p, const uint8_t *data, size_t len,
                     tltcp_time now) {
    struct frame *f = &p->frame[p->tail++ % FRAMES];
    tltcp_time begin = p->free_at > now ? p->free_at : now;

    assert_true(p->tail - p->head < FRAMES);
    assert_true(len <= sizeof(f->data));
    memcpy(f->data, data, len);
    f->len = len;
    p->bytes += len + 2;
    p->free_at = still(p, begin) + (tltcp_time)((double)(len + 2) / p->rate);
    f->at = p->free_at + p->delay;
}

/* --- The net ------------------------------------------------------------- */

static void net_open(struct net *n, tltcp_config *c, double bits,
                     tltcp_time delay) {
    uint8_t seed[TLTCP_SEED_LEN] = {1};

    memset(n, 0, sizeof(*n));
    n->now = 1000 * MS;
    for (int i = 0; i < 2; i++) {
        n->pipe[i].frame = calloc(FRAMES, sizeof(struct frame));
        n->pipe[i].rate = bits / 8e9;
        n->pipe[i].delay = delay;
    }
    assert_int_equal(tltcp_endpoint_new(&n->endpoint, c, seed, n->now), 0);
    seed[0] = 2;
    assert_int_equal(tltcp_conn_new(&n->conn[0], c, seed, PATH, n->now), 0);
    assert_int_equal(tltcp_conn_set_reliable(n->conn[0], PATH, n->now), 0);
}

static void net_close(struct net *n) {
    tltcp_conn_free(n->conn[0]);
    tltcp_conn_free(n->conn[1]);
    tltcp_endpoint_free(n->endpoint);
    free(n->pipe[0].frame);
    free(n->pipe[1].frame);
}

static void net_to_listener(struct net *n, const struct frame *f) {
    const tltcp_pktinfo info = {.path = PATH};
    tltcp_dispatch d;

    if (n->conn[1] != NULL) {
        (void)tltcp_conn_recv(n->conn[1], &info, f->data, f->len, n->now);
        return;
    }
    if (tltcp_endpoint_recv(n->endpoint, &info, f->data, f->len, &d, n->now) ==
        TLTCP_CALLER) {
        n->conn[1] = d.conn;
        assert_int_equal(tltcp_conn_set_reliable(d.conn, PATH, n->now), 0);
        assert_int_equal(tltcp_conn_accept(d.conn, n->now), 0);
    } else if (d.reply_len > 0) {
        pipe_put(&n->pipe[1], d.reply, d.reply_len, n->now);
    }
}

static void net_deliver(struct net *n) {
    for (int i = 0; i < 2; i++) {
        struct pipe *p = &n->pipe[i];

        while (p->head < p->tail && p->frame[p->head % FRAMES].at <= n->now) {
            const struct frame *f = &p->frame[p->head++ % FRAMES];
            const tltcp_pktinfo info = {.path = PATH};

            if (i == 0) {
                net_to_listener(n, f);
            } else {
                (void)tltcp_conn_recv(n->conn[0], &info, f->data, f->len,
                                      n->now);
            }
        }
    }
}

static void net_send(struct net *n, int end) {
    struct pipe *p = &n->pipe[end];
    uint8_t room[1500];
    tltcp_pktinfo info;
    tltcp_event ev;
    size_t segment;
    size_t len = 1;

    tltcp_conn_on_timeout(n->conn[end], n->now);
    while (len > 0 && !is_blocked(p, n->now)) {
        tltcp_conn_set_blocked(n->conn[end], false);
        len = tltcp_conn_send(n->conn[end], &info, room, sizeof(room), &segment,
                              n->now);
        assert_int_equal(info.ecn, 0);
        if (len > 0) {
            assert_int_equal(info.path, PATH);
            pipe_put(p, room, len, n->now);
        }
    }
    tltcp_conn_set_blocked(n->conn[end], is_blocked(p, n->now));
    while (tltcp_conn_next_event(n->conn[end], &ev) > 0) {
    }
}

static void net_read(struct net *n) {
    uint8_t data[65536];
    tltcp_buf buf = {data, sizeof(data)};
    struct tltcp_segment segment;
    size_t count = 1;

    while (n->conn[1] != NULL &&
           tltcp_conn_read(n->conn[1], &buf, &segment, &count, n->now) > 0) {
        assert_int_equal(segment.seq, n->end); /* they tile the stream */
        n->end += buf.len;
        *(segment.kind == TL_GAP ? &n->gap : &n->data) += buf.len;
        if (segment.kind == TL_DATA) {
            tltcp_time written;

            memcpy(&written, data, sizeof(written));
            if ((segment.flags & TL_SECTION_START) != 0) {
                n->latest = n->now - written;
            }
        }
        buf = (tltcp_buf){data, sizeof(data)};
        count = 1;
    }
}

/* Runs for a while, in steps of 0.1 ms. */
static void net_run(struct net *n, tltcp_time duration) {
    for (tltcp_time until = n->now + duration; n->now < until;
         n->now += MS / 10) {
        net_deliver(n);
        net_send(n, 0);
        if (n->conn[1] != NULL) {
            net_send(n, 1);
        }
        net_read(n);
    }
    tltcp_stats_init(&n->st);
    assert_int_equal(tltcp_conn_get_stats(n->conn[0], &n->st, n->now), 0);
}

/* A section that begins with the time of writing. */
static void net_write(struct net *n, size_t len, tltcp_time deadline) {
    uint8_t *data = calloc(1, len);
    struct iovec v = {data, len};
    tltcp_section s = {.data = &v,
                       .count = 1,
                       .deadline = deadline,
                       .meta = {.section_class = TL_CLASS_DISPOSABLE}};

    memcpy(data, &n->now, sizeof(n->now));
    assert_int_equal(tltcp_conn_write(n->conn[0], &s, 1, n->now), 1);
    free(data);
}

/* A stream of sections with deadlines, one every 20 ms. */
static void net_stream(struct net *n, unsigned count, size_t len,
                       tltcp_time latency) {
    for (unsigned i = 0; i < count; i++) {
        net_write(n, len, n->now + latency);
        net_run(n, 20 * MS);
    }
}

/* No section yields to others. */
static void net_open_plain(struct net *n, double bits, tltcp_time delay) {
    tltcp_config c;

    tltcp_config_init(&c);
    c.look_ahead = false;
    net_open(n, &c, bits, delay);
}

/* --- Tests --------------------------------------------------------------- */

TEST(everything_arrives_once) {
    struct net n;

    net_open_plain(&n, 10e6, 20 * MS);
    for (int i = 0; i < 20; i++) {
        net_write(&n, 50000, TLTCP_TIME_NEVER);
    }
    net_run(&n, 1500 * MS);
    assert_int_equal(n.data, 20 * 50000);
    assert_int_equal(n.st.sections_delivered, 20);
    assert_int_equal(n.st.packets_lost, 0);
    assert_int_equal(n.st.probes_sent, 0);
    assert_int_equal(n.st.bytes_retransmitted, 0);
    assert_string_equal(n.st.transport, "tcp");
    assert_string_equal(n.st.congestion, "tcp");
    net_close(&n);
}

/* 1 MB over 10 Mbit/s takes 0.84 s with headers, and a little to begin. */
TEST(the_transport_is_the_limit_not_the_window) {
    struct net n;

    net_open_plain(&n, 10e6, 100 * MS);
    for (int i = 0; i < 20; i++) {
        net_write(&n, 50000, TLTCP_TIME_NEVER);
    }
    net_run(&n, 1750 * MS);
    assert_int_equal(n.data, 20 * 50000);
    net_close(&n);
}

TEST(a_pause_of_the_transport_causes_no_repeats) {
    struct net n;

    net_open_plain(&n, 10e6, 20 * MS);
    net_run(&n, 200 * MS);
    n.pipe[0].still_from = n.now;
    n.pipe[0].still_until = n.now + 900 * MS;
    net_write(&n, 50000, TLTCP_TIME_NEVER);
    net_run(&n, 1500 * MS);
    assert_int_equal(n.data, 50000);
    assert_int_equal(n.st.bytes_retransmitted, 0);
    assert_int_equal(n.st.packets_lost, 0);
    net_close(&n);
}

/* 4 Mbit/s offered, 2 carried: half must be dropped, in the sender, and before
 * it is begun. What is delivered is in time but for what the transport holds.
 */
TEST(deadlines_drop_in_the_sender_on_a_path_that_is_too_small) {
    struct net n;
    tltcp_config c;

    tltcp_config_init(&c);
    net_open(&n, &c, 2e6, 20 * MS);
    net_stream(&n, 500, 10000, 200 * MS);
    net_run(&n, 500 * MS);
    assert_int_equal(n.end, 500 * 10000); /* data and gaps tile the stream */
    assert_true(n.gap > 0);
    assert_true(n.st.sections_delivered > 200);
    assert_true(n.st.sections_expired > 200);
    assert_true(n.data > 90 * n.pipe[0].bytes / 100);
    assert_true(n.latest < 300 * MS);
    net_close(&n);
}

/* Head-of-line blocking: nothing moves for a second. What was due in it is
 * dropped, except the little that the transport had accepted; afterwards the
 * stream is in time again at once. */
TEST(after_head_of_line_blocking_the_stream_is_in_time_at_once) {
    struct net n;

    net_open_plain(&n, 5e6, 20 * MS);
    net_stream(&n, 50, 5000, 150 * MS);
    assert_int_equal(n.st.sections_expired + n.st.sections_partial, 0);
    n.pipe[0].still_from = n.now;
    n.pipe[0].still_until = n.now + 1000 * MS;
    net_stream(&n, 50, 5000, 150 * MS);
    assert_true(n.st.sections_expired + n.st.sections_partial >= 40);
    net_stream(&n, 10, 5000, 150 * MS);
    assert_true(n.latest < 60 * MS);
    net_run(&n, 300 * MS);
    assert_int_equal(n.end, 110 * 5000);
    assert_true(n.gap <= 50 * 5000);
    net_close(&n);
}

/* The estimate follows the transport's rate, so that an encoder can, too. */
TEST(the_estimate_follows_the_transport) {
    struct net n;

    net_open_plain(&n, 3e6, 20 * MS);
    net_stream(&n, 500, 10000, 300 * MS);
    assert_true(n.st.estimated_bps > 2000000 && n.st.estimated_bps < 4000000);
    assert_true(n.st.target_bps > 500000 && n.st.target_bps < 3000000);
    net_close(&n);
}

/* A timer that has expired would keep a driver busy. */
TEST(a_blocked_connection_has_nothing_to_do_at_once) {
    struct net n;

    net_open_plain(&n, 1e6, 20 * MS);
    net_run(&n, 200 * MS);
    net_write(&n, 100000, n.now + 500 * MS);
    net_run(&n, 10 * MS);
    assert_true(is_blocked(&n.pipe[0], n.now));
    assert_true(tltcp_conn_timeout(n.conn[0]) > n.now);
    tltcp_conn_set_blocked(n.conn[0], false);
    assert_true(tltcp_conn_timeout(n.conn[0]) <= n.now);
    net_close(&n);
}

/* The peer may never read again. */
TEST(a_failed_connection_waits_briefly_for_a_blocked_transport) {
    struct net n;
    tltcp_time at;

    net_open_plain(&n, 1e6, 20 * MS);
    net_run(&n, 200 * MS);
    net_write(&n, 100000, n.now + 500 * MS);
    net_run(&n, 10 * MS);
    assert_true(is_blocked(&n.pipe[0], n.now));
    tltcp_conn_abort(n.conn[0], TLTCP_ERR_ABORTED, "enough", n.now);
    assert_false(tltcp_conn_is_closed(n.conn[0]));
    at = tltcp_conn_timeout(n.conn[0]);
    assert_true(at > n.now);
    tltcp_conn_on_timeout(n.conn[0], at);
    assert_true(tltcp_conn_is_closed(n.conn[0]));
    net_close(&n);
}

TEST(datagrams_from_elsewhere_are_ignored) {
    struct net n;
    const tltcp_pktinfo elsewhere = {.path = PATH + 1};
    uint64_t dropped;

    net_open_plain(&n, 10e6, 20 * MS);
    net_run(&n, 200 * MS);
    net_write(&n, 1000, TLTCP_TIME_NEVER);
    net_send(&n, 0);
    tltcp_stats_init(&n.st);
    (void)tltcp_conn_get_stats(n.conn[1], &n.st, n.now);
    dropped = n.st.packets_dropped;
    for (size_t i = n.pipe[0].head; i < n.pipe[0].tail; i++) {
        const struct frame *f = &n.pipe[0].frame[i % FRAMES];

        (void)tltcp_conn_recv(n.conn[1], &elsewhere, f->data, f->len, n.now);
    }
    tltcp_stats_init(&n.st);
    (void)tltcp_conn_get_stats(n.conn[1], &n.st, n.now);
    assert_true(n.st.packets_dropped > dropped);
    assert_int_equal(tltcp_conn_path(n.conn[1]), PATH);
    net_run(&n, 200 * MS);
    assert_int_equal(n.data, 1000);
    net_close(&n);
}

TEST(a_lost_transport_ends_the_connection_with_the_cause) {
    struct net n;
    tltcp_event ev = {.type = TLTCP_EVENT_NONE};

    net_open_plain(&n, 10e6, 20 * MS);
    net_run(&n, 200 * MS);
    tltcp_conn_lost(n.conn[0], TLTCP_ERR_ABORTED, "cut", n.now);
    assert_true(tltcp_conn_is_closed(n.conn[0]));
    assert_int_equal(tltcp_conn_next_event(n.conn[0], &ev), 1);
    assert_int_equal(ev.type, TLTCP_EVENT_CLOSED);
    assert_int_equal(ev.error, TLTCP_ERR_ABORTED);
    assert_string_equal(ev.reason, "cut");
    net_close(&n);
}

TEST(a_connection_goes_over_only_before_it_is_open) {
    struct net n;

    net_open_plain(&n, 10e6, 20 * MS);
    net_run(&n, 200 * MS);
    assert_int_equal(tltcp_conn_set_reliable(n.conn[0], PATH, n.now),
                     TLTCP_ERR_STATE);
    net_close(&n);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_arrives_once),
        cmocka_unit_test(the_transport_is_the_limit_not_the_window),
        cmocka_unit_test(a_pause_of_the_transport_causes_no_repeats),
        cmocka_unit_test(
            deadlines_drop_in_the_sender_on_a_path_that_is_too_small),
        cmocka_unit_test(
            after_head_of_line_blocking_the_stream_is_in_time_at_once),
        cmocka_unit_test(the_estimate_follows_the_transport),
        cmocka_unit_test(a_blocked_connection_has_nothing_to_do_at_once),
        cmocka_unit_test(
            a_failed_connection_waits_briefly_for_a_blocked_transport),
        cmocka_unit_test(datagrams_from_elsewhere_are_ignored),
        cmocka_unit_test(a_lost_transport_ends_the_connection_with_the_cause),
        cmocka_unit_test(a_connection_goes_over_only_before_it_is_open),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
