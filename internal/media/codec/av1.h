/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/codec/av1.h
 * @brief AV1 parser for codec/frame.h.
 */
#ifndef MEDIA_AV1_H
#define MEDIA_AV1_H

#include <stddef.h>

#include "internal/media/codec/scan.h"

/**
 * @brief Reads the sequence header in av1C or OBUs.
 * @param s     scanner with its codec set
 * @param data  extradata
 * @param len   bytes at @p data
 */
void media__av1_extradata(media_scanner *s, const uint8_t *data, size_t len);

/**
 * @brief Classifies a temporal unit, or a part of one, made of OBUs with size
 * fields (not annex B). Its class is that of its most important frame.
 * @param s     scanner; learns from sequence headers
 * @param data  temporal unit
 * @param len   bytes at @p data
 * @param f     filled in as far as known from the bytes
 * @return whether there was a frame or a sequence header
 */
bool media__av1_classify(media_scanner *s, const void *data, size_t len,
                         media_frame *f);

#endif /* MEDIA_AV1_H */
