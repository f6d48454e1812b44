/* SPDX-License-Identifier: MPL-2.0 */
/* Flags of a buffer as flags of a section, and back. */
#include "gst-plugins/gsttltcpflags.h"

#include "internal/media/codec/framing.h"

static const struct {
    guint buffer;
    guint32 wire;
} pairs[] = {
    {GST_BUFFER_FLAG_DELTA_UNIT, MEDIA_FLAG_DELTA},
    {GST_BUFFER_FLAG_HEADER, MEDIA_FLAG_HEADER},
    {GST_BUFFER_FLAG_DROPPABLE, MEDIA_FLAG_DROPPABLE},
    {GST_BUFFER_FLAG_DISCONT, MEDIA_FLAG_DISCONT},
    {GST_BUFFER_FLAG_CORRUPTED, MEDIA_FLAG_CORRUPTED},
    {GST_BUFFER_FLAG_MARKER, MEDIA_FLAG_MARKER},
    {GST_BUFFER_FLAG_GAP, MEDIA_FLAG_GAP},
    {GST_BUFFER_FLAG_RESYNC, MEDIA_FLAG_RESYNC},
    {GST_BUFFER_FLAG_DECODE_ONLY, MEDIA_FLAG_DECODE_ONLY},
};

guint32 gst_tltcp_flags_to_wire(guint buffer_flags) {
    guint32 flags = 0;

    for (gsize i = 0; i < G_N_ELEMENTS(pairs); i++) {
        flags |= buffer_flags & pairs[i].buffer ? pairs[i].wire : 0;
    }
    return flags;
}

guint gst_tltcp_flags_from_wire(guint32 flags) {
    guint buffer_flags = 0;

    for (gsize i = 0; i < G_N_ELEMENTS(pairs); i++) {
        buffer_flags |= flags & pairs[i].wire ? pairs[i].buffer : 0;
    }
    return buffer_flags;
}
