/* SPDX-License-Identifier: MPL-2.0 */
/* Tahoe, Reno and CUBIC against the vectors, and the rules common to window
 * controllers. */
#include "libcongestion/cubic.h"
#include "tests/unit/congestion/rig.h"
#include "tests/unit/congestion/vectors.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* "ack x4", "RTO, flight=9", "set cwnd=20; loss, flight=20", ... */
static void aimd_row(struct rig *r, const char *event) {
    double n = 1;
    if (contains(event, "set cwnd=")) {
        r->cc->cwnd = number_after(event, "cwnd=");
    }
    if (strncmp(event, "ack", 3) == 0) {
        sscanf(event, "ack x%lf", &n);
        rig_ack(r, n);
    } else if (contains(event, "RTO again")) {
        rig_event(r, CONG_RTO, 1, 0, 2);
    } else if (contains(event, "RTO")) {
        rig_event(r, CONG_RTO, number_after(event, "flight="), 0, 1);
    } else if (contains(event, "flight=")) {
        rig_event(r, CONG_LOSS, number_after(event, "flight="), 1, 1);
    }
}

static void aimd_table(struct rig *r, const char *table) {
    struct vectors v;
    vectors_read(&v, table);
    for (size_t i = 0; i < v.rows; i++) {
        aimd_row(r, vectors_event(&v, i));
        vectors_check(&v, i, "cwnd", r->cc->cwnd);
        vectors_check(&v, i, "ssthresh", r->cc->ssthresh);
    }
}

static void tahoe_follows_its_vectors(void **state) {
    struct rig r;
    (void)state;
    rig_start(&r, "tahoe", -1);
    rig_set(&r, "iw", 1);
    aimd_table(&r, "tahoe-1");
    rig_stop(&r);
}

static void reno_newreno_and_sack_follow_the_vectors_of_reno(void **state) {
    static const char *const names[] = {"reno", "newreno", "sack"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct rig r;
        rig_start(&r, names[i], -1);
        rig_set(&r, "iw", 2);
        r.cc->ssthresh = 4;
        aimd_table(&r, "reno-1");
        aimd_table(&r, "reno-2");
        rig_stop(&r);
    }
}

/* The window that CUBIC is heading for, from the step towards it. */
static double cubic_target(struct rig *r, double w, cong_time srtt) {
    double start = 0.95 * w;
    double n = 1e-4;
    r->cc->cwnd = start;
    r->cc->ssthresh = start;
    r->ack.srtt = srtt;
    rig_ack(r, n);
    return start + (r->cc->cwnd - start) * start / n;
}

static void cubic_follows_its_vectors(void **state) {
    struct vectors v;
    struct rig r;
    (void)state;
    vectors_read(&v, "cubic-1");
    rig_start(&r, "cubic", -1);
    rig_set(&r, "C", 0.4);
    rig_set(&r, "beta", 0.7);
    rig_lose_at(&r, 100);
    check_near(r.cc->cwnd, number_after(vectors_event(&v, 0), "cwnd="), 1e-9);
    check_near(r.cc->ssthresh, number_after(vectors_event(&v, 0), "ssthresh="),
               1e-9);
    r.now = MS(100000);
    rig_ack(&r, 1e-9);
    for (size_t i = 1; i < v.rows; i++) {
        double t = number_after(vectors_event(&v, i), "t=");
        /* A little later than t, so that W_est is below W_cubic. */
        r.now = MS(1000 * (100 + t)) + 1000;
        double w = number_after(vectors_text(&v, i, "W_cubic"), "");
        vectors_check(&v, i, "W_cubic", cubic_target(&r, w, 1));
        vectors_check(&v, i, "target(rtt=.1)", cubic_target(&r, w, MS(100)));
    }
    rig_stop(&r);
}

static void cubic_is_not_slower_than_reno_on_short_paths(void **state) {
    struct rig r;
    (void)state;
    rig_start(&r, "cubic", MS(10));
    rig_lose_at(&r, 10);
    for (unsigned i = 0; i < 40; i++) {
        r.now += MS(10);
        rig_ack(&r, r.cc->cwnd);
        if (i == 3) { /* below the old window not faster than Reno either */
            assert_true(r.cc->cwnd > 7 + 4 * 0.5 && r.cc->cwnd < 7 + 4 * 0.54);
        }
    }
    /* 40 rounds of 3 (1 - 0.7) / (1 + 0.7) segments, then of one. */
    assert_true(r.cc->cwnd > 7 + 40 * 0.52);
    rig_stop(&r);
}

