/* SPDX-License-Identifier: MPL-2.0 */
/* The properties of tltcpsink. */
#include "gst-plugins/gsttltcpsinkimpl.h"
#include "gst-plugins/gsttltcpstats.h"

#define DEFAULT_DEADLINE_MODE GST_TLTCP_DEADLINE_PTS
#define DEFAULT_DROP_POLICY GST_TLTCP_DROP_DEPENDENTS
#define DEFAULT_REFERENCE_GRACE 1000

enum {
    PROP_WAIT_FOR_CONNECTION = GST_TLTCP_PROP_LAST,
    PROP_DEADLINE_MODE,
    PROP_DROP_POLICY,
    PROP_REFERENCE_GRACE,
    PROP_MAX_SEND_BITRATE,
    PROP_INITIAL_WINDOW,
    PROP_ESTIMATED_BITRATE,
    PROP_TARGET_BITRATE,
    PROP_ENCODER,
    PROP_ENCODER_MIN,
    PROP_ENCODER_MAX,
    PROP_FORCE_KEY_UNIT
};

static const GstTltcpField fields[] = {
    {PROP_WAIT_FOR_CONNECTION,
     G_STRUCT_OFFSET(GstTltcpSink, wait_for_connection)},
    {PROP_DEADLINE_MODE, G_STRUCT_OFFSET(GstTltcpSink, deadline_mode)},
    {PROP_DROP_POLICY, G_STRUCT_OFFSET(GstTltcpSink, drop_policy)},
    {PROP_REFERENCE_GRACE, G_STRUCT_OFFSET(GstTltcpSink, reference_grace)},
    {PROP_MAX_SEND_BITRATE, G_STRUCT_OFFSET(GstTltcpSink, max_send_bitrate)},
    {PROP_INITIAL_WINDOW, G_STRUCT_OFFSET(GstTltcpSink, initial_window)},
    {PROP_ESTIMATED_BITRATE, G_STRUCT_OFFSET(GstTltcpSink, estimated_bitrate)},
    {PROP_TARGET_BITRATE, G_STRUCT_OFFSET(GstTltcpSink, target_bitrate)},
    {PROP_ENCODER, G_STRUCT_OFFSET(GstTltcpSink, encoder_mode)},
    {PROP_ENCODER_MIN, G_STRUCT_OFFSET(GstTltcpSink, encoder_min)},
    {PROP_ENCODER_MAX, G_STRUCT_OFFSET(GstTltcpSink, encoder_max)},
    {PROP_FORCE_KEY_UNIT, G_STRUCT_OFFSET(GstTltcpSink, force_key_unit)},
    {0, 0},
};

GstStructure *gst_tltcp_sink_stats(GstTltcpSink *self) {
    g_mutex_lock(&self->sender_lock);
    GstStructure *stats = self->sender
                              ? gst_tltcp_sender_stats(self->sender)
                              : gst_structure_new_empty(GST_TLTCP_STATS_NAME);
    g_mutex_unlock(&self->sender_lock);
    return stats;
}

#define RW_READY \
    (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY)

static void install_dropping(GObjectClass *klass) {
    /**
     * GstTltcpSink:deadline-mode:
     *
     * The deadline after which a buffer is no longer sent.
     *
     * Since: 0.1
     */
    g_object_class_install_property(
        klass, PROP_DEADLINE_MODE,
        g_param_spec_enum("deadline-mode", "Deadline mode",
                          "Deadline after which a buffer is no longer sent",
                          GST_TYPE_TLTCP_DEADLINE_MODE, DEFAULT_DEADLINE_MODE,
                          RW_READY));
    /**
     * GstTltcpSink:drop-policy:
     *
     * What is dropped when the link is too slow.
     *
     * Since: 0.1
     */
    g_object_class_install_property(
        klass, PROP_DROP_POLICY,
        g_param_spec_enum("drop-policy", "Drop policy",
                          "What is dropped when the link is too slow",
                          GST_TYPE_TLTCP_DROP_POLICY, DEFAULT_DROP_POLICY,
                          RW_READY));
    /**
     * GstTltcpSink:reference-grace:
     *
     * How much longer a reference frame is sent: it is shown late, but later
     * frames can be decoded with it. With #GstTltcpSink:deadline-mode pts, and
     * a #GstTltcpSink:drop-policy other than section.
     *
     * Since: 0.1
     */
    g_object_class_install_property(
        klass, PROP_REFERENCE_GRACE,
        g_param_spec_uint("reference-grace", "Reference grace",
                          "How much longer reference frames are sent "
                          "(milliseconds)",
                          0, G_MAXINT32, DEFAULT_REFERENCE_GRACE, RW_READY));
}

