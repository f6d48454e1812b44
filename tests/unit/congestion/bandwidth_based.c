/* SPDX-License-Identifier: MPL-2.0 */
/* Westwood, WestwoodNew, Mod WestwoodNew and Tibet against the vectors. */
#include "libcongestion/bandwidth.h"
#include "tests/support/cmocka.h"
#include "tests/unit/congestion/rig.h"
#include "tests/unit/congestion/vectors.h"

/* The bandwidth estimate: a loss sets ssthresh to estimate x smallest RTT. */
static double estimate(const struct rig *r) {
    struct rig copy = rig_copy(r);
    copy.cc->cwnd = 2;
    rig_event(&copy, CONG_LOSS, 1, 1, 1);
    double pipe = copy.cc->ssthresh > 2 ? copy.cc->ssthresh : 0;
    double bw = pipe / ((double)copy.ack.min_rtt / 1e9);
    rig_stop(&copy);
    return bw;
}

/* Segments per round trip of congestion avoidance. */
static double gain(const struct rig *r) {
    struct rig copy = rig_copy(r);
    copy.cc->cwnd = 100;
    copy.cc->ssthresh = 2;
    rig_ack(&copy, 100);
    double grown = copy.cc->cwnd - 100;
    rig_stop(&copy);
    return grown;
}

static cong_time event_time(const char *event) {
    return MS(number_after(event, "@"));
}

TEST(westwood_follows_its_vectors_per_feedback) {
    struct vectors v;
    struct rig r;
    vectors_read(&v, "ww-1");
    rig_start(&r, "westwood", MS(10000));
    rig_set(&r, "plus", 0);
    double before = -1;
    for (size_t i = 0; i < v.rows; i++) {
        const char *event = vectors_event(&v, i);
        double n = number_after(event, "d=");
        r.now = event_time(event);
        rig_ack(&r, n);
        if (before >= 0) {
            vectors_check(&v, i, "b_k", n / ((double)r.now - before) * 1e9);
        }
        before = (double)r.now;
        vectors_check(&v, i, "BWE", estimate(&r));
    }
    rig_stop(&r);
}

TEST(westwood_follows_its_vectors_through_a_silence) {
    struct vectors v;
    struct rig r;
    vectors_read(&v, "ww-2");
    rig_start(&r, "westwood", MS(10000));
    rig_set(&r, "plus", 0);
    rig_set(&r, "tau", 0.5);
    rig_set(&r, "m", 2);
    for (size_t i = 0; i < v.rows; i++) {
        r.now = event_time(vectors_event(&v, i));
        rig_ack(&r, 1);
        vectors_check(&v, i, "BWE", estimate(&r));
    }
    rig_stop(&r);
}

TEST(westwood_takes_one_sample_per_round_by_default) {
    struct rig r;
    rig_start(&r, "westwood", MS(100));
    for (int i = 1; i <= 60; i++) {
        r.now = MS(100 * i);
        rig_round(&r, 10, 500);
        check_near(estimate(&r), 500, 1e-6);
    }
    r.now += MS(100);
    r.rs.app_limited = true;
    r.ack.limited = false;
    rig_round(&r, 10, 5); /* measures the application */
    check_near(estimate(&r), 500, 1e-6);
    r.ack.limited = true;
    r.now += MS(100);
    rig_round(&r, 10, 1000);
    assert_true(estimate(&r) > 500 && estimate(&r) < 1000);
    rig_stop(&r);
}

TEST(westwood_keeps_its_window_when_the_path_is_not_full) {
    struct rig r;
    rig_start(&r, "westwood", MS(100));
    r.now = MS(100);
    rig_round(&r, 10, 500);
    rig_lose_at(&r, 40);
    check_near(r.cc->cwnd, 40, 0.0);
    check_near(r.cc->ssthresh, 50, 1e-9);
    rig_lose_at(&r, 80);
    check_near(r.cc->cwnd, 50, 1e-9);
    rig_event(&r, CONG_RTO, 80, 1, 1);
    check_near(r.cc->cwnd, 1, 0.0);
    check_near(r.cc->ssthresh, 50, 1e-9);
    rig_stop(&r);
}

