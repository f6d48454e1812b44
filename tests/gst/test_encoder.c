/* SPDX-License-Identifier: MPL-2.0 */
/* encoder=auto: what is set, and that real encoders follow. */
#include <gst/check/gstharness.h>

#include "gst-plugins/gsttltcpencoder.h"
#include "gst-plugins/gsttltcpqos.h"
#include "tests/gst/support.h"

#define MS G_TIME_SPAN_MILLISECOND

static void assert_kind(const gchar *factory, const gchar *property,
                        gint64 value) {
    const GstTltcpEncoderKind *kind = gst_tltcp_encoder_kind(factory);

    assert_non_null(kind);
    assert_string_equal(kind->property, property);
    assert_int_equal(gst_tltcp_encoder_value(kind, 1234567), value);
}

TEST(every_encoder_has_its_property_and_unit) {
    assert_kind("x264enc", "bitrate", 1234);
    assert_kind("x265enc", "bitrate", 1234);
    assert_kind("vp8enc", "target-bitrate", 1234567);
    assert_kind("vp9enc", "target-bitrate", 1234567);
    assert_kind("openh264enc", "bitrate", 1234567);
    assert_kind("av1enc", "target-bitrate", 1234);
    assert_kind("nvh264enc", "bitrate", 1234);
    assert_kind("nvv4l2h264enc", "bitrate", 1234567);
    assert_kind("vah265lpenc", "bitrate", 1234);
    assert_kind("v4l2h264enc", "extra-controls", 1234567);
    assert_null(gst_tltcp_encoder_kind("theoraenc"));
    assert_null(gst_tltcp_encoder_kind("x264encoder"));
}

TEST(no_encoder_is_set_to_zero) {
    assert_int_equal(
        gst_tltcp_encoder_value(gst_tltcp_encoder_kind("x264enc"), 999), 1);
}

TEST(video_gets_the_rest_after_overhead_and_audio) {
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

TEST(small_and_early_changes_are_not_applied) {
    const GstTltcpEncoderState fresh = {0};
    const GstTltcpEncoderState applied = {.video = 1000000,
                                          .applied_at = 5000 * MS};

    assert_true(gst_tltcp_encoder_due(&fresh, 1000000, 0));
    assert_false(gst_tltcp_encoder_due(&applied, 960000, 9000 * MS));
    assert_false(gst_tltcp_encoder_due(&applied, 1040000, 9000 * MS));
    assert_false(gst_tltcp_encoder_due(&applied, 900000, 5099 * MS));
    assert_true(gst_tltcp_encoder_due(&applied, 900000, 5100 * MS));
    assert_false(gst_tltcp_encoder_due(&applied, 1100000, 5149 * MS));
    assert_true(gst_tltcp_encoder_due(&applied, 1100000, 5150 * MS));
}

TEST(a_fall_by_more_than_a_fifth_is_applied_at_once) {
    const GstTltcpEncoderState applied = {.video = 1000000,
                                          .applied_at = 5000 * MS};

    assert_false(gst_tltcp_encoder_due(&applied, 800000, 5000 * MS));
    assert_true(gst_tltcp_encoder_due(&applied, 799999, 5000 * MS));
}

TEST(sinks_that_share_an_encoder_agree_on_the_lowest_rate) {
    GstElement *encoder = gst_element_factory_make("identity", NULL);
    int a, b;

    assert_int_equal(gst_tltcp_encoder_agree(encoder, &a, 900, 0), 900);
    assert_int_equal(gst_tltcp_encoder_agree(encoder, &b, 400, MS), 400);
    assert_int_equal(gst_tltcp_encoder_agree(encoder, &a, 900, 2 * MS), 400);
    assert_int_equal(gst_tltcp_encoder_agree(encoder, &b, 1200, 3 * MS), 900);
    /* The other one is gone. */
    assert_int_equal(gst_tltcp_encoder_agree(encoder, &b, 1200, 20000 * MS),
                     1200);
    gst_object_unref(encoder);
}

/* ---- pictures that would come too late ---- */

/* Whether an encoder takes a picture with this running time. */
static gboolean takes(GstHarness *encoder, guint64 ms) {
    GstBuffer *picture = gst_buffer_new_allocate(NULL, 1, NULL);

    GST_BUFFER_PTS(picture) = ms * GST_MSECOND;
    assert_int_equal(gst_harness_push(encoder, picture), GST_FLOW_OK);
    picture = gst_harness_try_pull(encoder);
    if (!picture) {
        return FALSE;
    }
    gst_buffer_unref(picture);
    return TRUE;
}

TEST(an_encoder_skips_pictures_that_would_come_too_late) {
    GstHarness *h = gst_harness_new("identity");

    gst_harness_set_src_caps_str(h, "video/x-raw");
    gst_tltcp_qos_watch(h->element);
    gst_tltcp_qos_watch(h->element);
    assert_true(takes(h, 1000));
    gst_harness_push_upstream_event(
        h, gst_tltcp_qos_event(1000 * GST_MSECOND, 100 * GST_MSECOND));
    assert_false(takes(h, 1040));
    /* It may be late still when the lateness has passed. */
    assert_false(takes(h, 1120));
    gst_harness_push_upstream_event(
        h, gst_tltcp_qos_resume_event(1000 * GST_MSECOND));
    assert_true(takes(h, 1120));
    /* A pause is limited, and what is asked by others is not meant. */
    gst_harness_push_upstream_event(
        h, gst_tltcp_qos_event(1120 * GST_MSECOND, 60 * GST_SECOND));
    assert_false(takes(h, 1600));
    assert_true(takes(h, 1640));
    gst_harness_push_upstream_event(h, gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW,
                                                         1.5, GST_SECOND,
                                                         1640 * GST_MSECOND));
    assert_true(takes(h, 1680));
    /* Their time may step back. */
    gst_harness_push_upstream_event(
        h, gst_tltcp_qos_event(1760 * GST_MSECOND, 400 * GST_MSECOND));
    assert_false(takes(h, 1800));
    assert_true(takes(h, 800));
    gst_harness_push_upstream_event(
        h, gst_tltcp_qos_event(800 * GST_MSECOND, 100 * GST_MSECOND));
    assert_false(takes(h, 840));
    gst_harness_teardown(h);
}

