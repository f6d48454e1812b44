/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/codec/nal.h
 * @brief NAL units and start codes of an access unit, and the bits in them.
 */
#ifndef MEDIA_NAL_H
#define MEDIA_NAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A NAL unit, or the data after a start code. */
typedef struct media_nal {
    const uint8_t *data; /**< first byte after the start code or length */
    size_t len;          /**< bytes at data, at least 1 */
} media_nal;

/** Iterator over an access unit. */
typedef struct media_nal_iter {
    const uint8_t *at;   /**< current position */
    const uint8_t *end;  /**< end of the data */
    unsigned nal_length; /**< bytes of a length; 0: start codes */
} media_nal_iter;

/**
 * @brief Begins an iteration.
 * @param it          iterator
 * @param data        access unit
 * @param len         bytes at @p data
 * @param nal_length  1 to 4, or 0 for start codes
 */
void media__nal_begin(media_nal_iter *it, const void *data, size_t len,
                      unsigned nal_length);

/**
 * @brief Returns the next NAL unit. A truncated one is returned as far as it
 * goes.
 * @param it        iterator
 * @param[out] nal  the unit
 * @return false at the end
 */
bool media__nal_next(media_nal_iter *it, media_nal *nal);

/** Reads bits, skipping emulation prevention bytes unless raw; zeros after the
 * end. */
typedef struct media_bits {
    const uint8_t *at;  /**< next byte */
    const uint8_t *end; /**< end of the data */
    unsigned zeros;     /**< zero bytes just read */
    unsigned have;      /**< bits left in cur */
    uint8_t cur;        /**< byte being read */
    bool raw;           /**< no emulation prevention bytes */
    bool bad;           /**< a read went past the end */
} media_bits;

/**
 * @brief Begins reading.
 * @param b     reader
 * @param nal   NAL unit
 * @param skip  bytes of its header
 */
void media__bits_begin(media_bits *b, const media_nal *nal, size_t skip);

/**
 * @brief Begins reading bytes without emulation prevention.
 * @param b     reader
 * @param data  first byte
 * @param len   bytes at @p data
 */
void media__bits_begin_raw(media_bits *b, const uint8_t *data, size_t len);

/** @brief Reads bits. @param b reader @param n 0 to 32 @return their value */
uint32_t media__bits_get(media_bits *b, unsigned n);

/** @brief Reads ue(v) of H.264. @param b reader @return its value */
uint32_t media__bits_ue(media_bits *b);

/** @brief Reads se(v) of H.264. @param b reader @return its value */
int32_t media__bits_se(media_bits *b);

/**
 * @brief Reads ue(v) with an upper limit; if it is exceeded, the reader is bad.
 * @param b     reader
 * @param most limit
 * @return its value, or @p most
 */
uint32_t media__bits_upto(media_bits *b, uint32_t most);

#endif /* MEDIA_NAL_H */
