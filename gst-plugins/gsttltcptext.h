/* SPDX-License-Identifier: MPL-2.0 */
/* Caps and tags of peers, as text. */
#ifndef GST_TLTCP_TEXT_H
#define GST_TLTCP_TEXT_H

#include <gst/gst.h>

/* Whether GStreamer may parse the text. Its parser calls itself for each value
 * inside another, so a peer could make it use up the stack. FALSE: values are
 * nested too deeply, or one is of a type that can hide others in a string. */
gboolean gst_tltcp_text_is_flat(const gchar *text);

#endif /* GST_TLTCP_TEXT_H */
