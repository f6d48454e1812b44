/* SPDX-License-Identifier: MPL-2.0 */
#include <stdlib.h>

#include "internal/media/codec/frame.h"
#include "internal/media/codec/nal.h"
#include "tests/support/cmocka.h"

#define BYTES(s) (s), sizeof(s) - 1

static media_frame classify(const char *codec, const void *data, size_t len) {
    media_scanner s;
    media_frame f;

    media__scanner_init(&s, codec, MEDIA_TYPE_VIDEO, NULL, 0);
    media__scanner_classify(&s, data, len, 0, &f);
    return f;
}

static void assert_frame(media_frame f, unsigned frame_class,
                         unsigned picture) {
    assert_int_equal(f.frame_class, frame_class);
    assert_int_equal(f.picture, picture);
    assert_int_equal(f.key, frame_class == MEDIA_CLASS_KEY);
}

/* temporal_reference 5, picture_coding_type 1, 2, 3 */
TEST(mpeg_pictures_are_known_by_their_type) {
    media_frame f = classify("mpeg2video", BYTES("\0\0\1\0\1\x4f\xff"));

    assert_frame(f, MEDIA_CLASS_KEY, MEDIA_PICTURE_I);
    assert_int_equal(f.tsn, 5);
    f = classify("mpeg1video", BYTES("\0\0\1\0\1\x57\xff"));
    assert_frame(f, MEDIA_CLASS_REFERENCE, MEDIA_PICTURE_P);
    f = classify("mpeg1video", BYTES("\0\0\1\0\1\x5f\xff"));
    assert_frame(f, MEDIA_CLASS_DISPOSABLE, MEDIA_PICTURE_B);
}

TEST(an_mpeg_group_header_closes_or_breaks) {
    media_frame f =
        classify("mpeg2video", BYTES("\0\0\1\xb3\x28\0\0\1\xb8\0\x08\0\x40"
                                     "\0\0\1\0\0\x0f\xff"));

    assert_frame(f, MEDIA_CLASS_KEY, MEDIA_PICTURE_I);
    assert_true(f.closed_gop);
    assert_false(f.broken_link);
    f = classify("mpeg2video",
                 BYTES("\0\0\1\xb8\0\x08\0\x20\0\0\1\0\0\x0f\xff"));
    assert_true(f.broken_link);
    assert_frame(classify("mpeg2video", BYTES("\0\0\1\xb3\x28\x01")),
                 MEDIA_CLASS_HEADER, MEDIA_PICTURE_OTHER);
}

TEST(mpeg4_vops_are_known_by_their_type) {
    assert_frame(classify("mpeg4", BYTES("\0\0\1\xb6\x10")), MEDIA_CLASS_KEY,
                 MEDIA_PICTURE_I);
    assert_frame(classify("mpeg4", BYTES("\0\0\1\xb6\x50")),
                 MEDIA_CLASS_REFERENCE, MEDIA_PICTURE_P);
    assert_frame(classify("mpeg4", BYTES("\0\0\1\xb6\x90")),
                 MEDIA_CLASS_DISPOSABLE, MEDIA_PICTURE_B);
    assert_frame(classify("mpeg4", BYTES("\0\0\1\xb6\xd0")),
                 MEDIA_CLASS_REFERENCE, MEDIA_PICTURE_P);
}

/* Slice data: first_mb_in_slice 0 is bit 1; slice_type 7 (I) is 0001000, 5 (P)
 * 00110, 6 (B) 00111. */
TEST(h264_slices_are_known_by_type_and_reference) {
    assert_frame(classify("h264", BYTES("\0\0\0\1\x67\x42\0\0\1\x65\x88\x80")),
                 MEDIA_CLASS_KEY, MEDIA_PICTURE_I);
    assert_frame(classify("h264", BYTES("\0\0\1\x41\x9a\x80")),
                 MEDIA_CLASS_REFERENCE, MEDIA_PICTURE_P);
    assert_frame(classify("h264", BYTES("\0\0\1\x01\x9e\x80")),
                 MEDIA_CLASS_DISPOSABLE, MEDIA_PICTURE_B);
    assert_frame(classify("h264", BYTES("\0\0\1\x21\x9e\x80")),
                 MEDIA_CLASS_REFERENCE, MEDIA_PICTURE_B);
    assert_frame(classify("h264", BYTES("\0\0\1\x01\x9a\x80")),
                 MEDIA_CLASS_DISPOSABLE, MEDIA_PICTURE_P);
}

