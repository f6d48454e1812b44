/* SPDX-License-Identifier: MPL-2.0 */
/* From what comes in on a pad of the sink to sections with deadlines. */
#include <string.h>

#include <tltcp/socket.h>

#include "gst-plugins/gsttltcpcaps.h"
#include "gst-plugins/gsttltcpsinkimpl.h"
#include "gst-plugins/gsttltcptags.h"

void gst_tltcp_stream_init(GstTltcpStream *stream, GstTltcpSink *sink,
                           guint8 number) {
    memset(stream, 0, sizeof(*stream));
    stream->sink = sink;
    stream->lateness = -1;
    gst_tltcp_framer_init(&stream->framer, number);
}

void gst_tltcp_stream_clear(GstTltcpStream *stream) {
    gst_tltcp_framer_clear(&stream->framer);
    gst_caps_replace(&stream->caps, NULL);
    g_clear_pointer(&stream->headers, g_ptr_array_unref);
    g_clear_pointer(&stream->tags, gst_tag_list_unref);
}

void gst_tltcp_stream_restart(GstTltcpStream *stream) {
    guint8 number = stream->framer.stream;

    gst_tltcp_framer_clear(&stream->framer);
    gst_tltcp_framer_init(&stream->framer, number);
    stream->described = stream->begun = FALSE;
    stream->lateness = -1;
}

/* ---- time ---- */

/* How far a running time lies from now on the library's clock.  The sink's own
 * latency counts as the moment of capture: live pipelines wait for it. */
static gint64 to_engine(const GstTltcpStream *stream, gint64 running,
                        GstClockTime now, tltcp_time engine_now) {
    GstBaseSink *base = GST_BASE_SINK(stream->sink);

    if (running == MEDIA_NEVER) {
        return MEDIA_NEVER;
    }
    return running - (gint64)now + (gint64)engine_now +
           (gint64)gst_base_sink_get_latency(base) +
           gst_base_sink_get_ts_offset(base) + MAX(stream->lateness, 0);
}

static void to_engine_times(const GstTltcpStream *stream, media_item *item,
                            GstClockTime now) {
    tltcp_time engine_now = tltcp_now();

    item->arrival = (gint64)engine_now;
    item->due = to_engine(stream, item->due, now, engine_now);
    item->deadline = to_engine(stream, item->deadline, now, engine_now);
}

/* A stream of which every buffer comes late is not obsolete, but has begun
 * late: its source was started behind the clock, or waited for. */
static void learn_lateness(GstTltcpStream *stream, const media_times *times) {
    gint64 due = times->dts != MEDIA_TIME_NONE ? times->dts : times->pts;
    gint64 late = due == MEDIA_TIME_NONE ? 0 : MAX(times->arrival - due, 0);

    if (stream->lateness < 0 || late < stream->lateness) {
        stream->lateness = late;
    }
}

static media_times times_of(GstTltcpStream *stream, const GstSegment *segment,
                            GstBuffer *buffer, GstClockTime now) {
    GstBaseSink *base = GST_BASE_SINK(stream->sink);
    media_times times = gst_tltcp_framer_times(segment, buffer, now);

    /* Time that the sink has lost by waiting is no time of the media. */
    times.arrival -= (gint64)gst_base_sink_get_latency(base) +
                     gst_base_sink_get_ts_offset(base);
    learn_lateness(stream, &times);
    times.arrival -= MAX(stream->lateness, 0);
    return times;
}

/* ---- what it is ---- */

static void set_deadlines(GstTltcpStream *stream) {
    GstTltcpSink *self = stream->sink;

    g_mutex_lock(&self->settings.lock);
    guint grace =
        self->drop_policy == GST_TLTCP_DROP_SECTION ? 0 : self->reference_grace;
    gst_tltcp_framer_set_deadlines(&stream->framer, self->deadline_mode,
                                   self->settings.latency * GST_MSECOND,
                                   grace * GST_MSECOND, stream->caps);
    g_mutex_unlock(&self->settings.lock);
}

static guint latency_ms(GstTltcpSink *self) {
    g_mutex_lock(&self->settings.lock);
    guint latency = self->settings.latency;
    g_mutex_unlock(&self->settings.lock);
    return latency;
}

