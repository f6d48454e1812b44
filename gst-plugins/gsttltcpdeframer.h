/* SPDX-License-Identifier: MPL-2.0 */
/* From sections to buffers: which stream, caps, timestamps, what is missing. */
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
    gboolean changed; /* the caps, since they were given out */
    GstTagList *tags; /* to be given out behind the caps, or NULL */
    gboolean ended;
    gboolean discont; /* something is missing before the next buffer */
    gint64 last_end; /* where the last buffer ended on the sender's time line */
    media_reftrack references;
    media_tstrack *ts; /* instead, of a transport stream */
} GstTltcpInput;

typedef struct {
    GstTltcpOutput output;
    GstTltcpDelivery delivery;
    gboolean drop_until_keyframe;
    GstClockTime latency; /* this end's */

    GstTltcpInput *inputs[256]; /* by stream; NULL: not heard of */
    guint streams;              /* number of streams announced */
    gint first; /* stream of the element's always pad; -1: not chosen yet */
    gboolean
        raw; /* sections carry no media header and are passed on as they are */
    gboolean framed; /* media sections were seen */
    media_playout times;
    media_arrivals arrivals;
    GstTltcpReceived counts;     /* read by other threads: under `lock` */
    GstClockTime sender_latency; /* likewise under the lock */
    GMutex lock;
} GstTltcpDeframer;

/* What a section turned into: at most one of each, in this order. */
typedef struct {
    guint8 stream;     /* of all but latency_changed */
    GstCaps *caps;     /* to be set first */
    GstEvent *tags;    /* to be sent then */
    GstEvent *event;   /* to be sent then */
    GstBuffer *buffer; /* to be handed on */
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

void gst_tltcp_deframer_gap(GstTltcpDeframer *d, guint64 size);

/* Takes the section's data over.  `now` is the running time. */
void gst_tltcp_deframer_section(GstTltcpDeframer *d, media_section *section,
                                GstClockTime now, GstTltcpDeframed *deframed);

#endif /* GST_TLTCP_DEFRAMER_H */
