/* SPDX-License-Identifier: MPL-2.0 */
/* How connections end, and what may be called when. */
#include "libtltcp/engine/conn.h"
#include "tests/simnet/world.h"

static struct world w;

static tltcp_conn *conn(int i) {
    return w.end[i].peer->conn;
}

static tltcp_time now(int i) {
    return sim_host_now(w.end[i].host);
}

TEST(a_close_under_loss_reaches_both_ends) {
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct plan p;
        plan_init(&p, seed);
        p.source[CLIENT].sections = seed % 5;
        p.source[SERVER].sections = seed % 3;
        p.link[CLIENT].loss = 0.2;
        p.link[SERVER].loss = 0.2;
        p.config[CLIENT].connect_timeout_ms = 120000;
        p.config[SERVER].connect_timeout_ms = 120000;
        assert_true(play(&p, NULL));
    }
}

/* Then it is the number of tries that counts. */
TEST(so_it_does_where_no_silence_is_too_long) {
    for (uint64_t seed = 0; seed < 30; seed++) {
        struct plan p;
        plan_init(&p, seed);
        for (int i = 0; i < 2; i++) {
            p.source[i].sections = 2;
            p.link[i].loss = 0.3;
            p.config[i].connect_timeout_ms = 120000;
            p.config[i].idle_timeout_ms = 0;
        }
        assert_true(play(&p, NULL));
    }
}

TEST(a_close_drains_written_data) {
    struct plan p;
    plan_init(&p, 1);
    p.link[CLIENT].rate = 100e3; /* 50 kB take 4 s */
    p.source[CLIENT].close = true;
    p.source[CLIENT].linger = NEVER;
    assert_true(play(&p, NULL));
}

TEST(a_close_waits_at_most_for_its_linger_time) {
    struct plan p;
    plan_init(&p, 1);
    p.link[CLIENT].rate = 100e3;
    p.source[CLIENT].close = true;
    p.source[CLIENT].linger = 1 * SEC;
    p.keep_open = true;
    world_start_for(&w, &p, 20 * SEC);
    assert_int_equal(w.end[CLIENT].error, TLTCP_ERR_ABORTED);
    assert_int_equal(w.end[SERVER].error, TLTCP_ERR_ABORTED);
    assert_in_range(w.end[CLIENT].closed_at, 1 * SEC, 1100 * MS);
    assert_true(w.flow[CLIENT].fates[TLTCP_FATE_ABANDONED] > 0);
    assert_int_equal(w.flow[CLIENT].reader.error, TLTCP_ERR_ABORTED);
    assert_false(w.flow[CLIENT].reader.ended);
    world_close(&w);
}

TEST(an_abort_reaches_the_other_end_with_its_reason) {
    struct plan p;
    plan_init(&p, 1);
    p.source[CLIENT].interval = 100 * MS;
    world_start_for(&w, &p, 1 * SEC);
    tltcp_conn_abort(conn(CLIENT), TLTCP_ERR_LIMIT, "enough\x1b[2J",
                     now(CLIENT));
    sim_peer_pump(w.end[CLIENT].peer);
    world_run_for(&w, 1 * SEC);
    assert_true(tltcp_conn_is_closed(conn(CLIENT)));
    assert_true(tltcp_conn_is_closed(conn(SERVER)));
    assert_int_equal(w.end[CLIENT].error, TLTCP_ERR_LIMIT);
    assert_true(w.end[SERVER].error < 0);
    assert_string_equal(w.end[SERVER].reason, "enough?[2J");
    world_close(&w);
}

static bool cut(void *user, uint32_t link, struct sim_packet *p, uint64_t at) {
    const uint64_t *since = user;
    (void)link;
    (void)p;
    return at < *since;
}

/* Nothing arrives for a while from the moment on at which the listener closes.
 */
struct outage {
    uint64_t span;
    uint64_t until; /* 0: it does not close yet */
};

