/* SPDX-License-Identifier: MPL-2.0 */
/* Several streams over one connection, transport streams, and what builds
 * pipelines by itself from a URI. */
#include <string.h>

#include "tests/gst/support.h"

#define VIDEO                                                        \
    "videotestsrc pattern=ball %s ! video/x-raw,width=64,height=48," \
    "framerate=25/1 ! x264enc tune=zerolatency key-int-max=25 ! h264parse"
#define AUDIO                                                          \
    "audiotestsrc samplesperbuffer=320 %s ! audio/x-raw,format=S16LE," \
    "rate=8000,channels=1"

/* What came out of one pad of a source. */
struct output {
    gchar *name;
    gchar *type;
    guint buffers;
    guint keys;
    gboolean eos;
    gchar *title;
    gchar *language;
};

struct run {
    GMutex lock; /* for outputs */
    GCond changed;
    GPtrArray *outputs;
    GstElement *sender;
    GstElement *receiver;
};

static struct output *output_of(struct run *r, GstPad *pad) {
    GstPad *peer = gst_pad_get_peer(pad);
    g_autofree gchar *name = gst_pad_get_name(peer);

    gst_object_unref(peer);
    for (guint i = 0; i < r->outputs->len; i++) {
        struct output *o = g_ptr_array_index(r->outputs, i);
        if (strcmp(o->name, name) == 0) {
            return o;
        }
    }
    struct output *o = g_new0(struct output, 1);
    o->name = g_strdup(name);
    g_ptr_array_add(r->outputs, o);
    return o;
}

static void keep_tag(const GstTagList *list, const char *tag, gchar **value) {
    gchar *found = NULL;

    if (gst_tag_list_get_string(list, tag, &found)) {
        g_free(*value);
        *value = found;
    }
}

static GstPadProbeReturn on_data(GstPad *pad, GstPadProbeInfo *info,
                                 gpointer user) {
    struct run *r = user;
    GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
    GstEvent *event = GST_PAD_PROBE_INFO_EVENT(info);

    g_mutex_lock(&r->lock);
    struct output *o = output_of(r, pad);
    if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
        g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
        o->buffers++;
        o->keys += !GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DELTA_UNIT);
        if (!o->type && caps) {
            o->type = g_strdup(
                gst_structure_get_name(gst_caps_get_structure(caps, 0)));
        }
    } else if (GST_EVENT_TYPE(event) == GST_EVENT_TAG) {
        GstTagList *list;
        gst_event_parse_tag(event, &list);
        keep_tag(list, GST_TAG_TITLE, &o->title);
        keep_tag(list, GST_TAG_LANGUAGE_CODE, &o->language);
    } else if (GST_EVENT_TYPE(event) == GST_EVENT_EOS) {
        o->eos = TRUE;
    }
    g_cond_broadcast(&r->changed);
    g_mutex_unlock(&r->lock);
    return GST_PAD_PROBE_OK;
}

static void on_pad(GstElement *source, GstPad *pad, gpointer user) {
    struct run *r = user;
    GstElement *sink = gst_element_factory_make("fakesink", NULL);

    (void)source;
    if (GST_PAD_IS_SINK(pad)) {
        gst_object_unref(gst_object_ref_sink(sink));
        return;
    }
    g_object_set(sink, "sync", FALSE, "async", FALSE, NULL);
    gst_bin_add(GST_BIN(r->receiver), sink);
    g_autoptr(GstPad) end = gst_element_get_static_pad(sink, "sink");
    gst_pad_add_probe(
        end, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
        on_data, r, NULL);
    assert_int_equal(gst_pad_link(pad, end), GST_PAD_LINK_OK);
    gst_element_sync_state_with_parent(sink);
}

static int setup(void **state) {
    struct run *r = g_new0(struct run, 1);

    g_mutex_init(&r->lock);
    g_cond_init(&r->changed);
    r->outputs = g_ptr_array_new();
    *state = r;
    return 0;
}

static void stop(GstElement **pipeline) {
    if (*pipeline) {
        gst_element_set_state(*pipeline, GST_STATE_NULL);
        gst_clear_object(pipeline);
    }
}

static void free_outputs(struct run *r) {
    for (guint i = 0; i < r->outputs->len; i++) {
        struct output *o = g_ptr_array_index(r->outputs, i);
        g_free(o->name);
        g_free(o->type);
        g_free(o->title);
        g_free(o->language);
        g_free(o);
    }
    g_ptr_array_unref(r->outputs);
}

static int teardown(void **state) {
    struct run *r = *state;

    stop(&r->sender);
    stop(&r->receiver);
    free_outputs(r);
    g_cond_clear(&r->changed);
    g_mutex_clear(&r->lock);
    g_free(r);
    return 0;
}

