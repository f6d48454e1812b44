/* SPDX-License-Identifier: MPL-2.0 */
/**
 * SECTION:element-tltcpsrc
 * @title: tltcpsrc
 * @see_also: #tltcpsink
 *
 * tltcpsrc receives media that #tltcpsink or the tool tltcp-send sends with
 * TLTCP (Time-lined TCP over UDP).  Buffers have the sender's caps, timestamps,
 * duration and flags, so no typefinding is needed.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 tltcpsrc uri="tltcp://:7001?mode=listener&latency=200" !
 * decodebin ! videoconvert ! autovideosink
 * ]| Waits on port 7001 for a sender and shows what it sends.
 * |[
 * gst-launch-1.0 tltcpsrc uri=tltcp://127.0.0.1:7001 latency=500 ! h264parse !
 * mp4mux ! filesink location=out.mp4 -e
 * ]| Calls a #tltcpsink that listens.
 *
 * ## Time
 *
 * The source is live.  With #tltcpsrc:delivery timed, a buffer is stamped with
 * the running time at which it would have arrived with the lowest network delay
 * seen.  The source answers latency queries with #tltcpsrc:latency, or with the
 * sender's latency when that is longer.  A synchronising sink therefore shows
 * every frame after the same delay, however long it was in the network. The
 * source slowly follows clock drift.
 *
 * ## Gaps
 *
 * After a gap the next buffer has the flag DISCONT, and a GAP event gives the
 * duration of the gap.  The signal #tltcpsrc::gap gives its position in the
 * byte stream.
 *
 * ## Metadata of the sender
 *
 * Every buffer has the custom meta "GstTltcpReceiveMeta" with the class of its
 * frame and the tag from the sending application.
 *
 * ## Several streams
 *
 * The pad `src` carries the first video stream, or the first stream if there is
 * no video. Every other stream has its own pad: `src_1` and so on.  A
 * stream without a frame has one, too.
 *
 * Since: 0.1
 */
#include <string.h>

#include "gst-plugins/gsttltcpmeta.h"
#include "gst-plugins/gsttltcpsignals.h"
#include "gst-plugins/gsttltcpsrcimpl.h"
#include "gst-plugins/gsttltcpsrcpad.h"

/* Limit on the threads that a peer can make this element start. */
#define PADS_MAX 63

GST_DEBUG_CATEGORY_STATIC(tltcpsrc_debug);
#define GST_CAT_DEFAULT tltcpsrc_debug

enum { SIGNAL_GAP, SIGNAL_COUNT };

