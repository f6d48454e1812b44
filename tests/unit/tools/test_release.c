/* SPDX-License-Identifier: MPL-2.0 */
/* When tltcp-live-transmit writes what it has received. */
#include "tests/support/cmocka.h"

#include "tools/live-transmit/release.h"

#define MS UINT64_C(1000000)
#define MINUTE (60 * 1000 * MS)
#define START (UINT64_C(1000) * MS)

static const uint8_t bytes[1000];

/* A frame of this time on the sender's time line, which arrives then. */
static void push(struct release *r, int64_t dts_ms, uint64_t arrived_ms,
                 uint64_t latency) {
    tltcp_live_frame f;
    tltcp_live_frame_init(&f);
    f.data = bytes;
    f.len = sizeof(bytes);
    f.dts = dts_ms * (int64_t)MS;
    f.arrived = START + arrived_ms * MS;
    assert_true(release_push(r, &f, latency));
}

static void empty(struct release *r) {
    while (release_when(r) != TLTCP_TIME_NEVER) {
        release_pop(r);
    }
}

TEST(frames_leave_at_their_pace_after_the_latency) {
    struct release r = {0};
    push(&r, 0, 0, 200 * MS);
    push(&r, 40, 70, 200 * MS);
    assert_int_equal(release_when(&r), START + 200 * MS);
    release_pop(&r);
    assert_int_equal(release_when(&r), START + 240 * MS);
    empty(&r);
}

TEST(a_sender_has_frames_held_for_a_minute_at_most) {
    assert_int_equal(release_latency(200), 200 * MS);
    assert_int_equal(release_latency(60000), MINUTE);
    assert_int_equal(release_latency(UINT32_MAX), MINUTE);
}

TEST(the_times_of_a_stream_do_not_depend_on_the_one_before) {
    struct release r = {0};
    push(&r, 0, 0, MINUTE);
    release_restart(&r);
    push(&r, 0, 100, 200 * MS);
    release_pop(&r);
    assert_int_equal(release_when(&r), START + 300 * MS);
    empty(&r);
}

TEST(what_exceeds_the_memory_leaves_early) {
    struct release r = {.most = 4 * sizeof(bytes)};
    unsigned early = 0;
    for (int64_t i = 0; i < 8; i++) {
        push(&r, i, (uint64_t)i, MINUTE);
    }
    while (release_when(&r) <= START + 8 * MS) {
        release_pop(&r);
        early++;
    }
    assert_in_range(early, 4, 7);
    assert_true(release_when(&r) >= START + MINUTE);
    empty(&r);
}

/* Each costs more than its bytes. */
TEST(frames_without_bytes_take_memory_too) {
    struct release r = {.most = 1000};
    tltcp_live_frame f;
    tltcp_live_frame_init(&f);
    f.data = bytes;
    f.arrived = START;
    f.dts = 0;
    for (int i = 0; i < 1000; i++) {
        assert_true(release_push(&r, &f, MINUTE));
    }
    assert_true(release_when(&r) <= START);
    empty(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_leave_at_their_pace_after_the_latency),
        cmocka_unit_test(a_sender_has_frames_held_for_a_minute_at_most),
        cmocka_unit_test(the_times_of_a_stream_do_not_depend_on_the_one_before),
        cmocka_unit_test(what_exceeds_the_memory_leaves_early),
        cmocka_unit_test(frames_without_bytes_take_memory_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
