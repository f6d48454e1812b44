/* SPDX-License-Identifier: MPL-2.0 */
/* From sections to buffers. */
#include "gst-plugins/gsttltcpdeframer.h"

#include <stdlib.h>
#include <string.h>

#include "gst-plugins/gsttltcpcaps.h"
#include "gst-plugins/gsttltcpflags.h"
#include "gst-plugins/gsttltcpmeta.h"
#include "gst-plugins/gsttltcptags.h"
#include "internal/media/codec/config.h"
#include "internal/media/stream/ts.h"

/* Frames later than the latency by more than this restart the time line.
 */
#define LATE_NS (gint64)(500 * GST_MSECOND)

/* Number of frames over which the delay is smoothed. */
#define DELAY_FRAMES 16

/* New names of fields in caps and tags of peers; few are usual. */
#define NAMES_MAX 4096

/* Bytes of the descriptions of all streams. */
#define DESCRIBED_MAX ((gsize)8 << 20)

/* A peer may not ask for more than a minute of latency. */
#define LATENCY_MAX_MS 60000

void gst_tltcp_deframer_init(GstTltcpDeframer *d) {
    memset(d, 0, sizeof(*d));
    g_mutex_init(&d->lock);
    d->names = NAMES_MAX;
    d->wait = GST_CLOCK_TIME_NONE;
    gst_tltcp_deframer_restart(d);
}

static void free_input(GstTltcpInput *in) {
    gst_caps_replace(&in->caps, NULL);
    g_clear_pointer(&in->tags, gst_tag_list_unref);
    g_free(in->ts);
    g_free(in);
}

void gst_tltcp_deframer_restart(GstTltcpDeframer *d) {
    for (guint i = 0; i < G_N_ELEMENTS(d->inputs); i++) {
        g_clear_pointer(&d->inputs[i], free_input);
    }
    d->first = -1;
    d->streams = 0;
    d->raw = d->raw_ts = d->framed = FALSE;
    d->held = 0;
    memset(&d->arrivals, 0, sizeof(d->arrivals));
    media__playout_init(&d->times, (gint64)d->latency + LATE_NS);
}

static GstTltcpInput *input_of(GstTltcpDeframer *d, guint8 stream) {
    GstTltcpInput *in = d->inputs[stream];

    if (!in) {
        in = d->inputs[stream] = g_new0(GstTltcpInput, 1);
        in->discont = TRUE;
        in->last_end = MEDIA_TIME_NONE;
        media__reftrack_init(&in->references);
    }
    return in;
}

gboolean gst_tltcp_deframer_is_over(const GstTltcpDeframer *d) {
    guint known = 0;

    for (guint i = 0; i < G_N_ELEMENTS(d->inputs); i++) {
        if (d->inputs[i] && !d->inputs[i]->ended) {
            return FALSE;
        }
        known += d->inputs[i] != NULL;
    }
    return known >= d->streams;
}

void gst_tltcp_deframer_clear(GstTltcpDeframer *d) {
    gst_tltcp_deframer_restart(d);
    g_mutex_clear(&d->lock);
}

/* Data is missing. With several streams, the frame numbers will show which
 * stream it belonged to; with one stream it is clear at once. */
static void note_break(GstTltcpDeframer *d) {
    GstTltcpInput *only = NULL;

    for (guint i = 0; i < G_N_ELEMENTS(d->inputs); i++) {
        if (d->inputs[i] && only) {
            return;
        }
        only = d->inputs[i] ? d->inputs[i] : only;
    }
    if (only) {
        only->discont = TRUE;
    }
}

void gst_tltcp_deframer_gap(GstTltcpDeframer *d, guint64 size) {
    g_mutex_lock(&d->lock);
    d->counts.gaps++;
    d->counts.gap_bytes += size;
    g_mutex_unlock(&d->lock);
    note_break(d);
}

GstClockTime gst_tltcp_deframer_latency(GstTltcpDeframer *d) {
    g_mutex_lock(&d->lock);
    GstClockTime latency = MAX(d->latency, d->sender_latency);
    g_mutex_unlock(&d->lock);
    return latency;
}

/* A sender with a longer latency sends frames that this end would not wait for.
 */