/* RFC 9438, 4.4: however long ago the last loss was. */
static void cubic_grows_by_half_a_window_a_round_trip_at_most(void **state) {
    struct rig r;
    (void)state;
    rig_start(&r, "cubic", MS(100));
    rig_lose_at(&r, 10);
    rig_ack(&r, 1e-9);
    r.now = MS(100000);
    double cwnd = r.cc->cwnd;
    rig_ack(&r, 1);
    check_near(r.cc->cwnd - cwnd, 0.5, 1e-9);
    rig_stop(&r);
}

static void cubic_does_not_count_the_pauses_of_the_application(void **state) {
    struct rig busy;
    struct rig idle;
    (void)state;
    rig_start(&busy, "cubic", MS(100));
    rig_start(&idle, "cubic", MS(100));
    for (unsigned i = 0; i < 2; i++) {
        struct rig *r = i == 0 ? &busy : &idle;
        rig_lose_at(r, 100);
        rig_ack(r, 70);
    }
    idle.now = MS(10000);
    idle.ack.limited = false;
    rig_ack(&idle, 1);
    idle.ack.limited = true;
    busy.now += MS(100);
    idle.now += MS(100);
    rig_ack(&busy, 50);
    rig_ack(&idle, 50);
    check_near(busy.cc->cwnd, idle.cc->cwnd, 1e-9);
    rig_stop(&busy);
    rig_stop(&idle);
}

static void cubic_forgets_a_reduction_that_was_a_false_alarm(void **state) {
    struct rig r;
    (void)state;
    rig_start(&r, "cubic", MS(100));
    rig_lose_at(&r, 100);
    rig_ack(&r, 1);
    r.now = MS(1000);
    double cwnd = r.cc->cwnd;
    double ssthresh = r.cc->ssthresh;
    struct rig other = rig_copy(&r);
    rig_lose_at(&r, cwnd);
    r.cc->cwnd = cwnd;
    r.cc->ssthresh = ssthresh;
    rig_event(&r, CONG_UNDO, cwnd, 0, 0);
    r.now = other.now = MS(1100);
    rig_ack(&r, cwnd);
    rig_ack(&other, cwnd);
    check_near(r.cc->cwnd, other.cc->cwnd, 1e-12);
    rig_stop(&r);
    rig_stop(&other);
}

/* RTTs of 100 to 200 ms, half of them below 125, the newest as given; then a
 * loss at a window of 100. */
static double auto_after_loss(double rtt, double lost_share) {
    struct rig r;
    rig_start(&r, "auto", MS(100));
    for (int i = 0; i < 2000; i++) {
        r.ack.lost = lost_share;
        rig_ack_rtt(&r, 1, MS(100 + pow(i % 101, 2) / 100));
    }
    rig_ack_rtt(&r, 1, MS(rtt));
    rig_lose_at(&r, 100);
    double cwnd = r.cc->cwnd;
    rig_stop(&r);
    return cwnd;
}

static void auto_gives_way_to_congestion_and_not_to_chance(void **state) {
    (void)state;
    check_near(auto_after_loss(110, 0.01), 100, 1e-9);
    check_near(auto_after_loss(135, 0.01), 95, 1e-9);
    check_near(auto_after_loss(190, 0.01), 70, 1e-9);
    check_near(auto_after_loss(110, 0.2), 70, 1e-9);
}

/* The window, 100 at first, after losses at the RTTs given in turn, each behind
 * 40 round trips of 100 ms to 100 ms and a swing, of 40 packets each. */
static double auto_after_losses(const double *rtts, int n, double swing) {
    struct rig r;
    rig_start(&r, "auto", MS(100));
    r.ack.limited = false; /* it does not grow */
    for (int i = 0; i < n; i++) {
        for (int k = 0; k <= 40 * 40; k++) {
            r.ack.round = k % 40 == 39;
            rig_ack_rtt(&r, 1, MS(100 + swing * k / (40 * 40)));
        }
        r.ack.round = false;
        rig_ack_rtt(&r, 1, MS(rtts[i]));
        rig_lose_at(&r, i == 0 ? 100 : r.cc->cwnd);
    }
    double cwnd = r.cc->cwnd;
    rig_stop(&r);
    return cwnd;
}

