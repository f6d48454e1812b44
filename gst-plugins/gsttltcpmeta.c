/* SPDX-License-Identifier: MPL-2.0 */
/* What applications say of a buffer, in a custom meta. */
#include "gst-plugins/gsttltcpmeta.h"

#include <tltcp/types.h>

#include "internal/media/codec/framing.h"

void gst_tltcp_meta_register(void) {
    static const gchar *tags[] = {NULL};

    if (!gst_meta_get_info(GST_TLTCP_SEND_META)) {
        gst_meta_register_custom(GST_TLTCP_SEND_META, tags, NULL, NULL, NULL);
        gst_meta_register_custom(GST_TLTCP_RECEIVE_META, tags, NULL, NULL,
                                 NULL);
    }
}

static const GstStructure *meta_find(GstBuffer *buffer) {
    GstCustomMeta *meta =
        gst_buffer_get_custom_meta(buffer, GST_TLTCP_SEND_META);

    return meta ? gst_custom_meta_get_structure(meta) : NULL;
}

static void read_class(const GstStructure *s, tltcp_live_frame *frame) {
    const gchar *name = gst_structure_get_string(s, "class");

    for (guint i = 0; name && i < MEDIA_CLASS_COUNT; i++) {
        if (g_strcmp0(name, media__class_name(i)) == 0) {
            frame->frame_class = i;
            return;
        }
    }
    if (name) {
        GST_WARNING("unknown buffer class \"%s\"", name);
    }
}

void gst_tltcp_meta_frame(GstBuffer *buffer, tltcp_live_frame *frame) {
    const GstStructure *s = meta_find(buffer);
    gboolean independent = FALSE;
    guint back = 0;
    guint64 value;

    if (!s) {
        return;
    }
    read_class(s, frame);
    if (gst_structure_get_uint64(s, "deadline", &value) && !frame->untimed) {
        frame->deadline =
            value < G_MAXINT64
                ? (tltcp_time)((gint64)value + frame->clock_offset)
                : TLTCP_TIME_NEVER;
    }
    if (gst_structure_get_uint(s, "depends", &back)) {
        frame->depends = back;
    }
    if (gst_structure_get_boolean(s, "independent", &independent) &&
        independent) {
        frame->depends = TLTCP_LIVE_DEPENDS_NONE;
    }
    if (gst_structure_get_uint64(s, "tag", &value)) {
        frame->tag = value;
    }
}

void gst_tltcp_meta_received(GstBuffer *buffer, const media_header *h,
                             const media_section *section) {
    GstCustomMeta *meta =
        gst_buffer_add_custom_meta(buffer, GST_TLTCP_RECEIVE_META);

    gst_structure_set(gst_custom_meta_get_structure(meta), "class",
                      G_TYPE_STRING, media__class_name(h->frame_class),
                      "picture", G_TYPE_STRING, media__picture_name(h->picture),
                      "stream", G_TYPE_UINT, (guint)h->stream, "tag",
                      G_TYPE_UINT64, (guint64)section->meta.tag, "section",
                      G_TYPE_UINT64, (guint64)section->number, "missing",
                      G_TYPE_UINT64, (guint64)section->missing, NULL);
}