static GstElement *play(const char *launch) {
    g_autoptr(GError) error = NULL;
    GstElement *pipeline = gst_parse_launch(launch, &error);

    if (error) {
        fail_msg("%s: %s", launch, error->message);
    }
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    return pipeline;
}

/* A pipeline with one source of ours whose pads all end in fakesinks. */
static guint receive(struct run *r, const char *uri) {
    GstElement *source = support_element("tltcpsrc", uri);
    g_autoptr(GstPad) pad = gst_element_get_static_pad(source, "src");

    r->receiver = gst_pipeline_new(NULL);
    gst_bin_add(GST_BIN(r->receiver), source);
    on_pad(source, pad, r);
    g_signal_connect(source, "pad-added", G_CALLBACK(on_pad), r);
    gst_element_set_state(r->receiver, GST_STATE_PLAYING);
    if (strstr(uri, "listener")) {
        gst_element_get_state(r->receiver, NULL, NULL, PATIENCE);
        return support_port(source);
    }
    return 0;
}

static guint sink_port(GstElement *pipeline) {
    g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "s");

    return support_port(sink);
}

G_GNUC_PRINTF(3, 4)
static void send_to(struct run *r, guint port, const char *format, ...) {
    va_list args;

    va_start(args, format);
    g_autofree gchar *streams = g_strdup_vprintf(format, args);
    va_end(args);
    g_autofree gchar *launch =
        g_strdup_printf("tltcpsink name=s sync=false latency=60000 "
                        "uri=tltcp://127.0.0.1:%u %s",
                        port, streams);
    r->sender = play(launch);
}

G_GNUC_PRINTF(2, 3)
static void send_to_callers(struct run *r, const char *format, ...) {
    va_list args;

    va_start(args, format);
    g_autofree gchar *streams = g_strdup_vprintf(format, args);
    va_end(args);
    g_autofree gchar *launch =
        g_strdup_printf("tltcpsink name=s latency=2000 "
                        "uri=\"tltcp://127.0.0.1:0?mode=listener\" %s",
                        streams);
    r->sender = play(launch);
}

static void wait_message(GstElement *pipeline, GstMessageType type) {
    g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
    g_autoptr(GstMessage) m =
        gst_bus_timed_pop_filtered(bus, PATIENCE, type | GST_MESSAGE_ERROR);

    assert_non_null(m);
    if (GST_MESSAGE_TYPE(m) == GST_MESSAGE_ERROR) {
        g_autoptr(GError) error = NULL;
        gst_message_parse_error(m, &error, NULL);
        fail_msg("%s: %s", GST_OBJECT_NAME(GST_MESSAGE_SRC(m)), error->message);
    }
}

static void wait_end(struct run *r) {
    wait_message(r->sender, GST_MESSAGE_EOS);
    wait_message(r->receiver, GST_MESSAGE_EOS);
}

/* Of a media type, once it has so many buffers; NULL: not yet. */
static struct output *find(struct run *r, const char *type, guint buffers) {
    for (guint i = 0; i < r->outputs->len; i++) {
        struct output *o = g_ptr_array_index(r->outputs, i);
        if (g_strcmp0(o->type, type) == 0 && o->buffers >= buffers) {
            return o;
        }
    }
    return NULL;
}

static struct output *wait_output(struct run *r, const char *type,
                                  guint buffers) {
    gint64 end = g_get_monotonic_time() + PATIENCE / 1000;
    struct output *o;

    g_mutex_lock(&r->lock);
    while (!(o = find(r, type, buffers))) {
        if (!g_cond_wait_until(&r->changed, &r->lock, end)) {
            g_mutex_unlock(&r->lock);
            fail_msg("less than %u buffers of %s", buffers, type);
        }
    }
    g_mutex_unlock(&r->lock);
    return o;
}

/* So many pictures, such as "num-buffers=5", and so much sound, to their end.
 */
static void carry_both(struct run *r, const char *pictures, const char *sound) {
    guint port = receive(r, "tltcp://127.0.0.1:0?mode=listener");

    send_to(r, port, VIDEO " ! s. " AUDIO " ! s.", pictures, sound);
    wait_end(r);
}

static void picture_and_sound_share_a_connection(void **state) {
    struct run *r = *state;

    carry_both(r, "num-buffers=50", "num-buffers=50");
    struct output *video = find(r, "video/x-h264", 50);
    struct output *audio = find(r, "audio/x-raw", 50);
    assert_non_null(video);
    assert_non_null(audio);
    assert_string_equal(video->name, "src");
    assert_string_equal(audio->name, "src_1");
    assert_int_equal(video->buffers, 50);
    assert_int_equal(audio->buffers, 50);
    assert_true(video->keys >= 2);
    assert_true(video->eos);
    assert_true(audio->eos);
}

