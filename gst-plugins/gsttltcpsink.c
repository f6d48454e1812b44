/* SPDX-License-Identifier: MPL-2.0 */
/**
 * SECTION:element-tltcpsink
 * @title: tltcpsink
 * @see_also: #tltcpsrc
 *
 * tltcpsink sends media over the network with TLTCP (Time-lined TCP over UDP).
 * Every buffer becomes a section with a deadline; what is obsolete is not sent
 * any more, so that a link that is too small carries what still matters, and
 * does so without taking more than its share of the link.
 *
 * Caps, timestamps, duration and flags are restored by #tltcpsrc.  For MPEG-1,
 * MPEG-2, MPEG-4 part 2, H.264 and H.265 (one access unit per buffer, so put a
 * parser before this element) the sink knows which frames others need, and
 * gives up disposable ones first.
 *
 * A listener serves any number of callers.  Each has a queue of its own: a slow
 * one loses data by deadline and does not hold up the others.
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
 * ]| Serves a file, at the pace of its timestamps, to everybody who calls.
 *
 * ## Deadlines
 *
 * The deadline of a buffer is the time when it would be shown plus
 * #tltcpsink:latency; see #tltcpsink:deadline-mode for other ways.  Buffers of
 * a stream without time line (its segment counts bytes) never expire.  With
 * #tltcpsink:drop-policy other than `section`, frames that others need are
 * worth sending for #tltcpsink:reference-grace longer, since what follows can
 * still be decoded with them.
 *
 * ## Messages
 *
 * Whenever a connection is attempted, made, lost or refused, an element message
 * "tltcp-connection" tells `state` (connecting, connected, failed, lost,
 * retrying), `address`, `attempt`, and on failure `error` and `cause`.
 *
 * Since: 0.1
 */
#include "gst-plugins/gsttltcpsinkimpl.h"

#include <gst/video/video.h>
#include <string.h>

#include <tltcp/socket.h>

#include "gst-plugins/gsttltcpcaps.h"
#include "gst-plugins/gsttltcpsignals.h"

GST_DEBUG_CATEGORY_STATIC(tltcpsink_debug);
#define GST_CAT_DEFAULT tltcpsink_debug

/* Between two requests for a key unit. */
#define KEY_UNIT_US (500 * G_TIME_SPAN_MILLISECOND)

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE(
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

G_DEFINE_TYPE_WITH_CODE(
    GstTltcpSink, gst_tltcp_sink, GST_TYPE_BASE_SINK,
    G_IMPLEMENT_INTERFACE(GST_TYPE_URI_HANDLER,
                          gst_tltcp_settings_uri_handler_init))
GST_ELEMENT_REGISTER_DEFINE_WITH_CODE(
    tltcpsink, "tltcpsink", GST_RANK_PRIMARY, GST_TYPE_TLTCP_SINK,
    GST_DEBUG_CATEGORY_INIT(tltcpsink_debug, "tltcpsink", 0, "TLTCP sink");
    gst_tltcp_enums_register())

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
    gst_pad_push_event(GST_BASE_SINK_PAD(self),
                       gst_video_event_new_upstream_force_key_unit(
                           GST_CLOCK_TIME_NONE, TRUE, 0));
}

static void on_rate_changed(GstElement *element, guint64 rate_bps) {
    GstTltcpSink *self = GST_TLTCP_SINK(element);

    g_mutex_lock(&self->settings.lock);
    self->estimated_bitrate = (guint)MIN(rate_bps, G_MAXUINT);
    g_mutex_unlock(&self->settings.lock);
    g_object_notify(G_OBJECT(self), "estimated-bitrate");
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
    .listening = on_listening,
};

/* ---- streaming ---- */

static GstClockTime running_now(GstTltcpSink *self) {
    GstClock *clock = gst_element_get_clock(GST_ELEMENT(self));
    GstClockTime base = gst_element_get_base_time(GST_ELEMENT(self));
    GstClockTime now = GST_CLOCK_TIME_NONE;

    if (clock) {
        GstClockTime t = gst_clock_get_time(clock);
        now = t > base ? t - base : 0;
        gst_object_unref(clock);
    }
    return now;
}

/* How far a running time lies from now on the library's clock.  The sink's own
 * latency counts as the moment of capture: live pipelines wait for it. */
static gint64 to_engine(GstTltcpSink *self, gint64 running, GstClockTime now,
                        tltcp_time engine_now) {
    GstBaseSink *base = GST_BASE_SINK(self);

    if (running == MEDIA_NEVER) {
        return MEDIA_NEVER;
    }
    return running - (gint64)now + (gint64)engine_now +
           (gint64)gst_base_sink_get_latency(base) +
           gst_base_sink_get_ts_offset(base) + MAX(self->lateness, 0);
}