TEST(one_b_slice_makes_an_h264_picture_b) {
    assert_frame(classify("h264", BYTES("\0\0\1\x41\x9a\x80\0\0\1\x41\x9e")),
                 MEDIA_CLASS_REFERENCE, MEDIA_PICTURE_B);
}

TEST(h264_parameter_sets_alone_are_a_header) {
    assert_frame(classify("h264", BYTES("\0\0\1\x67\x42\0\0\1\x68\xce")),
                 MEDIA_CLASS_HEADER, MEDIA_PICTURE_OTHER);
}

/* SEI 6 of one byte: recovery_frame_cnt 0 is bit 1, 4 is 00101. */
TEST(a_recovery_point_makes_an_intra_picture_a_key_frame) {
    media_frame f =
        classify("h264", BYTES("\0\0\1\x06\x06\x01\xc4\x80\0\0\1\x61\x88\x80"));

    assert_frame(f, MEDIA_CLASS_KEY, MEDIA_PICTURE_I);
    assert_false(f.closed_gop);
    f = classify("h264", BYTES("\0\0\1\x06\x06\x01\x2c\x80\0\0\1\x61\x9a\x80"));
    assert_frame(f, MEDIA_CLASS_REFERENCE, MEDIA_PICTURE_P);
    assert_true(f.recovery);
    assert_int_equal(f.recovery_cnt, 4);
    /* behind another message (type 5, two bytes) */
    f = classify("h264", BYTES("\0\0\1\x06\x05\x02zz\x06\x01\xc4\x80"
                               "\0\0\1\x61\x88\x80"));
    assert_frame(f, MEDIA_CLASS_KEY, MEDIA_PICTURE_I);
}

static void
an_intra_picture_without_recovery_point_is_no_key_frame(void **state) {
    (void)state;
    assert_frame(classify("h264", BYTES("\0\0\1\x61\x88\x80")),
                 MEDIA_CLASS_REFERENCE, MEDIA_PICTURE_I);
}

TEST(avcc_says_how_long_lengths_are) {
    static const uint8_t avcc[] = {1, 0x64, 0, 0x1f, 0xfd, 0xe1, 0};
    media_scanner s;
    media_frame f;

    media__scanner_init(&s, "h264", MEDIA_TYPE_VIDEO, avcc, sizeof(avcc));
    assert_int_equal(s.nal_length, 2);
    media__scanner_classify(&s, BYTES("\0\2\x09\xf0\0\3\x65\x88\x80"), 0, &f);
    assert_frame(f, MEDIA_CLASS_KEY, MEDIA_PICTURE_I);
}

TEST(h264_extradata_with_start_codes_has_no_lengths) {
    media_scanner s;

    media__scanner_init(&s, "h264", MEDIA_TYPE_VIDEO,
                        BYTES("\0\0\0\1\x67\x42\0\x1f\0\0\0\1\x68\xce"));
    assert_int_equal(s.nal_length, 0);
}

/* first_slice_segment 1, (no_output 1 for IRAP), pps 0 is bit 1, then
 * slice_type: 2 (I) 011, 1 (P) 010, 0 (B) 1. */
