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
#include "gst-plugins/gsttltcpsink.h"

#include <gst/video/video.h>
#include <string.h>

#include <tltcp/socket.h>

#include "gst-plugins/gsttltcpcaps.h"
#include "gst-plugins/gsttltcpframer.h"
#include "gst-plugins/gsttltcpsender.h"
#include "gst-plugins/gsttltcpsettings.h"
#include "gst-plugins/gsttltcpsignals.h"
#include "gst-plugins/gsttltcpstats.h"
#include "gst-plugins/gsttltcpuri.h"

GST_DEBUG_CATEGORY_STATIC(tltcpsink_debug);
#define GST_CAT_DEFAULT tltcpsink_debug

#define DEFAULT_DEADLINE_MODE GST_TLTCP_DEADLINE_PTS
#define DEFAULT_DROP_POLICY GST_TLTCP_DROP_DEPENDENTS
#define DEFAULT_REFERENCE_GRACE 1000
/* Between two requests for a key unit. */
#define KEY_UNIT_US (500 * G_TIME_SPAN_MILLISECOND)

enum {
    PROP_WAIT_FOR_CONNECTION = GST_TLTCP_PROP_LAST,
    PROP_DEADLINE_MODE,
    PROP_DROP_POLICY,
    PROP_REFERENCE_GRACE,
    PROP_MAX_SEND_BITRATE,
    PROP_ESTIMATED_BITRATE,
    PROP_FORCE_KEY_UNIT
};

struct _GstTltcpSink {
    GstBaseSink parent;

    GstTltcpSettings settings;
    /* Properties, under the settings' lock. */
    gboolean wait_for_connection;
    gint deadline_mode;
    gint drop_policy;
    guint reference_grace; /* ms */
    guint64 max_send_bitrate;
    gboolean force_key_unit;
    guint estimated_bitrate;
    gint64 key_unit_at; /* last request, monotonic us */

    GMutex sender_lock; /* for the pointer */
    GstTltcpSender *sender;
    /* Streaming thread only. */
    GstTltcpFramer framer;
    GstCaps *caps;
    GPtrArray *stream_headers;
    gboolean described;
    GstClockTimeDiff own_offset; /* what waiting has added to ts-offset */
    gint64 lateness; /* least by which buffers came late; -1: none came yet */
};

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE(
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

static void uri_handler_init(gpointer iface, gpointer data);

G_DEFINE_TYPE_WITH_CODE(GstTltcpSink, gst_tltcp_sink, GST_TYPE_BASE_SINK,
                        G_IMPLEMENT_INTERFACE(GST_TYPE_URI_HANDLER,
                                              uri_handler_init))
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

/* ---- properties ---- */

static void gst_tltcp_sink_set_property(GObject *object, guint prop,
                                        const GValue *value,
                                        GParamSpec *pspec) {
    GstTltcpSink *self = GST_TLTCP_SINK(object);
    g_autoptr(GError) error = NULL;

    if (prop == GST_TLTCP_PROP_URI) {
        if (!gst_tltcp_settings_set_uri(&self->settings, object,
                                        g_value_get_string(value), &error)) {
            g_warning("%s", error->message);
        }
        return;
    }
    if (gst_tltcp_settings_set(&self->settings, prop, value)) {
        return;
    }
    g_mutex_lock(&self->settings.lock);
    switch (prop) {
    case PROP_WAIT_FOR_CONNECTION:
        self->wait_for_connection = g_value_get_boolean(value);
        break;
    case PROP_DEADLINE_MODE:
        self->deadline_mode = g_value_get_enum(value);
        break;
    case PROP_DROP_POLICY:
        self->drop_policy = g_value_get_enum(value);
        break;
    case PROP_REFERENCE_GRACE:
        self->reference_grace = g_value_get_uint(value);
        break;
    case PROP_MAX_SEND_BITRATE:
        self->max_send_bitrate = g_value_get_uint64(value);
        break;
    case PROP_FORCE_KEY_UNIT:
        self->force_key_unit = g_value_get_boolean(value);
        break;
    default:
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, prop, pspec);
    }
    g_mutex_unlock(&self->settings.lock);
}

static void get_stats(GstTltcpSink *self, GValue *value) {
    g_mutex_lock(&self->sender_lock);
    if (self->sender) {
        g_value_take_boxed(value, gst_tltcp_sender_stats(self->sender));
    } else {
        g_value_take_boxed(value,
                           gst_structure_new_empty(GST_TLTCP_STATS_NAME));
    }
    g_mutex_unlock(&self->sender_lock);
}

static void gst_tltcp_sink_get_property(GObject *object, guint prop,
                                        GValue *value, GParamSpec *pspec) {
    GstTltcpSink *self = GST_TLTCP_SINK(object);

    if (prop == GST_TLTCP_PROP_STATS) {
        get_stats(self, value);
        return;
    }
    if (gst_tltcp_settings_get(&self->settings, prop, value)) {
        return;
    }
    g_mutex_lock(&self->settings.lock);
    switch (prop) {
    case PROP_WAIT_FOR_CONNECTION:
        g_value_set_boolean(value, self->wait_for_connection);
        break;
    case PROP_DEADLINE_MODE:
        g_value_set_enum(value, self->deadline_mode);
        break;
    case PROP_DROP_POLICY:
        g_value_set_enum(value, self->drop_policy);
        break;
    case PROP_REFERENCE_GRACE:
        g_value_set_uint(value, self->reference_grace);
        break;
    case PROP_MAX_SEND_BITRATE:
        g_value_set_uint64(value, self->max_send_bitrate);
        break;
    case PROP_ESTIMATED_BITRATE:
        g_value_set_uint(value, self->estimated_bitrate);
        break;
    case PROP_FORCE_KEY_UNIT:
        g_value_set_boolean(value, self->force_key_unit);
        break;
    default:
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, prop, pspec);
    }
    g_mutex_unlock(&self->settings.lock);
}

