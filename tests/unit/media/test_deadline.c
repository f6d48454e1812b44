/* SPDX-License-Identifier: MPL-2.0 */
#include "internal/media/stream/deadline.h"

#include <stdlib.h>

#include "tests/support/cmocka.h"

#define MS INT64_C(1000000)
#define FRAME (40 * MS)
#define LATENCY (200 * MS)
#define NONE MEDIA_TIME_NONE

static media_frame frame_of(char kind) {
    media_frame f = {.tsn = -1, .key = kind == 'I'};

    switch (kind) {
    case 'I':
        f.frame_class = MEDIA_CLASS_KEY;
        f.picture = MEDIA_PICTURE_I;
        break;
    case 'P':
        f.frame_class = MEDIA_CLASS_REFERENCE;
        f.picture = MEDIA_PICTURE_P;
        break;
    case 'B':
        f.frame_class = MEDIA_CLASS_DISPOSABLE;
        f.picture = MEDIA_PICTURE_B;
        break;
    case 'A':
        f.frame_class = MEDIA_CLASS_AUDIO;
        break;
    default:
        f.frame_class = MEDIA_CLASS_HEADER;
    }
    return f;
}

static media_due next(media_deadline *d, char kind, int64_t pts, int64_t dts,
                      int64_t chain_end) {
    media_frame f = frame_of(kind);
    media_times t = {pts, dts, FRAME, dts == NONE ? 0 : dts};

    return media__deadline_next(d, &f, &t, chain_end);
}

TEST(a_deadline_is_the_display_time_plus_latency) {
    media_deadline d;

    media__deadline_init(&d, MEDIA_DEADLINE_PTS, LATENCY, 0, FRAME);
    for (const char *kind = "IPBA"; *kind; kind++) {
        media_due due = next(&d, *kind, 7 * FRAME, 5 * FRAME, NONE);
        assert_int_equal(due.display, 7 * FRAME);
        assert_int_equal(due.due, 7 * FRAME + LATENCY);
        assert_int_equal(due.deadline, due.due);
    }
}

TEST(frames_that_others_need_have_grace) {
    media_deadline d;

    media__deadline_init(&d, MEDIA_DEADLINE_PTS, LATENCY, 500 * MS, FRAME);
    media_due due = next(&d, 'P', 7 * FRAME, 5 * FRAME, NONE);
    assert_int_equal(due.due, 7 * FRAME + LATENCY);
    assert_int_equal(due.deadline, due.due + 500 * MS);
    due = next(&d, 'B', 6 * FRAME, 6 * FRAME, NONE);
    assert_int_equal(due.deadline, 6 * FRAME + LATENCY);
    due = next(&d, 'A', 6 * FRAME, NONE, NONE);
    assert_int_equal(due.deadline, 6 * FRAME + LATENCY);
}

TEST(headers_never_expire) {
    media_deadline d;

    for (int mode = MEDIA_DEADLINE_PTS; mode <= MEDIA_DEADLINE_NONE; mode++) {
        media__deadline_init(&d, mode, LATENCY, 0, FRAME);
        assert_int_equal(next(&d, 'H', 0, 0, NONE).deadline, MEDIA_NEVER);
    }
}

TEST(constant_counts_from_arrival) {
    media_deadline d;

    media__deadline_init(&d, MEDIA_DEADLINE_CONSTANT, LATENCY, 500 * MS, FRAME);
    media_due due = next(&d, 'P', 9 * FRAME, 5 * FRAME, NONE);
    assert_int_equal(due.deadline, 5 * FRAME + LATENCY);
    assert_int_equal(due.due, due.deadline);
}

TEST(none_never_expires) {
    media_deadline d;

    media__deadline_init(&d, MEDIA_DEADLINE_NONE, LATENCY, 0, FRAME);
    assert_int_equal(next(&d, 'B', 0, 0, NONE).deadline, MEDIA_NEVER);
}

/* One frame of a GOP example: what it is, and when it is shown, in frames. */
struct row {
    char kind;
    int shown;
    int chain_end; /* key frames: shown last of their chain; -1: not said */
    int deadline;  /* expected, in frames, without latency */
};

