/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Peers that lie: the connection ends with a named error, or the lie is
 * dropped; memory stays bounded.  The liar is played by injecting packets with
 * the right connection id.
 */
#include <inttypes.h>

#include "libtltcp/chunk.h"
#include "libtltcp/conn.h"
#include "tests/simnet/world.h"

static struct world w;

/* A packet in the making, as the peer of the victim would send it. */
struct lie {
    uint8_t buf[1472];
    cmn__writer w;
};

static uint32_t next_pn;

static void lie_begin(struct lie *l, const struct end *victim) {
    tltcp__packet p = {.type = TLTCP__SHORT,
                       .dcid = tltcp_conn_id(victim->peer->conn),
                       .pn = next_pn++};
    l->w = cmn__writer_of(l->buf, sizeof(l->buf) - TLTCP__CHECK_LEN);
    tltcp__packet_put(&l->w, &p);
}

static int lie_tell(struct lie *l, const struct end *victim) {
    tltcp_pktinfo info = {tltcp_conn_path(victim->peer->conn), 0, 0};
    int rv;
    l->w.end += TLTCP__CHECK_LEN;
    tltcp__packet_seal(&l->w, l->buf);
    assert_false(l->w.bad);
    rv = tltcp_conn_recv(victim->peer->conn, &info, l->buf,
                         (size_t)(l->w.p - l->buf), sim_host_now(victim->host));
    sim_peer_pump(victim->peer);
    return rv;
}

/* A connection on which both sides have sent some data; the client's stream
 * goes on slowly. */
static void begin(uint64_t seed) {
    struct plan p;
    plan_init(&p, seed);
    p.source[CLIENT].sections = 1000;
    p.source[CLIENT].interval = 50 * MS;
    p.source[SERVER].sections = 1000;
    p.source[SERVER].interval = 50 * MS;
    p.config[SERVER].recv_buffer = 100000;
    p.config[SERVER].max_sections = 100;
    p.keep_open = true;
    assert_int_equal(world_open(&w, &p), 0);
    world_run_for(&w, 1 * SEC);
    assert_string_equal(w.why, "");
    next_pn = 5000; /* above all that the peer has used */
}

static uint32_t stream_read(void) {
    return (uint32_t)w.flow[CLIENT].next_seq;
}

static uint32_t sections_read(void) {
    return stream_read() / 1000;
}

static void finish(void) {
    world_close(&w);
    assert_int_equal(w.alloc.blocks, 0);
}

/* Tells the lie and expects the end of the victim with an error. */
static void expect_end(struct lie *l, struct end *victim, int error) {
    (void)lie_tell(l, victim);
    if (!victim->closed || victim->error != error) {
        fail_msg("closed %d, error %d (%s), expected %d (%s)", victim->closed,
                 victim->error, tltcp_strerror(victim->error), error,
                 tltcp_strerror(error));
    }
    assert_true(victim->reason[0] != '\0');
    finish();
}

static void put_ack(struct lie *l, uint32_t largest, uint32_t first,
                    uint32_t cumulative) {
    tltcp__ack a = {.largest = largest,
                    .first = first,
                    .cumulative = cumulative,
                    .window = {1 << 20, 1000}};
    tltcp__ack_put(&l->w, &a, 0);
}

static void an_ack_of_a_packet_never_sent_ends_it(void **state) {
    struct lie l;
    (void)state;
    begin(1);
    lie_begin(&l, &w.end[CLIENT]);
    put_ack(&l, 100000, 0, 0);
    expect_end(&l, &w.end[CLIENT], TLTCP_ERR_ACK);
}

static void an_ack_of_packets_below_zero_ends_it(void **state) {
    struct lie l;
    (void)state;
    begin(2);
    lie_begin(&l, &w.end[CLIENT]);
    put_ack(&l, 3, 4, 0);
    expect_end(&l, &w.end[CLIENT], TLTCP_ERR_ACK);
}

static void ranges_of_an_ack_below_zero_end_it(void **state) {
    struct lie l;
    tltcp__ack a = {.largest = 10, .window = {1 << 20, 1000}};
    (void)state;
    begin(3);
    lie_begin(&l, &w.end[CLIENT]);
    tltcp__ack_put(&l.w, &a, 1);
    cmn__put32(&l.w, 0xfffffff0);
    cmn__put32(&l.w, 0xfffffff0);
    expect_end(&l, &w.end[CLIENT], TLTCP_ERR_ACK);
}

static void a_cumulative_ack_beyond_what_was_sent_ends_it(void **state) {
    struct lie l;
    (void)state;
    begin(4);
    lie_begin(&l, &w.end[CLIENT]);
    put_ack(&l, 3, 0, 900000);
    expect_end(&l, &w.end[CLIENT], TLTCP_ERR_ACK);
}

