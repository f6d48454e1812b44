/* SPDX-License-Identifier: MPL-2.0 */
#include "internal/media/stream/reftrack.h"
#include "tests/support/cmocka.h"

/* A stream in coding order: I key, P reference, R reference that is a B
 * picture, B disposable, A audio, H header; lower case: it is missing.
 * Returns the frames that can be decoded, in the same letters, others as '.'.
 */
static void run(const char *frames, const char *expected) {
    media_reftrack t;
    media_header h = {.kind = MEDIA_KIND_FRAME, .pts = MEDIA_TIME_NONE};
    char got[64] = {0};

    media__reftrack_init(&t);
    for (size_t i = 0; frames[i]; i++) {
        char kind = (char)(frames[i] & ~0x20);
        bool counts = kind != 'H';
        h.frame_class = kind == 'I'                  ? MEDIA_CLASS_KEY
                        : kind == 'P' || kind == 'R' ? MEDIA_CLASS_REFERENCE
                        : kind == 'B'                ? MEDIA_CLASS_DISPOSABLE
                        : kind == 'A'                ? MEDIA_CLASS_AUDIO
                                                     : MEDIA_CLASS_HEADER;
        got[i] = '.';
        if (media__reftrack_frame(&t, &h, kind == frames[i])) {
            got[i] = kind;
        }
        h.number += counts;
        h.refs += counts && kind != 'B';
    }
    assert_string_equal(got, expected);
    assert_int_equal(t.lost, 0); /* by their numbers none is missing */
}

TEST(nothing_lost_means_all_can_be_decoded) {
    run("IPBBPBBIPBB", "IPBBPBBIPBB");
}

TEST(a_lost_disposable_frame_harms_no_other) {
    run("IPbBPBbIP", "IP.BP"
                     "B.IP");
}

TEST(a_lost_reference_harms_all_up_to_the_next_key_frame) {
    run("IPBBpBBPBBIPBB", "IPBB......IPBB");
}

TEST(a_lost_key_frame_harms_its_whole_group) {
    run("IPBiPBBPIPB", "IPB.....IPB");
}

TEST(no_frame_before_the_first_key_frame_is_decodable) {
    run("PBBPIPB", "....IPB");
}

TEST(a_lost_reference_b_picture_harms_later_pictures) {
    run("IPRBPrBPIP", "IPRBP...IP");
}

TEST(audio_stands_alone_and_a_lost_header_harms_pictures) {
    run("IPaAhAPBIPB", "IP.A.A..IPB");
}

static bool header(media_reftrack *t, unsigned frame_class, uint32_t number,
                   uint32_t refs, int64_t pts, uint32_t flags) {
    media_header h = {.kind = MEDIA_KIND_FRAME,
                      .frame_class = (uint8_t)frame_class,
                      .flags = flags,
                      .number = number,
                      .refs = refs,
                      .pts = pts};
    return media__reftrack_frame(t, &h, true);
}

TEST(numbers_show_the_missing_frames_and_their_importance) {
    media_reftrack t;

    media__reftrack_init(&t);
    assert_true(header(&t, MEDIA_CLASS_KEY, 10, 4, 0, 0));
    assert_true(header(&t, MEDIA_CLASS_REFERENCE, 13, 5, 120, 0));
    assert_int_equal(t.lost, 2);
    assert_int_equal(t.lost_refs, 0);
    assert_false(header(&t, MEDIA_CLASS_DISPOSABLE, 15, 7, 130, 0));
    assert_int_equal(t.lost, 3);
    assert_int_equal(t.lost_refs, 1);
    assert_true(header(&t, MEDIA_CLASS_KEY, 16, 7, 200, 0));
}

TEST(numbers_may_wrap) {
    media_reftrack t;

    media__reftrack_init(&t);
    assert_true(header(&t, MEDIA_CLASS_KEY, UINT32_MAX, UINT32_MAX, 0, 0));
    assert_true(header(&t, MEDIA_CLASS_REFERENCE, 0, 0, 1, 0));
    assert_true(header(&t, MEDIA_CLASS_DISPOSABLE, 2, 1, 1, 0));
    assert_int_equal(t.lost, 1);
}

