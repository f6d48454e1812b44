/* SPDX-License-Identifier: MPL-2.0 */
/* One sender, and many or silent receivers. */
#include "tests/simnet/saratoga/pass.h"
#include "tests/simnet/saratoga/raw.h"
#include "tests/support/cmocka.h"

static const struct plan GOOD = {10e6, 0, 100 * MSEC, 0, 0, 1};

TEST(a_multicast_put_reaches_listening_members) {
    struct world w = world_new(&GOOD, NULL, NULL);
    saratoga_options o = at_rate(5000000);
    saratoga_pktinfo to = {.host = 500,
                           .path = sim_address(w.ground->sim.node, 99),
                           .flags = SARATOGA_PKT_MULTICAST};
    struct xfer *x;
    o.multicast = true;
    o.cycles = 3; /* what one pass loses the next one brings */
    (void)host_make_file(w.sat, "f", 100000, 3);
    x = host_start_to(w.sat, to, SARATOGA_BLIND_PUT, "f", &o);
    world_finish(&w, x, 100 * SEC);
    assert_arrived(&w, x, "f");
    world_free(&w);
}

/* A switch that gives the packets of a group to all others. */
enum { MEMBERS = 4 };
struct group {
    struct sim_net *net;
    uint32_t node;
    struct host *member[MEMBERS];
};

#define GROUP_PORT 99

static void repeat(void *user, struct sim_packet *p, uint64_t now) {
    struct group *g = user;
    (void)now;
    for (size_t i = 0; i < MEMBERS; i++) {
        uint32_t node = g->member[i]->sim.node;
        struct sim_packet *copy;
        if (node == sim_address_node(p->src)) {
            continue;
        }
        copy = sim_packet_new(p->data, p->len);
        copy->src = p->src;
        copy->dst = sim_address(node, GROUP_PORT);
        sim_net_send(g->net, g->node, copy);
    }
    sim_packet_free(p);
}

static saratoga_pktinfo group_address(const struct group *g) {
    return (saratoga_pktinfo){.host = g->node + 1,
                              .path = sim_address(g->node, GROUP_PORT),
                              .flags = SARATOGA_PKT_MULTICAST};
}

/* `common`: lost by all members, `own`: by each for itself. */
static void build_group_of(struct group *g, saratoga_config *cfg, double common,
                           double own, bool shared) {
    struct sim_link_config in;
    struct sim_link_config out;
    g->net = sim_net_new();
    g->node = sim_net_add_node(g->net, repeat, g);
    if (shared) {
        cfg->group = group_address(g);
    }
    for (size_t i = 0; i < MEMBERS; i++) {
        g->member[i] = host_new(g->net, cfg, 70 + i);
        link_config(&in, 0, 5 * MSEC, i == 0 ? common : 0);
        link_config(&out, 0, 20 * MSEC, i > 0 ? own : 0);
        (void)sim_net_add_link(g->net, g->member[i]->sim.node, g->node, &in, i);
        (void)sim_net_add_link(g->net, g->node, g->member[i]->sim.node, &out,
                               90 + i);
    }
}

static void build_group(struct group *g, double common, double own,
                        bool shared) {
    saratoga_config cfg;
    saratoga_config_init(&cfg);
    build_group_of(g, &cfg, common, own, shared);
}

static void free_group(struct group *g) {
    for (size_t i = 0; i < MEMBERS; i++) {
        assert_false(g->member[i]->sim.stuck);
        host_free(g->member[i]);
    }
    sim_net_free(g->net);
}

/* One pass, and repairs.  Returns the STATUS that the sender was told. */
static uint64_t put_to_group(double common, double own, bool shared) {
    struct group g = {.net = NULL};
    saratoga_options o = at_rate(5000000);
    struct xfer *x;
    uint64_t told;
    build_group(&g, common, own, shared);
    o.multicast = true;
    (void)host_make_file(g.member[0], "f", 1000000, 3);
    x = host_start_to(g.member[0], group_address(&g), SARATOGA_BLIND_PUT, "f",
                      &o);
    while (!x->done && sim_loop_step(sim_net_loop(g.net), 100 * SEC)) {
    }
    assert_int_equal(x->end.error, 0);
    for (size_t i = 1; i < MEMBERS; i++) {
        assert_true(host_same(x->file, host_find_file(g.member[i], "f")));
    }
    /* Less than half as much again: nothing goes once for each member. */
    assert_true(x->stats.retransmitted_bytes < 450000);
    told = x->stats.status_packets;
    free_group(&g);
    return told;
}

