/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/codec/refs.h
 * @brief Which pictures of a stream refer to which, from what the headers of
 * H.264 and H.265 say.
 *
 * A picture may refer to many; a section names one.  It names the newest one if
 * all others can be reached from there, picture by picture, as in any
 * hierarchical GOP.  Otherwise it names none.
 */
#ifndef MEDIA_REFS_H
#define MEDIA_REFS_H

#include <stdbool.h>
#include <stdint.h>

#include "internal/media/codec/scan.h"

/** Most pictures that one can refer to. */
#define MEDIA_REFS_MAX 32

/** One picture, as its headers describe it. */
typedef struct media_refs_picture {
    int32_t order;               /**< its picture order count */
    bool key;                    /**< decoding can begin here */
    bool reference;              /**< others may refer to it */
    bool known;                  /**< `to` is all that it may refer to */
    uint8_t count;               /**< numbers in `to` */
    uint32_t to[MEDIA_REFS_MAX]; /**< media_frame::ordinal of each */
} media_refs_picture;

/**
 * @brief Nothing that follows refers to what was before.
 * @param r  pictures
 */
void media__refs_restart(media_refs *r);

/**
 * @brief The picture order count of which a header has the lowest bits.
 * @param base  of a picture before it, which it is near to
 * @param bits  how many there are, at most 16
 * @param low   their value
 * @return what has these bits and is nearest
 */
int32_t media__refs_order(int32_t base, unsigned bits, int32_t low);

/**
 * @brief Looks for a picture.
 * @param r      pictures
 * @param order  its picture order count
 * @return its media_frame::ordinal, 0: there is none any more
 */
uint32_t media__refs_find(const media_refs *r, int32_t order);

/**
 * @brief Takes the next picture in coding order.
 * @param r  pictures
 * @param p  the picture
 * @param f  its class and layer; gets `ordinal`, `parent` and `branch`
 */
void media__refs_add(media_refs *r, const media_refs_picture *p,
                     media_frame *f);

#endif /* MEDIA_REFS_H */
