/* SPDX-License-Identifier: MPL-2.0 */
/* Makes encoders skip pictures that would come too late, by QoS events.
 *
 * GstVideoEncoder takes these events and leaves it to each encoder to act on
 * them. x264enc, x265enc, vpxenc and others do not, so pictures are dropped at
 * their inputs here. */
#ifndef GST_TLTCP_QOS_H
#define GST_TLTCP_QOS_H

#include <gst/gst.h>

#include <tltcp/live_parts.h>

/* Longest pause: viewers should see that the stream is alive. */
#define GST_TLTCP_PAUSE_MAX (500 * GST_MSECOND)

/* State of one stream, in its streaming thread. */
typedef struct {
    gsize bytes;     /* average picture size; without key frames if there are
                        other frames */
    gboolean deltas; /* there are other frames */
    tltcp_time due;  /* of the newest picture; TLTCP_TIME_NEVER: none */
} GstTltcpQos;

/* Records a section that is sent. FALSE: it is not a picture with a
 * deadline. */
gboolean gst_tltcp_qos_section(GstTltcpQos *qos,
                               const tltcp_live_section *section);

/* The event that requests a pause after the picture with running time
 * `running`, until the resume event. The pause is limited, so that some
 * pictures are always sent. Other elements upstream, which do not know the
 * resume event, pause for `late_ns`, likewise limited. */
GstEvent *gst_tltcp_qos_event(GstClockTime running, guint64 late_ns);

/* The event that ends a pause before its time. */
GstEvent *gst_tltcp_qos_resume_event(GstClockTime running);

/* Makes an encoder skip pictures as the sink's events request. Does nothing
 * when called again. */
void gst_tltcp_qos_watch(GstElement *encoder);

#endif /* GST_TLTCP_QOS_H */
