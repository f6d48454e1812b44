/* SPDX-License-Identifier: MPL-2.0 */
/* The types of the properties that are enumerations. */
#include "gst-plugins/gsttltcpenums.h"

#define DEFINE_ENUM(func, name, ...)                                        \
    GType func(void) {                                                      \
        static gsize type;                                                  \
        static const GEnumValue values[] = {__VA_ARGS__, {0, NULL, NULL}};  \
                                                                            \
        if (g_once_init_enter(&type))                                       \
            g_once_init_leave(&type, g_enum_register_static(name, values)); \
        return (GType)type;                                                 \
    }

DEFINE_ENUM(gst_tltcp_mode_get_type, "GstTltcpMode",
            {GST_TLTCP_MODE_CALLER, "Calls a listener", "caller"},
            {GST_TLTCP_MODE_LISTENER, "Waits for callers", "listener"})

DEFINE_ENUM(
    gst_tltcp_deadline_mode_get_type, "GstTltcpDeadlineMode",
    {GST_TLTCP_DEADLINE_PTS, "Running time of the PTS + latency", "pts"},
    {GST_TLTCP_DEADLINE_GOP, "One deadline for the references of a GOP", "gop"},
    {GST_TLTCP_DEADLINE_CONSTANT, "Arrival at the sink + latency", "constant"},
    {GST_TLTCP_DEADLINE_NONE, "Never", "none"})

DEFINE_ENUM(gst_tltcp_drop_policy_get_type, "GstTltcpDropPolicy",
            {GST_TLTCP_DROP_SECTION, "Single buffers past their deadline",
             "section"},
            {GST_TLTCP_DROP_DEPENDENTS,
             "Also dependents of a lost buffer, and frames that would delay "
             "frames that others need",
             "dependents"},
            {GST_TLTCP_DROP_UNTIL_KEYFRAME,
             "All pictures between a loss and the next key frame",
             "until-keyframe"})

DEFINE_ENUM(gst_tltcp_output_get_type, "GstTltcpOutput",
            {GST_TLTCP_OUTPUT_COMPLETE, "Complete buffers only", "complete"},
            {GST_TLTCP_OUTPUT_PARTIAL,
             "Also incomplete buffers, flagged CORRUPTED", "partial"})

DEFINE_ENUM(gst_tltcp_delivery_get_type, "GstTltcpDelivery",
            {GST_TLTCP_DELIVERY_TIMED, "Timestamps of the sender + latency",
             "timed"},
            {GST_TLTCP_DELIVERY_IMMEDIATE, "Timestamps by arrival",
             "immediate"})

/* The values are the library's. */
DEFINE_ENUM(gst_tltcp_fec_get_type, "GstTltcpFec",
            {GST_TLTCP_FEC_AUTO, "When there is no time for retransmission",
             "auto"},
            {GST_TLTCP_FEC_OFF, "Never", "off"},
            {GST_TLTCP_FEC_ON, "Always", "on"})

DEFINE_ENUM(gst_tltcp_transport_get_type, "GstTltcpTransport",
            {GST_TLTCP_TRANSPORT_UDP, "UDP", "udp"},
            {GST_TLTCP_TRANSPORT_AUTO,
             "Caller: TCP if UDP gets no answer; listener: both", "auto"},
            {GST_TLTCP_TRANSPORT_TCP, "TCP", "tcp"})

DEFINE_ENUM(gst_tltcp_encoder_get_type, "GstTltcpEncoder",
            {GST_TLTCP_ENCODER_NONE, "Does not steer encoders", "none"},
            {GST_TLTCP_ENCODER_AUTO, "Sets their bit rate", "auto"})

void gst_tltcp_enums_register(void) {
    const GType types[] = {
        GST_TYPE_TLTCP_MODE,        GST_TYPE_TLTCP_DEADLINE_MODE,
        GST_TYPE_TLTCP_DROP_POLICY, GST_TYPE_TLTCP_OUTPUT,
        GST_TYPE_TLTCP_DELIVERY,    GST_TYPE_TLTCP_FEC,
        GST_TYPE_TLTCP_TRANSPORT,   GST_TYPE_TLTCP_ENCODER};

    for (gsize i = 0; i < G_N_ELEMENTS(types); i++) {
        gst_type_mark_as_plugin_api(types[i], (GstPluginAPIFlags)0);
    }
}
