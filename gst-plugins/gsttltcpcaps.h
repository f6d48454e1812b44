/* SPDX-License-Identifier: MPL-2.0 */
#ifndef GST_TLTCP_CAPS_H
#define GST_TLTCP_CAPS_H

#include <gst/gst.h>

#include <tltcp/live_parts.h>

#include "internal/media/codec/config.h"

/* Sets the stream's format from caps, which may be NULL. */
void gst_tltcp_caps_describe(GstCaps *caps, tltcp_live_stream *stream);

/* A transport stream in packets of 188 bytes. */
gboolean gst_tltcp_caps_is_ts(GstCaps *caps);

/* Buffers of the streamheader, or NULL. */
GPtrArray *gst_tltcp_caps_headers(GstCaps *caps);

/* Caps from the payload of a CONFIG; NULL: it cannot be expressed as caps. */
GstCaps *gst_tltcp_caps_from_config(const media_config *config, guint *names);

#endif /* GST_TLTCP_CAPS_H */