static bool cut_at_the_end(void *user, uint32_t link, struct sim_packet *p,
                           uint64_t at) {
    struct outage *o = user;
    (void)link;
    (void)p;
    if (o->until == 0 && w.end[SERVER].peer != NULL &&
        conn(SERVER)->state == TLTCP__CONN_CLOSING) {
        o->until = at + o->span;
    }
    return at >= o->until;
}

/* It says so until it has heard nothing for half of the idle timeout. */
TEST(a_close_outlives_an_outage) {
    for (uint64_t s = 5; s <= 25; s += 5) {
        struct outage o = {.span = s * SEC};
        struct plan p;
        plan_init(&p, s);
        p.config[CLIENT].idle_timeout_ms = 60000;
        p.config[SERVER].idle_timeout_ms = 60000;
        p.keep_open = true;
        p.tap = cut_at_the_end;
        p.user = &o;
        world_start_for(&w, &p, 1 * SEC);
        end_close(&w.end[SERVER]);
        sim_peer_pump(w.end[SERVER].peer);
        world_finish(&w);
    }
}

TEST(a_sealing_failure_ends_a_connection_and_sends_nothing) {
    uint64_t before;
    struct plan p;
    sec__seal *s;
    plan_init(&p, 1);
    p.source[CLIENT].interval = 100 * MS;
    p.secured = true;
    world_start_for(&w, &p, 1050 * MS);
    s = conn(CLIENT)->seal;
    sec__packet_key_free(s->tx);
    s->tx = sec__packet_key_new(s->suite, s->tx_key, false); /* seals nothing */
    before = w.end[CLIENT].datagrams;
    world_run_for(&w, 1 * SEC);
    assert_int_equal(w.end[CLIENT].error, TLTCP_ERR_LIMIT);
    assert_int_equal(w.end[CLIENT].datagrams, before);
    world_close(&w);
}

TEST(silence_ends_both_ends_after_the_lower_idle_timeout) {
    uint64_t since = 1 * SEC;
    struct plan p;
    plan_init(&p, 1);
    p.source[CLIENT].interval = 100 * MS;
    p.config[CLIENT].idle_timeout_ms = 20000;
    p.config[SERVER].idle_timeout_ms = 7000;
    p.tap = cut;
    p.user = &since;
    world_start_for(&w, &p, 30 * SEC);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(w.end[i].error, TLTCP_ERR_TIMEOUT);
        assert_in_range(w.end[i].closed_at, 7900 * MS, 8100 * MS);
    }
    world_close(&w);
}

static void hold_without_traffic(uint32_t keep_alive_ms) {
    struct plan p;
    uint64_t sent;
    plan_init(&p, 1);
    p.source[CLIENT].sections = 1;
    p.config[CLIENT].idle_timeout_ms = 9000;
    p.config[CLIENT].keep_alive_ms = keep_alive_ms;
    p.keep_open = true;
    world_start_for(&w, &p, 10 * SEC);
    sent = w.end[CLIENT].datagrams + w.end[SERVER].datagrams;
    world_run_for(&w, 300 * SEC);
    assert_false(w.end[CLIENT].closed);
    assert_false(w.end[SERVER].closed);
    /* one PING and one ACK every 3 s */
    assert_in_range(w.end[CLIENT].datagrams + w.end[SERVER].datagrams - sent,
                    180, 260);
    end_close(&w.end[CLIENT]);
    sim_peer_pump(w.end[CLIENT].peer);
    world_run_for(&w, 10 * SEC);
    assert_true(w.end[CLIENT].closed);
    world_close(&w);
}

TEST(keep_alive_holds_a_connection_without_traffic) {
    hold_without_traffic(0);
    hold_without_traffic(20000); /* a third of the idle timeout at most */
}

/* RFC 8085, 3.1.3: not more often, though a fiftieth of the time is less. */
TEST(a_silent_peer_is_asked_once_in_a_round_trip) {
    uint64_t since = 10 * SEC;
    uint64_t sent;
    struct plan p;
    plan_init(&p, 1);
    for (int i = 0; i < 2; i++) {
        p.link[i].delay = 300 * MS;
        p.config[i].idle_timeout_ms = 9000;
    }
    p.source[CLIENT].sections = 1;
    p.keep_open = true;
    p.tap = cut;
    p.user = &since;
    world_start_for(&w, &p, 14 * SEC);
    sent = w.end[CLIENT].datagrams;
    world_run_for(&w, 3 * SEC);
    assert_in_range(w.end[CLIENT].datagrams - sent, 3, 8);
    world_close(&w);
}