static void install_rate(GObjectClass *klass) {
    g_object_class_install_property(
        klass, PROP_MAX_SEND_BITRATE,
        g_param_spec_uint64("max-send-bitrate", "Maximum bit rate",
                            "Limit on the sending rate on the wire, bit/s (0: "
                            "none); the rate of the controller \"fixed\"",
                            0, G_MAXUINT64, 0, RW_READY));
    /**
     * GstTltcpSink:initial-window:
     *
     * Initial window in packets, paced over a round trip.  Raise it only on a
     * path of known capacity that is not shared, such as a leased satellite
     * link: a larger window causes loss, also for others.
     *
     * Since: 0.1
     */
    g_object_class_install_property(
        klass, PROP_INITIAL_WINDOW,
        g_param_spec_uint("initial-window", "Initial window",
                          "Initial window in packets, for a path of known "
                          "capacity that is not shared (0: the controller's)",
                          0, G_MAXUINT, 0, RW_READY));
    /**
     * GstTltcpSink:estimated-bitrate:
     *
     * The estimated capacity of the path: the highest estimate among the
     * callers. 0: not known yet.
     *
     * Since: 0.1
     */
    g_object_class_install_property(
        klass, PROP_ESTIMATED_BITRATE,
        g_param_spec_uint("estimated-bitrate", "Estimated bit rate",
                          "Estimated capacity of the path (bit/s)", 0,
                          G_MAXUINT, 0,
                          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
    /**
     * GstTltcpSink:target-bitrate:
     *
     * The present target for an encoder upstream, in bit/s. Below
     * #GstTltcpSink:estimated-bitrate while a queue drains. With several
     * connections, the target of the fastest. 0: not known yet. Notified from a
     * thread of the element.
     *
     * Since: 0.1
     */
    g_object_class_install_property(
        klass, PROP_TARGET_BITRATE,
        g_param_spec_uint("target-bitrate", "Target bit rate",
                          "Present target for an encoder, bit/s (0: not known "
                          "yet)",
                          0, G_MAXUINT, 0,
                          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

#define RW_PLAYING \
    (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING)

static void install_encoder(GObjectClass *klass) {
    /**
     * GstTltcpSink:encoder:
     *
     * Whether the sink sets the bit rate of the video encoders upstream as
     * #GstTltcpSink:target-bitrate changes.  Several encoders share it in
     * proportion to their initial bit rates.  Pictures that would arrive too
     * late are skipped: QoS events request it, and the sink drops them at the
     * inputs of the encoders.
     *
     * Since: 0.1
     */
    g_object_class_install_property(
        klass, PROP_ENCODER,
        g_param_spec_enum("encoder", "Encoder",
                          "Whether to steer the video encoders upstream",
                          GST_TYPE_TLTCP_ENCODER, GST_TLTCP_ENCODER_NONE,
                          RW_PLAYING));
    /**
     * GstTltcpSink:encoder-min-bitrate:
     *
     * With #GstTltcpSink:encoder auto, the lower limit for all video encoders
     * together.
     *
     * Since: 0.1
     */
    g_object_class_install_property(
        klass, PROP_ENCODER_MIN,
        g_param_spec_uint64("encoder-min-bitrate", "Minimum video bit rate",
                            "Lower limit for the video encoders, bit/s (0: "
                            "none)",
                            0, G_MAXUINT, 0, RW_PLAYING));
    /**
     * GstTltcpSink:encoder-max-bitrate:
     *
     * With #GstTltcpSink:encoder auto, the upper limit for all video encoders
     * together.
     *
     * Since: 0.1
     */
    g_object_class_install_property(
        klass, PROP_ENCODER_MAX,
        g_param_spec_uint64("encoder-max-bitrate", "Maximum video bit rate",
                            "Upper limit for the video encoders, bit/s (0: "
                            "their initial bit rates)",
                            0, G_MAXUINT, 0, RW_PLAYING));
}

static void install_sending(GObjectClass *klass) {
    g_object_class_install_property(
        klass, PROP_WAIT_FOR_CONNECTION,
        g_param_spec_boolean("wait-for-connection", "Wait for a connection",
                             "Block the stream until a peer is connected", TRUE,
                             RW_READY));
    g_object_class_install_property(
        klass, PROP_FORCE_KEY_UNIT,
        g_param_spec_boolean("force-key-unit", "Force key unit",
                             "Ask upstream for a key unit when a reference "
                             "frame is lost and when a caller joins",
                             TRUE,
                             G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                 GST_PARAM_MUTABLE_PLAYING));
}

void gst_tltcp_sink_install_properties(GObjectClass *klass) {
    gst_tltcp_settings_install(klass);
    install_dropping(klass);
    install_rate(klass);
    install_encoder(klass);
    install_sending(klass);
}

void gst_tltcp_sink_init_properties(GstTltcpSink *self) {
    gst_tltcp_settings_init(&self->settings, G_OBJECT(self), fields);
    self->wait_for_connection = TRUE;
    self->deadline_mode = DEFAULT_DEADLINE_MODE;
    self->drop_policy = DEFAULT_DROP_POLICY;
    self->reference_grace = DEFAULT_REFERENCE_GRACE;
    self->force_key_unit = TRUE;
}
