/* SPDX-License-Identifier: MPL-2.0 */
/* Turns buffers and events of a sink pad into sections with deadlines. */
#include <string.h>

#include "gst-plugins/gsttltcpcaps.h"
#include "gst-plugins/gsttltcpsinkimpl.h"
#include "gst-plugins/gsttltcptags.h"

/* When all buffers have been obsolete for so long, their time has changed. */
#define RENEWED_AFTER GST_SECOND

void gst_tltcp_stream_init(GstTltcpStream *stream, GstTltcpSink *sink,
                           GstPad *pad, guint8 number) {
    memset(stream, 0, sizeof(*stream));
    stream->sink = sink;
    stream->pad = pad;
    stream->lateness = stream->renewed = -1;
    gst_tltcp_framer_init(&stream->framer, number);
}

void gst_tltcp_stream_clear(GstTltcpStream *stream) {
    gst_tltcp_framer_clear(&stream->framer);
    gst_caps_replace(&stream->caps, NULL);
    g_clear_pointer(&stream->headers, g_ptr_array_unref);
    g_clear_pointer(&stream->tags, gst_tag_list_unref);
}

void gst_tltcp_stream_restart(GstTltcpStream *stream) {
    guint8 number = stream->framer.number;

    gst_tltcp_framer_clear(&stream->framer);
    gst_tltcp_framer_init(&stream->framer, number);
    stream->described = stream->begun = FALSE;
    stream->lateness = stream->renewed = -1;
    stream->qos = (GstTltcpQos){0};
    stream->pause.on = FALSE;
}

/* ---- time ---- */

static guint latency_ms(GstTltcpSink *self) {
    g_mutex_lock(&self->settings.lock);
    guint latency = self->settings.latency;
    g_mutex_unlock(&self->settings.lock);
    return latency;
}

/* Running time 0 on the library's clock.  The pipeline's latency is added: live
 * pipelines wait for it. */
static gint64 clock_offset(const GstTltcpStream *stream, GstClockTime now) {
    GstBaseSink *base = GST_BASE_SINK(stream->sink);

    return (gint64)tltcp_now() - (gint64)now +
           (gint64)gst_base_sink_get_latency(base) +
           gst_base_sink_get_ts_offset(base) + MAX(stream->lateness, 0);
}

/* The source's clock may step back, or its delay may grow, while it runs. */
static void renew_lateness(GstTltcpStream *stream, gint64 late,
                           GstClockTime now) {
    gint64 latency = (gint64)latency_ms(stream->sink) * GST_MSECOND;

    if (late <= stream->lateness + latency) {
        stream->renewed = -1;
        return;
    }
    if (stream->renewed < 0) {
        stream->renewed = late;
        stream->renewed_since = now;
    }
    stream->renewed = MIN(stream->renewed, late);
    if (now >= stream->renewed_since + RENEWED_AFTER) {
        GST_INFO_OBJECT(stream->pad,
                        "the time of buffers is now %" G_GINT64_FORMAT
                        " ms late",
                        stream->renewed / (gint64)GST_MSECOND);
        stream->lateness = stream->renewed;
        stream->renewed = -1;
    }
}

/* A stream whose buffers are all late is not obsolete. It started late: its
 * source was behind the clock, or the sink had to wait for it. */
static void learn_lateness(GstTltcpStream *stream,
                           const tltcp_live_frame *frame, GstClockTime now) {
    GstBaseSink *base = GST_BASE_SINK(stream->sink);
    gint64 due = frame->dts != TLTCP_LIVE_TIME_NONE ? frame->dts : frame->pts;
    /* Time spent waiting in the sink does not count as lateness. */
    gint64 arrival = (gint64)now - (gint64)gst_base_sink_get_latency(base) -
                     gst_base_sink_get_ts_offset(base);
    gint64 late = due == TLTCP_LIVE_TIME_NONE ? 0 : MAX(arrival - due, 0);

    if (stream->lateness < 0 || late < stream->lateness) {
        stream->lateness = late;
    }
    renew_lateness(stream, late, now);
}

/* ---- description ---- */

static void set_deadlines(GstTltcpStream *stream) {
    GstTltcpSink *self = stream->sink;

    g_mutex_lock(&self->settings.lock);
    guint grace =
        self->drop_policy == GST_TLTCP_DROP_SECTION ? 0 : self->reference_grace;
    gst_tltcp_framer_set_deadlines(&stream->framer, self->deadline_mode,
                                   self->settings.latency, grace);
    g_mutex_unlock(&self->settings.lock);
}

