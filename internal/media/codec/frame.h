/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/codec/frame.h
 * @brief Classifies coded frames: class and picture type, from the few header
 * bits that tell them.
 *
 * MPEG-1, MPEG-2, MPEG-4 part 2, H.264, H.265, VP8, VP9 and AV1.  Reads only
 * start codes, unit headers and the first fields of slice or frame headers.
 * This is less work than a full parser, handles frames that a parser would
 * reject, and is the same code for GStreamer and libavformat.
 */
#ifndef MEDIA_FRAME_H
#define MEDIA_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "internal/media/codec/framing.h"
#include "internal/media/codec/scan.h"

/**
 * @brief Initialises a scanner.
 * @param s           scanner
 * @param codec_name  libavcodec's name such as "h264"; NULL or unknown: frames
 *                    are classified by type and flags
 * @param type        ::media_type
 * @param extradata   avcC, hvcC, parameter sets with start codes, or NULL
 * @param len         bytes at @p extradata
 */
void media__scanner_init(media_scanner *s, const char *codec_name, int type,
                         const void *extradata, size_t len);

/**
 * @brief Classifies an access unit.
 * @param s      scanner; learns from parameter sets
 * @param data   the access unit; any bytes are allowed
 * @param len    bytes at @p data
 * @param flags  flags from the container: ::media_flag KEY, DELTA, HEADER,
 *               DROPPABLE; used only if not known from the bytes
 * @param[out] f the result
 */
void media__scanner_classify(media_scanner *s, const void *data, size_t len,
                             uint32_t flags, media_frame *f);

/**
 * @brief The header flags of a frame.
 * @param f the frame
 * @param flags  flags from the container, ::media_flag; its KEY has lower
 *               priority
 * @return media_header::flags
 */
uint32_t media__frame_flags(const media_frame *f, uint32_t flags);

#endif /* MEDIA_FRAME_H */
