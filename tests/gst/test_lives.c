/* SPDX-License-Identifier: MPL-2.0 */
/* Random lives of senders and receivers: paused, flushed, sought in and
 * stopped in any order, with or without somebody at the other end.  Every
 * change of state must come to an end. */
#include "tests/gst/support.h"

#define LIVES 60

/* What a stream is made of: live, as fast as can be, far in the future, ended
 * soon, ended at once. */
static const char *const feeds[] = {
    "is-live=true",  "num-buffers=-1", "timestamp-offset=3600000000000",
    "num-buffers=3", "num-buffers=0",  "is-live=true num-buffers=20",
};

static gboolean toss(GRand *r) {
    return g_rand_boolean(r);
}

static GstElement *sender(GRand *r, const char *uri) {
    g_autoptr(GError) error = NULL;
    g_autoptr(GString) launch = g_string_new(NULL);
    int streams = g_rand_int_range(r, 1, 4);

    g_string_printf(launch,
                    "tltcpsink name=s latency=50 sync=%d "
                    "wait-for-connection=%d uri=\"%s\"",
                    toss(r), toss(r), uri);
    for (int i = 0; i < streams; i++) {
        const char *feed = feeds[g_rand_int_range(r, 0, G_N_ELEMENTS(feeds))];
        g_string_append_printf(launch,
                               " audiotestsrc samplesperbuffer=320 %s ! "
                               "audio/x-raw,format=S16LE,rate=8000,channels=1 "
                               "! %s s.",
                               feed, toss(r) ? "queue !" : "");
    }
    GstElement *pipeline = gst_parse_launch(launch->str, &error);
    assert_null(error);
    return pipeline;
}

static GstElement *receiver(GRand *r, const char *uri) {
    g_autoptr(GError) error = NULL;
    g_autofree gchar *launch = g_strdup_printf(
        "tltcpsrc name=s latency=50 uri=\"%s\" ! fakesink sync=%d", uri,
        toss(r));
    GstElement *pipeline = gst_parse_launch(launch, &error);

    assert_null(error);
    return pipeline;
}

static void pause_a_little(GRand *r) {
    static const gulong us[] = {0, 1000, 10000, 100000};

    g_usleep(us[g_rand_int_range(r, 0, G_N_ELEMENTS(us))]);
}

static void disturb(GRand *r, GstElement *pipeline) {
    static const GstState states[] = {GST_STATE_PLAYING, GST_STATE_PAUSED,
                                      GST_STATE_READY};

    switch (g_rand_int_range(r, 0, 5)) {
    case 0:
        gst_element_send_event(pipeline, gst_event_new_flush_start());
        pause_a_little(r);
        gst_element_send_event(pipeline, gst_event_new_flush_stop(TRUE));
        break;
    case 1:
        gst_element_seek_simple(pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH,
                                0);
        break;
    default:
        gst_element_set_state(
            pipeline, states[g_rand_int_range(r, 0, G_N_ELEMENTS(states))]);
    }
    pause_a_little(r);
}

static guint port_of(GstElement *pipeline) {
    g_autoptr(GstElement) s = gst_bin_get_by_name(GST_BIN(pipeline), "s");

    return support_port(s);
}

/* One end listens; the other calls it, or is not there. */
static void live(GRand *r) {
    gboolean sends = toss(r);
    gboolean alone = g_rand_int_range(r, 0, 3) == 0;
    const char *any = "tltcp://127.0.0.1:0?mode=listener";
    GstElement *ends[2] = {sends ? sender(r, any) : receiver(r, any), NULL};

    gst_element_set_state(ends[0], GST_STATE_PLAYING);
    if (!alone) {
        g_autofree gchar *uri =
            g_strdup_printf("tltcp://127.0.0.1:%u", port_of(ends[0]));
        ends[1] = sends ? receiver(r, uri) : sender(r, uri);
        gst_element_set_state(ends[1], GST_STATE_PLAYING);
    }
    pause_a_little(r);
    for (int n = g_rand_int_range(r, 0, 5); n; n--) {
        disturb(r, ends[!alone && toss(r)]);
    }
    int first = toss(r);
    for (int i = 0; i < 2; i++) {
        GstElement *end = ends[i ^ first];
        if (end) {
            gst_element_set_state(end, GST_STATE_NULL);
            gst_object_unref(end);
        }
    }
}

TEST(every_life_ends) {
    for (guint32 seed = 1; seed <= LIVES; seed++) {
        GRand *r = g_rand_new_with_seed(seed);
        live(r);
        g_rand_free(r);
    }
}

/* ---- additional pads whose upstream runs before the sink ---- */

static int begun; /* atomic */

/* What upstream sends, again and again. */
static gpointer send_events(gpointer pad) {
    for (int i = 0; i < 50; i++) {
        g_autoptr(GstCaps) caps =
            gst_caps_new_simple("audio/x-alaw", "rate", G_TYPE_INT, 8000 + i,
                                "channels", G_TYPE_INT, 1, NULL);
        g_autofree gchar *title = g_strdup_printf("title %d", i);
        GstSegment segment;

        gst_segment_init(&segment, GST_FORMAT_TIME);
        gst_pad_send_event(pad, gst_event_new_stream_start("s"));
        gst_pad_send_event(pad, gst_event_new_caps(caps));
        gst_pad_send_event(pad, gst_event_new_segment(&segment));
        gst_pad_send_event(pad, gst_event_new_tag(gst_tag_list_new(
                                    GST_TAG_TITLE, title, NULL)));
        gst_pad_send_event(pad, gst_event_new_gap(0, GST_SECOND));
        g_atomic_int_inc(&begun);
    }
    gst_pad_send_event(pad, gst_event_new_eos());
    return NULL;
}

TEST(a_sink_starts_while_pads_get_events) {
    for (int i = 0; i < 20; i++) {
        GstElement *sink = gst_element_factory_make("tltcpsink", NULL);
        g_object_set(sink, "uri", "tltcp://127.0.0.1:0?mode=listener", NULL);
        GstPad *pad = gst_element_request_pad_simple(sink, "sink_%u");
        GThread *upstream = NULL;

        g_atomic_int_set(&begun, 0);
        upstream = g_thread_new("upstream", send_events, pad);
        while (g_atomic_int_get(&begun) == 0) {
            g_thread_yield();
        }
        gst_element_set_state(sink, GST_STATE_READY);
        gst_element_set_state(sink, GST_STATE_NULL);
        g_thread_join(upstream);
        gst_element_release_request_pad(sink, pad);
        gst_object_unref(pad);
        gst_object_unref(sink);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_life_ends),
        cmocka_unit_test(a_sink_starts_while_pads_get_events),
    };
    return cmocka_run_group_tests(tests, support_setup, NULL);
}