TEST(without_keep_alive_an_idle_connection_ends) {
    struct plan p;
    plan_init(&p, 1);
    p.source[CLIENT].sections = 1;
    p.config[CLIENT].idle_timeout_ms = 9000;
    p.config[CLIENT].keep_alive_ms = UINT32_MAX;
    p.keep_open = true;
    world_start_for(&w, &p, 30 * SEC);
    assert_int_equal(w.end[CLIENT].error, TLTCP_ERR_TIMEOUT);
    assert_int_equal(w.end[SERVER].error, TLTCP_ERR_TIMEOUT);
    world_close(&w);
}

TEST(a_connection_without_idle_timeout_stays) {
    struct plan p;
    plan_init(&p, 1);
    p.source[CLIENT].sections = 1;
    p.config[CLIENT].idle_timeout_ms = 0;
    p.config[CLIENT].keep_alive_ms = UINT32_MAX;
    p.config[SERVER].idle_timeout_ms = 0;
    p.keep_open = true;
    world_start_for(&w, &p, 10000 * SEC);
    assert_false(w.end[CLIENT].closed);
    assert_false(w.end[SERVER].closed);
    world_close(&w);
}

TEST(without_idle_timeouts_pings_come_as_asked_for) {
    static const uint32_t keep_alive_ms[] = {0, 1000};
    for (int i = 0; i < 2; i++) {
        struct plan p;
        uint64_t sent;
        plan_init(&p, 1);
        p.source[CLIENT].sections = 1;
        p.config[CLIENT].idle_timeout_ms = 0;
        p.config[SERVER].idle_timeout_ms = 0;
        p.config[CLIENT].keep_alive_ms = keep_alive_ms[i];
        p.keep_open = true;
        world_start_for(&w, &p, 2 * SEC);
        sent = w.end[CLIENT].datagrams;
        world_run_for(&w, 100 * SEC);
        assert_in_range(w.end[CLIENT].datagrams - sent, i == 0 ? 0 : 90,
                        i == 0 ? 0 : 110);
        world_close(&w);
    }
}

TEST(both_ends_of_a_silent_connection_give_memory_back) {
    struct plan p;
    size_t before;
    plan_init(&p, 1);
    for (int i = 0; i < 2; i++) {
        p.source[i].sections = 20;
        p.source[i].size_min = 20000;
        p.source[i].size_max = 20000;
        p.source[i].start = 1 * SEC;
    }
    p.keep_open = true;
    world_start_for(&w, &p, 500 * MS);
    before = w.alloc.live;
    world_run_for(&w, 60 * SEC);
    assert_true(w.flow[CLIENT].next_seq == 400000);
    assert_true(w.flow[SERVER].next_seq == 400000);
    assert_true(w.alloc.live < before + 300000);
    world_close(&w);
}

TEST(one_direction_may_end_before_the_other) {
    struct plan p;
    plan_init(&p, 1);
    p.source[CLIENT].sections = 2;
    p.source[SERVER].sections = 50;
    p.source[SERVER].interval = 100 * MS;
    world_start_for(&w, &p, 2 * SEC);
    assert_true(w.flow[CLIENT].reader.ended);
    assert_false(w.flow[SERVER].reader.ended);
    assert_false(w.end[SERVER].closed);
    world_finish(&w);
}

