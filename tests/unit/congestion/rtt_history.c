/* SPDX-License-Identifier: MPL-2.0 */
/* Recent RTTs: which are stored, how they rank, and the floor under them. */
#include <math.h>

#include "libcongestion/rtt_history.h"
#include "tests/support/cmocka.h"

#define PACKET 1200.0
#define SPACING (4 * PACKET)
#define FIRST 16   /* RTTs that are all stored */
#define CHANCES 32 /* RTTs of a low */

static struct cong__rtt_history h;

static void feed(double rtt, bool round) {
    struct cong_ack ack = {
        .rtt = (cong_time)rtt, .acked = PACKET, .round = round};
    cong__rtt_history_add(&h, &ack, SPACING);
}

/* A low, of RTTs that are otherwise 1 s. */
static void feed_low(double low) {
    for (int i = 1; i < CHANCES; i++) {
        feed(1e9, false);
    }
    feed(low, true);
}

static int begin(void **state) {
    (void)state;
    h = (struct cong__rtt_history){0};
    return 0;
}

TEST(the_first_rtts_are_stored_then_one_per_spacing) {
    for (int i = 0; i < FIRST; i++) {
        feed(1e7, false);
    }
    assert_int_equal(h.samples.count, FIRST);
    for (int i = 0; i < 3 * 4; i++) {
        feed(1e7, false);
    }
    assert_int_equal(h.samples.count, FIRST + 3);
}

TEST(a_feedback_without_an_rtt_stores_nothing) {
    feed(0, true);
    feed(-1, true);
    assert_int_equal(h.samples.count, 0);
    assert_true(cong__rtt_history_low(&h) <= 0);
}

TEST(a_low_needs_a_round_trip_and_enough_rtts) {
    for (int i = 1; i < CHANCES; i++) {
        feed(1e7, true);
    }
    assert_int_equal(h.lows.count, 0);
    feed(1e7, false);
    assert_int_equal(h.lows.count, 1);
    for (int i = 0; i < 2 * CHANCES; i++) {
        feed(1e7, false);
    }
    assert_int_equal(h.lows.count, 1);
    feed(1e7, true);
    assert_int_equal(h.lows.count, 2);
}

TEST(the_low_is_that_of_two_stretches) {
    feed_low(2e7);
    feed(3e7, false);
    assert_true(cong__rtt_history_low(&h) == 2e7);
    feed_low(4e7);
    assert_true(cong__rtt_history_low(&h) == 3e7);
    feed_low(5e7);
    assert_true(cong__rtt_history_low(&h) == 5e7);
}

/* One low in eight reaches the floor. */
TEST(a_rare_outlier_is_not_the_floor) {
    for (int i = 0; i < 16; i++) {
        feed_low(2e7);
    }
    feed_low(1e7);
    assert_true(h.floor == 2e7);
    feed_low(1e7);
    feed_low(1e7);
    feed_low(1e7);
    assert_true(h.floor == 1e7);
    for (int i = 0; i < CONG__RTTS; i++) {
        feed_low(2e7);
    }
    assert_true(h.floor == 1e7); /* it only falls */
}

TEST(an_rtt_ranks_among_those_stored) {
    assert_true(cong__rtts_rank(&h.samples, 1e7, 0) == 0.5);
    for (int i = 1; i <= 10; i++) {
        feed(i * 1e6, false);
    }
    assert_true(cong__rtts_rank(&h.samples, 0.5e6, 0) == 0);
    assert_true(cong__rtts_rank(&h.samples, 10.5e6, 0) == 1);
    assert_true(cong__rtts_rank(&h.samples, 5.5e6, 0) == 0.5);
    /* 8 + 2/2, and 3 + 3/2, of ten */
    assert_true(fabs(cong__rtts_rank(&h.samples, 9.5e6, 1e6) - 0.9) < 1e-12);
    assert_true(fabs(cong__rtts_rank(&h.samples, 5e6, 1e6) - 0.45) < 1e-12);
}

TEST(quantiles_are_those_of_the_newest) {
    assert_true(cong__rtts_quantile(&h.samples, 0.5) <= 0);
    for (int i = 0; i < 1000; i++) {
        feed(9e7, false);
    }
    for (int ms = CONG__RTTS; ms > 0; ms--) {
        for (int i = 0; i < 4; i++) { /* of which one is stored */
            feed(ms * 1e6, false);
        }
    }
    assert_true(cong__rtts_quantile(&h.samples, 0) == 1e6);
    assert_true(cong__rtts_quantile(&h.samples, 0.5) == 24e6);
    assert_true(cong__rtts_quantile(&h.samples, 1) == 48e6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_first_rtts_are_stored_then_one_per_spacing,
                               begin),
        cmocka_unit_test_setup(a_feedback_without_an_rtt_stores_nothing, begin),
        cmocka_unit_test_setup(a_low_needs_a_round_trip_and_enough_rtts, begin),
        cmocka_unit_test_setup(the_low_is_that_of_two_stretches, begin),
        cmocka_unit_test_setup(a_rare_outlier_is_not_the_floor, begin),
        cmocka_unit_test_setup(an_rtt_ranks_among_those_stored, begin),
        cmocka_unit_test_setup(quantiles_are_those_of_the_newest, begin),
    };
    return cmocka_run_group_tests_name("rtt_history", tests, NULL, NULL);
}
