/* SPDX-License-Identifier: MPL-2.0 */
/* Transport streams, and what builds pipelines by itself from a URI. */
#include "tests/gst/pipelines.h"

/* ---- transport streams ---- */

TEST(a_transport_stream_arrives_whole) {
    struct run *r = *state;
    guint port = run_receive(r, "tltcp://127.0.0.1:0?mode=listener");

    run_send(r, port,
             "mpegtsmux name=m alignment=7 ! s. " VIDEO " ! m. " VIDEO
             " ! m. " AUDIO " ! audioconvert ! avenc_aac ! m.",
             "num-buffers=50", "num-buffers=50", "num-buffers=100");
    run_wait_end(r);
    struct output *ts = run_find(r, "video/mpegts", 1);
    assert_non_null(ts);
    /* at least a section per picture, none of them needless */
    assert_true(ts->buffers >= 100);
    assert_in_range(ts->keys, 4, 10);
}

static void on_decoded(GstElement *sink, GstBuffer *buffer, GstPad *pad,
                       gint *count) {
    (void)sink;
    (void)buffer;
    (void)pad;
    g_atomic_int_inc(count);
}

TEST(a_transport_stream_can_be_demuxed) {
    struct run *r = *state;
    gint pictures = 0;

    r->receiver =
        pipeline_play("tltcpsrc name=src "
                      "uri=\"tltcp://127.0.0.1:0?mode=listener\" ! tsdemux ! "
                      "h264parse ! avdec_h264 ! fakesink name=f sync=false "
                      "async=false signal-handoffs=true");
    g_autoptr(GstElement) src =
        gst_bin_get_by_name(GST_BIN(r->receiver), "src");
    g_autoptr(GstElement) f = gst_bin_get_by_name(GST_BIN(r->receiver), "f");
    g_signal_connect(f, "handoff", G_CALLBACK(on_decoded), &pictures);
    run_send(r, support_port(src),
             "mpegtsmux name=m alignment=7 ! s. " VIDEO " ! m.",
             "num-buffers=50");
    run_wait_end(r);
    assert_int_equal(pictures, 50);
}

/* ---- data without times ---- */

struct stamps {
    guint buffers;
    guint waits; /* buffers stamped a latency or more after the last one */
    GstClockTime last;
};

static void on_stamped(GstElement *sink, GstBuffer *buffer, GstPad *pad,
                       struct stamps *s) {
    (void)sink;
    (void)pad;
    s->waits += s->buffers++ > 0 &&
                GST_BUFFER_PTS(buffer) >= s->last + 100 * GST_MSECOND;
    s->last = GST_BUFFER_PTS(buffer);
}

/* The first one waits for the latency; those behind it need not again. */
TEST(data_without_times_passes_a_sink_that_waits) {
    struct run *r = *state;
    struct stamps s = {0, 0, 0};

    r->receiver = pipeline_play(
        "tltcpsrc name=src latency=100 "
        "uri=\"tltcp://127.0.0.1:0?mode=listener\" ! fakesink name=f "
        "sync=true signal-handoffs=true");
    g_autoptr(GstElement) src =
        gst_bin_get_by_name(GST_BIN(r->receiver), "src");
    g_autoptr(GstElement) f = gst_bin_get_by_name(GST_BIN(r->receiver), "f");
    g_signal_connect(f, "handoff", G_CALLBACK(on_stamped), &s);
    g_autofree gchar *sender =
        g_strdup_printf("fakesrc num-buffers=20 sizetype=fixed sizemax=1000 ! "
                        "tltcpsink latency=100 uri=tltcp://127.0.0.1:%u",
                        support_port(src));
    r->sender = pipeline_play(sender);
    run_wait_end(r);
    assert_int_equal(s.buffers, 20);
    assert_in_range(s.waits, 0, 9);
}

struct stall {
    guint buffers;
    GstClockTime end; /* running time */
    GstClockTime next;
};

/* Stalls at the first buffer. */
static void on_stalling(GstElement *sink, GstBuffer *buffer, GstPad *pad,
                        struct stall *s) {
    (void)pad;
    if (s->buffers++ == 0) {
        g_usleep(300000);
        g_autoptr(GstClock) clock = gst_element_get_clock(sink);
        s->end = gst_clock_get_time(clock) - gst_element_get_base_time(sink);
    } else if (s->buffers == 2) {
        s->next = GST_BUFFER_PTS(buffer);
    }
}

