/* SPDX-License-Identifier: MPL-2.0 */
/**
 * SECTION:element-tltcpsink
 * @title: tltcpsink
 * @see_also: #tltcpsrc
 *
 * tltcpsink sends media over the network with TLTCP (Time-lined TCP over UDP).
 * Every buffer becomes a section with a deadline.  Obsolete sections are not
 * sent, so a link that is too slow carries what still matters, and the stream
 * takes no more than its fair share of the link.
 *
 * Caps, timestamps, duration and flags are restored by #tltcpsrc.  For MPEG-1,
 * MPEG-2, MPEG-4 part 2, H.264, H.265, VP8, VP9 and AV1 (one access unit per
 * buffer, so put a parser before this element), and for these in transport
 * streams, the sink knows which frames others need and drops disposable ones
 * first.
 *
 * Request pads take further streams, which share the connection.
 *
 * A listener serves any number of callers.  Each has its own queue: a slow one
 * loses data by deadline and does not hold up the others.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 videotestsrc is-live=true ! video/x-raw,framerate=25/1 !
 * x264enc key-int-max=50 bitrate=2000 ! h264parse ! tltcpsink
 * uri=tltcp://127.0.0.1:7001 latency=200
 * ]| Sends a test picture to a #tltcpsrc that listens on port 7001.
 * |[
 * gst-launch-1.0 filesrc location=movie.mp4 ! qtdemux ! h264parse ! tltcpsink
 * uri="tltcp://:7001?mode=listener&latency=500"
 * ]| Serves a file to all callers, at the pace of its timestamps.
 *
 * ## Deadlines
 *
 * The deadline of a buffer is the time when it would be shown plus
 * #tltcpsink:latency; see #tltcpsink:deadline-mode for other ways.  Buffers of
 * a stream without a time line (its segment counts bytes) never expire.  With
 * #tltcpsink:drop-policy other than `section`, reference frames are sent for up
 * to #tltcpsink:reference-grace longer, since later frames can still be decoded
 * with them.
 *
 * ## Messages
 *
 * Whenever a connection is attempted, made, lost or refused, an element message
 * "tltcp-connection" reports `state` (connecting, connected, failed, lost,
 * retrying), `address`, `attempt`, and on failure `error` and `cause`.
 *
 * Since: 0.1
 */
#include "gst-plugins/gsttltcpsinkimpl.h"

#include <gst/video/video.h>

#include "gst-plugins/gsttltcpmeta.h"
#include "gst-plugins/gsttltcpsignals.h"
#include "internal/media/stream/drop.h"

GST_DEBUG_CATEGORY_STATIC(tltcpsink_debug);
#define GST_CAT_DEFAULT tltcpsink_debug

/* Minimum time between two requests for a key unit. */
#define KEY_UNIT_US (500 * G_TIME_SPAN_MILLISECOND)

enum { SIGNAL_SECTION_DROPPED, SIGNAL_COUNT };

