/* SPDX-License-Identifier: MPL-2.0 */
/* Peers that would use up memory or time: both stay bounded. */
#include "tests/simnet/lie.h"

TEST(a_million_holes_cost_bounded_memory) {
    size_t live;
    lie_open(42);
    live = w.alloc.live;
    for (uint32_t i = 0; i < 1000000 && !w.end[SERVER].closed; i += 50) {
        struct lie l;
        lie_begin(&l, &w.end[SERVER]);
        for (uint32_t k = 0; k < 50; k++) { /* single bytes, all one section */
            lie_data(&l, 0, stream_read() + 4000 + (i + k) * 2 % 90000,
                     sections_read() + 20, 1);
        }
        assert_int_equal(lie_tell(&l, &w.end[SERVER]), 0);
    }
    assert_true(w.alloc.peak - live < 2000000);
    lie_close();
}

/* Memory that one small packet makes the server hold. */
static size_t held_for(uint32_t offset, uint32_t section) {
    size_t live = w.alloc.live;
    struct lie l;
    lie_begin(&l, &w.end[SERVER]);
    lie_data(&l, 0, stream_read() + offset, sections_read() + section, 1);
    assert_int_equal(lie_tell(&l, &w.end[SERVER]), 0);
    assert_false(w.end[SERVER].closed);
    return w.alloc.live - live;
}

TEST(a_small_packet_far_ahead_costs_a_few_pages) {
    struct plan p;
    plan_init(&p, 41); /* 4 MiB and 16384 sections may come */
    p.source[CLIENT].sections = 1000;
    p.source[CLIENT].interval = 50 * MS;
    p.keep_open = true;
    world_start_for(&w, &p, 1 * SEC);
    lie_next_pn = 5000;
    (void)held_for(5000, 5); /* makes what every connection needs once */
    assert_true(held_for(4000000, 16000) < 8192);
    assert_true(held_for(2000000, 8000) < 8192);
    assert_true(held_for(3000000, 12000) < 8192);
    lie_close();
}

TEST(a_million_skips_cost_bounded_memory) {
    size_t live;
    lie_open(43);
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
    lie_close();
}

static void
packet_numbers_all_over_the_place_cost_bounded_memory(void **state) {
    struct sim_random r;
    size_t live;
    (void)state;
    lie_open(44);
    live = w.alloc.live;
    sim_random_init(&r, 44);
    for (int i = 0; i < 200000; i++) {
        struct lie l;
        lie_next_pn = 5000 + (uint32_t)sim_random_below(&r, 1 << 30);
        lie_begin(&l, &w.end[SERVER]);
        tltcp__chunk_put(&l.w, TLTCP__PING, 0, 0);
        if (lie_tell(&l, &w.end[SERVER]) != 0) {
            fail_msg("%d: %s (%s)", i, tltcp_strerror(w.end[SERVER].error),
                     w.end[SERVER].reason);
        }
    }
    assert_false(w.end[SERVER].closed);
    assert_true(w.alloc.peak - live < 60000000); /* records of own ACKs */
    lie_close();
}

/* Tells a lie again and again and never acknowledges what it causes. */
static void flood(int packets, uint8_t type, size_t len) {
    for (int i = 0; i < packets && !w.end[SERVER].closed; i++) {
        struct lie l;
        lie_begin(&l, &w.end[SERVER]);
        for (int k = 0; k < 100; k++) {
            tltcp__chunk_put(&l.w, type, 0, len);
            lie_put(&l, 7, len);
        }
        (void)lie_tell(&l, &w.end[SERVER]);
    }
}

TEST(a_flood_of_chunks_is_answered_by_few_packets) {
    static const uint8_t types[] = {TLTCP__CHALLENGE, TLTCP__PING};
    for (int i = 0; i < 2; i++) {
        uint64_t sent;
        lie_open(45);
        sent = w.end[SERVER].datagrams;
        flood(2000, types[i], i == 0 ? 8 : 0);
        assert_false(w.end[SERVER].closed);
        assert_true(w.end[SERVER].datagrams - sent <= 2 * 2000);
        lie_close();
    }
}

static void
a_peer_that_acknowledges_nothing_costs_bounded_memory(void **state) {
    static const uint8_t types[] = {TLTCP__CHALLENGE, TLTCP__PING};
    (void)state;
    for (int i = 0; i < 2; i++) {
        lie_open(45);
        flood(600000, types[i], i == 0 ? 8 : 0);
        assert_true(w.end[SERVER].closed);
        assert_int_equal(w.end[SERVER].error, TLTCP_ERR_LIMIT);
        assert_true(w.alloc.peak < 60000000);
        lie_close();
    }
}

