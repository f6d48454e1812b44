/* SPDX-License-Identifier: MPL-2.0 */
/* From buffers to sections with class and deadline. */
#ifndef GST_TLTCP_FRAMER_H
#define GST_TLTCP_FRAMER_H

#include <gst/gst.h>

#include "media/deadline.h"
#include "media/frame.h"
#include "media/item.h"

typedef struct {
    media_scanner scanner;
    media_deadline deadline;
    guint32 generation; /* of the caps, from 1 */
    guint32 number;     /* of the next frame */
    guint32 refs;       /* frames before it that were not disposable */
    gboolean predicted; /* video whose buffers need each other */
} GstTltcpFramer;

/* Begins with new caps, or with none (NULL). */
void gst_tltcp_framer_set_caps(GstTltcpFramer *f, GstCaps *caps);

/* Begins with a way to make deadlines. */
void gst_tltcp_framer_set_deadlines(GstTltcpFramer *f, gint mode,
                                    GstClockTime latency, GstClockTime grace,
                                    GstCaps *caps);

/* Running times, with MEDIA_TIME_NONE where there is none. */
media_times gst_tltcp_framer_times(const GstSegment *segment, GstBuffer *buffer,
                                   GstClockTime now);

/* Makes a section of a buffer.  `item` is filled in but for its `user`; its
 * times are running times. */
GBytes *gst_tltcp_framer_section(GstTltcpFramer *f, GstBuffer *buffer,
                                 const media_times *times, media_item *item);

/* Makes a section of an event without payload. */
GBytes *gst_tltcp_framer_event(GstTltcpFramer *f, guint event, gint64 pts,
                               gint64 duration);

#endif /* GST_TLTCP_FRAMER_H */