static void a_stream_may_end_before_the_others(void **state) {
    struct run *r = *state;

    carry_both(r, "num-buffers=5", "num-buffers=200");
    assert_int_equal(find(r, "video/x-h264", 1)->buffers, 5);
    assert_int_equal(find(r, "audio/x-raw", 1)->buffers, 200);
}

/* What comes out of which pad does not depend on who is first, nor on stream
 * headers, which Opus has. */
static void a_slow_encoder_is_waited_for(void **state) {
    struct run *r = *state;
    guint port = receive(r, "tltcp://127.0.0.1:0?mode=listener");

    send_to(r, port,
            VIDEO " ! s. audiotestsrc num-buffers=50 ! audioconvert ! "
                  "opusenc ! s.",
            "num-buffers=2 ! identity sleep-time=1200000");
    wait_end(r);
    assert_string_equal(find(r, "video/x-h264", 1)->name, "src");
    assert_string_equal(find(r, "audio/x-opus", 1)->name, "src_1");
}

static void so_it_is_by_the_first_pad(void **state) {
    struct run *r = *state;
    guint port = receive(r, "tltcp://127.0.0.1:0?mode=listener");

    send_to(r, port, AUDIO " ! s. " VIDEO " ! s.", "num-buffers=50",
            "num-buffers=2 ! identity sleep-time=1200000");
    wait_end(r);
    assert_string_equal(find(r, "video/x-h264", 1)->name, "src");
}

static void three_streams_have_three_pads(void **state) {
    struct run *r = *state;
    guint port = receive(r, "tltcp://127.0.0.1:0?mode=listener");

    send_to(r, port, AUDIO " ! s. " VIDEO " ! s. " VIDEO " ! s.",
            "num-buffers=40", "num-buffers=40", "num-buffers=40");
    wait_end(r);
    assert_int_equal(r->outputs->len, 3);
    for (guint i = 0; i < 3; i++) {
        struct output *o = g_ptr_array_index(r->outputs, i);
        assert_int_equal(o->buffers, 40);
        assert_true(o->eos);
        /* the first picture has the element's own pad */
        if (strcmp(o->name, "src") == 0) {
            assert_string_equal(o->type, "video/x-h264");
        }
    }
}

/* The language of a stream comes out of its pad. */
static void streams_keep_their_tags(void **state) {
    struct run *r = *state;

    carry_both(r, "num-buffers=30 ! taginject tags=title=ball",
               "num-buffers=30 ! taginject tags=language-code=de");
    assert_string_equal(find(r, "video/x-h264", 1)->title, "ball");
    assert_string_equal(find(r, "audio/x-raw", 1)->language, "de");
    assert_null(find(r, "video/x-h264", 1)->language);
}

static void who_calls_late_gets_every_stream(void **state) {
    struct run *r = *state;
    struct run late = {0};

    send_to_callers(r, VIDEO " ! queue ! s. " AUDIO " ! queue ! s.",
                    "is-live=true", "is-live=true");
    guint port = sink_port(r->sender);
    g_autofree gchar *uri = g_strdup_printf("tltcp://127.0.0.1:%u", port);
    receive(r, uri);
    wait_output(r, "video/x-h264", 20);
    wait_output(r, "audio/x-raw", 20);

    g_mutex_init(&late.lock);
    g_cond_init(&late.changed);
    late.outputs = g_ptr_array_new();
    receive(&late, uri);
    struct output *video = wait_output(&late, "video/x-h264", 5);
    wait_output(&late, "audio/x-raw", 5);
    assert_true(video->keys > 0);
    stop(&late.receiver);
    free_outputs(&late);
    g_mutex_clear(&late.lock);
    g_cond_clear(&late.changed);
}

static void streams_are_paused_and_go_on(void **state) {
    struct run *r = *state;
    guint port = receive(r, "tltcp://127.0.0.1:0?mode=listener");

    send_to(r, port, VIDEO " ! queue ! s. " AUDIO " ! queue ! s.",
            "is-live=true", "is-live=true");
    wait_output(r, "audio/x-raw", 3);
    gst_element_set_state(r->sender, GST_STATE_PAUSED);
    assert_true(gst_element_get_state(r->sender, NULL, NULL, PATIENCE) !=
                GST_STATE_CHANGE_FAILURE);
    gst_element_set_state(r->sender, GST_STATE_PLAYING);
    g_mutex_lock(&r->lock);
    guint so_far = find(r, "audio/x-raw", 1)->buffers;
    g_mutex_unlock(&r->lock);
    wait_output(r, "audio/x-raw", so_far + 5);
    wait_output(r, "video/x-h264", 5);
}

