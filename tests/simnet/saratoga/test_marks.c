/* SPDX-License-Identifier: MPL-2.0 */
/* How long transfers may take.  Virtual time: the results repeat exactly. */
#include <congestion/congestion.h>

#include "tests/simnet/saratoga/pass.h"
#include "tests/support/cmocka.h"

#define FILE_SIZE UINT64_C(50000000)
#define PACKET 1500.0
#define PAYLOAD (1500 - 28 - 8 - 16 - 4)

struct mark {
    struct plan plan;
    double rtts; /* allowed beside 1.02 times the wire time */
};

static double wire_time(const struct plan *p, uint64_t size) {
    double packets = (double)size / PAYLOAD;
    return packets * PACKET * 8 / p->down_bps * (1 + p->loss);
}

static saratoga_options open_loop(const struct plan *p) {
    saratoga_options o;
    saratoga_options_init(&o);
    o.rate_bps = (uint64_t)p->down_bps;
    o.uplink_bps = (uint64_t)p->up_bps;
    return o;
}

static void assert_in_time(const struct mark *m) {
    const struct plan *p = &m->plan;
    saratoga_options o = open_loop(p);
    saratoga_config cfg;
    struct world w;
    struct xfer *x;
    double limit =
        1.02 * wire_time(p, FILE_SIZE) + m->rtts * (double)p->rtt / (double)SEC;
    double took;
    saratoga_config_init(&cfg);
    cfg.uplink_bps = (uint64_t)p->up_bps;
    w = world_new(p, NULL, &cfg);
    w.sat->answer_options = &o;
    (void)host_make_file(w.sat, "f", FILE_SIZE, p->seed);
    x = host_start(w.ground, w.sat, SARATOGA_GET, "f", NULL, NULL);
    world_finish(&w, x, 600 * SEC);
    assert_true(x->done);
    assert_int_equal(x->end.error, 0);
    assert_true(x->end.verified);
    assert_true(host_same(host_find_file(w.sat, "f"), x->file));
    took = (double)x->done_at / (double)SEC;
    if (took > limit) {
        print_error("%.3f s, allowed %.3f s, seed %llu\n", took, limit,
                    (unsigned long long)p->seed);
    }
    assert_true(took <= limit);
    if (p->up_bps > 0) { /* the uplink's share */
        double bytes = (double)(w.ground->sim.sent_bytes +
                                28 * w.ground->sim.sent_packets);
        assert_true(bytes * 8 <= 0.5 * p->up_bps * took + 8 * PACKET);
    }
    world_free(&w);
}

static void with_seeds(struct mark m) {
    for (m.plan.seed = 1; m.plan.seed <= 3; m.plan.seed++) {
        assert_in_time(&m);
    }
}

TEST(a_private_link_with_an_uplink_of_384_kbit) {
    with_seeds((struct mark){{100e6, 384e3, 50 * MSEC, 1e-4, 0, 0}, 4});
}

TEST(a_private_link_with_an_uplink_of_38_kbit) {
    with_seeds((struct mark){{100e6, 38400, 50 * MSEC, 1e-4, 0, 0}, 4});
}

TEST(a_satellite_link_without_loss) {
    assert_in_time(&(struct mark){{20e6, 0, 600 * MSEC, 0, 0, 1}, 2});
}

TEST(a_satellite_link_with_1_percent_loss) {
    with_seeds((struct mark){{20e6, 0, 600 * MSEC, 0.01, 0.01, 0}, 4});
}

TEST(a_satellite_link_with_5_percent_loss) {
    with_seeds((struct mark){{20e6, 0, 600 * MSEC, 0.05, 0.05, 0}, 6});
}

/* ---- windows ---- */

static saratoga_stats put_by_window(const char *name, const struct plan *p) {
    uint64_t size = 20000000;
    saratoga_config cfg;
    saratoga_options o;
    struct world w;
    struct xfer *x;
    saratoga_stats st;
    double took;
    saratoga_config_init(&cfg);
    saratoga_options_init(&o);
    cfg.uplink_bps = (uint64_t)p->up_bps;
    o.uplink_bps = (uint64_t)p->up_bps;
    o.congestion = name;
    w = world_new(p, NULL, &cfg);
    (void)host_make_file(w.sat, "f", size, p->seed);
    x = host_start(w.sat, w.ground, SARATOGA_PUT, "f", &o, NULL);
    world_finish(&w, x, 600 * SEC);
    assert_arrived(&w, x, "f");
    st = x->stats;
    took = (double)x->done_at;
    /* 4 an RTT, and what a receiver volunteers. */
    assert_true((double)st.status_packets <=
                4.5 * took / (double)st.min_rtt_ns);
    if (wire_time(p, size) * (double)SEC < 0.6 * took) {
        print_error("%s: %.1f s\n", name, took / (double)SEC);
    }
    assert_true(wire_time(p, size) * (double)SEC >= 0.6 * took);
    world_free(&w);
    return st;
}

