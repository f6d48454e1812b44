/* SPDX-License-Identifier: MPL-2.0 */
/* From buffers to sections with class and deadline. */
#include "gst-plugins/gsttltcpframer.h"

#include <string.h>

#include "gst-plugins/gsttltcpcaps.h"
#include "gst-plugins/gsttltcpflags.h"
#include "gst-plugins/gsttltcpmeta.h"

static void on_live_section(void *user, tltcp_live_section *section) {
    GstTltcpFramer *f = user;

    g_queue_push_tail(f->sections, tltcp_live_section_ref(section));
}

void gst_tltcp_framer_init(GstTltcpFramer *f, guint8 number) {
    memset(f, 0, sizeof(*f));
    f->number = number;
    f->live = tltcp_live_stream_new(number, on_live_section, f);
    if (!f->live) {
        g_error("out of memory");
    }
}

void gst_tltcp_framer_clear(GstTltcpFramer *f) {
    g_clear_pointer(&f->live, tltcp_live_stream_free);
}

void gst_tltcp_framer_set_caps(GstTltcpFramer *f, GstCaps *caps) {
    f->is_ts = caps && gst_tltcp_caps_is_ts(caps);
    gst_tltcp_caps_describe(caps, f->live);
}

void gst_tltcp_framer_set_deadlines(GstTltcpFramer *f, gint mode,
                                    guint latency_ms, guint grace_ms) {
    tltcp_live_stream_set_deadlines(f->live, mode, latency_ms, grace_ms, 1);
}

static gint64 running_time(const GstSegment *segment, GstClockTime t) {
    guint64 running = 0;

    if (!GST_CLOCK_TIME_IS_VALID(t) || segment->format != GST_FORMAT_TIME) {
        return TLTCP_LIVE_TIME_NONE;
    }
    gint sign =
        gst_segment_to_running_time_full(segment, GST_FORMAT_TIME, t, &running);
    if (!sign || running > G_MAXINT64 / 16) {
        return TLTCP_LIVE_TIME_NONE;
    }
    return sign > 0 ? (gint64)running : -(gint64)running;
}

/* A buffer before its segment serves only to decode later ones. */
static guint32 time_flags(const tltcp_live_frame *frame) {
    gint64 length = frame->duration > 0 ? frame->duration : 0;

    return frame->pts != TLTCP_LIVE_TIME_NONE && frame->pts < 0 &&
                   frame->pts + length <= 0
               ? TLTCP_LIVE_DECODE_ONLY
               : 0;
}

void gst_tltcp_framer_times(const GstSegment *segment, GstBuffer *buffer,
                            tltcp_live_frame *frame) {
    tltcp_live_frame_init(frame);
    frame->pts = running_time(segment, GST_BUFFER_PTS(buffer));
    frame->dts = running_time(segment, GST_BUFFER_DTS(buffer));
    if (GST_BUFFER_DURATION_IS_VALID(buffer) &&
        GST_BUFFER_DURATION(buffer) < G_MAXINT64 / 16) {
        frame->duration = (gint64)GST_BUFFER_DURATION(buffer);
    }
    frame->flags = time_flags(frame);
    /* A stream without a time line, such as the bytes of a file, is never late.
     */
    frame->untimed = segment->format != GST_FORMAT_TIME;
}

void gst_tltcp_framer_buffer(GstTltcpFramer *f, GstBuffer *buffer,
                             tltcp_live_frame *frame, GQueue *sections) {
    GstMapInfo map;

    if (!gst_buffer_map(buffer, &map, GST_MAP_READ)) {
        return;
    }
    frame->data = map.data;
    frame->len = map.size;
    frame->flags |= gst_tltcp_flags_to_wire(GST_BUFFER_FLAGS(buffer));
    if (!f->is_ts) {
        gst_tltcp_meta_frame(buffer, frame);
    }
    f->sections = sections;
    if (tltcp_live_stream_write(f->live, frame) == TLTCP_ERR_NOMEM) {
        g_error("out of memory");
    }
    gst_buffer_unmap(buffer, &map);
}

void gst_tltcp_framer_flush(GstTltcpFramer *f, const tltcp_live_frame *frame,
                            GQueue *sections) {
    f->sections = sections;
    tltcp_live_stream_flush(f->live, frame);
}

tltcp_live_section *gst_tltcp_framer_header(GstTltcpFramer *f,
                                            GstBuffer *buffer) {
    GstMapInfo map = GST_MAP_INFO_INIT;

    gst_buffer_map(buffer, &map, GST_MAP_READ);
    tltcp_live_section *section =
        tltcp_live_stream_header(f->live, map.data, map.size);
    gst_buffer_unmap(buffer, &map);
    return section;
}