/* A stream of which every buffer comes late is not obsolete, but has begun
 * late: its source was started behind the clock, or waited for. */
static void learn_lateness(GstTltcpSink *self, const media_times *times) {
    gint64 due = times->dts != MEDIA_TIME_NONE ? times->dts : times->pts;
    gint64 late = due == MEDIA_TIME_NONE ? 0 : MAX(times->arrival - due, 0);

    if (self->lateness < 0 || late < self->lateness) {
        self->lateness = late;
    }
}

static void set_deadlines(GstTltcpSink *self) {
    g_mutex_lock(&self->settings.lock);
    guint grace =
        self->drop_policy == GST_TLTCP_DROP_SECTION ? 0 : self->reference_grace;
    gst_tltcp_framer_set_deadlines(&self->framer, self->deadline_mode,
                                   self->settings.latency * GST_MSECOND,
                                   grace * GST_MSECOND, self->caps);
    g_mutex_unlock(&self->settings.lock);
}

static guint latency_ms(GstTltcpSink *self) {
    g_mutex_lock(&self->settings.lock);
    guint latency = self->settings.latency;
    g_mutex_unlock(&self->settings.lock);
    return latency;
}

/* Stream headers as sections, for those who join later. */
static GPtrArray *make_header_sections(GstTltcpSink *self) {
    GPtrArray *sections =
        g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    media_times none = {MEDIA_TIME_NONE, MEDIA_TIME_NONE, MEDIA_TIME_NONE, 0};
    media_item item;

    for (guint i = 0; i < self->stream_headers->len; i++) {
        g_autoptr(GstBuffer) header =
            gst_buffer_copy(g_ptr_array_index(self->stream_headers, i));
        GST_BUFFER_FLAG_SET(header, GST_BUFFER_FLAG_HEADER);
        GBytes *section =
            gst_tltcp_framer_section(&self->framer, header, &none, &item);
        if (section) {
            g_ptr_array_add(sections, section);
        }
    }
    return sections;
}

static void describe(GstTltcpSink *self) {
    g_autoptr(GPtrArray) headers = NULL;

    gst_tltcp_framer_set_caps(&self->framer, self->caps);
    set_deadlines(self);
    g_clear_pointer(&self->stream_headers, g_ptr_array_unref);
    if (self->caps) {
        self->stream_headers = gst_tltcp_caps_headers(self->caps);
    }
    if (self->stream_headers) {
        headers = make_header_sections(self);
    }
    g_autoptr(GBytes) config = gst_tltcp_caps_to_section(
        self->caps, self->framer.generation, latency_ms(self));
    gst_tltcp_sender_set_config(self->sender, config, headers);
    self->described = TRUE;
}

static gboolean gst_tltcp_sink_set_caps(GstBaseSink *base, GstCaps *caps) {
    GstTltcpSink *self = GST_TLTCP_SINK(base);

    gst_caps_replace(&self->caps, caps);
    if (self->sender) {
        describe(self);
    }
    return TRUE;
}

static gboolean same_bytes(GstBuffer *a, GstBuffer *b) {
    GstMapInfo map;
    gboolean same = FALSE;

    if (gst_buffer_get_size(a) != gst_buffer_get_size(b) ||
        !gst_buffer_map(a, &map, GST_MAP_READ)) {
        return FALSE;
    }
    same = gst_buffer_memcmp(b, 0, map.data, map.size) == 0;
    gst_buffer_unmap(a, &map);
    return same;
}

/* Everybody got the stream headers with the description. */
static gboolean is_known_header(GstTltcpSink *self, GstBuffer *buffer) {
    if (!self->stream_headers ||
        !GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_HEADER)) {
        return FALSE;
    }
    for (guint i = 0; i < self->stream_headers->len; i++) {
        if (same_bytes(buffer, g_ptr_array_index(self->stream_headers, i))) {
            return TRUE;
        }
    }
    return FALSE;
}

/* A file must not run away while nobody listens: its time starts late.  A live
 * source cannot wait. */