TEST(numbers_that_run_back_begin_a_new_stream) {
    media_reftrack t;

    media__reftrack_init(&t);
    assert_true(header(&t, MEDIA_CLASS_KEY, 100, 30, 0, 0));
    assert_false(header(&t, MEDIA_CLASS_REFERENCE, 5, 2, 1, 0));
    assert_true(header(&t, MEDIA_CLASS_KEY, 6, 3, 2, 0));
    assert_int_equal(t.lost, 0);
    /* nor are more references than frames believed */
    assert_false(header(&t, MEDIA_CLASS_REFERENCE, 7, 9, 3, 0));
    assert_int_equal(t.lost_refs, 0);
}

TEST(headers_have_no_number_of_their_own) {
    media_reftrack t;

    media__reftrack_init(&t);
    assert_true(header(&t, MEDIA_CLASS_HEADER, 0, 0, 0, 0));
    assert_true(header(&t, MEDIA_CLASS_KEY, 500, 200, 0, 0));
    assert_true(header(&t, MEDIA_CLASS_HEADER, 0, 0, 0, 0));
    assert_true(header(&t, MEDIA_CLASS_REFERENCE, 501, 201, 1, 0));
    assert_int_equal(t.lost, 0);
}

static void
frames_shown_before_an_open_key_frame_need_the_group_before(void **state) {
    media_reftrack t;

    (void)state;
    media__reftrack_init(&t);
    header(&t, MEDIA_CLASS_KEY, 0, 0, 0, 0);
    header(&t, MEDIA_CLASS_REFERENCE, 2, 2, 30, 0); /* 1 is lost */
    assert_true(header(&t, MEDIA_CLASS_KEY, 3, 3, 60, 0));
    assert_false(header(&t, MEDIA_CLASS_DISPOSABLE, 4, 4, 50, 0));
    assert_true(header(&t, MEDIA_CLASS_DISPOSABLE, 5, 4, 70, 0));
}

TEST(a_closed_key_frame_frees_those_shown_before_it) {
    media_reftrack t;

    media__reftrack_init(&t);
    assert_false(header(&t, MEDIA_CLASS_REFERENCE, 0, 0, 30, 0));
    assert_true(header(&t, MEDIA_CLASS_KEY, 1, 1, 60,
                       MEDIA_FLAG_KEY | MEDIA_FLAG_CLOSED));
    assert_true(header(&t, MEDIA_CLASS_DISPOSABLE, 2, 2, 50, 0));
}

TEST(a_recovery_point_heals_after_its_count) {
    media_reftrack t;
    uint32_t flags = MEDIA_FLAG_RECOVERY | 2u << MEDIA_RECOVERY_SHIFT;

    media__reftrack_init(&t);
    assert_false(header(&t, MEDIA_CLASS_REFERENCE, 0, 0, 0, 0));
    assert_false(header(&t, MEDIA_CLASS_REFERENCE, 1, 1, 1, flags));
    assert_false(header(&t, MEDIA_CLASS_REFERENCE, 2, 2, 2, 0));
    assert_false(header(&t, MEDIA_CLASS_DISPOSABLE, 3, 3, 3, 0));
    assert_true(header(&t, MEDIA_CLASS_REFERENCE, 4, 3, 4, 0));
    assert_true(header(&t, MEDIA_CLASS_DISPOSABLE, 5, 4, 5, 0));
}

TEST(a_loss_while_recovering_restarts_it) {
    media_reftrack t;
    uint32_t flags = MEDIA_FLAG_RECOVERY | 1u << MEDIA_RECOVERY_SHIFT;

    media__reftrack_init(&t);
    header(&t, MEDIA_CLASS_REFERENCE, 1, 1, 1, flags);
    assert_false(header(&t, MEDIA_CLASS_REFERENCE, 3, 3, 2, 0));
    assert_false(header(&t, MEDIA_CLASS_REFERENCE, 4, 4, 3, 0));
    assert_false(header(&t, MEDIA_CLASS_REFERENCE, 5, 5, 4, flags));
    assert_true(header(&t, MEDIA_CLASS_REFERENCE, 6, 6, 5, 0));
}

