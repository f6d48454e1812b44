/* SPDX-License-Identifier: MPL-2.0 */
#ifndef GST_TLTCP_STATS_H
#define GST_TLTCP_STATS_H

#include <gst/gst.h>

#include <gio/gio.h>
#include <tltcp/live.h>

#include "internal/media/codec/framing.h"

#define GST_TLTCP_STATS_NAME "application/x-tltcp-statistics"

/* A source's counts of received frames. */
typedef struct {
    guint64 frames[MEDIA_CLASS_COUNT]; /* pushed downstream */
    guint64 cut;                       /* frames that arrived in part */
    guint64 missing;                   /* frames that did not arrive at all */
    guint64 missing_references;        /* of these, those that others need */
    guint64
        undecodable; /* frames that depend on lost ones, pushed or held back */
    guint64 held_back; /* by drop-until-keyframe */
    guint64 gaps;
    guint64 gap_bytes;
    guint64 late;    /* frames that arrived after their display time */
    gint64 delay_ns; /* smoothed delay above the minimum */
    guint64 refused; /* sections that are malformed or not media */
} GstTltcpReceived;

/* Adds the counters and gauges of a connection. */
void gst_tltcp_stats_add(GstStructure *s, const tltcp_stats *st);
/* Adds a listener's counts of callers that it did not accept. */
void gst_tltcp_stats_add_outside(GstStructure *s, const tltcp_stats *st);
void gst_tltcp_stats_add_sent(GstStructure *s, const tltcp_live_stats *sent);
void gst_tltcp_stats_add_received(GstStructure *s, const GstTltcpReceived *r);

/* Estimates the time from the sender's sink until a frame is shown: half of the
 * lowest RTT, which must already be in the structure, plus the time that the
 * frame waits here. */
void gst_tltcp_stats_add_latency(GstStructure *s, guint64 wait_ns);

#endif /* GST_TLTCP_STATS_H */
