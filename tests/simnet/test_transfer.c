/* SPDX-License-Identifier: MPL-2.0 */
/* Transfers: recoveries, controllers, windows, slow readers, expiry. */
#include <congestion/congestion.h>

#include "libtltcp/engine/conn.h"
#include "tests/simnet/world.h"

static struct world w;

static const char *const recoveries[] = {"packet", "dupack", "dupack-tahoe",
                                         "dupack-newreno", "dupack-sack"};
#define RECOVERIES (sizeof(recoveries) / sizeof(recoveries[0]))

static void lossy(struct plan *p, double loss) {
    for (int i = 0; i < 2; i++) {
        p->link[i].loss = loss;
        p->config[i].connect_timeout_ms = 120000;
        p->config[i].idle_timeout_ms = 600000;
    }
}

TEST(without_deadlines_the_stream_is_reliable) {
    for (size_t r = 0; r < RECOVERIES; r++) {
        for (uint64_t seed = 0; seed < 20; seed++) {
            struct plan p;
            plan_init(&p, 100 * r + seed);
            p.config[CLIENT].recovery = recoveries[r];
            p.source[CLIENT].sections = 150;
            lossy(&p, 0.01 * (double)seed);
            p.link[CLIENT].reorder = 0.02;
            p.link[CLIENT].reorder_delay = 10 * MS;
            p.link[CLIENT].corrupt = 0.01;
            p.link[SERVER].duplicate = 0.05;
            world_start(&w, &p);
            world_run(&w);
            assert_int_equal(w.flow[CLIENT].reader.gaps, 0);
            assert_int_equal(w.flow[CLIENT].fates[TLTCP_FATE_DELIVERED], 150);
            world_finish(&w);
        }
    }
}

TEST(every_controller_works_under_every_recovery) {
    const char *const *name = cong_list();
    for (uint64_t n = 0; name[n] != NULL; n++) {
        for (size_t r = 0; r < RECOVERIES; r++) {
            struct plan p;
            plan_init(&p, RECOVERIES * n + r);
            p.config[CLIENT].congestion = name[n];
            p.config[CLIENT].recovery = recoveries[r];
            p.config[CLIENT].max_rate = 3000000;
            p.source[CLIENT].sections = 300;
            p.link[CLIENT].limit_packets = 20;
            lossy(&p, 0.01);
            if (!play(&p, NULL)) {
                fail_msg("%s under %s", name[n], recoveries[r]);
            }
        }
    }
}

/* An overload: more is written than the link carries. */
static void overload(struct plan *p, uint64_t seed) {
    plan_init(p, seed);
    p->link[CLIENT].rate = 1e6;
    p->link[CLIENT].limit_packets = 0;
    p->link[CLIENT].limit_bytes = 20000;
    p->source[CLIENT].sections = 300;
    p->source[CLIENT].size_min = 3000;
    p->source[CLIENT].size_max = 9000;
    p->source[CLIENT].interval = 33 * MS; /* 1.45 Mbit/s */
    p->source[CLIENT].budget = 200 * MS;
}

static void
an_overload_is_shed_by_deadline_and_the_link_stays_busy(void **state) {
    (void)state;
    for (size_t r = 0; r < RECOVERIES; r++) {
        struct plan p;
        tltcp_stats st;
        overload(&p, r);
        p.config[CLIENT].recovery = recoveries[r];
        world_start(&w, &p);
        world_run(&w);
        st = end_stats(&w.end[CLIENT]);
        assert_true(w.flow[CLIENT].reader.gaps > 10);
        assert_int_equal(st.sections_delivered + st.sections_partial +
                             st.sections_expired,
                         300);
        /* 10 s at 1 Mbit/s are 1.25 MB; framing and losses take some. */
        assert_in_range(w.flow[CLIENT].reader.bytes, 900000, 1250000);
        world_finish(&w);
    }
}

static void
an_overload_does_no_harm_to_sections_without_deadline(void **state) {
    struct plan p;
    (void)state;
    overload(&p, 9);
    p.source[CLIENT].reliable = 0.2;
    world_start(&w, &p);
    world_run(&w);
    assert_true(w.flow[CLIENT].reader.gaps > 10);
    world_finish(&w); /* check_section_end() looks at each */
}

