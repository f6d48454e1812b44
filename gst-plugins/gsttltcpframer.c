/* SPDX-License-Identifier: MPL-2.0 */
#include "gst-plugins/gsttltcpframer.h"

#include <string.h>

#include "gst-plugins/gsttltcpcaps.h"
#include "gst-plugins/gsttltcpflags.h"
#include "gst-plugins/gsttltcpmeta.h"
#include "internal/media/stream/chain.h"

void gst_tltcp_unit_free(GstTltcpUnit *unit) {
    g_bytes_unref(unit->section);
    g_clear_pointer(&unit->begin, g_bytes_unref);
    g_free(unit);
}

void gst_tltcp_framer_init(GstTltcpFramer *f, guint8 stream) {
    memset(f, 0, sizeof(*f));
    f->stream = stream;
}

void gst_tltcp_framer_clear(GstTltcpFramer *f) {
    g_clear_pointer(&f->ts, media__ts_free);
}

static void on_ts_unit(void *user, const media_ts_unit *unit);

void gst_tltcp_framer_set_caps(GstTltcpFramer *f, GstCaps *caps) {
    guint8 codec = f->scanner.codec;

    f->generation++;
    f->predicted = caps && gst_tltcp_caps_is_predicted(caps);
    g_clear_pointer(&f->ts, media__ts_free);
    if (caps) {
        gst_tltcp_caps_scanner(caps, &f->scanner);
    } else {
        media__scanner_init(&f->scanner, NULL, MEDIA_TYPE_UNKNOWN, NULL, 0);
    }
    if (f->scanner.codec != codec) { /* else new ones will come, or none */
        f->params = (media_params){.len = 0};
    }
    if (caps && gst_tltcp_caps_is_ts(caps)) {
        f->ts = media__ts_new(on_ts_unit, f);
    }
}

void gst_tltcp_framer_set_deadlines(GstTltcpFramer *f, gint mode,
                                    GstClockTime latency, GstClockTime grace,
                                    GstCaps *caps) {
    media__deadline_init(&f->deadline, mode, (gint64)latency, (gint64)grace,
                         caps ? gst_tltcp_caps_frame_ns(caps) : 0);
}

static gint64 running_time(const GstSegment *segment, GstClockTime t) {
    guint64 running = 0;

    if (!GST_CLOCK_TIME_IS_VALID(t) || segment->format != GST_FORMAT_TIME) {
        return MEDIA_TIME_NONE;
    }
    gint sign =
        gst_segment_to_running_time_full(segment, GST_FORMAT_TIME, t, &running);
    if (!sign || running > G_MAXINT64 / 16) {
        return MEDIA_TIME_NONE;
    }
    return sign > 0 ? (gint64)running : -(gint64)running;
}

media_times gst_tltcp_framer_times(const GstSegment *segment, GstBuffer *buffer,
                                   GstClockTime now) {
    media_times t = {
        .pts = running_time(segment, GST_BUFFER_PTS(buffer)),
        .dts = running_time(segment, GST_BUFFER_DTS(buffer)),
        .duration = MEDIA_TIME_NONE,
        .arrival = (gint64)now,
    };

    if (GST_BUFFER_DURATION_IS_VALID(buffer) &&
        GST_BUFFER_DURATION(buffer) < G_MAXINT64 / 16) {
        t.duration = (gint64)GST_BUFFER_DURATION(buffer);
    }
    return t;
}

/* Of a NAL unit alone only the first of its frame may have times. */
static media_times part_times(GstTltcpFramer *f, const media_times *times) {
    media_times began = f->began;
    gboolean none =
        times->pts == MEDIA_TIME_NONE && times->dts == MEDIA_TIME_NONE;

    if (none && f->scanner.form == MEDIA_FORM_UNITS &&
        f->began_as == f->scanner.parts.frames) {
        began.arrival = times->arrival;
        return began;
    }
    f->began = *times;
    f->began_as = f->scanner.parts.frames;
    return *times;
}