static guint signals[SIGNAL_COUNT];

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE(
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

G_DEFINE_TYPE_WITH_CODE(
    GstTltcpSrc, gst_tltcp_src, GST_TYPE_PUSH_SRC,
    G_IMPLEMENT_INTERFACE(GST_TYPE_URI_HANDLER,
                          gst_tltcp_settings_uri_handler_init))
GST_ELEMENT_REGISTER_DEFINE_WITH_CODE(
    tltcpsrc, "tltcpsrc", GST_RANK_PRIMARY, GST_TYPE_TLTCP_SRC,
    GST_DEBUG_CATEGORY_INIT(tltcpsrc_debug, "tltcpsrc", 0, "TLTCP source");
    gst_tltcp_enums_register(); gst_tltcp_meta_register())

static gboolean keeps_listening(GstTltcpSrc *self) {
    g_mutex_lock(&self->settings.lock);
    gboolean keep =
        self->keep_listening && self->settings.mode == GST_TLTCP_MODE_LISTENER;
    g_mutex_unlock(&self->settings.lock);
    return keep;
}

static void src_on_connected(GstTltcpSrc *self, GSocketAddress *address) {
    GST_DEBUG_OBJECT(self, "connected");
    gst_tltcp_deframer_restart(&self->deframer);
    g_mutex_lock(&self->settings.lock);
    gboolean listener = self->settings.mode == GST_TLTCP_MODE_LISTENER;
    g_mutex_unlock(&self->settings.lock);
    g_set_object(&self->caller, address);
    if (listener) {
        gst_tltcp_signals_caller_added(GST_ELEMENT(self), address);
    }
}

static void on_gone(GstTltcpSrc *self) {
    g_mutex_lock(&self->settings.lock);
    gboolean listener = self->settings.mode == GST_TLTCP_MODE_LISTENER;
    g_mutex_unlock(&self->settings.lock);
    if (listener) {
        gst_tltcp_signals_caller_removed(GST_ELEMENT(self), self->caller);
    }
    g_clear_object(&self->caller);
}

/* The peer has finished, or disappeared. */
static GstFlowReturn on_end(GstTltcpSrc *self) {
    on_gone(self);
    return keeps_listening(self) ? GST_FLOW_OK : GST_FLOW_EOS;
}

/* A media sender announces the end of its streams. One that disconnects without
 * an announcement, such as a stopped pipeline, may return. */
static GstFlowReturn on_connection_end(GstTltcpSrc *self) {
    if (!self->deframer.raw && gst_tltcp_receiver_call_again(self->receiver)) {
        on_gone(self);
        return GST_FLOW_OK;
    }
    return on_end(self);
}

static GstFlowReturn src_on_lost(GstTltcpSrc *self,
                                 const GstTltcpError *error) {
    if (!error->was_open) {
        return GST_FLOW_OK; /* it never had a connection; it is tried again */
    }
    on_gone(self);
    g_mutex_lock(&self->settings.lock);
    gboolean listener = self->settings.mode == GST_TLTCP_MODE_LISTENER;
    g_mutex_unlock(&self->settings.lock);
    return !listener || keeps_listening(self) ? GST_FLOW_OK : GST_FLOW_EOS;
}

static GstFlowReturn on_failed(GstTltcpSrc *self, const GstTltcpError *error) {
    if (error->was_open) {
        on_gone(self);
    }
    gst_tltcp_error_post(GST_ELEMENT(self), error,
                         gst_tltcp_receiver_where(self->receiver), TRUE);
    return GST_FLOW_ERROR;
}

/* ---- additional streams ---- */

static GstTltcpSrcPad *find_pad(GstTltcpSrc *self, guint stream) {
    for (guint i = 0; i < self->pads->len; i++) {
        GstTltcpSrcPad *pad = g_ptr_array_index(self->pads, i);
        if (gst_tltcp_src_pad_stream(pad) == stream) {
            return pad;
        }
    }
    return NULL;
}

static void add_pad(GstTltcpSrc *self, guint stream, GstTltcpInput *in) {
    GstTltcpSrcPad *pad =
        gst_tltcp_src_pad_add(GST_ELEMENT(self), stream, in->caps);

    in->changed = FALSE;
    g_ptr_array_add(self->pads, pad);
    if (in->ended && !keeps_listening(self)) {
        gst_tltcp_src_pad_push(pad, GST_MINI_OBJECT(gst_event_new_eos()));
    }
}

/* Adds a pad for each announced stream, once the stream of the always pad is
 * known. */
static void add_pads(GstTltcpSrc *self) {
    gboolean added = !self->began;

    self->began = TRUE;
    for (gint i = 0; i < 256; i++) {
        GstTltcpInput *in = self->deframer.inputs[i];
        if (!in || i == self->deframer.first || find_pad(self, (guint)i) ||
            self->pads->len == PADS_MAX) {
            continue;
        }
        add_pad(self, (guint)i, in);
        added = TRUE;
    }
    if (added) {
        gst_element_no_more_pads(GST_ELEMENT(self));
    }
}

static void push_other(GstTltcpSrc *self, GstTltcpDeframed *deframed) {
    GstTltcpSrcPad *pad = find_pad(self, deframed->stream);

    if (!pad) {
        gst_clear_caps(&deframed->caps);
        gst_clear_event(&deframed->tags);
        gst_clear_event(&deframed->event);
        gst_clear_buffer(&deframed->buffer);
        return;
    }
    if (deframed->caps) {
        gst_tltcp_src_pad_push(
            pad, GST_MINI_OBJECT(gst_event_new_caps(deframed->caps)));
        gst_clear_caps(&deframed->caps);
    }
    if (deframed->tags) {
        gst_tltcp_src_pad_push(pad, GST_MINI_OBJECT(deframed->tags));
    }
    if (deframed->event) {
        gst_tltcp_src_pad_push(pad, GST_MINI_OBJECT(deframed->event));
    }
    if (deframed->buffer) {
        gst_tltcp_src_pad_push(pad, GST_MINI_OBJECT(deframed->buffer));
    }
    if (deframed->eos && !keeps_listening(self)) {
        gst_tltcp_src_pad_push(pad, GST_MINI_OBJECT(gst_event_new_eos()));
    }
}

/* ---- streaming ---- */

static GstFlowReturn push_first(GstTltcpSrc *self, GstTltcpDeframed *deframed,
                                GstBuffer **buffer) {
    GstFlowReturn flow = GST_FLOW_OK;

    if (deframed->caps) {
        GST_DEBUG_OBJECT(self, "caps %" GST_PTR_FORMAT,
                         (gpointer)deframed->caps);
        if (!gst_base_src_set_caps(GST_BASE_SRC(self), deframed->caps)) {
            flow = GST_FLOW_NOT_NEGOTIATED;
        }
        gst_caps_unref(deframed->caps);
    }
    if (deframed->tags) {
        /* GstBaseSrc sends them after its segment.  Not through the element:
         * its lock is held by the thread that stops this one. */
        GST_ELEMENT_CLASS(gst_tltcp_src_parent_class)
            ->send_event(GST_ELEMENT(self), deframed->tags);
    }
    if (deframed->event) {
        gst_pad_push_event(GST_BASE_SRC_PAD(self), deframed->event);
    }
    *buffer = deframed->buffer;
    return flow;
}

/* Ends every pad. Programs wait for those of streams without a frame, too. */
static GstFlowReturn end_pads(GstTltcpSrc *self) {
    GstTltcpDeframed deframed;
    GstBuffer *none = NULL;

    if (self->deframer.first < 0 &&
        gst_tltcp_deframer_settle(&self->deframer, &deframed)) {
        (void)push_first(self, &deframed, &none);
        add_pads(self);
    }
    if (!self->began) {
        GST_ELEMENT_ERROR(
            self, RESOURCE, READ,
            ("The sender ended the connection before it announced a stream"),
            ("%s", gst_tltcp_receiver_where(self->receiver)));
        return GST_FLOW_ERROR;
    }
    for (guint i = 0; i < self->pads->len; i++) {
        gst_tltcp_src_pad_push(g_ptr_array_index(self->pads, i),
                               GST_MINI_OBJECT(gst_event_new_eos()));
    }
    return GST_FLOW_EOS;
}

/* The first stream may end before others do. */
static GstFlowReturn on_stream_end(GstTltcpSrc *self, guint8 stream) {
    if (keeps_listening(self)) {
        return GST_FLOW_OK;
    }
    if (gst_tltcp_deframer_is_over(&self->deframer)) {
        gst_tltcp_receiver_hang_up(self->receiver);
        return on_end(self);
    }
    if (stream == self->deframer.first) {
        gst_pad_push_event(GST_BASE_SRC_PAD(self), gst_event_new_eos());
    }
    return GST_FLOW_OK;
}

/* It may have ended without a frame, before it was known to be the first. */
static void end_first_if_ended(GstTltcpSrc *self) {
    if (self->deframer.inputs[self->deframer.first]->ended &&
        !keeps_listening(self)) {
        gst_pad_push_event(GST_BASE_SRC_PAD(self), gst_event_new_eos());
    }
}

static GstFlowReturn on_section(GstTltcpSrc *self, media_section *section,
                                GstBuffer **buffer) {
    GstTltcpDeframed deframed;
    GstFlowReturn flow = GST_FLOW_OK;
    gint before = self->deframer.first;

    gst_tltcp_deframer_section(&self->deframer, section,
                               gst_tltcp_running_now(GST_ELEMENT(self)),
                               &deframed);
    if (deframed.latency_changed) {
        gst_element_post_message(GST_ELEMENT(self),
                                 gst_message_new_latency(GST_OBJECT(self)));
    }
    gboolean eos = deframed.eos;
    gint first = self->deframer.first;
    if (deframed.stream == first || first < 0) {
        flow = push_first(self, &deframed, buffer);
    }
    if (first >= 0) {
        add_pads(self);
    }
    if (first >= 0 && deframed.stream != first) {
        push_other(self, &deframed);
        if (before < 0) {
            end_first_if_ended(self);
        }
    }
    return eos && flow == GST_FLOW_OK ? on_stream_end(self, deframed.stream)
                                      : flow;
}

static GstFlowReturn src_on_receiver_event(GstTltcpSrc *self,
                                           GstTltcpReceiverEvent *event,
                                           GstBuffer **buffer) {
    switch (event->kind) {
    case GST_TLTCP_RECEIVER_CONNECTED:
        src_on_connected(self, event->address);
        return GST_FLOW_OK;
    case GST_TLTCP_RECEIVER_SECTION:
        return on_section(self, &event->section, buffer);
    case GST_TLTCP_RECEIVER_GAP:
        gst_tltcp_deframer_gap(&self->deframer, event->size);
        g_signal_emit(self, signals[SIGNAL_GAP], 0, event->position,
                      event->size);
        return GST_FLOW_OK;
    case GST_TLTCP_RECEIVER_END:
        return on_connection_end(self);
    case GST_TLTCP_RECEIVER_LOST:
        return src_on_lost(self, &event->error);
    case GST_TLTCP_RECEIVER_FAILED:
        return on_failed(self, &event->error);
    case GST_TLTCP_RECEIVER_FLUSHING:
        break;
    }
    return GST_FLOW_FLUSHING;
}

/* The receiver's next event. Downstream may have delayed it while it took the
 * last one. */
static void next_event(GstTltcpSrc *self, GstTltcpReceiverEvent *event) {
    GstClockTime now = gst_tltcp_running_now(GST_ELEMENT(self));

    if (GST_CLOCK_TIME_IS_VALID(self->handed) && now > self->handed) {
        gst_tltcp_deframer_was_held(&self->deframer, now - self->handed);
    }
    gst_tltcp_receiver_next(self->receiver, event);
    self->handed = gst_tltcp_running_now(GST_ELEMENT(self));
}

static GstFlowReturn gst_tltcp_src_create(GstPushSrc *push,
                                          GstBuffer **buffer) {
    GstTltcpSrc *self = GST_TLTCP_SRC(push);
    GstFlowReturn flow = GST_FLOW_OK;
    GstTltcpReceiverEvent event;

    *buffer = NULL;
    while (flow == GST_FLOW_OK && !*buffer) {
        next_event(self, &event);
        flow = src_on_receiver_event(self, &event, buffer);
    }
    if (flow != GST_FLOW_OK) {
        gst_clear_buffer(buffer);
    }
    return flow == GST_FLOW_EOS ? end_pads(self) : flow;
}

static gboolean gst_tltcp_src_start(GstBaseSrc *base) {
    GstTltcpSrc *self = GST_TLTCP_SRC(base);

    g_mutex_lock(&self->settings.lock);
    self->deframer.output = (GstTltcpOutput)self->output;
    self->deframer.delivery = (GstTltcpDelivery)self->delivery;
    self->deframer.drop_until_keyframe = self->drop_until_keyframe;
    self->deframer.latency = self->settings.latency * GST_MSECOND;
    self->deframer.sender_latency = 0;
    g_mutex_unlock(&self->settings.lock);
    gst_tltcp_deframer_set_wait(&self->deframer, GST_CLOCK_TIME_NONE);
    gst_tltcp_deframer_restart(&self->deframer);
    self->began = FALSE;
    self->handed = GST_CLOCK_TIME_NONE;
    memset(&self->deframer.counts, 0, sizeof(self->deframer.counts));
    GstTltcpReceiver *receiver = gst_tltcp_receiver_start(
        GST_ELEMENT(self), &self->settings,
        self->deframer.output == GST_TLTCP_OUTPUT_PARTIAL);
    g_mutex_lock(&self->receiver_lock);
    self->receiver = receiver;
    g_mutex_unlock(&self->receiver_lock);
    if (!receiver) {
        return FALSE;
    }
    if (gst_tltcp_receiver_port(receiver)) {
        gst_tltcp_settings_set_bound(&self->settings,
                                     gst_tltcp_receiver_port(receiver));
        g_object_notify(G_OBJECT(self), "localport");
    }
    return TRUE;
}

static gboolean gst_tltcp_src_stop(GstBaseSrc *base) {
    GstTltcpSrc *self = GST_TLTCP_SRC(base);

    g_mutex_lock(&self->receiver_lock);
    GstTltcpReceiver *receiver = g_steal_pointer(&self->receiver);
    g_mutex_unlock(&self->receiver_lock);
    g_clear_pointer(&receiver, gst_tltcp_receiver_stop);
    gst_tltcp_settings_set_bound(&self->settings, 0);
    g_clear_object(&self->caller);
    gst_tltcp_deframer_restart(&self->deframer);
    return TRUE;
}

static gboolean src_set_flushing(GstBaseSrc *base, gboolean flushing) {
    GstTltcpSrc *self = GST_TLTCP_SRC(base);

    g_mutex_lock(&self->receiver_lock);
    if (self->receiver) {
        gst_tltcp_receiver_set_flushing(self->receiver, flushing);
    }
    g_mutex_unlock(&self->receiver_lock);
    return TRUE;
}

static gboolean gst_tltcp_src_unlock(GstBaseSrc *base) {
    return src_set_flushing(base, TRUE);
}

static gboolean gst_tltcp_src_unlock_stop(GstBaseSrc *base) {
    return src_set_flushing(base, FALSE);
}

static gboolean gst_tltcp_src_query(GstBaseSrc *base, GstQuery *query) {
    GstTltcpSrc *self = GST_TLTCP_SRC(base);

    if (GST_QUERY_TYPE(query) != GST_QUERY_LATENCY) {
        return GST_BASE_SRC_CLASS(gst_tltcp_src_parent_class)
            ->query(base, query);
    }
    gst_query_set_latency(query, TRUE, gst_tltcp_src_latency(self),
                          GST_CLOCK_TIME_NONE);
    return TRUE;
}

/* The pipeline tells how long its sinks wait. */
static gboolean src_on_event(GstBaseSrc *base, GstEvent *event) {
    GstClockTime latency;

    if (GST_EVENT_TYPE(event) == GST_EVENT_LATENCY) {
        gst_event_parse_latency(event, &latency);
        gst_tltcp_deframer_set_wait(&GST_TLTCP_SRC(base)->deframer, latency);
    }
    return GST_BASE_SRC_CLASS(gst_tltcp_src_parent_class)->event(base, event);
}

static GstStateChangeReturn gst_tltcp_src_change_state(GstElement *element,
                                                       GstStateChange change) {
    GstTltcpSrc *self = GST_TLTCP_SRC(element);
    GstStateChangeReturn result = GST_ELEMENT_CLASS(gst_tltcp_src_parent_class)
                                      ->change_state(element, change);

    if (change == GST_STATE_CHANGE_PAUSED_TO_READY) {
        g_ptr_array_set_size(self->pads, 0);
    }
    return result;
}

static void gst_tltcp_src_set_property(GObject *object, guint prop,
                                       const GValue *value, GParamSpec *pspec) {
    if (!gst_tltcp_settings_set(&GST_TLTCP_SRC(object)->settings, prop,
                                value)) {
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, prop, pspec);
    }
}

