/* SPDX-License-Identifier: MPL-2.0 */
#ifndef GST_TLTCP_STATS_H
#define GST_TLTCP_STATS_H

#include <gst/gst.h>

#include <gio/gio.h>
#include <tltcp/live.h>

#include "internal/media/codec/framing.h"

#define GST_TLTCP_STATS_NAME "application/x-tltcp-statistics"

/* What a source made of what arrived. */
typedef struct {
    guint64 frames[MEDIA_CLASS_COUNT]; /* pushed downstream */
    guint64 cut;                       /* frames that came in part */
    guint64 missing;                   /* frames that did not come at all */
    guint64 missing_references;        /* of these, those that others need */
    guint64 undecodable; /* pushed or held back though they need lost ones */
    guint64 held_back;   /* by drop-until-keyframe */
    guint64 gaps;
    guint64 gap_bytes;
    guint64 late;    /* frames that came after they were to be shown */
    gint64 delay_ns; /* by how much longer than at best frames took of late */
    guint64 refused; /* sections that are no media or are malformed */
} GstTltcpReceived;

/* Adds the counters and gauges of a connection. */
void gst_tltcp_stats_add(GstStructure *s, const tltcp_stats *st);
/* Adds a listener's counts of callers that stayed outside. */
void gst_tltcp_stats_add_outside(GstStructure *s, const tltcp_stats *st);
void gst_tltcp_stats_add_sent(GstStructure *s, const tltcp_live_stats *sent);
void gst_tltcp_stats_add_received(GstStructure *s, const GstTltcpReceived *r);

/* How long it takes from the sender's sink until a frame is shown, as far as it
 * can be told from here: half of the lowest RTT, which must be in the structure
 * already, and what the frame then waits. */
void gst_tltcp_stats_add_latency(GstStructure *s, guint64 wait_ns);

#endif /* GST_TLTCP_STATS_H */