TEST(a_window_fills_a_link_with_few_answers) {
    static const char *const names[] = {"auto", "cubic", "newreno", "bbr"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)put_by_window(names[i],
                            &(struct plan){20e6, 0, 100 * MSEC, 0, 0, 1});
        (void)put_by_window(names[i],
                            &(struct plan){20e6, 38400, 100 * MSEC, 0, 0, 1});
    }
}

/* Losses go on and on, so that not all is repaired at any time: each round trip
 * is judged, and the window does not grow for ever. */
TEST(a_window_that_loses_by_chance_repeats_little) {
    saratoga_stats st = put_by_window(
        "auto", &(struct plan){20e6, 0, 100 * MSEC, 0.01, 0.01, 1});
    assert_true(st.retransmitted_bytes < 1000000);
}

/* The queue in front of the link holds five or twenty times what is on it: a
 * sender that doubles its rate until something is lost must not take what it
 * sends for what arrives. */
TEST(a_queue_that_grows_is_seen) {
    static const uint64_t rtt[] = {5 * MSEC, 20 * MSEC};
    for (size_t i = 0; i < sizeof(rtt) / sizeof(rtt[0]); i++) {
        struct plan p = {100e6, 0, rtt[i], 0, 0, 1};
        saratoga_options o;
        struct world w = world_new(&p, NULL, NULL);
        struct xfer *x;
        saratoga_options_init(&o);
        o.congestion = "stfrc";
        (void)host_make_file(w.sat, "f", 20000000, p.seed);
        x = host_start(w.sat, w.ground, SARATOGA_PUT, "f", &o, NULL);
        world_finish(&w, x, 60 * SEC);
        assert_arrived(&w, x, "f");
        assert_true(x->stats.retransmitted_packets * 6 < x->stats.data_packets);
        world_free(&w);
    }
}

/* A list of thousands of holes takes seconds on the way back, whose queue has
 * no end: to ask for one after the other would fill it for ever.  How little it
 * carries shows when the first list comes, part by part. */
TEST(a_thin_way_back_is_not_flooded) {
    static const char *const names[] = {"stfrc", "auto", "cubic", "tfrc"};
    for (size_t i = 0; i < 2 * sizeof(names) / sizeof(names[0]); i++) {
        struct plan p = {16e6, 38400, 90 * MSEC, 0, 0, 1};
        struct world w = world_new(&p, NULL, NULL);
        struct sim_link_config up;
        saratoga_options o;
        struct xfer *x;
        double took;
        double bits;
        link_config(&up, p.up_bps, p.rtt / 2, 0);
        up.limit_bytes = 0;
        sim_net_set_link(w.net, w.up, &up);
        saratoga_options_init(&o);
        o.congestion = names[i / 2];
        o.uplink_bps = i % 2 == 0 ? 0 : (uint64_t)p.up_bps;
        (void)host_make_file(w.sat, "f", 20000000, p.seed);
        x = host_start(w.sat, w.ground, SARATOGA_PUT, "f", &o, NULL);
        world_finish(&w, x, 60 * SEC);
        took = (double)x->done_at / (double)SEC;
        bits = 8 * (double)(w.ground->sim.sent_bytes +
                            28 * w.ground->sim.sent_packets);
        print_message("%s, uplink %s: %.1f s, %.0f bit/s back\n", names[i / 2],
                      i % 2 == 0 ? "not known" : "known", took, bits / took);
        assert_arrived(&w, x, "f");
        assert_true(bits < (i % 2 == 0 ? 0.7 : 0.55) * p.up_bps * took);
        world_free(&w);
    }
}

static void note_lowest_rate(void *user, struct host *h,
                             const saratoga_pktinfo *to, const uint8_t *dgram,
                             size_t len) {
    uint64_t *lowest = user;
    saratoga_stats st;
    (void)to;
    (void)dgram;
    (void)len;
    st = host_stats(h, h->xfers);
    if (st.retransmitted_packets > 0 && st.rate_bps < *lowest) {
        *lowest = st.rate_bps;
    }
}