static void run_gop(const struct row *rows, size_t count) {
    media_deadline d;

    media__deadline_init(&d, MEDIA_DEADLINE_GOP, LATENCY, 0, FRAME);
    for (size_t i = 0; i < count; i++) {
        const struct row *r = &rows[i];
        media_due due =
            next(&d, r->kind, r->shown * FRAME, ((int)i - 1) * FRAME,
                 r->chain_end < 0 ? NONE : r->chain_end * FRAME);
        assert_int_equal(due.deadline, r->deadline * FRAME + LATENCY);
        assert_int_equal(due.due, r->shown * FRAME + LATENCY);
    }
}

/* Section 4 of the paper: eight frames of three chains, shown I P B P, I P B, I
 * from 0 on, stored (and sent) I P P I B P I B.  A chain's I and P frames
 * expire when its last one is shown; the B frames are sent after the I frame of
 * the next chain and expire with the earlier of the frames they depend on. */
TEST(the_eight_frames_of_the_paper_have_its_deadlines) {
    static const struct row rows[] = {
        {'I', 0, 3, 3},  {'P', 1, -1, 3}, {'P', 3, -1, 3}, {'I', 4, 5, 5},
        {'B', 2, -1, 3}, {'P', 5, -1, 5}, {'I', 7, 7, 7},  {'B', 6, -1, 5},
    };

    run_gop(rows, sizeof(rows) / sizeof(rows[0]));
}

/* Shown I1 B2 B3 P4 B5 B6 P7 I8, stored I1 P4 B2 B3 P7 B5 B6 I8.  I1, P4 and P7
 * share the deadline of their chain; each B has the earlier one of the two
 * frames that it depends on, here the same; I8 begins a chain with a deadline
 * of its own. */
TEST(the_frames_of_a_gop_share_a_deadline) {
    static const struct row rows[] = {
        {'I', 1, 7, 7},  {'P', 4, -1, 7}, {'B', 2, -1, 7}, {'B', 3, -1, 7},
        {'P', 7, -1, 7}, {'B', 5, -1, 7}, {'B', 6, -1, 7}, {'I', 8, 14, 14},
    };

    run_gop(rows, sizeof(rows) / sizeof(rows[0]));
}

/* Shown I1 B2 B3 P4 B5 B6 I7 B8: B5 and B6 depend on P4 of the first chain and
 * on I7 of the second, are sent after I7, and carry the earlier deadline. */
static void
b_frames_between_two_chains_have_the_earlier_deadline(void **state) {
    static const struct row rows[] = {
        {'I', 1, 4, 4},  {'P', 4, -1, 4},   {'B', 2, -1, 4},
        {'B', 3, -1, 4}, {'I', 7, 10, 10},  {'B', 5, -1, 4},
        {'B', 6, -1, 4}, {'P', 10, -1, 10}, {'B', 8, -1, 10},
    };

    (void)state;
    run_gop(rows, sizeof(rows) / sizeof(rows[0]));
}

/* A live sender cannot look ahead: the second GOP is taken to be as long as the
 * first, from key frame to key frame. */
static void
without_looking_ahead_a_chain_is_as_long_as_the_one_before(void **state) {
    static const struct row rows[] = {
        {'I', 1, -1, 1},   {'P', 4, -1, 4},   {'B', 2, -1, 4},
        {'P', 5, -1, 5},   {'I', 6, -1, 10},  {'P', 9, -1, 10},
        {'P', 12, -1, 12}, {'B', 10, -1, 12},
    };

    (void)state;
    run_gop(rows, sizeof(rows) / sizeof(rows[0]));
}

/* Sends a closed GOP of that many frames, the last one a P, to a sender that
 * looks ahead and to one that does not. Returns by how many frames their
 * deadlines differ at most. */
static int64_t worst_of_gop(media_deadline *ahead, media_deadline *blind,
                            int first, int frames) {
    int64_t worst = 0;

    for (int i = 0; i < frames; i++) {
        /* coded I P B P B ..., shown I B P B P ... */
        int shown = first + (i == 0 ? 0 : i % 2 == 1 ? i + 1 : i - 1);
        char kind = "IPB"[i == 0 ? 0 : 2 - i % 2];
        int64_t end = i == 0 ? (first + frames - 1) * FRAME : NONE;
        int64_t right = next(ahead, kind, shown * FRAME, 0, end).deadline;
        int64_t guess = next(blind, kind, shown * FRAME, 0, NONE).deadline;
        int64_t off = right > guess ? right - guess : guess - right;
        worst = off > worst ? off : worst;
    }
    return worst / FRAME;
}