TEST(elements_upstream_understand_the_same_pause) {
    GstEvent *event =
        gst_tltcp_qos_event(1000 * GST_MSECOND, 100 * GST_MSECOND);
    GstClockTimeDiff diff;
    GstClockTime running;
    gdouble proportion;

    gst_event_parse_qos(event, NULL, &proportion, &diff, &running);
    assert_int_equal(running + 2 * (GstClockTime)diff, 1100 * GST_MSECOND);
    assert_true(proportion > 1);
    gst_event_unref(event);
}

static void on_section(void *user, tltcp_live_section *section) {
    tltcp_live_section **kept = user;
    *kept = tltcp_live_section_ref(section);
}

/* TRUE: it is a picture with a time. */
static gboolean note_picture(GstTltcpQos *qos, tltcp_live_stream *stream,
                             tltcp_live_section **section, guint32 flags,
                             gsize len) {
    static const char bytes[10000];
    tltcp_live_frame f;

    tltcp_live_frame_init(&f);
    f.data = bytes;
    f.len = len;
    f.flags = flags;
    f.pts = f.dts = 0;
    assert_int_equal(tltcp_live_stream_write(stream, &f), 0);
    gboolean counts = gst_tltcp_qos_section(qos, *section);
    tltcp_live_section_unref(*section);
    return counts;
}