TEST(westwoodnew_follows_its_vectors) {
    struct vectors v;
    struct rig r;
    double bw = -1;
    vectors_read(&v, "wwn-1");
    rig_start(&r, "westwoodnew", MS(50));
    r.cc->cwnd = 7;
    r.cc->ssthresh = 8;
    for (size_t i = 0; i < v.rows; i++) {
        const char *event = vectors_event(&v, i);
        if (contains(event, "bw=")) {
            double before = bw;
            bw = number_after(event, "bw=");
            rig_round(&r, 0, bw);
            rig_ack(&r, number_after(event, "ack x"));
            vectors_check(&v, i, "ratio", bw / before);
        } else {
            rig_ack(&r, 1);
        }
        vectors_check(&v, i, "gain", gain(&r));
        vectors_check(&v, i, "cwnd", r.cc->cwnd);
    }
    rig_stop(&r);
}

TEST(mod_westwoodnew_follows_its_vectors) {
    struct vectors v;
    struct rig r;
    double bw = -1;
    vectors_read(&v, "mwwn-1");
    rig_start_sized(&r, "mod-westwoodnew", 1, 55, MS(50));
    rig_set(&r, "iw", 2);
    r.cc->ssthresh = 40;
    for (size_t i = 0; i < v.rows; i++) {
        const char *event = vectors_event(&v, i);
        double before = bw;
        rig_ack(&r, number_after(event, "ack x"));
        check_near(r.cc->cwnd, number_after(event, "cwnd "), 1e-4);
        bw = number_after(event, "bw=");
        rig_round(&r, 0, bw);
        vectors_check(&v, i, "ratio", bw / before);
        vectors_check(&v, i, "cwnd_bwe", bw * 0.05);
        vectors_check(&v, i, "cwnd", r.cc->cwnd);
    }
    rig_stop(&r);
}

TEST(mod_westwoodnew_explodes_when_taken_literally) {
    struct vectors v;
    struct rig r;
    vectors_read(&v, "mwwn-2");
    rig_start(&r, "mod-westwoodnew", MS(10000));
    rig_set(&r, "iw", 1);
    rig_set(&r, "literal", 1);
    double gap = 1e9; /* one segment per gap; the term is 10 segments */
    for (size_t i = 0; i < v.rows; i++) {
        int acks = 1;
        if (contains(vectors_event(&v, i), "congestion avoidance")) {
            acks = (int)number_after(vectors_event(&v, i), "");
            r.cc->ssthresh = r.cc->cwnd;
        }
        for (int k = 0; k < acks; k++) {
            /* Each gap is shorter by the ratio that the row names. */
            gap /= acks > 1 ? 1.2 : 1;
            r.now += (cong_time)gap;
            r.ack.min_rtt = (cong_time)(10 * gap);
            rig_ack(&r, 1);
        }
        vectors_check(&v, i, "cwnd", r.cc->cwnd);
    }
    rig_stop(&r);
}

TEST(the_bandwidth_ratio_sets_the_gain) {
    static const char *const names[] = {"westwoodnew", "mod-westwoodnew"};
    struct vectors v;
    vectors_read(&v, "mwwn-3");
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < v.rows; i++) {
            struct rig r;
            rig_start(&r, names[k], MS(1));
            rig_round(&r, 0, 1000);
            rig_round(&r, 0,
                      1000 * number_after(vectors_event(&v, i), "ratio "));
            vectors_check(&v, i, "gain", gain(&r));
            rig_stop(&r);
        }
    }
}

TEST(a_round_measures_through_compressed_acks) {
    struct vectors v;
    struct rig raw;
    struct rig round;
    vectors_read(&v, "mwwn-5");
    rig_start(&raw, "mod-westwoodnew", MS(100000));
    rig_set(&raw, "literal", 1);
    rig_start(&round, "mod-westwoodnew", MS(100000));
    for (size_t i = 0; i < v.rows; i++) {
        raw.now = round.now = event_time(vectors_event(&v, i));
        rig_ack(&raw, 1);
        rig_ack(&round, 1);
        struct rig ended = rig_copy(&round);
        rig_round(&ended, 0, -1);
        vectors_check(&v, i, "BWE_raw", estimate(&raw));
        vectors_check(&v, i, "cwnd_bwe_raw", estimate(&raw) * 0.05);
        vectors_check(&v, i, "BWE_round", estimate(&ended));
        vectors_check(&v, i, "cwnd_bwe_round", estimate(&ended) * 0.05);
        rig_stop(&ended);
    }
    rig_stop(&raw);
    rig_stop(&round);
}