static void put_data(struct lie *l, unsigned flags, uint32_t seq,
                     uint32_t section, uint32_t len) {
    tltcp__data_put(&l->w, (uint8_t)flags, seq, section, len);
    for (uint32_t i = 0; i < len; i++) {
        cmn__put8(&l->w, 0);
    }
}

static void data_beyond_the_window_ends_it(void **state) {
    struct lie l;
    (void)state;
    begin(5);
    lie_begin(&l, &w.end[SERVER]);
    put_data(&l, 0, stream_read() + 100001, sections_read() + 5, 10);
    expect_end(&l, &w.end[SERVER], TLTCP_ERR_FLOW);
}

static void sections_beyond_the_window_end_it(void **state) {
    struct lie l;
    (void)state;
    begin(6);
    lie_begin(&l, &w.end[SERVER]);
    put_data(&l, 0, stream_read() + 50000, sections_read() + 101, 10);
    expect_end(&l, &w.end[SERVER], TLTCP_ERR_FLOW);
}

static void an_impossible_seq_update_ends_it(void **state) {
    struct lie l;
    (void)state;
    begin(7);
    lie_begin(&l, &w.end[SERVER]);
    tltcp__place_put(&l.w, TLTCP__UPDATE,
                     (tltcp__place){stream_read() + 0x50000000, 100000});
    expect_end(&l, &w.end[SERVER], TLTCP_ERR_FLOW);
}

static void sections_that_run_backwards_end_it(void **state) {
    struct lie l;
    (void)state;
    begin(8);
    lie_begin(&l, &w.end[SERVER]);
    tltcp__place_put(&l.w, TLTCP__UPDATE,
                     (tltcp__place){stream_read() + 5000, 2});
    expect_end(&l, &w.end[SERVER], TLTCP_ERR_PROTOCOL);
}

static void data_that_contradicts_itself_ends_it(void **state) {
    /* flags, seq, section, len relative to what was read; two chunks */
    static const uint32_t lies[][8] = {
        {1, 5000, 9, 100, 1, 5050, 9, 100}, /* begins twice */
        {2, 5000, 9, 100, 2, 5050, 9, 100}, /* ends twice */
        {2, 5000, 9, 100, 0, 5100, 9, 100}, /* goes on behind its end */
        {1, 5000, 9, 100, 0, 4900, 9, 100}, /* begins before its start */
        {0, 5000, 9, 100, 1, 5050, 9, 100}, /* starts inside itself */
        {0, 5000, 9, 100, 2, 4900, 9, 100}, /* ends inside itself */
    };
    (void)state;
    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        const uint32_t *x = lies[i];
        struct lie l;
        begin(9 + i);
        lie_begin(&l, &w.end[SERVER]);
        put_data(&l, x[0], stream_read() + x[1], sections_read() + x[2], x[3]);
        put_data(&l, x[4], stream_read() + x[5], sections_read() + x[6], x[7]);
        expect_end(&l, &w.end[SERVER], TLTCP_ERR_PROTOCOL);
    }
}

static void two_ends_of_a_stream_end_it(void **state) {
    struct lie l;
    (void)state;
    begin(20);
    lie_begin(&l, &w.end[SERVER]);
    tltcp__place_put(&l.w, TLTCP__FIN,
                     (tltcp__place){stream_read() + 90000, 200});
    tltcp__place_put(&l.w, TLTCP__FIN,
                     (tltcp__place){stream_read() + 80000, 200});
    expect_end(&l, &w.end[SERVER], TLTCP_ERR_PROTOCOL);
}

static void data_behind_the_end_of_the_stream_ends_it(void **state) {
    struct lie l;
    (void)state;
    begin(21);
    lie_begin(&l, &w.end[SERVER]);
    tltcp__place_put(&l.w, TLTCP__FIN,
                     (tltcp__place){stream_read() + 5000, 50});
    put_data(&l, 0, stream_read() + 4999, 49, 2);
    expect_end(&l, &w.end[SERVER], TLTCP_ERR_PROTOCOL);
}

static void an_end_before_what_came_ends_it(void **state) {
    struct lie l;
    (void)state;
    begin(22);
    lie_begin(&l, &w.end[SERVER]);
    tltcp__place_put(&l.w, TLTCP__FIN, (tltcp__place){stream_read() - 1, 1});
    expect_end(&l, &w.end[SERVER], TLTCP_ERR_PROTOCOL);
}

