/* SPDX-License-Identifier: MPL-2.0 */
/* Shared by the parts of the source. */
#ifndef GST_TLTCP_SRC_IMPL_H
#define GST_TLTCP_SRC_IMPL_H

#include "gst-plugins/gsttltcpdeframer.h"
#include "gst-plugins/gsttltcpreceiver.h"
#include "gst-plugins/gsttltcpsettings.h"
#include "gst-plugins/gsttltcpsrc.h"

struct _GstTltcpSrc {
    GstPushSrc parent;

    GstTltcpSettings settings;
    /* More properties, under their lock. */
    gboolean keep_listening;
    gint output;
    gint delivery;
    gboolean drop_until_keyframe;

    GMutex receiver_lock; /* for the pointer */
    GstTltcpReceiver *receiver;
    /* Streaming thread only, except for the deframer's counts. */
    GstTltcpDeframer deframer;
    GPtrArray *pads;     /* GstTltcpSrcPad: of the additional streams */
    gboolean began;      /* a connection had streams */
    GstClockTime handed; /* when the receiver last gave something; or NONE */
    GSocketAddress *caller;
};

/* ---- properties: gsttltcpsrcprops.c ---- */

/* The class must already have its property functions. */
void gst_tltcp_src_install_properties(GObjectClass *klass);
void gst_tltcp_src_init_properties(GstTltcpSrc *self);

/* The property `stats`. */
GstStructure *gst_tltcp_src_stats(GstTltcpSrc *self);

/* The latency to report: the longer of both ends' latencies; 0 when buffers are
 * stamped on arrival. */
GstClockTime gst_tltcp_src_latency(GstTltcpSrc *self);

#endif /* GST_TLTCP_SRC_IMPL_H */
