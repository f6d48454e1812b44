/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/gst/pipelines.h"

#include <string.h>

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
        o->first = o->buffers ? o->first : GST_BUFFER_PTS(buffer);
        o->last = GST_BUFFER_PTS(buffer);
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

int run_setup(void **state) {
    struct run *r = g_new0(struct run, 1);

    g_mutex_init(&r->lock);
    g_cond_init(&r->changed);
    r->outputs = g_ptr_array_new();
    *state = r;
    return 0;
}

void pipeline_stop(GstElement **pipeline) {
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

void run_clear(struct run *r) {
    pipeline_stop(&r->sender);
    pipeline_stop(&r->receiver);
    free_outputs(r);
    r->outputs = g_ptr_array_new();
}

int run_teardown(void **state) {
    struct run *r = *state;

    run_clear(r);
    g_ptr_array_unref(r->outputs);
    g_cond_clear(&r->changed);
    g_mutex_clear(&r->lock);
    g_free(r);
    return 0;
}

GstElement *pipeline_play(const char *launch) {
    g_autoptr(GError) error = NULL;
    GstElement *pipeline = gst_parse_launch(launch, &error);

    if (error) {
        fail_msg("%s: %s", launch, error->message);
    }
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    return pipeline;
}

guint run_receive(struct run *r, const char *uri) {
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

guint run_sink_port(struct run *r) {
    g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(r->sender), "s");

    return support_port(sink);
}

G_GNUC_PRINTF(3, 0)
static void send_by(struct run *r, const char *sink, const char *format,
                    va_list args) {
    g_autofree gchar *streams = g_strdup_vprintf(format, args);
    g_autofree gchar *launch =
        g_strdup_printf("tltcpsink name=s %s %s", sink, streams);

    r->sender = pipeline_play(launch);
}

void run_send(struct run *r, guint port, const char *format, ...) {
    g_autofree gchar *sink = g_strdup_printf(
        "sync=false latency=60000 uri=tltcp://127.0.0.1:%u", port);
    va_list args;

    va_start(args, format);
    send_by(r, sink, format, args);
    va_end(args);
}

void run_send_to_callers(struct run *r, const char *format, ...) {
    va_list args;

    va_start(args, format);
    send_by(r, "latency=2000 uri=\"tltcp://127.0.0.1:0?mode=listener\"", format,
            args);
    va_end(args);
}

void pipeline_wait(GstElement *pipeline, GstMessageType type) {
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

void run_wait_end(struct run *r) {
    pipeline_wait(r->sender, GST_MESSAGE_EOS);
    pipeline_wait(r->receiver, GST_MESSAGE_EOS);
}

struct output *run_find(struct run *r, const char *type, guint buffers) {
    for (guint i = 0; i < r->outputs->len; i++) {
        struct output *o = g_ptr_array_index(r->outputs, i);
        if (g_strcmp0(o->type, type) == 0 && o->buffers >= buffers) {
            return o;
        }
    }
    return NULL;
}

struct output *run_wait_output(struct run *r, const char *type, guint buffers) {
    gint64 end = g_get_monotonic_time() + PATIENCE / 1000;
    struct output *o;

    g_mutex_lock(&r->lock);
    while (!(o = run_find(r, type, buffers))) {
        if (!g_cond_wait_until(&r->changed, &r->lock, end)) {
            g_mutex_unlock(&r->lock);
            fail_msg("less than %u buffers of %s", buffers, type);
        }
    }
    g_mutex_unlock(&r->lock);
    return o;
}