/* After a long list the next STATUS is asked for seconds later, so that answers
 * fit the uplink.  That no answer comes meanwhile is no silence, upon which the
 * rate would be halved every four RTTs. */
TEST(not_to_be_asked_is_no_silence) {
    struct plan p = {16e6, 38400, 90 * MSEC, 0, 0, 1};
    struct world w = world_new(&p, NULL, NULL);
    uint64_t lowest = UINT64_MAX;
    saratoga_options o;
    struct xfer *x;
    saratoga_options_init(&o);
    o.congestion = "stfrc";
    o.uplink_bps = (uint64_t)p.up_bps;
    w.sat->tap = note_lowest_rate;
    w.sat->tap_user = &lowest;
    (void)host_make_file(w.sat, "f", 20000000, p.seed);
    x = host_start(w.sat, w.ground, SARATOGA_PUT, "f", &o, NULL);
    world_finish(&w, x, 60 * SEC);
    assert_arrived(&w, x, "f");
    print_message("lowest rate %.1f Mbit/s\n", (double)lowest / 1e6);
    assert_true(lowest > 4000000);
    world_free(&w);
}

/* Four times what the link takes: what gets through takes no longer. */
TEST(too_high_a_rate_does_not_stall) {
    struct plan p = {10e6, 0, 50 * MSEC, 0, 0, 1};
    struct world w = world_new(&p, NULL, NULL);
    saratoga_options o;
    struct xfer *x;
    saratoga_options_init(&o);
    o.rate_bps = 40000000;
    (void)host_make_file(w.sat, "f", 10000000, p.seed);
    x = host_start(w.sat, w.ground, SARATOGA_PUT, "f", &o, NULL);
    world_finish(&w, x, 600 * SEC);
    assert_int_equal(x->end.error, 0);
    assert_true((double)x->done_at / (double)SEC <=
                1.02 * wire_time(&p, 10000000) + 0.2);
    world_free(&w);
}

/* IP bits between two moments, over the time between them. */
struct gauge {
    uint64_t first;
    uint64_t last;
    uint64_t bits;
    uint64_t open;
    size_t longest;
    size_t headers;
};

static void measure(void *user, struct host *h, const saratoga_pktinfo *to,
                    const uint8_t *dgram, size_t len) {
    struct gauge *g = user;
    (void)to;
    if (dgram[0] == 0x23 && len > 64) { /* polls come when all is sent */
        g->bits += g->open; /* a packet takes the time until the next */
        g->open = 8 * (len + g->headers);
        g->longest = len > g->longest ? len : g->longest;
        g->first = g->first != 0 ? g->first : host_now(h);
        g->last = host_now(h);
    }
}

