/* SPDX-License-Identifier: MPL-2.0 */
#include "internal/media/codec/config.h"
#include "tests/support/cmocka.h"

static const media_header sample = {
    .kind = MEDIA_KIND_FRAME,
    .stream = 3,
    .frame_class = MEDIA_CLASS_REFERENCE,
    .picture = MEDIA_PICTURE_B,
    .flags = MEDIA_FLAG_DELTA | 5u << MEDIA_RECOVERY_SHIFT,
    .generation = 0x01020304,
    .number = 0xfffffffe,
    .refs = 77,
    .length = 2,
    .pts = -5,
    .dts = MEDIA_TIME_NONE,
    .duration = 40000000,
};

static void write_sample(uint8_t *section) {
    media__header_write(&sample, section);
    section[MEDIA_HEADER_LEN] = 'h';
    section[MEDIA_HEADER_LEN + 1] = 'i';
}

static int parse(const void *section, size_t len) {
    media_header h;
    size_t at;
    return media__section_parse(&h, section, len, &at);
}

TEST(a_header_is_read_as_it_was_written) {
    uint8_t section[MEDIA_HEADER_LEN + 2];
    media_header h;
    size_t at;

    write_sample(section);
    assert_int_equal(media__section_parse(&h, section, sizeof(section), &at),
                     MEDIA_OK);
    assert_memory_equal(&h, &sample, sizeof(h));
    assert_int_equal(at, MEDIA_HEADER_LEN);
}

TEST(the_bytes_are_those_of_the_document) {
    static const uint8_t expected[MEDIA_HEADER_LEN] = {
        'P',  'M',  1,    2,    52,   3,    3,    3,     /* magic ... */
        0,    5,    0,    2,    1,    2,    3,    4,     /* flags, gen. */
        0xff, 0xff, 0xff, 0xfe, 0,    0,    0,    77,    /* number, refs */
        0,    0,    0,    2,                             /* length */
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfb,  /* pts */
        0x80, 0,    0,    0,    0,    0,    0,    0,     /* dts */
        0,    0,    0,    0,    0x02, 0x62, 0x5a, 0x00}; /* duration */
    uint8_t section[MEDIA_HEADER_LEN + 2];

    write_sample(section);
    assert_memory_equal(section, expected, sizeof(expected));
}

TEST(every_shorter_section_is_refused) {
    uint8_t section[MEDIA_HEADER_LEN + 2];

    write_sample(section);
    for (size_t len = 0; len < sizeof(section); len++) {
        assert_int_equal(parse(section, len), MEDIA_ERR_SHORT);
    }
}

TEST(a_payload_longer_than_it_says_is_refused) {
    uint8_t section[MEDIA_HEADER_LEN + 3] = {0};

    write_sample(section);
    assert_int_equal(parse(section, sizeof(section)), MEDIA_ERR_VALUE);
}

TEST(each_wrong_field_has_its_error) {
    static const struct {
        size_t at;
        uint8_t value;
        int error;
    } rows[] = {
        {0, 'p', MEDIA_ERR_MAGIC},   {1, 'm', MEDIA_ERR_MAGIC},
        {2, 2, MEDIA_ERR_VERSION},   {2, 0, MEDIA_ERR_VERSION},
        {3, 0, MEDIA_ERR_VALUE},     {3, 4, MEDIA_ERR_VALUE},
        {3, 3, MEDIA_ERR_VALUE}, /* an event has no class */
        {4, 51, MEDIA_ERR_VALUE},    {4, 255, MEDIA_ERR_SHORT},
        {28, 0x7f, MEDIA_ERR_VALUE}, {28, 0x80, MEDIA_ERR_VALUE},
        {36, 0x20, MEDIA_ERR_VALUE}, {44, 0xff, MEDIA_ERR_VALUE},
        {44, 0x80, MEDIA_ERR_VALUE},
    };
    uint8_t section[MEDIA_HEADER_LEN + 2];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        write_sample(section);
        section[rows[i].at] = rows[i].value;
        assert_int_equal(parse(section, sizeof(section)), rows[i].error);
    }
}

TEST(classes_of_later_versions_are_read_as_other) {
    uint8_t section[MEDIA_HEADER_LEN + 2];
    media_header h;
    size_t at;

    write_sample(section);
    section[6] = MEDIA_CLASS_COUNT;
    section[7] = MEDIA_PICTURE_COUNT;
    assert_int_equal(media__section_parse(&h, section, sizeof(section), &at),
                     MEDIA_OK);
    assert_int_equal(h.frame_class, MEDIA_CLASS_OTHER);
    assert_int_equal(h.picture, MEDIA_PICTURE_OTHER);
}

TEST(a_longer_header_of_a_later_version_is_skipped) {
    uint8_t section[MEDIA_HEADER_LEN + 4 + 2] = {0};
    media_header h;
    size_t at;

    write_sample(section);
    section[4] = MEDIA_HEADER_LEN + 4;
    assert_int_equal(media__section_parse(&h, section, sizeof(section), &at),
                     MEDIA_OK);
    assert_int_equal(at, MEDIA_HEADER_LEN + 4);
}

static media_span text(const char *s) {
    return (media_span){s, strlen(s)};
}

