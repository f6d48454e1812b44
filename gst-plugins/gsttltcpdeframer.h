/* SPDX-License-Identifier: MPL-2.0 */
/* Turns sections into buffers: streams, caps, timestamps, gaps. */
#ifndef GST_TLTCP_DEFRAMER_H
#define GST_TLTCP_DEFRAMER_H

#include <gst/gst.h>

#include "gst-plugins/gsttltcpenums.h"
#include "gst-plugins/gsttltcpstats.h"
#include "internal/media/stream/assemble.h"
#include "internal/media/stream/playout.h"
#include "internal/media/stream/reftrack.h"
#include "internal/media/stream/tstrack.h"

/* One stream of the connection. */
typedef struct {
    guint8 type;      /* media_type */
    GstCaps *caps;    /* NULL: none known */
    gsize described;  /* bytes of the description */
    gboolean changed; /* the caps have changed since they were given out */
    GstTagList *tags; /* to be given out after the caps, or NULL */
    gboolean ended;
    gboolean discont; /* something is missing before the next buffer */
    gint64 last_end;  /* end of the last buffer on the sender's time line */
    media_reftrack references;
    media_tstrack *ts; /* of a transport stream, in place of `references` */
} GstTltcpInput;

typedef struct {
    GstTltcpOutput output;
    GstTltcpDelivery delivery;
    gboolean drop_until_keyframe;
    GstClockTime latency; /* this end's */

    GstTltcpInput *inputs[256]; /* by stream; NULL: not announced */
    guint streams;              /* number of streams announced */
    gint first; /* stream of the element's always pad; -1: not chosen yet */
    gboolean
        raw; /* sections carry no media header and are passed on as they are */
    gboolean raw_ts; /* they are a transport stream */
    gboolean framed; /* media sections were seen */
    media_playout times;
    GstClockTime held; /* longest time that downstream took for a buffer */
    media_arrivals arrivals;
    guint names; /* that peers may still make up, on all connections */
    GstTltcpReceived counts;     /* read by other threads: under `lock` */
    GstClockTime sender_latency; /* likewise under the lock */
    GstClockTime wait; /* likewise; how long sinks wait, or NONE: the latency */
    GMutex lock;
} GstTltcpDeframer;

/* The results of a section: at most one of each, in this order. */
typedef struct {
    guint8 stream;     /* of all but latency_changed */
    GstCaps *caps;     /* to set first */
    GstEvent *tags;    /* to send next */
    GstEvent *event;   /* to send after the tags */
    GstBuffer *buffer; /* to push */
    gboolean eos;      /* the sender has ended the stream */
    gboolean latency_changed;
} GstTltcpDeframed;

void gst_tltcp_deframer_init(GstTltcpDeframer *d);
void gst_tltcp_deframer_clear(GstTltcpDeframer *d);

/* A new connection. */
void gst_tltcp_deframer_restart(GstTltcpDeframer *d);

/* The longer of both ends' latencies. */
GstClockTime gst_tltcp_deframer_latency(GstTltcpDeframer *d);

/* Whether every stream has ended. */
gboolean gst_tltcp_deframer_is_over(const GstTltcpDeframer *d);

/* No frame will come: chooses the first stream of those announced, and gives
 * its caps and tags. FALSE: none was announced. */
gboolean gst_tltcp_deframer_settle(GstTltcpDeframer *d,
                                   GstTltcpDeframed *deframed);

void gst_tltcp_deframer_gap(GstTltcpDeframer *d, guint64 size);

/* How long sinks wait after the time of a buffer: the latency of the pipeline.
 * It holds for later connections, too. */
void gst_tltcp_deframer_set_wait(GstTltcpDeframer *d, GstClockTime wait);

/* Reports how long downstream took for a buffer. Sinks do not wait longer than
 * set_wait() says; the rest had other causes. */
void gst_tltcp_deframer_was_held(GstTltcpDeframer *d, GstClockTime duration);

/* Takes ownership of the section's data.  `now` is the running time. */
void gst_tltcp_deframer_section(GstTltcpDeframer *d, media_section *section,
                                GstClockTime now, GstTltcpDeframed *deframed);

#endif /* GST_TLTCP_DEFRAMER_H */
