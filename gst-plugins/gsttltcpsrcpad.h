/* SPDX-License-Identifier: MPL-2.0 */
/* A pad of the source for a stream beside the first.  It has a thread of its
 * own, so that no stream waits while another is not taken. */
#ifndef GST_TLTCP_SRC_PAD_H
#define GST_TLTCP_SRC_PAD_H

#include <gst/gst.h>

#define GST_TYPE_TLTCP_SRC_PAD (gst_tltcp_src_pad_get_type())
G_DECLARE_FINAL_TYPE(GstTltcpSrcPad, gst_tltcp_src_pad, GST, TLTCP_SRC_PAD,
                     GstPad)

/* Adds the template to a class. */
void gst_tltcp_src_pad_install(GstElementClass *klass);

/* Makes the pad of a stream, which gets the caps (NULL: none known), and adds
 * it to the element. */
GstTltcpSrcPad *gst_tltcp_src_pad_add(GstElement *element, guint stream,
                                      GstCaps *caps);

/* Deactivates the pad and takes it away; lets go of the reference. */
void gst_tltcp_src_pad_remove(GstTltcpSrcPad *pad);

guint gst_tltcp_src_pad_stream(const GstTltcpSrcPad *pad);

/* Hands a buffer or a serialised event on, behind those before it; takes it
 * over.  When too much waits to be taken, buffers are dropped. */
void gst_tltcp_src_pad_push(GstTltcpSrcPad *pad, GstMiniObject *object);

#endif /* GST_TLTCP_SRC_PAD_H */