/* Stream headers as sections, for later callers. */
static GPtrArray *make_header_sections(GstTltcpStream *stream) {
    GPtrArray *sections = g_ptr_array_new_with_free_func(
        (GDestroyNotify)tltcp_live_section_unref);

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
        tltcp_live_section *section = tltcp_live_stream_mark(
            stream->framer.live, TLTCP_LIVE_MARK_TAGS, TLTCP_LIVE_TIME_NONE,
            TLTCP_LIVE_TIME_NONE, text, strlen(text));
        gst_tltcp_sender_set_tags(stream->sink->sender, stream->framer.number,
                                  section);
        tltcp_live_section_unref(section);
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
    g_autoptr(GPtrArray) headers = make_header_sections(stream);
    tltcp_live_section *config = tltcp_live_stream_describe(
        stream->framer.live, gst_tltcp_sink_group_count(self));
    gst_tltcp_sender_set_config(self->sender, stream->framer.number, config,
                                headers, stream->begun);
    tltcp_live_section_unref(config);
    send_tags(stream);
    g_mutex_lock(&self->pads_lock);
    stream->described = TRUE;
    g_cond_broadcast(&self->pads_changed);
    g_mutex_unlock(&self->pads_lock);
}

void gst_tltcp_stream_set_caps(GstTltcpStream *stream, GstCaps *caps) {
    gst_caps_replace(&stream->caps, caps);
    if (gst_tltcp_sink_has_sender(stream->sink)) {
        sinkstream_describe(stream);
    }
}

