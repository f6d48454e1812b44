/* SPDX-License-Identifier: MPL-2.0 */
#ifndef GST_TLTCP_ENUMS_H
#define GST_TLTCP_ENUMS_H

#include <gst/gst.h>

/**
 * GstTltcpMode:
 * @GST_TLTCP_MODE_CALLER: calls a listener
 * @GST_TLTCP_MODE_LISTENER: waits for callers
 *
 * Selects the end that connects.
 */
typedef enum {
    GST_TLTCP_MODE_CALLER = 1,
    GST_TLTCP_MODE_LISTENER = 2
} GstTltcpMode;

/**
 * GstTltcpDeadlineMode:
 * @GST_TLTCP_DEADLINE_PTS: running time of the PTS + latency
 * @GST_TLTCP_DEADLINE_GOP: one deadline for the I and P frames of a GOP, the
 * earlier of its references' for a B frame (Mukherjee and Brecht 2000)
 * @GST_TLTCP_DEADLINE_CONSTANT: arrival at the sink + latency
 * @GST_TLTCP_DEADLINE_NONE: never
 *
 * Selects the deadline after which a buffer is no longer sent.
 */
typedef enum {
    GST_TLTCP_DEADLINE_PTS = 0,
    GST_TLTCP_DEADLINE_GOP = 1,
    GST_TLTCP_DEADLINE_CONSTANT = 2,
    GST_TLTCP_DEADLINE_NONE = 3
} GstTltcpDeadlineMode;

/**
 * GstTltcpDropPolicy:
 * @GST_TLTCP_DROP_SECTION: single buffers past their deadline
 * @GST_TLTCP_DROP_DEPENDENTS: also dependents of a lost buffer, and disposable
 * frames that would delay frames that others need
 * @GST_TLTCP_DROP_UNTIL_KEYFRAME: all pictures between a loss and the next key
 * frame
 *
 * Selects what is dropped when the link is too slow.
 */
typedef enum {
    GST_TLTCP_DROP_SECTION = 0,
    GST_TLTCP_DROP_DEPENDENTS = 1,
    GST_TLTCP_DROP_UNTIL_KEYFRAME = 2
} GstTltcpDropPolicy;

/**
 * GstTltcpOutput:
 * @GST_TLTCP_OUTPUT_COMPLETE: complete buffers only
 * @GST_TLTCP_OUTPUT_PARTIAL: also incomplete buffers, flagged CORRUPTED, with
 * zeros in place of missing data
 *
 * Selects the treatment of incomplete buffers.
 */
typedef enum {
    GST_TLTCP_OUTPUT_COMPLETE = 0,
    GST_TLTCP_OUTPUT_PARTIAL = 1
} GstTltcpOutput;

/**
 * GstTltcpDelivery:
 * @GST_TLTCP_DELIVERY_TIMED: timestamps restored, latency reported, so that
 * synchronising sinks play at an even pace
 * @GST_TLTCP_DELIVERY_IMMEDIATE: timestamps by arrival, no latency
 *
 * Selects the timestamps of buffers.
 */
typedef enum {
    GST_TLTCP_DELIVERY_TIMED = 0,
    GST_TLTCP_DELIVERY_IMMEDIATE = 1
} GstTltcpDelivery;

/**
 * GstTltcpFec:
 * @GST_TLTCP_FEC_AUTO: when the deadline leaves no time for retransmission, in
 * proportion to the observed loss
 * @GST_TLTCP_FEC_OFF: none
 * @GST_TLTCP_FEC_ON: always
 *
 * Selects when repair packets are sent, which replace lost packets without a
 * retransmission.
 */
typedef enum {
    GST_TLTCP_FEC_AUTO = 0,
    GST_TLTCP_FEC_OFF = 1,
    GST_TLTCP_FEC_ON = 2
} GstTltcpFec;

/**
 * GstTltcpTransport:
 * @GST_TLTCP_TRANSPORT_UDP: UDP
 * @GST_TLTCP_TRANSPORT_AUTO: as caller UDP, or TCP if UDP gets no answer; as
 * listener both
 * @GST_TLTCP_TRANSPORT_TCP: TCP
 *
 * Selects what carries the packets. The values are those of `tltcp_transport`.
 */
typedef enum {
    GST_TLTCP_TRANSPORT_UDP = 0,
    GST_TLTCP_TRANSPORT_AUTO = 1,
    GST_TLTCP_TRANSPORT_TCP = 2
} GstTltcpTransport;

/**
 * GstTltcpEncoder:
 * @GST_TLTCP_ENCODER_NONE: leaves encoders alone
 * @GST_TLTCP_ENCODER_AUTO: sets the bit rate of the video encoders upstream and
 * makes them skip pictures that would arrive too late
 *
 * Selects whether a sink steers encoders.
 */
typedef enum {
    GST_TLTCP_ENCODER_NONE = 0,
    GST_TLTCP_ENCODER_AUTO = 1
} GstTltcpEncoder;

GType gst_tltcp_mode_get_type(void);
GType gst_tltcp_deadline_mode_get_type(void);
GType gst_tltcp_drop_policy_get_type(void);
GType gst_tltcp_output_get_type(void);
GType gst_tltcp_delivery_get_type(void);
GType gst_tltcp_fec_get_type(void);
GType gst_tltcp_transport_get_type(void);
GType gst_tltcp_encoder_get_type(void);

#define GST_TYPE_TLTCP_MODE gst_tltcp_mode_get_type()
#define GST_TYPE_TLTCP_DEADLINE_MODE gst_tltcp_deadline_mode_get_type()
#define GST_TYPE_TLTCP_DROP_POLICY gst_tltcp_drop_policy_get_type()
#define GST_TYPE_TLTCP_OUTPUT gst_tltcp_output_get_type()
#define GST_TYPE_TLTCP_DELIVERY gst_tltcp_delivery_get_type()
#define GST_TYPE_TLTCP_FEC gst_tltcp_fec_get_type()
#define GST_TYPE_TLTCP_TRANSPORT gst_tltcp_transport_get_type()
#define GST_TYPE_TLTCP_ENCODER gst_tltcp_encoder_get_type()

/* Makes the enumerations part of the plug-in's documented API. */
void gst_tltcp_enums_register(void);

#endif /* GST_TLTCP_ENUMS_H */