static void
nothing_of_a_section_that_is_late_from_the_start_is_sent(void **state) {
    struct plan p;
    tltcp_stats st;
    (void)state;
    plan_init(&p, 1);
    p.source[CLIENT].budget = 0; /* the deadline is now */
    world_start(&w, &p);
    world_run(&w);
    st = end_stats(&w.end[CLIENT]);
    assert_int_equal(st.bytes_sent, 0);
    assert_true(st.seq_updates_sent > 0);
    assert_int_equal(w.flow[CLIENT].fates[TLTCP_FATE_UNSENT], 50);
    assert_int_equal(w.flow[CLIENT].reader.gap_bytes, 50000);
    world_finish(&w);
}

static bool drop_big(void *user, uint32_t link, struct sim_packet *p,
                     uint64_t now) {
    const uint64_t *since = user;
    return link != 0 || p->len < 600 || now < *since;
}

/* Every packet with data is lost; the update alone must bring the skip. */
TEST(the_skip_of_the_last_section_arrives_without_data) {
    for (size_t r = 0; r < RECOVERIES; r++) {
        uint64_t since = 1 * SEC;
        struct plan p;
        plan_init(&p, r);
        p.config[CLIENT].recovery = recoveries[r];
        p.config[CLIENT].packets.mtu_probing = false;
        p.source[CLIENT].start = 1 * SEC;
        p.source[CLIENT].sections = 1;
        p.source[CLIENT].budget = 300 * MS;
        p.tap = drop_big;
        p.user = &since;
        p.keep_open = true;
        world_start_for(&w, &p, 4 * SEC);
        assert_int_equal(w.flow[CLIENT].reader.gap_bytes, 1000);
        /* not before the deadline, and one round trip later */
        assert_in_range(w.flow[CLIENT].reader.last, 1300 * MS, 1500 * MS);
        world_close(&w);
    }
}

TEST(the_skip_of_the_last_section_survives_losses) {
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct plan p;
        plan_init(&p, seed);
        p.config[CLIENT].recovery = recoveries[seed % RECOVERIES];
        p.source[CLIENT].sections = 1 + seed % 3;
        p.source[CLIENT].budget = 30 * MS;
        lossy(&p, 0.3);
        assert_true(play(&p, NULL));
    }
}

static void
deadlines_at_the_receiver_expire_half_a_round_trip_earlier(void **state) {
    struct plan p;
    (void)state;
    for (int at_receiver = 0; at_receiver < 2; at_receiver++) {
        overload(&p, 5);
        p.link[CLIENT].delay = 100 * MS;
        p.link[SERVER].delay = 100 * MS;
        p.link[CLIENT].loss = 0.05;
        p.source[CLIENT].budget = 400 * MS;
        p.config[CLIENT].deadline_at_receiver = at_receiver == 1;
        world_start(&w, &p);
        world_run(&w);
        if (at_receiver == 1) {
            assert_true(w.end[CLIENT].slack >= 100 * MS);
        } else {
            assert_true(w.end[CLIENT].slack < 50 * MS);
        }
        world_finish(&w);
    }
}

/* A packet that only tells what was dropped takes the place of a whole one. */
TEST(dropped_data_is_reported_with_queued_data) {
    for (size_t r = 0; r < 2; r++) {
        struct plan p;
        plan_init(&p, r);
        p.config[CLIENT].recovery = recoveries[r];
        p.config[CLIENT].controller.max_window = 10;
        p.link[CLIENT].delay = 100 * MS;
        p.source[CLIENT].sections = 50;
        p.source[CLIENT].size_min = 100000;
        p.source[CLIENT].size_max = 100000;
        p.source[CLIENT].interval = 400 * MS;
        p.source[CLIENT].budget = 500 * MS;
        world_start(&w, &p);
        world_run(&w);
        assert_in_range(w.flow[CLIENT].reader.gaps, 10, 60);
        assert_in_range(end_stats(&w.end[CLIENT]).seq_updates_sent, 0, 2);
        world_finish(&w);
    }
}

