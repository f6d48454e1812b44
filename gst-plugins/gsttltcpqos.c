/* SPDX-License-Identifier: MPL-2.0 */
/* Makes encoders skip pictures that would come too late. */
#include "gst-plugins/gsttltcpqos.h"

/* Weight of a new picture in the average size: 1 / 16. */
#define WEIGHT 16
/* Field of the event: the running time before which pictures should be skipped;
 * 0: no longer. It marks events from the sink, as opposed to those of, say, a
 * preview. */
#define FIELD "tltcp-skip-until"
#define MEMORY "tltcp-qos"

/* Data attached to an encoder. */
typedef struct {
    GMutex lock;
    GstClockTime until; /* running time */
} QosMemory;

static gsize qos_average(gsize average, gsize bytes) {
    return average ? average - average / WEIGHT + bytes / WEIGHT : bytes;
}

gboolean gst_tltcp_qos_section(GstTltcpQos *qos,
                               const tltcp_live_section *section) {
    gsize bytes = tltcp_live_section_bytes(section);

    switch (tltcp_live_section_class(section)) {
    case TL_CLASS_REFERENCE:
    case TL_CLASS_DISPOSABLE:
        qos->bytes = qos_average(qos->deltas ? qos->bytes : 0, bytes);
        qos->deltas = TRUE;
        break;
    case TL_CLASS_KEY:
        if (!qos->deltas) {
            qos->bytes = qos_average(qos->bytes, bytes);
        }
        break;
    default:
        return FALSE;
    }
    qos->due = tltcp_live_section_due(section);
    return qos->due != TLTCP_TIME_NEVER;
}

GstEvent *gst_tltcp_qos_event(GstClockTime running, guint64 late_ns) {
    guint64 pause = MIN(late_ns, GST_TLTCP_PAUSE_MAX);
    /* Elements skip for twice the lateness that an event reports. They do not
     * know that a pause can end early, as our encoders' pads do. */
    GstEvent *event = gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW,
                                        1 + (gdouble)pause / GST_SECOND,
                                        (GstClockTimeDiff)(pause / 2), running);

    gst_structure_set(gst_event_writable_structure(event), FIELD, G_TYPE_UINT64,
                      running + GST_TLTCP_PAUSE_MAX, NULL);
    return event;
}

GstEvent *gst_tltcp_qos_resume_event(GstClockTime running) {
    GstEvent *event = gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1, 0, running);

    gst_structure_set(gst_event_writable_structure(event), FIELD, G_TYPE_UINT64,
                      (guint64)0, NULL);
    return event;
}

/* ---- at an encoder ---- */

static GstPadProbeReturn qos_on_event(GstPad *pad, GstPadProbeInfo *info,
                                      gpointer user) {
    GstEvent *event = GST_PAD_PROBE_INFO_EVENT(info);
    QosMemory *memory = user;
    guint64 until;

    (void)pad;
    if (GST_EVENT_TYPE(event) == GST_EVENT_QOS &&
        gst_structure_get_uint64(gst_event_get_structure(event), FIELD,
                                 &until)) {
        g_mutex_lock(&memory->lock);
        /* Of several sinks the longest pause counts, unless it is of a time
         * before a step back. */
        memory->until = until && memory->until <= until + GST_TLTCP_PAUSE_MAX
                            ? MAX(memory->until, until)
                            : until;
        g_mutex_unlock(&memory->lock);
    }
    return GST_PAD_PROBE_OK;
}

static GstClockTime qos_running_time(GstPad *pad, GstBuffer *buffer) {
    g_autoptr(GstEvent) event =
        gst_pad_get_sticky_event(pad, GST_EVENT_SEGMENT, 0);
    const GstSegment *segment;

    if (!event || !GST_BUFFER_PTS_IS_VALID(buffer)) {
        return GST_CLOCK_TIME_NONE;
    }
    gst_event_parse_segment(event, &segment);
    return segment->format == GST_FORMAT_TIME
               ? gst_segment_to_running_time(segment, GST_FORMAT_TIME,
                                             GST_BUFFER_PTS(buffer))
               : GST_CLOCK_TIME_NONE;
}

static GstPadProbeReturn qos_on_buffer(GstPad *pad, GstPadProbeInfo *info,
                                       gpointer user) {
    GstClockTime running =
        qos_running_time(pad, GST_PAD_PROBE_INFO_BUFFER(info));
    QosMemory *memory = user;

    g_mutex_lock(&memory->lock);
    /* The time of pictures may have stepped back since. */
    gboolean skip = GST_CLOCK_TIME_IS_VALID(running) &&
                    running < memory->until &&
                    memory->until - running <= GST_TLTCP_PAUSE_MAX;
    g_mutex_unlock(&memory->lock);
    if (skip) {
        GST_LOG_OBJECT(pad, "skipping %" GST_TIME_FORMAT,
                       GST_TIME_ARGS(running));
    }
    return skip ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK;
}

static void qos_free(gpointer user) {
    QosMemory *memory = user;

    g_mutex_clear(&memory->lock);
    g_free(memory);
}

/* NULL: the encoder has it already. */
static QosMemory *qos_memory_new(GstElement *encoder) {
    QosMemory *memory = NULL;

    GST_OBJECT_LOCK(encoder);
    if (!g_object_get_data(G_OBJECT(encoder), MEMORY)) {
        memory = g_new0(QosMemory, 1);
        g_mutex_init(&memory->lock);
        g_object_set_data_full(G_OBJECT(encoder), MEMORY, memory, qos_free);
    }
    GST_OBJECT_UNLOCK(encoder);
    return memory;
}

void gst_tltcp_qos_watch(GstElement *encoder) {
    g_autoptr(GstPad) sink = gst_element_get_static_pad(encoder, "sink");
    g_autoptr(GstPad) src = gst_element_get_static_pad(encoder, "src");
    QosMemory *memory = sink && src ? qos_memory_new(encoder) : NULL;

    if (memory) {
        gst_pad_add_probe(src, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM, qos_on_event,
                          memory, NULL);
        gst_pad_add_probe(sink, GST_PAD_PROBE_TYPE_BUFFER, qos_on_buffer,
                          memory, NULL);
    }
}
