/* SPDX-License-Identifier: MPL-2.0 */
#include "internal/media/stream/timemap.h"
#include "tests/support/cmocka.h"

#define MS INT64_C(1000000)
#define S (1000 * MS)

TEST(the_first_arrival_sets_the_offset) {
    media_timemap m;

    media__timemap_init(&m);
    assert_false(media__timemap_arrival(&m, 500 * MS, 90 * S));
    assert_int_equal(media__timemap_local(&m, 540 * MS), 90 * S + 40 * MS);
}

TEST(an_earlier_arrival_moves_the_offset_at_once) {
    media_timemap m;

    media__timemap_init(&m);
    media__timemap_arrival(&m, 0, 100 * MS);
    media__timemap_arrival(&m, 40 * MS, 120 * MS);
    assert_int_equal(media__timemap_local(&m, 0), 80 * MS);
}

TEST(queueing_delay_does_not_move_the_offset) {
    media_timemap m;

    media__timemap_init(&m);
    for (int64_t t = 0; t < 100 * S; t += 40 * MS) {
        int64_t queue = t % S ? 150 * MS : 0; /* one frame per second is free */
        media__timemap_arrival(&m, t, t + 20 * MS + queue);
    }
    assert_int_equal(media__timemap_local(&m, 0), 20 * MS);
}

/* 100 ppm is 6 ms per minute; the offset must stay within some ms of it. */
TEST(drift_is_followed_both_ways) {
    for (int64_t ppm = -100; ppm <= 100; ppm += 200) {
        media_timemap m;
        media__timemap_init(&m);
        int64_t t = 0;
        for (; t < 1200 * S; t += 40 * MS) {
            media__timemap_arrival(&m, t, t + t / 1000000 * ppm + 20 * MS);
        }
        int64_t error =
            media__timemap_local(&m, t) - (t + t / 1000000 * ppm + 20 * MS);
        assert_in_range(error + 20 * MS, 0, 21 * MS);
    }
}

TEST(a_jump_restarts_the_time_line) {
    media_timemap m;

    media__timemap_init(&m);
    media__timemap_arrival(&m, 1000 * S, 5 * S);
    assert_true(media__timemap_arrival(&m, 0, 6 * S));
    assert_int_equal(media__timemap_local(&m, 0), 6 * S);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_arrival_sets_the_offset),
        cmocka_unit_test(an_earlier_arrival_moves_the_offset_at_once),
        cmocka_unit_test(queueing_delay_does_not_move_the_offset),
        cmocka_unit_test(drift_is_followed_both_ways),
        cmocka_unit_test(a_jump_restarts_the_time_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
