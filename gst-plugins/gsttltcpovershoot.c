/* SPDX-License-Identifier: MPL-2.0 */
/* Learns by how much an encoder exceeds its bit rate. */
#include "gst-plugins/gsttltcpovershoot.h"

#define SPAN 4.0  /* seconds that count, about */
#define KNOWN 1.0 /* seconds before a correction */
/* Short excess is normal: a key frame is larger than the pictures after it. */
#define BEARABLE 1.1
#define MOST 4.0
/* A capture that stalls does not save bits for later. */
#define PASSED_MAX (500 * GST_MSECOND)
#define MEMORY "tltcp-overshoot"

typedef struct {
    GMutex lock;
    GstTltcpOvershoot overshoot;
    GstClockTime newest; /* picture */
} OvershootMemory;

void gst_tltcp_overshoot_add(GstTltcpOvershoot *overshoot, gsize bytes,
                             GstClockTime passed) {
    gdouble seconds = (gdouble)MIN(passed, PASSED_MAX) / GST_SECOND;
    gdouble keep = 1 - seconds / SPAN;

    if (overshoot->bps) {
        overshoot->made = keep * overshoot->made + 8.0 * (gdouble)bytes;
        overshoot->asked =
            keep * overshoot->asked + seconds * (gdouble)overshoot->bps;
        overshoot->passed = keep * overshoot->passed + seconds;
    }
}

guint64 gst_tltcp_overshoot_correct(const GstTltcpOvershoot *overshoot,
                                    guint64 bps) {
    gdouble excess;

    if (overshoot->passed < KNOWN) {
        return bps;
    }
    excess = overshoot->made / overshoot->asked / BEARABLE;
    return (guint64)((gdouble)bps / CLAMP(excess, 1, MOST));
}

static GstPadProbeReturn
overshoot_on_picture(GstPad *pad, GstPadProbeInfo *info, gpointer user) {
    OvershootMemory *memory = user;
    GstBuffer *picture = GST_PAD_PROBE_INFO_BUFFER(info);
    GstClockTime at = GST_BUFFER_DTS_OR_PTS(picture);

    (void)pad;
    g_mutex_lock(&memory->lock);
    if (GST_CLOCK_TIME_IS_VALID(at)) {
        GstClockTime before =
            GST_CLOCK_TIME_IS_VALID(memory->newest) ? memory->newest : at;
        gst_tltcp_overshoot_add(&memory->overshoot,
                                gst_buffer_get_size(picture),
                                at > before ? at - before : 0);
        memory->newest = at;
    }
    g_mutex_unlock(&memory->lock);
    return GST_PAD_PROBE_OK;
}

static void overshoot_free(gpointer user) {
    OvershootMemory *memory = user;

    g_mutex_clear(&memory->lock);
    g_free(memory);
}

static OvershootMemory *overshoot_memory(GstElement *encoder) {
    return g_object_get_data(G_OBJECT(encoder), MEMORY);
}

/* NULL: the encoder has it already. */
static OvershootMemory *overshoot_memory_new(GstElement *encoder) {
    OvershootMemory *memory = NULL;

    GST_OBJECT_LOCK(encoder);
    if (!overshoot_memory(encoder)) {
        memory = g_new0(OvershootMemory, 1);
        memory->newest = GST_CLOCK_TIME_NONE;
        g_mutex_init(&memory->lock);
        g_object_set_data_full(G_OBJECT(encoder), MEMORY, memory,
                               overshoot_free);
    }
    GST_OBJECT_UNLOCK(encoder);
    return memory;
}

void gst_tltcp_overshoot_watch(GstElement *encoder) {
    g_autoptr(GstPad) src = gst_element_get_static_pad(encoder, "src");
    OvershootMemory *memory = src ? overshoot_memory_new(encoder) : NULL;

    if (memory) {
        gst_pad_add_probe(src, GST_PAD_PROBE_TYPE_BUFFER, overshoot_on_picture,
                          memory, NULL);
    }
}

guint64 gst_tltcp_overshoot_correct_encoder(GstElement *encoder, guint64 bps) {
    OvershootMemory *memory = overshoot_memory(encoder);

    if (memory) {
        g_mutex_lock(&memory->lock);
        bps = gst_tltcp_overshoot_correct(&memory->overshoot, bps);
        g_mutex_unlock(&memory->lock);
    }
    return bps;
}

void gst_tltcp_overshoot_asked(GstElement *encoder, guint64 bps) {
    OvershootMemory *memory = overshoot_memory(encoder);

    if (memory) {
        g_mutex_lock(&memory->lock);
        memory->overshoot.bps = bps;
        g_mutex_unlock(&memory->lock);
    }
}
