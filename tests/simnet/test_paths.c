/* SPDX-License-Identifier: MPL-2.0 */
/* Paths: new addresses, spoofed ones, datagram sizes, ECN. */
#include "libtltcp/conn.h"
#include "tests/simnet/world.h"

static struct world w;

static void steady(struct plan *p, uint64_t seed) {
    plan_init(p, seed);
    for (int i = 0; i < 2; i++) {
        p->source[i].sections = 300;
        p->source[i].interval = 10 * MS;
        p->source[i].size_max = 3000;
    }
}

static void a_caller_behind_a_nat_may_change_its_address(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct plan p;
        steady(&p, seed);
        p.link[CLIENT].loss = seed % 2 == 0 ? 0 : 0.05;
        p.link[SERVER].loss = seed % 2 == 0 ? 0 : 0.05;
        assert_int_equal(world_open(&w, &p), 0);
        for (int i = 1; i <= 3; i++) {
            world_run_for(&w, 700 * MS);
            (void)sim_peer_rebind(w.end[CLIENT].peer);
        }
        world_run_for(&w, 5 * SEC);
        assert_int_equal(w.end[SERVER].path_events, 3);
        assert_int_equal(tltcp_conn_path(w.end[SERVER].peer->conn),
                         sim_peer_address(w.end[CLIENT].peer));
        world_finish(&w);
    }
}

/* What ends the stream is the first that comes from the new address. */
static void a_caller_that_moves_at_the_end_hears_of_it(void **state) {
    (void)state;
    for (uint64_t ms = 800; ms < 1000; ms += 10) {
        struct plan p;
        plan_init(&p, ms);
        p.source[CLIENT].sections = 10;
        p.source[CLIENT].interval = 100 * MS;
        assert_int_equal(world_open(&w, &p), 0);
        world_run_for(&w, ms * MS);
        (void)sim_peer_rebind(w.end[CLIENT].peer);
        world_finish(&w);
    }
}

/* Loses what comes from the caller's new address for a while, but for what
 * comes first. */
struct lossy_move {
    uint64_t old;
    uint64_t from; /* when; 0: nothing came yet */
    uint64_t span;
};

static bool lose_behind_first(void *user, uint32_t link, struct sim_packet *p,
                              uint64_t now) {
    struct lossy_move *m = user;
    if (link != 0 || p->src == m->old || m->old == 0) {
        return true;
    }
    if (m->from == 0) {
        m->from = now;
        return true;
    }
    return now >= m->from + m->span;
}

/* What ends the stream went to its old address, and its answers are lost. */
static void a_caller_that_moves_at_the_end_is_waited_for(void **state) {
    (void)state;
    for (uint64_t seconds = 5; seconds <= 20; seconds += 5) {
        struct lossy_move m = {.span = seconds * SEC};
        struct plan p;
        plan_init(&p, seconds);
        p.source[CLIENT].sections = 10;
        p.source[CLIENT].interval = 100 * MS;
        p.tap = lose_behind_first;
        p.user = &m;
        assert_int_equal(world_open(&w, &p), 0);
        world_run_for(&w, 910 * MS);
        m.old = sim_peer_rebind(w.end[CLIENT].peer);
        world_finish(&w);
    }
}

/* Nothing comes from the second new address for a while. */
static void a_caller_that_moves_again_at_the_end_is_waited_for(void **state) {
    struct lossy_move m = {.span = 20 * SEC};
    struct plan p;
    (void)state;
    plan_init(&p, 1);
    p.source[CLIENT].sections = 10;
    p.source[CLIENT].interval = 100 * MS;
    p.tap = lose_behind_first;
    p.user = &m;
    assert_int_equal(world_open(&w, &p), 0);
    world_run_for(&w, 500 * MS);
    (void)sim_peer_rebind(w.end[CLIENT].peer);
    world_run_for(&w, 410 * MS);
    assert_int_equal(w.end[SERVER].path_events, 1);
    m.old = sim_peer_rebind(w.end[CLIENT].peer);
    m.from = 1;
    m.span += 910 * MS;
    world_finish(&w);
}