static void on_sender_latency(GstTltcpDeframer *d, guint32 latency_ms,
                              GstTltcpDeframed *deframed) {
    GstClockTime before = gst_tltcp_deframer_latency(d);

    g_mutex_lock(&d->lock);
    d->sender_latency = MIN(latency_ms, LATENCY_MAX_MS) * GST_MSECOND;
    g_mutex_unlock(&d->lock);
    d->times.tolerance = (gint64)gst_tltcp_deframer_latency(d) + LATE_NS;
    deframed->latency_changed = before != gst_tltcp_deframer_latency(d);
}

static void count(GstTltcpDeframer *d, guint64 *counter) {
    g_mutex_lock(&d->lock);
    ++*counter;
    g_mutex_unlock(&d->lock);
}

/* ---- streams ---- */

/* The lowest-numbered video stream, else the lowest-numbered stream. */
static gint choose_first(const GstTltcpDeframer *d) {
    gint chosen = -1;

    for (gint i = 0; i < 256; i++) {
        const GstTltcpInput *in = d->inputs[i];
        if (in && in->type == MEDIA_TYPE_VIDEO) {
            return i;
        }
        if (in && chosen < 0) {
            chosen = i;
        }
    }
    return chosen;
}

static void give_caps(GstTltcpInput *in, GstTltcpDeframed *deframed) {
    if (in->changed && in->caps) {
        deframed->caps = gst_caps_ref(in->caps);
    }
    in->changed = FALSE;
    if (in->tags) {
        deframed->tags = gst_event_new_tag(g_steal_pointer(&in->tags));
    }
}

gboolean gst_tltcp_deframer_settle(GstTltcpDeframer *d,
                                   GstTltcpDeframed *deframed) {
    memset(deframed, 0, sizeof(*deframed));
    d->first = choose_first(d);
    if (d->first < 0) {
        return FALSE;
    }
    deframed->stream = (guint8)d->first;
    give_caps(input_of(d, deframed->stream), deframed);
    return TRUE;
}

/* Whether the peer's descriptions take no more than they may. */
static gboolean may_describe(const GstTltcpDeframer *d, guint8 stream,
                             gsize bytes) {
    for (guint i = 0; i < G_N_ELEMENTS(d->inputs); i++) {
        if (d->inputs[i] && i != stream) {
            bytes += d->inputs[i]->described;
        }
    }
    return bytes <= DESCRIBED_MAX;
}

static void on_config(GstTltcpDeframer *d, const media_header *h,
                      const guint8 *payload, GstTltcpDeframed *deframed) {
    media_config config;

    if (media__config_parse(&config, payload, h->length) != MEDIA_OK ||
        !may_describe(d, h->stream, h->length)) {
        count(d, &d->counts.refused);
        return;
    }
    on_sender_latency(d, config.latency_ms, deframed);
    GstTltcpInput *in = input_of(d, h->stream);
    gst_caps_replace(&in->caps, NULL);
    in->caps = gst_tltcp_caps_from_config(&config, &d->names);
    if (!in->caps && config.caps.len > 0) {
        count(d, &d->counts.refused);
    }
    in->type = config.type;
    in->described = h->length;
    if (!in->ts && in->caps && gst_tltcp_caps_is_ts(in->caps)) {
        in->ts = g_new0(media_tstrack, 1);
    }
    d->streams = MAX(d->streams, config.streams);
    in->ended = FALSE;
    in->changed = TRUE;
    if (d->first >= 0) {
        give_caps(in, deframed);
    }
}

/* ---- time ---- */

static GstClockTime to_time(gint64 t) {
    return t > 0 ? (GstClockTime)t : 0;
}

static gint64 sent_at(const media_header *h) {
    return h->dts != MEDIA_TIME_NONE ? h->dts : h->pts;
}

void gst_tltcp_deframer_set_wait(GstTltcpDeframer *d, GstClockTime wait) {
    g_mutex_lock(&d->lock);
    d->wait = wait;
    g_mutex_unlock(&d->lock);
}

static GstClockTime longest_wait(GstTltcpDeframer *d) {
    g_mutex_lock(&d->lock);
    GstClockTime wait = d->wait;
    g_mutex_unlock(&d->lock);
    return GST_CLOCK_TIME_IS_VALID(wait) ? wait : gst_tltcp_deframer_latency(d);
}

