/* SPDX-License-Identifier: MPL-2.0 */
#include "internal/media/stream/caps.h"
#include "tests/support/cmocka.h"

static media_span text(const char *s) {
    return (media_span){s, strlen(s)};
}

static void assert_caps(const media_config *c, const char *expected) {
    char buf[512];

    assert_int_equal(media__caps_write(c, buf, sizeof(buf)), strlen(expected));
    assert_string_equal(buf, expected);
}

TEST(h264_of_a_file_has_avc_caps_with_codec_data) {
    media_config c = {.codec = text("h264"),
                      .nal_length = 4,
                      .extradata = {"\1\x64\xff", 3},
                      .width = 640,
                      .height = 360,
                      .rate_num = 25,
                      .rate_den = 1};

    assert_caps(&c,
                "video/x-h264, alignment=(string)au, "
                "stream-format=(string)avc, codec_data=(buffer)0164ff, "
                "width=(int)640, height=(int)360, framerate=(fraction)25/1");
}

TEST(h265_with_start_codes_has_byte_stream_caps) {
    media_config c = {.codec = text("hevc"), .extradata = {"\0\0\1\x40", 4}};

    assert_caps(&c, "video/x-h265, alignment=(string)au, "
                    "stream-format=(string)byte-stream");
}

TEST(aac_is_raw_with_a_config_and_adts_without) {
    media_config c = {
        .codec = text("aac"), .sample_rate = 48000, .channels = 2};

    assert_caps(&c, "audio/mpeg, mpegversion=(int)4, framed=(boolean)true, "
                    "stream-format=(string)adts, rate=(int)48000, "
                    "channels=(int)2");
    c.extradata = (media_span){"\x11\x90", 2};
    assert_caps(&c, "audio/mpeg, mpegversion=(int)4, framed=(boolean)true, "
                    "stream-format=(string)raw, codec_data=(buffer)1190, "
                    "rate=(int)48000, channels=(int)2");
}

TEST(unknown_codecs_have_no_caps) {
    media_config c = {.codec = text("h26")};

    assert_int_equal(media__caps_write(&c, NULL, 0), 0);
    c.codec = (media_span){NULL, 0};
    assert_int_equal(media__caps_write(&c, NULL, 0), 0);
}

TEST(little_room_cuts_the_text_but_not_its_length) {
    media_config c = {.codec = text("vp8")};
    char buf[6];

    assert_int_equal(media__caps_write(&c, buf, sizeof(buf)), 11);
    assert_string_equal(buf, "video");
}

TEST(sizes_that_no_caps_can_hold_are_left_out) {
    media_config c = {.codec = text("vp8"), .width = UINT32_MAX, .height = 1};

    assert_caps(&c, "video/x-vp8");
}

TEST(media_types_lead_back_to_codecs) {
    assert_string_equal(media__caps_codec("video/x-h264", 0), "h264");
    assert_string_equal(media__caps_codec("video/mpeg", 2), "mpeg2video");
    assert_string_equal(media__caps_codec("audio/mpeg", 4), "aac");
    assert_string_equal(media__caps_codec("audio/mpeg", 1), "mp3");
    assert_null(media__caps_codec("video/mpeg", 0));
    assert_null(media__caps_codec("text/plain", 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(h264_of_a_file_has_avc_caps_with_codec_data),
        cmocka_unit_test(h265_with_start_codes_has_byte_stream_caps),
        cmocka_unit_test(aac_is_raw_with_a_config_and_adts_without),
        cmocka_unit_test(unknown_codecs_have_no_caps),
        cmocka_unit_test(little_room_cuts_the_text_but_not_its_length),
        cmocka_unit_test(sizes_that_no_caps_can_hold_are_left_out),
        cmocka_unit_test(media_types_lead_back_to_codecs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