/* A copy of every n-th packet of the caller comes from the attacker's address,
 * and overtakes the original when fast. */
struct attacker {
    struct sim_net *net;
    uint64_t address;
    uint64_t every;
    uint64_t count;
    uint64_t bytes_in;  /* that the listener got from there */
    uint64_t bytes_out; /* and what it sent there */
    bool answered;      /* faults */
};

static bool copy_packets(void *user, uint32_t link, struct sim_packet *p,
                         uint64_t now) {
    struct attacker *a = user;
    (void)now;
    if (link == 1 && p->dst == a->address) {
        a->bytes_out += p->len;
        a->answered |= a->bytes_out > 3 * a->bytes_in;
        return false;
    }
    if (link == 0 && p->src != a->address && ++a->count % a->every == 0 &&
        a->net != NULL) {
        struct sim_packet *q = sim_packet_new(p->data, p->len);
        q->src = a->address;
        q->dst = p->dst;
        a->bytes_in += q->len;
        sim_net_send(a->net, 0, q); /* first: the original is a duplicate */
    }
    return true;
}

static void
an_attacker_who_copies_packets_does_not_get_the_stream(void **state) {
    (void)state;
    for (uint64_t every = 1; every < 8; every++) {
        struct attacker a = {.every = every};
        struct plan p;
        steady(&p, every);
        p.tap = copy_packets;
        p.user = &a;
        assert_int_equal(world_open(&w, &p), 0);
        a.address = sim_address(sim_host_node(w.end[CLIENT].host), 4000);
        world_run_for(&w, 1 * SEC);
        a.net = w.net;
        world_run_for(&w, 2 * SEC);
        assert_true(a.bytes_out > 0); /* it was challenged */
        assert_false(a.answered);     /* at most three times what came */
        assert_int_equal(w.end[SERVER].path_events, 0);
        assert_int_equal(tltcp_conn_path(w.end[SERVER].peer->conn),
                         sim_peer_address(w.end[CLIENT].peer));
        a.net = NULL;
        world_finish(&w);
    }
}

/* Keeps back one packet of the caller, and counts what leaves for elsewhere. */
struct thief {
    uint64_t from; /* when */
    struct sim_packet *stolen;
    uint64_t address;
    uint64_t packets; /* to there */
};

static bool steal_one(void *user, uint32_t link, struct sim_packet *p,
                      uint64_t now) {
    struct thief *t = user;
    if (link == 1 && p->dst == t->address) {
        t->packets++;
    }
    if (link != 0 || t->stolen != NULL || now < t->from) {
        return true;
    }
    t->stolen = sim_packet_new(p->data, p->len);
    t->stolen->dst = p->dst;
    return false;
}

/* Only the newest packet says where the caller is. */
static void an_old_packet_from_elsewhere_moves_nobody(void **state) {
    struct thief t = {.from = 1 * SEC};
    uint32_t node;
    struct plan p;
    (void)state;
    steady(&p, 1);
    p.tap = steal_one;
    p.user = &t;
    assert_int_equal(world_open(&w, &p), 0);
    node = sim_host_node(w.end[CLIENT].host);
    t.address = sim_address(node, 4000);
    world_run_for(&w, 1025 * MS); /* not so late that it counts as known */
    assert_non_null(t.stolen);
    t.stolen->src = t.address;
    sim_net_send(w.net, node, t.stolen);
    world_run_for(&w, 1 * SEC);
    assert_int_equal(end_stats(&w.end[SERVER]).packets_dropped, 0);
    assert_int_equal(t.packets, 0); /* not even a question */
    assert_int_equal(w.end[SERVER].path_events, 0);
    world_finish(&w);
}