void gst_tltcp_deframer_was_held(GstTltcpDeframer *d, GstClockTime duration) {
    d->held = MAX(d->held, MIN(duration, longest_wait(d)));
}

/* When data without times counts as arrived. A sink that waits for its time
 * delays the next data by as much, and must not wait for that again. */
static GstClockTime arrival(GstTltcpDeframer *d, GstClockTime now) {
    GstClockTime held = MIN(d->held, longest_wait(d));
    gboolean timed = d->delivery == GST_TLTCP_DELIVERY_TIMED;

    return timed && now > held ? now - held : now;
}

static void stamp_by_arrival(const media_header *h, GstClockTime now,
                             GstBuffer *buffer) {
    gint64 ahead = 0;

    if (h->pts != MEDIA_TIME_NONE && h->dts != MEDIA_TIME_NONE) {
        ahead = h->pts - h->dts;
    }
    GST_BUFFER_PTS(buffer) = to_time((gint64)now + ahead);
    if (h->dts != MEDIA_TIME_NONE) {
        GST_BUFFER_DTS(buffer) = now;
    }
}

static void note_arrival(GstTltcpDeframer *d, const media_header *h,
                         GstClockTime now) {
    gint64 sent = sent_at(h);

    /* Frames that are not shown have no due time. */
    if (sent == MEDIA_TIME_NONE || h->flags & MEDIA_FLAG_DECODE_ONLY) {
        return;
    }
    gboolean anew = media__playout_arrival(&d->times, sent, (gint64)now);
    if (anew && d->delivery == GST_TLTCP_DELIVERY_TIMED) {
        input_of(d, h->stream)->discont = TRUE;
    }
    gint64 delay = (gint64)now - media__playout_local(&d->times, sent);
    gint64 shown = h->pts != MEDIA_TIME_NONE ? h->pts : sent;
    gint64 due = media__playout_local(&d->times, shown) +
                 (gint64)gst_tltcp_deframer_latency(d);
    g_mutex_lock(&d->lock);
    d->counts.delay_ns += (delay - d->counts.delay_ns) / DELAY_FRAMES;
    d->counts.late += (gint64)now > due;
    g_mutex_unlock(&d->lock);
}

static void stamp_by_sender(GstTltcpDeframer *d, const media_header *h,
                            GstBuffer *buffer) {
    if (h->pts != MEDIA_TIME_NONE) {
        GST_BUFFER_PTS(buffer) =
            to_time(media__playout_local(&d->times, h->pts));
    }
    if (h->dts != MEDIA_TIME_NONE) {
        GST_BUFFER_DTS(buffer) =
            to_time(media__playout_local(&d->times, h->dts));
    }
}

static void stamp(GstTltcpDeframer *d, const media_header *h, GstClockTime now,
                  GstBuffer *buffer) {
    note_arrival(d, h, now);
    if (d->delivery == GST_TLTCP_DELIVERY_IMMEDIATE || !d->times.started) {
        /* a demultiplexer takes the earliest stamps for those of the path */
        stamp_by_arrival(h, input_of(d, h->stream)->ts ? now : arrival(d, now),
                         buffer);
    } else {
        stamp_by_sender(d, h, buffer);
    }
    if (h->duration != MEDIA_TIME_NONE) {
        GST_BUFFER_DURATION(buffer) = (GstClockTime)h->duration;
    }
}

/* ---- frames ---- */

/* Reports what is missing between the last buffer and this one. Its duration is
 * measured on the sender's time line, since the local one may just have moved.
 */
static GstEvent *make_gap_event(const GstTltcpInput *in, const media_header *h,
                                GstBuffer *buffer) {
    GstClockTime end = GST_BUFFER_DTS_OR_PTS(buffer);
    gint64 sent = sent_at(h);

    if (in->last_end == MEDIA_TIME_NONE || sent == MEDIA_TIME_NONE ||
        sent <= in->last_end || !GST_CLOCK_TIME_IS_VALID(end)) {
        return NULL;
    }
    GstClockTime duration = (GstClockTime)(sent - in->last_end);
    return gst_event_new_gap(end > duration ? end - duration : 0, duration);
}

static void note_end(GstTltcpInput *in, const media_header *h) {
    gint64 sent = sent_at(h);

    in->last_end = sent;
    if (sent != MEDIA_TIME_NONE && h->duration != MEDIA_TIME_NONE) {
        in->last_end += h->duration;
    }
}

