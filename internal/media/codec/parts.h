/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/codec/parts.h
 * @brief Frames that arrive in parts: RTP packets, or single NAL units.
 *
 * The first slice of a frame determines its class; the other parts continue it.
 */
#ifndef MEDIA_PARTS_H
#define MEDIA_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "internal/media/codec/scan.h"

/** @brief Another frame begins with the next part. @param p  parts */
void media__parts_begin(media_parts *p);

/**
 * @brief Classifies a part within its frame.
 * @param p      state of the current frame
 * @param found  it was classified by its bytes
 * @param slice  it belongs to a slice, classified or not
 * @param f      in: result from the bytes, out: the part
 * @return false: unknown
 */
bool media__parts_conclude(media_parts *p, bool found, bool slice,
                           media_frame *f);

/**
 * @brief Classifies a NAL unit of H.264 or H.265. Units before the first slice
 * of a frame are of class HEADER.
 * @param s      scanner of the codec, with ::MEDIA_FORM_UNITS
 * @param data   one or several units, with start codes or lengths
 * @param len    bytes at @p data
 * @param[out] f result; zeroed by the caller
 * @return true
 */
bool media__units_classify(media_scanner *s, const void *data, size_t len,
                           media_frame *f);

#endif /* MEDIA_PARTS_H */