static void packets_of_a_stranger_change_nothing(void **state) {
    struct sim_random r;
    struct plan p;
    (void)state;
    steady(&p, 1);
    assert_int_equal(world_open(&w, &p), 0);
    world_run_for(&w, 1 * SEC);
    sim_random_init(&r, 1);
    for (int i = 0; i < 1000; i++) { /* the right form, but not the id */
        uint8_t dgram[64];
        cmn__writer wr = cmn__writer_of(dgram, sizeof(dgram));
        sec__packet pkt = {.type = SEC__SHORT,
                           .dcid = sim_random_u64(&r),
                           .pn = (uint32_t)sim_random_u64(&r)};
        struct sim_packet *q;
        sec__packet_put(&wr, &pkt);
        sec__packet_seal(&wr, dgram);
        q = sim_packet_new(dgram, (size_t)(wr.p - dgram));
        q->src = sim_address(sim_host_node(w.end[SERVER].host), 0);
        q->dst = sim_peer_address(w.end[CLIENT].peer);
        sim_net_send(w.net, sim_host_node(w.end[SERVER].host), q);
    }
    world_finish(&w);
}

static uint64_t datagram_found(uint32_t mtu, uint32_t max) {
    struct plan p;
    uint64_t found;
    plan_init(&p, mtu);
    p.config[CLIENT].max_datagram = max;
    p.config[SERVER].max_datagram = max;
    p.link[CLIENT].mtu = mtu;
    p.source[CLIENT].sections = 300;
    p.source[CLIENT].size_min = 10000;
    p.source[CLIENT].size_max = 10000;
    p.config[CLIENT].send_buffer = 100000;
    p.link[CLIENT].rate = 20e6;
    assert_int_equal(world_open(&w, &p), 0);
    world_run(&w);
    found = end_stats(&w.end[CLIENT]).datagram_bytes;
    world_finish(&w);
    return found;
}

static void the_datagram_grows_to_what_the_path_carries(void **state) {
    (void)state;
    assert_int_equal(datagram_found(0, 1472), 1472);
    assert_int_equal(datagram_found(0, 9000), 9000);
    assert_int_equal(datagram_found(1472, 1472), 1472);
    assert_in_range(datagram_found(1400, 1472), 1385, 1400);
    assert_in_range(datagram_found(1200, 1472), 1200, 1200);
    assert_in_range(datagram_found(5000, 9000), 4985, 5000);
    assert_int_equal(datagram_found(0, 1200), 1200);
}

static void probes_that_vanish_are_no_congestion(void **state) {
    struct plan p;
    tltcp_stats st;
    (void)state;
    plan_init(&p, 1);
    p.link[CLIENT].mtu = 1300;
    p.link[CLIENT].limit_packets = 0;
    p.source[CLIENT].sections = 100;
    assert_int_equal(world_open(&w, &p), 0);
    world_run(&w);
    st = end_stats(&w.end[CLIENT]);
    assert_true(sim_link_stats(sim_net_link(w.net, 0))->dropped_mtu >= 3);
    assert_int_equal(st.packets_lost, 0);
    assert_int_equal(st.congestion_events, 0);
    world_finish(&w);
}

static void a_black_hole_that_opens_later_is_survived(void **state) {
    static const char *const recoveries[] = {"packet", "dupack"};
    (void)state;
    for (int r = 0; r < 2; r++) {
        struct plan p;
        struct sim_link_config c;
        steady(&p, 1);
        p.config[CLIENT].recovery = recoveries[r];
        assert_int_equal(world_open(&w, &p), 0);
        world_run_for(&w, 1 * SEC);
        assert_int_equal(end_stats(&w.end[CLIENT]).datagram_bytes, 1472);
        c = p.link[CLIENT];
        c.mtu = 1250;
        sim_net_set_link(w.net, w.link[CLIENT], &c);
        world_run_for(&w, 60 * SEC);
        assert_string_equal(w.why, "");
        assert_true(w.flow[CLIENT].reader.ended);
        assert_int_equal(end_stats(&w.end[CLIENT]).datagram_bytes, 1200);
        world_finish(&w);
    }
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
    p.config[CLIENT].no_ecn = off;
    p.config[CLIENT].congestion = "reno";
    p.source[CLIENT].sections = 1000;
    p.config[CLIENT].send_buffer = 200000;
    p.link[CLIENT].limit_packets = 100;
    p.link[CLIENT].mark_above = 20;
    p.link[CLIENT].ecn = path;
    p.tap = count_ecn;
    p.user = count;
    assert_int_equal(world_open(&w, &p), 0);
    world_run(&w);
    st = end_stats(&w.end[CLIENT]);
    world_finish(&w);
    return st;
}