/* What ends before its segment begins is there for what follows. */
static guint32 time_flags(const media_times *times) {
    gint64 length = times->duration > 0 ? times->duration : 0;

    return times->pts != MEDIA_TIME_NONE && times->pts < 0 &&
                   times->pts + length <= 0
               ? MEDIA_FLAG_DECODE_ONLY
               : 0;
}

static guint8 wire_class(const media_frame *frame) {
    return frame->frame_class == MEDIA_CLASS_KEY && frame->continues
               ? MEDIA_CLASS_REFERENCE
               : frame->frame_class;
}

static media_header make_header(const GstTltcpFramer *f, guint kind) {
    media_header h;

    memset(&h, 0, sizeof(h));
    h.kind = (guint8)kind;
    h.stream = f->stream;
    h.generation = f->generation;
    h.number = f->number;
    h.refs = f->refs;
    h.pts = h.dts = h.duration = MEDIA_TIME_NONE;
    return h;
}

/* With something more in the middle. */
static GBytes *splice_section(media_header *h, const guint8 *data, gsize len,
                              gsize place, const media_params *more) {
    gsize size = MEDIA_HEADER_LEN + len + (more ? more->len : 0);
    guint8 *section = g_malloc(size);
    guint8 *at = section + MEDIA_HEADER_LEN;

    h->length = (guint32)(size - MEDIA_HEADER_LEN);
    media__header_write(h, section);
    if (place) {
        memcpy(at, data, place);
        at += place;
    }
    if (more) {
        memcpy(at, more->data, more->len);
        at += more->len;
    }
    if (len > place) {
        memcpy(at, data + place, len - place);
    }
    return g_bytes_new_take(section, size);
}

static GBytes *copy_section(media_header *h, gconstpointer data, gsize len) {
    return splice_section(h, data, len, 0, NULL);
}

/* Parameter sets for who joins, where a key frame has none. */
static GBytes *begin_section(GstTltcpFramer *f, const media_frame *frame,
                             const media_header *like, gconstpointer data,
                             gsize len) {
    media_header h = *like;

    if (f->ts || f->scanner.form == MEDIA_FORM_RTP ||
        media__params_take(&f->params, &f->scanner, data, len) ||
        !(frame->key || frame->recovery) || frame->continues ||
        !f->params.len) {
        return NULL;
    }
    return splice_section(
        &h, data, len, media__params_place(&f->scanner, data, len), &f->params);
}

/* A frame with its class takes its place in the stream. */
static void add_unit(GstTltcpFramer *f, const media_frame *frame,
                     gconstpointer data, gsize len, guint32 flags,
                     const media_times *times, GQueue *units) {
    GstTltcpUnit *unit = g_new0(GstTltcpUnit, 1);
    media_header h = make_header(f, MEDIA_KIND_FRAME);
    media_times counted = part_times(f, times);
    media_due due =
        media__deadline_next(&f->deadline, frame, &counted, MEDIA_TIME_NONE);

    h.frame_class = wire_class(frame);
    h.picture = frame->picture;
    h.flags = media__frame_flags(frame, flags) | time_flags(times);
    h.pts = times->pts;
    h.dts = times->dts;
    h.duration = times->duration;
    if (frame->frame_class != MEDIA_CLASS_HEADER) {
        f->number++;
        f->refs += f->ts ? media__ts_counts(frame)
                         : media__chain_class(frame) != MEDIA_CLASS_DISPOSABLE;
    }
    unit->section = copy_section(&h, data, len);
    unit->begin = begin_section(f, frame, &h, data, len);
    unit->item.frame = *frame;
    unit->item.stream = f->stream;
    unit->item.number = h.number;
    unit->item.bytes = g_bytes_get_size(unit->section);
    unit->item.due = due.due;
    unit->item.deadline = due.deadline;
    g_queue_push_tail(units, unit);
}

