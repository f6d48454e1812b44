/* SPDX-License-Identifier: MPL-2.0 */
/* A pad of the source for an additional stream. It has its own thread, so that
 * a blocked pad does not stop the others. */
#ifndef GST_TLTCP_SRC_PAD_H
#define GST_TLTCP_SRC_PAD_H

#include <gst/gst.h>

#define GST_TYPE_TLTCP_SRC_PAD (gst_tltcp_src_pad_get_type())
G_DECLARE_FINAL_TYPE(GstTltcpSrcPad, gst_tltcp_src_pad, GST, TLTCP_SRC_PAD,
                     GstPad)

/* Adds the template to a class. */
void gst_tltcp_src_pad_install(GstElementClass *klass);

/* Makes the pad of a stream with its caps (NULL: not known) and adds it to the
 * element. */
GstTltcpSrcPad *gst_tltcp_src_pad_add(GstElement *element, guint stream,
                                      GstCaps *caps);

/* Deactivates and removes the pad; drops the reference. */
void gst_tltcp_src_pad_remove(GstTltcpSrcPad *pad);

guint gst_tltcp_src_pad_stream(const GstTltcpSrcPad *pad);

/* Queues a buffer or a serialised event; takes ownership. When the queue is
 * full, buffers and gaps are dropped, and of caps and tags the newest remain.
 */
void gst_tltcp_src_pad_push(GstTltcpSrcPad *pad, GstMiniObject *object);

#endif /* GST_TLTCP_SRC_PAD_H */
