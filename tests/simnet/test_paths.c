/* SPDX-License-Identifier: MPL-2.0 */
/* Paths: datagram sizes, ECN, the first window on a long one. */
#include "libtltcp/engine/conn.h"
#include "tests/simnet/world.h"

static struct world w;
static const char *const recoveries[] = {"packet", "dupack"};

static uint64_t datagram_found(uint32_t mtu, uint32_t max) {
    struct plan p;
    uint64_t found;
    plan_init(&p, mtu);
    p.config[CLIENT].packets.max_datagram = max;
    p.config[SERVER].packets.max_datagram = max;
    p.link[CLIENT].mtu = mtu;
    p.source[CLIENT].sections = 300;
    p.source[CLIENT].size_min = 10000;
    p.source[CLIENT].size_max = 10000;
    p.config[CLIENT].send_buffer = 100000;
    p.link[CLIENT].rate = 20e6;
    world_start(&w, &p);
    world_run(&w);
    found = end_stats(&w.end[CLIENT]).datagram_bytes;
    world_finish(&w);
    return found;
}

TEST(the_datagram_grows_to_the_mtu_of_the_path) {
    assert_int_equal(datagram_found(0, 1472), 1472);
    assert_int_equal(datagram_found(0, 9000), 9000);
    assert_int_equal(datagram_found(1472, 1472), 1472);
    assert_in_range(datagram_found(1400, 1472), 1385, 1400);
    assert_in_range(datagram_found(1200, 1472), 1200, 1200);
    assert_in_range(datagram_found(5000, 9000), 4985, 5000);
    assert_int_equal(datagram_found(0, 1200), 1200);
}

TEST(probes_that_vanish_are_no_congestion) {
    struct plan p;
    tltcp_stats st;
    plan_init(&p, 1);
    p.link[CLIENT].mtu = 1300;
    p.link[CLIENT].limit_packets = 0;
    p.source[CLIENT].sections = 100;
    world_start(&w, &p);
    world_run(&w);
    st = end_stats(&w.end[CLIENT]);
    assert_true(sim_link_stats(sim_net_link(w.net, 0))->dropped_mtu >= 3);
    assert_int_equal(st.packets_lost, 0);
    assert_int_equal(st.congestion_events, 0);
    world_finish(&w);
}

TEST(a_black_hole_that_opens_later_is_survived) {
    for (int r = 0; r < 2; r++) {
        struct plan p;
        plan_steady(&p, 1);
        p.config[CLIENT].recovery = recoveries[r];
        world_start_for(&w, &p, 1 * SEC);
        assert_int_equal(end_stats(&w.end[CLIENT]).datagram_bytes, 1472);
        world_narrow(&w, CLIENT);
        world_run_for(&w, 60 * SEC);
        assert_string_equal(w.why, "");
        assert_true(w.flow[CLIENT].reader.ended);
        assert_int_equal(end_stats(&w.end[CLIENT]).datagram_bytes, 1200);
        world_finish(&w);
    }
}

static bool check_dscp(void *user, uint32_t link, struct sim_packet *p,
                       uint64_t now) {
    unsigned *others = user;
    (void)now;
    *others += p->dscp != (link == 0 ? 34 : 0);
    return true;
}

TEST(packets_are_marked_as_each_end_wants) {
    unsigned others = 0;
    struct plan p;
    plan_steady(&p, 1);
    p.config[CLIENT].io.dscp = 34;
    p.tap = check_dscp;
    p.user = &others;
    assert_true(play(&p, NULL));
    assert_int_equal(others, 0);
    p.config[CLIENT].io.dscp = 64;
    assert_int_equal(world_open(&w, &p), TLTCP_ERR_INVAL);
    world_close(&w);
}

/* How many packets left the caller with each codepoint. */
struct ecn_count {
    uint64_t seen[4];
    uint64_t last_ect; /* virtual time */
};

static bool count_ecn(void *user, uint32_t link, struct sim_packet *p,
                      uint64_t now) {
    struct ecn_count *c = user;
    if (link == 0) {
        c->seen[p->ecn & 3]++;
        c->last_ect = p->ecn != 0 ? now : c->last_ect;
    }
    return true;
}