static void finish_buffer(GstTltcpDeframer *d, const media_header *h,
                          GstBuffer *buffer, const media_section *section,
                          GstTltcpDeframed *deframed) {
    GstTltcpInput *in = input_of(d, h->stream);

    GST_BUFFER_FLAG_SET(buffer, gst_tltcp_flags_from_wire(h->flags));
    gst_tltcp_meta_received(buffer, h, section);
    if (!section->complete) {
        GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_CORRUPTED);
    }
    if (in->discont) {
        GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
        deframed->event = make_gap_event(in, h, buffer);
    }
    in->discont = FALSE;
    note_end(in, h);
    count(d, &d->counts.frames[h->frame_class]);
    deframed->buffer = buffer;
}

/* Findings about a frame. */
typedef struct {
    gboolean decodable;
    gboolean recovering; /* it makes frames that arrive decodable */
    guint64 missing;
    guint64 missing_refs;
} Verdict;

static Verdict judge(GstTltcpInput *in, const media_header *h,
                     const media_section *section, gsize payload) {
    gboolean intact = section->complete;
    media_reftrack *r = &in->references;
    guint64 lost = in->ts ? in->ts->lost : r->lost;
    guint64 refs = in->ts ? in->ts->lost_refs : r->lost_refs;
    Verdict v;

    v.decodable = in->ts
                      ? media__tstrack_frame(in->ts, h, section->data + payload,
                                             section->len - payload, intact)
                      : media__reftrack_frame(r, h, intact);
    v.recovering = in->ts ? in->ts->recovering : r->recovering > 0;
    v.missing = (in->ts ? in->ts->lost : r->lost) - lost;
    v.missing_refs = (in->ts ? in->ts->lost_refs : r->lost_refs) - refs;
    return v;
}

/* Returns whether to pass the frame on. */
static gboolean track(GstTltcpDeframer *d, const media_header *h,
                      const media_section *section, gsize payload) {
    GstTltcpInput *in = input_of(d, h->stream);
    Verdict v = judge(in, h, section, payload);
    v.decodable =
        v.decodable && media__arrivals_has_parent(&d->arrivals, section->number,
                                                  section->meta.depends);
    media__arrivals_note(&d->arrivals, section->number, v.decodable);
    gboolean hold = d->drop_until_keyframe &&
                    media__is_picture(h->frame_class) && !v.decodable &&
                    !v.recovering && (in->ts || in->type != MEDIA_TYPE_DATA);

    if (v.missing) {
        in->discont = TRUE;
    }
    g_mutex_lock(&d->lock);
    d->counts.missing += v.missing;
    d->counts.missing_references += v.missing_refs;
    d->counts.undecodable +=
        media__is_picture(h->frame_class) && !v.decodable ? 1 : 0;
    d->counts.held_back += hold ? 1 : 0;
    g_mutex_unlock(&d->lock);
    return !hold;
}

/* When part of a transport stream is held back, its clock reference is still
 * passed on. FALSE: it has none. */
static gboolean keep_clock(const GstTltcpInput *in,
                           const media_section *section, gsize payload,
                           gsize *len) {
    guint8 packet[MEDIA_TS_PACKET];

    if (!in->ts || !section->complete ||
        !media__ts_clock(section->data + payload, *len, packet)) {
        return FALSE;
    }
    memcpy(section->data + payload, packet, sizeof(packet));
    *len = sizeof(packet);
    return TRUE;
}

static void on_frame(GstTltcpDeframer *d, const media_header *h,
                     media_section *section, gsize payload, GstClockTime now,
                     GstTltcpDeframed *deframed) {
    gboolean wanted =
        section->complete || d->output == GST_TLTCP_OUTPUT_PARTIAL;
    GstTltcpInput *in = input_of(d, h->stream);
    gsize len = section->len - payload;
    GstBuffer *buffer;

    if (d->first < 0) {
        d->first = choose_first(d);
    }
    if (!section->complete) {
        count(d, &d->counts.cut);
        in->discont = TRUE;
    }
    if (!track(d, h, section, payload) || !wanted) {
        in->discont = TRUE;
        if (!keep_clock(in, section, payload, &len)) {
            return;
        }
    }
    give_caps(in, deframed);
    buffer = gst_buffer_new_wrapped_full(0, section->data, section->len,
                                         payload, len, section->data, free);
    section->data = NULL;
    stamp(d, h, now, buffer);
    finish_buffer(d, h, buffer, section, deframed);
}