static void gst_tltcp_src_get_property(GObject *object, guint prop,
                                       GValue *value, GParamSpec *pspec) {
    GstTltcpSrc *self = GST_TLTCP_SRC(object);

    if (prop == GST_TLTCP_PROP_STATS) {
        g_value_take_boxed(value, gst_tltcp_src_stats(self));
    } else if (!gst_tltcp_settings_get(&self->settings, prop, value)) {
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, prop, pspec);
    }
}

static void gst_tltcp_src_finalize(GObject *object) {
    GstTltcpSrc *self = GST_TLTCP_SRC(object);

    gst_tltcp_settings_clear(&self->settings);
    gst_tltcp_deframer_clear(&self->deframer);
    g_ptr_array_unref(self->pads);
    g_mutex_clear(&self->receiver_lock);
    G_OBJECT_CLASS(gst_tltcp_src_parent_class)->finalize(object);
}

static void gst_tltcp_src_class_init(GstTltcpSrcClass *klass) {
    GObjectClass *object = G_OBJECT_CLASS(klass);
    GstElementClass *element = GST_ELEMENT_CLASS(klass);
    GstBaseSrcClass *base = GST_BASE_SRC_CLASS(klass);

    object->finalize = gst_tltcp_src_finalize;
    object->set_property = gst_tltcp_src_set_property;
    object->get_property = gst_tltcp_src_get_property;
    gst_tltcp_src_install_properties(object);
    gst_tltcp_signals_install(G_TYPE_FROM_CLASS(klass));
    /**
     * GstTltcpSrc::gap:
     * @src: the source
     * @position: position in the byte stream, from 0
     * @size: number of bytes that will never arrive
     *
     * The sender gave up this part of the stream.  Emitted from the streaming
     * thread.
     *
     * Since: 0.1
     */
    signals[SIGNAL_GAP] = g_signal_new(
        "gap", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
        G_TYPE_NONE, 2, G_TYPE_UINT64, G_TYPE_UINT64);

    element->change_state = gst_tltcp_src_change_state;
    base->start = gst_tltcp_src_start;
    base->stop = gst_tltcp_src_stop;
    base->unlock = gst_tltcp_src_unlock;
    base->unlock_stop = gst_tltcp_src_unlock_stop;
    base->query = gst_tltcp_src_query;
    base->event = src_on_event;
    GST_PUSH_SRC_CLASS(klass)->create = gst_tltcp_src_create;

    /* Programs that check only the first template must see that there may be
     * more pads. */
    gst_tltcp_src_pad_install(element);
    gst_element_class_add_static_pad_template(element, &src_template);
    gst_element_class_set_static_metadata(
        element, "TLTCP source", "Source/Network",
        "Receives media with deadlines over the network",
        "The Perigee authors");
}