TEST(the_rate_is_kept_to_1_percent) {
    static const double rate[] = {1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
    for (size_t i = 0; i < sizeof(rate) / sizeof(rate[0]); i++) {
        struct plan p = {0, 0, 20 * MSEC, 0, 0, 1};
        struct gauge g = {.headers = 28};
        saratoga_options o;
        struct world w = world_new(&p, NULL, NULL);
        struct xfer *x;
        uint64_t size = rate[i] < 1e6 ? 60000 : 6000000;
        saratoga_options_init(&o);
        o.rate_bps = (uint64_t)rate[i];
        w.sat->tap = measure;
        w.sat->tap_user = &g;
        (void)host_make_file(w.sat, "f", size, 1);
        x = host_start(w.sat, w.ground, SARATOGA_PUT, "f", &o, NULL);
        world_finish(&w, x, 600 * SEC);
        assert_int_equal(x->end.error, 0);
        assert_in_range((uint64_t)((double)g.bits * 1e12 /
                                   (double)(g.last - g.first) / rate[i]),
                        990, 1010);
        world_free(&w);
    }
}

/* As on a machine that has other things to do. */
TEST(a_late_wake_up_is_compensated) {
    static const uint64_t late[] = {MSEC, 5 * MSEC, 15 * MSEC};
    for (size_t i = 0; i < sizeof(late) / sizeof(late[0]); i++) {
        struct plan p = {0, 0, 20 * MSEC, 0, 0, 1};
        struct gauge g = {.headers = 28};
        saratoga_options o = at_rate(100000000);
        struct world w = world_new(&p, NULL, NULL);
        struct xfer *x;
        w.sat->sim.late = late[i];
        w.sat->tap = measure;
        w.sat->tap_user = &g;
        (void)host_make_file(w.sat, "f", 20000000, 1);
        x = host_start(w.sat, w.ground, SARATOGA_PUT, "f", &o, NULL);
        world_finish(&w, x, 600 * SEC);
        assert_int_equal(x->end.error, 0);
        assert_in_range(g.bits * 10000 / (g.last - g.first), 950, 1010);
        world_free(&w);
    }
}

/* From either side, whether it asked or was asked. */
TEST(packets_over_ipv6_fit_the_mtu_and_the_rate) {
    for (int puts = 0; puts < 2; puts++) {
        struct plan p = {0, 0, 20 * MSEC, 0, 0, 1};
        struct gauge g = {.headers = 48};
        saratoga_options o;
        struct world w = world_new(&p, NULL, NULL);
        struct xfer *x;
        saratoga_options_init(&o);
        o.rate_bps = 1000000;
        w.sat->sim.six = true;
        w.ground->sim.six = true;
        w.sat->answer_options = &o;
        w.sat->tap = measure;
        w.sat->tap_user = &g;
        (void)host_make_file(w.sat, "f", 1000000, 1);
        x = host_start(puts ? w.sat : w.ground, puts ? w.ground : w.sat,
                       puts ? SARATOGA_PUT : SARATOGA_GET, "f",
                       puts ? &o : NULL, NULL);
        world_finish(&w, x, 600 * SEC);
        assert_int_equal(x->end.error, 0);
        assert_int_equal(g.longest, 1500 - 48);
        assert_in_range(g.bits * 1000000 / (g.last - g.first), 990, 1010);
        world_free(&w);
    }
}

TEST(the_rate_changes_while_running) {
    struct plan p = {0, 0, 20 * MSEC, 0, 0, 1};
    saratoga_options o;
    struct world w = world_new(&p, NULL, NULL);
    struct xfer *x;
    struct gauge g = {.headers = 28};
    saratoga_options_init(&o);
    o.rate_bps = 1000000;
    (void)host_make_file(w.sat, "f", 5000000, 1);
    x = host_start(w.sat, w.ground, SARATOGA_PUT, "f", &o, NULL);
    world_run(&w, 2 * SEC);
    assert_int_equal(saratoga_transfer_set_rate(w.sat->sim.engine, x->handle,
                                                10000000, 2 * SEC),
                     0);
    host_pump(w.sat);
    world_run(&w, 2 * SEC + 100 * MSEC);
    w.sat->tap = measure;
    w.sat->tap_user = &g;
    world_run(&w, 3 * SEC);
    assert_in_range(g.bits * 1000 / (g.last - g.first), 9, 10);
    world_finish(&w, x, 60 * SEC);
    assert_int_equal(x->end.error, 0);
    world_free(&w);
}

static void measure_status(void *user, struct host *h,
                           const saratoga_pktinfo *to, const uint8_t *dgram,
                           size_t len) {
    struct gauge *g = user;
    (void)to;
    if (dgram[0] == 0x24) {
        g->bits += 8 * (len + g->headers);
        g->last = host_now(h);
    }
}

/* Bits of STATUS from one moment to the other. */
static double status_bits(struct world *w, uint64_t from, uint64_t to) {
    struct gauge g = {.headers = 28};
    world_run(w, from);
    w->ground->tap = measure_status;
    w->ground->tap_user = &g;
    world_run(w, to);
    w->ground->tap = NULL;
    return (double)g.bits;
}

TEST(the_uplink_changes_while_running) {
    const double share = 0.5 * 4000; /* of the uplink, bit/s */
    struct plan p = {100e6, 0, 50 * MSEC, 0.01, 0, 1};
    saratoga_options o = at_rate(100000000);
    struct world w = world_new(&p, NULL, NULL);
    struct xfer *x;
    w.sat->answer_options = &o;
    (void)host_make_file(w.sat, "f", FILE_SIZE, 1);
    x = host_start(w.ground, w.sat, SARATOGA_GET, "f", NULL, NULL);
    assert_true(status_bits(&w, SEC / 2, 3 * SEC / 2) > 3 * share);
    saratoga_engine_set_uplink(w.ground->sim.engine, 4000);
    host_pump(w.ground);
    assert_true(status_bits(&w, 3 * SEC / 2, 5 * SEC / 2) <=
                2 * share + 800); /* and one list at once */
    saratoga_engine_set_uplink(w.ground->sim.engine, 0);
    host_pump(w.ground);
    assert_true(status_bits(&w, 5 * SEC / 2, 7 * SEC / 2) > 3 * share);
    world_finish(&w, x, 60 * SEC);
    assert_arrived(&w, x, "f");
    world_free(&w);
}

TEST(sessions_share_a_thin_uplink) {
    enum { N = 24 };
    struct plan p = {100e6, 38400, 50 * MSEC, 1e-3, 0, 5};
    saratoga_config cfg;
    saratoga_options o = open_loop(&p);
    struct world w;
    struct gauge g = {.headers = 28};
    struct xfer *x[N];
    uint64_t least = UINT64_MAX;
    uint64_t most = 0;
    saratoga_config_init(&cfg);
    cfg.uplink_bps = 38400;
    w = world_new(&p, NULL, &cfg);
    w.ground->tap = measure_status;
    w.ground->tap_user = &g;
    o.rate_bps = 100000000 / N;
    w.sat->answer_options = &o;
    for (int i = 0; i < N; i++) {
        char name[] = {'f', (char)('a' + i), 0};
        (void)host_make_file(w.sat, name, 2000000, (uint64_t)i);
        x[i] = host_start(w.ground, w.sat, SARATOGA_GET, name, NULL, NULL);
    }
    world_run(&w, 60 * SEC);
    for (int i = 0; i < N; i++) {
        assert_true(x[i]->done);
        assert_int_equal(x[i]->end.error, 0);
        least = x[i]->done_at < least ? x[i]->done_at : least;
        most = x[i]->done_at > most ? x[i]->done_at : most;
    }
    assert_true(most < 2 * least); /* none starves */
    assert_true((double)g.bits <=
                0.5 * 38400 * (double)g.last / (double)SEC + 8 * PACKET);
    world_free(&w);
}

TEST(bursts_of_loss_do_not_stop_a_controlled_sender) {
    static const char *const name[] = {"stfrc", "tfrc",  "cubic",   "newreno",
                                       "bbr",   "vegas", "westwood"};
    for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
        struct plan p = {10e6, 0, 100 * MSEC, 0.002, 0, 9};
        saratoga_options o;
        struct world w = world_new(&p, NULL, NULL);
        struct xfer *x;
        if (cong_find(name[i]) == NULL) {
            world_free(&w);
            continue;
        }
        saratoga_options_init(&o);
        o.congestion = name[i];
        (void)host_make_file(w.sat, "f", 3000000, 1);
        x = host_start(w.sat, w.ground, SARATOGA_PUT, "f", &o, NULL);
        world_finish(&w, x, 120 * SEC);
        assert_true(x->done);
        assert_int_equal(x->end.error, 0);
        assert_string_equal(x->stats.congestion, name[i]);
        assert_true(host_same(x->file, host_find_file(w.ground, "f")));
        world_free(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_private_link_with_an_uplink_of_384_kbit),
        cmocka_unit_test(a_private_link_with_an_uplink_of_38_kbit),
        cmocka_unit_test(a_satellite_link_without_loss),
        cmocka_unit_test(a_satellite_link_with_1_percent_loss),
        cmocka_unit_test(a_satellite_link_with_5_percent_loss),
        cmocka_unit_test(a_window_fills_a_link_with_few_answers),
        cmocka_unit_test(a_window_that_loses_by_chance_repeats_little),
        cmocka_unit_test(a_queue_that_grows_is_seen),
        cmocka_unit_test(a_thin_way_back_is_not_flooded),
        cmocka_unit_test(not_to_be_asked_is_no_silence),
        cmocka_unit_test(too_high_a_rate_does_not_stall),
        cmocka_unit_test(the_rate_is_kept_to_1_percent),
        cmocka_unit_test(a_late_wake_up_is_compensated),
        cmocka_unit_test(packets_over_ipv6_fit_the_mtu_and_the_rate),
        cmocka_unit_test(the_rate_changes_while_running),
        cmocka_unit_test(the_uplink_changes_while_running),
        cmocka_unit_test(sessions_share_a_thin_uplink),
        cmocka_unit_test(bursts_of_loss_do_not_stop_a_controlled_sender),
    };
    return cmocka_run_group_tests_name("marks", tests, NULL, NULL);
}