static guint signals[SIGNAL_COUNT];

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE(
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

G_DEFINE_TYPE_WITH_CODE(
    GstTltcpSink, gst_tltcp_sink, GST_TYPE_BASE_SINK,
    G_IMPLEMENT_INTERFACE(GST_TYPE_URI_HANDLER,
                          gst_tltcp_settings_uri_handler_init))
GST_ELEMENT_REGISTER_DEFINE_WITH_CODE(
    tltcpsink, "tltcpsink", GST_RANK_PRIMARY, GST_TYPE_TLTCP_SINK,
    GST_DEBUG_CATEGORY_INIT(tltcpsink_debug, "tltcpsink", 0, "TLTCP sink");
    gst_tltcp_enums_register(); gst_tltcp_meta_register())

/* ---- from the sender's thread ---- */

static void on_key_unit_wanted(GstElement *element) {
    GstTltcpSink *self = GST_TLTCP_SINK(element);
    gint64 now = g_get_monotonic_time();

    g_mutex_lock(&self->settings.lock);
    gboolean ask =
        self->force_key_unit &&
        (!self->key_unit_at || now - self->key_unit_at >= KEY_UNIT_US);
    if (ask) {
        self->key_unit_at = now;
    }
    g_mutex_unlock(&self->settings.lock);
    if (!ask) {
        return;
    }
    GST_DEBUG_OBJECT(self, "asking upstream for a key unit");
    GstEvent *event = gst_video_event_new_upstream_force_key_unit(
        GST_CLOCK_TIME_NONE, TRUE, 0);
    gst_tltcp_sink_pads_push_event(self, event);
    gst_pad_push_event(GST_BASE_SINK_PAD(self), event);
}

static void on_rate_changed(GstElement *element, guint64 rate_bps,
                            guint64 target_bps) {
    GstTltcpSink *self = GST_TLTCP_SINK(element);
    guint rate = (guint)MIN(rate_bps, G_MAXUINT);
    guint target = (guint)MIN(target_bps, G_MAXUINT);

    g_mutex_lock(&self->settings.lock);
    gboolean rate_changed = self->estimated_bitrate != rate;
    gboolean target_changed = self->target_bitrate != target;
    self->estimated_bitrate = rate;
    self->target_bitrate = target;
    g_mutex_unlock(&self->settings.lock);
    if (rate_changed) {
        g_object_notify(G_OBJECT(self), "estimated-bitrate");
    }
    if (target_changed) {
        g_object_notify(G_OBJECT(self), "target-bitrate");
    }
}

/* FALSE: there are none any more. */
static gboolean end_pauses(GstTltcpSink *self) {
    g_autoptr(GPtrArray) pads = gst_tltcp_sink_pads_copy(self);
    gboolean paused = gst_tltcp_stream_end_pause(&self->stream);

    for (guint i = 0; i < pads->len; i++) {
        GstTltcpSinkPad *pad = g_ptr_array_index(pads, i);
        paused = gst_tltcp_stream_end_pause(&pad->stream) || paused;
    }
    return paused;
}

/* A change may have to wait until the encoder may be changed again. */
static gboolean on_polled(GstElement *element) {
    GstTltcpSink *self = GST_TLTCP_SINK(element);
    gboolean paused = end_pauses(self);

    g_mutex_lock(&self->settings.lock);
    GstTltcpEncoderLimits limits = {self->encoder_min, self->encoder_max};
    guint target = self->target_bitrate;
    gboolean steer = self->encoder_mode == GST_TLTCP_ENCODER_AUTO;
    g_mutex_unlock(&self->settings.lock);
    if (steer && gst_tltcp_encoder_may_look(&self->encoder, target)) {
        g_autoptr(GPtrArray) pads = gst_tltcp_sink_pads_copy(self);
        g_ptr_array_add(pads, gst_object_ref(GST_BASE_SINK_PAD(self)));
        gst_tltcp_encoder_steer(&self->encoder, pads, target, &limits);
    }
    return paused;
}

static void on_section_dropped(GstElement *element, GSocketAddress *caller,
                               const GstTltcpLoss *loss) {
    g_signal_emit(element, signals[SIGNAL_SECTION_DROPPED], 0, caller,
                  loss->stream, media__class_name(loss->frame_class),
                  loss->reason ? tltcp_live_cause_name(loss->reason) : "lost",
                  loss->tag);
}

static void on_listening(GstElement *element, guint port) {
    gst_tltcp_settings_set_bound(&GST_TLTCP_SINK(element)->settings, port);
    g_object_notify(G_OBJECT(element), "localport");
}

static const GstTltcpSenderFuncs sender_funcs = {
    .caller_added = gst_tltcp_signals_caller_added,
    .caller_removed = gst_tltcp_signals_caller_removed,
    .caller_connecting = gst_tltcp_signals_caller_connecting,
    .caller_rejected = gst_tltcp_signals_caller_rejected,
    .key_unit_wanted = on_key_unit_wanted,
    .rate_changed = on_rate_changed,
    .polled = on_polled,
    .section_dropped = on_section_dropped,
    .listening = on_listening,
};

/* ---- the first stream ---- */

static GstFlowReturn sink_resume(GstTltcpStream *stream) {
    return gst_base_sink_wait_preroll(GST_BASE_SINK(stream->sink));
}

static gboolean gst_tltcp_sink_set_caps(GstBaseSink *base, GstCaps *caps) {
    gst_tltcp_stream_set_caps(&GST_TLTCP_SINK(base)->stream, caps);
    return TRUE;
}

static GstFlowReturn gst_tltcp_sink_render(GstBaseSink *base,
                                           GstBuffer *buffer) {
    return gst_tltcp_stream_render(&GST_TLTCP_SINK(base)->stream,
                                   &base->segment, buffer);
}

/* FALSE: flushing or failed before all streams ended. */
static gboolean sink_on_eos(GstTltcpSink *self) {
    if (gst_tltcp_sink_group_begin_eos(&self->stream)) {
        gst_tltcp_sender_finish(self->sender);
    }
    GstFlowReturn flow = gst_tltcp_stream_eos(&self->stream);
    while (flow == GST_FLOW_OK && (!gst_tltcp_sink_group_wait_eos(self) ||
                                   !gst_tltcp_sender_drain(self->sender))) {
        flow = gst_tltcp_stream_resume(&self->stream);
    }
    return flow == GST_FLOW_OK;
}

static gboolean gst_tltcp_sink_event(GstBaseSink *base, GstEvent *event) {
    GstTltcpSink *self = GST_TLTCP_SINK(base);

    switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_FLUSH_START:
        gst_tltcp_sink_pads_set_flushing(self, TRUE);
        break;
    case GST_EVENT_FLUSH_STOP:
        gst_tltcp_sink_pads_set_flushing(self, FALSE);
        self->stream.lateness = -1;
        break;
    case GST_EVENT_GAP:
        if (gst_tltcp_sink_has_sender(self)) {
            gst_tltcp_stream_gap(&self->stream, &base->segment, event);
        }
        break;
    case GST_EVENT_TAG:
        gst_tltcp_stream_tags(&self->stream, event);
        break;
    case GST_EVENT_EOS:
        if (gst_tltcp_sink_has_sender(self) && !sink_on_eos(self)) {
            gst_event_unref(event);
            return FALSE;
        }
        break;
    default:
        break;
    }
    return GST_BASE_SINK_CLASS(gst_tltcp_sink_parent_class)->event(base, event);
}

