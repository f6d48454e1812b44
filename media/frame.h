/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file media/frame.h
 * @brief What a coded frame is: its class and its picture type, from the few
 * header bits that say so.
 *
 * MPEG-1, MPEG-2, MPEG-4 part 2, H.264 and H.265.  Only start codes, NAL unit
 * headers and the first fields of slice headers are read; that is less than a
 * parser would do, works on frames that a parser would refuse, and is the same
 * code for GStreamer and libavformat.
 */
#ifndef MEDIA_FRAME_H
#define MEDIA_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "media/framing.h"

/** Codecs that the scanner knows. */
enum media_codec {
    MEDIA_CODEC_UNKNOWN = 0, /**< class by type and flags alone */
    MEDIA_CODEC_MPEG12 = 1,  /**< MPEG-1 and MPEG-2 video */
    MEDIA_CODEC_MPEG4 = 2,   /**< MPEG-4 part 2 */
    MEDIA_CODEC_H264 = 3,    /**< H.264 */
    MEDIA_CODEC_H265 = 4     /**< H.265 */
};

/** What is known about a frame. */
typedef struct media_frame {
    uint8_t frame_class;   /**< ::media_class */
    uint8_t picture;       /**< ::media_picture */
    uint8_t temporal_id;   /**< H.265: temporal layer */
    bool key;              /**< decoding can begin here */
    bool recovery;         /**< recovery point: right some frames later */
    bool leading;          /**< H.265: shown before the key frame it follows */
    bool broken_link;      /**< MPEG, H.264: frames shown before it are bad */
    bool closed_gop;       /**< IDR, or MPEG closed GOP */
    uint32_t recovery_cnt; /**< frames until right after a recovery point */
    int32_t tsn;           /**< MPEG-1/2: temporal_reference; -1: none */
} media_frame;

/** A stream as the scanner sees it.  Plain memory: copy it as you like. */
typedef struct media_scanner {
    uint8_t codec;          /**< ::media_codec */
    uint8_t type;           /**< ::media_type */
    uint8_t nal_length;     /**< bytes before each NAL unit; 0: start codes */
    uint8_t max_tid;        /**< highest H.265 temporal layer so far */
    uint8_t extra_bits[64]; /**< H.265: num_extra_slice_header_bits by PPS */
} media_scanner;

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
 *               DROPPABLE; believed only where the bytes do not say
 * @param[out] f what was found
 */
void media__scanner_classify(media_scanner *s, const void *data, size_t len,
                             uint32_t flags, media_frame *f);

#endif /* MEDIA_FRAME_H */
