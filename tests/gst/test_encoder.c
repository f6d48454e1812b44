/* SPDX-License-Identifier: MPL-2.0 */
/* encoder=auto: what encoders are told, and that a real one hears it. */
#include "gst-plugins/gsttltcpencoder.h"
#include "tests/gst/support.h"

#define MS G_TIME_SPAN_MILLISECOND

static void assert_told(const gchar *factory, const gchar *property,
                        gint64 value) {
    const GstTltcpEncoderKind *kind = gst_tltcp_encoder_kind(factory);

    assert_non_null(kind);
    assert_string_equal(kind->property, property);
    assert_int_equal(gst_tltcp_encoder_value(kind, 1234567), value);
}

TEST(every_encoder_has_its_property_and_unit) {
    assert_told("x264enc", "bitrate", 1234);
    assert_told("x265enc", "bitrate", 1234);
    assert_told("vp8enc", "target-bitrate", 1234567);
    assert_told("vp9enc", "target-bitrate", 1234567);
    assert_told("openh264enc", "bitrate", 1234567);
    assert_told("av1enc", "target-bitrate", 1234);
    assert_told("nvh264enc", "bitrate", 1234);
    assert_told("nvv4l2h264enc", "bitrate", 1234567);
    assert_told("vah265lpenc", "bitrate", 1234);
    assert_told("v4l2h264enc", "extra-controls", 1234567);
    assert_null(gst_tltcp_encoder_kind("theoraenc"));
    assert_null(gst_tltcp_encoder_kind("x264encoder"));
}

TEST(no_encoder_is_told_zero) {
    assert_int_equal(
        gst_tltcp_encoder_value(gst_tltcp_encoder_kind("x264enc"), 999), 1);
}

TEST(video_gets_what_overhead_and_audio_leave) {
    const GstTltcpEncoderLimits none = {0, 0};
    const GstTltcpEncoderLimits both = {300000, 700000};

    assert_int_equal(gst_tltcp_encoder_budget(1000000, 0, 0, &none), 950000);
    assert_int_equal(gst_tltcp_encoder_budget(1000000, 150000, 0, &none),
                     800000);
    assert_int_equal(gst_tltcp_encoder_budget(1000000, 2000000, 0, &none),
                     237500);
    assert_int_equal(gst_tltcp_encoder_budget(1000000, 0, 500000, &none),
                     500000);
    assert_int_equal(gst_tltcp_encoder_budget(1000000, 0, 500000, &both),
                     700000);
    assert_int_equal(gst_tltcp_encoder_budget(100000, 0, 500000, &both),
                     300000);
}

TEST(encoders_share_in_proportion) {
    assert_int_equal(gst_tltcp_encoder_share(900000, 2000, 3000), 600000);
    assert_int_equal(gst_tltcp_encoder_share(900000, 1000, 3000), 300000);
}

TEST(small_and_early_changes_are_not_told) {
    const GstTltcpEncoderState fresh = {0};
    const GstTltcpEncoderState told = {.video = 1000000, .told_at = 5000 * MS};

    assert_true(gst_tltcp_encoder_due(&fresh, 1000000, 0));
    assert_false(gst_tltcp_encoder_due(&told, 960000, 9000 * MS));
    assert_false(gst_tltcp_encoder_due(&told, 1040000, 9000 * MS));
    assert_false(gst_tltcp_encoder_due(&told, 900000, 5099 * MS));
    assert_true(gst_tltcp_encoder_due(&told, 900000, 5100 * MS));
    assert_false(gst_tltcp_encoder_due(&told, 1100000, 5299 * MS));
    assert_true(gst_tltcp_encoder_due(&told, 1100000, 5300 * MS));
}

/* ---- in pipelines ---- */

#define PICTURE                                                         \
    "videotestsrc is-live=true pattern=snow ! video/x-raw,format=I420," \
    "width=320,height=240,framerate=25/1 ! x264enc tune=zerolatency "   \
    "speed-preset=ultrafast key-int-max=50 bitrate=8000 name="
#define SINK "tltcpsink name=net encoder=auto latency=300 sync=false "

static gboolean have(const gchar *factory) {
    g_autoptr(GstElementFactory) found = gst_element_factory_find(factory);
    return found != NULL;
}

static guint bit_rate(GstElement *pipeline, const gchar *name) {
    g_autoptr(GstElement) encoder =
        gst_bin_get_by_name(GST_BIN(pipeline), name);
    guint value = 0;

    g_object_get(encoder, "bitrate", &value, NULL);
    return value;
}

