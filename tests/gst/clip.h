/* SPDX-License-Identifier: MPL-2.0 */
/* A short film as an encoder outputs it, the framer's classification of each
 * frame, and a decoder's output for some of them. */
#ifndef TESTS_GST_CLIP_H
#define TESTS_GST_CLIP_H

#include <gst/gst.h>

#include "internal/media/codec/frame.h"

#define CLIP_FRAMES 60
#define CLIP_FRAME_NS (40 * GST_MSECOND)
/* After an encoder: cuts its buffers into NAL units.  h264parse in GStreamer
 * 1.22 loses the first ones when it does that. */
#define CLIP_CUT "identity name=cut"

struct clip {
    gboolean cut; /* into NAL units */
    GstCaps *caps;
    GPtrArray *buffers; /* GstBuffer */
    media_frame *frames;
    gint64 *display;
    GBytes **begins;  /* replacement for a connection that begins with it; NULL:
                         the buffer */
    guint *refers_to; /* 1 + the frame it refers to; 0: to none */
    gboolean *dead;   /* set while one of them counts as lost */
};

/* Runs an encoder.  What stands behind @ reads what that before it wrote into a
 * file.  Skips the test where an element is missing. */
void clip_encode(struct clip *clip, const char *encoder);

/* Classifies each frame by the framer. */
void clip_classify(struct clip *clip);

/* Gives the framer the beginnings of the first frames, cut at many points;
 * returns the class of the first frame when it comes whole behind them. */
guint clip_cut_short(const struct clip *clip);

/* The references of each frame, as passed to the connection. */
void clip_refer(struct clip *clip);

void clip_clear(struct clip *clip);

typedef gboolean (*clip_filter)(const struct clip *clip, guint i, guint arg);

/* Checksums of the pictures of the frames that keep() selects. */
GPtrArray *clip_decode(const struct clip *clip, const char *decoder,
                       clip_filter keep, guint arg);

/* Number of entries of `part` that are, in order, in `whole`. */
guint clip_matches(GPtrArray *whole, GPtrArray *part);

#endif /* TESTS_GST_CLIP_H */