/* A frame leaves at its decoding time. The display time would be too late for
 * the frames behind it when frames are reordered. */
static void gst_tltcp_sink_get_times(GstBaseSink *base, GstBuffer *buffer,
                                     GstClockTime *start, GstClockTime *end) {
    GstClockTime t = GST_BUFFER_DTS_OR_PTS(buffer);

    (void)base;
    *start = t;
    *end = GST_CLOCK_TIME_NONE;
    if (GST_CLOCK_TIME_IS_VALID(t) && GST_BUFFER_DURATION_IS_VALID(buffer)) {
        *end = t + GST_BUFFER_DURATION(buffer);
    }
}

static gboolean gst_tltcp_sink_start(GstBaseSink *base) {
    GstTltcpSink *self = GST_TLTCP_SINK(base);
    GstTltcpSenderOptions options;

    g_mutex_lock(&self->settings.lock);
    options.policy = self->drop_policy;
    options.max_rate = self->max_send_bitrate;
    options.initial_window = self->initial_window;
    self->estimated_bitrate = self->target_bitrate = 0;
    self->key_unit_at = 0;
    self->encoder = (GstTltcpEncoderState){0};
    g_mutex_unlock(&self->settings.lock);
    gst_tltcp_stream_restart(&self->stream);
    self->own_offset = 0;
    GstTltcpSender *sender = gst_tltcp_sender_start(
        GST_ELEMENT(self), &self->settings, &options, &sender_funcs);
    g_mutex_lock(&self->sender_lock);
    self->sender = sender;
    g_mutex_unlock(&self->sender_lock);
    return sender != NULL;
}