/* Stream headers as sections, for those who join later. */
static GPtrArray *make_header_sections(GstTltcpStream *stream) {
    GPtrArray *sections =
        g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);

    for (guint i = 0; stream->headers && i < stream->headers->len; i++) {
        g_ptr_array_add(sections, gst_tltcp_framer_header(
                                      &stream->framer,
                                      g_ptr_array_index(stream->headers, i)));
    }
    return sections;
}

static void send_tags(GstTltcpStream *stream) {
    g_autofree gchar *text =
        stream->tags ? gst_tltcp_tags_to_text(stream->tags) : NULL;

    if (text) {
        g_autoptr(GBytes) section =
            gst_tltcp_framer_tags(&stream->framer, text);
        gst_tltcp_sender_set_tags(stream->sink->sender, stream->framer.stream,
                                  section);
    }
}

static void sinkstream_describe(GstTltcpStream *stream) {
    GstTltcpSink *self = stream->sink;

    gst_tltcp_framer_set_caps(&stream->framer, stream->caps);
    set_deadlines(stream);
    g_clear_pointer(&stream->headers, g_ptr_array_unref);
    if (stream->caps) {
        stream->headers = gst_tltcp_caps_headers(stream->caps);
    }
    GstTltcpConfigPlace place = {
        .stream = stream->framer.stream,
        .streams = gst_tltcp_sink_pads_streams(self),
        .generation = stream->framer.generation,
        .latency_ms = latency_ms(self),
    };
    g_autoptr(GPtrArray) headers = make_header_sections(stream);
    g_autoptr(GBytes) config = gst_tltcp_caps_to_section(stream->caps, &place);
    gst_tltcp_sender_set_config(self->sender, place.stream, config, headers,
                                stream->begun);
    send_tags(stream);
    g_mutex_lock(&self->pads_lock);
    stream->described = TRUE;
    g_cond_broadcast(&self->pads_changed);
    g_mutex_unlock(&self->pads_lock);
}

void gst_tltcp_stream_set_caps(GstTltcpStream *stream, GstCaps *caps) {
    gst_caps_replace(&stream->caps, caps);
    if (stream->sink->sender) {
        sinkstream_describe(stream);
    }
}

/* Tags come before the buffers, and again when more is known. */
void gst_tltcp_stream_tags(GstTltcpStream *stream, GstEvent *event) {
    GstTagList *tags;

    gst_event_parse_tag(event, &tags);
    GstTagList *merged =
        gst_tag_list_merge(stream->tags, tags, GST_TAG_MERGE_REPLACE);
    gboolean changed =
        !stream->tags || !gst_tag_list_is_equal(stream->tags, merged);
    g_clear_pointer(&stream->tags, gst_tag_list_unref);
    stream->tags = merged;
    if (changed && stream->described && stream->sink->sender) {
        send_tags(stream);
    }
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

/* Everybody got the stream headers with the description; the tables of a
 * transport stream are repeated on purpose. */
static gboolean is_known_header(const GstTltcpStream *stream,
                                GstBuffer *buffer) {
    if (!stream->headers || stream->framer.ts ||
        !GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_HEADER)) {
        return FALSE;
    }
    for (guint i = 0; i < stream->headers->len; i++) {
        if (same_bytes(buffer, g_ptr_array_index(stream->headers, i))) {
            return TRUE;
        }
    }
    return FALSE;
}

/* ---- on its way ---- */

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

GstFlowReturn gst_tltcp_stream_resume(GstTltcpStream *stream) {
    if (gst_tltcp_sender_has_failed(stream->sink->sender)) {
        return GST_FLOW_ERROR;
    }
    return stream->resume(stream);
}

static GstFlowReturn wait_connected(GstTltcpStream *stream) {
    GstTltcpSink *self = stream->sink;
    GstFlowReturn flow = GST_FLOW_OK;
    guint64 waited = 0;

    g_mutex_lock(&self->settings.lock);
    gboolean wait = self->wait_for_connection;
    g_mutex_unlock(&self->settings.lock);
    while (wait && flow == GST_FLOW_OK &&
           !gst_tltcp_sender_wait_connected(self->sender, &stream->cancelled,
                                            &waited)) {
        flow = gst_tltcp_stream_resume(stream);
    }
    if (flow == GST_FLOW_OK && stream == &self->stream) {
        start_late(self, waited);
    }
    return flow;
}