static void start_late(GstTltcpSink *self, GstClockTime waited) {
    GstBaseSink *base = GST_BASE_SINK(self);
    gboolean live = FALSE;

    if (!waited ||
        !gst_base_sink_query_latency(base, &live, NULL, NULL, NULL) || live) {
        return;
    }
    GST_INFO_OBJECT(self, "waited %" GST_TIME_FORMAT " for a connection",
                    GST_TIME_ARGS(waited));
    self->own_offset += (GstClockTimeDiff)waited;
    gst_base_sink_set_ts_offset(base, gst_base_sink_get_ts_offset(base) +
                                          (GstClockTimeDiff)waited);
}

static GstFlowReturn flow_of(GstTltcpSink *self) {
    return gst_tltcp_sender_has_failed(self->sender) ? GST_FLOW_ERROR
                                                     : GST_FLOW_FLUSHING;
}

static GstFlowReturn wait_connected(GstTltcpSink *self) {
    guint64 waited = 0;

    g_mutex_lock(&self->settings.lock);
    gboolean wait = self->wait_for_connection;
    g_mutex_unlock(&self->settings.lock);
    while (wait && !gst_tltcp_sender_wait_connected(self->sender, &waited)) {
        GstFlowReturn flow = flow_of(self);
        if (flow != GST_FLOW_FLUSHING) {
            return flow;
        }
        flow = gst_base_sink_wait_preroll(GST_BASE_SINK(self));
        if (flow != GST_FLOW_OK) {
            return flow;
        }
    }
    start_late(self, waited);
    return GST_FLOW_OK;
}

static void to_engine_times(GstTltcpSink *self, media_item *item,
                            GstClockTime now) {
    tltcp_time engine_now = tltcp_now();

    item->arrival = (gint64)engine_now;
    item->due = to_engine(self, item->due, now, engine_now);
    item->deadline = to_engine(self, item->deadline, now, engine_now);
}

static GstFlowReturn push(GstTltcpSink *self, GBytes *section,
                          const media_item *item) {
    guint64 patience = 0;

    if (item->deadline == MEDIA_NEVER) {
        patience = latency_ms(self) * GST_MSECOND;
    }
    while (!gst_tltcp_sender_push(self->sender, section, item, patience)) {
        GstFlowReturn flow = flow_of(self);
        if (flow == GST_FLOW_FLUSHING) {
            flow = gst_base_sink_wait_preroll(GST_BASE_SINK(self));
        }
        if (flow != GST_FLOW_OK) {
            return flow;
        }
    }
    return GST_FLOW_OK;
}

static GstFlowReturn gst_tltcp_sink_render(GstBaseSink *base,
                                           GstBuffer *buffer) {
    GstTltcpSink *self = GST_TLTCP_SINK(base);
    media_item item;

    if (!self->described) {
        describe(self);
    }
    GstFlowReturn flow = wait_connected(self);
    if (flow != GST_FLOW_OK || is_known_header(self, buffer)) {
        return flow;
    }
    GstClockTime now = running_now(self);
    if (!GST_CLOCK_TIME_IS_VALID(now)) {
        now = 0;
    }
    gboolean timed = base->segment.format == GST_FORMAT_TIME;
    media_times times = gst_tltcp_framer_times(&base->segment, buffer, now);
    /* Time that the sink has lost by waiting is no time of the media. */
    times.arrival -= (gint64)gst_base_sink_get_latency(base) +
                     gst_base_sink_get_ts_offset(base);
    learn_lateness(self, &times);
    times.arrival -= MAX(self->lateness, 0);
    g_autoptr(GBytes) section =
        gst_tltcp_framer_section(&self->framer, buffer, &times, &item);
    if (!section) {
        return GST_FLOW_OK;
    }
    /* What has no time line, such as the bytes of a file, is never too late. */
    if (!timed && self->framer.deadline.mode != MEDIA_DEADLINE_CONSTANT) {
        item.due = item.deadline = MEDIA_NEVER;
    }
    to_engine_times(self, &item, now);
    GST_LOG_OBJECT(
        self, "%s frame of %" G_GSIZE_FORMAT " bytes, pts %" G_GINT64_FORMAT,
        media__class_name(item.frame.frame_class), item.bytes, times.pts);
    return push(self, section, &item);
}

static void push_event_section(GstTltcpSink *self, guint event, gint64 pts,
                               gint64 duration) {
    media_item item;
    g_autoptr(GBytes) section =
        gst_tltcp_framer_event(&self->framer, event, pts, duration);

    memset(&item, 0, sizeof(item));
    item.frame.frame_class = MEDIA_CLASS_HEADER;
    item.arrival = (gint64)tltcp_now();
    item.due = item.deadline = MEDIA_NEVER;
    push(self, section, &item);
}

