/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/codec/h26x.h
 * @brief The codecs based on NAL units, for codec/frame.h.
 */
#ifndef MEDIA_H26X_H
#define MEDIA_H26X_H

#include <stddef.h>

#include "internal/media/codec/nal.h"
#include "internal/media/codec/scan.h"

/**
 * @brief Reads avcC or hvcC: length of lengths, parameter sets.
 * @param s      scanner with its codec set
 * @param data   extradata
 * @param len    bytes at @p data
 */
void media__h26x_extradata(media_scanner *s, const uint8_t *data, size_t len);

/**
 * @brief Classifies an H.264 access unit.
 * @param s     scanner
 * @param data  access unit
 * @param len   bytes at @p data
 * @param f     filled in as far as known from the bytes
 * @return whether there was a picture or a header
 */
bool media__h264_classify(media_scanner *s, const void *data, size_t len,
                          media_frame *f);

/**
 * @brief Classifies an H.265 access unit; as media__h264_classify().
 * @param s     scanner
 * @param data  access unit
 * @param len   bytes at @p data
 * @param f     filled in as far as known from the bytes
 * @return whether there was a picture or a header
 */
bool media__h265_classify(media_scanner *s, const void *data, size_t len,
                          media_frame *f);

/**
 * @brief Searches for a recovery point in the messages of an SEI NAL unit.
 * @param nal     the unit
 * @param header  bytes of its header: 1 for H.264, 2 for H.265
 * @param f       `recovery`, `recovery_cnt` and `broken_link` are set
 */
void media__sei_read(const media_nal *nal, size_t header, media_frame *f);

#endif /* MEDIA_H26X_H */
