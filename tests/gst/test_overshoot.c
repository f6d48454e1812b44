/* SPDX-License-Identifier: MPL-2.0 */
/* Encoders that exceed their bit rate. */
#include <gst/check/gstharness.h>

#include "gst-plugins/gsttltcpovershoot.h"
#include "tests/gst/support.h"

/* Seconds of 25 pictures each, of this size. */
static void make_pictures(GstTltcpOvershoot *o, guint seconds, gsize bytes) {
    for (guint i = 0; i < 25 * seconds; i++) {
        gst_tltcp_overshoot_add(o, bytes, GST_SECOND / 25);
    }
}

TEST(an_encoder_that_exceeds_its_rate_is_asked_for_less) {
    GstTltcpOvershoot o = {.bps = 1000000};

    make_pictures(&o, 1, 10000);
    assert_int_equal(gst_tltcp_overshoot_correct(&o, 1000000), 1000000);
    make_pictures(&o, 1, 10000); /* twice as much; now it is known */
    assert_in_range(gst_tltcp_overshoot_correct(&o, 1000000), 520000, 580000);
    o.bps = 550000;
    make_pictures(&o, 20, 5500);
    assert_in_range(gst_tltcp_overshoot_correct(&o, 1000000), 520000, 580000);
    make_pictures(&o, 20, 2750); /* no longer */
    assert_int_equal(gst_tltcp_overshoot_correct(&o, 1000000), 1000000);
    make_pictures(&o, 20, 50000); /* a limit */
    assert_int_equal(gst_tltcp_overshoot_correct(&o, 1000000), 250000);
}

TEST(one_that_makes_less_is_not_asked_for_more) {
    GstTltcpOvershoot o = {.bps = 1000000};

    make_pictures(&o, 10, 100);
    assert_int_equal(gst_tltcp_overshoot_correct(&o, 1000000), 1000000);
}

/* Nor is one whose key frame takes half of two seconds. */
TEST(key_frames_are_no_excess) {
    GstTltcpOvershoot o = {.bps = 1000000};

    for (guint i = 0; i < 20; i++) {
        gst_tltcp_overshoot_add(&o, 125000, GST_SECOND / 25);
        for (guint picture = 1; picture < 50; picture++) {
            gst_tltcp_overshoot_add(&o, 125000 / 49, GST_SECOND / 25);
            guint64 bps = gst_tltcp_overshoot_correct(&o, 1000000);
            assert_in_range(bps, i < 3 ? 500000 : 850000, 1000000);
        }
    }
}

TEST(a_capture_that_stalls_saves_nothing) {
    GstTltcpOvershoot o = {.bps = 1000000};

    make_pictures(&o, 20, 10000);
    gst_tltcp_overshoot_add(&o, 10000, GST_CLOCK_TIME_NONE);
    gst_tltcp_overshoot_add(&o, 10000, 3600 * GST_SECOND);
    assert_in_range(gst_tltcp_overshoot_correct(&o, 1000000), 500000, 800000);
}

/* Stripes that move, with a little noise. */
static GstBuffer *make_picture(guint n) {
    const guint width = 320;
    const guint pixels = width * 180;
    GstBuffer *picture = gst_buffer_new_allocate(NULL, pixels * 3 / 2, NULL);
    GstMapInfo map;
    guint luck = n;

    assert_true(gst_buffer_map(picture, &map, GST_MAP_WRITE));
    memset(map.data, 128, map.size);
    for (guint i = 0; i < pixels; i++) {
        luck = luck * 1664525u + 1013904223u;
        map.data[i] =
            (guint8)(64 + (i % width + i / width + 2 * n) % 64 + (luck >> 28));
    }
    gst_buffer_unmap(picture, &map);
    GST_BUFFER_PTS(picture) = n * GST_SECOND / 25;
    GST_BUFFER_DURATION(picture) = GST_SECOND / 25;
    return picture;
}

/* How many times its bit rate it makes in the last 8 of 16 s in which that
 * changes with every third picture. */
static gdouble excess_of_x265enc(gboolean correct) {
    GstHarness *h = gst_harness_new_parse(
        "x265enc speed-preset=ultrafast tune=zerolatency key-int-max=250 "
        "bitrate=420");
    g_autoptr(GstElement) encoder = gst_harness_find_element(h, "x265enc");
    gsize bytes = 0;
    GstBuffer *coded;

    gst_harness_set_src_caps_str(
        h, "video/x-raw,format=I420,width=320,height=180,framerate=25/1");
    gst_tltcp_overshoot_watch(encoder);
    for (guint n = 0; n < 400; n++) {
        guint64 bps = 400000 + n % 2 * 40000;
        if (n % 3 == 0) {
            bps = correct ? gst_tltcp_overshoot_correct_encoder(encoder, bps)
                          : bps;
            g_object_set(encoder, "bitrate", (guint)(bps / 1000), NULL);
            gst_tltcp_overshoot_asked(encoder, bps);
        }
        assert_int_equal(gst_harness_push(h, make_picture(n)), GST_FLOW_OK);
        while ((coded = gst_harness_try_pull(h)) != NULL) {
            bytes += n >= 200 ? gst_buffer_get_size(coded) : 0;
            gst_buffer_unref(coded);
        }
    }
    gst_harness_teardown(h);
    return (gdouble)bytes / 420000 /* 8 s of 420 kbit/s */;
}

/* It restarts its rate control with each change. */
TEST(what_x265enc_makes_is_close_to_its_rate) {
    g_autoptr(GstElementFactory) x265 = gst_element_factory_find("x265enc");

    if (!x265) {
        skip();
    }
    gdouble without = excess_of_x265enc(FALSE);
    gdouble with = excess_of_x265enc(TRUE);

    print_message("%.2f times, corrected %.2f times\n", without, with);
    assert_true(without > 1.4); /* or this tests nothing */
    assert_true(with < 1.25);
    assert_true(with > 0.8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_encoder_that_exceeds_its_rate_is_asked_for_less),
        cmocka_unit_test(one_that_makes_less_is_not_asked_for_more),
        cmocka_unit_test(key_frames_are_no_excess),
        cmocka_unit_test(a_capture_that_stalls_saves_nothing),
        cmocka_unit_test(what_x265enc_makes_is_close_to_its_rate),
    };
    return cmocka_run_group_tests(tests, support_setup, NULL);
}