/* This pipeline has no latency, so the sink waited for nothing. */
TEST(a_stall_does_not_make_data_without_times_early) {
    struct run *r = *state;
    struct stall s = {0, 0, 0};

    r->receiver = gst_parse_launch(
        "tltcpsrc name=src latency=1000 "
        "uri=\"tltcp://127.0.0.1:0?mode=listener\" ! fakesink name=f "
        "sync=false signal-handoffs=true",
        NULL);
    gst_pipeline_set_latency(GST_PIPELINE(r->receiver), 0);
    gst_element_set_state(r->receiver, GST_STATE_PLAYING);
    gst_element_get_state(r->receiver, NULL, NULL, PATIENCE);
    g_autoptr(GstElement) src =
        gst_bin_get_by_name(GST_BIN(r->receiver), "src");
    g_autoptr(GstElement) f = gst_bin_get_by_name(GST_BIN(r->receiver), "f");
    g_signal_connect(f, "handoff", G_CALLBACK(on_stalling), &s);
    g_autofree gchar *sender =
        g_strdup_printf("fakesrc num-buffers=2 sizetype=fixed sizemax=1000 ! "
                        "tltcpsink latency=1000 uri=tltcp://127.0.0.1:%u",
                        support_port(src));
    r->sender = pipeline_play(sender);
    run_wait_end(r);
    assert_int_equal(s.buffers, 2);
    assert_true(s.next >= s.end);
}

/* ---- by URI ---- */

static void plays_by_uri(struct run *r, const char *what, const char *sink) {
    g_autofree gchar *whole =
        g_strdup_printf("%s uri=tltcp://127.0.0.1:%u%s", what, run_sink_port(r),
                        sink ? " ! fakesink name=f" : "");
    gint count = 0;

    r->receiver = pipeline_play(whole);
    g_autoptr(GstElement) f = NULL;
    if (sink) {
        f = gst_bin_get_by_name(GST_BIN(r->receiver), sink);
    } else {
        g_object_get(r->receiver, "video-sink", &f, NULL);
    }
    g_object_set(f, "signal-handoffs", TRUE, NULL);
    g_signal_connect(f, "handoff", G_CALLBACK(on_decoded), &count);
    pipeline_wait(r->receiver, GST_MESSAGE_ASYNC_DONE);
    gint64 end = g_get_monotonic_time() + PATIENCE / 1000;
    while (g_atomic_int_get(&count) < 5) {
        assert_true(g_get_monotonic_time() < end);
        g_usleep(10000);
    }
    pipeline_stop(&r->receiver); /* before count is gone */
}

TEST(uridecodebin_takes_the_uri) {
    struct run *r = *state;

    run_send_to_callers(r, VIDEO " ! s.", "is-live=true");
    plays_by_uri(r, "uridecodebin", "f");
}

TEST(playbin_takes_the_uri) {
    struct run *r = *state;

    run_send_to_callers(r, VIDEO " ! queue ! s. " AUDIO " ! queue ! s.",
                        "is-live=true", "is-live=true");
    plays_by_uri(r,
                 "playbin audio-sink=\"fakesink sync=true\" "
                 "video-sink=\"fakesink sync=true\"",
                 NULL);
}

TEST(playbin_plays_a_transport_stream) {
    struct run *r = *state;

    run_send_to_callers(r, "mpegtsmux name=m ! s. " VIDEO " ! m. ",
                        "is-live=true");
    plays_by_uri(r,
                 "playbin audio-sink=fakesink "
                 "video-sink=\"fakesink sync=true\"",
                 NULL);
}

#define T(name) cmocka_unit_test_setup_teardown(name, run_setup, run_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(a_transport_stream_arrives_whole),
        T(a_transport_stream_can_be_demuxed),
        T(data_without_times_passes_a_sink_that_waits),
        T(a_stall_does_not_make_data_without_times_early),
        T(uridecodebin_takes_the_uri),
        T(playbin_takes_the_uri),
        T(playbin_plays_a_transport_stream),
    };
    return cmocka_run_group_tests(tests, support_setup, NULL);
}