static gboolean gst_tltcp_sink_stop(GstBaseSink *base) {
    GstTltcpSink *self = GST_TLTCP_SINK(base);

    g_mutex_lock(&self->sender_lock);
    GstTltcpSender *sender = g_steal_pointer(&self->sender);
    g_mutex_unlock(&self->sender_lock);
    g_clear_pointer(&sender, gst_tltcp_sender_stop);
    gst_tltcp_settings_set_bound(&self->settings, 0);
    gst_caps_replace(&self->stream.caps, NULL);
    gst_base_sink_set_ts_offset(base, gst_base_sink_get_ts_offset(base) -
                                          self->own_offset);
    self->own_offset = 0;
    return TRUE;
}

static gboolean sink_set_flushing(GstBaseSink *base, gboolean flushing) {
    GstTltcpSink *self = GST_TLTCP_SINK(base);

    gst_tltcp_sink_pads_set_unlocked(self, flushing);
    g_mutex_lock(&self->sender_lock);
    if (self->sender) {
        gst_tltcp_sender_set_flushing(self->sender, flushing);
    }
    g_mutex_unlock(&self->sender_lock);
    return TRUE;
}

static gboolean gst_tltcp_sink_unlock(GstBaseSink *base) {
    return sink_set_flushing(base, TRUE);
}

static gboolean gst_tltcp_sink_unlock_stop(GstBaseSink *base) {
    return sink_set_flushing(base, FALSE);
}

/* ---- the element ---- */

static GstStateChangeReturn gst_tltcp_sink_change_state(GstElement *element,
                                                        GstStateChange change) {
    GstTltcpSink *self = GST_TLTCP_SINK(element);

    gst_tltcp_sink_pads_before(self, change);
    GstStateChangeReturn result = GST_ELEMENT_CLASS(gst_tltcp_sink_parent_class)
                                      ->change_state(element, change);
    gst_tltcp_sink_pads_after(self, change);
    return result;
}

static gboolean gst_tltcp_sink_send_event(GstElement *element,
                                          GstEvent *event) {
    if (GST_EVENT_TYPE(event) == GST_EVENT_LATENCY) {
        gst_tltcp_sink_pads_push_event(GST_TLTCP_SINK(element), event);
    }
    return GST_ELEMENT_CLASS(gst_tltcp_sink_parent_class)
        ->send_event(element, event);
}

static gboolean gst_tltcp_sink_query(GstElement *element, GstQuery *query) {
    gboolean ok =
        GST_ELEMENT_CLASS(gst_tltcp_sink_parent_class)->query(element, query);

    if (ok && GST_QUERY_TYPE(query) == GST_QUERY_LATENCY) {
        gst_tltcp_sink_pads_add_latency(GST_TLTCP_SINK(element), query);
    }
    return ok;
}

static void gst_tltcp_sink_set_property(GObject *object, guint prop,
                                        const GValue *value,
                                        GParamSpec *pspec) {
    if (!gst_tltcp_settings_set(&GST_TLTCP_SINK(object)->settings, prop,
                                value)) {
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, prop, pspec);
    }
}

static void gst_tltcp_sink_get_property(GObject *object, guint prop,
                                        GValue *value, GParamSpec *pspec) {
    GstTltcpSink *self = GST_TLTCP_SINK(object);

    if (prop == GST_TLTCP_PROP_STATS) {
        g_value_take_boxed(value, gst_tltcp_sink_stats(self));
    } else if (!gst_tltcp_settings_get(&self->settings, prop, value)) {
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, prop, pspec);
    }
}

static GstPad *gst_tltcp_sink_request_pad(GstElement *element,
                                          GstPadTemplate *template,
                                          const gchar *wanted,
                                          const GstCaps *caps) {
    (void)wanted;
    (void)caps;
    return gst_tltcp_sink_pads_request(GST_TLTCP_SINK(element), template);
}

