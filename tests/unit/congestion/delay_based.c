/* SPDX-License-Identifier: MPL-2.0 */
/* Vegas, FAST, Peach and Yam against the vectors. */
#include "tests/support/cmocka.h"
#include "tests/unit/congestion/rig.h"
#include "tests/unit/congestion/vectors.h"

#include <math.h>
#include <stdio.h>

/* "grow round rtt=110 acks=8", "round rtt=105" */
static void vegas_row(struct rig *r, const char *event, double *diff) {
    double rtt = number_after(event, "rtt=");
    double acks = contains(event, "acks=") ? number_after(event, "acks=") : 1;
    double base = 100;
    bool grows = contains(event, "grow");
    r->ack.round = true;
    *diff = (r->cc->cwnd + (grows ? acks : 0)) * (rtt - base) / rtt;
    rig_ack_rtt(r, acks, MS(rtt));
    r->ack.round = false;
}

TEST(vegas_follows_its_vectors_in_slow_start) {
    struct vectors v;
    struct rig r;
    vectors_read(&v, "vegas-1");
    rig_start(&r, "vegas", -1);
    rig_set(&r, "iw", 2);
    for (size_t i = 0; i < v.rows; i++) {
        double diff;
        vegas_row(&r, vectors_event(&v, i), &diff);
        vectors_check(&v, i, "diff", diff);
        vectors_check(&v, i, "cwnd", r.cc->cwnd);
        vectors_check(&v, i, "ssthresh", r.cc->ssthresh);
    }
    rig_stop(&r);
}

TEST(vegas_follows_its_vectors_in_congestion_avoidance) {
    struct vectors v;
    struct rig r;
    vectors_read(&v, "vegas-2");
    rig_start(&r, "vegas", -1);
    rig_ack_rtt(&r, 0, MS(100));
    r.ack.round = true;
    r.ack.limited = false;
    rig_ack(&r, 0);
    r.ack.limited = true;
    r.cc->cwnd = 10;
    r.cc->ssthresh = 10;
    for (size_t i = 0; i < v.rows; i++) {
        double diff;
        vegas_row(&r, vectors_event(&v, i), &diff);
        vectors_check(&v, i, "diff", diff);
        vectors_check(&v, i, "cwnd", r.cc->cwnd);
    }
    rig_stop(&r);
}

TEST(vegas_cuts_deeper_when_a_repair_is_lost) {
    struct rig r;
    rig_start(&r, "vegas", -1);
    rig_lose_at(&r, 16);
    check_near(r.cc->cwnd, 12, 0.0);
    check_near(r.cc->ssthresh, 12, 0.0);
    rig_event(&r, CONG_LOSS, 16, 1, 2);
    check_near(r.cc->cwnd, 6, 0.0);
    rig_event(&r, CONG_RTO, 16, 1, 1);
    check_near(r.cc->cwnd, 2, 0.0);
    check_near(r.cc->ssthresh, 8, 0.0);
    rig_stop(&r);
}

TEST(vegas_does_not_judge_rounds_of_a_slow_application) {
    struct rig r;
    rig_start(&r, "vegas", -1);
    r.cc->cwnd = r.cc->ssthresh = 10;
    rig_ack_rtt(&r, 1, MS(100));
    r.ack.round = true;
    r.ack.limited = false;
    rig_ack(&r, 1);
    check_near(r.cc->cwnd, 10, 0.0);
    r.ack.limited = true;
    rig_ack(&r, 1); /* without an RTT sample in the round */
    check_near(r.cc->cwnd, 10, 0.0);
    rig_ack_rtt(&r, 1, MS(100));
    check_near(r.cc->cwnd, 11, 0.0);
    rig_stop(&r);
}

TEST(fast_follows_its_vectors) {
    struct vectors v;
    struct rig r;
    vectors_read(&v, "fast-1");
    rig_start(&r, "fast", -1);
    rig_set(&r, "alpha", 20);
    rig_set(&r, "g", 0.5);
    r.cc->cwnd = 25;
    for (size_t i = 0; i < v.rows; i++) {
        double rtt = fmax(100, r.cc->cwnd);
        vectors_check(&v, i, "rtt_ms", rtt);
        /* Enough samples for the average to be that RTT. */
        for (int k = 0; k < 4000; k++) {
            rig_ack_rtt(&r, 1, MS(rtt));
        }
        rig_round(&r, 1, -1);
        vectors_check(&v, i, "cwnd_after", r.cc->cwnd);
    }
    rig_stop(&r);
}

