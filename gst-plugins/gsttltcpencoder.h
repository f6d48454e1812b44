/* SPDX-License-Identifier: MPL-2.0 */
/* Steers the encoders upstream of a sink: finds them and sets their bit rates
 * as the connection's target changes. */
#ifndef GST_TLTCP_ENCODER_H
#define GST_TLTCP_ENCODER_H

#include <gst/gst.h>

/* How the bit rate of an encoder is set. */
typedef struct {
    const gchar *factory;  /* its name; may contain '*' */
    const gchar *property; /* or the structure that contains the field */
    const gchar *field;    /* NULL: the property is the bit rate itself */
    guint unit;            /* of the value, bit/s */
} GstTltcpEncoderKind;

typedef struct {
    guint64 min; /* bit/s of all video; 0: none */
    guint64 max; /* bit/s of all video; 0: the encoders' initial bit rates */
} GstTltcpEncoderLimits;

/* Used by one thread. */
typedef struct {
    guint64 video;     /* bit rate last set, bit/s; 0: none yet */
    gint64 applied_at; /* monotonic us */
    guint64 target;    /* at the last poll */
    gint64 polled_at;
} GstTltcpEncoderState;

/* NULL: not in the table. */
const GstTltcpEncoderKind *gst_tltcp_encoder_kind(const gchar *factory);

/* In the encoder's unit, at least 1: some encoders take 0 as "automatic".
 */
gint64 gst_tltcp_encoder_value(const GstTltcpEncoderKind *kind, guint64 bps);

/* The part of a target that remains for video, within the limits. `initial`:
 * sum of the initial bit rates of the video encoders, bit/s; 0: not known. */
guint64 gst_tltcp_encoder_budget(guint64 target, guint64 audio, guint64 initial,
                                 const GstTltcpEncoderLimits *limits);

/* The share of one encoder, in proportion to its initial bit rate. */
guint64 gst_tltcp_encoder_share(guint64 video, guint64 own, guint64 all);

/* Records the bit rate that a sink requests of an encoder. Returns the lowest
 * rate that the sinks sharing the encoder request: with a higher one, one of
 * them would get more than its path carries. Old requests no longer count. */
guint64 gst_tltcp_encoder_agree(GstElement *element, gconstpointer sink,
                                guint64 bps, gint64 now_us);

/* Whether a change should be applied now. */
gboolean gst_tltcp_encoder_due(const GstTltcpEncoderState *state, guint64 video,
                               gint64 now_us);

/* Sets the bit rates of the video encoders upstream of these pads, if due. No
 * lock may be held. `pads`: GstPad, sink pads. */
void gst_tltcp_encoder_steer(GstTltcpEncoderState *state, GPtrArray *pads,
                             guint64 target,
                             const GstTltcpEncoderLimits *limits);

/* Whether there may be a change to apply; cheap. */
gboolean gst_tltcp_encoder_may_look(const GstTltcpEncoderState *state,
                                    guint64 target);

#endif /* GST_TLTCP_ENCODER_H */
