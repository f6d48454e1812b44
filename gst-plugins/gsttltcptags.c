/* SPDX-License-Identifier: MPL-2.0 */
/* Tags of a stream as text. */
#include "gst-plugins/gsttltcptags.h"

#include <string.h>

#include "gst-plugins/gsttltcptext.h"

#define TEXT_MAX (64u << 10)

/* Copies values of the tag's own type, if text can represent it and a receiver
 * takes it. */
static void copy_tag(const GstTagList *from, const gchar *tag, GstTagList *to) {
    GType type = gst_tag_exists(tag) ? gst_tag_get_type(tag) : G_TYPE_INVALID;

    if (type == G_TYPE_INVALID || type == GST_TYPE_SAMPLE ||
        type == GST_TYPE_BUFFER || type == GST_TYPE_STRUCTURE) {
        return;
    }
    for (guint i = 0; i < gst_tag_list_get_tag_size(from, tag); i++) {
        const GValue *value = gst_tag_list_get_value_index(from, tag, i);
        if (value && G_VALUE_TYPE(value) == type) {
            gst_tag_list_add_value(to, GST_TAG_MERGE_APPEND, tag, value);
        }
    }
}

static GstTagList *known(const GstTagList *tags) {
    GstTagList *list = gst_tag_list_new_empty();

    for (gint i = 0; i < gst_tag_list_n_tags(tags); i++) {
        copy_tag(tags, gst_tag_list_nth_tag_name(tags, (guint)i), list);
    }
    if (gst_tag_list_is_empty(list)) {
        g_clear_pointer(&list, gst_tag_list_unref);
    }
    return list;
}

gchar *gst_tltcp_tags_to_text(const GstTagList *tags) {
    g_autoptr(GstTagList) list = known(tags);
    gchar *text = list ? gst_tag_list_to_string(list) : NULL;

    if (text && strlen(text) > TEXT_MAX) {
        g_clear_pointer(&text, g_free);
    }
    return text;
}

GstTagList *gst_tltcp_tags_from_text(gconstpointer text, gsize len,
                                     guint *names) {
    g_autofree gchar *copy = len <= TEXT_MAX ? g_strndup(text, len) : NULL;
    g_autoptr(GstTagList) said = NULL;

    if (copy && g_utf8_validate(copy, -1, NULL) &&
        g_str_has_prefix(copy, "taglist") &&
        gst_tltcp_text_is_fit(copy, names)) {
        said = gst_tag_list_new_from_string(copy);
    }
    return said ? known(said) : NULL;
}