TEST(the_next_picture_is_taken_to_be_of_average_size) {
    tltcp_live_section *section = NULL;
    tltcp_live_stream *stream = tltcp_live_stream_new(0, on_section, &section);
    GstTltcpQos qos = {0};
    tltcp_live_format format;

    tltcp_live_format_init(&format);
    format.type = TLTCP_LIVE_VIDEO;
    format.codec = "theora";
    assert_int_equal(tltcp_live_stream_set_format(stream, &format), 0);
    tltcp_live_stream_set_deadlines(stream, TLTCP_LIVE_DEADLINE_PTS, 300, 1000,
                                    1);
    assert_true(note_picture(&qos, stream, &section, TLTCP_LIVE_KEY, 10000));
    assert_in_range(qos.bytes, 10000, 10100); /* there may be no others */
    assert_true(note_picture(&qos, stream, &section, TLTCP_LIVE_DELTA, 1000));
    gsize first = qos.bytes;
    assert_in_range(first, 1000, 1100);
    assert_true(note_picture(&qos, stream, &section, TLTCP_LIVE_DELTA, 3000));
    assert_in_range(qos.bytes, first + 1, 1500);
    assert_true(note_picture(&qos, stream, &section, TLTCP_LIVE_KEY, 10000));
    assert_in_range(qos.bytes, first + 1, 1500);
    assert_int_equal(qos.due, 300 * GST_MSECOND);
    tltcp_live_stream_free(stream);
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

/* The output of the source is discarded. */
static GstElement *make_pipeline(GstHarness *src, const gchar *elements) {
    g_autofree gchar *launch = g_strdup_printf(
        "%s uri=tltcp://127.0.0.1:%u", elements, support_port(src->element));
    GError *error = NULL;
    GstElement *pipeline = gst_parse_launch(launch, &error);

    assert_null(error);
    assert_non_null(pipeline);
    gst_harness_set_drop_buffers(src, TRUE);
    return pipeline;
}

static GstElement *run_pipeline(GstHarness *src, const gchar *elements) {
    GstElement *pipeline = make_pipeline(src, elements);

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

/* The rate of all layers, or gives it one of two layers. */
static int layer_rate(GstElement *encoder, int set) {
    static const char name[] = "temporal-scalability-target-bitrate";
    GValue rate = G_VALUE_INIT;
    GValueArray *rates = NULL;
    int top;

    G_GNUC_BEGIN_IGNORE_DEPRECATIONS
    if (set) {
        rates = g_value_array_new(2);
        g_value_init(&rate, G_TYPE_INT);
        g_value_set_int(&rate, set * 6 / 10);
        g_value_array_append(rates, &rate);
        g_value_set_int(&rate, set);
        g_value_array_append(rates, &rate);
        g_object_set(encoder, name, rates, NULL);
        g_value_array_free(rates);
    }
    g_object_get(encoder, name, &rates, NULL);
    assert_int_equal(rates->n_values, 2);
    top = g_value_get_int(&rates->values[1]);
    int base = g_value_get_int(&rates->values[0]);
    assert_in_range(base, top * 6 / 10 - 2000, top * 6 / 10 + 2000);
    g_value_array_free(rates);
    G_GNUC_END_IGNORE_DEPRECATIONS
    return top;
}

TEST(the_temporal_layers_of_an_encoder_follow) {
    if (!have("vp8enc")) {
        skip();
    }
    GstHarness *src = support_listener("tltcpsrc", "latency=300");
    GstElement *pipeline = make_pipeline(
        src, "videotestsrc is-live=true ! video/x-raw,format=I420,width=320,"
             "height=240,framerate=25/1 ! vp8enc deadline=1 name=a "
             "target-bitrate=8000000 ! " SINK "max-send-bitrate=1000000");
    g_autoptr(GstElement) encoder = gst_bin_get_by_name(GST_BIN(pipeline), "a");
    gint64 end = g_get_monotonic_time() + PATIENCE / 1000;

    assert_int_equal(layer_rate(encoder, 8000000), 8000000);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    while (layer_rate(encoder, 0) > 1200000 && g_get_monotonic_time() < end) {
        g_usleep(20 * MS);
    }
    assert_in_range(layer_rate(encoder, 0), 1, 1200000);
    g_clear_object(&encoder);
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

    /* They are set one after the other. */
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

/* The pictures that came out of an encoder, in order. */
struct out {
    GMutex lock;
    GCond changed;
    GstClockTime first;
    GstClockTime last;
    gint count;
};

static GstPadProbeReturn note_out(GstPad *pad, GstPadProbeInfo *info,
                                  gpointer user) {
    struct out *out = user;

    (void)pad;
    g_mutex_lock(&out->lock);
    out->last = GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info));
    out->first = out->count++ ? out->first : out->last;
    g_cond_broadcast(&out->changed);
    g_mutex_unlock(&out->lock);
    return GST_PAD_PROBE_OK;
}

static void watch_out(GstElement *pipeline, const gchar *name,
                      struct out *out) {
    g_autoptr(GstElement) e = gst_bin_get_by_name(GST_BIN(pipeline), name);
    g_autoptr(GstPad) pad = gst_element_get_static_pad(e, "src");

    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, note_out, out, NULL);
}