/* A first stream whose time has not come makes no use of being asked to stop;
 * the one that waits for a caller is to end all the same. */
static void who_waits_for_a_caller_can_be_stopped(void **state) {
    struct run *r = *state;

    for (int i = 0; i < 10; i++) {
        send_to_callers(r, AUDIO " ! s. " AUDIO " ! s.",
                        "timestamp-offset=3600000000000", "");
        gst_element_get_state(r->sender, NULL, NULL, PATIENCE);
        g_usleep(20000); /* long enough for most to wait */
        stop(&r->sender);
    }
}

static void wait_eos(struct run *r, const char *name) {
    gint64 end = g_get_monotonic_time() + PATIENCE / 1000;
    gboolean eos = FALSE;

    g_mutex_lock(&r->lock);
    while (!eos) {
        for (guint i = 0; i < r->outputs->len; i++) {
            const struct output *o = g_ptr_array_index(r->outputs, i);
            eos = eos || (strcmp(o->name, name) == 0 && o->eos);
        }
        if (!eos && !g_cond_wait_until(&r->changed, &r->lock, end)) {
            g_mutex_unlock(&r->lock);
            fail_msg("%s does not end", name);
        }
    }
    g_mutex_unlock(&r->lock);
}

/* Who waits for the others to end can be paused, and does not forget to. */
static void a_stream_that_has_ended_stops_with_the_others(void **state) {
    struct run *r = *state;
    guint port = receive(r, "tltcp://127.0.0.1:0?mode=listener");

    send_to(r, port, AUDIO " ! queue ! s. " AUDIO " ! queue ! s.",
            "num-buffers=3", "is-live=true num-buffers=60");
    wait_eos(r, "src");
    gst_element_set_state(r->sender, GST_STATE_PAUSED);
    gst_element_set_state(r->sender, GST_STATE_PLAYING);
    wait_message(r->sender, GST_MESSAGE_EOS);
    wait_eos(r, "src_1");
    assert_in_range(find(r, "audio/x-raw", 4)->buffers, 55, 60);
    stop(&r->sender);
    stop(&r->receiver);
    free_outputs(r);
    r->outputs = g_ptr_array_new();

    port = receive(r, "tltcp://127.0.0.1:0?mode=listener");
    send_to(r, port, AUDIO " ! queue ! s. " AUDIO " ! queue ! s.",
            "num-buffers=3", "is-live=true");
    wait_eos(r, "src");
    stop(&r->sender);
}

static GstPadProbeReturn count_buffer(GstPad *pad, GstPadProbeInfo *info,
                                      gpointer count) {
    (void)pad;
    (void)info;
    g_atomic_int_inc((gint *)count);
    return GST_PAD_PROBE_OK;
}

static void streams_that_have_ended_begin_again(void **state) {
    struct run *r = *state;
    gint count = 0;

    send_to(r, 9, AUDIO " ! s. " AUDIO " ! s.", "num-buffers=3",
            "num-buffers=3");
    g_autoptr(GstElement) s = gst_bin_get_by_name(GST_BIN(r->sender), "s");
    g_autoptr(GstPad) second = gst_element_get_static_pad(s, "sink_0");
    gst_element_set_state(r->sender, GST_STATE_READY);
    g_object_set(s, "wait-for-connection", FALSE, NULL);
    gst_pad_add_probe(second, GST_PAD_PROBE_TYPE_BUFFER, count_buffer, &count,
                      NULL);
    for (int i = 1; i <= 2; i++) {
        gst_element_set_state(r->sender, GST_STATE_PLAYING);
        wait_message(r->sender, GST_MESSAGE_EOS);
        assert_int_equal(g_atomic_int_get(&count), 3 * i);
        gst_element_set_state(r->sender, GST_STATE_READY);
    }
}

static void a_pad_can_come_and_go(void **state) {
    GstElement *sink = support_element("tltcpsink", "tltcp://127.0.0.1:9");
    GstPad *first = gst_element_request_pad_simple(sink, "sink_%u");
    GstPad *second = gst_element_request_pad_simple(sink, "sink_%u");

    (void)state;
    assert_non_null(first);
    assert_non_null(second);
    assert_ptr_not_equal(first, second);
    gst_element_release_request_pad(sink, first);
    gst_object_unref(first);
    assert_int_equal(sink->numsinkpads, 2);
    gst_element_release_request_pad(sink, second);
    gst_object_unref(second);
    assert_int_equal(sink->numsinkpads, 1);
    gst_object_unref(sink);
}