#define RW_READY \
    (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY)

static void install_dropping(GObjectClass *klass) {
    /**
     * GstTltcpSink:deadline-mode:
     *
     * When sending a buffer becomes pointless.
     *
     * Since: 0.1
     */
    g_object_class_install_property(
        klass, PROP_DEADLINE_MODE,
        g_param_spec_enum("deadline-mode", "Deadline mode",
                          "When sending a buffer becomes pointless",
                          GST_TYPE_TLTCP_DEADLINE_MODE, DEFAULT_DEADLINE_MODE,
                          RW_READY));
    /**
     * GstTltcpSink:drop-policy:
     *
     * What is given up when the link is too small.
     *
     * Since: 0.1
     */
    g_object_class_install_property(
        klass, PROP_DROP_POLICY,
        g_param_spec_enum("drop-policy", "Drop policy",
                          "What is given up when the link is too small",
                          GST_TYPE_TLTCP_DROP_POLICY, DEFAULT_DROP_POLICY,
                          RW_READY));
    /**
     * GstTltcpSink:reference-grace:
     *
     * How much longer than others a frame that others need is worth sending:
     * what follows can be decoded with it though it is shown late itself.  With
     * #GstTltcpSink:deadline-mode pts, and a #GstTltcpSink:drop-policy other
     * than section.
     *
     * Since: 0.1
     */
    g_object_class_install_property(
        klass, PROP_REFERENCE_GRACE,
        g_param_spec_uint("reference-grace", "Grace of references",
                          "How much longer frames that others need are worth "
                          "sending (milliseconds)",
                          0, G_MAXINT32, DEFAULT_REFERENCE_GRACE, RW_READY));
}

static void install_sending(GObjectClass *klass) {
    g_object_class_install_property(
        klass, PROP_WAIT_FOR_CONNECTION,
        g_param_spec_boolean("wait-for-connection", "Wait for a connection",
                             "Block the stream until somebody is connected",
                             TRUE, RW_READY));
    g_object_class_install_property(
        klass, PROP_MAX_SEND_BITRATE,
        g_param_spec_uint64("max-send-bitrate", "Largest bit rate",
                            "Cap on what is sent, in bit/s on the wire (0: "
                            "none); the rate of the controller \"fixed\"",
                            0, G_MAXUINT64, 0, RW_READY));
    /**
     * GstTltcpSink:estimated-bitrate:
     *
     * What the path would carry, for encoders to follow: the highest of all
     * callers.  0 while it is not known.
     *
     * Since: 0.1
     */
    g_object_class_install_property(
        klass, PROP_ESTIMATED_BITRATE,
        g_param_spec_uint("estimated-bitrate", "Estimated bit rate",
                          "What the path would carry (bit/s)", 0, G_MAXUINT, 0,
                          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
    g_object_class_install_property(
        klass, PROP_FORCE_KEY_UNIT,
        g_param_spec_boolean("force-key-unit", "Force key unit",
                             "Ask upstream for a key unit when a frame that "
                             "others need is lost and when a caller joins",
                             TRUE,
                             G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                 GST_PARAM_MUTABLE_PLAYING));
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

    object->set_property = gst_tltcp_sink_set_property;
    object->get_property = gst_tltcp_sink_get_property;
    object->finalize = gst_tltcp_sink_finalize;
    gst_tltcp_settings_install(object);
    install_dropping(object);
    install_sending(object);
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
    gst_tltcp_settings_init(&self->settings);
    g_mutex_init(&self->sender_lock);
    self->wait_for_connection = TRUE;
    self->deadline_mode = DEFAULT_DEADLINE_MODE;
    self->drop_policy = DEFAULT_DROP_POLICY;
    self->reference_grace = DEFAULT_REFERENCE_GRACE;
    self->force_key_unit = TRUE;
}

/* ---- URI ---- */

static GstURIType uri_type(GType type) {
    (void)type;
    return GST_URI_SINK;
}

static const gchar *const *uri_protocols(GType type) {
    static const gchar *const protocols[] = {GST_TLTCP_SCHEME, NULL};

    (void)type;
    return protocols;
}

static gchar *uri_get(GstURIHandler *handler) {
    GstTltcpSink *self = GST_TLTCP_SINK(handler);

    g_mutex_lock(&self->settings.lock);
    gchar *uri = g_strdup(self->settings.uri);
    g_mutex_unlock(&self->settings.lock);
    return uri;
}

static gboolean uri_set(GstURIHandler *handler, const gchar *uri,
                        GError **error) {
    GstTltcpSink *self = GST_TLTCP_SINK(handler);

    return gst_tltcp_settings_set_uri(&self->settings, G_OBJECT(self), uri,
                                      error);
}

static void uri_handler_init(gpointer iface, gpointer data) {
    GstURIHandlerInterface *handler = iface;

    (void)data;
    handler->get_type = uri_type;
    handler->get_protocols = uri_protocols;
    handler->get_uri = uri_get;
    handler->set_uri = uri_set;
}
