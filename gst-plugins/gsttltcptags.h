/* SPDX-License-Identifier: MPL-2.0 */
/* Tags of a stream as text, for transmission. */
#ifndef GST_TLTCP_TAGS_H
#define GST_TLTCP_TAGS_H

#include <gst/gst.h>

/* Leaves out images and other binary tags. NULL: nothing is left, or too much.
 * Free the result. */
gchar *gst_tltcp_tags_to_text(const GstTagList *tags);

/* Tags from a peer, limited to known ones of the right type; NULL: none.
 * *names: new names that peers may still use. */
GstTagList *gst_tltcp_tags_from_text(gconstpointer text, gsize len,
                                     guint *names);

#endif /* GST_TLTCP_TAGS_H */
