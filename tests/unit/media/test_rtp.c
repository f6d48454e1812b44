/* SPDX-License-Identifier: MPL-2.0 */
#include "internal/media/codec/rtp.h"

#include <string.h>

#include "internal/media/codec/frame.h"
#include "tests/support/cmocka.h"

struct world {
    media_scanner scanner;
    media_frame frame;
    uint32_t time;
};

static void begin(struct world *w, const char *codec) {
    memset(w, 0, sizeof(*w));
    media__scanner_init(&w->scanner, codec, MEDIA_TYPE_DATA, NULL, 0);
    w->scanner.form = MEDIA_FORM_RTP;
}

/* Class of the packet with this payload: 'h', 'k', 'r', 'd', 'o'; upper case
 * when it goes on with a frame. */
static char packet(struct world *w, const void *payload, size_t len) {
    uint8_t data[200] = {0x80, 96};
    char letter;

    data[4] = (uint8_t)(w->time >> 24);
    data[7] = (uint8_t)w->time;
    memcpy(data + 12, payload, len);
    media__scanner_classify(&w->scanner, data, 12 + len, 0, &w->frame);
    letter = "ohkrda"[w->frame.frame_class];
    if (w->frame.continues) {
        letter = (char)(letter & ~0x20);
    }
    return letter;
}

#define P(w, text) packet(w, text, sizeof(text) - 1)

/* Slice headers: first_mb 0; types 7 (I), 5 (P), 6 (B), of all slices alike. */
#define I_SLICE "\x88\x84\x21\xff"
#define P_SLICE "\x9a\x12\x34\xff"
#define B_SLICE "\x9e\x12\x34\xff"

TEST(single_units_are_frames) {
    struct world w;

    begin(&w, "h264");
    assert_int_equal(P(&w, "\x67\x42\x00\x1e"), 'h');
    assert_int_equal(P(&w, "\x68\xce\x3c\x80"), 'h');
    assert_int_equal(P(&w, "\x65" I_SLICE), 'k');
    assert_true(w.frame.closed_gop);
    w.time++;
    assert_int_equal(P(&w, "\x41" P_SLICE), 'r');
    assert_int_equal(w.frame.picture, MEDIA_PICTURE_P);
    w.time++;
    assert_int_equal(P(&w, "\x01" B_SLICE), 'd');
    assert_int_equal(w.frame.picture, MEDIA_PICTURE_B);
    assert_int_equal(P(&w, "\x09\xf0\x00\x00"), 'D'); /* of the same frame */
    w.time++;
    assert_int_equal(P(&w, "\x09\xf0\x00\x00"), 'o'); /* before its slice */
    assert_int_equal(P(&w, "\x41" P_SLICE), 'r');
}

TEST(fragments_go_on_with_the_frame) {
    struct world w;

    begin(&w, "h264");
    assert_int_equal(P(&w, "\x7c\x85" I_SLICE), 'k');
    assert_int_equal(P(&w, "\x7c\x05rest of it"), 'K');
    assert_int_equal(P(&w, "\x7c\x45the end"), 'K');
    assert_int_equal(P(&w, "\x65" I_SLICE), 'K'); /* another slice of it */
    w.time++;
    assert_int_equal(P(&w, "\x1c\x81" B_SLICE), 'd');
    assert_int_equal(P(&w, "\x1c\x41the end"), 'D');
    w.time++;
    assert_int_equal(P(&w, "\x5c\x41the end"), 'r'); /* its beginning is lost */
    w.time++;
    assert_int_equal(P(&w, "\x1c\x86\x05\xff\xff"), 'o'); /* a long SEI */
    assert_int_equal(P(&w, "\x1c\x46the end"), 'o');
    assert_int_equal(P(&w, "\x65" I_SLICE), 'k');
}

TEST(aggregates_are_taken_apart) {
    struct world w;

    begin(&w, "h264");
    assert_int_equal(P(&w, "\x78\x00\x04\x67\x42\x00\x1e\x00\x03\x68\xce\x3c"),
                     'h');
    assert_int_equal(P(&w, "\x78\x00\x02\x09\xf0\x00\x05\x65" I_SLICE), 'k');
    w.time++;
    assert_int_equal(P(&w, "\x19\x00\x00\x00\x05\x65" I_SLICE), 'o');
}

