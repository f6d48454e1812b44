/* SPDX-License-Identifier: MPL-2.0 */
#ifndef GST_TLTCP_SINK_H
#define GST_TLTCP_SINK_H

#include <gst/base/gstbasesink.h>
#include <gst/gst.h>

#define GST_TYPE_TLTCP_SINK (gst_tltcp_sink_get_type())
G_DECLARE_FINAL_TYPE(GstTltcpSink, gst_tltcp_sink, GST, TLTCP_SINK, GstBaseSink)

GST_ELEMENT_REGISTER_DECLARE(tltcpsink)

#endif /* GST_TLTCP_SINK_H */