static void on_tags(GstTltcpDeframer *d, const media_header *h,
                    const guint8 *payload, GstTltcpDeframed *deframed) {
    GstTltcpInput *in = input_of(d, h->stream);

    g_clear_pointer(&in->tags, gst_tag_list_unref);
    in->tags = gst_tltcp_tags_from_text(payload, h->length, &d->names);
    if (d->first >= 0 && !in->changed) {
        give_caps(in, deframed);
    }
}

static void deframer_on_event(GstTltcpDeframer *d, const media_header *h,
                              GstTltcpDeframed *deframed) {
    if (h->picture == MEDIA_EVENT_EOS) {
        input_of(d, h->stream)->ended = TRUE;
        deframed->eos = TRUE;
    }
    if (h->picture == MEDIA_EVENT_GAP && h->pts != MEDIA_TIME_NONE &&
        d->times.started && d->delivery == GST_TLTCP_DELIVERY_TIMED) {
        deframed->event = gst_event_new_gap(
            to_time(media__playout_local(&d->times, h->pts)),
            h->duration != MEDIA_TIME_NONE ? (GstClockTime)h->duration
                                           : GST_CLOCK_TIME_NONE);
    }
}

/* The sender does not frame media: each section becomes a buffer. */
static void on_raw(GstTltcpDeframer *d, media_section *section,
                   GstClockTime now, GstTltcpDeframed *deframed) {
    media_header h;

    memset(&h, 0, sizeof(h));
    h.pts = h.dts = h.duration = MEDIA_TIME_NONE;
    if (section->meta.section_class < MEDIA_CLASS_COUNT) {
        h.frame_class = (guint8)section->meta.section_class;
    }
    if (!d->raw) {
        d->raw_ts = media__ts_is(section->data, section->len);
    }
    d->raw = TRUE;
    d->first = 0;
    if (!section->complete && d->output != GST_TLTCP_OUTPUT_PARTIAL) {
        return;
    }
    GstBuffer *buffer = gst_buffer_new_wrapped_full(
        0, section->data, section->len, 0, section->len, section->data, free);
    section->data = NULL;
    GST_BUFFER_PTS(buffer) = d->raw_ts ? now : arrival(d, now);
    finish_buffer(d, &h, buffer, section, deframed);
}

static gint parse(const media_section *section, media_header *h,
                  gsize *payload) {
    if (!section->begins) {
        return MEDIA_ERR_SHORT;
    }
    return section->complete
               ? media__section_parse(h, section->data, section->len, payload)
               : media__header_parse(h, section->data, section->len, payload);
}

static void dispatch(GstTltcpDeframer *d, media_section *section,
                     GstClockTime now, GstTltcpDeframed *deframed) {
    media_header h;
    gsize payload = 0;
    gint error = parse(section, &h, &payload);

    if (d->raw || (error == MEDIA_ERR_MAGIC && !d->framed)) {
        on_raw(d, section, now, deframed);
        return;
    }
    if (error) {
        count(d, section->complete ? &d->counts.refused : &d->counts.cut);
        return;
    }
    d->framed = TRUE;
    deframed->stream = h.stream;
    if (h.kind == MEDIA_KIND_FRAME) {
        on_frame(d, &h, section, payload, now, deframed);
    } else if (h.kind == MEDIA_KIND_CONFIG && section->complete) {
        on_config(d, &h, section->data + payload, deframed);
    } else if (h.kind == MEDIA_KIND_EVENT && h.picture == MEDIA_EVENT_TAGS &&
               section->complete) {
        on_tags(d, &h, section->data + payload, deframed);
    } else if (h.kind == MEDIA_KIND_EVENT) {
        deframer_on_event(d, &h, deframed);
    }
}

void gst_tltcp_deframer_section(GstTltcpDeframer *d, media_section *section,
                                GstClockTime now, GstTltcpDeframed *deframed) {
    memset(deframed, 0, sizeof(*deframed));
    if (!section->complete) {
        note_break(d);
    }
    dispatch(d, section, now, deframed);
    free(section->data);
    section->data = NULL;
}