/* Buffers are what arrived, so that nothing is to be allocated.  The answer to
 * this query may wait behind buffers in a queue, and the thread that waits for
 * it serves the other pads too. */
static GstPadProbeReturn on_query(GstPad *pad, GstPadProbeInfo *info,
                                  gpointer user) {
    (void)pad;
    (void)user;
    return GST_QUERY_TYPE(GST_PAD_PROBE_INFO_QUERY(info)) ==
                   GST_QUERY_ALLOCATION
               ? GST_PAD_PROBE_DROP
               : GST_PAD_PROBE_OK;
}

static void remove_pad(gpointer pad) {
    gst_tltcp_src_pad_remove(pad);
}

static void gst_tltcp_src_init(GstTltcpSrc *self) {
    gst_tltcp_src_init_properties(self);
    gst_tltcp_deframer_init(&self->deframer);
    self->pads = g_ptr_array_new_with_free_func(remove_pad);
    g_mutex_init(&self->receiver_lock);
    gst_pad_add_probe(GST_BASE_SRC_PAD(self),
                      GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, on_query, NULL,
                      NULL);
    gst_base_src_set_live(GST_BASE_SRC(self), TRUE);
    gst_base_src_set_format(GST_BASE_SRC(self), GST_FORMAT_TIME);
    gst_base_src_set_do_timestamp(GST_BASE_SRC(self), FALSE);
}