static void count_windows(void *user, struct end *e, const void *dgram,
                          size_t len) {
    unsigned *count = user;
    sec__packet p;
    tltcp__chunk k;
    cmn__reader r;
    (void)e;
    if (sec__packet_parse(dgram, len, &p) && p.type == SEC__SHORT) {
        r = cmn__reader_of(p.body, p.body_len);
        while (tltcp__chunk_next(&r, &k)) {
            *count += k.type == TLTCP__WINDOW;
        }
    }
}

TEST(the_window_of_the_handshake_is_not_repeated) {
    struct plan p;
    unsigned count = 0;
    plan_init(&p, 1);
    p.source[CLIENT].sections = 20;
    p.spy = count_windows;
    p.user = &count;
    assert_true(play(&p, NULL));
    assert_int_equal(count, 0);
}

TEST(a_reader_that_is_slow_holds_the_sender_back) {
    struct plan p;
    plan_init(&p, 1);
    p.config[SERVER].recv_buffer = 16384;
    p.source[CLIENT].sections = 200;
    p.reader[SERVER].rate = 50000;
    world_start(&w, &p);
    for (int i = 0; i < 60; i++) {
        world_run_for(&w, 50 * MS);
        assert_true(end_stats(&w.end[SERVER]).bytes_unread <= 16384);
    }
    world_finish(&w);
}

/* The sender hears of room long before nothing is left to read. */
TEST(a_slow_reader_never_runs_dry) {
    struct plan p;
    plan_init(&p, 1);
    p.config[SERVER].recv_buffer = 32768;
    p.source[CLIENT].sections = 200;
    p.reader[SERVER].rate = 50000;
    world_start_for(&w, &p, 500 * MS);
    for (int i = 0; i < 300; i++) {
        world_run_for(&w, 10 * MS);
        assert_true(end_stats(&w.end[SERVER]).bytes_unread > 0);
    }
    world_finish(&w);
}

TEST(a_reader_may_stop_for_long_and_go_on) {
    for (size_t r = 0; r < RECOVERIES; r++) {
        struct plan p;
        plan_init(&p, r);
        p.config[CLIENT].recovery = recoveries[r];
        p.config[SERVER].recv_buffer = 8192;
        p.source[CLIENT].sections = 100;
        p.reader[SERVER].pause_from = 100 * MS;
        p.reader[SERVER].pause_until = 200 * SEC;
        lossy(&p, 0.1); /* the window update may be lost too */
        assert_true(play(&p, NULL));
    }
}

TEST(windows_of_any_size_do) {
    static const size_t sizes[] = {4096, 5000, 20000, 1 << 20};
    for (size_t i = 0; i < 4; i++) {
        for (size_t k = 0; k < 4; k++) {
            struct plan p;
            plan_init(&p, i * 4 + k);
            p.config[CLIENT].send_buffer = sizes[i];
            p.config[SERVER].recv_buffer = sizes[k];
            p.config[SERVER].max_sections = 16;
            p.config[CLIENT].controller.max_window = 2;
            p.source[CLIENT].sections = 100;
            lossy(&p, 0.02);
            assert_true(play(&p, NULL));
        }
    }
}

static void
a_section_larger_than_the_receiver_s_buffer_gets_through(void **state) {
    struct plan p;
    (void)state;
    plan_init(&p, 1);
    p.config[SERVER].recv_buffer = 4096;
    p.source[CLIENT].sections = 5;
    p.source[CLIENT].size_min = 100000;
    p.source[CLIENT].size_max = 100000;
    assert_true(play(&p, NULL));
}

TEST(sections_of_one_byte_do) {
    struct plan p;
    plan_init(&p, 1);
    p.source[CLIENT].sections = 5000;
    p.source[CLIENT].size_min = 1;
    p.source[CLIENT].size_max = 1;
    lossy(&p, 0.02);
    assert_true(play(&p, NULL));
}

