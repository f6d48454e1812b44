/* SPDX-License-Identifier: MPL-2.0 */
#include "internal/media/stream/playout.h"
#include "tests/support/cmocka.h"

#define MS INT64_C(1000000)
#define S (1000 * MS)

/* Frames every 40 ms from *t to the end, each so late.  How often the map began
 * anew. */
static int arrive(media_playout *p, int64_t *t, int64_t end, int64_t late) {
    int anew = 0;

    for (; *t < end; *t += 40 * MS) {
        anew += media__playout_arrival(p, *t, *t + late);
    }
    return anew;
}

TEST(the_first_arrival_sets_the_map) {
    media_playout p;

    media__playout_init(&p, S);
    assert_false(media__playout_arrival(&p, 500 * MS, 90 * S));
    assert_int_equal(media__playout_local(&p, 540 * MS), 90 * S + 40 * MS);
}

TEST(an_earlier_arrival_moves_it_at_first) {
    media_playout p;

    media__playout_init(&p, S);
    media__playout_arrival(&p, 0, 300 * MS);
    media__playout_arrival(&p, 40 * MS, 120 * MS + 200 * MS);
    assert_int_equal(media__playout_local(&p, 0), 280 * MS);
}

TEST(later_it_stays_where_it_is) {
    media_playout p;
    int64_t t = 0;

    media__playout_init(&p, S);
    assert_int_equal(arrive(&p, &t, 3 * S, 300 * MS), 0);
    media__playout_arrival(&p, t, t + 20 * MS);
    assert_int_equal(media__playout_local(&p, 0), 300 * MS);
}

/* A sender ten times as fast as real time: frames keep their distances. */
TEST(a_sender_ahead_of_time_does_not_squeeze_the_frames) {
    media_playout p;

    media__playout_init(&p, S);
    for (int64_t t = 0; t < 600 * S; t += 40 * MS) {
        assert_false(media__playout_arrival(&p, t, t / 10));
    }
    assert_in_range(media__playout_local(&p, 0) + S, 0, S);
}

TEST(queueing_delay_does_not_move_it) {
    media_playout p;

    media__playout_init(&p, S);
    for (int64_t t = 0; t < 100 * S; t += 40 * MS) {
        int64_t queue = t % S ? 150 * MS : 0; /* one frame per second is free */
        assert_false(media__playout_arrival(&p, t, t + 20 * MS + queue));
    }
    assert_int_equal(media__playout_local(&p, 0), 20 * MS);
}

/* 100 ppm is 6 ms per minute. */
TEST(drift_is_followed_both_ways) {
    for (int64_t ppm = -100; ppm <= 100; ppm += 200) {
        media_playout p;
        int64_t t = 0;
        media__playout_init(&p, S);
        for (; t < 1200 * S; t += 40 * MS) {
            media__playout_arrival(&p, t, t + t / 1000000 * ppm + 20 * MS);
        }
        int64_t error =
            media__playout_local(&p, t) - (t + t / 1000000 * ppm + 20 * MS);
        assert_in_range(error + 20 * MS, 0, 40 * MS);
    }
}

TEST(it_restarts_when_every_frame_is_too_late) {
    media_playout p;
    int64_t t = 0;

    media__playout_init(&p, 300 * MS);
    assert_int_equal(arrive(&p, &t, 10 * S, 20 * MS), 0);
    /* the sender paused for a second */
    assert_int_equal(arrive(&p, &t, 20 * S, 1020 * MS), 1);
    assert_int_equal(media__playout_local(&p, 0), 1020 * MS);
}

TEST(a_jump_restarts_the_time_line) {
    media_playout p;

    media__playout_init(&p, S);
    media__playout_arrival(&p, 1000 * S, 5 * S);
    assert_true(media__playout_arrival(&p, 0, 6 * S));
    assert_int_equal(media__playout_local(&p, 0), 6 * S);
    assert_true(media__playout_arrival(&p, 40 * MS, 30 * S)); /* a pause */
    assert_int_equal(media__playout_local(&p, 40 * MS), 30 * S);
}

/* A route that takes 80 ms longer, well within the tolerance. */
TEST(a_longer_way_is_followed_step_by_step) {
    media_playout p;
    int64_t t = 0;
    int64_t at = 20 * MS;

    media__playout_init(&p, S);
    assert_int_equal(arrive(&p, &t, 100 * S, 20 * MS), 0);
    for (; t < 400 * S; t += 40 * MS) {
        assert_false(media__playout_arrival(&p, t, t + 100 * MS));
        int64_t now = media__playout_local(&p, 0);
        assert_in_range(now - at, 0, 20 * MS);
        at = now;
    }
    assert_in_range(at, 98 * MS, 100 * MS);
}

TEST(nothing_is_followed_before_it_is_known_well) {
    media_playout p;
    int64_t t = 0;

    media__playout_init(&p, S);
    assert_int_equal(arrive(&p, &t, 3 * S, 300 * MS), 0);
    assert_int_equal(arrive(&p, &t, 20 * S, 250 * MS), 0);
    assert_int_equal(media__playout_local(&p, 0), 300 * MS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_arrival_sets_the_map),
        cmocka_unit_test(an_earlier_arrival_moves_it_at_first),
        cmocka_unit_test(later_it_stays_where_it_is),
        cmocka_unit_test(a_sender_ahead_of_time_does_not_squeeze_the_frames),
        cmocka_unit_test(queueing_delay_does_not_move_it),
        cmocka_unit_test(drift_is_followed_both_ways),
        cmocka_unit_test(it_restarts_when_every_frame_is_too_late),
        cmocka_unit_test(a_jump_restarts_the_time_line),
        cmocka_unit_test(a_longer_way_is_followed_step_by_step),
        cmocka_unit_test(nothing_is_followed_before_it_is_known_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