static tltcp_stats run_ecn(enum sim_ecn_path path, bool off,
                           struct ecn_count *count) {
    struct plan p;
    tltcp_stats st;
    *count = (struct ecn_count){{0}, 0};
    plan_init(&p, 1);
    p.config[CLIENT].packets.ecn = !off;
    p.config[CLIENT].congestion = "reno";
    p.source[CLIENT].sections = 1000;
    p.config[CLIENT].send_buffer = 200000;
    p.link[CLIENT].limit_packets = 100;
    p.link[CLIENT].mark_above = 20;
    p.link[CLIENT].ecn = path;
    p.tap = count_ecn;
    p.user = count;
    world_start(&w, &p);
    world_run(&w);
    st = end_stats(&w.end[CLIENT]);
    world_finish(&w);
    return st;
}

TEST(a_path_that_swallows_all_large_packets_is_survived) {
    for (int r = 0; r < 2; r++) {
        struct plan p;
        plan_init(&p, 1);
        p.max_time = 60 * SEC;
        p.source[CLIENT].sections = 0;
        p.source[SERVER].sections = 100;
        p.source[SERVER].size_min = p.source[SERVER].size_max = 100000;
        p.config[SERVER].recovery = recoveries[r];
        world_start_for(&w, &p, 3 * SEC);
        assert_int_equal(end_stats(&w.end[SERVER]).datagram_bytes, 1472);
        world_narrow(&w, SERVER);
        world_finish(&w);
    }
}

TEST(marks_slow_the_sender_down_before_losses_do) {
    struct ecn_count count;
    tltcp_stats with = run_ecn(SIM_ECN_KEEP, false, &count);
    tltcp_stats without;
    assert_true(count.seen[SIM_ECN_ECT0] > 100);
    assert_true(with.ecn_ce > 0);
    assert_true(with.congestion_events > 0);
    assert_int_equal(with.packets_lost, 0);
    without = run_ecn(SIM_ECN_KEEP, true, &count);
    assert_int_equal(count.seen[SIM_ECN_ECT0], 0);
    assert_int_equal(without.ecn_ce, 0);
    assert_true(without.packets_lost > 0);
}

/* Bytes that Prague delivers in ten seconds over a queue of `mark_above`
 * packets. */
static tltcp_stats run_prague(uint64_t mark_above, struct ecn_count *count) {
    struct plan p;
    tltcp_stats st;
    *count = (struct ecn_count){{0}, 0};
    plan_init(&p, 1);
    p.config[CLIENT].congestion = "prague";
    p.source[CLIENT].sections = UINT64_MAX;
    p.config[CLIENT].send_buffer = 400000;
    p.link[CLIENT].rate = 10e6;
    p.link[CLIENT].limit_packets = 200;
    p.link[CLIENT].mark_above = mark_above;
    p.keep_open = true;
    p.tap = count_ecn;
    p.user = count;
    world_start_for(&w, &p, 10 * SEC);
    st = end_stats(&w.end[CLIENT]);
    world_close(&w);
    return st;
}

/* A mark early and often costs little each, as the bytes that are marked tell:
 * the queue stays short and the link in use. */
TEST(a_scalable_controller_gets_the_share_of_marks) {
    struct ecn_count count;
    tltcp_stats st = run_prague(5, &count);
    assert_int_equal(count.seen[SIM_ECN_ECT0], 0);
    assert_true(count.seen[SIM_ECN_ECT1] > 1000);
    assert_true(st.ecn_ce > 100);
    assert_int_equal(st.packets_lost, 0);
    assert_true((double)st.bytes_delivered > 0.85 * 10e6 / 8 * 10);
    assert_true(st.srtt_ns < st.min_rtt_ns + 15 * MS);
}

TEST(a_path_that_spoils_ecn_is_not_asked_for_it_again) {
    static const enum sim_ecn_path paths[] = {SIM_ECN_BLEACH, SIM_ECN_SWAP};
    for (int i = 0; i < 2; i++) {
        struct ecn_count count;
        tltcp_stats st = run_ecn(paths[i], false, &count);
        assert_true(count.seen[SIM_ECN_NOT] > 500);
        assert_true(count.last_ect < 200 * MS);
        assert_int_equal(st.ecn_ce, 0);
    }
}

TEST(a_path_that_marks_every_packet_still_carries_data) {
    struct ecn_count count;
    (void)run_ecn(SIM_ECN_ALL_CE, false, &count);
}

