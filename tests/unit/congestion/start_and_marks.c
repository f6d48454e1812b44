/* SPDX-License-Identifier: MPL-2.0 */
/* HyStart++ (RFC 9406), and the scalable answer to marks (RFC 9331). */
#include "tests/support/cmocka.h"
#include "tests/unit/congestion/rig.h"
#include "tests/unit/congestion/vectors.h"

#include <math.h>
#include <string.h>

/* A round trip of a full window with one RTT: single ACKs. */
static void start_round(struct rig *r, double rtt_ms) {
    unsigned n = (unsigned)floor(r->cc->cwnd);
    for (unsigned i = 0; i < n; i++) {
        r->now += MS(rtt_ms / n);
        r->ack.round = i + 1 >= n;
        rig_ack_rtt(r, 1, MS(rtt_ms));
    }
    r->ack.round = false;
}

static void start_hystart(struct rig *r, const char *name) {
    rig_start(r, name, -1);
    rig_set(r, "iw", 10);
    rig_set(r, "hystart", 1);
    start_round(r, 100);
    start_round(r, 100);
    check_near(r->cc->cwnd, 40, 1e-9);
}

static const char *const classic[] = {"cubic",    "newreno", "prague",
                                      "reno",     "sack",    "tahoe",
                                      "westwood", "tibet",   "westwoodnew"};

TEST(a_rising_rtt_slows_slow_start_and_then_ends_it) {
    for (size_t i = 0; i < 9; i++) {
        struct rig r;
        start_hystart(&r, classic[i]);
        start_round(&r, 113); /* an eighth more: after eight of forty */
        check_near(r.cc->cwnd, 40 + 7 + 33 / 4.0, 1e-9);
        assert_true(isinf(r.cc->ssthresh));
        for (int n = 0; n < 3; n++) {
            start_round(&r, 113);
            assert_true(isinf(r.cc->ssthresh));
        }
        start_round(&r, 113); /* the fifth */
        check_near(r.cc->ssthresh, r.cc->cwnd, 0.02);
        rig_stop(&r);
    }
}

TEST(slow_start_goes_on_when_the_rtt_falls_again) {
    struct rig r;
    start_hystart(&r, "reno");
    start_round(&r, 113);
    double before = floor(r.cc->cwnd);
    start_round(&r, 112);
    assert_true(r.cc->cwnd > before + 0.8 * before);
    rig_stop(&r);
}

/* Section 4.2: between 4 and 16 ms. */
TEST(small_changes_of_the_rtt_end_nothing) {
    struct rig r;
    start_hystart(&r, "reno");
    start_round(&r, 112);
    check_near(r.cc->cwnd, 80, 1e-9);
    rig_stop(&r);
    rig_start(&r, "reno", -1);
    rig_set(&r, "iw", 10);
    rig_set(&r, "hystart", 1);
    start_round(&r, 600);
    start_round(&r, 617); /* 16 ms, not an eighth */
    assert_true(r.cc->cwnd < 40);
    rig_stop(&r);
}

/* Section 4.3. */
TEST(a_later_slow_start_is_the_standard_one) {
    struct rig r;
    start_hystart(&r, "reno");
    rig_event(&r, CONG_RTO, 40, 40, 1);
    start_round(&r, 100);
    start_round(&r, 200);
    start_round(&r, 300);
    check_near(r.cc->cwnd, 8, 1e-9);
    rig_stop(&r);
}

TEST(the_papers_controllers_start_as_printed) {
    static const char *const papers[] = {
        "tahoe", "reno", "newreno", "sack", "tibet", "westwood", "westwoodnew"};
    static const char *const without[] = {"vegas", "fast", "peach", "bbr",
                                          "tfrc"};
    for (size_t i = 0; i < 7; i++) {
        struct rig r;
        rig_start(&r, papers[i], -1);
        rig_set(&r, "iw", 10);
        start_round(&r, 100);
        start_round(&r, 150);
        start_round(&r, 200);
        check_near(r.cc->cwnd, 80, 1e-9);
        assert_int_equal(cong_set(r.cc, "hystart", 2), -2);
        rig_stop(&r);
    }
    for (size_t i = 0; i < 5; i++) {
        struct rig r;
        rig_start(&r, without[i], -1);
        assert_int_equal(cong_set(r.cc, "hystart", 1), -1);
        rig_stop(&r);
    }
}

/* ---- prague ---- */

TEST(only_prague_asks_for_ect1) {
    for (const char *const *name = cong_list(); *name != NULL; name++) {
        struct rig r;
        rig_start(&r, *name, MS(50));
        assert_int_equal(r.cc->ect1, strcmp(*name, "prague") == 0);
        rig_stop(&r);
    }
}

