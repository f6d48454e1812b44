/* SPDX-License-Identifier: MPL-2.0 */
/* What an application knows of a buffer and the sink would otherwise have to
 * find out, in a custom meta, so that it needs no header and no library of
 * ours:
 *
 *   GstCustomMeta *m =
 *       gst_buffer_add_custom_meta(buffer, "GstTltcpSendMeta");
 *   gst_structure_set(gst_custom_meta_get_structure(m),
 *                     "class", G_TYPE_STRING, "disposable", NULL);
 *
 * Every field may be absent. */
#ifndef GST_TLTCP_META_H
#define GST_TLTCP_META_H

#include <gst/gst.h>

#include <tltcp/live.h>

#include "internal/media/codec/framing.h"
#include "internal/media/stream/assemble.h"

#define GST_TLTCP_SEND_META "GstTltcpSendMeta"
#define GST_TLTCP_RECEIVE_META "GstTltcpReceiveMeta"

void gst_tltcp_meta_register(void);

/* The frame as the meta of the buffer says: "class" (a string: header, key,
 * reference, disposable, audio, other), "deadline" (guint64, ns of running
 * time, GST_CLOCK_TIME_NONE: never), "depends" (guint: it refers to the buffer
 * so many before it on this pad), "independent" (boolean: it refers to
 * nothing), "tag" (guint64, comes back in the signal section-dropped). */
void gst_tltcp_meta_frame(GstBuffer *buffer, tltcp_live_frame *frame);

/* Says of a received buffer what its sender said, in the other meta: "class"
 * and "picture" (strings), "stream" (guint), "tag" (guint64), "section"
 * (guint64: number on the connection), "missing" (guint64: bytes). */
void gst_tltcp_meta_received(GstBuffer *buffer, const media_header *h,
                             const media_section *section);

#endif /* GST_TLTCP_META_H */