TEST(fast_forgets_the_average_but_not_the_base) {
    struct rig r;
    rig_start(&r, "fast", -1);
    r.cc->cwnd = 100;
    rig_ack_rtt(&r, 1, MS(100));
    rig_ack_rtt(&r, 1, MS(500));
    rig_event(&r, CONG_IDLE, 0, 0, 0);
    rig_round(&r, 1, -1); /* no average: no update */
    check_near(r.cc->cwnd, 100, 0.0);
    rig_ack_rtt(&r, 1, MS(200));
    rig_round(&r, 1, -1);
    check_near(r.cc->cwnd, 50 + 0.5 * (50 + 20), 1e-9);
    rig_stop(&r);
}

/* How many dummies would come back before the window grows: the paper's wdsn.
 * Asked of a copy. */
static double dummies_ignored(const struct rig *r) {
    struct rig copy = rig_copy(r);
    double n = 0;
    copy.ack.probes_acked = 1;
    while (n < 1000) {
        double before = copy.cc->cwnd;
        rig_ack(&copy, 0);
        if (copy.cc->cwnd > before) {
            break;
        }
        n++;
    }
    rig_stop(&copy);
    return n;
}

static void peach_row(struct rig *r, const char *event) {
    int n;
    if (contains(event, "loss")) {
        rig_lose_at(r, number_after(event, "cwnd="));
    } else if (sscanf(event, "%d dummies sent", &n) == 1) {
        r->cc->probes -= (unsigned)n;
    } else if (contains(event, "ack data")) {
        rig_ack(r, 1);
    } else if (sscanf(event, "%*[a-z] %d dumm", &n) == 1) {
        r->ack.probes_acked = (unsigned)n;
        rig_ack(r, 0);
        r->ack.probes_acked = 0;
    }
}

TEST(peach_follows_its_vectors) {
    static const char *const tables[] = {"peach-1", "peach-2"};
    for (size_t t = 0; t < 2; t++) {
        struct vectors v;
        struct rig r;
        vectors_read(&v, tables[t]);
        rig_start(&r, "peach", MS(560));
        rig_set(&r, "rwnd", 8);
        for (size_t i = 0; i < v.rows; i++) {
            peach_row(&r, vectors_event(&v, i));
            vectors_check(&v, i, "cwnd", r.cc->cwnd);
            vectors_check(&v, i, "adsn", r.cc->probes);
            vectors_check(&v, i, "wdsn", dummies_ignored(&r));
            if (t == 0) {
                vectors_check(&v, i, "gap_ms", (double)r.cc->probe_gap / 1e6);
            }
        }
        rig_stop(&r);
    }
}

TEST(peach_starts_when_it_learns_the_rtt) {
    struct rig r;
    rig_start_sized(&r, "peach", 1, 16, -1);
    check_near(r.cc->cwnd, 1, 0.0);
    assert_int_equal(r.cc->probes, 0);
    rig_ack_rtt(&r, 1, MS(160));
    assert_int_equal(r.cc->probes, 15);
    assert_int_equal(r.cc->probe_gap, MS(10));
    rig_event(&r, CONG_ECN, 2, 0, 1);
    assert_int_equal(r.cc->probes, 0);
    rig_event(&r, CONG_RTO, 2, 0, 1);
    assert_int_equal(r.cc->probes, 15);
    check_near(r.cc->cwnd, 1, 0.0);
    rig_event(&r, CONG_IDLE, 0, 0, 3);
    assert_int_equal(r.cc->probes, 0);
    rig_stop(&r);
}

TEST(yam_follows_its_vectors_in_congestion_avoidance) {
    struct vectors v;
    struct rig r;
    vectors_read(&v, "yam-1");
    rig_start(&r, "yam", -1);
    r.cc->cwnd = 20;
    r.cc->ssthresh = 10;
    double ring[3];
    for (size_t i = 0; i < v.rows; i++) {
        ring[i % 3] = r.cc->cwnd;
        double n = i < 2 ? (double)i + 1 : 3;
        double sum = 0;
        for (size_t k = 0; k < 3 && k <= i; k++) {
            sum += ring[k];
        }
        vectors_check(&v, i, "awnd", sum / n);
        rig_ack_rtt(&r, 1, MS(number_after(vectors_event(&v, i), "rtt=")));
        vectors_check(&v, i, "cwnd", r.cc->cwnd);
    }
    rig_stop(&r);
}