TEST(h265_pictures_are_known_by_nal_type) {
    media_frame f = classify("hevc", BYTES("\0\0\1\x26\x01\xec\x80"));

    assert_frame(f, MEDIA_CLASS_KEY, MEDIA_PICTURE_I); /* IDR_W_RADL */
    assert_true(f.closed_gop);
    f = classify("hevc", BYTES("\0\0\1\x2a\x01\xec\x80"));
    assert_frame(f, MEDIA_CLASS_KEY, MEDIA_PICTURE_I); /* CRA */
    assert_false(f.closed_gop);
    assert_frame(classify("hevc", BYTES("\0\0\1\x02\x01\xd0\x80")),
                 MEDIA_CLASS_REFERENCE, MEDIA_PICTURE_P); /* TRAIL_R */
    assert_frame(classify("hevc", BYTES("\0\0\1\x00\x01\xe0\x80")),
                 MEDIA_CLASS_DISPOSABLE, MEDIA_PICTURE_B); /* TRAIL_N */
    f = classify("hevc", BYTES("\0\0\1\x12\x01\xe0\x80"));
    assert_frame(f, MEDIA_CLASS_REFERENCE, MEDIA_PICTURE_B); /* RASL_R */
    assert_true(f.leading);
}

static void
h265_pictures_of_a_lower_layer_may_be_needed_by_a_higher_one(void **state) {
    media_scanner s;
    media_frame f;

    (void)state;
    media__scanner_init(&s, "hevc", MEDIA_TYPE_VIDEO, NULL, 0);
    media__scanner_classify(&s, BYTES("\0\0\1\x04\x03\xe0\x80"), 0, &f);
    assert_int_equal(f.temporal_id, 2);
    assert_int_equal(f.frame_class, MEDIA_CLASS_DISPOSABLE); /* TSA_N */
    media__scanner_classify(&s, BYTES("\0\0\1\x00\x01\xe0\x80"), 0, &f);
    assert_int_equal(f.frame_class, MEDIA_CLASS_REFERENCE); /* layer 0 */
}

/* PPS 0 of SPS 0 (bits 1 1), flags 00, num_extra_slice_header_bits 2 (010):
 * two bits more before slice_type. */
TEST(h265_slice_headers_may_have_extra_bits) {
    media_scanner s;
    media_frame f;

    media__scanner_init(&s, "hevc", MEDIA_TYPE_VIDEO, NULL, 0);
    media__scanner_classify(
        &s, BYTES("\0\0\1\x44\x01\xc4\x80\0\0\1\x02\x01\xf4\x80"), 0, &f);
    assert_int_equal(f.picture, MEDIA_PICTURE_P);
}

TEST(hvcc_gives_lengths_and_parameter_sets) {
    static const uint8_t hvcc[] = {1, 0,  0, 0, 0, 0, 0,    0, 0,    0,   0,
                                   0, 0,  0, 0, 0, 0, 0,    0, 0,    0,   3,
                                   1, 34, 0, 1, 0, 4, 0x44, 1, 0xc4, 0x80};
    media_scanner s;
    media_frame f;

    media__scanner_init(&s, "hevc", MEDIA_TYPE_VIDEO, hvcc, sizeof(hvcc));
    assert_int_equal(s.nal_length, 4);
    assert_int_equal(s.h265.pps[0].extra_bits, 2);
    media__scanner_classify(&s, BYTES("\0\0\0\4\x02\x01\xf4\x80"), 0, &f);
    assert_int_equal(f.picture, MEDIA_PICTURE_P);
}

/* SEI 6 of one byte behind a header of two: recovery_poc_cnt 4 is ue 7,
 * 0001000; -2 is ue 4, 00101. */
TEST(an_h265_recovery_point_counts_with_a_sign) {
    media_frame f = classify("hevc", BYTES("\0\0\1\x4e\x01\x06\x01\x10\x80"
                                           "\0\0\1\x02\x01\xd0\x80"));

    assert_frame(f, MEDIA_CLASS_REFERENCE, MEDIA_PICTURE_P);
    assert_true(f.recovery);
    assert_int_equal(f.recovery_cnt, 4);
    f = classify("hevc", BYTES("\0\0\1\x4e\x01\x06\x01\x2c\x80"
                               "\0\0\1\x02\x01\xd0\x80"));
    assert_true(f.recovery);
    assert_int_equal(f.recovery_cnt, 0);
}

/* Frame marker 10, profile 00, not existing 0, inter 1, shown 1, resilient 1:
 * then refresh_frame_flags. */
