/* SPDX-License-Identifier: MPL-2.0 */
/* Callers that move to another address, strangers who pretend to, and what a
 * connection keeps on its new path. */
#include "libtltcp/engine/conn.h"
#include "tests/simnet/world.h"

static struct world w;

TEST(a_caller_behind_a_nat_may_change_its_address) {
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct plan p;
        plan_steady(&p, seed);
        p.link[CLIENT].loss = seed % 2 == 0 ? 0 : 0.05;
        p.link[SERVER].loss = seed % 2 == 0 ? 0 : 0.05;
        world_start(&w, &p);
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

/* The end of the stream is the first data from the new address. */
TEST(a_caller_that_moves_at_the_end_learns_of_it) {
    for (uint64_t ms = 800; ms < 1000; ms += 10) {
        struct plan p;
        plan_init(&p, ms);
        p.source[CLIENT].sections = 10;
        p.source[CLIENT].interval = 100 * MS;
        world_start_for(&w, &p, ms * MS);
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

static void lose_at_the_end(struct plan *p, struct lossy_move *m) {
    plan_init(p, m->span / SEC);
    p->source[CLIENT].sections = 10;
    p->source[CLIENT].interval = 100 * MS;
    p->tap = lose_behind_first;
    p->user = m;
}

/* The end of the stream was sent to its old address, and its answers are
 * lost. */
TEST(a_caller_that_moves_at_the_end_is_waited_for) {
    static const uint64_t seconds[] = {5, 10, 15, 20, 60, 200};
    for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++) {
        struct lossy_move m = {.span = seconds[i] * SEC};
        struct plan p;
        lose_at_the_end(&p, &m);
        p.config[CLIENT].idle_timeout_ms = 600000;
        p.config[SERVER].idle_timeout_ms = 600000;
        world_start_for(&w, &p, 910 * MS);
        m.old = sim_peer_rebind(w.end[CLIENT].peer);
        world_finish(&w);
    }
}

/* All was delivered, so the listener has ended well. */
TEST(a_caller_that_moves_and_is_gone_is_not_waited_for) {
    struct lossy_move m = {.span = 1000 * SEC};
    struct plan p;
    lose_at_the_end(&p, &m);
    p.keep_open = true;
    world_start_for(&w, &p, 910 * MS);
    m.old = sim_peer_rebind(w.end[CLIENT].peer);
    end_close(&w.end[SERVER]);
    world_run_for(&w, 60 * SEC);
    assert_true(w.end[SERVER].closed);
    assert_int_equal(w.end[SERVER].error, 0);
    world_close(&w);
}

/* Nothing comes from the second new address for a while. */
TEST(a_caller_that_moves_again_at_the_end_is_waited_for) {
    struct lossy_move m = {.span = 20 * SEC};
    struct plan p;
    lose_at_the_end(&p, &m);
    world_start_for(&w, &p, 500 * MS);
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
        plan_steady(&p, every);
        p.tap = copy_packets;
        p.user = &a;
        world_start(&w, &p);
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

/* As copy_packets(), and what comes back goes on to the caller as if it came
 * from the listener, for a while: the question is answered then. */
struct relay {
    struct attacker a;
    uint64_t caller;
    uint64_t until;
    uint64_t taken; /* bytes that went to the attacker */
    uint64_t late;  /* of them behind the end of the relaying */
};

static bool relay_packets(void *user, uint32_t link, struct sim_packet *p,
                          uint64_t now) {
    struct relay *r = user;
    if (link == 1 && p->dst == r->a.address) {
        r->taken += p->len;
        r->late += now > r->until + 1 * SEC ? p->len : 0;
        p->dst = r->caller;
        return now < r->until;
    }
    return link == 1 || now >= r->until || copy_packets(&r->a, link, p, now);
}

/* An attacker that copies and relays everything is on the path until it
 * stops. */
TEST(a_stream_returns_from_its_relay) {
    for (uint64_t every = 1; every < 8; every++) {
        struct relay r = {.a.every = every, .until = 2 * SEC};
        struct plan p;
        plan_steady(&p, every);
        p.tap = relay_packets;
        p.user = &r;
        p.secured = every % 2 == 0;
        world_start(&w, &p);
        r.a.address = sim_address(sim_host_node(w.end[CLIENT].host), 4000);
        r.caller = sim_peer_address(w.end[CLIENT].peer);
        world_run_for(&w, 1 * SEC);
        r.a.net = w.net;
        world_run_for(&w, 2 * SEC);
        assert_true(w.end[SERVER].path_events >= 2); /* it did go there */
        assert_int_equal(r.late, 0);
        assert_int_equal(tltcp_conn_path(w.end[SERVER].peer->conn), r.caller);
        r.a.net = NULL;
        world_finish(&w);
    }
}

/* A caller that has nothing to say is found again where it was. */
TEST(the_path_that_was_left_is_asked_as_well) {
    struct relay r = {.a.every = 1, .until = 10500 * MS};
    struct plan p;
    plan_init(&p, 9);
    p.source[CLIENT].sections = 3;
    p.keep_open = true;
    p.no_delivery_check = true;
    p.tap = relay_packets;
    p.user = &r;
    world_start(&w, &p);
    r.a.address = sim_address(sim_host_node(w.end[CLIENT].host), 4000);
    r.caller = sim_peer_address(w.end[CLIENT].peer);
    world_run_for(&w, 9 * SEC);
    r.a.net = w.net; /* before the keep-alive of the tenth second */
    world_run_for(&w, 3 * SEC);
    assert_true(w.end[SERVER].path_events >= 2); /* there and back */
    assert_int_equal(tltcp_conn_path(w.end[SERVER].peer->conn), r.caller);
    r.a.net = NULL;
    world_close(&w);
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
TEST(an_old_packet_from_elsewhere_causes_no_migration) {
    struct thief t = {.from = 1 * SEC};
    uint32_t node;
    struct plan p;
    plan_steady(&p, 1);
    p.tap = steal_one;
    p.user = &t;
    world_start(&w, &p);
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

/* Puts a victim's address on the packets that say for the first time that the
 * answer arrived, as a caller can who does not check its sources. */
struct spoofer {
    uint64_t victim;
    unsigned spoofed;
    unsigned most;
    uint64_t to_victim; /* bytes */
    uint64_t from_victim;
};

static bool spoof_first_shorts(void *user, uint32_t link, struct sim_packet *p,
                               uint64_t now) {
    struct spoofer *t = user;
    (void)now;
    if (link == 1 && p->dst == t->victim) {
        t->to_victim += p->len;
    }
    if (link == 0 && p->data[0] == SEC__SHORT && t->spoofed < t->most) {
        t->spoofed++;
        t->from_victim += p->len;
        p->src = t->victim;
    }
    return true;
}

TEST(the_first_packet_after_the_answer_proves_no_other_address) {
    for (unsigned most = 1; most <= 3; most++) {
        struct spoofer t = {.most = most};
        struct plan p;
        plan_init(&p, most);
        p.source[SERVER].sections = 200;
        p.source[SERVER].interval = 5 * MS;
        p.tap = spoof_first_shorts;
        p.user = &t;
        world_start(&w, &p);
        t.victim = sim_address(sim_host_node(w.end[CLIENT].host), 4000);
        world_run_for(&w, 10 * SEC);
        assert_int_equal(t.spoofed, most);
        assert_true(t.to_victim <= 3 * t.from_victim);
        assert_int_equal(tltcp_conn_path(w.end[SERVER].peer->conn),
                         sim_peer_address(w.end[CLIENT].peer));
        world_finish(&w);
    }
}

TEST(packets_of_an_unknown_sender_change_nothing) {
    struct sim_random r;
    struct plan p;
    plan_steady(&p, 1);
    world_start_for(&w, &p, 1 * SEC);
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

TEST(a_controller_keeps_its_parameters_on_a_new_path) {
    static const char *const names[] = {"rate", NULL};
    static const double values[] = {500000};
    struct plan p;
    plan_steady(&p, 1);
    p.config[SERVER].congestion = "fixed";
    p.config[SERVER].controller.params = names;
    p.config[SERVER].controller.values = values;
    world_start(&w, &p);
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

TEST(losses_on_an_old_path_do_not_slow_the_new_one) {
    struct plan p;
    uint64_t dead;
    plan_steady(&p, 1);
    world_start_for(&w, &p, 1 * SEC);
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

TEST(ecn_is_tried_again_on_another_path) {
    const tltcp__sender *s;
    struct plan p;
    bool spoils = true;
    plan_steady(&p, 1);
    p.tap = spoil_ecn;
    p.user = &spoils;
    world_start_for(&w, &p, 1 * SEC);
    s = &w.end[SERVER].peer->conn->sender;
    assert_false(s->ecn.on);
    spoils = false;
    (void)sim_peer_rebind(w.end[CLIENT].peer);
    world_run_for(&w, 1 * SEC);
    assert_int_equal(w.end[SERVER].path_events, 1);
    assert_true(s->ecn.on && s->ecn.heard);
    world_finish(&w);
}

TEST(a_new_path_is_measured_from_nothing) {
    struct plan p;
    struct sim_link_config slow;
    tltcp_stats st;
    plan_steady(&p, 1);
    p.link[SERVER].rate = 100e6;
    p.source[SERVER].sections = 2000;
    world_start_for(&w, &p, 1 * SEC);
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

/* A PING is the shortest packet: three times its length has to be enough to ask
 * whether the caller is there. */
TEST(a_caller_that_moves_is_followed_by_its_first_ping) {
    struct plan p;
    uint64_t before;
    plan_init(&p, 1);
    p.source[CLIENT].sections = 1;
    p.keep_open = true;
    world_start_for(&w, &p, 2 * SEC);
    (void)sim_peer_rebind(w.end[CLIENT].peer);
    before = w.end[CLIENT].datagrams;
    while (w.end[CLIENT].datagrams == before) {
        world_run_for(&w, 10 * MS);
    }
    world_run_for(&w, 80 * MS); /* two round trips; a probe comes after more */
    assert_int_equal(w.end[SERVER].path_events, 1);
    assert_int_equal(tltcp_conn_path(w.end[SERVER].peer->conn),
                     sim_peer_address(w.end[CLIENT].peer));
    world_close(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_caller_that_moves_is_followed_by_its_first_ping),
        cmocka_unit_test(a_caller_behind_a_nat_may_change_its_address),
        cmocka_unit_test(a_caller_that_moves_at_the_end_learns_of_it),
        cmocka_unit_test(a_caller_that_moves_at_the_end_is_waited_for),
        cmocka_unit_test(a_caller_that_moves_and_is_gone_is_not_waited_for),
        cmocka_unit_test(a_caller_that_moves_again_at_the_end_is_waited_for),
        cmocka_unit_test(
            an_attacker_who_copies_packets_does_not_get_the_stream),
        cmocka_unit_test(a_stream_returns_from_its_relay),
        cmocka_unit_test(the_path_that_was_left_is_asked_as_well),
        cmocka_unit_test(an_old_packet_from_elsewhere_causes_no_migration),
        cmocka_unit_test(packets_of_an_unknown_sender_change_nothing),
        cmocka_unit_test(
            the_first_packet_after_the_answer_proves_no_other_address),
        cmocka_unit_test(a_controller_keeps_its_parameters_on_a_new_path),
        cmocka_unit_test(losses_on_an_old_path_do_not_slow_the_new_one),
        cmocka_unit_test(ecn_is_tried_again_on_another_path),
        cmocka_unit_test(a_new_path_is_measured_from_nothing),
    };
    return cmocka_run_group_tests_name("moves", tests, NULL, NULL);
}
