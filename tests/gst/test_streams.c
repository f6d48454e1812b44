/* SPDX-License-Identifier: MPL-2.0 */
/* Several streams over one connection. */
#include <string.h>

#include "tests/gst/pipelines.h"

/* So many pictures, such as "num-buffers=5", and so much sound, to their end.
 */
static void carry_both(struct run *r, const char *pictures, const char *sound) {
    guint port = run_receive(r, "tltcp://127.0.0.1:0?mode=listener");

    run_send(r, port, VIDEO " ! s. " AUDIO " ! s.", pictures, sound);
    run_wait_end(r);
}

TEST(picture_and_sound_share_a_connection) {
    struct run *r = *state;

    carry_both(r, "num-buffers=50", "num-buffers=50");
    struct output *video = run_find(r, "video/x-h264", 50);
    struct output *audio = run_find(r, "audio/x-raw", 50);
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

TEST(a_stream_may_end_before_the_others) {
    struct run *r = *state;

    carry_both(r, "num-buffers=5", "num-buffers=200");
    assert_int_equal(run_find(r, "video/x-h264", 1)->buffers, 5);
    assert_int_equal(run_find(r, "audio/x-raw", 1)->buffers, 200);
}

/* What comes out of which pad does not depend on who is first, nor on stream
 * headers, which Opus has. */
TEST(a_slow_encoder_is_waited_for) {
    struct run *r = *state;
    guint port = run_receive(r, "tltcp://127.0.0.1:0?mode=listener");

    run_send(r, port,
             VIDEO " ! s. audiotestsrc num-buffers=50 ! audioconvert ! "
                   "opusenc ! s.",
             "num-buffers=2 ! identity sleep-time=1200000");
    run_wait_end(r);
    assert_string_equal(run_find(r, "video/x-h264", 1)->name, "src");
    assert_string_equal(run_find(r, "audio/x-opus", 1)->name, "src_1");
}

TEST(so_it_is_by_the_first_pad) {
    struct run *r = *state;
    guint port = run_receive(r, "tltcp://127.0.0.1:0?mode=listener");

    run_send(r, port, AUDIO " ! s. " VIDEO " ! s.", "num-buffers=50",
             "num-buffers=2 ! identity sleep-time=1200000");
    run_wait_end(r);
    assert_string_equal(run_find(r, "video/x-h264", 1)->name, "src");
}

TEST(three_streams_have_three_pads) {
    struct run *r = *state;
    guint port = run_receive(r, "tltcp://127.0.0.1:0?mode=listener");

    run_send(r, port, AUDIO " ! s. " VIDEO " ! s. " VIDEO " ! s.",
             "num-buffers=40", "num-buffers=40", "num-buffers=40");
    run_wait_end(r);
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
TEST(streams_keep_their_tags) {
    struct run *r = *state;

    carry_both(r, "num-buffers=30 ! taginject tags=title=ball",
               "num-buffers=30 ! taginject tags=language-code=de");
    assert_string_equal(run_find(r, "video/x-h264", 1)->title, "ball");
    assert_string_equal(run_find(r, "audio/x-raw", 1)->language, "de");
    assert_null(run_find(r, "video/x-h264", 1)->language);
}

TEST(a_late_caller_gets_every_stream) {
    struct run *r = *state;
    void *other = NULL;

    run_send_to_callers(r, VIDEO " ! queue ! s. " AUDIO " ! queue ! s.",
                        "is-live=true", "is-live=true");
    guint port = run_sink_port(r);
    g_autofree gchar *uri = g_strdup_printf("tltcp://127.0.0.1:%u", port);
    run_receive(r, uri);
    run_wait_output(r, "video/x-h264", 20);
    run_wait_output(r, "audio/x-raw", 20);

    run_setup(&other);
    struct run *late = other;
    run_receive(late, uri);
    struct output *video = run_wait_output(late, "video/x-h264", 5);
    run_wait_output(late, "audio/x-raw", 5);
    assert_true(video->keys > 0);
    run_teardown(&other);
}

TEST(streams_are_paused_and_go_on) {
    struct run *r = *state;
    guint port = run_receive(r, "tltcp://127.0.0.1:0?mode=listener");

    run_send(r, port, VIDEO " ! queue ! s. " AUDIO " ! queue ! s.",
             "is-live=true", "is-live=true");
    run_wait_output(r, "audio/x-raw", 3);
    gst_element_set_state(r->sender, GST_STATE_PAUSED);
    assert_true(gst_element_get_state(r->sender, NULL, NULL, PATIENCE) !=
                GST_STATE_CHANGE_FAILURE);
    gst_element_set_state(r->sender, GST_STATE_PLAYING);
    g_mutex_lock(&r->lock);
    guint so_far = run_find(r, "audio/x-raw", 1)->buffers;
    g_mutex_unlock(&r->lock);
    run_wait_output(r, "audio/x-raw", so_far + 5);
    run_wait_output(r, "video/x-h264", 5);
}

/* A first stream whose time has not come makes no use of being asked to stop;
 * the one that waits for a caller is to end all the same. */
TEST(waiting_for_a_caller_can_be_stopped) {
    struct run *r = *state;

    for (int i = 0; i < 10; i++) {
        run_send_to_callers(r, AUDIO " ! s. " AUDIO " ! s.",
                            "timestamp-offset=3600000000000", "");
        gst_element_get_state(r->sender, NULL, NULL, PATIENCE);
        g_usleep(20000); /* long enough for most to wait */
        pipeline_stop(&r->sender);
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

/* A stream that waits for the others to end can be paused and resumes the
 * wait. */
TEST(a_stream_that_has_ended_stops_with_the_others) {
    struct run *r = *state;
    guint port = run_receive(r, "tltcp://127.0.0.1:0?mode=listener");

    run_send(r, port, AUDIO " ! queue ! s. " AUDIO " ! queue ! s.",
             "num-buffers=3", "is-live=true num-buffers=60");
    wait_eos(r, "src");
    gst_element_set_state(r->sender, GST_STATE_PAUSED);
    gst_element_set_state(r->sender, GST_STATE_PLAYING);
    pipeline_wait(r->sender, GST_MESSAGE_EOS);
    wait_eos(r, "src_1");
    assert_in_range(run_find(r, "audio/x-raw", 4)->buffers, 55, 60);
    run_clear(r);

    port = run_receive(r, "tltcp://127.0.0.1:0?mode=listener");
    run_send(r, port, AUDIO " ! queue ! s. " AUDIO " ! queue ! s.",
             "num-buffers=3", "is-live=true");
    wait_eos(r, "src");
    pipeline_stop(&r->sender);
}

static GstPadProbeReturn count_buffer(GstPad *pad, GstPadProbeInfo *info,
                                      gpointer count) {
    (void)pad;
    (void)info;
    g_atomic_int_inc((gint *)count);
    return GST_PAD_PROBE_OK;
}

TEST(streams_that_have_ended_begin_again) {
    struct run *r = *state;
    gint count = 0;

    run_send(r, 9, AUDIO " ! s. " AUDIO " ! s.", "num-buffers=3",
             "num-buffers=3");
    g_autoptr(GstElement) s = gst_bin_get_by_name(GST_BIN(r->sender), "s");
    g_autoptr(GstPad) second = gst_element_get_static_pad(s, "sink_0");
    gst_element_set_state(r->sender, GST_STATE_READY);
    g_object_set(s, "wait-for-connection", FALSE, NULL);
    gst_pad_add_probe(second, GST_PAD_PROBE_TYPE_BUFFER, count_buffer, &count,
                      NULL);
    for (int i = 1; i <= 2; i++) {
        gst_element_set_state(r->sender, GST_STATE_PLAYING);
        pipeline_wait(r->sender, GST_MESSAGE_EOS);
        assert_int_equal(g_atomic_int_get(&count), 3 * i);
        gst_element_set_state(r->sender, GST_STATE_READY);
    }
}

TEST(a_pad_can_come_and_go) {
    GstElement *sink = support_element("tltcpsink", "tltcp://127.0.0.1:9");
    GstPad *first = gst_element_request_pad_simple(sink, "sink_%u");
    GstPad *second = gst_element_request_pad_simple(sink, "sink_%u");

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

/* The names of pads that are there differ. */
TEST(pads_can_come_and_go_for_ever) {
    GstElement *sink = support_element("tltcpsink", "tltcp://127.0.0.1:9");
    GstPad *kept = gst_element_request_pad_simple(sink, "sink_%u");

    for (int i = 0; i < 200; i++) {
        GstPad *pad = gst_element_request_pad_simple(sink, "sink_%u");
        assert_non_null(pad);
        gst_element_release_request_pad(sink, pad);
        gst_object_unref(pad);
    }
    for (int i = 0; i < 62; i++) {
        gst_object_unref(gst_element_request_pad_simple(sink, "sink_%u"));
    }
    assert_int_equal(sink->numsinkpads, 64);
    assert_null(gst_element_request_pad_simple(sink, "sink_%u"));
    gst_object_unref(kept);
    gst_object_unref(sink);
}

/* ---- upstream runs before the sink ---- */

static void begin_early(GstPad *pad) {
    g_autoptr(GstCaps) caps =
        gst_caps_new_simple("audio/x-alaw", "rate", G_TYPE_INT, 8000,
                            "channels", G_TYPE_INT, 1, NULL);
    GstSegment segment;

    gst_segment_init(&segment, GST_FORMAT_TIME);
    assert_true(gst_pad_send_event(pad, gst_event_new_stream_start("s")));
    assert_true(gst_pad_send_event(pad, gst_event_new_caps(caps)));
    assert_true(gst_pad_send_event(pad, gst_event_new_segment(&segment)));
}

/* A sink with an additional stream that has begun. Its first one has sound. */
struct early {
    GstElement *sink;
    GstPad *pad;
    GstPad *peer; /* counts as a stream */
};

static void early_begin(struct early *e, struct run *r, const char *uri,
                        const char *sound) {
    g_autofree gchar *launch =
        g_strdup_printf("audiotestsrc %s ! tltcpsink name=s latency=60000 "
                        "sync=false uri=\"%s\"",
                        sound, uri);

    r->sender = gst_parse_launch(launch, NULL);
    e->sink = gst_bin_get_by_name(GST_BIN(r->sender), "s");
    e->pad = gst_element_request_pad_simple(e->sink, "sink_%u");
    e->peer = gst_pad_new("early", GST_PAD_SRC);
    gst_pad_set_active(e->peer, TRUE);
    assert_int_equal(gst_pad_link(e->peer, e->pad), GST_PAD_LINK_OK);
}

/* The same, which calls a receiver that begins with it. */
static void early_call(struct early *e, struct run *r, const char *sound) {
    guint port = run_receive(r, "tltcp://127.0.0.1:0?mode=listener");
    g_autofree gchar *uri = g_strdup_printf("tltcp://127.0.0.1:%u", port);

    early_begin(e, r, uri, sound);
}

static GstBuffer *silence(GstClockTime pts) {
    GstBuffer *buffer = gst_buffer_new_allocate(NULL, 160, NULL);

    gst_buffer_memset(buffer, 0, 0, 160);
    GST_BUFFER_PTS(buffer) = pts;
    return buffer;
}

static void early_clear(struct early *e) {
    gst_pad_unlink(e->peer, e->pad);
    gst_object_unref(e->peer);
    gst_object_unref(e->pad);
    gst_object_unref(e->sink);
}

/* The pad `src` of the source; unref it. */
static GstPad *received(const struct run *r) {
    g_autoptr(GstIterator) sources =
        gst_bin_iterate_sources(GST_BIN(r->receiver));
    g_auto(GValue) source = G_VALUE_INIT;

    assert_int_equal(gst_iterator_next(sources, &source), GST_ITERATOR_OK);
    return gst_element_get_static_pad(g_value_get_object(&source), "src");
}

/* Waits until the source calls no more. */
static void wait_source_ended(const struct run *r) {
    gint64 end = g_get_monotonic_time() + PATIENCE / 1000;
    g_autoptr(GstPad) out = received(r);

    while (gst_pad_get_task_state(out) != GST_TASK_PAUSED) {
        assert_true(g_get_monotonic_time() < end);
        g_usleep(10000);
    }
}

/* A source that calls ends only when every stream has. */
TEST(a_stream_may_end_before_the_sink_starts) {
    struct run *r = *state;
    struct early e;

    early_begin(&e, r, "tltcp://127.0.0.1:0?mode=listener", "num-buffers=5");
    begin_early(e.pad);
    assert_true(gst_pad_send_event(e.pad, gst_event_new_gap(0, GST_SECOND)));
    assert_true(gst_pad_send_event(e.pad, gst_event_new_eos()));
    gst_element_set_state(r->sender, GST_STATE_PLAYING);
    g_autofree gchar *uri =
        g_strdup_printf("tltcp://127.0.0.1:%u", support_port(e.sink));
    run_receive(r, uri);
    run_wait_end(r);
    wait_source_ended(r);
    early_clear(&e);
}

/* ---- the sink starts while upstream runs ---- */

static GstPadEventFunction on_event; /* the sink's */
static GstEventType starts_at;

/* GStreamer keeps an event on the pad only after this has returned. */
static gboolean start_within(GstPad *pad, GstObject *parent, GstEvent *event) {
    gboolean starts = GST_EVENT_TYPE(event) == starts_at;
    gboolean ok = on_event(pad, parent, event);

    if (starts) {
        g_autoptr(GstObject) pipeline = gst_object_get_parent(parent);
        gst_element_set_state(GST_ELEMENT(pipeline), GST_STATE_PLAYING);
    }
    return ok;
}

static void early_start_at(struct early *e, GstEventType type) {
    starts_at = type;
    on_event = GST_PAD_EVENTFUNC(e->pad);
    gst_pad_set_event_function(e->pad, start_within);
}

TEST(a_stream_may_end_while_the_sink_starts) {
    struct run *r = *state;
    struct early e;

    early_call(&e, r, "num-buffers=5");
    early_start_at(&e, GST_EVENT_EOS);
    begin_early(e.pad);
    assert_true(gst_pad_send_event(e.pad, gst_event_new_eos()));
    run_wait_end(r);
    early_clear(&e);
}

/* Another element failed: the sink went no further than READY. */
TEST(a_stream_may_end_before_a_start_that_fails) {
    struct run *r = *state;
    struct early e;

    early_call(&e, r, "num-buffers=5");
    begin_early(e.pad);
    assert_true(gst_pad_send_event(e.pad, gst_event_new_eos()));
    gst_element_set_state(e.sink, GST_STATE_READY);
    gst_element_set_state(e.sink, GST_STATE_NULL);
    gst_element_set_state(r->sender, GST_STATE_PLAYING);
    begin_early(e.pad);
    assert_int_equal(gst_pad_chain(e.pad, silence(0)), GST_FLOW_OK);
    assert_true(gst_pad_send_event(e.pad, gst_event_new_eos()));
    run_wait_end(r);
    early_clear(&e);
}

static gpointer chain_early(gpointer pad) {
    for (guint i = 0; i < 5; i++) {
        gst_pad_chain(pad, silence(i * GST_SECOND / 2));
    }
    return NULL;
}

/* Upstream sends the segment once. */
static void keeps_its_time(struct run *r, struct early *e) {
    GThread *thread = g_thread_new(NULL, chain_early, e->pad);
    struct output *o = run_wait_output(r, "audio/x-alaw", 5);

    g_thread_join(thread);
    /* the first ones may have moved the map by a second */
    assert_true(o->last - o->first >= GST_SECOND);
    early_clear(e);
}

TEST(a_stream_from_before_the_sink_starts_keeps_its_time) {
    struct run *r = *state;
    struct early e;

    early_call(&e, r, "is-live=true");
    begin_early(e.pad);
    gst_element_set_state(r->sender, GST_STATE_PLAYING);
    keeps_its_time(r, &e);
}

TEST(so_does_one_that_begins_while_it_starts) {
    struct run *r = *state;
    struct early e;

    early_call(&e, r, "is-live=true");
    early_start_at(&e, GST_EVENT_SEGMENT);
    begin_early(e.pad);
    keeps_its_time(r, &e);
}

/* ---- a stream that does not flow ---- */

struct block {
    struct run *r;
    gboolean reached; /* under the lock of the run */
};

static GstPadProbeReturn on_blocked(GstPad *pad, GstPadProbeInfo *info,
                                    gpointer user) {
    struct block *b = user;
    g_autoptr(GstElement) queue = gst_pad_get_parent_element(pad);
    g_autoptr(GstPad) in = gst_element_get_static_pad(queue, "sink");

    (void)info;
    /* An element that is linked anew downstream asks for this. */
    assert_true(gst_pad_push_event(in, gst_event_new_reconfigure()));
    g_mutex_lock(&b->r->lock);
    b->reached = TRUE;
    g_cond_broadcast(&b->r->changed);
    g_mutex_unlock(&b->r->lock);
    return GST_PAD_PROBE_OK;
}

/* Puts a queue behind the pad `src`, whose output is blocked. */
static void block_first(struct block *b) {
    GstElement *queue = gst_element_factory_make("queue", NULL);
    g_autoptr(GstPad) out = received(b->r);
    g_autoptr(GstPad) sink = gst_pad_get_peer(out);
    g_autoptr(GstPad) queue_in = gst_element_get_static_pad(queue, "sink");
    g_autoptr(GstPad) queue_out = gst_element_get_static_pad(queue, "src");
    g_object_set(queue, "max-size-buffers", 0, "max-size-bytes", 0,
                 "max-size-time", G_GUINT64_CONSTANT(0), NULL);
    gst_bin_add(GST_BIN(b->r->receiver), queue);
    gst_pad_add_probe(queue_out,
                      GST_PAD_PROBE_TYPE_BLOCK | GST_PAD_PROBE_TYPE_BUFFER,
                      on_blocked, b, NULL);
    assert_true(gst_pad_unlink(out, sink));
    assert_int_equal(gst_pad_link(queue_out, sink), GST_PAD_LINK_OK);
    gst_element_sync_state_with_parent(queue);
    assert_int_equal(gst_pad_link(out, queue_in), GST_PAD_LINK_OK);
}

/* Decoders and sinks of one stream may wait until those of the others have
 * data. */
TEST(a_blocked_stream_does_not_hold_up_the_others) {
    struct run *r = *state;
    static struct block b; /* outlives a failure */
    guint port = run_receive(r, "tltcp://127.0.0.1:0?mode=listener");

    b = (struct block){.r = r};
    block_first(&b);
    run_send(r, port, VIDEO " ! queue ! s. " AUDIO " ! queue ! s.",
             "is-live=true", "is-live=true");
    struct output *sound = run_wait_output(r, "audio/x-raw", 1);
    gint64 end = g_get_monotonic_time() + PATIENCE / 1000;
    g_mutex_lock(&r->lock);
    while (!b.reached && g_cond_wait_until(&r->changed, &r->lock, end)) {
    }
    guint so_far = sound->buffers;
    gboolean reached = b.reached;
    g_mutex_unlock(&r->lock);
    assert_true(reached);
    run_wait_output(r, "audio/x-raw", so_far + 25);
}

#define T(name) cmocka_unit_test_setup_teardown(name, run_setup, run_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(picture_and_sound_share_a_connection),
        T(a_stream_may_end_before_the_others),
        T(a_slow_encoder_is_waited_for),
        T(so_it_is_by_the_first_pad),
        T(three_streams_have_three_pads),
        T(streams_keep_their_tags),
        T(a_late_caller_gets_every_stream),
        T(streams_are_paused_and_go_on),
        T(waiting_for_a_caller_can_be_stopped),
        T(a_stream_that_has_ended_stops_with_the_others),
        T(streams_that_have_ended_begin_again),
        T(a_stream_from_before_the_sink_starts_keeps_its_time),
        T(so_does_one_that_begins_while_it_starts),
        T(a_stream_may_end_before_the_sink_starts),
        T(a_stream_may_end_while_the_sink_starts),
        T(a_stream_may_end_before_a_start_that_fails),
        T(a_blocked_stream_does_not_hold_up_the_others),
        cmocka_unit_test(a_pad_can_come_and_go),
        cmocka_unit_test(pads_can_come_and_go_for_ever),
    };
    return cmocka_run_group_tests(tests, support_setup, NULL);
}
