/* SPDX-License-Identifier: MPL-2.0 */
/* From buffers to sections with class and deadline. */
#ifndef GST_TLTCP_FRAMER_H
#define GST_TLTCP_FRAMER_H

#include <gst/gst.h>

#include "internal/media/codec/frame.h"
#include "internal/media/codec/params.h"
#include "internal/media/stream/deadline.h"
#include "internal/media/stream/item.h"
#include "internal/media/stream/ts.h"

typedef struct {
    guint8 stream; /* its number on the wire */
    media_scanner scanner;
    media_deadline deadline;
    guint32 generation;  /* of the caps, from 1 */
    guint32 number;      /* of the next frame */
    guint32 refs;        /* as media_header::refs */
    gboolean predicted;  /* video whose buffers need each other */
    media_params params; /* of the stream */
    media_times began;   /* of a frame that comes in parts */
    guint32 began_as;    /* its place in scanner.parts.frames */

    media_ts *ts;                  /* of a transport stream, else NULL */
    GQueue *units;                 /* where what it gives out goes */
    const media_times *unit_times; /* of the buffer that it is in */
    guint32 unit_flags;            /* for the first unit in a buffer */
} GstTltcpFramer;

/* A section to be sent. */
typedef struct {
    GBytes *section;
    GBytes *begin;   /* the same with parameter sets, which it has not, for who
                        begins with it; NULL: it needs none */
    media_item item; /* filled in but for its `user`; its times are running
                        times, its stream counts elementary streams from the
                        framer's own on */
} GstTltcpUnit;

void gst_tltcp_unit_free(GstTltcpUnit *unit);

void gst_tltcp_framer_init(GstTltcpFramer *f, guint8 stream);
void gst_tltcp_framer_clear(GstTltcpFramer *f);

/* Begins with new caps, or with none (NULL). */
void gst_tltcp_framer_set_caps(GstTltcpFramer *f, GstCaps *caps);

/* Begins with a way to make deadlines. */
void gst_tltcp_framer_set_deadlines(GstTltcpFramer *f, gint mode,
                                    GstClockTime latency, GstClockTime grace,
                                    GstCaps *caps);

/* Running times, with MEDIA_TIME_NONE where there is none. */
media_times gst_tltcp_framer_times(const GstSegment *segment, GstBuffer *buffer,
                                   GstClockTime now);

/* Makes sections of a buffer: one, but of a transport stream as many as units
 * have ended in it.  They are appended to `units`. */
void gst_tltcp_framer_buffer(GstTltcpFramer *f, GstBuffer *buffer,
                             const media_times *times, GQueue *units);

/* Likewise of what has not ended: there is nothing more to come. */
void gst_tltcp_framer_flush(GstTltcpFramer *f, const media_times *times,
                            GQueue *units);

/* Makes a section of a stream header. */
GBytes *gst_tltcp_framer_header(GstTltcpFramer *f, GstBuffer *buffer);

/* Makes a section of an event without payload. */
GBytes *gst_tltcp_framer_event(GstTltcpFramer *f, guint event, gint64 pts,
                               gint64 duration);

/* Makes a section of tags. */
GBytes *gst_tltcp_framer_tags(GstTltcpFramer *f, const gchar *text);

#endif /* GST_TLTCP_FRAMER_H */