static void
auto_does_not_mind_losses_that_the_queue_did_not_make(void **state) {
    static const double any[] = {101, 103, 100, 102, 101, 104, 100, 103};
    static const double full[] = {140, 139, 140, 140, 139, 140, 140, 140};
    static const double half[] = {110, 112, 110, 111, 110, 112, 111, 110};
    (void)state;
    check_near(auto_after_losses(any, 8, 4), 100, 1e-9);
    /* a queue that comes and goes: at its top, and below */
    assert_true(auto_after_losses(full, 8, 40) < 100 * pow(0.71, 8));
    assert_true(auto_after_losses(half, 8, 40) < 100 * pow(0.96, 8));
}

/* A path with jitter has its lowest RTT once. */
static void auto_does_not_take_one_quick_packet_for_the_path(void **state) {
    static const double any[] = {86, 103, 100, 102, 101, 104, 100, 103};
    (void)state;
    check_near(auto_after_losses(any, 8, 4), 100, 1e-9);
}

static void auto_ends_slow_start_when_a_queue_grows(void **state) {
    struct rig r;
    (void)state;
    rig_start(&r, "auto", MS(100));
    for (int i = 0; i < 200; i++) {
        r.ack.round = i % 40 == 39;
        r.ack.flight = r.cc->cwnd;
        rig_ack_rtt(&r, 1, MS(100 + i % 12));
    }
    double grown = r.cc->cwnd;
    assert_true(grown > 200);
    assert_true(isinf(r.cc->ssthresh));
    for (int i = 0; i < 80; i++) {
        r.ack.round = i % 40 == 39;
        rig_ack_rtt(&r, 1, MS(300));
    }
    assert_true(r.cc->ssthresh < grown);
    assert_true(r.cc->cwnd < grown);
    assert_true(r.cc->cwnd > grown / 2);
    rig_stop(&r);
}

/* Between two frames little is in flight: no reason to take more away.  Nor
 * does a live stream give up as much as a greedy flow. */
static double auto_kept_of_80(bool live) {
    struct rig r;
    rig_start(&r, "auto", MS(100));
    r.cc->cwnd = 100;
    r.now = MS(10);
    r.ack.limited = !live;
    r.ack.recovery = true; /* it does not grow */
    r.ack.flight = 80;
    rig_ack_rtt(&r, 1, MS(100));
    r.ack.limited = true;
    r.ack.flight = 4;
    rig_ack_rtt(&r, 1, MS(200));
    rig_event(&r, CONG_LOSS, 4, 1, 1);
    double cwnd = r.cc->cwnd;
    rig_stop(&r);
    return cwnd;
}

static void auto_measures_what_it_gives_up_by_the_use(void **state) {
    (void)state;
    check_near(auto_kept_of_80(false), 0.7 * 80, 1e-9);
    check_near(auto_kept_of_80(true), 0.8 * 80, 1e-9);
}

/* The growth of a second in congestion avoidance, from `after` on, where the
 * path showed one RTT at first, and then another. */
static double auto_growth(double first, double then, double after) {
    struct rig r;
    double before;
    rig_start(&r, "auto", -1);
    assert_int_equal(cong_set(r.cc, "claim", 6), 0);
    rig_ack_rtt(&r, 1, MS(first));
    rig_ack_rtt(&r, 1, MS(then));
    r.cc->ssthresh = 50;
    r.cc->cwnd = 100;
    r.ack.flight = 100;
    before = r.cc->cwnd;
    for (int i = 1; i <= 100; i++) {
        r.now = MS(after + 10 * i);
        rig_ack_rtt(&r, 1, MS(then));
    }
    double grown = r.cc->cwnd - before;
    rig_stop(&r);
    return grown;
}

/* As a lower RTT tells later, the queue was there before it. */
static void auto_claims_its_share_when_it_joins_others(void **state) {
    double alone = auto_growth(100, 100, 0);
    (void)state;
    assert_true(alone > 0);
    assert_true(auto_growth(140, 100, 0) > 4 * alone);
    check_near(auto_growth(100, 140, 0), alone, 0.1 * alone);
    check_near(auto_growth(140, 100, 5000), auto_growth(100, 100, 5000), 1e-9);
}

/* On a queue that is full from the beginning the RTT hardly rises: what is left
 * of a window of 40 that is lost in at such an RTT, after one of 130 ms. */
static double auto_kept_of_first(double rtt) {
    struct rig r;
    rig_start(&r, "auto", -1);
    for (int i = 0; i < 20; i++) {
        rig_ack_rtt(&r, 1, MS(130));
    }
    rig_ack_rtt(&r, 1, MS(rtt));
    rig_lose_at(&r, 40);
    double kept = r.cc->cwnd / 40;
    rig_stop(&r);
    return kept;
}