TEST(vp9_frames_are_classified_by_their_refreshes) {
    assert_frame(classify("vp9", BYTES("\x82\x49\x83\x42\0\0\0\0")),
                 MEDIA_CLASS_KEY, MEDIA_PICTURE_I);
    assert_frame(classify("vp9", BYTES("\x87\x01\0\x08\0\0")),
                 MEDIA_CLASS_REFERENCE, MEDIA_PICTURE_P);
    assert_frame(classify("vp9", BYTES("\x87\0\0\x08\0\0")),
                 MEDIA_CLASS_DISPOSABLE, MEDIA_PICTURE_P);
    /* a resilient one does not say whether its probabilities are kept */
    assert_frame(classify("vp9", BYTES("\x87\0\0\x09\x80\0")),
                 MEDIA_CLASS_DISPOSABLE, MEDIA_PICTURE_P);
    assert_frame(classify("vp9", BYTES("\x88\0")), /* shows a stored one */
                 MEDIA_CLASS_DISPOSABLE, MEDIA_PICTURE_P);
    /* cut before it says */
    assert_frame(classify("vp9", BYTES("\x87\0")), MEDIA_CLASS_REFERENCE,
                 MEDIA_PICTURE_P);
}

/* Marker 110 00 001: one byte per size, two frames. */
TEST(a_vp9_superframe_has_the_class_of_its_frames) {
    assert_frame(classify("vp9", BYTES("\x87\0\0\x08\0\0"
                                       "\x87\x01\0\x08\0\0"
                                       "\xc1\x06\x06\xc1")),
                 MEDIA_CLASS_REFERENCE, MEDIA_PICTURE_P);
    assert_frame(classify("vp9", BYTES("\x87\0\0\x08\0\0"
                                       "\x87\0\0\x08\0\0"
                                       "\xc1\x06\x06\xc1")),
                 MEDIA_CLASS_DISPOSABLE, MEDIA_PICTURE_P);
    assert_frame(classify("vp9", BYTES("\x82\x49\x83\x42\0\0"
                                       "\x87\x01\0\x08\0\0"
                                       "\xc1\x06\x06\xc1")),
                 MEDIA_CLASS_KEY, MEDIA_PICTURE_I);
}

/* Before a sequence header was seen, a frame that is no key frame may be
 * anything.  OBU headers: type 6 (frame) 0x32, its size; frame_type 0 (key)
 * shown 00 01, inter 00 11. */
TEST(an_av1_frame_without_sequence_header_is_kept) {
    assert_frame(classify("av1", BYTES("\x12\0\x32\x02\x10\0")),
                 MEDIA_CLASS_KEY, MEDIA_PICTURE_I);
    assert_frame(classify("av1", BYTES("\x12\0\x32\x02\x30\0")),
                 MEDIA_CLASS_REFERENCE, MEDIA_PICTURE_P);
    /* show_existing_frame */
    assert_frame(classify("av1", BYTES("\x12\0\x1a\x01\x80")),
                 MEDIA_CLASS_DISPOSABLE, MEDIA_PICTURE_P);
}

/* A sequence header for two layers of time, then frames whose
 * OBU headers have an extension with the layer: key, base, middle, top. */
TEST(av1_frames_have_temporal_layers) {
    static const struct {
        const char *data;
        unsigned layer;
        unsigned frame_class;
    } rows[] = {
        {"\x36\x00\x04\x10\0\0\0", 0, MEDIA_CLASS_KEY},
        {"\x36\x00\x04\x3c\x02\0\0", 0, MEDIA_CLASS_REFERENCE},
        {"\x36\x20\x04\x3c\x04\0\0", 1, MEDIA_CLASS_REFERENCE},
        {"\x36\x40\x04\x3c\x00\0\0", 2, MEDIA_CLASS_DISPOSABLE},
    };
    media_scanner s;
    media_frame f;

    media__scanner_init(&s, "av1", MEDIA_TYPE_VIDEO, NULL, 0);
    media__scanner_classify(&s,
                            BYTES("\x0a\x0d\x00\x11\x03\x00\x80\x81\xde\x7d"
                                  "\x7c\0\0\0\0"),
                            0, &f);
    assert_int_equal(f.frame_class, MEDIA_CLASS_HEADER);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        media__scanner_classify(&s, rows[i].data, 7, 0, &f);
        assert_int_equal(f.temporal_id, rows[i].layer);
        assert_int_equal(f.frame_class, rows[i].frame_class);
    }
}