/* Sections that came whole while an earlier one was still missing. */
static void
unordered_sections_overtake_one_that_waits_for_its_repair(void **state) {
    uint64_t read[2] = {0, 0};
    (void)state;
    for (int unordered = 0; unordered < 2; unordered++) {
        struct plan p;
        plan_init(&p, 3);
        p.config[SERVER].unordered = unordered == 1;
        p.source[CLIENT].sections = 200;
        p.source[CLIENT].interval = 10 * MS;
        p.source[CLIENT].budget = 2 * SEC;
        p.link[CLIENT].delay = 200 * MS;
        lossy(&p, 0.05);
        world_start(&w, &p);
        for (int i = 0; i < 25; i++) { /* the sum grows with earliness */
            world_run_for(&w, 100 * MS);
            read[unordered] += w.flow[CLIENT].reader.bytes;
        }
        world_finish(&w);
    }
    assert_true(read[1] > read[0]);
}

TEST(both_directions_at_once_share_a_connection) {
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct plan p;
        plan_init(&p, seed);
        p.config[CLIENT].recovery = recoveries[seed % RECOVERIES];
        p.config[SERVER].recovery = recoveries[seed / RECOVERIES % RECOVERIES];
        p.source[CLIENT].sections = 100;
        p.source[SERVER].sections = 200;
        lossy(&p, 0.05);
        assert_true(play(&p, NULL));
    }
}

TEST(burst_losses_and_blackouts_end) {
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct plan p;
        plan_init(&p, seed);
        p.config[CLIENT].recovery = recoveries[seed % RECOVERIES];
        p.source[CLIENT].sections = 200;
        p.source[CLIENT].interval = 20 * MS;
        p.source[CLIENT].budget = seed % 2 == 0 ? NEVER : 500 * MS;
        lossy(&p, 0);
        p.link[CLIENT].burst_enter = 0.02;
        p.link[CLIENT].burst_leave = 0.2;
        p.link[CLIENT].burst_loss = 0.9;
        p.link[CLIENT].blackout_start = 1 * SEC;
        p.link[CLIENT].blackout_length = (1 + seed % 5) * SEC / 2;
        p.link[SERVER].blackout_start = 2 * SEC;
        p.link[SERVER].blackout_length = (1 + seed % 3) * SEC / 2;
        assert_true(play(&p, NULL));
    }
}

TEST(heavy_reordering_costs_no_data) {
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct plan p;
        plan_init(&p, seed);
        p.config[CLIENT].recovery = recoveries[seed % RECOVERIES];
        p.source[CLIENT].sections = 150;
        p.link[CLIENT].reorder = 0.4;
        p.link[CLIENT].reorder_delay = 30 * MS;
        p.link[SERVER].reorder = 0.4;
        p.link[SERVER].reorder_delay = 30 * MS;
        p.link[CLIENT].duplicate = 0.2;
        lossy(&p, 0.02);
        assert_true(play(&p, NULL));
    }
}

TEST(the_pseudo_retransmission_of_the_paper_happens) {
    struct plan p;
    overload(&p, 4);
    p.config[CLIENT].recovery = "dupack";
    p.source[CLIENT].budget = 120 * MS;
    p.source[CLIENT].reliable = 0.3;
    world_start(&w, &p);
    world_run(&w);
    assert_true(end_stats(&w.end[CLIENT]).pseudo_retransmissions > 0);
    world_finish(&w);
}

/* The paper's timeouts (section 6.2.4): nothing else tells of what was skipped.
 */
TEST(what_is_skipped_and_held_costs_a_timeout) {
    uint64_t timeouts[2];
    for (int hold = 0; hold < 2; hold++) {
        struct plan p;
        overload(&p, 4);
        p.config[CLIENT].recovery = "dupack";
        p.config[CLIENT].paper.hold_skipped = hold != 0;
        p.source[CLIENT].budget = 120 * MS;
        world_start(&w, &p);
        world_run(&w);
        timeouts[hold] = end_stats(&w.end[CLIENT]).rto_count;
        assert_true(w.flow[CLIENT].reader.bytes > 500000);
        world_finish(&w);
    }
    assert_true(timeouts[1] > timeouts[0]);
}