static void auto_doubts_the_first_losses_at_the_highest_rtt(void **state) {
    (void)state;
    check_near(auto_kept_of_first(133), 1, 1e-9);
    assert_true(auto_kept_of_first(138) < 0.9);
}

static void auto_begins_with_more_on_a_long_path(void **state) {
    struct rig r;
    (void)state;
    rig_start(&r, "auto", -1);
    check_near(r.cc->cwnd, 10, 0.0);
    r.ack.limited = false;
    rig_ack_rtt(&r, 1, MS(600));
    check_near(r.cc->cwnd, 60, 1e-9);
    rig_ack_rtt(&r, 1, MS(900)); /* once */
    check_near(r.cc->cwnd, 60, 1e-9);
    rig_stop(&r);
}

static void auto_finds_its_memory_after_a_false_alarm(void **state) {
    struct rig r;
    (void)state;
    rig_start(&r, "auto", MS(100));
    rig_ack_rtt(&r, 1, MS(200));
    rig_ack_rtt(&r, 1, MS(190));
    rig_lose_at(&r, 100); /* congestion */
    for (int i = 1; i <= 50; i++) {
        r.now = MS(100 * i);
        rig_ack_rtt(&r, 10, MS(100));
    }
    struct rig other = rig_copy(&r);
    rig_event(&r, CONG_LOSS, 100, 1, 1); /* chance, and a false alarm */
    r.cc->cwnd = other.cc->cwnd;
    r.cc->ssthresh = other.cc->ssthresh;
    rig_event(&r, CONG_UNDO, 100, 0, 0);
    r.now = other.now = MS(6000);
    rig_ack_rtt(&r, 10, MS(100));
    rig_ack_rtt(&other, 10, MS(100));
    check_near(r.cc->cwnd, other.cc->cwnd, 1e-12);
    rig_stop(&r);
    rig_stop(&other);
}

static void ecn_keeps_more_when_told_so(void **state) {
    struct rig r;
    (void)state;
    rig_start(&r, "reno", -1);
    r.cc->cwnd = 20;
    rig_event(&r, CONG_ECN, 20, 0, 1);
    check_near(r.cc->cwnd, 10, 0.0);
    rig_set(&r, "beta_ecn", 0.8);
    rig_event(&r, CONG_ECN, 10, 0, 1);
    check_near(r.cc->cwnd, 8, 0.0);
    check_near(r.cc->ssthresh, 8, 0.0);
    rig_stop(&r);
}

static void a_window_grows_only_when_it_was_the_limit(void **state) {
    struct rig r;
    (void)state;
    rig_start(&r, "reno", -1);
    double before = r.cc->cwnd;
    r.ack.limited = false;
    rig_ack(&r, 5);
    check_near(r.cc->cwnd, before, 0.0);
    r.ack.limited = true;
    r.ack.recovery = true;
    rig_ack(&r, 5);
    check_near(r.cc->cwnd, before, 0.0);
    r.ack.recovery = false;
    rig_ack(&r, 5);
    check_near(r.cc->cwnd, before + 5, 0.0);
    rig_stop(&r);
}

static void a_silence_of_an_rto_restarts_from_the_initial_window(void **state) {
    struct rig r;
    (void)state;
    rig_start(&r, "reno", -1);
    r.cc->cwnd = 50;
    r.cc->ssthresh = 30;
    rig_event(&r, CONG_IDLE, 0, 0, 0);
    check_near(r.cc->cwnd, 50, 0.0);
    rig_event(&r, CONG_IDLE, 0, 0, 1);
    check_near(r.cc->cwnd, 4, 0.0);
    check_near(r.cc->ssthresh, 30, 0.0);
    rig_stop(&r);
}

static void the_initial_window_is_that_of_rfc_3390(void **state) {
    static const double mss[] = {536, 1095, 1460, 2190, 4380, 9000};
    static const double iw[] = {2144, 4380, 4380, 4380, 8760, 18000};
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        struct rig r;
        rig_start_sized(&r, "reno", mss[i], (double)INFINITY, -1);
        check_near(r.cc->cwnd, iw[i], 1e-9);
        rig_stop(&r);
    }
}

