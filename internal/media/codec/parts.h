/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/codec/parts.h
 * @brief Frames that come in parts: RTP packets, or NAL units alone.
 *
 * The first slice of a frame tells what the frame is; the other parts continue
 * it.
 */
#ifndef MEDIA_PARTS_H
#define MEDIA_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "internal/media/codec/scan.h"

/** @brief Another frame begins with the next part. @param p  parts */
void media__parts_begin(media_parts *p);

/**
 * @brief What a part is, as one of its frame.
 * @param p      the frame at hand
 * @param found  its bytes said what it is
 * @param slice  it is of a slice, whether its bytes said more or not
 * @param f      what they said; becomes what the part is
 * @return false: nothing is known
 */
bool media__parts_conclude(media_parts *p, bool found, bool slice,
                           media_frame *f);

/**
 * @brief Classifies a NAL unit of H.264 or H.265.  What stands before the first
 * slice of a frame is of class HEADER.
 * @param s      scanner of the codec, of ::MEDIA_FORM_UNITS
 * @param data   the unit, or several, behind start codes or lengths
 * @param len    bytes at @p data
 * @param[out] f what was found, zeroed before
 * @return true
 */
bool media__units_classify(media_scanner *s, const void *data, size_t len,
                           media_frame *f);

#endif /* MEDIA_PARTS_H */