/* What a sender loses by not looking ahead. */
TEST(without_looking_ahead_deadlines_are_wrong_by_what_gops_differ) {
    static const int gops[] = {7, 7, 7, 3, 7, 9, 9, 9};
    media_deadline ahead;
    media_deadline blind;
    int first = 0;

    media__deadline_init(&ahead, MEDIA_DEADLINE_GOP, LATENCY, 0, FRAME);
    media__deadline_init(&blind, MEDIA_DEADLINE_GOP, LATENCY, 0, FRAME);
    for (size_t i = 0; i < sizeof(gops) / sizeof(gops[0]); i++) {
        int before = i > 0 ? gops[i - 1] : 1; /* the first is a guess of one */
        assert_int_equal(worst_of_gop(&ahead, &blind, first, gops[i]),
                         abs(gops[i] - before));
        first += gops[i];
    }
}

/* An I frame in three parts begins one chain, not three: the B frames between
 * it and the chain before keep the earlier deadline. */
TEST(parts_of_a_frame_have_its_deadline) {
    media_frame part = frame_of('I');
    media_times none = {NONE, NONE, NONE, 900 * FRAME};
    media_deadline d;

    part.continues = true;
    media__deadline_init(&d, MEDIA_DEADLINE_GOP, LATENCY, 0, FRAME);
    next(&d, 'I', 1 * FRAME, 0, 4 * FRAME);
    next(&d, 'P', 4 * FRAME, 1 * FRAME, NONE);
    media_due whole = next(&d, 'I', 7 * FRAME, 2 * FRAME, 10 * FRAME);
    for (int i = 0; i < 2; i++) {
        media_due due = media__deadline_next(&d, &part, &none, NONE);
        assert_int_equal(due.display, whole.display);
        assert_int_equal(due.due, 7 * FRAME + LATENCY);
        assert_int_equal(due.deadline, 10 * FRAME + LATENCY);
    }
    assert_int_equal(next(&d, 'B', 5 * FRAME, 3 * FRAME, NONE).deadline,
                     4 * FRAME + LATENCY);
}

TEST(joined_in_the_middle_each_frame_stands_alone) {
    static const struct row rows[] = {
        {'P', 4, -1, 4}, {'B', 2, -1, 2}, {'P', 7, -1, 7}, {'I', 8, 9, 9}};

    run_gop(rows, sizeof(rows) / sizeof(rows[0]));
}

static int64_t display(media_retimer *r, char kind, int32_t tsn, int64_t pts,
                       int64_t dts) {
    media_frame f = frame_of(kind);
    media_times t = {pts, dts, NONE, 1000 * MS};

    f.tsn = tsn;
    return media__retimer_pts(r, &f, &t);
}

/* A parsed .m1v file: no PTS at all, DTS counts up.  Shown: B0 B1 I2 B3 B4 P5.
 */
TEST(times_are_rebuilt_from_temporal_references) {
    media_retimer r;

    media__retimer_init(&r, FRAME);
    assert_int_equal(display(&r, 'I', 2, NONE, 0), 3 * FRAME);
    assert_int_equal(display(&r, 'B', 0, NONE, FRAME), 1 * FRAME);
    assert_int_equal(display(&r, 'B', 1, NONE, 2 * FRAME), 2 * FRAME);
    assert_int_equal(display(&r, 'P', 5, NONE, 3 * FRAME), 6 * FRAME);
    assert_int_equal(display(&r, 'B', 3, NONE, 4 * FRAME), 4 * FRAME);
    /* the next group: its tsn 0 is shown after P5 */
    display(&r, 'B', 4, NONE, 5 * FRAME);
    assert_int_equal(display(&r, 'I', 2, NONE, 6 * FRAME), 9 * FRAME);
    assert_int_equal(display(&r, 'B', 0, NONE, 7 * FRAME), 7 * FRAME);
}

/* mpeg2enc: PTS = DTS in coding order, wrong for B. */
TEST(times_that_ignore_reordering_are_rebuilt) {
    media_retimer r;

    media__retimer_init(&r, FRAME);
    display(&r, 'I', -1, 0, 0);
    display(&r, 'P', -1, FRAME, FRAME);
    assert_int_equal(display(&r, 'B', -1, 2 * FRAME, 2 * FRAME), 2 * FRAME);
    display(&r, 'B', -1, 3 * FRAME, 3 * FRAME);
    /* the next reference is shown behind two B frames, as the one before */
    assert_int_equal(display(&r, 'P', -1, 4 * FRAME, 4 * FRAME), 7 * FRAME);
}