static void a_fixed_rate_does_not_answer_to_anything(void **state) {
    struct rig r;
    (void)state;
    rig_start_sized(&r, "fixed", 1000, (double)INFINITY, -1);
    rig_set(&r, "rate", 5e6);
    rig_event(&r, CONG_LOSS, 10000, 1000, 1);
    rig_event(&r, CONG_RTO, 10000, 1000, 3);
    rig_ack(&r, 1000);
    check_near(r.cc->pacing_rate, 5e6, 0.0);
    assert_true(isinf(r.cc->cwnd));
    rig_set(&r, "cwnd", 30000);
    check_near(r.cc->cwnd, 30000, 0.0);
    assert_int_equal(cong_set(r.cc, "rate", 0), -2);
    assert_int_equal(cong_set(r.cc, "rate", (double)NAN), -2);
    assert_int_equal(cong_set(r.cc, "speed", 1), -1);
    rig_stop(&r);
}

/* RFC 9438, 4.7: who loses below the last maximum lets others have it. */
static void cubic_gives_way_faster_when_others_come(void **state) {
    struct rig r;
    (void)state;
    rig_start(&r, "cubic", MS(100));
    rig_lose_at(&r, 100);
    check_near(RIG_STATE(&r, struct cubic)->m.w_max, 100, 1e-9);
    rig_lose_at(&r, 80);
    check_near(RIG_STATE(&r, struct cubic)->m.w_max, 68, 1e-9);
    rig_stop(&r);
}

/* RFC 9438, 4.8. */
static void cubic_aims_at_no_old_window_after_a_timeout(void **state) {
    struct rig r;
    (void)state;
    rig_start(&r, "cubic", MS(100));
    r.cc->cwnd = 100;
    rig_event(&r, CONG_RTO, 100, 100, 1);
    r.cc->cwnd = r.cc->ssthresh;
    rig_ack(&r, 1e-9);
    check_near(RIG_STATE(&r, struct cubic)->m.w_max, r.cc->ssthresh, 1e-6);
    check_near(RIG_STATE(&r, struct cubic)->m.k, 0, 0.0);
    rig_stop(&r);
}

static void cubic_does_not_count_a_silence_either(void **state) {
    struct rig r;
    (void)state;
    rig_start(&r, "cubic", MS(100));
    rig_lose_at(&r, 100);
    rig_ack(&r, 1);
    cong_time epoch = RIG_STATE(&r, struct cubic)->m.epoch;
    r.now += MS(10000);
    rig_event(&r, CONG_IDLE, 0, 0, 0);
    assert_int_equal(RIG_STATE(&r, struct cubic)->m.epoch - epoch, MS(10000));
    rig_stop(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tahoe_follows_its_vectors),
        cmocka_unit_test(reno_newreno_and_sack_follow_the_vectors_of_reno),
        cmocka_unit_test(cubic_follows_its_vectors),
        cmocka_unit_test(cubic_is_not_slower_than_reno_on_short_paths),
        cmocka_unit_test(cubic_grows_by_half_a_window_a_round_trip_at_most),
        cmocka_unit_test(cubic_does_not_count_the_pauses_of_the_application),
        cmocka_unit_test(cubic_forgets_a_reduction_that_was_a_false_alarm),
        cmocka_unit_test(auto_gives_way_to_congestion_and_not_to_chance),
        cmocka_unit_test(auto_does_not_mind_losses_that_the_queue_did_not_make),
        cmocka_unit_test(auto_does_not_take_one_quick_packet_for_the_path),
        cmocka_unit_test(auto_ends_slow_start_when_a_queue_grows),
        cmocka_unit_test(auto_measures_what_it_gives_up_by_the_use),
        cmocka_unit_test(auto_claims_its_share_when_it_joins_others),
        cmocka_unit_test(auto_doubts_the_first_losses_at_the_highest_rtt),
        cmocka_unit_test(auto_begins_with_more_on_a_long_path),
        cmocka_unit_test(auto_finds_its_memory_after_a_false_alarm),
        cmocka_unit_test(ecn_keeps_more_when_told_so),
        cmocka_unit_test(a_window_grows_only_when_it_was_the_limit),
        cmocka_unit_test(a_silence_of_an_rto_restarts_from_the_initial_window),
        cmocka_unit_test(the_initial_window_is_that_of_rfc_3390),
        cmocka_unit_test(a_fixed_rate_does_not_answer_to_anything),
        cmocka_unit_test(cubic_gives_way_faster_when_others_come),
        cmocka_unit_test(cubic_aims_at_no_old_window_after_a_timeout),
        cmocka_unit_test(cubic_does_not_count_a_silence_either),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
