/* SPDX-License-Identifier: MPL-2.0 */
/* What the two halves of the sink share: streaming and properties. */
#ifndef GST_TLTCP_SINK_IMPL_H
#define GST_TLTCP_SINK_IMPL_H

#include "gst-plugins/gsttltcpframer.h"
#include "gst-plugins/gsttltcpsender.h"
#include "gst-plugins/gsttltcpsettings.h"
#include "gst-plugins/gsttltcpsink.h"

struct _GstTltcpSink {
    GstBaseSink parent;

    GstTltcpSettings settings;
    /* Properties, under the settings' lock. */
    gboolean wait_for_connection;
    gint deadline_mode;
    gint drop_policy;
    guint reference_grace; /* ms */
    guint64 max_send_bitrate;
    gboolean force_key_unit;
    guint estimated_bitrate;
    gint64 key_unit_at; /* last request, monotonic us */

    GMutex sender_lock; /* for the pointer */
    GstTltcpSender *sender;
    /* Streaming thread only. */
    GstTltcpFramer framer;
    GstCaps *caps;
    GPtrArray *stream_headers;
    gboolean described;
    GstClockTimeDiff own_offset; /* what waiting has added to ts-offset */
    gint64 lateness; /* least by which buffers came late; -1: none came yet */
};

void gst_tltcp_sink_install_properties(GObjectClass *klass);
void gst_tltcp_sink_init_properties(GstTltcpSink *self);

#endif /* GST_TLTCP_SINK_IMPL_H */