static void on_gap(GstTltcpSink *self, GstEvent *event) {
    GstClockTime start, duration;

    gst_event_parse_gap(event, &start, &duration);
    gint64 length =
        GST_CLOCK_TIME_IS_VALID(duration) && duration < G_MAXINT64 / 16
            ? (gint64)duration
            : MEDIA_TIME_NONE;
    guint64 at = gst_segment_to_running_time(&GST_BASE_SINK(self)->segment,
                                             GST_FORMAT_TIME, start);
    if (GST_CLOCK_TIME_IS_VALID(at) && at < G_MAXINT64 / 16) {
        push_event_section(self, MEDIA_EVENT_GAP, (gint64)at, length);
    }
}

static gboolean gst_tltcp_sink_event(GstBaseSink *base, GstEvent *event) {
    GstTltcpSink *self = GST_TLTCP_SINK(base);

    if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) {
        self->lateness = -1;
    }
    if (self->sender && GST_EVENT_TYPE(event) == GST_EVENT_GAP) {
        on_gap(self, event);
    }
    if (self->sender && GST_EVENT_TYPE(event) == GST_EVENT_EOS) {
        gst_tltcp_sender_finish(self->sender);
        push_event_section(self, MEDIA_EVENT_EOS, MEDIA_TIME_NONE,
                           MEDIA_TIME_NONE);
        gst_tltcp_sender_drain(self->sender);
    }
    return GST_BASE_SINK_CLASS(gst_tltcp_sink_parent_class)->event(base, event);
}

/* Without decoding times nothing says when a frame should leave but its display
 * time, and with reordering that is too late for the frames behind it. */
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
    self->estimated_bitrate = 0;
    self->key_unit_at = 0;
    g_mutex_unlock(&self->settings.lock);
    memset(&self->framer, 0, sizeof(self->framer));
    self->described = FALSE;
    self->own_offset = 0;
    self->lateness = -1;
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
    gst_caps_replace(&self->caps, NULL);
    g_clear_pointer(&self->stream_headers, g_ptr_array_unref);
    gst_base_sink_set_ts_offset(base, gst_base_sink_get_ts_offset(base) -
                                          self->own_offset);
    self->own_offset = 0;
    return TRUE;
}

static gboolean set_flushing(GstBaseSink *base, gboolean flushing) {
    GstTltcpSink *self = GST_TLTCP_SINK(base);

    g_mutex_lock(&self->sender_lock);
    if (self->sender) {
        gst_tltcp_sender_set_flushing(self->sender, flushing);
    }
    g_mutex_unlock(&self->sender_lock);
    return TRUE;
}

static gboolean gst_tltcp_sink_unlock(GstBaseSink *base) {
    return set_flushing(base, TRUE);
}

static gboolean gst_tltcp_sink_unlock_stop(GstBaseSink *base) {
    return set_flushing(base, FALSE);
}

static void gst_tltcp_sink_finalize(GObject *object) {
    GstTltcpSink *self = GST_TLTCP_SINK(object);

    gst_tltcp_settings_clear(&self->settings);
    g_mutex_clear(&self->sender_lock);
    G_OBJECT_CLASS(gst_tltcp_sink_parent_class)->finalize(object);
}

static void gst_tltcp_sink_class_init(GstTltcpSinkClass *klass) {
    GObjectClass *object = G_OBJECT_CLASS(klass);
    GstElementClass *element = GST_ELEMENT_CLASS(klass);
    GstBaseSinkClass *base = GST_BASE_SINK_CLASS(klass);

    object->finalize = gst_tltcp_sink_finalize;
    gst_tltcp_sink_install_properties(object);
    gst_tltcp_signals_install(G_TYPE_FROM_CLASS(klass));

    base->set_caps = gst_tltcp_sink_set_caps;
    base->render = gst_tltcp_sink_render;
    base->event = gst_tltcp_sink_event;
    base->get_times = gst_tltcp_sink_get_times;
    base->start = gst_tltcp_sink_start;
    base->stop = gst_tltcp_sink_stop;
    base->unlock = gst_tltcp_sink_unlock;
    base->unlock_stop = gst_tltcp_sink_unlock_stop;

    gst_element_class_add_static_pad_template(element, &sink_template);
    gst_element_class_set_static_metadata(
        element, "TLTCP sink", "Sink/Network",
        "Sends media with deadlines over the network", "The Perigee authors");
}

static void gst_tltcp_sink_init(GstTltcpSink *self) {
    gst_tltcp_settings_init(&self->settings, G_OBJECT(self));
    g_mutex_init(&self->sender_lock);
    gst_tltcp_sink_init_properties(self);
}
