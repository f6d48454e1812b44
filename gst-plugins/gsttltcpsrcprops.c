/* SPDX-License-Identifier: MPL-2.0 */
/* The properties of tltcpsrc. */
#include "gst-plugins/gsttltcpsrcimpl.h"
#include "gst-plugins/gsttltcpstats.h"

enum {
    PROP_KEEP_LISTENING = GST_TLTCP_PROP_LAST,
    PROP_OUTPUT,
    PROP_DELIVERY,
    PROP_DROP_UNTIL_KEYFRAME
};

static const GstTltcpField fields[] = {
    {PROP_KEEP_LISTENING, G_STRUCT_OFFSET(GstTltcpSrc, keep_listening)},
    {PROP_OUTPUT, G_STRUCT_OFFSET(GstTltcpSrc, output)},
    {PROP_DELIVERY, G_STRUCT_OFFSET(GstTltcpSrc, delivery)},
    {PROP_DROP_UNTIL_KEYFRAME,
     G_STRUCT_OFFSET(GstTltcpSrc, drop_until_keyframe)},
    {0, 0},
};

static gboolean is_timed(GstTltcpSrc *self) {
    g_mutex_lock(&self->settings.lock);
    gboolean timed = self->delivery == GST_TLTCP_DELIVERY_TIMED;
    g_mutex_unlock(&self->settings.lock);
    return timed;
}

GstClockTime gst_tltcp_src_latency(GstTltcpSrc *self) {
    g_mutex_lock(&self->settings.lock);
    GstClockTime latency = self->settings.latency * GST_MSECOND;
    g_mutex_unlock(&self->settings.lock);
    return is_timed(self)
               ? MAX(latency, gst_tltcp_deframer_latency(&self->deframer))
               : 0;
}

GstStructure *gst_tltcp_src_stats(GstTltcpSrc *self) {
    GstStructure *stats = gst_structure_new_empty(GST_TLTCP_STATS_NAME);
    GstTltcpReceived counts;

    g_mutex_lock(&self->receiver_lock);
    if (self->receiver) {
        gst_tltcp_receiver_add_stats(self->receiver, stats);
    }
    g_mutex_unlock(&self->receiver_lock);
    g_mutex_lock(&self->deframer.lock);
    counts = self->deframer.counts;
    g_mutex_unlock(&self->deframer.lock);
    gst_tltcp_stats_add_received(stats, &counts);
    gst_tltcp_stats_add_latency(stats, is_timed(self)
                                           ? gst_tltcp_src_latency(self)
                                           : (guint64)MAX(counts.delay_ns, 0));
    return stats;
}

#define RW_READY \
    (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY)

static void install_own(GObjectClass *klass) {
    g_object_class_install_property(
        klass, PROP_KEEP_LISTENING,
        g_param_spec_boolean("keep-listening", "Keep listening",
                             "Wait for the next caller after one has ended "
                             "instead of ending the stream",
                             FALSE, RW_READY));
    /**
     * GstTltcpSrc:output:
     *
     * The treatment of incomplete buffers.
     *
     * Since: 0.1
     */
    g_object_class_install_property(
        klass, PROP_OUTPUT,
        g_param_spec_enum("output", "Output", "Treatment of incomplete buffers",
                          GST_TYPE_TLTCP_OUTPUT, GST_TLTCP_OUTPUT_COMPLETE,
                          RW_READY));
    /**
     * GstTltcpSrc:delivery:
     *
     * The timestamps of buffers.
     *
     * Since: 0.1
     */
    g_object_class_install_property(
        klass, PROP_DELIVERY,
        g_param_spec_enum("delivery", "Delivery", "Timestamps of buffers",
                          GST_TYPE_TLTCP_DELIVERY, GST_TLTCP_DELIVERY_TIMED,
                          RW_READY));
    g_object_class_install_property(
        klass, PROP_DROP_UNTIL_KEYFRAME,
        g_param_spec_boolean("drop-until-keyframe", "Drop until key frame",
                             "Drop pictures that depend on a lost one", FALSE,
                             RW_READY));
}

void gst_tltcp_src_install_properties(GObjectClass *klass) {
    gst_tltcp_settings_install(klass);
    install_own(klass);
}

void gst_tltcp_src_init_properties(GstTltcpSrc *self) {
    gst_tltcp_settings_init(&self->settings, G_OBJECT(self), fields);
    self->output = GST_TLTCP_OUTPUT_COMPLETE;
    self->delivery = GST_TLTCP_DELIVERY_TIMED;
}