/* ---- transport streams ---- */

static void a_transport_stream_arrives_whole(void **state) {
    struct run *r = *state;
    guint port = receive(r, "tltcp://127.0.0.1:0?mode=listener");

    send_to(r, port,
            "mpegtsmux name=m alignment=7 ! s. " VIDEO " ! m. " VIDEO
            " ! m. " AUDIO " ! audioconvert ! avenc_aac ! m.",
            "num-buffers=50", "num-buffers=50", "num-buffers=100");
    wait_end(r);
    struct output *ts = find(r, "video/mpegts", 1);
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

static void a_transport_stream_can_be_demuxed(void **state) {
    struct run *r = *state;
    gint pictures = 0;

    r->receiver = play("tltcpsrc name=src "
                       "uri=\"tltcp://127.0.0.1:0?mode=listener\" ! tsdemux ! "
                       "h264parse ! avdec_h264 ! fakesink name=f sync=false "
                       "async=false signal-handoffs=true");
    g_autoptr(GstElement) src =
        gst_bin_get_by_name(GST_BIN(r->receiver), "src");
    g_autoptr(GstElement) f = gst_bin_get_by_name(GST_BIN(r->receiver), "f");
    g_signal_connect(f, "handoff", G_CALLBACK(on_decoded), &pictures);
    send_to(r, support_port(src),
            "mpegtsmux name=m alignment=7 ! s. " VIDEO " ! m.",
            "num-buffers=50");
    wait_end(r);
    assert_int_equal(pictures, 50);
}

/* ---- by URI ---- */

static void plays_by_uri(struct run *r, const char *what, const char *sink) {
    g_autofree gchar *whole =
        g_strdup_printf("%s uri=tltcp://127.0.0.1:%u%s", what,
                        sink_port(r->sender), sink ? " ! fakesink name=f" : "");
    gint count = 0;

    r->receiver = play(whole);
    g_autoptr(GstElement) f = NULL;
    if (sink) {
        f = gst_bin_get_by_name(GST_BIN(r->receiver), sink);
    } else {
        g_object_get(r->receiver, "video-sink", &f, NULL);
    }
    g_object_set(f, "signal-handoffs", TRUE, NULL);
    g_signal_connect(f, "handoff", G_CALLBACK(on_decoded), &count);
    wait_message(r->receiver, GST_MESSAGE_ASYNC_DONE);
    gint64 end = g_get_monotonic_time() + PATIENCE / 1000;
    while (g_atomic_int_get(&count) < 5) {
        assert_true(g_get_monotonic_time() < end);
        g_usleep(10000);
    }
    stop(&r->receiver); /* before count is gone */
}

static void uridecodebin_takes_the_uri(void **state) {
    struct run *r = *state;

    send_to_callers(r, VIDEO " ! s.", "is-live=true");
    plays_by_uri(r, "uridecodebin", "f");
}

static void playbin_takes_the_uri(void **state) {
    struct run *r = *state;

    send_to_callers(r, VIDEO " ! queue ! s. " AUDIO " ! queue ! s.",
                    "is-live=true", "is-live=true");
    plays_by_uri(r,
                 "playbin audio-sink=\"fakesink sync=true\" "
                 "video-sink=\"fakesink sync=true\"",
                 NULL);
}

static void playbin_plays_a_transport_stream(void **state) {
    struct run *r = *state;

    send_to_callers(r, "mpegtsmux name=m ! s. " VIDEO " ! m. ", "is-live=true");
    plays_by_uri(r,
                 "playbin audio-sink=fakesink "
                 "video-sink=\"fakesink sync=true\"",
                 NULL);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(picture_and_sound_share_a_connection),
        T(a_stream_may_end_before_the_others),
        T(a_slow_encoder_is_waited_for),
        T(so_it_is_by_the_first_pad),
        T(three_streams_have_three_pads),
        T(streams_keep_their_tags),
        T(who_calls_late_gets_every_stream),
        T(streams_are_paused_and_go_on),
        T(who_waits_for_a_caller_can_be_stopped),
        T(a_stream_that_has_ended_stops_with_the_others),
        T(streams_that_have_ended_begin_again),
        cmocka_unit_test(a_pad_can_come_and_go),
        T(a_transport_stream_arrives_whole),
        T(a_transport_stream_can_be_demuxed),
        T(uridecodebin_takes_the_uri),
        T(playbin_takes_the_uri),
        T(playbin_plays_a_transport_stream),
    };
    return cmocka_run_group_tests(tests, support_setup, NULL);
}
