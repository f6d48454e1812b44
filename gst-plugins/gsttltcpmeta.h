/* SPDX-License-Identifier: MPL-2.0 */
/* An application's knowledge about a buffer, which the sink would otherwise
 * have to derive. It is in a custom meta, so that the application needs none of
 * our headers or libraries:
 *
 *   GstCustomMeta *m =
 *       gst_buffer_add_custom_meta(buffer, "GstTltcpSendMeta");
 *   gst_structure_set(gst_custom_meta_get_structure(m),
 *                     "class", G_TYPE_STRING, "disposable", NULL);
 *
 * Every field is optional. */
#ifndef GST_TLTCP_META_H
#define GST_TLTCP_META_H

#include <gst/gst.h>

#include <tltcp/live.h>

#include "internal/media/codec/framing.h"
#include "internal/media/stream/assemble.h"

#define GST_TLTCP_SEND_META "GstTltcpSendMeta"
#define GST_TLTCP_RECEIVE_META "GstTltcpReceiveMeta"

void gst_tltcp_meta_register(void);

/* Fills in the frame from the buffer's meta: "class" (a string: header, key,
 * reference, disposable, audio, other), "deadline" (guint64, ns of running
 * time, GST_CLOCK_TIME_NONE: never), "depends" (guint: it refers to the buffer
 * this many places before it on this pad), "independent" (boolean: it refers to
 * nothing), "tag" (guint64, returned in the signal section-dropped). */
void gst_tltcp_meta_frame(GstBuffer *buffer, tltcp_live_frame *frame);

/* Attaches the sender's description to a received buffer, in the other meta:
 * "class" and "picture" (strings), "stream" (guint), "tag" (guint64), "section"
 * (guint64: number on the connection), "missing" (guint64: bytes). */
void gst_tltcp_meta_received(GstBuffer *buffer, const media_header *h,
                             const media_section *section);

#endif /* GST_TLTCP_META_H */
