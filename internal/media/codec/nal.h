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

/** One NAL unit, or what follows one start code. */
typedef struct media_nal {
    const uint8_t *data; /**< first byte behind the start code or length */
    size_t len;          /**< bytes at data, at least 1 */
} media_nal;

/** Walks over an access unit. */
typedef struct media_nal_iter {
    const uint8_t *at;   /**< where to go on */
    const uint8_t *end;  /**< behind the last byte */
    unsigned nal_length; /**< bytes of a length; 0: start codes */
} media_nal_iter;

/**
 * @brief Begins a walk.
 * @param it          walk
 * @param data        access unit
 * @param len         bytes at @p data
 * @param nal_length  1 to 4, or 0 for start codes
 */
void media__nal_begin(media_nal_iter *it, const void *data, size_t len,
                      unsigned nal_length);

/**
 * @brief Takes the next NAL unit.  One that is cut short by the end of the data
 * is given as far as it goes.
 * @param it        walk
 * @param[out] nal  the unit
 * @return false at the end
 */
bool media__nal_next(media_nal_iter *it, media_nal *nal);

/** Reads bits, skipping emulation prevention bytes unless they are raw; zeros
 * behind the end. */
typedef struct media_bits {
    const uint8_t *at;  /**< next byte */
    const uint8_t *end; /**< behind the last byte */
    unsigned zeros;     /**< zero bytes just read */
    unsigned have;      /**< bits left in cur */
    uint8_t cur;        /**< byte being read */
    bool raw;           /**< there are no emulation prevention bytes */
    bool bad;           /**< something read lay behind the end */
} media_bits;

/**
 * @brief Begins reading.
 * @param b     reader
 * @param nal   NAL unit
 * @param skip  bytes of its header
 */
void media__bits_begin(media_bits *b, const media_nal *nal, size_t skip);

/**
 * @brief Begins reading bytes that have no emulation prevention.
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
 * @brief Reads ue(v) that cannot be larger than a bound; else the reader is
 * bad.
 * @param b     reader
 * @param most  bound
 * @return its value, or @p most
 */
uint32_t media__bits_upto(media_bits *b, uint32_t most);

#endif /* MEDIA_NAL_H */
