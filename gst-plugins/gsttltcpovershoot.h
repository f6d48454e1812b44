/* SPDX-License-Identifier: MPL-2.0 */
/* Learns by how much an encoder exceeds its bit rate.
 *
 * Some encoders restart their rate control whenever the bit rate changes:
 * x265enc makes twice as much where that happens eight times a second. Others
 * have none for short times. */
#ifndef GST_TLTCP_OVERSHOOT_H
#define GST_TLTCP_OVERSHOOT_H

#include <gst/gst.h>

/* What was made and what was asked for in the last seconds. */
typedef struct {
    guint64 bps;    /* asked for; 0: not yet */
    gdouble made;   /* bits */
    gdouble asked;  /* bits */
    gdouble passed; /* seconds */
} GstTltcpOvershoot;

/* Adds a coded picture that comes `passed` after the one before. */
void gst_tltcp_overshoot_add(GstTltcpOvershoot *overshoot, gsize bytes,
                             GstClockTime passed);

/* The bit rate to ask for so that about `bps` is made. */
guint64 gst_tltcp_overshoot_correct(const GstTltcpOvershoot *overshoot,
                                    guint64 bps);

/* Makes an encoder count what it makes. Does nothing when called again. */
void gst_tltcp_overshoot_watch(GstElement *encoder);

/* Likewise for an encoder that is watched. */
guint64 gst_tltcp_overshoot_correct_encoder(GstElement *encoder, guint64 bps);

/* Records the bit rate that an encoder got, in bit/s. */
void gst_tltcp_overshoot_asked(GstElement *encoder, guint64 bps);

#endif /* GST_TLTCP_OVERSHOOT_H */