TEST(received_data_can_be_read_after_the_close) {
    struct plan p;
    plan_init(&p, 1);
    p.source[CLIENT].close = true;
    p.source[CLIENT].linger = NEVER;
    p.reader[SERVER].pause_from = 0;
    p.reader[SERVER].pause_until = 20 * SEC;
    world_start_for(&w, &p, 10 * SEC);
    assert_true(tltcp_conn_is_closed(conn(CLIENT)));
    assert_true(tltcp_conn_is_closed(conn(SERVER)));
    assert_int_equal(w.end[SERVER].error, 0);
    assert_int_equal(w.flow[CLIENT].next_seq, 0);
    world_run_for(&w, 20 * SEC);
    assert_int_equal(w.flow[CLIENT].next_seq, 50000);
    assert_true(w.flow[CLIENT].reader.ended);
    world_close(&w);
}

TEST(calls_at_the_wrong_time_give_their_error) {
    uint8_t data[10] = {0};
    tltcp_section s = {.data = &(struct iovec){data, sizeof(data)},
                       .count = 1,
                       .deadline = NEVER};
    tltcp_section empty = {
        .data = &(struct iovec){data, 0}, .count = 1, .deadline = NEVER};
    tltcp_section large = {
        .data = &(struct iovec){data, 5000}, .count = 1, .deadline = NEVER};
    struct plan p;
    plan_init(&p, 1);
    p.source[CLIENT].sections = 0;
    p.config[SERVER].send_buffer = 4096;
    p.source[SERVER].sections = 1;
    p.source[SERVER].start = 5 * SEC;
    p.keep_open = true;
    world_start_for(&w, &p, 1 * SEC);
    /* the client has finished */
    assert_int_equal(tltcp_conn_write(conn(CLIENT), &s, 1, now(CLIENT)),
                     TLTCP_ERR_STATE);
    assert_int_equal(tltcp_conn_writable(conn(CLIENT)), 0);
    assert_int_equal(tltcp_conn_write(conn(SERVER), &s, 0, now(SERVER)),
                     TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_conn_write(conn(SERVER), &empty, 1, now(SERVER)),
                     TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_conn_write(conn(SERVER), &large, 1, now(SERVER)),
                     TLTCP_ERR_TOO_BIG);
    tltcp_conn_abort(conn(SERVER), TLTCP_ERR_ABORTED, NULL, now(SERVER));
    assert_int_equal(tltcp_conn_write(conn(SERVER), &s, 1, now(SERVER)),
                     TLTCP_ERR_CLOSED);
    sim_peer_pump(w.end[SERVER].peer);
    world_run_for(&w, 1 * SEC);
    assert_int_equal(tltcp_conn_write(conn(CLIENT), &s, 1, now(CLIENT)),
                     TLTCP_ERR_CLOSED);
    world_close(&w);
}

TEST(reading_returns_its_requirement) {
    uint8_t data[10];
    tltcp_buf buf = {data, sizeof(data)};
    struct tltcp_segment seg;
    size_t count = 0;
    struct plan p;
    plan_init(&p, 1);
    p.source[CLIENT].start = 5 * SEC;
    p.keep_open = true;
    world_start_for(&w, &p, 1 * SEC);
    assert_int_equal(
        tltcp_conn_read(conn(SERVER), &buf, &seg, &count, now(SERVER)),
        TLTCP_ERR_INVAL);
    count = 1;
    assert_int_equal(
        tltcp_conn_read(conn(SERVER), &buf, &seg, &count, now(SERVER)),
        TLTCP_ERR_AGAIN);
    assert_int_equal(count, 0);
    count = 1;
    buf.len = 0;
    assert_int_equal(
        tltcp_conn_read(conn(SERVER), &buf, &seg, &count, now(SERVER)),
        TLTCP_ERR_INVAL);
    world_close(&w);
}

TEST(a_full_send_buffer_takes_some_sections_of_many) {
    static uint8_t data[1500];
    const struct iovec part = {data, sizeof(data)};
    tltcp_section s[5];
    struct plan p;
    plan_init(&p, 1);
    p.source[CLIENT].start = 100 * SEC;
    p.config[CLIENT].send_buffer = 4096;
    p.keep_open = true;
    world_start_for(&w, &p, 1 * MS); /* the handshake is not done */
    for (int i = 0; i < 5; i++) {
        s[i] = (tltcp_section){.data = &part,
                               .count = 1,
                               .deadline = NEVER,
                               .meta = {.tag = (uint64_t)i}};
    }
    assert_int_equal(tltcp_conn_write(conn(CLIENT), s, 5, now(CLIENT)), 2);
    assert_int_equal(tltcp_conn_write(conn(CLIENT), s, 1, now(CLIENT)),
                     TLTCP_ERR_AGAIN);
    assert_int_equal(tltcp_conn_writable(conn(CLIENT)), 4096 - 3000);
    world_close(&w);
}