static bool drop_ect(void *user, uint32_t link, struct sim_packet *p,
                     uint64_t now) {
    (void)user;
    (void)link;
    (void)now;
    return p->ecn == 0;
}

TEST(a_path_that_drops_marked_packets_is_survived) {
    struct plan p;
    plan_init(&p, 1);
    p.source[SERVER].sections = 50;
    p.tap = drop_ect;
    world_start(&w, &p);
    world_run(&w);
    world_finish(&w);
}

TEST(lone_acks_among_data_do_not_spoil_ecn) {
    struct plan p;
    plan_steady(&p, 1);
    p.keep_open = true;
    p.link[CLIENT].loss = 0.05; /* gaps are answered by ACKs alone */
    p.link[SERVER].loss = 0.05;
    world_start_for(&w, &p, 3 * SEC);
    assert_true(w.end[CLIENT].peer->conn->sender.ecn.on);
    assert_true(w.end[SERVER].peer->conn->sender.ecn.on);
    world_close(&w);
}

TEST(the_papers_recovery_asks_for_no_marks) {
    struct ecn_count count = {{0}, 0};
    struct plan p;
    plan_init(&p, 1);
    p.config[CLIENT].recovery = "dupack";
    p.source[CLIENT].sections = 100;
    p.tap = count_ecn;
    p.user = &count;
    world_start(&w, &p);
    world_finish(&w);
    assert_int_equal(count.last_ect, 0);
}

TEST(datagrams_are_never_larger_than_the_peer_takes) {
    struct plan p;
    plan_steady(&p, 1);
    p.config[CLIENT].packets.max_datagram = 1200;
    p.config[SERVER].packets.base_datagram = 1400;
    world_start_for(&w, &p, 700 * MS);
    (void)sim_peer_rebind(w.end[CLIENT].peer); /* back to the base */
    world_run_for(&w, 5 * SEC);
    assert_int_equal(w.end[SERVER].path_events, 1);
    assert_int_equal(w.end[SERVER].largest, 1200);
    world_finish(&w);
}

/* Packets that may leave at first over 300 ms. */
static uint64_t first_window(uint32_t asked) {
    struct plan p;
    uint64_t window;
    plan_init(&p, 1);
    p.link[CLIENT].delay = 150 * MS;
    p.link[SERVER].delay = 150 * MS;
    p.config[CLIENT].controller.initial_window = asked;
    p.config[CLIENT].packets.mtu_probing = false;
    p.source[CLIENT].sections = 0;
    p.source[SERVER].sections = 0;
    p.keep_open = true;
    world_start_for(&w, &p, 1 * SEC);
    assert_true(w.end[CLIENT].connected);
    window = end_stats(&w.end[CLIENT]).cwnd_bytes;
    world_close(&w);
    return window / p.config[CLIENT].packets.base_datagram;
}

TEST(a_first_window_that_is_asked_for_is_not_scaled) {
    assert_int_equal(first_window(0), 30);
    assert_int_equal(first_window(10), 10);
    assert_int_equal(first_window(12), 12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_datagram_grows_to_the_mtu_of_the_path),
        cmocka_unit_test(probes_that_vanish_are_no_congestion),
        cmocka_unit_test(a_black_hole_that_opens_later_is_survived),
        cmocka_unit_test(a_path_that_swallows_all_large_packets_is_survived),
        cmocka_unit_test(packets_are_marked_as_each_end_wants),
        cmocka_unit_test(marks_slow_the_sender_down_before_losses_do),
        cmocka_unit_test(a_scalable_controller_gets_the_share_of_marks),
        cmocka_unit_test(a_path_that_spoils_ecn_is_not_asked_for_it_again),
        cmocka_unit_test(a_path_that_marks_every_packet_still_carries_data),
        cmocka_unit_test(lone_acks_among_data_do_not_spoil_ecn),
        cmocka_unit_test(the_papers_recovery_asks_for_no_marks),
        cmocka_unit_test(datagrams_are_never_larger_than_the_peer_takes),
        cmocka_unit_test(a_path_that_drops_marked_packets_is_survived),
        cmocka_unit_test(a_first_window_that_is_asked_for_is_not_scaled),
    };
    return cmocka_run_group_tests_name("paths", tests, NULL, NULL);
}