/* "loss, 6 missing (cwnd=20)", "all repaired", "RTO, cwnd=20", ... */
static void yam_loss_row(struct rig *r, const char *event) {
    if (contains(event, "cwnd=")) {
        r->cc->cwnd = number_after(event, "cwnd=");
    }
    if (contains(event, "all repaired")) {
        assert_true(r->cc->repair_only);
        rig_event(r, CONG_RECOVERED, r->cc->cwnd, 0, 0);
        assert_false(r->cc->repair_only);
    } else if (contains(event, "RTO")) {
        rig_event(r, CONG_RTO, r->cc->cwnd, 0, 1);
    } else if (contains(event, "a repair is lost")) {
        rig_event(r, CONG_LOSS, r->cc->cwnd, number_after(event, "again, "), 2);
    } else if (contains(event, "3rd time")) {
        rig_event(r, CONG_LOSS, r->cc->cwnd, 1, 3);
    } else {
        double missing =
            contains(event, "missing") ? number_after(event, "loss, ") : 1;
        rig_event(r, CONG_LOSS, r->cc->cwnd, missing, 1);
    }
}

TEST(yam_follows_its_vectors_at_losses) {
    struct vectors v;
    struct rig r;
    vectors_read(&v, "yam-2");
    rig_start(&r, "yam", -1);
    r.cc->cwnd = 20;
    for (size_t i = 0; i < v.rows; i++) {
        yam_loss_row(&r, vectors_event(&v, i));
        vectors_check(&v, i, "cwnd", r.cc->cwnd);
        vectors_check(&v, i, "ssthresh", r.cc->ssthresh);
    }
    rig_stop(&r);
}

/* The columns are runs: "ssthresh=8 eq_hold". */
TEST(yam_follows_its_vectors_on_a_constant_rtt) {
    struct vectors v;
    vectors_read(&v, "yam-3");
    for (size_t c = 1; c < v.columns; c++) {
        struct rig r;
        rig_start(&r, "yam", -1);
        r.cc->cwnd = 20;
        r.cc->ssthresh = number_after(v.head[c], "ssthresh=");
        rig_set(&r, "eq_hold", contains(v.head[c], "eq_hold"));
        int ack = 0;
        for (size_t i = 0; i < v.rows; i++) {
            const char *event = vectors_event(&v, i);
            while (ack < (int)number_after(event, "ack ")) {
                rig_ack_rtt(&r, 1, MS(number_after(event, "rtt=")));
                ack++;
            }
            vectors_check(&v, i, v.head[c], r.cc->cwnd);
        }
        rig_stop(&r);
    }
}

TEST(yam_ends_the_period_when_it_restarts) {
    struct rig r;
    rig_start(&r, "yam", -1);
    r.cc->cwnd = 20;
    rig_event(&r, CONG_LOSS, 20, 3, 1);
    rig_event(&r, CONG_LOSS, 20, 3, 3);
    assert_false(r.cc->repair_only);
    rig_event(&r, CONG_RECOVERED, 1, 0, 0);
    check_near(r.cc->cwnd, 1, 0.0);
    r.cc->cwnd = 20;
    rig_set(&r, "rto_as_dupack", 1);
    rig_event(&r, CONG_RTO, 20, 20, 1);
    check_near(r.cc->cwnd, 20, 0.0);
    check_near(r.cc->ssthresh, 15, 0.0);
    assert_true(r.cc->repair_only);
    rig_stop(&r);
}

TEST(yam_can_compare_the_rtts_of_rounds) {
    struct rig r;
    rig_start(&r, "yam", -1);
    rig_set(&r, "per_round", 1);
    r.cc->cwnd = 20;
    r.cc->ssthresh = 10;
    r.ack.round = true;
    rig_ack_rtt(&r, 1, MS(100));
    check_near(r.cc->cwnd, 20, 0.0);
    rig_ack_rtt(&r, 1, MS(90));
    check_near(r.cc->cwnd, 20.05, 1e-12);
    r.ack.round = false;
    double before = r.cc->cwnd;
    rig_ack_rtt(&r, 1, MS(200)); /* slower, but the round is not over */
    assert_true(r.cc->cwnd > before);
    rig_stop(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vegas_follows_its_vectors_in_slow_start),
        cmocka_unit_test(vegas_follows_its_vectors_in_congestion_avoidance),
        cmocka_unit_test(vegas_cuts_deeper_when_a_repair_is_lost),
        cmocka_unit_test(vegas_does_not_judge_rounds_of_a_slow_application),
        cmocka_unit_test(fast_follows_its_vectors),
        cmocka_unit_test(fast_forgets_the_average_but_not_the_base),
        cmocka_unit_test(peach_follows_its_vectors),
        cmocka_unit_test(peach_starts_when_it_learns_the_rtt),
        cmocka_unit_test(yam_follows_its_vectors_in_congestion_avoidance),
        cmocka_unit_test(yam_follows_its_vectors_at_losses),
        cmocka_unit_test(yam_follows_its_vectors_on_a_constant_rtt),
        cmocka_unit_test(yam_ends_the_period_when_it_restarts),
        cmocka_unit_test(yam_can_compare_the_rtts_of_rounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