static GstFlowReturn push(GstTltcpStream *stream, GBytes *section,
                          const media_item *item) {
    GstTltcpSink *self = stream->sink;
    GstFlowReturn flow = GST_FLOW_OK;
    guint64 patience = 0;

    if (item->deadline == MEDIA_NEVER) {
        patience = latency_ms(self) * GST_MSECOND;
    }
    while (flow == GST_FLOW_OK &&
           !gst_tltcp_sender_push(self->sender, section, item,
                                  &stream->cancelled, patience)) {
        flow = gst_tltcp_stream_resume(stream);
    }
    return flow;
}

static GstFlowReturn push_units(GstTltcpStream *stream, GQueue *units,
                                gboolean timed, GstClockTime now) {
    GstFlowReturn flow = GST_FLOW_OK;
    GstTltcpUnit *unit;

    while ((unit = g_queue_pop_head(units))) {
        media_item *item = &unit->item;
        item->begin = unit->begin;
        /* What has no time line, such as the bytes of a file, is never too
         * late. */
        if (!timed && stream->framer.deadline.mode != MEDIA_DEADLINE_CONSTANT) {
            item->due = item->deadline = MEDIA_NEVER;
        }
        to_engine_times(stream, item, now);
        if (flow == GST_FLOW_OK) {
            flow = push(stream, unit->section, item);
        }
        gst_tltcp_unit_free(unit);
    }
    return flow;
}

GstFlowReturn gst_tltcp_stream_render(GstTltcpStream *stream,
                                      const GstSegment *segment,
                                      GstBuffer *buffer) {
    GQueue units = G_QUEUE_INIT;

    if (!stream->described) {
        sinkstream_describe(stream);
    }
    if (!stream->begun) {
        gst_tltcp_sink_pads_wait_described(stream->sink);
        gst_tltcp_sender_begin(stream->sink->sender, stream->framer.stream);
        stream->begun = TRUE;
    }
    GstFlowReturn flow = wait_connected(stream);
    if (flow != GST_FLOW_OK || is_known_header(stream, buffer)) {
        return flow;
    }
    GstClockTime now = gst_tltcp_running_now(GST_ELEMENT(stream->sink));
    media_times times = times_of(stream, segment, buffer, now);
    gst_tltcp_framer_buffer(&stream->framer, buffer, &times, &units);
    return push_units(stream, &units, segment->format == GST_FORMAT_TIME, now);
}

static GstFlowReturn push_event(GstTltcpStream *stream, guint event, gint64 pts,
                                gint64 duration) {
    media_item item;
    g_autoptr(GBytes) section =
        gst_tltcp_framer_event(&stream->framer, event, pts, duration);

    memset(&item, 0, sizeof(item));
    item.frame.frame_class = MEDIA_CLASS_HEADER;
    item.bytes = g_bytes_get_size(section);
    item.arrival = (gint64)tltcp_now();
    item.due = item.deadline = MEDIA_NEVER;
    return push(stream, section, &item);
}

void gst_tltcp_stream_gap(GstTltcpStream *stream, const GstSegment *segment,
                          GstEvent *event) {
    GstClockTime start, duration;

    gst_event_parse_gap(event, &start, &duration);
    gint64 length =
        GST_CLOCK_TIME_IS_VALID(duration) && duration < G_MAXINT64 / 16
            ? (gint64)duration
            : MEDIA_TIME_NONE;
    guint64 at = gst_segment_to_running_time(segment, GST_FORMAT_TIME, start);
    if (GST_CLOCK_TIME_IS_VALID(at) && at < G_MAXINT64 / 16) {
        push_event(stream, MEDIA_EVENT_GAP, (gint64)at, length);
    }
}

GstFlowReturn gst_tltcp_stream_eos(GstTltcpStream *stream) {
    media_times none = {MEDIA_TIME_NONE, MEDIA_TIME_NONE, MEDIA_TIME_NONE, 0};
    GQueue units = G_QUEUE_INIT;
    GstClockTime now = gst_tltcp_running_now(GST_ELEMENT(stream->sink));

    none.arrival = (gint64)now;
    gst_tltcp_framer_flush(&stream->framer, &none, &units);
    GstFlowReturn flow = push_units(stream, &units, TRUE, now);
    if (flow == GST_FLOW_OK) {
        flow = push_event(stream, MEDIA_EVENT_EOS, MEDIA_TIME_NONE,
                          MEDIA_TIME_NONE);
    }
    return flow;
}