TEST(flags_decide_where_the_codec_is_not_known) {
    static const struct {
        int type;
        uint32_t flags;
        unsigned frame_class;
    } rows[] = {
        {MEDIA_TYPE_VIDEO, 0, MEDIA_CLASS_OTHER},
        {MEDIA_TYPE_VIDEO, MEDIA_FLAG_KEY, MEDIA_CLASS_KEY},
        {MEDIA_TYPE_VIDEO, MEDIA_FLAG_DELTA, MEDIA_CLASS_REFERENCE},
        {MEDIA_TYPE_VIDEO, MEDIA_FLAG_DELTA | MEDIA_FLAG_DROPPABLE,
         MEDIA_CLASS_DISPOSABLE},
        {MEDIA_TYPE_VIDEO, MEDIA_FLAG_HEADER, MEDIA_CLASS_HEADER},
        {MEDIA_TYPE_VIDEO, MEDIA_FLAG_HEADER | MEDIA_FLAG_KEY, MEDIA_CLASS_KEY},
        {MEDIA_TYPE_AUDIO, MEDIA_FLAG_KEY, MEDIA_CLASS_AUDIO},
        {MEDIA_TYPE_DATA, MEDIA_FLAG_DELTA, MEDIA_CLASS_OTHER},
    };
    media_scanner s;
    media_frame f;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        media__scanner_init(&s, "theora", rows[i].type, NULL, 0);
        media__scanner_classify(&s, "x", 1, rows[i].flags, &f);
        assert_int_equal(f.frame_class, rows[i].frame_class);
    }
}

TEST(the_bytes_count_more_than_a_key_flag) {
    media_scanner s;
    media_frame f;

    media__scanner_init(&s, "h264", MEDIA_TYPE_VIDEO, NULL, 0);
    media__scanner_classify(&s, BYTES("\0\0\1\x41\x9a\x80"), MEDIA_FLAG_KEY,
                            &f);
    assert_frame(f, MEDIA_CLASS_REFERENCE, MEDIA_PICTURE_P);
    media__scanner_classify(&s, BYTES("\0\0\1\x41\x9a\x80"),
                            MEDIA_FLAG_DROPPABLE, &f);
    assert_frame(f, MEDIA_CLASS_DISPOSABLE, MEDIA_PICTURE_P);
}

TEST(emulation_prevention_bytes_are_no_data) {
    static const uint8_t data[] = {0x65, 0, 0, 3, 1, 0xff};
    media_nal nal = {data, sizeof(data)};
    media_bits b;

    media__bits_begin(&b, &nal, 1);
    assert_int_equal(media__bits_get(&b, 24), 1);
    assert_int_equal(media__bits_get(&b, 8), 0xff);
    assert_false(b.bad);
    assert_int_equal(media__bits_get(&b, 1), 0);
    assert_true(b.bad);
}

TEST(golomb_numbers_are_read_up_to_the_largest) {
    static const uint8_t data[] = {0x00, 0x00, 0x00, 0x01,
                                   0xff, 0xff, 0xff, 0xff};
    media_nal nal = {data, sizeof(data)};
    media_bits b;

    media__bits_begin(&b, &nal, 0);
    assert_int_equal(media__bits_ue(&b), UINT32_MAX - 1);
    assert_false(b.bad);
    media__bits_begin(&b, &nal, 8);
    media__bits_ue(&b);
    assert_true(b.bad);
}

