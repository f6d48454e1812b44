/* SPDX-License-Identifier: MPL-2.0 */
/* Reactions of controllers and their machinery to sequences of events:
 * restarts, changes by the host, clocks that step, silences. */
#include "libcongestion/cubic.h"
#include "tests/support/cmocka.h"
#include "tests/unit/congestion/rig.h"
#include "tests/unit/congestion/vectors.h"

#include <congestion/pacer.h>
#include <congestion/rack.h>
#include <congestion/recovery.h>
#include <congestion/rtt.h>
#include <congestion/tfrc.h>

#include <math.h>
#include <string.h>

#define HOUR (INT64_C(3600) * 1000000000)

/* A CUBIC that has long been in congestion avoidance on a short path, where its
 * window is that of Reno. */
static void old_cubic(struct rig *r, const char *name, double cwnd_max) {
    rig_start_sized(r, name, 1, cwnd_max, MS(1));
    rig_set(r, "iw", 10);
    rig_lose_at(r, 100);
    for (int i = 0; i < 1000; i++) {
        r->now += MS(1);
        r->ack.flight = r->cc->cwnd;
        r->ack.round = true;
        rig_ack_rtt(r, r->cc->cwnd, MS(1));
    }
}

/* One segment is acknowledged: the window grows by one at most. */
static void check_one_ack(struct rig *r, const char *what) {
    double before = r->cc->cwnd;
    r->now += MS(1);
    r->ack.flight = before;
    rig_ack_rtt(r, 1, MS(1));
    if (!(r->cc->cwnd <= before + 1 + 1e-9)) {
        fail_msg("%s %s: %g, then %g", r->cc->ops->name, what, before,
                 r->cc->cwnd);
    }
}

static void check_restart(const char *name) {
    struct rig r;
    old_cubic(&r, name, (double)INFINITY);
    r.cc->cwnd = 55;
    r.cc->ssthresh = 55;
    check_one_ack(&r, "after the host set the window");
    rig_stop(&r);

    old_cubic(&r, name, (double)INFINITY);
    r.now += MS(60000);
    rig_event(&r, CONG_IDLE, 0, 0, 60);
    r.cc->ssthresh = fmin(r.cc->ssthresh, 12);
    for (int i = 0; i < 20; i++) {
        check_one_ack(&r, "after a silence");
    }
    rig_stop(&r);

    old_cubic(&r, name, (double)INFINITY);
    r.cc->cwnd = 70;
    r.cc->ssthresh = 80;
    for (int i = 0; i < 20; i++) {
        check_one_ack(&r, "after slow start");
    }
    rig_stop(&r);

    old_cubic(&r, name, 80);
    r.cc->cwnd_max = 5000;
    check_one_ack(&r, "after a higher bound");
    rig_stop(&r);

    old_cubic(&r, name, (double)INFINITY);
    r.cc->mss = 10;
    double before = r.cc->cwnd;
    rig_ack_rtt(&r, 10, MS(100));
    assert_true(r.cc->cwnd <= before + 10);
    rig_stop(&r);
}

TEST(cubic_jumps_after_nothing) {
    check_restart("cubic");
    check_restart("auto");
}

/* RFC 9438 section 4.8: slow start ends in a new epoch. */
TEST(cubic_starts_an_epoch_after_slow_start) {
    struct rig r;
    old_cubic(&r, "cubic", (double)INFINITY);
    r.cc->ssthresh = r.cc->cwnd + 5;
    rig_ack(&r, 10);
    assert_int_equal(RIG_STATE(&r, struct cubic)->m.epoch, r.now);
    rig_stop(&r);
}

TEST(cubic_grows_at_once_when_its_bound_is_lifted) {
    struct rig r;
    old_cubic(&r, "cubic", 80);
    check_near(r.cc->cwnd, 80, 0.0);
    r.cc->cwnd_max = 5000;
    for (int i = 0; i < 100; i++) {
        r.now += MS(100);
        rig_ack(&r, r.cc->cwnd);
    }
    assert_true(r.cc->cwnd > 100);
    rig_stop(&r);
}