TEST(a_corrupted_frame_counts_as_lost) {
    media_reftrack t;

    media__reftrack_init(&t);
    assert_false(header(&t, MEDIA_CLASS_KEY, 0, 0, 0, MEDIA_FLAG_CORRUPTED));
    assert_false(header(&t, MEDIA_CLASS_REFERENCE, 1, 1, 1, 0));
}

TEST(a_section_has_its_parent_or_not) {
    media_arrivals a = {0};

    assert_true(media__arrivals_has_parent(&a, 5, 1)); /* nothing is known */
    media__arrivals_note(&a, 100, true);
    assert_true(media__arrivals_has_parent(&a, 101, 1));
    assert_true(media__arrivals_has_parent(&a, 101, 3)); /* before the first */
    media__arrivals_note(&a, 101, false);
    assert_false(media__arrivals_has_parent(&a, 102, 1));
    assert_true(media__arrivals_has_parent(&a, 102, 0));
    assert_true(media__arrivals_has_parent(&a, 102, UINT32_MAX));
    assert_false(media__arrivals_has_parent(&a, 104, 1)); /* never came */
    assert_true(media__arrivals_has_parent(&a, 104, 4));
    media__arrivals_note(&a, 100 + MEDIA_ARRIVALS, true);
    assert_true(media__arrivals_has_parent(&a, 101 + MEDIA_ARRIVALS,
                                           1 + MEDIA_ARRIVALS));
    assert_true(media__arrivals_has_parent(&a, 101 + MEDIA_ARRIVALS, 1));
}

TEST(the_loss_of_a_branch_breaks_no_chain) {
    media_reftrack t;
    media_header h = {.frame_class = MEDIA_CLASS_KEY,
                      .pts = MEDIA_TIME_NONE,
                      .dts = MEDIA_TIME_NONE};

    media__reftrack_init(&t);
    assert_true(media__reftrack_frame(&t, &h, true));
    h = (media_header){.frame_class = MEDIA_CLASS_REFERENCE,
                       .flags = MEDIA_FLAG_BRANCH,
                       .number = 1,
                       .refs = 1,
                       .pts = MEDIA_TIME_NONE};
    assert_false(media__reftrack_frame(&t, &h, false)); /* cut */
    h.number = 3; /* another is missing, and was one */
    assert_true(media__reftrack_frame(&t, &h, true));
    h.flags = 0;
    h.number = 4;
    assert_true(media__reftrack_frame(&t, &h, true));
    assert_int_equal(t.lost, 1);
    assert_int_equal(t.lost_refs, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_lost_means_all_can_be_decoded),
        cmocka_unit_test(a_lost_disposable_frame_harms_no_other),
        cmocka_unit_test(a_lost_reference_harms_all_up_to_the_next_key_frame),
        cmocka_unit_test(a_lost_key_frame_harms_its_whole_group),
        cmocka_unit_test(no_frame_before_the_first_key_frame_is_decodable),
        cmocka_unit_test(a_lost_reference_b_picture_harms_later_pictures),
        cmocka_unit_test(audio_stands_alone_and_a_lost_header_harms_pictures),
        cmocka_unit_test(numbers_show_the_missing_frames_and_their_importance),
        cmocka_unit_test(numbers_may_wrap),
        cmocka_unit_test(numbers_that_run_back_begin_a_new_stream),
        cmocka_unit_test(headers_have_no_number_of_their_own),
        cmocka_unit_test(
            frames_shown_before_an_open_key_frame_need_the_group_before),
        cmocka_unit_test(a_closed_key_frame_frees_those_shown_before_it),
        cmocka_unit_test(a_recovery_point_heals_after_its_count),
        cmocka_unit_test(a_loss_while_recovering_restarts_it),
        cmocka_unit_test(a_corrupted_frame_counts_as_lost),
        cmocka_unit_test(a_section_has_its_parent_or_not),
        cmocka_unit_test(the_loss_of_a_branch_breaks_no_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