/* A buffer that is no key unit says so.  Where it does not (a demuxer without a
 * parser behind it) the codec is one that the scanner reads. */
static guint32 hints(const GstTltcpFramer *f, guint32 flags) {
    if (f->predicted && !(flags & MEDIA_FLAG_DELTA)) {
        flags |= MEDIA_FLAG_KEY;
    }
    return flags;
}

/* The units of a transport stream have times on a clock of its own: what counts
 * here is the buffer's time, and how long after it the picture is shown. */
static void on_ts_unit(void *user, const media_ts_unit *unit) {
    GstTltcpFramer *f = user;
    media_times times = *f->unit_times;
    gint64 sent = times.dts != MEDIA_TIME_NONE ? times.dts : times.pts;
    guint32 flags = f->unit_flags;

    times.duration = MEDIA_TIME_NONE;
    if (sent != MEDIA_TIME_NONE && unit->pts != MEDIA_TIME_NONE) {
        times.dts = sent;
        times.pts = sent + (unit->pts - unit->dts);
    }
    if (!unit->frame.key) {
        flags |= MEDIA_FLAG_DELTA;
    }
    f->unit_flags = 0;
    add_unit(f, &unit->frame, unit->data, unit->len, flags, &times, f->units);
    GstTltcpUnit *added = g_queue_peek_tail(f->units);
    added->item.stream = (guint8)(f->stream + unit->slot);
}

void gst_tltcp_framer_buffer(GstTltcpFramer *f, GstBuffer *buffer,
                             const media_times *times, GQueue *units) {
    guint32 flags = gst_tltcp_flags_to_wire(GST_BUFFER_FLAGS(buffer));
    media_frame frame;
    GstMapInfo map;

    if (!gst_buffer_map(buffer, &map, GST_MAP_READ)) {
        return;
    }
    if (f->ts) {
        f->units = units;
        f->unit_times = times;
        f->unit_flags |= flags & MEDIA_FLAG_DISCONT;
        media__ts_push(f->ts, map.data, map.size);
    } else {
        media__scanner_classify(&f->scanner, map.data, map.size,
                                hints(f, flags), &frame);
        gst_tltcp_meta_frame(buffer, &frame);
        add_unit(f, &frame, map.data, map.size, flags, times, units);
        GstTltcpUnit *added = g_queue_peek_tail(units);
        gst_tltcp_meta_item(buffer, &added->item);
    }
    gst_buffer_unmap(buffer, &map);
}

void gst_tltcp_framer_flush(GstTltcpFramer *f, const media_times *times,
                            GQueue *units) {
    if (f->ts) {
        f->units = units;
        f->unit_times = times;
        media__ts_flush(f->ts);
    }
}

GBytes *gst_tltcp_framer_header(GstTltcpFramer *f, GstBuffer *buffer) {
    media_header h = make_header(f, MEDIA_KIND_FRAME);
    GstMapInfo map = GST_MAP_INFO_INIT;

    h.frame_class = MEDIA_CLASS_HEADER;
    h.flags = MEDIA_FLAG_HEADER;
    gst_buffer_map(buffer, &map, GST_MAP_READ);
    GBytes *section = copy_section(&h, map.data, map.size);
    gst_buffer_unmap(buffer, &map);
    return section;
}

GBytes *gst_tltcp_framer_event(GstTltcpFramer *f, guint event, gint64 pts,
                               gint64 duration) {
    media_header h = make_header(f, MEDIA_KIND_EVENT);

    h.picture = (guint8)event;
    h.pts = pts;
    h.duration = duration;
    return copy_section(&h, NULL, 0);
}

GBytes *gst_tltcp_framer_tags(GstTltcpFramer *f, const gchar *text) {
    media_header h = make_header(f, MEDIA_KIND_EVENT);

    h.picture = MEDIA_EVENT_TAGS;
    return copy_section(&h, text, strlen(text));
}