static void lose_and_time_out(struct rig *r, bool repeated) {
    double cwnd = r->cc->cwnd;
    double ssthresh = r->cc->ssthresh;
    rig_event(r, CONG_LOSS, cwnd, 1, 1);
    if (repeated) {
        rig_event(r, CONG_LOSS, cwnd, 1, 2);
    } else {
        rig_event(r, CONG_RTO, cwnd, cwnd, 1);
    }
    r->cc->cwnd = cwnd;
    r->cc->ssthresh = ssthresh;
    rig_event(r, CONG_UNDO, cwnd, 0, 0);
}

TEST(cubic_undoes_both_reductions_of_a_period) {
    for (int repeated = 0; repeated < 2; repeated++) {
        struct rig r;
        rig_start(&r, "cubic", MS(100));
        rig_lose_at(&r, 100);
        rig_event(&r, CONG_RECOVERED, 0, 0, 0);
        for (int i = 0; i < 20; i++) {
            r.now += MS(100);
            rig_ack(&r, r.cc->cwnd);
        }
        struct rig other = rig_copy(&r);
        lose_and_time_out(&r, repeated != 0);
        rig_grow_alike(&r, &other);
        rig_stop(&r);
        rig_stop(&other);
    }
}

/* A round of Startup in which the rate grows by half. */
static void startup_round(struct rig *r, int i, double lost) {
    r->now += MS(100);
    r->ack.flight = r->cc->cwnd;
    r->ack.lost = lost;
    r->rs = (struct cong_rate_sample){.rate = 1000 * pow(1.5, i),
                                      .delivered = r->cc->cwnd,
                                      .tx_in_flight = r->cc->cwnd,
                                      .lost = lost,
                                      .interval = MS(100)};
    r->ack.rs = &r->rs;
    r->ack.round = true;
    rig_ack_rtt(r, r->cc->cwnd, MS(100));
}

TEST(bbr_is_back_in_startup_after_a_false_alarm) {
    struct rig r;
    struct rig other;
    rig_start(&r, "bbr", MS(100));
    for (int i = 0; i < 5; i++) {
        startup_round(&r, i, 0);
    }
    other = rig_copy(&r);
    r.ack.recovery = true;
    for (int i = 5; i < 8; i++) {
        startup_round(&r, i, 20);
        startup_round(&other, i, 0);
        if (i == 5) {
            rig_event(&r, CONG_LOSS, r.cc->cwnd, 20, 1);
        }
    }
    assert_true(r.cc->pacing_rate < other.cc->pacing_rate);
    r.ack.recovery = false;
    rig_event(&r, CONG_UNDO, 0, 0, 0); /* the window had regrown */
    for (int i = 8; i < 12; i++) {
        startup_round(&r, i, 0);
        startup_round(&other, i, 0);
    }
    check_near(r.cc->pacing_rate, other.cc->pacing_rate, 1e-9);
    rig_stop(&r);
    rig_stop(&other);
}

TEST(reductions_never_raise_the_window) {
    static const double flights[] = {0, 1, 10, 40, 400};
    static const double windows[] = {1, 2, 3, 10};
    for (const char *const *name = cong_list(); *name != NULL; name++) {
        for (size_t i = 0; i < 60; i++) {
            struct rig r;
            rig_start(&r, *name, MS(100));
            bool rate_only = isinf(r.cc->cwnd);
            double before = windows[i % 4];
            if (!rate_only) {
                r.cc->cwnd = before;
                r.cc->ssthresh = i < 20 ? before : (double)INFINITY;
            }
            rig_event(
                &r, (enum cong_cause[]){CONG_LOSS, CONG_ECN, CONG_RTO}[i / 20],
                flights[i % 5], 1, 1);
            /* vegas and fast do not go below two segments */
            bool two =
                strcmp(*name, "vegas") == 0 || strcmp(*name, "fast") == 0;
            if (!rate_only && r.cc->cwnd > fmax(before, two ? 2 : 0)) {
                fail_msg("%s: %g with %g in flight, then %g", *name, before,
                         flights[i % 5], r.cc->cwnd);
            }
            rig_stop(&r);
        }
    }
}