/* How many are missing between the first and the last. Those that are still in
 * the encoder come after the last and do not count. Requires the lock. */
static gint skipped(const struct out *out) {
    const GstClockTime picture = GST_SECOND / 25;

    return (gint)((out->last - out->first + picture / 2) / picture) + 1 -
           out->count;
}

/* An encoder that makes more than the connection carries must skip. */
static void expect_skips(const gchar *encoder, const gchar *properties) {
    static struct out out; /* zeroed locks are valid */
    GstHarness *src = support_listener("tltcpsrc", "latency=300");
    g_autofree gchar *elements = g_strdup_printf(
        "videotestsrc is-live=true pattern=snow ! "
        "video/x-raw,format=I420,width=320,height=240,framerate=25/1 ! "
        "%s ! " SINK "max-send-bitrate=500000 %s",
        encoder, properties);
    GstElement *pipeline = make_pipeline(src, elements);
    gint64 end = g_get_monotonic_time() + PATIENCE / 1000;

    watch_out(pipeline, "a", &out);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    g_mutex_lock(&out.lock);
    while ((!out.count || skipped(&out) < 25) &&
           g_cond_wait_until(&out.changed, &out.lock, end)) {
    }
    gint missing = out.count ? skipped(&out) : 0;
    g_mutex_unlock(&out.lock);
    stop_pipeline(pipeline);
    support_stop(src);
    assert_true(missing >= 25);
}

TEST(an_encoder_that_makes_too_much_skips_pictures) {
    if (!have("x264enc")) {
        skip();
    }
    expect_skips("x264enc tune=zerolatency speed-preset=ultrafast "
                 "bitrate=4000 name=a ! h264parse",
                 "encoder-min-bitrate=4000000");
}

TEST(one_that_cannot_be_steered_may_skip_too) {
    const GstTltcpEncoderLimits none = {0, 0};
    GstTltcpEncoderState steering = {0};

    if (!have("jpegenc")) {
        skip();
    }
    GstElement *pipeline =
        gst_parse_launch("jpegenc name=a ! fakesink name=net", NULL);
    GstElement *encoder = gst_bin_get_by_name(GST_BIN(pipeline), "a");
    GstElement *sink = gst_bin_get_by_name(GST_BIN(pipeline), "net");
    GPtrArray *pads = g_ptr_array_new_with_free_func(gst_object_unref);

    g_ptr_array_add(pads, gst_element_get_static_pad(sink, "sink"));
    assert_null(gst_tltcp_encoder_kind("jpegenc"));
    gst_tltcp_encoder_steer(&steering, pads, 1000000, &none);
    assert_non_null(g_object_get_data(G_OBJECT(encoder), "tltcp-qos"));
    g_ptr_array_unref(pads);
    gst_object_unref(sink);
    gst_object_unref(encoder);
    gst_object_unref(pipeline);
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
        cmocka_unit_test(no_encoder_is_set_to_zero),
        cmocka_unit_test(video_gets_the_rest_after_overhead_and_audio),
        cmocka_unit_test(encoders_share_in_proportion),
        cmocka_unit_test(small_and_early_changes_are_not_applied),
        cmocka_unit_test(a_fall_by_more_than_a_fifth_is_applied_at_once),
        cmocka_unit_test(sinks_that_share_an_encoder_agree_on_the_lowest_rate),
        cmocka_unit_test(an_encoder_skips_pictures_that_would_come_too_late),
        cmocka_unit_test(elements_upstream_understand_the_same_pause),
        cmocka_unit_test(the_next_picture_is_taken_to_be_of_average_size),
        cmocka_unit_test(an_encoder_that_makes_too_much_skips_pictures),
        cmocka_unit_test(one_that_cannot_be_steered_may_skip_too),
        cmocka_unit_test(an_encoder_follows_the_connection),
        cmocka_unit_test(the_temporal_layers_of_an_encoder_follow),
        cmocka_unit_test(an_encoder_behind_a_muxer_in_a_bin_follows_too),
        cmocka_unit_test(two_encoders_share_the_connection),
        cmocka_unit_test(an_encoder_is_left_alone_unless_asked),
    };
    return cmocka_run_group_tests(tests, support_setup, NULL);
}