static void chunks_that_are_unknown_or_malformed_end_it(void **state) {
    static const uint8_t types[] = {0x0d, 0x0f, 0x10, 0x20, 0x7f};
    (void)state;
    for (size_t i = 0; i < sizeof(types); i++) {
        struct lie l;
        begin(23 + i);
        lie_begin(&l, &w.end[SERVER]);
        tltcp__chunk_put(&l.w, types[i], 0, 0);
        expect_end(&l, &w.end[SERVER], TLTCP_ERR_PROTOCOL);
    }
    for (uint8_t type = 1; type <= 9; type++) { /* too short a body */
        struct lie l;
        if (type == TLTCP__PING) {
            continue;
        }
        begin(30 + type);
        lie_begin(&l, &w.end[SERVER]);
        tltcp__chunk_put(&l.w, type, 0, 3);
        cmn__put(&l.w, 0, 3);
        expect_end(&l, &w.end[SERVER], TLTCP_ERR_PROTOCOL);
    }
}

static void chunks_from_0x80_on_are_skipped(void **state) {
    struct lie l;
    (void)state;
    begin(40);
    lie_begin(&l, &w.end[SERVER]);
    tltcp__chunk_put(&l.w, 0x80, 7, 5);
    cmn__put(&l.w, 0, 5);
    tltcp__chunk_put(&l.w, 0xff, 7, 0);
    assert_int_equal(lie_tell(&l, &w.end[SERVER]), 0);
    assert_false(w.end[SERVER].closed);
    finish();
}

static void a_window_that_shrinks_is_ignored(void **state) {
    const tltcp__sections *sec;
    uint64_t seq;
    uint64_t section;
    struct lie l;
    (void)state;
    begin(41);
    sec = &w.end[CLIENT].peer->conn->sender.sec;
    seq = sec->peer_seq;
    section = sec->peer_section;
    lie_begin(&l, &w.end[CLIENT]);
    tltcp__place_put(&l.w, TLTCP__WINDOW, (tltcp__place){5, 1});
    assert_int_equal(lie_tell(&l, &w.end[CLIENT]), 0);
    assert_int_equal(sec->peer_seq, seq);
    assert_int_equal(sec->peer_section, section);
    assert_false(w.end[CLIENT].closed);
    finish();
}

static void a_million_holes_cost_bounded_memory(void **state) {
    size_t live;
    (void)state;
    begin(42);
    live = w.alloc.live;
    for (uint32_t i = 0; i < 1000000 && !w.end[SERVER].closed; i += 50) {
        struct lie l;
        lie_begin(&l, &w.end[SERVER]);
        for (uint32_t k = 0; k < 50; k++) { /* single bytes, all one section */
            put_data(&l, 0, stream_read() + 4000 + (i + k) * 2 % 90000,
                     sections_read() + 20, 1);
        }
        assert_int_equal(lie_tell(&l, &w.end[SERVER]), 0);
    }
    assert_true(w.alloc.peak - live < 2000000);
    finish();
}

static void a_million_skips_cost_bounded_memory(void **state) {
    size_t live;
    (void)state;
    begin(43);
    live = w.alloc.live;
    for (uint32_t i = 0; i < 1000000 && !w.end[SERVER].closed; i += 50) {
        struct lie l;
        lie_begin(&l, &w.end[SERVER]);
        for (uint32_t k = 0; k < 50; k++) {
            tltcp__skip s = {stream_read() + 4000 + (i + k) * 2,
                             stream_read() + 4001 + (i + k) * 2,
                             sections_read() + 50};
            tltcp__skip_put(&l.w, &s);
        }
        (void)lie_tell(&l, &w.end[SERVER]);
    }
    assert_true(w.alloc.peak - live < 2000000);
    finish();
}

static void
packet_numbers_all_over_the_place_cost_bounded_memory(void **state) {
    struct sim_random r;
    size_t live;
    (void)state;
    begin(44);
    live = w.alloc.live;
    sim_random_init(&r, 44);
    for (int i = 0; i < 200000; i++) {
        struct lie l;
        next_pn = 5000 + (uint32_t)sim_random_below(&r, 1 << 30);
        lie_begin(&l, &w.end[SERVER]);
        tltcp__chunk_put(&l.w, TLTCP__PING, 0, 0);
        if (lie_tell(&l, &w.end[SERVER]) != 0) {
            fail_msg("%d: %s (%s)", i, tltcp_strerror(w.end[SERVER].error),
                     w.end[SERVER].reason);
        }
    }
    assert_false(w.end[SERVER].closed);
    assert_true(w.alloc.peak - live < 60000000); /* records of own ACKs */
    finish();
}

/* Tells a lie again and again and never acknowledges what it causes. */
static void flood(int packets, uint8_t type, size_t len) {
    for (int i = 0; i < packets && !w.end[SERVER].closed; i++) {
        struct lie l;
        lie_begin(&l, &w.end[SERVER]);
        for (int k = 0; k < 100; k++) {
            tltcp__chunk_put(&l.w, type, 0, len);
            cmn__put(&l.w, 7, len);
        }
        (void)lie_tell(&l, &w.end[SERVER]);
    }
}