static void a_path_that_swallows_all_large_packets_is_survived(void **state) {
    static const char *const recoveries[] = {"packet", "dupack"};
    (void)state;
    for (int r = 0; r < 2; r++) {
        struct plan p;
        struct sim_link_config c;
        plan_init(&p, 1);
        p.max_time = 60 * SEC;
        p.source[CLIENT].sections = 0;
        p.source[SERVER].sections = 100;
        p.source[SERVER].size_min = p.source[SERVER].size_max = 100000;
        p.config[SERVER].recovery = recoveries[r];
        assert_int_equal(world_open(&w, &p), 0);
        world_run_for(&w, 3 * SEC);
        assert_int_equal(end_stats(&w.end[SERVER]).datagram_bytes, 1472);
        c = p.link[SERVER];
        c.mtu = 1250;
        sim_net_set_link(w.net, w.link[SERVER], &c);
        world_finish(&w);
    }
}

static void marks_slow_the_sender_down_before_losses_do(void **state) {
    struct ecn_count count;
    tltcp_stats with = run_ecn(SIM_ECN_KEEP, false, &count);
    tltcp_stats without;
    (void)state;
    assert_true(count.seen[SIM_ECN_ECT0] > 100);
    assert_true(with.ecn_ce > 0);
    assert_true(with.congestion_events > 0);
    assert_int_equal(with.packets_lost, 0);
    without = run_ecn(SIM_ECN_KEEP, true, &count);
    assert_int_equal(count.seen[SIM_ECN_ECT0], 0);
    assert_int_equal(without.ecn_ce, 0);
    assert_true(without.packets_lost > 0);
}

static void a_path_that_spoils_ecn_is_not_asked_for_it_again(void **state) {
    static const enum sim_ecn_path paths[] = {SIM_ECN_BLEACH, SIM_ECN_SWAP};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct ecn_count count;
        tltcp_stats st = run_ecn(paths[i], false, &count);
        assert_true(count.seen[SIM_ECN_NOT] > 500);
        assert_true(count.last_ect < 200 * MS);
        assert_int_equal(st.ecn_ce, 0);
    }
}

static void a_path_that_marks_everything_still_carries_data(void **state) {
    struct ecn_count count;
    (void)state;
    (void)run_ecn(SIM_ECN_ALL_CE, false, &count);
}

static bool drop_ect(void *user, uint32_t link, struct sim_packet *p,
                     uint64_t now) {
    (void)user;
    (void)link;
    (void)now;
    return p->ecn == 0;
}

static void a_path_that_drops_marked_packets_is_survived(void **state) {
    struct plan p;
    (void)state;
    plan_init(&p, 1);
    p.source[SERVER].sections = 50;
    p.tap = drop_ect;
    assert_int_equal(world_open(&w, &p), 0);
    world_run(&w);
    world_finish(&w);
}

static void lone_acks_among_data_do_not_spoil_ecn(void **state) {
    struct plan p;
    (void)state;
    steady(&p, 1);
    p.keep_open = true;
    p.link[CLIENT].loss = 0.05; /* gaps are answered by ACKs alone */
    p.link[SERVER].loss = 0.05;
    assert_int_equal(world_open(&w, &p), 0);
    world_run_for(&w, 3 * SEC);
    assert_true(w.end[CLIENT].peer->conn->sender.ecn);
    assert_true(w.end[SERVER].peer->conn->sender.ecn);
    world_close(&w);
}

