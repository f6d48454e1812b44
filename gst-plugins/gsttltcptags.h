/* SPDX-License-Identifier: MPL-2.0 */
/* Tags of a stream as text, for the way. */
#ifndef GST_TLTCP_TAGS_H
#define GST_TLTCP_TAGS_H

#include <gst/gst.h>

/* Without pictures and other bytes; NULL: nothing is left, or too much.  Free
 * it. */
gchar *gst_tltcp_tags_to_text(const GstTagList *tags);

/* What a stranger says, as far as it is tags that are known here and of their
 * types; NULL: nothing. */
GstTagList *gst_tltcp_tags_from_text(gconstpointer text, gsize len);

#endif /* GST_TLTCP_TAGS_H */
