/* SPDX-License-Identifier: MPL-2.0 */
/* The pace at which tltcp-live-transmit reads files and pipes. */
#include "tests/support/cmocka.h"

#include "tools/live-transmit/pace.h"

#define MS INT64_C(1000000)
#define START UINT64_C(123456789)
#define FIRST (INT64_C(95443717) * 1000) /* of the media */

static uint64_t at(int64_t ms) {
    return START + (uint64_t)(ms * MS);
}

/* When data of this media time is due, asked at this time. */
static uint64_t due(struct pace *p, int64_t media_ms, int64_t now_ms) {
    return pace_due(p, FIRST + media_ms * MS, at(now_ms));
}

TEST(the_first_data_is_due_at_once) {
    struct pace p = {0};
    assert_int_equal(due(&p, 0, 5), at(5));
    assert_int_equal(due(&p, 40, 5), at(45));
    assert_int_equal(due(&p, 80, 30), at(85));
}

/* As the tool does: asks, sleeps until the time, wakes up too late and asks
 * again before it reads on. */
TEST(late_wake_ups_do_not_add_up) {
    struct pace p = {0};
    uint64_t now = START;
    for (int64_t frame = 0; frame < 3000; frame++) {
        int64_t media = FIRST + frame * 40 * MS;
        uint64_t when = pace_due(&p, media, now);
        assert_int_equal(when, at(frame * 40));
        if (when > now) {
            now = when + (uint64_t)(frame % 23 * MS);
        }
        assert_int_equal(pace_due(&p, media, now), when);
    }
}

TEST(a_wake_up_after_several_frames_is_made_up_for) {
    struct pace p = {0};
    (void)due(&p, 0, 0);
    assert_int_equal(due(&p, 40, 500), at(40));
    assert_int_equal(due(&p, 480, 500), at(480));
    assert_int_equal(due(&p, 520, 500), at(520));
}

TEST(a_pause_is_not_made_up_for) {
    struct pace p = {0};
    (void)due(&p, 0, 0);
    assert_int_equal(due(&p, 40, 5000), at(5000));
    assert_int_equal(due(&p, 80, 5000), at(5040));
}

TEST(a_jump_of_the_media_goes_on_at_once) {
    struct pace p = {0};
    (void)due(&p, 0, 0);
    assert_int_equal(due(&p, 3600000, 30), at(30));
    assert_int_equal(due(&p, 3600040, 30), at(70));
    assert_int_equal(due(&p, 0, 80), at(80));
    assert_int_equal(due(&p, 40, 80), at(120));
}

TEST(it_can_start_anew) {
    struct pace p = {0};
    (void)due(&p, 0, 0);
    pace_restart(&p);
    assert_int_equal(due(&p, 40, 300), at(300));
    assert_int_equal(due(&p, 80, 300), at(340));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_data_is_due_at_once),
        cmocka_unit_test(late_wake_ups_do_not_add_up),
        cmocka_unit_test(a_wake_up_after_several_frames_is_made_up_for),
        cmocka_unit_test(a_pause_is_not_made_up_for),
        cmocka_unit_test(a_jump_of_the_media_goes_on_at_once),
        cmocka_unit_test(it_can_start_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