static void the_papers_recovery_asks_for_no_marks(void **state) {
    struct ecn_count count = {{0}, 0};
    struct plan p;
    (void)state;
    plan_init(&p, 1);
    p.config[CLIENT].recovery = "dupack";
    p.source[CLIENT].sections = 100;
    p.tap = count_ecn;
    p.user = &count;
    assert_int_equal(world_open(&w, &p), 0);
    world_finish(&w);
    assert_int_equal(count.last_ect, 0);
}

static void datagrams_are_never_larger_than_the_peer_takes(void **state) {
    struct plan p;
    (void)state;
    steady(&p, 1);
    p.config[CLIENT].max_datagram = 1200;
    p.config[SERVER].base_datagram = 1400;
    assert_int_equal(world_open(&w, &p), 0);
    world_run_for(&w, 700 * MS);
    (void)sim_peer_rebind(w.end[CLIENT].peer); /* back to the base */
    world_run_for(&w, 5 * SEC);
    assert_int_equal(w.end[SERVER].path_events, 1);
    assert_int_equal(w.end[SERVER].largest, 1200);
    world_finish(&w);
}

static void a_controller_keeps_its_parameters_on_a_new_path(void **state) {
    static const char *const names[] = {"rate", NULL};
    static const double values[] = {500000};
    struct plan p;
    (void)state;
    steady(&p, 1);
    p.config[SERVER].congestion = "fixed";
    p.config[SERVER].congestion_params = names;
    p.config[SERVER].congestion_values = values;
    assert_int_equal(world_open(&w, &p), 0);
    for (int i = 0; i < 2; i++) {
        world_run_for(&w, 1 * SEC);
        assert_int_equal(end_stats(&w.end[SERVER]).pacing_rate_bps, 4000000);
        (void)sim_peer_rebind(w.end[CLIENT].peer);
    }
    world_finish(&w);
}

static bool drop_answers_to(void *user, uint32_t link, struct sim_packet *p,
                            uint64_t now) {
    const uint64_t *address = user;
    (void)now;
    return link != 1 || p->dst != *address;
}

static void what_an_old_path_lost_does_not_slow_the_new_one(void **state) {
    struct plan p;
    uint64_t dead;
    (void)state;
    steady(&p, 1);
    assert_int_equal(world_open(&w, &p), 0);
    world_run_for(&w, 1 * SEC);
    dead = sim_peer_address(w.end[CLIENT].peer);
    sim_net_set_tap(w.net, drop_answers_to, &dead);
    world_run_for(&w, 30 * MS);
    (void)sim_peer_rebind(w.end[CLIENT].peer);
    world_run_for(&w, 3 * SEC);
    assert_int_equal(w.end[SERVER].path_events, 1);
    assert_true(end_stats(&w.end[SERVER]).packets_lost > 0);
    assert_int_equal(end_stats(&w.end[SERVER]).congestion_events, 0);
    world_finish(&w);
}

/* Marks are spoilt until the caller moves. */
static bool spoil_ecn(void *user, uint32_t link, struct sim_packet *p,
                      uint64_t now) {
    const bool *on = user;
    (void)link;
    (void)now;
    if (*on && p->ecn == SIM_ECN_ECT0) {
        p->ecn = 0;
    }
    return true;
}

static void ecn_is_tried_again_on_another_path(void **state) {
    const tltcp__sender *s;
    struct plan p;
    bool spoils = true;
    (void)state;
    steady(&p, 1);
    p.tap = spoil_ecn;
    p.user = &spoils;
    assert_int_equal(world_open(&w, &p), 0);
    world_run_for(&w, 1 * SEC);
    s = &w.end[SERVER].peer->conn->sender;
    assert_false(s->ecn);
    spoils = false;
    (void)sim_peer_rebind(w.end[CLIENT].peer);
    world_run_for(&w, 1 * SEC);
    assert_int_equal(w.end[SERVER].path_events, 1);
    assert_true(s->ecn && s->ecn_heard);
    world_finish(&w);
}