TEST(acks_of_the_oldest_kind_cost_no_memory) {
    size_t live;
    lie_open(46);
    live = w.alloc.live;
    for (int i = 0; i < 100000; i++) {
        struct lie l;
        lie_begin(&l, &w.end[CLIENT]);
        lie_ack(&l, 3, 3, 0);
        assert_int_equal(lie_tell(&l, &w.end[CLIENT]), 0);
    }
    assert_false(w.end[CLIENT].closed);
    assert_true(w.alloc.peak - live < 300000);
    world_run_for(&w, 1 * SEC);
    assert_string_equal(w.why, "");
    lie_close();
}

TEST(sections_by_the_billion_are_passed_in_one_step) {
    const tltcp__reasm *r;
    struct lie l;
    lie_open(47);
    r = &w.end[SERVER].peer->conn->reasm;
    lie_begin(&l, &w.end[SERVER]);
    lie_place(&l, TLTCP__UPDATE, stream_read() + 5000,
              sections_read() + 0x7ffffff0);
    assert_int_equal(lie_tell(&l, &w.end[SERVER]), 0);
    assert_int_equal(r->recs.head, r->update_section);
    assert_true(w.end[SERVER].peer->conn->stats.sections_cut >= 0x7ffffff0);
    lie_close();
}

TEST(repairs_of_anything_cost_bounded_memory) {
    world_needs_fec();
    lie_open(57);
    for (uint32_t i = 0; i < 20000 && !w.end[SERVER].closed; i++) {
        struct lie l;
        uint32_t ahead = 1000 + i * 7 % 80000;
        lie_begin(&l, &w.end[SERVER]);
        lie_repair(&l, stream_read() + ahead, 200 + i % 9000,
                   (uint8_t)(i % TLTCP__FEC_REPAIR));
        (void)lie_tell(&l, &w.end[SERVER]);
    }
    assert_false(w.end[SERVER].closed);
    assert_true(w.end[SERVER].peer->conn->fec_receiver->bytes <= 50000);
    lie_close();
}

TEST(a_boundless_window_makes_the_sender_hold_no_more) {
    const tltcp__sections *sec;
    struct lie l;
    lie_open(63);
    sec = &w.end[CLIENT].peer->conn->sender.sec;
    lie_begin(&l, &w.end[CLIENT]);
    lie_place(&l, TLTCP__WINDOW, (uint32_t)sec->nxt + 0x7fffffff,
              (uint32_t)sec->recs.tail + 0x7fffffff);
    assert_int_equal(lie_tell(&l, &w.end[CLIENT]), 0);
    assert_true(sec->peer_seq >= 0x7fffffff);
    lie_mute_client();
    world_run_for(&w, 20 * SEC); /* 400 sections of 1000 bytes */
    assert_true(end_stats(&w.end[CLIENT]).bytes_queued <=
                w.plan.config[CLIENT].send_buffer);
    assert_true(w.alloc.peak < 8000000);
    lie_close();
}

TEST(a_reader_that_never_reads_costs_its_buffer_only) {
    struct plan p;
    tltcp_stats st;
    plan_init(&p, 64);
    p.source[CLIENT].sections = 1000;
    p.source[CLIENT].size_min = 10000;
    p.source[CLIENT].size_max = 10000;
    p.config[CLIENT].send_buffer = 200000;
    p.config[SERVER].recv_buffer = 100000;
    p.reader[SERVER].pause_from = 0;
    p.reader[SERVER].pause_until = 3600 * SEC;
    p.keep_open = true;
    world_start_for(&w, &p, 60 * SEC);
    st = end_stats(&w.end[SERVER]);
    assert_true(st.bytes_unread <= 100000);
    st = end_stats(&w.end[CLIENT]);
    assert_true(st.bytes_queued <= 200000);
    assert_true(w.alloc.peak < 2000000);
    assert_false(w.end[CLIENT].closed); /* keep-alives: he lives */
    lie_close();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_million_holes_cost_bounded_memory),
        cmocka_unit_test(a_small_packet_far_ahead_costs_a_few_pages),
        cmocka_unit_test(a_million_skips_cost_bounded_memory),
        cmocka_unit_test(packet_numbers_all_over_the_place_cost_bounded_memory),
        cmocka_unit_test(a_flood_of_chunks_is_answered_by_few_packets),
        cmocka_unit_test(a_peer_that_acknowledges_nothing_costs_bounded_memory),
        cmocka_unit_test(acks_of_the_oldest_kind_cost_no_memory),
        cmocka_unit_test(sections_by_the_billion_are_passed_in_one_step),
        cmocka_unit_test(repairs_of_anything_cost_bounded_memory),
        cmocka_unit_test(a_boundless_window_makes_the_sender_hold_no_more),
        cmocka_unit_test(a_reader_that_never_reads_costs_its_buffer_only),
    };
    return cmocka_run_group_tests_name("hoarders", tests, NULL, NULL);
}