/* A round trip of which a share is marked; reported at its end. */
static void marked_round(struct rig *r, double share, double rtt_ms) {
    double n = r->cc->cwnd;
    r->now += MS(rtt_ms);
    r->ack.round = true;
    r->ack.ce = share * n;
    rig_ack_rtt(r, n, MS(rtt_ms));
    r->ack.round = false;
    if (r->ack.ce > 0) {
        rig_event(r, CONG_ECN, n, 0, 1);
        r->ack.recovery = true; /* until the next one has passed */
    } else {
        r->ack.recovery = false;
    }
    r->ack.ce = 0;
}

TEST(the_first_mark_halves_and_ends_slow_start) {
    struct rig r;
    rig_start(&r, "prague", -1);
    r.cc->cwnd = 100;
    marked_round(&r, 0.01, 50);
    double after = r.cc->cwnd;
    assert_true(after > 95 && after < 110); /* 199 by slow start, halved */
    check_near(r.cc->ssthresh, after, 1e-9);
    rig_stop(&r);
}

/* Marks of a share s of the packets in every round trip: one reduction by half
 * of that share. */
TEST(the_reduction_follows_the_share_of_marks) {
    static const double shares[] = {0.05, 0.2, 0.5, 1};
    for (size_t i = 0; i < 4; i++) {
        struct rig r;
        rig_start(&r, "prague", -1);
        r.cc->cwnd = 1000;
        r.cc->ssthresh = 1000;
        for (int n = 0; n < 400; n++) {
            marked_round(&r, shares[i], 50);
            r.cc->cwnd = 1000;
        }
        marked_round(&r, shares[i], 50);
        double grown = 1000 + (1 - shares[i]);
        check_near(r.cc->cwnd, grown * (1 - shares[i] / 2), 0.01);
        rig_stop(&r);
    }
}

/* Else a flow that is marked in each round trip would never grow. */
TEST(the_window_grows_in_a_period_of_marks_and_not_of_loss) {
    struct rig r;
    rig_start(&r, "prague", -1);
    r.cc->cwnd = 100;
    r.cc->ssthresh = 100;
    marked_round(&r, 0.1, 50);
    double before = r.cc->cwnd;
    rig_ack_rtt(&r, before, MS(50));
    check_near(r.cc->cwnd, before + 1, 1e-9);
    rig_event(&r, CONG_LOSS, r.cc->cwnd, 1, 1);
    before = r.cc->cwnd;
    rig_ack_rtt(&r, before, MS(50));
    check_near(r.cc->cwnd, before, 0.0);
    rig_event(&r, CONG_RECOVERED, 0, 0, 0);
    r.ack.recovery = false;
    rig_ack_rtt(&r, before, MS(50));
    check_near(r.cc->cwnd, before + 1, 1e-9);
    rig_stop(&r);
}

/* Of 5 ms, a fifth of 25: a 25th per round trip. */
TEST(short_paths_grow_no_faster_than_longer_ones) {
    struct rig r;
    rig_start(&r, "prague", -1);
    r.cc->cwnd = 100;
    r.cc->ssthresh = 100;
    rig_ack_rtt(&r, 100, MS(5));
    check_near(r.cc->cwnd, 100 + 1.0 / 25, 1e-9);
    rig_stop(&r);
}

TEST(uncounted_marks_count_as_a_loss) {
    struct rig r;
    rig_start(&r, "prague", -1);
    r.cc->cwnd = 100;
    r.cc->ssthresh = 100;
    rig_event(&r, CONG_ECN, 100, 0, 1);
    check_near(r.cc->cwnd, 70, 1e-9);
    rig_event(&r, CONG_LOSS, 70, 1, 1);
    check_near(r.cc->cwnd, 49, 1e-9);
    rig_stop(&r);
}

TEST(alpha_falls_when_marks_become_rare) {
    struct rig r;
    rig_start(&r, "prague", -1);
    r.cc->cwnd = 1000;
    r.cc->ssthresh = 1000;
    marked_round(&r, 0.5, 50);
    for (int n = 0; n < 100; n++) {
        marked_round(&r, 0, 50);
    }
    r.cc->cwnd = 1000;
    marked_round(&r, 0.001, 50);
    assert_true(r.cc->cwnd > 990);
    rig_stop(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rising_rtt_slows_slow_start_and_then_ends_it),
        cmocka_unit_test(slow_start_goes_on_when_the_rtt_falls_again),
        cmocka_unit_test(small_changes_of_the_rtt_end_nothing),
        cmocka_unit_test(a_later_slow_start_is_the_standard_one),
        cmocka_unit_test(the_papers_controllers_start_as_printed),
        cmocka_unit_test(only_prague_asks_for_ect1),
        cmocka_unit_test(the_first_mark_halves_and_ends_slow_start),
        cmocka_unit_test(the_reduction_follows_the_share_of_marks),
        cmocka_unit_test(the_window_grows_in_a_period_of_marks_and_not_of_loss),
        cmocka_unit_test(short_paths_grow_no_faster_than_longer_ones),
        cmocka_unit_test(uncounted_marks_count_as_a_loss),
        cmocka_unit_test(alpha_falls_when_marks_become_rare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