static void gst_tltcp_sink_release_pad(GstElement *element, GstPad *pad) {
    gst_tltcp_sink_pads_release(GST_TLTCP_SINK(element), pad);
}

static void gst_tltcp_sink_finalize(GObject *object) {
    GstTltcpSink *self = GST_TLTCP_SINK(object);

    gst_tltcp_stream_clear(&self->stream);
    gst_tltcp_sink_pads_clear(self);
    gst_tltcp_settings_clear(&self->settings);
    g_mutex_clear(&self->sender_lock);
    G_OBJECT_CLASS(gst_tltcp_sink_parent_class)->finalize(object);
}

static void gst_tltcp_sink_class_init(GstTltcpSinkClass *klass) {
    GObjectClass *object = G_OBJECT_CLASS(klass);
    GstElementClass *element = GST_ELEMENT_CLASS(klass);
    GstBaseSinkClass *base = GST_BASE_SINK_CLASS(klass);

    object->finalize = gst_tltcp_sink_finalize;
    object->set_property = gst_tltcp_sink_set_property;
    object->get_property = gst_tltcp_sink_get_property;
    gst_tltcp_sink_install_properties(object);
    gst_tltcp_signals_install(G_TYPE_FROM_CLASS(klass));
    /**
     * GstTltcpSink::section-dropped:
     * @sink: the sink
     * @caller: (nullable): the address of the caller that missed it
     * @stream: the stream's number; 0 is the first pad's
     * @frame_class: "key", "reference", "disposable" and so on
     * @reason: "late", "depends" (a reference is lost), "yielded" (gave way to
     * frames that others need), "overflow", or "lost" in transit
     * @tag: the tag of its GstTltcpSendMeta, else 0
     *
     * A buffer did not arrive completely.  Emitted from a thread of the
     * element; handlers must not block.
     *
     * Since: 0.1
     */
    signals[SIGNAL_SECTION_DROPPED] = g_signal_new(
        "section-dropped", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST, 0, NULL,
        NULL, NULL, G_TYPE_NONE, 5, G_TYPE_SOCKET_ADDRESS, G_TYPE_UINT,
        G_TYPE_STRING, G_TYPE_STRING, G_TYPE_UINT64);

    element->request_new_pad = gst_tltcp_sink_request_pad;
    element->release_pad = gst_tltcp_sink_release_pad;
    element->change_state = gst_tltcp_sink_change_state;
    element->send_event = gst_tltcp_sink_send_event;
    element->query = gst_tltcp_sink_query;
    base->set_caps = gst_tltcp_sink_set_caps;
    base->render = gst_tltcp_sink_render;
    base->event = gst_tltcp_sink_event;
    base->get_times = gst_tltcp_sink_get_times;
    base->start = gst_tltcp_sink_start;
    base->stop = gst_tltcp_sink_stop;
    base->unlock = gst_tltcp_sink_unlock;
    base->unlock_stop = gst_tltcp_sink_unlock_stop;

    /* Pad lookups use the first matching template. */
    gst_tltcp_sink_pads_install(element);
    gst_element_class_add_static_pad_template(element, &sink_template);
    gst_element_class_set_static_metadata(
        element, "TLTCP sink", "Sink/Network",
        "Sends media with deadlines over the network", "The Perigee authors");
}

static void gst_tltcp_sink_init(GstTltcpSink *self) {
    g_mutex_init(&self->sender_lock);
    /* A buffer before the segment may be a key frame that others need. */
    gst_base_sink_set_drop_out_of_segment(GST_BASE_SINK(self), FALSE);
    gst_tltcp_stream_init(&self->stream, self, GST_BASE_SINK_PAD(self), 0);
    self->stream.resume = sink_resume;
    gst_tltcp_sink_pads_init(self);
    gst_tltcp_sink_init_properties(self);
}
