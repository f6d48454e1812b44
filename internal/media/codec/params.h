/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/codec/params.h
 * @brief Parameter sets and sequence headers found in a stream, kept for
 * receivers that join later: some encoders send them only once.
 *
 * For H.264, H.265, MPEG-1, MPEG-2 and MPEG-4 part 2 with start codes; where
 * NAL units have lengths, codec data has the sets.
 */
#ifndef MEDIA_PARAMS_H
#define MEDIA_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "internal/media/codec/scan.h"

/** Longest that are kept. */
#define MEDIA_PARAMS_MAX 4096

/** The newest ones of a stream.  All zero: none. */
typedef struct media_params {
    size_t len;                     /**< bytes at data */
    bool old;                       /**< a picture came behind them */
    bool too_long;                  /**< there were more than are kept */
    uint8_t data[MEDIA_PARAMS_MAX]; /**< with start codes */
} media_params;

/**
 * @brief Looks for them in a frame.
 * @param p     what is known; changes when there are new ones
 * @param s     scanner of the stream
 * @param data  the frame
 * @param len   bytes at @p data
 * @return whether decoding could begin with this frame as it is: it has a
 * sequence parameter set or sequence header, or the codec has none
 */
bool media__params_take(media_params *p, const media_scanner *s,
                        const void *data, size_t len);

/**
 * @brief Where in a frame without them they belong.
 * @param s     scanner of the stream
 * @param data  the frame
 * @param len   bytes at @p data
 * @return bytes before them: an access unit delimiter stays first
 */
size_t media__params_place(const media_scanner *s, const void *data,
                           size_t len);

#endif /* MEDIA_PARAMS_H */
