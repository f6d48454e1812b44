/* SPDX-License-Identifier: MPL-2.0 */
#include "internal/media/codec/params.h"

#include <string.h>

#include "internal/media/codec/frame.h"
#include "tests/support/cmocka.h"

#define BYTES(s) (s), sizeof(s) - 1
#define CODE "\0\0\0\1"

static media_scanner scanner_of(const char *codec) {
    media_scanner s;

    media__scanner_init(&s, codec, MEDIA_TYPE_VIDEO, NULL, 0);
    return s;
}

static void assert_kept(const media_params *p, const void *data, size_t len) {
    assert_int_equal(p->len, len);
    assert_memory_equal(p->data, data, len);
}

TEST(parameter_sets_are_kept_until_there_are_others) {
    media_scanner s = scanner_of("h264");
    media_params p = {0};

    assert_false(media__params_take(&p, &s, BYTES("\0\0\1\x65\x88")));
    assert_int_equal(p.len, 0);
    assert_true(media__params_take(&p, &s,
                                   BYTES("\0\0\1\x09\x10\0\0\1\x67\x42\0\0\1"
                                         "\x68\xce\0\0\1\x06\x05\0\0\1\x65")));
    assert_kept(&p, BYTES(CODE "\x67\x42" CODE "\x68\xce"));
    /* another picture parameter set, then the same again */
    for (int i = 0; i < 2; i++) {
        assert_false(
            media__params_take(&p, &s, BYTES("\0\0\1\x68\xcf\0\0\1\x65\x88")));
        assert_kept(&p, BYTES(CODE "\x67\x42" CODE "\x68\xce" CODE "\x68\xcf"));
    }
    assert_true(
        media__params_take(&p, &s, BYTES("\0\0\1\x67\x4d\0\0\1\x68\xce")));
    assert_kept(&p, BYTES(CODE "\x67\x4d" CODE "\x68\xce"));
}

TEST(h265_has_three_kinds) {
    media_scanner s = scanner_of("hevc");
    media_params p = {0};

    assert_true(media__params_take(&p, &s,
                                   BYTES("\0\0\1\x40\x01\xaa\0\0\1\x42\x01\xbb"
                                         "\0\0\1\x44\x01\xcc\0\0\1\x28\x01")));
    assert_kept(
        &p, BYTES(CODE "\x40\x01\xaa" CODE "\x42\x01\xbb" CODE "\x44\x01\xcc"));
    assert_false(media__params_take(&p, &s, BYTES("\0\0\1\x26\x01\xaf")));
}

TEST(sequence_headers_of_mpeg_are_kept) {
    media_scanner s = scanner_of("mpeg2video");
    media_params p = {0};

    assert_true(media__params_take(
        &p, &s, BYTES("\0\0\1\xb3\x28\0\0\1\xb5\x14\0\0\1\xb8\x08\0\0\1\0\1")));
    assert_kept(&p, BYTES(CODE "\xb3\x28" CODE "\xb5\x14"));
    /* the extension of a picture is none of the sequence */
    assert_false(media__params_take(
        &p, &s, BYTES("\0\0\1\xb8\x08\0\0\1\0\1\0\0\1\xb5\x83")));
    assert_kept(&p, BYTES(CODE "\xb3\x28" CODE "\xb5\x14"));
    s = scanner_of("mpeg4");
    p = (media_params){0};
    assert_true(media__params_take(
        &p, &s, BYTES("\0\0\1\xb0\x01\0\0\1\x20\x02\0\0\1\xb6\x10")));
    assert_kept(&p, BYTES(CODE "\xb0\x01" CODE "\x20\x02"));
}

TEST(where_it_is_not_needed_nothing_is_kept) {
    media_scanner s = scanner_of("vp8");
    media_params p = {0};

    assert_true(media__params_take(&p, &s, BYTES("\0\0\1\x67\x42")));
    s = scanner_of("h264");
    s.nal_length = 4; /* codec data has them */
    assert_true(media__params_take(&p, &s, BYTES("\0\0\0\2\x67\x42")));
    assert_int_equal(p.len, 0);
}

TEST(what_is_too_long_is_not_kept) {
    static uint8_t frame[2 * MEDIA_PARAMS_MAX] = {0, 0, 1, 0x67};
    media_scanner s = scanner_of("h264");
    media_params p = {0};

    memset(frame + 4, 0x55, sizeof(frame) - 4);
    assert_true(media__params_take(&p, &s, frame, sizeof(frame)));
    assert_int_equal(p.len, 0);
    media__params_take(&p, &s, BYTES("\0\0\1\x68\xce\0\0\1\x65\x88"));
    assert_int_equal(p.len, 0); /* not a part of it either */
    media__params_take(&p, &s, BYTES("\0\0\1\x67\x42\0\0\1\x65\x88"));
    assert_kept(&p, BYTES(CODE "\x67\x42"));
}

TEST(they_belong_behind_a_delimiter) {
    media_scanner s = scanner_of("h264");

    assert_int_equal(
        media__params_place(&s, BYTES("\0\0\0\1\x09\x10\0\0\0\1\x65\x88")), 7);
    assert_int_equal(media__params_place(&s, BYTES("\0\0\1\x65\x88")), 0);
    assert_int_equal(media__params_place(&s, "", 0), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameter_sets_are_kept_until_there_are_others),
        cmocka_unit_test(h265_has_three_kinds),
        cmocka_unit_test(sequence_headers_of_mpeg_are_kept),
        cmocka_unit_test(where_it_is_not_needed_nothing_is_kept),
        cmocka_unit_test(what_is_too_long_is_not_kept),
        cmocka_unit_test(they_belong_behind_a_delimiter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