TEST(the_lowest_rtt_is_forgotten_after_a_change_of_route) {
    struct cong_rtt r;
    cong_time now = 0;
    cong_rtt_init(&r, MS(1), MS(200));
    for (int i = 0; i < 100; i++, now += MS(50)) {
        cong_rtt_sample_at(&r, MS(50 + i % 7), now);
    }
    assert_int_equal(r.min_rtt, MS(50));
    for (int i = 0; i < 15; i++, now += MS(600)) {
        cong_rtt_sample_at(&r, MS(600 + i % 5), now);
    }
    assert_int_equal(r.min_rtt, MS(50)); /* 9 s: a queue may stand as long */
    for (int i = 0; i < 30; i++, now += MS(600)) {
        cong_rtt_sample_at(&r, MS(600 + i % 5), now);
    }
    assert_int_equal(r.min_rtt, MS(600));
    assert_int_equal(r.lowest, MS(50));
    cong_rtt_sample_at(&r, MS(70), now);
    assert_int_equal(r.min_rtt, MS(70));
}

TEST(the_lowest_rtt_may_be_raised_at_once) {
    struct cong_rtt r;
    cong_rtt_init(&r, MS(1), MS(200));
    cong_rtt_raise_min(&r, MS(80));
    assert_int_equal(r.min_rtt, -1);
    cong_rtt_sample_at(&r, MS(50), MS(1000));
    cong_rtt_raise_min(&r, MS(40));
    assert_int_equal(r.min_rtt, MS(50));
    cong_rtt_raise_min(&r, MS(80));
    assert_int_equal(r.min_rtt, MS(80));
    cong_rtt_sample_at(&r, MS(90), MS(1100));
    assert_int_equal(r.min_rtt, MS(80));
    cong_rtt_sample_at(&r, MS(60), MS(1200));
    assert_int_equal(r.min_rtt, MS(60));
}

TEST(the_lowest_rtt_is_forgotten_without_a_clock_too) {
    struct cong_rtt r;
    cong_rtt_init(&r, MS(1), MS(200));
    cong_rtt_sample(&r, 1000); /* a bogus one */
    for (int i = 0; i < 250; i++) {
        cong_rtt_sample(&r, MS(100));
    }
    assert_int_equal(r.min_rtt, MS(100));
}

TEST(the_lowest_rtt_survives_a_clock_that_steps) {
    struct cong_rtt r;
    cong_rtt_init(&r, MS(1), MS(200));
    cong_rtt_sample_at(&r, MS(100), HOUR);
    for (int i = 0; i < 300; i++) {
        cong_rtt_sample_at(&r, MS(200), (cong_time)i * MS(100));
    }
    assert_int_equal(r.min_rtt, MS(200));
    cong_rtt_sample_at(&r, INT64_MAX, INT64_MAX);
    cong_rtt_sample_at(&r, MS(1), INT64_MIN);
    assert_int_equal(r.min_rtt, MS(1));
}

/* The first sixteen dummies prove nothing about the second loss. */
TEST(peach_does_not_grow_by_dummies_of_the_loss_before) {
    struct rig r;
    rig_start(&r, "peach", MS(500));
    r.cc->probes = 0;
    r.now = MS(10000);
    r.ack.recovery = true;
    rig_lose_at(&r, 16);
    r.cc->probes = 0; /* all sixteen leave */
    r.now += MS(400);
    rig_event(&r, CONG_LOSS, 8, 1, 1);
    assert_int_equal(r.cc->probes, 8);
    r.cc->probes = 0;
    r.ack.probes_acked = 16;
    rig_ack(&r, 0);
    check_near(r.cc->cwnd, 4, 0.0);
    r.ack.probes_acked = 8;
    rig_ack(&r, 0);
    check_near(r.cc->cwnd, 8, 0.0);
    rig_stop(&r);
}