TEST(a_recovery_point_may_come_in_a_packet_before) {
    struct world w;

    begin(&w, "h264");
    assert_int_equal(P(&w, "\x06\x06\x02\x24\x80\x80"), 'o');
    assert_int_equal(P(&w, "\x41" P_SLICE), 'r');
    assert_true(w.frame.recovery);
    assert_int_equal(w.frame.recovery_cnt, 8 - 1 - 4);
    assert_int_equal(P(&w, "\x41" P_SLICE), 'R');
    assert_false(w.frame.recovery);
    w.time++;
    assert_int_equal(P(&w, "\x41" P_SLICE), 'r');
    assert_false(w.frame.recovery);
    w.time++;
    P(&w, "\x06\x06\x01\xc0\x80\x80"); /* holds at once */
    assert_int_equal(P(&w, "\x41" I_SLICE), 'k');
    assert_false(w.frame.closed_gop);
    w.time++;
    P(&w, "\x06\x06\x01\xc0\x80\x80");
    assert_int_equal(P(&w, "\x41" P_SLICE), 'r'); /* but not by one of these */
    assert_true(w.frame.recovery);
}

TEST(h265_is_read_too) {
    struct world w;

    begin(&w, "hevc");
    assert_int_equal(P(&w, "\x40\x01\x0c\x01"), 'h');
    assert_int_equal(P(&w, "\x62\x01\x93\xaf\x20"), 'k'); /* FU of IDR_W_RADL */
    assert_int_equal(P(&w, "\x62\x01\x53\xaf\x20"), 'K');
    w.time++;
    assert_int_equal(P(&w, "\x02\x01\xd0\x20\x20"), 'r'); /* TRAIL_R */
    w.time++;
    assert_int_equal(P(&w, "\x00\x01\xe0\x20\x20"), 'd'); /* TRAIL_N */
    w.time++;
    assert_int_equal(P(&w, "\x60\x01\x00\x05\x02\x01\xd0\x20\x20"), 'r');
    w.time++;
    assert_int_equal(P(&w, "\x64\x01\x00\x05\x02\x01\xd0"), 'o'); /* PACI */
}

/* RFC 3550: sources, an extension, padding. */
TEST(data_around_the_payload_is_skipped) {
    static const uint8_t packet_[] = {
        0xb2, 96, 0, 1, 0,    0,    0,    9,    0,    0,    0, 1,
        1,    1,  1, 1, 2,    2,    2,    2,    0xbe, 0xde, 0, 1,
        9,    9,  9, 9, 0x65, 0x88, 0x84, 0x21, 0xff, 0,    0, 3};
    struct world w;

    begin(&w, "h264");
    media__scanner_classify(&w.scanner, packet_, sizeof(packet_), 0, &w.frame);
    assert_int_equal(w.frame.frame_class, MEDIA_CLASS_KEY);
    for (size_t len = 0; len < sizeof(packet_); len++) {
        begin(&w, "h264");
        media__scanner_classify(&w.scanner, packet_, len, 0, &w.frame);
        assert_true(len > 28 || w.frame.frame_class == MEDIA_CLASS_OTHER);
    }
}

TEST(no_bytes_do_harm) {
    struct world w;
    uint8_t data[64];
    uint32_t r = 1;

    for (unsigned round = 0; round < 40000; round++) {
        size_t len = round % sizeof(data);
        if (round % 64 == 0) {
            begin(&w, round & 64 ? "h264" : "hevc");
        }
        for (size_t i = 0; i < len; i++) {
            r = r * 1103515245u + 12345u;
            data[i] = (uint8_t)(r >> 16);
        }
        data[0] = (uint8_t)((data[0] & 0x3f) | 0x80);
        media__scanner_classify(&w.scanner, data, len, 0, &w.frame);
        assert_true(w.frame.frame_class < MEDIA_CLASS_COUNT);
    }
}

/* An aggregate of a parameter set; the padding looks like an IDR slice. */
TEST(padding_is_no_payload) {
    static const uint8_t packet_[] = {
        0xa0, 96,   0,    1, 0,  0, 0, 9,    0,    0,    0,    1,    0x78, 0,
        4,    0x67, 0x42, 0, 30, 0, 5, 0x65, 0x88, 0x84, 0x21, 0xff, 8};
    struct world w;

    begin(&w, "h264");
    media__scanner_classify(&w.scanner, packet_, sizeof(packet_), 0, &w.frame);
    assert_int_equal(w.frame.frame_class, MEDIA_CLASS_HEADER);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_units_are_frames),
        cmocka_unit_test(fragments_go_on_with_the_frame),
        cmocka_unit_test(aggregates_are_taken_apart),
        cmocka_unit_test(a_recovery_point_may_come_in_a_packet_before),
        cmocka_unit_test(h265_is_read_too),
        cmocka_unit_test(data_around_the_payload_is_skipped),
        cmocka_unit_test(no_bytes_do_harm),
        cmocka_unit_test(padding_is_no_payload),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