static void a_flood_of_chunks_is_answered_by_few_packets(void **state) {
    static const uint8_t types[] = {TLTCP__CHALLENGE, TLTCP__PING};
    (void)state;
    for (int i = 0; i < 2; i++) {
        uint64_t sent;
        begin(45);
        sent = w.end[SERVER].datagrams;
        flood(2000, types[i], i == 0 ? 8 : 0);
        assert_false(w.end[SERVER].closed);
        assert_true(w.end[SERVER].datagrams - sent <= 2 * 2000);
        finish();
    }
}

static void
a_peer_that_acknowledges_nothing_costs_bounded_memory(void **state) {
    static const uint8_t types[] = {TLTCP__CHALLENGE, TLTCP__PING};
    (void)state;
    for (int i = 0; i < 2; i++) {
        begin(45);
        flood(600000, types[i], i == 0 ? 8 : 0);
        assert_true(w.end[SERVER].closed);
        assert_int_equal(w.end[SERVER].error, TLTCP_ERR_LIMIT);
        assert_true(w.alloc.peak < 60000000);
        finish();
    }
}

static void acks_of_the_oldest_kind_cost_no_memory(void **state) {
    size_t live;
    (void)state;
    begin(46);
    live = w.alloc.live;
    for (int i = 0; i < 100000; i++) {
        struct lie l;
        lie_begin(&l, &w.end[CLIENT]);
        put_ack(&l, 3, 3, 0);
        assert_int_equal(lie_tell(&l, &w.end[CLIENT]), 0);
    }
    assert_false(w.end[CLIENT].closed);
    assert_true(w.alloc.peak - live < 300000);
    world_run_for(&w, 1 * SEC);
    assert_string_equal(w.why, "");
    finish();
}

static void sections_by_the_billion_are_passed_in_one_step(void **state) {
    const tltcp__reasm *r;
    struct lie l;
    (void)state;
    begin(47);
    r = &w.end[SERVER].peer->conn->reasm;
    lie_begin(&l, &w.end[SERVER]);
    tltcp__place_put(
        &l.w, TLTCP__UPDATE,
        (tltcp__place){stream_read() + 5000, sections_read() + 0x7ffffff0});
    assert_int_equal(lie_tell(&l, &w.end[SERVER]), 0);
    assert_int_equal(r->recs.head, r->update_section);
    assert_true(w.end[SERVER].peer->conn->stats.sections_cut >= 0x7ffffff0);
    finish();
}

static void nonces_and_pings_of_the_wrong_length_end_it(void **state) {
    static const uint8_t types[] = {TLTCP__CHALLENGE, TLTCP__RESPONSE,
                                    TLTCP__PING};
    (void)state;
    for (size_t i = 0; i < sizeof(types); i++) {
        struct lie l;
        begin(48 + i);
        lie_begin(&l, &w.end[SERVER]);
        tltcp__chunk_put(&l.w, types[i], 0, 9);
        cmn__put(&l.w, 0, 9);
        expect_end(&l, &w.end[SERVER], TLTCP_ERR_PROTOCOL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_ack_of_a_packet_never_sent_ends_it),
        cmocka_unit_test(an_ack_of_packets_below_zero_ends_it),
        cmocka_unit_test(ranges_of_an_ack_below_zero_end_it),
        cmocka_unit_test(a_cumulative_ack_beyond_what_was_sent_ends_it),
        cmocka_unit_test(data_beyond_the_window_ends_it),
        cmocka_unit_test(sections_beyond_the_window_end_it),
        cmocka_unit_test(an_impossible_seq_update_ends_it),
        cmocka_unit_test(sections_that_run_backwards_end_it),
        cmocka_unit_test(data_that_contradicts_itself_ends_it),
        cmocka_unit_test(two_ends_of_a_stream_end_it),
        cmocka_unit_test(data_behind_the_end_of_the_stream_ends_it),
        cmocka_unit_test(an_end_before_what_came_ends_it),
        cmocka_unit_test(chunks_that_are_unknown_or_malformed_end_it),
        cmocka_unit_test(chunks_from_0x80_on_are_skipped),
        cmocka_unit_test(a_window_that_shrinks_is_ignored),
        cmocka_unit_test(a_million_holes_cost_bounded_memory),
        cmocka_unit_test(a_million_skips_cost_bounded_memory),
        cmocka_unit_test(packet_numbers_all_over_the_place_cost_bounded_memory),
        cmocka_unit_test(a_flood_of_chunks_is_answered_by_few_packets),
        cmocka_unit_test(a_peer_that_acknowledges_nothing_costs_bounded_memory),
        cmocka_unit_test(acks_of_the_oldest_kind_cost_no_memory),
        cmocka_unit_test(sections_by_the_billion_are_passed_in_one_step),
        cmocka_unit_test(nonces_and_pings_of_the_wrong_length_end_it),
    };
    return cmocka_run_group_tests_name("liars", tests, NULL, NULL);
}