TEST(a_group_is_repaired_by_its_members_reports) {
    (void)put_to_group(0, 0.1, true);
    (void)put_to_group(0.1, 0.02, true);
    (void)put_to_group(0, 0.1, false);
}

/* Data that other members have requested is not requested again. */
TEST(members_of_a_group_report_a_common_loss_once) {
    uint64_t alone = put_to_group(0.1, 0, false);
    uint64_t heard = put_to_group(0.1, 0, true);
    if (3 * heard > 2 * alone) {
        print_error("%llu STATUS, %llu when nobody hears them\n",
                    (unsigned long long)heard, (unsigned long long)alone);
    }
    /* All tell that it began and that it ended. */
    assert_true(3 * heard <= 2 * alone);
}

/* ---- gets ---- */

/* Members that reach each other, too, and take of the group what they asked
 * for. */
static void build_askers(struct group *g, double own) {
    saratoga_config cfg;
    struct sim_link_config direct;
    saratoga_config_init(&cfg);
    cfg.own_transfers_only = true;
    build_group_of(g, &cfg, 0, own, true);
    link_config(&direct, 0, 10 * MSEC, 0);
    for (size_t i = 0; i < MEMBERS; i++) {
        for (size_t k = 0; k < MEMBERS; k++) {
            if (i != k) {
                (void)sim_net_add_link(g->net, g->member[i]->sim.node,
                                       g->member[k]->sim.node, &direct, i + k);
            }
        }
    }
}

static struct xfer *get_from(struct group *g, size_t member,
                             saratoga_pktinfo to, uint32_t type) {
    return host_start_to(g->member[member], to, type, "f", NULL);
}

static void run_group(struct group *g, uint64_t until) {
    sim_loop_run(sim_net_loop(g->net), until);
}

TEST(a_get_asked_of_a_group_is_answered_by_one) {
    struct group g = {.net = NULL};
    saratoga_options o = at_rate(5000000);
    struct xfer *x;
    struct xfer *kept;
    struct xfer *left;
    build_askers(&g, 0);
    (void)host_make_file(g.member[1], "f", 1000000, 3);
    (void)host_make_file(g.member[2], "f", 1000000, 3);
    g.member[1]->answer_options = &o;
    g.member[2]->answer_options = &o;
    x = get_from(&g, 0, group_address(&g), SARATOGA_GET);
    run_group(&g, 20 * SEC);
    assert_true(x->done);
    assert_int_equal(x->end.error, 0);
    assert_true(x->end.verified);
    assert_true(host_same(x->file, host_find_file(g.member[1], "f")));
    assert_int_equal(g.member[3]->requests, 1); /* has none, and keeps silent */
    kept = g.member[1]->xfers;
    left = g.member[2]->xfers;
    if (kept->end.error != 0) {
        kept = g.member[2]->xfers;
        left = g.member[1]->xfers;
    }
    assert_true(kept->done && left->done);
    assert_int_equal(kept->end.error, 0);
    assert_int_equal(left->end.status, SARATOGA_NOT_INTERESTED);
    assert_true(left->stats.data_bytes < 65536 + 1500);
    free_group(&g);
}

TEST(a_group_is_not_asked_to_delete) {
    struct group g = {.net = NULL};
    struct xfer *x;
    build_askers(&g, 0);
    (void)host_make_file(g.member[1], "f", 1000, 3);
    x = get_from(&g, 0, group_address(&g), SARATOGA_DELETE);
    run_group(&g, 100 * SEC);
    assert_int_equal(x->end.error, SARATOGA_ERR_TIMEOUT);
    assert_int_equal(g.member[1]->requests, 0);
    assert_non_null(host_find_file(g.member[1], "f"));
    free_group(&g);
}

/* The second asks in the middle, under an Id of its own. */
TEST(gets_answered_to_a_group_send_the_file_once) {
    struct group g = {.net = NULL};
    saratoga_options o = at_rate(5000000);
    saratoga_pktinfo group;
    const struct disk_file *f;
    struct xfer *first;
    struct xfer *second;
    const struct xfer *sent;
    build_askers(&g, 0.05);
    f = host_make_file(g.member[0], "f", 1000000, 3);
    group = group_address(&g);
    g.member[0]->answer_options = &o;
    g.member[0]->answer_group = &group;
    first = get_from(&g, 1, host_address(g.member[0]), SARATOGA_GET);
    run_group(&g, 600 * MSEC);
    second = get_from(&g, 2, host_address(g.member[0]), SARATOGA_GET);
    run_group(&g, 60 * SEC);
    assert_true(first->done && second->done);
    assert_true(host_same(first->file, f) && host_same(second->file, f));
    assert_int_equal(g.member[0]->requests, 2);
    sent = g.member[0]->xfers;
    assert_null(sent->next);
    assert_true(sent->done);
    assert_int_equal(sent->end.error, 0);
    /* Once, the part that the second missed, and repairs of both. */
    assert_true(sent->stats.data_bytes < 1700000);
    assert_null(g.member[3]->xfers); /* did not ask */
    free_group(&g);
}

