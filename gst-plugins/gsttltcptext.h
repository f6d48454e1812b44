/* SPDX-License-Identifier: MPL-2.0 */
/* Caps and tags of peers, as text. */
#ifndef GST_TLTCP_TEXT_H
#define GST_TLTCP_TEXT_H

#include <gst/gst.h>

/* Whether GStreamer may parse the text. Its parser calls itself for each value
 * inside another, so a peer could make it use up the stack; it compares all
 * fields with each other; and GLib keeps all names for ever. So the text must
 * be one structure as GStreamer writes it, with a limited number of values, and
 * none of a type that is parsed as a structure. FALSE: it is not, or it has
 * more new names than *names, which is reduced by their number. */
gboolean gst_tltcp_text_is_fit(const gchar *text, guint *names);

#endif /* GST_TLTCP_TEXT_H */