TEST(nothing_grows_by_rounds_that_deliver_nothing) {
    for (const char *const *name = cong_list(); *name != NULL; name++) {
        struct rig r;
        rig_start(&r, *name, MS(100));
        if (isinf(r.cc->cwnd)) {
            rig_stop(&r);
            continue;
        }
        r.cc->cwnd = 32;
        r.cc->ssthresh = 32;
        rig_ack_rtt(&r, 0, MS(100));
        double before = r.cc->cwnd;
        for (int i = 0; i < 10; i++) {
            r.now += MS(100);
            r.ack.round = true;
            rig_ack_rtt(&r, 0, MS(100));
        }
        if (r.cc->cwnd > before) {
            fail_msg("%s: %g, then %g", *name, before, r.cc->cwnd);
        }
        rig_stop(&r);
    }
}

TEST(what_is_not_a_number_grows_no_window) {
    for (const char *const *name = cong_list(); *name != NULL; name++) {
        struct rig r;
        rig_start(&r, *name, -1);
        r.now = MS(100);
        /* a queue: auto takes itself for a guest */
        rig_ack_rtt(&r, 1, MS(200));
        r.cc->ssthresh = r.cc->cwnd;
        for (int i = 0; i < 40; i++) {
            r.now += MS(50);
            r.ack.round = i % 4 == 0;
            r.ack.flight = r.cc->cwnd;
            rig_ack_rtt(&r, 0, MS(100));
        }
        double before = r.cc->cwnd;
        r.now += MS(50);
        r.ack.round = false;
        rig_ack_rtt(&r, (double)NAN, MS(100));
        if (r.cc->cwnd > before) {
            fail_msg("%s: %g, then %g", *name, before, r.cc->cwnd);
        }
        rig_stop(&r);
    }
}

TEST(the_pacer_waits_no_longer_when_the_clock_steps_back) {
    struct cong_pacer p;
    cong_pacer_init(&p);
    cong_pacer_set(&p, 1000, 0);
    cong_pacer_sent(&p, 100, HOUR);
    assert_int_equal(cong_pacer_next(&p, HOUR), HOUR + MS(100));
    assert_int_equal(cong_pacer_next(&p, 5), 5 + MS(100));
    cong_pacer_sent(&p, 100, MS(100));
    assert_true(cong_pacer_next(&p, MS(100)) <= MS(300));
    assert_true(cong_pacer_next(&p, MS(100)) >= MS(200));
}

TEST(the_pacer_has_no_end_of_time) {
    struct cong_pacer p;
    cong_pacer_init(&p);
    cong_pacer_set(&p, 1e-9, 1e18);
    cong_pacer_sent(&p, 100, INT64_MIN);
    cong_pacer_sent(&p, 100, INT64_MIN + 1);
    cong_pacer_sent(&p, 100, INT64_MAX);
    assert_int_equal(cong_pacer_next(&p, INT64_MAX), INT64_MAX);
    (void)cong_pacer_next(&p, INT64_MIN);
}

TEST(rack_has_no_end_of_time) {
    struct cong_rack r;
    cong_rack_init(&r);
    cong_rack_delivered(&r, INT64_MAX, INT64_MAX);
    assert_int_equal(cong_rack_deadline(&r, INT64_MAX - 1, INT64_MAX),
                     INT64_MAX);
    assert_int_equal(cong_rack_pto(INT64_MAX, -1, INT64_MAX, true), INT64_MAX);
    for (int i = 0; i < 300; i++) {
        cong_rack_reordered(&r, true);
    }
    assert_true(cong_rack_reo(&r, INT64_MAX, -1, false) > 0);
}