TEST(impossible_configs_are_refused_with_a_reason) {
    static const uint8_t seed[TLTCP_SEED_LEN] = {1};
    char why[TLTCP_REASON_MAX + 1];
    tltcp_config c;
    tltcp_conn *made = NULL;
    tltcp_endpoint *ep = NULL;
#define REFUSED(field, value, code, word)                              \
    do {                                                               \
        tltcp_config_init(&c);                                         \
        c.field = (value);                                             \
        why[0] = '\0';                                                 \
        assert_int_equal(tltcp_config_check(&c, why), code);           \
        assert_non_null(strstr(why, word));                            \
        assert_int_equal(tltcp_conn_new(&made, &c, seed, 1, 0), code); \
        assert_int_equal(tltcp_endpoint_new(&ep, &c, seed, 0), code);  \
    } while (0)
    REFUSED(struct_size, 0, TLTCP_ERR_INVAL, "tltcp_config_init()");
    REFUSED(congestion, "vega", TLTCP_ERR_ALGORITHM, "cubic");
    REFUSED(recovery, "dup", TLTCP_ERR_ALGORITHM, "dupack");
    REFUSED(send_buffer, 10, TLTCP_ERR_INVAL, "send_buffer");
    REFUSED(recv_buffer, 10, TLTCP_ERR_INVAL, "recv_buffer");
    REFUSED(max_sections, 3, TLTCP_ERR_INVAL, "max_sections");
    REFUSED(packets.max_datagram, 1100, TLTCP_ERR_INVAL, "max_datagram");
    REFUSED(packets.base_datagram, 9000, TLTCP_ERR_INVAL, "base_datagram");
    REFUSED(packets.ack_every, 65, TLTCP_ERR_INVAL, "ack_every");
    REFUSED(packets.max_ack_delay_ms, 1001, TLTCP_ERR_INVAL,
            "max_ack_delay_ms");
#undef REFUSED
    assert_null(made);
    assert_null(ep);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_close_under_loss_reaches_both_ends),
        cmocka_unit_test(so_it_does_where_no_silence_is_too_long),
        cmocka_unit_test(a_close_drains_written_data),
        cmocka_unit_test(a_close_waits_at_most_for_its_linger_time),
        cmocka_unit_test(a_close_outlives_an_outage),
        cmocka_unit_test(an_abort_reaches_the_other_end_with_its_reason),
        cmocka_unit_test(a_sealing_failure_ends_a_connection_and_sends_nothing),
        cmocka_unit_test(silence_ends_both_ends_after_the_lower_idle_timeout),
        cmocka_unit_test(keep_alive_holds_a_connection_without_traffic),
        cmocka_unit_test(a_silent_peer_is_asked_once_in_a_round_trip),
        cmocka_unit_test(without_keep_alive_an_idle_connection_ends),
        cmocka_unit_test(a_connection_without_idle_timeout_stays),
        cmocka_unit_test(one_direction_may_end_before_the_other),
        cmocka_unit_test(received_data_can_be_read_after_the_close),
        cmocka_unit_test(calls_at_the_wrong_time_give_their_error),
        cmocka_unit_test(reading_returns_its_requirement),
        cmocka_unit_test(a_full_send_buffer_takes_some_sections_of_many),
        cmocka_unit_test(impossible_configs_are_refused_with_a_reason),
        cmocka_unit_test(without_idle_timeouts_pings_come_as_asked_for),
        cmocka_unit_test(both_ends_of_a_silent_connection_give_memory_back),
    };
    return cmocka_run_group_tests_name("ending", tests, NULL, NULL);
}