/* An answered probe would end the backoff of the RTO, which makes a TCP too
 * strong where many packets are lost. */
TEST(while_data_waits_for_its_rto_no_probe_is_sent) {
    for (size_t r = 1; r < RECOVERIES; r++) {
        struct plan p;
        tltcp_stats st;
        plan_init(&p, r);
        p.config[CLIENT].recovery = recoveries[r];
        p.config[CLIENT].congestion = "reno";
        p.config[CLIENT].packets.mtu_probing = false;
        p.source[CLIENT].sections = 400;
        lossy(&p, 0.25);
        world_start(&w, &p);
        world_run(&w);
        st = end_stats(&w.end[CLIENT]);
        assert_true(st.rto_count > 20);
        assert_in_range(st.probes_sent, 0, 10); /* of the end */
        world_finish(&w);
    }
}

/* SACK tells all the holes at once. */
TEST(sack_repairs_many_holes_in_the_time_of_one) {
    uint64_t took[2];
    for (size_t i = 0; i < 2; i++) {
        struct plan p;
        plan_init(&p, 3);
        p.config[CLIENT].recovery = i == 0 ? "dupack-sack" : "dupack-newreno";
        p.config[CLIENT].congestion = "reno";
        p.config[CLIENT].packets.mtu_probing = false;
        p.source[CLIENT].sections = 2000;
        p.source[CLIENT].interval = 0;
        p.link[CLIENT].rate = 10e6;
        p.link[CLIENT].limit_packets = 30; /* slow start loses a window */
        p.link[CLIENT].delay = p.link[SERVER].delay = 50 * MS;
        world_start(&w, &p);
        world_run(&w);
        assert_int_equal(w.flow[CLIENT].fates[TLTCP_FATE_DELIVERED], 2000);
        assert_true(end_stats(&w.end[CLIENT]).congestion_events > 0);
        took[i] = world_now(&w);
        world_finish(&w);
    }
    assert_true(took[0] < took[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_deadlines_the_stream_is_reliable),
        cmocka_unit_test(every_controller_works_under_every_recovery),
        cmocka_unit_test(
            an_overload_is_shed_by_deadline_and_the_link_stays_busy),
        cmocka_unit_test(an_overload_does_no_harm_to_sections_without_deadline),
        cmocka_unit_test(
            nothing_of_a_section_that_is_late_from_the_start_is_sent),
        cmocka_unit_test(the_skip_of_the_last_section_arrives_without_data),
        cmocka_unit_test(the_skip_of_the_last_section_survives_losses),
        cmocka_unit_test(
            deadlines_at_the_receiver_expire_half_a_round_trip_earlier),
        cmocka_unit_test(dropped_data_is_reported_with_queued_data),
        cmocka_unit_test(the_window_of_the_handshake_is_not_repeated),
        cmocka_unit_test(a_reader_that_is_slow_holds_the_sender_back),
        cmocka_unit_test(a_slow_reader_never_runs_dry),
        cmocka_unit_test(a_reader_may_stop_for_long_and_go_on),
        cmocka_unit_test(windows_of_any_size_do),
        cmocka_unit_test(
            a_section_larger_than_the_receiver_s_buffer_gets_through),
        cmocka_unit_test(sections_of_one_byte_do),
        cmocka_unit_test(
            unordered_sections_overtake_one_that_waits_for_its_repair),
        cmocka_unit_test(both_directions_at_once_share_a_connection),
        cmocka_unit_test(burst_losses_and_blackouts_end),
        cmocka_unit_test(heavy_reordering_costs_no_data),
        cmocka_unit_test(what_is_skipped_and_held_costs_a_timeout),
        cmocka_unit_test(while_data_waits_for_its_rto_no_probe_is_sent),
        cmocka_unit_test(sack_repairs_many_holes_in_the_time_of_one),
        cmocka_unit_test(the_pseudo_retransmission_of_the_paper_happens),
    };
    return cmocka_run_group_tests_name("transfer", tests, NULL, NULL);
}