TEST(the_tfrc_receiver_has_no_end_of_time) {
    struct cong_tfrc_receiver r;
    struct cong_tfrc_report report;
    cong_tfrc_receiver_init(&r, 1000, 0);
    cong_tfrc_receiver_on_packet(&r, 0, 1000, INT64_MAX, false, INT64_MAX - 1);
    assert_true(cong_tfrc_receiver_report(&r, INT64_MAX - 1, &report));
    cong_tfrc_receiver_on_packet(&r, 9, 1000, INT64_MAX, false, INT64_MAX);
    cong_tfrc_receiver_on_packet(&r, 10, 1000, INT64_MAX, false, INT64_MAX);
    cong_tfrc_receiver_on_packet(&r, 11, 1000, INT64_MAX, false, INT64_MIN);
    cong_tfrc_receiver_on_packet(&r, 20, 1000, 5, false, INT64_MAX);
    assert_int_equal(cong_tfrc_receiver_due(&r, 0) >= 0, 1);
    assert_true(cong_tfrc_receiver_report(&r, INT64_MIN, &report));
    cong_tfrc_receiver_on_packet(&r, 30, 1000, 5, false, INT64_MAX);
    assert_true(report.p <= 1);
}

TEST(peach_has_no_end_of_time) {
    struct rig r;
    rig_start(&r, "peach", INT64_MAX);
    assert_true(r.cc->probe_gap > 0);
    rig_lose_at(&r, 1);
    assert_true(r.cc->probe_gap > 0);
    rig_stop(&r);
}

/* Rounds of 100 segments each 100 ms; then the clock steps back. */
TEST(estimates_go_on_when_the_clock_steps_back) {
    static const char *const names[] = {"westwood", "westwoodnew",
                                        "mod-westwoodnew", "tibet"};
    for (size_t i = 0; i < 8; i++) {
        struct rig r;
        rig_start(&r, names[i % 4], MS(100));
        for (int n = 0; n < 400; n++) {
            if (n == 200) {
                r.now -= HOUR;
            }
            double per_round = n < 200 ? 10 : 100;
            r.now += MS(100);
            rig_round(&r, per_round, i < 4 ? -1 : 10 * per_round);
        }
        rig_lose_at(&r, 1000);
        if (!(r.cc->ssthresh > 80 && r.cc->ssthresh < 1000)) {
            fail_msg("%s: ssthresh %g", names[i % 4], r.cc->ssthresh);
        }
        rig_stop(&r);
    }
}

TEST(cubic_goes_on_when_the_clock_steps_back) {
    static const char *const names[] = {"cubic", "auto"};
    for (size_t i = 0; i < 2; i++) {
        struct rig a;
        struct rig b;
        rig_start(&a, names[i], MS(100));
        a.now = HOUR;
        rig_lose_at(&a, 100);
        rig_ack(&a, 1);
        b = rig_copy(&a);
        b.now = -HOUR;
        rig_ack(&a, 1e-9);
        rig_ack(&b, 1e-9);
        for (int n = 0; n < 100; n++) {
            a.now += MS(100);
            b.now += MS(100);
            rig_ack(&a, 50);
            rig_ack(&b, 50);
        }
        check_near(b.cc->cwnd, a.cc->cwnd, 1e-9);
        rig_stop(&a);
        rig_stop(&b);
    }
}

/* The window of ProbeRTT ends after 200 ms on any clock. */
TEST(bbr_and_tfrc_go_on_when_the_clock_steps_back) {
    for (int tfrc = 0; tfrc < 2; tfrc++) {
        struct rig r;
        rig_start(&r, tfrc ? "tfrc" : "bbr", MS(100));
        r.now = HOUR;
        for (int n = 0; n < 400; n++) {
            if (n == 10 || n == 150) {
                r.now -= HOUR / 2;
            }
            double rate = n < 200 ? 100 : 1000;
            r.now += MS(100);
            r.ack.flight = r.cc->cwnd;
            r.ack.p = tfrc ? 0 : -1;
            r.ack.x_recv = tfrc ? rate : -1;
            r.ack.rtt = MS(100);
            rig_round(&r, rate / 10, rate);
        }
        if (!(r.cc->pacing_rate > 800)) {
            fail_msg("%s: rate %g", r.cc->ops->name, r.cc->pacing_rate);
        }
        rig_stop(&r);
    }
}

