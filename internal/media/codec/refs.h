/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/codec/refs.h
 * @brief References between the pictures of a stream, from the headers of H.264
 * and H.265.
 *
 * A picture may have many references, but a section names only one. It names
 * the newest one if all others can be reached from there, picture by picture,
 * as in any hierarchical GOP. Otherwise it names none.
 */
#ifndef MEDIA_REFS_H
#define MEDIA_REFS_H

#include <stdbool.h>
#include <stdint.h>

#include "internal/media/codec/scan.h"

/** Maximum number of references of a picture. */
#define MEDIA_REFS_MAX 32

/** A picture as described by its headers. */
typedef struct media_refs_picture {
    int32_t order;               /**< its picture order count */
    bool key;                    /**< decoding can begin here */
    bool reference;              /**< it may be referenced */
    bool known;                  /**< `to` holds all possible references */
    uint8_t count;               /**< numbers in `to` */
    uint32_t to[MEDIA_REFS_MAX]; /**< media_frame::ordinal of each */
} media_refs_picture;

/**
 * @brief Later pictures do not refer to earlier ones.
 * @param r  pictures
 */
void media__refs_restart(media_refs *r);

/**
 * @brief Reconstructs a picture order count from its lowest bits.
 * @param base  order count of a nearby earlier picture
 * @param bits  number of bits, at most 16
 * @param low   their value
 * @return the nearest count with these bits
 */
int32_t media__refs_order(int32_t base, unsigned bits, int32_t low);

/**
 * @brief Finds a picture.
 * @param r      pictures
 * @param order  its picture order count
 * @return its media_frame::ordinal; 0: no longer stored
 */
uint32_t media__refs_find(const media_refs *r, int32_t order);

/**
 * @brief Adds the next picture in coding order.
 * @param r  pictures
 * @param p  the picture
 * @param f  frame with its class and layer; `ordinal`, `parent` and `branch`
 *           are set
 */
void media__refs_add(media_refs *r, const media_refs_picture *p,
                     media_frame *f);

#endif /* MEDIA_REFS_H */