static media_config full_config(void) {
    return (media_config){.type = MEDIA_TYPE_VIDEO,
                          .streams = 2,
                          .nal_length = 4,
                          .width = 640,
                          .height = 360,
                          .rate_num = 30000,
                          .rate_den = 1001,
                          .sample_rate = 48000,
                          .channels = 2,
                          .latency_ms = 200,
                          .bit_rate = 2800000,
                          .block_bytes = 1024,
                          .sample_bits = 4,
                          .codec = text("h264"),
                          .caps = text("video/x-h264"),
                          .extradata = {"\1\0\2", 3},
                          .title = text("camera"),
                          .format = text("yuv420p")};
}

static void assert_span(media_span a, media_span b) {
    assert_int_equal(a.len, b.len);
    if (a.len) {
        assert_memory_equal(a.data, b.data, a.len);
    }
}

TEST(a_config_is_read_as_it_was_written) {
    uint8_t buf[256];
    media_config in = full_config();
    media_config out;

    size_t len = media__config_write(&in, buf, sizeof(buf));
    assert_in_range(len, 1, sizeof(buf));
    assert_int_equal(media__config_write(&in, NULL, 0), len);
    assert_int_equal(media__config_parse(&out, buf, len), MEDIA_OK);
    assert_span(out.codec, in.codec);
    assert_span(out.caps, in.caps);
    assert_span(out.extradata, in.extradata);
    assert_span(out.title, in.title);
    assert_span(out.format, in.format);
    /* What the spans follow; between the two may lie anything. */
    assert_memory_equal(&out, &in,
                        offsetof(media_config, sample_bits) +
                            sizeof(in.sample_bits));
}

TEST(an_empty_config_says_nothing) {
    media_config c = {0};
    media_config out;

    assert_int_equal(media__config_write(&c, NULL, 0), 0);
    assert_int_equal(media__config_parse(&out, "", 0), MEDIA_OK);
    assert_memory_equal(&out, &c, sizeof(c));
}

TEST(a_config_cut_anywhere_is_refused_or_shorter) {
    uint8_t buf[256];
    media_config in = full_config();
    media_config out;
    size_t ends = 0;

    size_t len = media__config_write(&in, buf, sizeof(buf));
    for (size_t n = 0; n < len; n++) {
        int error = media__config_parse(&out, buf, n);
        assert_true(error == MEDIA_OK || error == MEDIA_ERR_SHORT);
        ends += error == MEDIA_OK;
    }
    assert_int_equal(ends, 18); /* between the 18 fields, and before them */
}

TEST(wrong_configs_are_refused) {
    static const struct {
        const char *bytes;
        size_t len;
        int error;
    } rows[] = {
        {"\0\1\0\0\0\2\1\1", 8, MEDIA_ERR_VALUE}, /* type of two bytes */
        {"\0\4\0\0\0\1\1", 7, MEDIA_ERR_VALUE},   /* width of one */
        {"\0\1\0\0\0\1\1\0\1\0\0\0\1\1", 14, MEDIA_ERR_VALUE}, /* twice */
        {"\0\14\0\0\0\3a\0b", 9, MEDIA_ERR_VALUE}, /* zero in text */
        {"\0\3\0\0\0\1\5", 7, MEDIA_ERR_VALUE},    /* NAL length 5 */
        {"\0\16\xff\xff\xff\xff"
         "x",
         7, MEDIA_ERR_SHORT}, /* length lies */
        {"\0\16", 2, MEDIA_ERR_SHORT},
    };
    media_config out;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(media__config_parse(&out, rows[i].bytes, rows[i].len),
                         rows[i].error);
    }
}

TEST(unknown_fields_are_skipped) {
    media_config out;

    assert_int_equal(
        media__config_parse(&out, "\0\x63\0\0\0\2??\0\1\0\0\0\1\2", 15),
        MEDIA_OK);
    assert_int_equal(out.type, MEDIA_TYPE_AUDIO);
}

TEST(a_config_has_a_largest_size) {
    static uint8_t big[MEDIA_CONFIG_MAX + 1];
    media_config c = {.extradata = {big, MEDIA_CONFIG_MAX - 6}};

    assert_int_equal(media__config_write(&c, NULL, 0), MEDIA_CONFIG_MAX);
    c.extradata.len++;
    assert_int_equal(media__config_write(&c, NULL, 0), 0);
    assert_int_equal(media__config_parse(&c, big, sizeof(big)),
                     MEDIA_ERR_TOO_BIG);
}

TEST(every_class_and_picture_has_a_name) {
    assert_string_equal(media__class_name(MEDIA_CLASS_DISPOSABLE),
                        "disposable");
    assert_string_equal(media__class_name(99), "other");
    assert_string_equal(media__picture_name(MEDIA_PICTURE_B), "B");
    assert_string_equal(media__picture_name(99), "other");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_header_is_read_as_it_was_written),
        cmocka_unit_test(the_bytes_are_those_of_the_document),
        cmocka_unit_test(every_shorter_section_is_refused),
        cmocka_unit_test(a_payload_longer_than_it_says_is_refused),
        cmocka_unit_test(each_wrong_field_has_its_error),
        cmocka_unit_test(classes_of_later_versions_are_read_as_other),
        cmocka_unit_test(a_longer_header_of_a_later_version_is_skipped),
        cmocka_unit_test(a_config_is_read_as_it_was_written),
        cmocka_unit_test(an_empty_config_says_nothing),
        cmocka_unit_test(a_config_cut_anywhere_is_refused_or_shorter),
        cmocka_unit_test(wrong_configs_are_refused),
        cmocka_unit_test(unknown_fields_are_skipped),
        cmocka_unit_test(a_config_has_a_largest_size),
        cmocka_unit_test(every_class_and_picture_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
