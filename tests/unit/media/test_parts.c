/* SPDX-License-Identifier: MPL-2.0 */
#include "internal/media/codec/parts.h"

#include <string.h>

#include "internal/media/codec/frame.h"
#include "tests/support/cmocka.h"

struct world {
    media_scanner scanner;
    media_frame frame;
};

static void begin(struct world *w, const char *codec) {
    memset(w, 0, sizeof(*w));
    media__scanner_init(&w->scanner, codec, MEDIA_TYPE_VIDEO, NULL, 0);
    w->scanner.form = MEDIA_FORM_UNITS;
}

/* Class of a unit, which looks like a key frame to GStreamer: 'h', 'k', 'r',
 * 'd'; upper case when it goes on with a frame. */
static char unit(struct world *w, const void *data, size_t len) {
    media__scanner_classify(&w->scanner, data, len, MEDIA_FLAG_KEY, &w->frame);

    if (w->frame.continues) {
        return "OHKRDA"[w->frame.frame_class];
    }
    return "ohkrda"[w->frame.frame_class];
}

/* Behind a start code, or behind a length of one byte. */
#define U(w, text) unit(w, "\0\0\0\1" text, sizeof(text) + 3)
#define L(w, len, text) unit(w, len text, sizeof(len text) - 1)

/* Slice headers: first_mb 0 is bit 1, 1 is 010; then types 7 (I), 5 (P), 6 (B),
 * of all slices alike. */
#define I_SLICE "\x88\x84\x21\xff"
#define I_SECOND "\x42\x22\x21\xff"
#define P_SLICE "\x9a\x12\x34\xff"
#define B_SLICE "\x9e\x12\x34\xff"

TEST(slices_of_a_frame_go_on_with_it) {
    struct world w;

    begin(&w, "h264");
    assert_int_equal(U(&w, "\x09\x10"), 'h');
    assert_int_equal(U(&w, "\x67\x42\x00\x1e"), 'h');
    assert_int_equal(U(&w, "\x68\xce\x3c\x80"), 'h');
    assert_int_equal(U(&w, "\x65" I_SLICE), 'k');
    assert_true(w.frame.closed_gop);
    assert_int_equal(U(&w, "\x65" I_SECOND), 'K');
    assert_int_equal(U(&w, "\x0c\xff\x80"), 'K'); /* fills up */
    assert_int_equal(w.scanner.parts.frames, 1);
    assert_int_equal(U(&w, "\x41" P_SLICE), 'r'); /* nothing before it */
    assert_int_equal(U(&w, "\x06\x05\x01\x20\x80"), 'h');
    assert_int_equal(U(&w, "\x01" B_SLICE), 'd');
    assert_int_equal(w.frame.picture, MEDIA_PICTURE_B);
    assert_int_equal(w.scanner.parts.frames, 3);
}

TEST(units_may_have_lengths) {
    struct world w;

    begin(&w, "h264");
    w.scanner.nal_length = 1;
    assert_int_equal(L(&w, "\x02", "\x09\x10"), 'h');
    assert_int_equal(L(&w, "\x05", "\x65" I_SLICE), 'k');
    assert_int_equal(L(&w, "\x05", "\x65" I_SECOND), 'K');
    assert_int_equal(L(&w, "\x02", "\x09\x10"), 'h');
    assert_int_equal(L(&w, "\x05", "\x41" P_SLICE), 'r');
}

/* An I slice that is no IDR begins with a recovery point: count 0 is bit 1. */
TEST(a_recovery_point_may_come_in_a_unit_before) {
    struct world w;

    begin(&w, "h264");
    assert_int_equal(U(&w, "\x41" I_SLICE), 'r');
    assert_int_equal(U(&w, "\x06\x06\x01\xc4\x80"), 'h');
    assert_int_equal(U(&w, "\x41" I_SLICE), 'k');
    assert_false(w.frame.closed_gop);
    assert_int_equal(U(&w, "\x41" I_SECOND), 'K');
    assert_int_equal(U(&w, "\x41" I_SLICE), 'r'); /* it held for one frame */
}

/* first_slice_segment_in_pic_flag is the first bit behind two bytes. */
TEST(h265_is_read_too) {
    struct world w;

    begin(&w, "hevc");
    assert_int_equal(U(&w, "\x46\x01\x50"), 'h'); /* access unit delimiter */
    assert_int_equal(U(&w, "\x26\x01\xaf\x1d\x80"), 'k');
    assert_int_equal(U(&w, "\x26\x01\x2f\x1d\x80"), 'K');
    assert_int_equal(U(&w, "\x50\x01\x84\x80"), 'K'); /* SEI behind slices */
    assert_int_equal(U(&w, "\x02\x01\xd0\x11\x80"), 'r');
    assert_int_equal(U(&w, "\x4e\x01\x05\x01\x20\x80"), 'h');
    assert_int_equal(U(&w, "\x00\x01\xe0\x11\x80"), 'd');
    assert_int_equal(w.scanner.parts.frames, 3);
}

TEST(no_bytes_do_harm) {
    uint32_t random = 3;

    for (unsigned round = 0; round < 20000; round++) {
        uint8_t data[24];
        size_t len = round % sizeof(data);
        struct world w;
        begin(&w, round & 1 ? "h264" : "hevc");
        w.scanner.nal_length = (uint8_t)(round / 2 % 5);
        for (size_t i = 0; i < len; i++) {
            random = random * 1664525u + 1013904223u;
            data[i] = random >> 30 ? (uint8_t)(random >> 27 & 1)
                                   : (uint8_t)(random >> 16);
        }
        media__scanner_classify(&w.scanner, data, len, 0, &w.frame);
        assert_in_range(w.frame.frame_class, 0, MEDIA_CLASS_COUNT - 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_of_a_frame_go_on_with_it),
        cmocka_unit_test(units_may_have_lengths),
        cmocka_unit_test(a_recovery_point_may_come_in_a_unit_before),
        cmocka_unit_test(h265_is_read_too),
        cmocka_unit_test(no_bytes_do_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
