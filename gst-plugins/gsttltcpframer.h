/* SPDX-License-Identifier: MPL-2.0 */
/* Turns buffers into sections with class and deadline. */
#ifndef GST_TLTCP_FRAMER_H
#define GST_TLTCP_FRAMER_H

#include <gst/gst.h>

#include <tltcp/live_parts.h>

typedef struct {
    guint8 number;  /* of the stream on the wire */
    gboolean is_ts; /* a transport stream */
    tltcp_live_stream *live;
    GQueue *sections; /* receives the sections that it makes */
} GstTltcpFramer;

void gst_tltcp_framer_init(GstTltcpFramer *f, guint8 number);
void gst_tltcp_framer_clear(GstTltcpFramer *f);

/* Starts with new caps, or without (NULL). */
void gst_tltcp_framer_set_caps(GstTltcpFramer *f, GstCaps *caps);

/* Sets how deadlines are computed; call it after setting the caps. */
void gst_tltcp_framer_set_deadlines(GstTltcpFramer *f, gint mode,
                                    guint latency_ms, guint grace_ms);

/* Fills in the running times of a buffer and the fields from its segment. */
void gst_tltcp_framer_times(const GstSegment *segment, GstBuffer *buffer,
                            tltcp_live_frame *frame);

/* Makes sections from a buffer: one, or for a transport stream one for each
 * frame that ends in it. Appends references to `sections`. */
void gst_tltcp_framer_buffer(GstTltcpFramer *f, GstBuffer *buffer,
                             tltcp_live_frame *frame, GQueue *sections);

/* The same for unfinished frames: the stream is over. */
void gst_tltcp_framer_flush(GstTltcpFramer *f, const tltcp_live_frame *frame,
                            GQueue *sections);

/* Makes a section of a stream header. */
tltcp_live_section *gst_tltcp_framer_header(GstTltcpFramer *f,
                                            GstBuffer *buffer);

#endif /* GST_TLTCP_FRAMER_H */
