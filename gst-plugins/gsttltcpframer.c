/* SPDX-License-Identifier: MPL-2.0 */
#include "gst-plugins/gsttltcpframer.h"

#include <string.h>

#include "gst-plugins/gsttltcpcaps.h"
#include "gst-plugins/gsttltcpflags.h"

void gst_tltcp_framer_set_caps(GstTltcpFramer *f, GstCaps *caps) {
    f->generation++;
    f->predicted = caps && gst_tltcp_caps_is_predicted(caps);
    if (caps) {
        gst_tltcp_caps_scanner(caps, &f->scanner);
    } else {
        media__scanner_init(&f->scanner, NULL, MEDIA_TYPE_UNKNOWN, NULL, 0);
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

static guint32 wire_flags(const media_frame *frame, guint32 flags) {
    flags &= ~(guint32)MEDIA_FLAG_KEY;
    if (frame->key) {
        flags |= MEDIA_FLAG_KEY;
    }
    if (frame->key && frame->closed_gop) {
        flags |= MEDIA_FLAG_CLOSED;
    }
    if (frame->recovery) {
        flags |= MEDIA_FLAG_RECOVERY | MIN(frame->recovery_cnt, 0xffff)
                                           << MEDIA_RECOVERY_SHIFT;
    }
    return flags;
}

static GBytes *copy_section(media_header *h, GstBuffer *buffer) {
    gsize len = gst_buffer_get_size(buffer);
    guint8 *section = g_malloc(MEDIA_HEADER_LEN + len);

    h->length = (guint32)len;
    media__header_write(h, section);
    gst_buffer_extract(buffer, 0, section + MEDIA_HEADER_LEN, len);
    return g_bytes_new_take(section, MEDIA_HEADER_LEN + len);
}

/* A buffer that is no key unit says so.  Where it does not (a demuxer without a
 * parser behind it) the codec is one that the scanner reads. */
static guint32 hints(const GstTltcpFramer *f, guint32 flags) {
    if (f->predicted && !(flags & MEDIA_FLAG_DELTA)) {
        flags |= MEDIA_FLAG_KEY;
    }
    return flags;
}

GBytes *gst_tltcp_framer_section(GstTltcpFramer *f, GstBuffer *buffer,
                                 const media_times *times, media_item *item) {
    guint32 flags = gst_tltcp_flags_to_wire(GST_BUFFER_FLAGS(buffer));
    GstMapInfo map;
    media_header h;

    memset(item, 0, sizeof(*item));
    if (!gst_buffer_map(buffer, &map, GST_MAP_READ)) {
        return NULL;
    }
    media__scanner_classify(&f->scanner, map.data, map.size, hints(f, flags),
                            &item->frame);
    gst_buffer_unmap(buffer, &map);
    media_due due = media__deadline_next(&f->deadline, &item->frame, times,
                                         MEDIA_TIME_NONE);
    item->due = due.due;
    item->deadline = due.deadline;
    memset(&h, 0, sizeof(h));
    h.kind = MEDIA_KIND_FRAME;
    h.frame_class = item->frame.frame_class;
    h.picture = item->frame.picture;
    h.flags = wire_flags(&item->frame, flags);
    h.generation = f->generation;
    h.number = f->number;
    h.refs = f->refs;
    h.pts = times->pts;
    h.dts = times->dts;
    h.duration = times->duration;
    if (item->frame.frame_class != MEDIA_CLASS_HEADER) {
        f->number++;
        f->refs += item->frame.frame_class != MEDIA_CLASS_DISPOSABLE;
    }
    GBytes *section = copy_section(&h, buffer);
    item->bytes = g_bytes_get_size(section);
    return section;
}

GBytes *gst_tltcp_framer_event(GstTltcpFramer *f, guint event, gint64 pts,
                               gint64 duration) {
    guint8 *section = g_malloc(MEDIA_HEADER_LEN);
    media_header h;

    memset(&h, 0, sizeof(h));
    h.kind = MEDIA_KIND_EVENT;
    h.picture = (guint8)event;
    h.generation = f->generation;
    h.number = f->number;
    h.refs = f->refs;
    h.pts = pts;
    h.dts = MEDIA_TIME_NONE;
    h.duration = duration;
    media__header_write(&h, section);
    return g_bytes_new_take(section, MEDIA_HEADER_LEN);
}
