/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/codec/vpx.h
 * @brief VP8 and VP9, for codec/frame.h.
 */
#ifndef MEDIA_VPX_H
#define MEDIA_VPX_H

#include <stddef.h>

#include "internal/media/codec/framing.h"
#include "internal/media/codec/scan.h"

/**
 * @brief Classifies a VP8 frame.
 *
 * A frame is disposable if it leaves the decoder's state unchanged: it stores
 * no reference, no probabilities, no segment map and no filter levels.
 * @param data  frame
 * @param len   bytes at @p data
 * @param f     filled in as far as known from the bytes
 * @return whether it is a VP8 frame
 */
bool media__vp8_classify(const void *data, size_t len, media_frame *f);

/**
 * @brief Classifies a VP9 frame or superframe; a superframe has the class of
 * its most important frame.
 * @param data  frame
 * @param len   bytes at @p data
 * @param f     filled in as far as known from the bytes
 * @return whether it is a VP9 frame
 */
bool media__vp9_classify(const void *data, size_t len, media_frame *f);

/**
 * @brief Sets class and picture type of a frame that is intra-coded or
 * predicted from earlier frames.
 * @param f       frame
 * @param key     decoding can begin here
 * @param intra   it is not predicted from other frames
 * @param stored  other frames may depend on it
 */
static inline void media__set_predicted(media_frame *f, bool key, bool intra,
                                        bool stored) {
    f->key = f->closed_gop = key;
    f->picture = key || intra ? MEDIA_PICTURE_I : MEDIA_PICTURE_P;
    f->frame_class = key      ? MEDIA_CLASS_KEY
                     : stored ? MEDIA_CLASS_REFERENCE
                              : MEDIA_CLASS_DISPOSABLE;
}

#endif /* MEDIA_VPX_H */