/* What comes out of the source goes nowhere. */
static GstElement *run_pipeline(GstHarness *src, const gchar *elements) {
    g_autofree gchar *launch = g_strdup_printf(
        "%s uri=tltcp://127.0.0.1:%u", elements, support_port(src->element));
    GError *error = NULL;
    GstElement *pipeline = gst_parse_launch(launch, &error);

    assert_null(error);
    assert_non_null(pipeline);
    gst_harness_set_drop_buffers(src, TRUE);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    return pipeline;
}

static void stop_pipeline(GstElement *pipeline) {
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(pipeline);
}

/* Polls: encoders do not notify in every version. */
static void wait_below(GstElement *pipeline, const gchar *name, guint limit) {
    gint64 end = g_get_monotonic_time() + PATIENCE / 1000;

    while (bit_rate(pipeline, name) >= limit) {
        if (g_get_monotonic_time() > end) {
            fail_msg("%s stays at %u", name, bit_rate(pipeline, name));
        }
        g_usleep(20 * MS);
    }
}

TEST(an_encoder_follows_the_connection) {
    if (!have("x264enc")) {
        skip();
    }
    GstHarness *src = support_listener("tltcpsrc", "latency=300");
    GstElement *pipeline = run_pipeline(
        src, PICTURE "a ! queue ! h264parse ! video/x-h264,alignment=au ! " SINK
                     "max-send-bitrate=1000000");

    wait_below(pipeline, "a", 1200);
    stop_pipeline(pipeline);
    support_stop(src);
}

TEST(an_encoder_behind_a_muxer_in_a_bin_follows_too) {
    if (!have("x264enc") || !have("mpegtsmux")) {
        skip();
    }
    GstHarness *src = support_listener("tltcpsrc", "latency=300");
    GstElement *pipeline = run_pipeline(
        src, "( " PICTURE "a ! h264parse ) ! mpegtsmux alignment=7 ! " SINK
             "max-send-bitrate=1000000");

    wait_below(pipeline, "a", 1200);
    stop_pipeline(pipeline);
    support_stop(src);
}

TEST(two_encoders_share_the_connection) {
    if (!have("x264enc")) {
        skip();
    }
    GstHarness *src = support_listener("tltcpsrc", "latency=300");
    GstElement *pipeline =
        run_pipeline(src, PICTURE "a ! h264parse ! net. " PICTURE
                                  "b bitrate=2000 ! h264parse ! net. " SINK
                                  "max-send-bitrate=1000000");
    gint64 end = g_get_monotonic_time() + PATIENCE / 1000;
    guint a, b;

    /* They are told one after the other. */
    do {
        g_usleep(20 * MS);
        a = bit_rate(pipeline, "a");
        b = bit_rate(pipeline, "b");
    } while ((a + b >= 1200 || a < 4 * b || a > 4 * b + 4) &&
             g_get_monotonic_time() < end);
    assert_in_range(a + b, 1, 1199);
    assert_in_range(a, 4 * b, 4 * b + 4);
    stop_pipeline(pipeline);
    support_stop(src);
}

TEST(an_encoder_is_left_alone_unless_asked) {
    if (!have("x264enc")) {
        skip();
    }
    GstHarness *src = support_listener("tltcpsrc", "latency=300");
    GstElement *pipeline =
        run_pipeline(src, PICTURE "a ! h264parse ! " SINK
                                  "encoder=none max-send-bitrate=1000000");
    g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "net");
    gint64 end = g_get_monotonic_time() + PATIENCE / 1000;
    guint target = 0;

    while (!target && g_get_monotonic_time() < end) {
        g_usleep(20 * MS);
        g_object_get(sink, "target-bitrate", &target, NULL);
    }
    assert_true(target > 0);
    assert_int_equal(bit_rate(pipeline, "a"), 8000);
    g_clear_object(&sink);
    stop_pipeline(pipeline);
    support_stop(src);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_encoder_has_its_property_and_unit),
        cmocka_unit_test(no_encoder_is_told_zero),
        cmocka_unit_test(video_gets_what_overhead_and_audio_leave),
        cmocka_unit_test(encoders_share_in_proportion),
        cmocka_unit_test(small_and_early_changes_are_not_told),
        cmocka_unit_test(an_encoder_follows_the_connection),
        cmocka_unit_test(an_encoder_behind_a_muxer_in_a_bin_follows_too),
        cmocka_unit_test(two_encoders_share_the_connection),
        cmocka_unit_test(an_encoder_is_left_alone_unless_asked),
    };
    return cmocka_run_group_tests(tests, support_setup, NULL);
}
