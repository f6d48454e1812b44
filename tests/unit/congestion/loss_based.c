/* SPDX-License-Identifier: MPL-2.0 */
/* Tahoe and Reno against the vectors, and the rules common to window
 * controllers. */
#include "tests/support/cmocka.h"
#include "tests/unit/congestion/rig.h"
#include "tests/unit/congestion/vectors.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

TEST(tahoe_follows_its_vectors) {
    struct rig r;
    rig_start(&r, "tahoe", -1);
    rig_set(&r, "iw", 1);
    aimd_table(&r, "tahoe-1");
    rig_stop(&r);
}

TEST(reno_newreno_and_sack_follow_the_vectors_of_reno) {
    static const char *const names[] = {"reno", "newreno", "sack"};
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

TEST(ecn_keeps_more_when_so_configured) {
    struct rig r;
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

TEST(a_window_grows_only_when_it_was_the_limit) {
    struct rig r;
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

TEST(a_silence_of_an_rto_restarts_from_the_initial_window) {
    struct rig r;
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

TEST(the_initial_window_is_that_of_rfc_3390) {
    static const double mss[] = {536, 1095, 1460, 2190, 4380, 9000};
    static const double iw[] = {2144, 4380, 4380, 4380, 8760, 18000};
    for (size_t i = 0; i < 6; i++) {
        struct rig r;
        rig_start_sized(&r, "reno", mss[i], (double)INFINITY, -1);
        check_near(r.cc->cwnd, iw[i], 1e-9);
        rig_stop(&r);
    }
}

TEST(a_fixed_rate_does_not_answer_to_anything) {
    struct rig r;
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tahoe_follows_its_vectors),
        cmocka_unit_test(reno_newreno_and_sack_follow_the_vectors_of_reno),
        cmocka_unit_test(ecn_keeps_more_when_so_configured),
        cmocka_unit_test(a_window_grows_only_when_it_was_the_limit),
        cmocka_unit_test(a_silence_of_an_rto_restarts_from_the_initial_window),
        cmocka_unit_test(the_initial_window_is_that_of_rfc_3390),
        cmocka_unit_test(a_fixed_rate_does_not_answer_to_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