/* Tags arrive before the buffers, and again when more is known. */
void gst_tltcp_stream_tags(GstTltcpStream *stream, GstEvent *event) {
    GstTagList *tags;

    gst_event_parse_tag(event, &tags);
    GstTagList *merged =
        gst_tag_list_merge(stream->tags, tags, GST_TAG_MERGE_REPLACE);
    gboolean changed =
        !stream->tags || !gst_tag_list_is_equal(stream->tags, merged);
    g_clear_pointer(&stream->tags, gst_tag_list_unref);
    stream->tags = merged;
    /* Without a sender, another thread may reset `described`. */
    if (changed && gst_tltcp_sink_has_sender(stream->sink) &&
        stream->described) {
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

/* Connections get the stream headers with the description; a transport stream's
 * tables are repeated on purpose. */
static gboolean is_known_header(const GstTltcpStream *stream,
                                GstBuffer *buffer) {
    if (!stream->headers || stream->framer.is_ts ||
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

/* ---- sending ---- */

/* A file must not play before a peer is connected, so its time starts late. A
 * live source cannot wait. */
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

static GstFlowReturn push(GstTltcpStream *stream, tltcp_live_section *section) {
    GstTltcpSink *self = stream->sink;
    GstFlowReturn flow = GST_FLOW_OK;
    guint64 patience = 0;

    if (tltcp_live_section_deadline(section) == TLTCP_TIME_NEVER) {
        patience = latency_ms(self) * GST_MSECOND;
    }
    while (flow == GST_FLOW_OK &&
           !gst_tltcp_sender_push(self->sender, section, &stream->cancelled,
                                  patience)) {
        flow = gst_tltcp_stream_resume(stream);
    }
    return flow;
}

static gboolean steers_encoder(GstTltcpSink *self) {
    g_mutex_lock(&self->settings.lock);
    gboolean steers = self->encoder_mode == GST_TLTCP_ENCODER_AUTO;
    g_mutex_unlock(&self->settings.lock);
    return steers;
}

static void set_pause(GstTltcpStream *stream, const GstTltcpPause *pause) {
    g_mutex_lock(&stream->sink->settings.lock);
    stream->pause = *pause;
    g_mutex_unlock(&stream->sink->settings.lock);
}

/* Asks upstream to skip pictures while they would arrive too late. */
static void ask_to_skip(GstTltcpStream *stream, gint64 pts) {
    GstTltcpSink *self = stream->sink;
    tltcp_time now = tltcp_now();
    tltcp_time due = stream->qos.due;

    if (pts < 0 || !steers_encoder(self)) {
        return;
    }
    guint64 late =
        gst_tltcp_sender_lateness(self->sender, stream->qos.bytes, due);
    if (!late) {
        return; /* the sender's thread ends a pause */
    }
    GstTltcpPause pause = {.on = TRUE,
                           .bytes = stream->qos.bytes,
                           .remaining = due > now ? due - now : 0,
                           .began = now,
                           .late = late,
                           .running = (GstClockTime)pts};
    GST_DEBUG_OBJECT(stream->pad, "pictures would be %" GST_TIME_FORMAT " late",
                     GST_TIME_ARGS(late));
    /* The sender's thread may end the pause as soon as it is set, so this
     * event goes first. */
    gst_pad_push_event(stream->pad,
                       gst_tltcp_qos_event((GstClockTime)pts, late));
    set_pause(stream, &pause);
    gst_tltcp_sender_poll(self->sender);
}

/* The lateness of a picture captured now; 0 without a sender, too. */
static guint64 sinkstream_lateness(GstTltcpSink *self,
                                   const GstTltcpPause *pause) {
    guint64 late = 0;

    g_mutex_lock(&self->sender_lock);
    if (self->sender) {
        late = gst_tltcp_sender_lateness(self->sender, pause->bytes,
                                         tltcp_now() + pause->remaining);
    }
    g_mutex_unlock(&self->sender_lock);
    return late;
}

gboolean gst_tltcp_stream_end_pause(GstTltcpStream *stream) {
    static const GstTltcpPause none = {0};
    GstTltcpSink *self = stream->sink;

    g_mutex_lock(&self->settings.lock);
    GstTltcpPause pause = stream->pause;
    g_mutex_unlock(&self->settings.lock);
    if (!pause.on) {
        return FALSE;
    }
    /* If waiting does not help, it need not last. */
    tltcp_time lasted = tltcp_now() - pause.began;
    guint64 bearable = lasted >= pause.late ? pause.late : 0;
    if (lasted < GST_TLTCP_PAUSE_MAX &&
        sinkstream_lateness(self, &pause) > bearable) {
        return TRUE;
    }
    set_pause(stream, &none);
    gst_pad_push_event(stream->pad, gst_tltcp_qos_resume_event(pause.running));
    return FALSE;
}

static GstFlowReturn push_sections(GstTltcpStream *stream, GQueue *sections,
                                   gint64 pts) {
    GstFlowReturn flow = GST_FLOW_OK;
    gboolean picture = FALSE;
    tltcp_live_section *section;

    while ((section = g_queue_pop_head(sections))) {
        if (flow == GST_FLOW_OK) {
            flow = push(stream, section);
            picture = gst_tltcp_qos_section(&stream->qos, section) || picture;
        }
        tltcp_live_section_unref(section);
    }
    if (flow == GST_FLOW_OK && picture) {
        ask_to_skip(stream, pts);
    }
    return flow;
}

GstFlowReturn gst_tltcp_stream_render(GstTltcpStream *stream,
                                      const GstSegment *segment,
                                      GstBuffer *buffer) {
    GQueue sections = G_QUEUE_INIT;
    tltcp_live_frame frame;

    if (!stream->described) {
        sinkstream_describe(stream);
    }
    if (!stream->begun) {
        gst_tltcp_sink_group_wait_described(stream->sink);
        gst_tltcp_sender_begin(stream->sink->sender, stream->framer.number);
        stream->begun = TRUE;
    }
    GstFlowReturn flow = wait_connected(stream);
    if (flow != GST_FLOW_OK || is_known_header(stream, buffer)) {
        return flow;
    }
    GstClockTime now = gst_tltcp_running_now(GST_ELEMENT(stream->sink));
    gst_tltcp_framer_times(segment, buffer, &frame);
    learn_lateness(stream, &frame, now);
    frame.clock_offset = clock_offset(stream, now);
    gst_tltcp_framer_buffer(&stream->framer, buffer, &frame, &sections);
    return push_sections(stream, &sections, frame.pts);
}

static GstFlowReturn push_mark(GstTltcpStream *stream, guint mark, gint64 pts,
                               gint64 duration) {
    tltcp_live_section *section = tltcp_live_stream_mark(
        stream->framer.live, mark, pts, duration, NULL, 0);
    GstFlowReturn flow = push(stream, section);

    tltcp_live_section_unref(section);
    return flow;
}

void gst_tltcp_stream_gap(GstTltcpStream *stream, const GstSegment *segment,
                          GstEvent *event) {
    GstClockTime start, duration;

    gst_event_parse_gap(event, &start, &duration);
    gint64 length =
        GST_CLOCK_TIME_IS_VALID(duration) && duration < G_MAXINT64 / 16
            ? (gint64)duration
            : TLTCP_LIVE_TIME_NONE;
    guint64 at = gst_segment_to_running_time(segment, GST_FORMAT_TIME, start);
    if (GST_CLOCK_TIME_IS_VALID(at) && at < G_MAXINT64 / 16) {
        push_mark(stream, TLTCP_LIVE_MARK_GAP, (gint64)at, length);
    }
}

GstFlowReturn gst_tltcp_stream_eos(GstTltcpStream *stream) {
    GQueue sections = G_QUEUE_INIT;
    GstClockTime now = gst_tltcp_running_now(GST_ELEMENT(stream->sink));
    tltcp_live_frame frame;

    tltcp_live_frame_init(&frame);
    frame.clock_offset = clock_offset(stream, now);
    gst_tltcp_framer_flush(&stream->framer, &frame, &sections);
    GstFlowReturn flow = push_sections(stream, &sections, frame.pts);
    if (flow == GST_FLOW_OK) {
        flow = push_mark(stream, TLTCP_LIVE_MARK_END, TLTCP_LIVE_TIME_NONE,
                         TLTCP_LIVE_TIME_NONE);
    }
    return flow;
}
