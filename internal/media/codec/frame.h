/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/codec/frame.h
 * @brief What a coded frame is: its class and its picture type, from the few
 * header bits that say so.
 *
 * MPEG-1, MPEG-2, MPEG-4 part 2, H.264, H.265, VP8, VP9 and AV1.  Only start
 * codes, unit headers and the first fields of slice or frame headers are read;
 * that is less than a parser would do, works on frames that a parser would
 * refuse, and is the same code for GStreamer and libavformat.
 */
#ifndef MEDIA_FRAME_H
#define MEDIA_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "internal/media/codec/framing.h"
#include "internal/media/codec/scan.h"

/**
 * @brief Sets up a scanner.
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
 * @param s      scanner; learns parameter sets as they pass
 * @param data   the access unit; anything at all is allowed
 * @param len    bytes at @p data
 * @param flags  what the container says: ::media_flag KEY, DELTA, HEADER,
 *               DROPPABLE; used only where the bytes do not tell
 * @param[out] f what was found
 */
void media__scanner_classify(media_scanner *s, const void *data, size_t len,
                             uint32_t flags, media_frame *f);

/**
 * @brief What the header of a frame says of it.
 * @param f      what was found
 * @param flags  what the container says, ::media_flag; its KEY gives way
 * @return media_header::flags
 */
uint32_t media__frame_flags(const media_frame *f, uint32_t flags);

#endif /* MEDIA_FRAME_H */
