/* SPDX-License-Identifier: MPL-2.0 */
#ifndef GST_TLTCP_CAPS_H
#define GST_TLTCP_CAPS_H

#include <gst/gst.h>

#include "internal/media/codec/frame.h"
#include "internal/media/codec/framing.h"

/* Where a CONFIG stands. */
typedef struct {
    guint8 stream;
    guint8 streams; /* how many there are */
    guint32 generation;
    guint latency_ms;
} GstTltcpConfigPlace;

/* A CONFIG section that describes the caps, which may be NULL. */
GBytes *gst_tltcp_caps_to_section(GstCaps *caps,
                                  const GstTltcpConfigPlace *place);

/* A transport stream in packets of 188 bytes. */
gboolean gst_tltcp_caps_is_ts(GstCaps *caps);

/* Sets a scanner up for what the caps say. */
void gst_tltcp_caps_scanner(GstCaps *caps, media_scanner *scanner);

/* Coded video other than still pictures: buffers need each other. */
gboolean gst_tltcp_caps_is_predicted(GstCaps *caps);

/* Nominal distance of frames in ns, 0 when the caps do not say. */
gint64 gst_tltcp_caps_frame_ns(GstCaps *caps);

/* Buffers of the streamheader, or NULL. */
GPtrArray *gst_tltcp_caps_headers(GstCaps *caps);

/* Caps from the payload of a CONFIG; NULL: it says nothing that can be made
 * caps of. */
GstCaps *gst_tltcp_caps_from_config(const media_config *config);

#endif /* GST_TLTCP_CAPS_H */
