/* SPDX-License-Identifier: MPL-2.0 */
/* Makes encoders skip pictures that would come too late, by QoS events.
 *
 * GstVideoEncoder takes these events and leaves it to each encoder to act on
 * them.  x264enc, x265enc, vpxenc and others do not, so that pictures are
 * dropped at their inputs here. */
#ifndef GST_TLTCP_QOS_H
#define GST_TLTCP_QOS_H

#include <gst/gst.h>

#include <tltcp/live_parts.h>

/* Of one stream, in its streaming thread. */
typedef struct {
    gsize bytes;     /* average of pictures; without key frames, if it has any
                        others */
    gboolean deltas; /* it has */
    tltcp_time due;  /* of the newest picture; TLTCP_TIME_NEVER: it has none */
} GstTltcpQos;

/* Takes note of a section that is sent.  FALSE: it is no picture with a time
 * by which it should arrive. */
gboolean gst_tltcp_qos_section(GstTltcpQos *qos,
                               const tltcp_live_section *section);

/* The event that asks for a pause of that length behind the picture with that
 * running time.  The pause is limited, so that some pictures always go. */
GstEvent *gst_tltcp_qos_event(GstClockTime running, guint64 late_ns);

/* Makes an encoder skip pictures as the events from the sink ask for.  Does
 * nothing the second time. */
void gst_tltcp_qos_watch(GstElement *encoder);

#endif /* GST_TLTCP_QOS_H */
