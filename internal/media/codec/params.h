/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/codec/params.h
 * @brief Stores parameter sets and sequence headers of a stream for receivers
 * that join later: some encoders send them only once.
 *
 * For H.264, H.265, MPEG-1, MPEG-2 and MPEG-4 part 2 with start codes. With NAL
 * unit lengths, the codec data has the sets.
 */
#ifndef MEDIA_PARAMS_H
#define MEDIA_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "internal/media/codec/scan.h"

/** Maximum length of stored headers. */
#define MEDIA_PARAMS_MAX 4096

/** The newest headers of a stream. All zero: none. */
typedef struct media_params {
    size_t len;                     /**< bytes at data */
    bool old;                       /**< a picture followed them */
    bool too_long;                  /**< the headers exceeded the limit */
    uint8_t data[MEDIA_PARAMS_MAX]; /**< with start codes */
} media_params;

/**
 * @brief Searches for headers in a frame.
 * @param p     stored headers; updated if there are new ones
 * @param s     scanner of the stream
 * @param data  the frame
 * @param len   bytes at @p data
 * @return whether decoding can begin with this frame alone: it has a sequence
 * parameter set or sequence header, or the codec has none
 */
bool media__params_take(media_params *p, const media_scanner *s,
                        const void *data, size_t len);

/**
 * @brief Where to insert headers into a frame without them.
 * @param s     scanner of the stream
 * @param data  the frame
 * @param len   bytes at @p data
 * @return offset in the frame: an access unit delimiter stays first
 */
size_t media__params_place(const media_scanner *s, const void *data,
                           size_t len);

#endif /* MEDIA_PARAMS_H */