TEST(mod_westwoodnew_keeps_half_the_window_at_least) {
    struct rig r;
    rig_start(&r, "mod-westwoodnew", MS(50));
    rig_lose_at(&r, 40);
    check_near(r.cc->cwnd, 20, 0.0);
    r.now = MS(50);
    r.cc->ssthresh = 2;
    r.ack.limited = false;
    rig_round(&r, 0, 300);
    r.ack.limited = true;
    rig_event(&r, CONG_RTO, 20, 1, 1);
    check_near(r.cc->cwnd, 1, 0.0);
    check_near(r.cc->ssthresh, 15, 1e-9);
    rig_stop(&r);
}

TEST(tibet_follows_its_vectors) {
    struct vectors v;
    struct rig r;
    double length = 1;
    double interval = 0;
    double before = 0;
    vectors_read(&v, "tibet-1");
    rig_start(&r, "tibet", MS(100000));
    rig_set(&r, "alpha", 0.9);
    rig_set(&r, "T0", 0.5);
    for (size_t i = 0; i < v.rows; i++) {
        r.now = event_time(vectors_event(&v, i));
        double dt = (double)r.now / 1e6 - before;
        before += dt;
        interval = i == 0 ? dt : 0.9 * interval + 0.1 * dt;
        rig_ack(&r, 1);
        vectors_check(&v, i, "L", length);
        vectors_check(&v, i, "I_ms", interval);
        vectors_check(&v, i, "L/I", 1000 * length / interval);
        vectors_check(&v, i, "BWE", estimate(&r));
    }
    rig_stop(&r);
}

TEST(tibet_does_not_average_the_interval_after_a_silence) {
    struct rig r;
    rig_start(&r, "tibet", MS(100000));
    for (int i = 1; i <= 100; i++) {
        r.now = MS(10 * i);
        rig_ack(&r, 1);
    }
    double before = estimate(&r);
    r.now = MS(60000);
    rig_event(&r, CONG_IDLE, 0, 0, 5);
    rig_ack(&r, 1);
    check_near(estimate(&r), before, 1e-9);
    r.ack.limited = false;
    r.now = MS(70000);
    rig_ack(&r, 1);
    check_near(estimate(&r), before, 1e-9);
    rig_stop(&r);
}

TEST(feedbacks_of_one_moment_are_one_sample) {
    struct bw_filter f;
    cong__bw_filter_init(&f, 0);
    cong__bw_filter_ack(&f, 1000, MS(1000), false);
    cong__bw_filter_ack(&f, 50, MS(1000), false);
    cong__bw_filter_ack(&f, 50, MS(1100), false);
    check_near(f.bw, 1000, 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(westwood_follows_its_vectors_per_feedback),
        cmocka_unit_test(westwood_follows_its_vectors_through_a_silence),
        cmocka_unit_test(westwood_takes_one_sample_per_round_by_default),
        cmocka_unit_test(westwood_keeps_its_window_when_the_path_is_not_full),
        cmocka_unit_test(westwoodnew_follows_its_vectors),
        cmocka_unit_test(mod_westwoodnew_follows_its_vectors),
        cmocka_unit_test(mod_westwoodnew_explodes_when_taken_literally),
        cmocka_unit_test(the_bandwidth_ratio_sets_the_gain),
        cmocka_unit_test(a_round_measures_through_compressed_acks),
        cmocka_unit_test(mod_westwoodnew_keeps_half_the_window_at_least),
        cmocka_unit_test(tibet_follows_its_vectors),
        cmocka_unit_test(tibet_does_not_average_the_interval_after_a_silence),
        cmocka_unit_test(feedbacks_of_one_moment_are_one_sample),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