TEST(right_times_are_believed) {
    media_retimer r;

    media__retimer_init(&r, 0);
    assert_int_equal(display(&r, 'I', -1, FRAME, 0), FRAME);
    assert_int_equal(display(&r, 'P', -1, 4 * FRAME, FRAME), 4 * FRAME);
    assert_int_equal(display(&r, 'B', -1, 2 * FRAME, 2 * FRAME), 2 * FRAME);
    assert_int_equal(display(&r, 'P', -1, 7 * FRAME, 4 * FRAME), 7 * FRAME);
    assert_int_equal(display(&r, 'P', -1, 9 * FRAME, 9 * FRAME), 9 * FRAME);
}

TEST(segments_of_a_thousand_hours_are_normal) {
    media_retimer r;
    int64_t base = INT64_C(3600000) * 1000 * MS;

    media__retimer_init(&r, FRAME);
    assert_int_equal(display(&r, 'I', -1, base, base - 2 * FRAME), base);
}

TEST(garbage_is_replaced_by_the_decoding_time) {
    media_retimer r;

    media__retimer_init(&r, FRAME);
    assert_int_equal(display(&r, 'I', -1, INT64_MAX / 2, 3 * FRAME), 3 * FRAME);
    assert_int_equal(display(&r, 'P', -1, 0, 11000 * MS), 11000 * MS);
}

TEST(without_any_time_the_arrival_counts) {
    media_retimer r;

    media__retimer_init(&r, FRAME);
    assert_int_equal(display(&r, 'I', -1, NONE, NONE), 1000 * MS);
}

/* I0 P3 B1 B2: what the first frame does not tell, the second one does. */
TEST(a_first_group_may_show_late_that_it_reorders) {
    media_retimer r;

    media__retimer_init(&r, FRAME);
    assert_int_equal(display(&r, 'I', 0, NONE, 0), 0);
    assert_int_equal(display(&r, 'P', 3, NONE, FRAME), 4 * FRAME);
    assert_int_equal(display(&r, 'B', 1, NONE, 2 * FRAME), 2 * FRAME);
    assert_int_equal(display(&r, 'B', 2, NONE, 3 * FRAME), 3 * FRAME);
}

TEST(a_pause_is_not_the_distance_of_frames) {
    media_retimer r;

    media__retimer_init(&r, 0);
    display(&r, 'I', 0, NONE, 0);
    assert_int_equal(display(&r, 'P', 1, NONE, FRAME), FRAME);
    assert_int_equal(display(&r, 'P', 2, NONE, 30 * FRAME), 2 * FRAME);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deadline_is_the_display_time_plus_latency),
        cmocka_unit_test(frames_that_others_need_have_grace),
        cmocka_unit_test(headers_never_expire),
        cmocka_unit_test(constant_counts_from_arrival),
        cmocka_unit_test(none_never_expires),
        cmocka_unit_test(the_eight_frames_of_the_paper_have_its_deadlines),
        cmocka_unit_test(the_frames_of_a_gop_share_a_deadline),
        cmocka_unit_test(b_frames_between_two_chains_have_the_earlier_deadline),
        cmocka_unit_test(
            without_looking_ahead_a_chain_is_as_long_as_the_one_before),
        cmocka_unit_test(
            without_looking_ahead_deadlines_are_wrong_by_what_gops_differ),
        cmocka_unit_test(parts_of_a_frame_have_its_deadline),
        cmocka_unit_test(joined_in_the_middle_each_frame_stands_alone),
        cmocka_unit_test(times_are_rebuilt_from_temporal_references),
        cmocka_unit_test(times_that_ignore_reordering_are_rebuilt),
        cmocka_unit_test(right_times_are_believed),
        cmocka_unit_test(segments_of_a_thousand_hours_are_normal),
        cmocka_unit_test(garbage_is_replaced_by_the_decoding_time),
        cmocka_unit_test(without_any_time_the_arrival_counts),
        cmocka_unit_test(a_first_group_may_show_late_that_it_reorders),
        cmocka_unit_test(a_pause_is_not_the_distance_of_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