/* After an hour of silence nothing is left of the estimate. */
TEST(westwood_forgets_in_a_silence_whatever_its_steps) {
    for (int m = 2; m <= 100; m += 49) {
        struct rig r;
        rig_start(&r, "westwood", MS(100));
        rig_set(&r, "plus", 0);
        rig_set(&r, "m", m);
        for (int n = 0; n < 1000; n++) {
            r.now += MS(1);
            rig_ack(&r, 1);
        }
        r.now += HOUR;
        rig_lose_at(&r, 1000);
        check_near(r.cc->ssthresh, 2, 1e-9);
        rig_stop(&r);
    }
}

TEST(duplicates_inflate_by_at_most_the_outstanding_data) {
    static const enum cong_recovery_kind kinds[] = {CONG_RECOVERY_RENO,
                                                    CONG_RECOVERY_NEWRENO};
    for (size_t i = 0; i < 2; i++) {
        struct cong_recovery engine;
        struct rig r;
        rig_start_sized(&r, "reno", 1, 12, MS(100));
        r.cc->cwnd = 10;
        cong_recovery_init(&engine, kinds[i]);
        for (int n = 0; n < 1000; n++) {
            (void)cong_recovery_duplicate(&engine, r.cc, 1, 11, 10, 0);
        }
        assert_true(engine.inflation <= 10);
        check_near(cong_recovery_window(&engine, r.cc), 12, 0.0);
        rig_stop(&r);
    }
}

TEST(tfrc_does_not_rise_without_a_receive_rate) {
    static const double losses[] = {0, 1e-9, 0.01};
    for (size_t i = 0; i < 3; i++) {
        struct rig r;
        rig_start_sized(&r, "tfrc", 1000, (double)INFINITY, MS(100));
        r.ack.p = losses[i];
        double most = 0;
        for (int n = 0; n < 300; n++) {
            r.now += MS(100);
            rig_ack_rtt(&r, 1000, MS(100));
            most = fmax(most, r.cc->pacing_rate);
        }
        if (!(most <= 16 * 4 * 1000 / 0.1)) {
            fail_msg("p %g: %g bytes/s", losses[i], most);
        }
        rig_stop(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cubic_jumps_after_nothing),
        cmocka_unit_test(cubic_starts_an_epoch_after_slow_start),
        cmocka_unit_test(cubic_grows_at_once_when_its_bound_is_lifted),
        cmocka_unit_test(cubic_undoes_both_reductions_of_a_period),
        cmocka_unit_test(bbr_is_back_in_startup_after_a_false_alarm),
        cmocka_unit_test(reductions_never_raise_the_window),
        cmocka_unit_test(the_lowest_rtt_is_forgotten_after_a_change_of_route),
        cmocka_unit_test(the_lowest_rtt_may_be_raised_at_once),
        cmocka_unit_test(the_lowest_rtt_is_forgotten_without_a_clock_too),
        cmocka_unit_test(the_lowest_rtt_survives_a_clock_that_steps),
        cmocka_unit_test(peach_does_not_grow_by_dummies_of_the_loss_before),
        cmocka_unit_test(nothing_grows_by_rounds_that_deliver_nothing),
        cmocka_unit_test(what_is_not_a_number_grows_no_window),
        cmocka_unit_test(the_pacer_waits_no_longer_when_the_clock_steps_back),
        cmocka_unit_test(the_pacer_has_no_end_of_time),
        cmocka_unit_test(rack_has_no_end_of_time),
        cmocka_unit_test(the_tfrc_receiver_has_no_end_of_time),
        cmocka_unit_test(peach_has_no_end_of_time),
        cmocka_unit_test(estimates_go_on_when_the_clock_steps_back),
        cmocka_unit_test(cubic_goes_on_when_the_clock_steps_back),
        cmocka_unit_test(bbr_and_tfrc_go_on_when_the_clock_steps_back),
        cmocka_unit_test(westwood_forgets_in_a_silence_whatever_its_steps),
        cmocka_unit_test(duplicates_inflate_by_at_most_the_outstanding_data),
        cmocka_unit_test(tfrc_does_not_rise_without_a_receive_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
