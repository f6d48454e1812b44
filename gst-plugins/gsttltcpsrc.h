/* SPDX-License-Identifier: MPL-2.0 */
#ifndef GST_TLTCP_SRC_H
#define GST_TLTCP_SRC_H

#include <gst/base/gstpushsrc.h>
#include <gst/gst.h>

#define GST_TYPE_TLTCP_SRC (gst_tltcp_src_get_type())
G_DECLARE_FINAL_TYPE(GstTltcpSrc, gst_tltcp_src, GST, TLTCP_SRC, GstPushSrc)

GST_ELEMENT_REGISTER_DECLARE(tltcpsrc)

#endif /* GST_TLTCP_SRC_H */