/* ---- packet by packet ---- */

static saratoga_engine_stats stats_of(const struct raw *r) {
    saratoga_engine_stats st;
    saratoga_engine_stats_init(&st);
    assert_int_equal(saratoga_engine_get_stats(r->h->sim.engine, &st), 0);
    return st;
}

/* Comes from one of a group, to all. */
static void group_hex(struct raw *r, uint64_t host, const char *text) {
    r->peer.host = host;
    r->peer.flags = SARATOGA_PKT_MULTICAST;
    raw_hex(r, text);
}

static void
what_is_sent_to_a_group_is_not_taken_when_it_comes_back(void **state) {
    saratoga_options o = plain();
    struct raw *r = server(&o);
    (void)state;
    o.multicast = true;
    r->peer.flags = SARATOGA_PKT_MULTICAST;
    (void)raw_start(r, SARATOGA_BLIND_PUT, "d", &o, 7);
    assert_int_equal(stats_of(r).transfers, 1);
    group_hex(r, 1, META_D);
    group_hex(r, 1, "23000000 00000007 0000 30313233");
    assert_int_equal(stats_of(r).transfers, 1);
    assert_int_equal(stats_of(r).packets_dropped, 2);
    raw_free(r);
}

/* One for the path of META_D, under another Id than who asked has. */
#define META_D_OF_ANOTHER                                                   \
    "22000042 00000008 781e5e245d69b566979b86e28d23f2c7 8000 000a 21c86fea" \
    " 21c86fea 6400"

static void
a_file_that_a_group_was_asked_for_may_come_to_another(void **state) {
    saratoga_options o = plain();
    struct raw *r = raw_new(NULL);
    struct xfer *x;
    (void)state;
    r->peer.flags = SARATOGA_PKT_MULTICAST;
    x = raw_get(r, "d", &o, 7);
    /* no answer, but what anybody may say about that Id */
    group_hex(r, 50, "24010006 00000007 0000 0000");
    assert_false(x->done);
    assert_int_equal(stats_of(r).packets_dropped, 1);
    group_hex(r, 60, META_D_OF_ANOTHER);
    /* what a member misses is of interest, and a second sender is not wanted */
    group_hex(r, 70, "24000000 00000008 0004 0004 0000 0004");
    assert_int_equal(stats_of(r).packets_dropped, 1);
    group_hex(r, 61, META_D_OF_ANOTHER);
    assert_int_equal(stats_of(r).transfers, 1);
    group_hex(r, 60, "23018000 00000008 0000 30313233 34353637 3839");
    assert_int_equal(stats_of(r).transfers, 1);
    assert_true(x->done);
    assert_int_equal(x->end.error, 0);
    raw_free(r);
}

TEST(a_one_way_put_needs_no_answer) {
    struct plan p = {10e6, 0, 100 * MSEC, 0.05, 1, 1}; /* nothing comes back */
    struct world w = world_new(&p, NULL, NULL);
    saratoga_options o = at_rate(5000000);
    struct xfer *x;
    o.no_status = true;
    o.cycles = 5;
    (void)host_make_file(w.sat, "f", 100000, 3);
    x = host_start(w.sat, w.ground, SARATOGA_BLIND_PUT, "f", &o, NULL);
    world_finish(&w, x, 100 * SEC);
    world_run(&w, host_now(w.sat) + SEC);
    assert_arrived(&w, x, "f");
    world_free(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_multicast_put_reaches_listening_members),
        cmocka_unit_test(a_group_is_repaired_by_its_members_reports),
        cmocka_unit_test(members_of_a_group_report_a_common_loss_once),
        cmocka_unit_test(a_get_asked_of_a_group_is_answered_by_one),
        cmocka_unit_test(a_group_is_not_asked_to_delete),
        cmocka_unit_test(gets_answered_to_a_group_send_the_file_once),
        cmocka_unit_test(
            what_is_sent_to_a_group_is_not_taken_when_it_comes_back),
        cmocka_unit_test(a_file_that_a_group_was_asked_for_may_come_to_another),
        cmocka_unit_test(a_one_way_put_needs_no_answer),
    };
    return cmocka_run_group_tests_name("groups", tests, NULL, NULL);
}