static void a_new_path_is_measured_from_nothing(void **state) {
    struct plan p;
    struct sim_link_config slow;
    tltcp_stats st;
    (void)state;
    steady(&p, 1);
    p.link[SERVER].rate = 100e6;
    p.source[SERVER].sections = 2000;
    assert_int_equal(world_open(&w, &p), 0);
    world_run_for(&w, 1 * SEC);
    slow = p.link[SERVER];
    slow.delay = 150 * MS;
    sim_net_set_link(w.net, w.link[SERVER], &slow);
    (void)sim_peer_rebind(w.end[CLIENT].peer);
    world_run_for(&w, 2 * SEC);
    st = end_stats(&w.end[SERVER]);
    assert_int_equal(w.end[SERVER].path_events, 1);
    assert_true(st.min_rtt_ns >= 150 * MS); /* the old one was far less */
    assert_int_equal(st.congestion_events, 0);
    world_finish(&w);
}

/* Packets that may leave at first over 300 ms. */
static uint64_t first_window(uint32_t asked) {
    struct plan p;
    uint64_t window;
    plan_init(&p, 1);
    p.link[CLIENT].delay = 150 * MS;
    p.link[SERVER].delay = 150 * MS;
    p.config[CLIENT].initial_window = asked;
    p.config[CLIENT].no_mtu_probing = true;
    p.source[CLIENT].sections = 0;
    p.source[SERVER].sections = 0;
    p.keep_open = true;
    assert_int_equal(world_open(&w, &p), 0);
    world_run_for(&w, 1 * SEC);
    assert_true(w.end[CLIENT].connected);
    window = end_stats(&w.end[CLIENT]).cwnd_bytes;
    world_close(&w);
    return window / p.config[CLIENT].base_datagram;
}

static void a_first_window_that_is_asked_for_is_not_scaled(void **state) {
    (void)state;
    assert_int_equal(first_window(0), 30);
    assert_int_equal(first_window(10), 10);
    assert_int_equal(first_window(12), 12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_caller_behind_a_nat_may_change_its_address),
        cmocka_unit_test(a_caller_that_moves_at_the_end_hears_of_it),
        cmocka_unit_test(a_caller_that_moves_at_the_end_is_waited_for),
        cmocka_unit_test(a_caller_that_moves_again_at_the_end_is_waited_for),
        cmocka_unit_test(
            an_attacker_who_copies_packets_does_not_get_the_stream),
        cmocka_unit_test(an_old_packet_from_elsewhere_moves_nobody),
        cmocka_unit_test(packets_of_a_stranger_change_nothing),
        cmocka_unit_test(the_datagram_grows_to_what_the_path_carries),
        cmocka_unit_test(probes_that_vanish_are_no_congestion),
        cmocka_unit_test(a_black_hole_that_opens_later_is_survived),
        cmocka_unit_test(a_path_that_swallows_all_large_packets_is_survived),
        cmocka_unit_test(marks_slow_the_sender_down_before_losses_do),
        cmocka_unit_test(a_path_that_spoils_ecn_is_not_asked_for_it_again),
        cmocka_unit_test(a_path_that_marks_everything_still_carries_data),
        cmocka_unit_test(lone_acks_among_data_do_not_spoil_ecn),
        cmocka_unit_test(the_papers_recovery_asks_for_no_marks),
        cmocka_unit_test(datagrams_are_never_larger_than_the_peer_takes),
        cmocka_unit_test(a_controller_keeps_its_parameters_on_a_new_path),
        cmocka_unit_test(a_path_that_drops_marked_packets_is_survived),
        cmocka_unit_test(what_an_old_path_lost_does_not_slow_the_new_one),
        cmocka_unit_test(ecn_is_tried_again_on_another_path),
        cmocka_unit_test(a_new_path_is_measured_from_nothing),
        cmocka_unit_test(a_first_window_that_is_asked_for_is_not_scaled),
    };
    return cmocka_run_group_tests_name("path", tests, NULL, NULL);
}
