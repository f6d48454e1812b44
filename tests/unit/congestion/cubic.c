/* SPDX-License-Identifier: MPL-2.0 */
/* CUBIC against its vectors and RFC 9438. */
#include "libcongestion/cubic.h"
#include "tests/support/cmocka.h"
#include "tests/unit/congestion/rig.h"
#include "tests/unit/congestion/vectors.h"

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

TEST(cubic_follows_its_vectors) {
    struct vectors v;
    struct rig r;
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

TEST(cubic_is_not_slower_than_reno_on_short_paths) {
    struct rig r;
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
TEST(cubic_grows_by_half_a_window_a_round_trip_at_most) {
    struct rig r;
    rig_start(&r, "cubic", MS(100));
    rig_lose_at(&r, 10);
    rig_ack(&r, 1e-9);
    r.now = MS(100000);
    double cwnd = r.cc->cwnd;
    rig_ack(&r, 1);
    check_near(r.cc->cwnd - cwnd, 0.5, 1e-9);
    rig_stop(&r);
}

TEST(cubic_does_not_count_the_pauses_of_the_application) {
    struct rig busy;
    struct rig idle;
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

TEST(cubic_forgets_a_reduction_that_was_a_false_alarm) {
    struct rig r;
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

/* RFC 9438, 4.7: who loses below the last maximum lets others have it. */
TEST(cubic_gives_way_faster_when_others_come) {
    struct rig r;
    rig_start(&r, "cubic", MS(100));
    rig_lose_at(&r, 100);
    check_near(RIG_STATE(&r, struct cubic)->m.w_max, 100, 1e-9);
    rig_lose_at(&r, 80);
    check_near(RIG_STATE(&r, struct cubic)->m.w_max, 68, 1e-9);
    rig_stop(&r);
}

/* RFC 9438, 4.8. */
TEST(cubic_aims_at_no_old_window_after_a_timeout) {
    struct rig r;
    rig_start(&r, "cubic", MS(100));
    r.cc->cwnd = 100;
    rig_event(&r, CONG_RTO, 100, 100, 1);
    r.cc->cwnd = r.cc->ssthresh;
    rig_ack(&r, 1e-9);
    check_near(RIG_STATE(&r, struct cubic)->m.w_max, r.cc->ssthresh, 1e-6);
    check_near(RIG_STATE(&r, struct cubic)->m.k, 0, 0.0);
    rig_stop(&r);
}

TEST(cubic_does_not_count_a_silence_either) {
    struct rig r;
    rig_start(&r, "cubic", MS(100));
    rig_lose_at(&r, 100);
    rig_ack(&r, 1);
    cong_time epoch = RIG_STATE(&r, struct cubic)->m.epoch;
    r.now += MS(10000);
    rig_event(&r, CONG_IDLE, 0, 0, 0);
    assert_int_equal(RIG_STATE(&r, struct cubic)->m.epoch - epoch, MS(10000));
    rig_stop(&r);
}

/* A timeout after feedback that followed another begins a period of its
 * own. */
TEST(cubic_undoes_no_timeout_before_the_last) {
    struct rig r;
    rig_start(&r, "cubic", MS(100));
    rig_lose_at(&r, 100);
    rig_event(&r, CONG_RECOVERED, 0, 0, 0);
    for (int i = 0; i < 20; i++) {
        r.now += MS(100);
        rig_ack(&r, r.cc->cwnd);
    }
    rig_event(&r, CONG_RTO, r.cc->cwnd, 0, 1);
    r.cc->ssthresh = 2;
    for (int i = 0; i < 3; i++) {
        r.now += MS(100);
        rig_ack(&r, r.cc->cwnd);
    }
    struct rig other = rig_copy(&r);
    rig_event(&r, CONG_RTO, r.cc->cwnd, 0, 1);
    r.cc->cwnd = other.cc->cwnd;
    r.cc->ssthresh = other.cc->ssthresh;
    rig_event(&r, CONG_UNDO, 0, 0, 0);
    rig_grow_alike(&r, &other);
    rig_stop(&r);
    rig_stop(&other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cubic_follows_its_vectors),
        cmocka_unit_test(cubic_is_not_slower_than_reno_on_short_paths),
        cmocka_unit_test(cubic_grows_by_half_a_window_a_round_trip_at_most),
        cmocka_unit_test(cubic_does_not_count_the_pauses_of_the_application),
        cmocka_unit_test(cubic_forgets_a_reduction_that_was_a_false_alarm),
        cmocka_unit_test(cubic_undoes_no_timeout_before_the_last),
        cmocka_unit_test(cubic_gives_way_faster_when_others_come),
        cmocka_unit_test(cubic_aims_at_no_old_window_after_a_timeout),
        cmocka_unit_test(cubic_does_not_count_a_silence_either),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