/* Exact allocations, so that a sanitizer sees one byte too far. */
TEST(no_bytes_can_make_the_scanner_read_past_them) {
    static const char *const codecs[] = {"mpeg2video", "mpeg4", "h264", "hevc",
                                         "vp8",        "vp9",   "av1"};
    const size_t count = sizeof(codecs) / sizeof(codecs[0]);
    uint32_t random = 1;
    media_scanner s;
    media_frame f;

    for (unsigned round = 0; round < 40000; round++) {
        size_t len = round % 61;
        uint8_t *data = malloc(len ? len : 1);
        assert_non_null(data);
        for (size_t i = 0; i < len; i++) {
            random = random * 1664525u + 1013904223u;
            data[i] = random >> 30 ? (uint8_t)(random >> 27 & 1)
                                   : (uint8_t)(random >> 16);
        }
        media__scanner_init(&s, codecs[round % count], MEDIA_TYPE_VIDEO, data,
                            len);
        s.nal_length = (uint8_t)(round / count % 5);
        media__scanner_classify(&s, data, len, 0, &f);
        assert_in_range(f.frame_class, 0, MEDIA_CLASS_COUNT - 1);
        assert_in_range(f.picture, 0, MEDIA_PICTURE_COUNT - 1);
        free(data);
    }
}

TEST(the_header_contains_the_findings) {
    media_frame f = {.key = true, .closed_gop = true};

    assert_int_equal(media__frame_flags(&f, MEDIA_FLAG_DELTA),
                     MEDIA_FLAG_DELTA | MEDIA_FLAG_KEY | MEDIA_FLAG_CLOSED);
    f.continues = true; /* nothing begins with a later part */
    assert_int_equal(media__frame_flags(&f, MEDIA_FLAG_KEY), 0);
    f = (media_frame){.branch = true};
    assert_int_equal(media__frame_flags(&f, MEDIA_FLAG_KEY), MEDIA_FLAG_BRANCH);
    f = (media_frame){.recovery = true, .recovery_cnt = 5};
    assert_int_equal(media__frame_flags(&f, 0),
                     MEDIA_FLAG_RECOVERY | 5u << MEDIA_RECOVERY_SHIFT);
    f.recovery_cnt = 0x10003; /* there is no room for more */
    assert_int_equal(media__frame_flags(&f, 0),
                     MEDIA_FLAG_RECOVERY | 0xffffu << MEDIA_RECOVERY_SHIFT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mpeg_pictures_are_known_by_their_type),
        cmocka_unit_test(an_mpeg_group_header_closes_or_breaks),
        cmocka_unit_test(mpeg4_vops_are_known_by_their_type),
        cmocka_unit_test(h264_slices_are_known_by_type_and_reference),
        cmocka_unit_test(one_b_slice_makes_an_h264_picture_b),
        cmocka_unit_test(h264_parameter_sets_alone_are_a_header),
        cmocka_unit_test(a_recovery_point_makes_an_intra_picture_a_key_frame),
        cmocka_unit_test(
            an_intra_picture_without_recovery_point_is_no_key_frame),
        cmocka_unit_test(avcc_says_how_long_lengths_are),
        cmocka_unit_test(h264_extradata_with_start_codes_has_no_lengths),
        cmocka_unit_test(h265_pictures_are_known_by_nal_type),
        cmocka_unit_test(
            h265_pictures_of_a_lower_layer_may_be_needed_by_a_higher_one),
        cmocka_unit_test(h265_slice_headers_may_have_extra_bits),
        cmocka_unit_test(hvcc_gives_lengths_and_parameter_sets),
        cmocka_unit_test(an_h265_recovery_point_counts_with_a_sign),
        cmocka_unit_test(vp9_frames_are_classified_by_their_refreshes),
        cmocka_unit_test(a_vp9_superframe_has_the_class_of_its_frames),
        cmocka_unit_test(an_av1_frame_without_sequence_header_is_kept),
        cmocka_unit_test(av1_frames_have_temporal_layers),
        cmocka_unit_test(flags_decide_where_the_codec_is_not_known),
        cmocka_unit_test(the_bytes_count_more_than_a_key_flag),
        cmocka_unit_test(emulation_prevention_bytes_are_no_data),
        cmocka_unit_test(golomb_numbers_are_read_up_to_the_largest),
        cmocka_unit_test(no_bytes_can_make_the_scanner_read_past_them),
        cmocka_unit_test(the_header_contains_the_findings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
