/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/stream/reftrack.h
 * @brief Determines which frames can be decoded from those that arrived.
 *
 * The first half infers references from classes and errs on the safe side: all
 * frames up to the next key frame are assumed to depend on a frame that is
 * neither disposable nor a branch.
 *
 *  - a key frame needs nothing;
 *  - a reference needs every earlier reference back to its key frame;
 *  - a disposable frame or a branch needs the same; if it is displayed before
 *  the key frame that it follows (open GOP), also the references before that
 *  key frame;
 *  - a frame of class OTHER needs nothing, and later frames need nothing before
 *  it;
 *  - after a recovery point, frames are correct again once its count has
 *  passed.
 *
 * The second half uses the dependency stated by each section, which reveals the
 * loss of a branch.
 */
#ifndef MEDIA_REFTRACK_H
#define MEDIA_REFTRACK_H

#include <stdbool.h>
#include <stdint.h>

#include "internal/media/codec/frame.h"
#include "internal/media/codec/framing.h"

/** Reference state of one stream. */
typedef struct media_reftrack {
    bool chain_ok;       /**< all references since the key frame arrived */
    bool before_ok;      /**< chain_ok just before that key frame */
    bool started;        /**< a frame was seen */
    uint32_t recovering; /**< frames until a recovery point is reached; 0:
                              none */
    uint32_t next;       /**< number of the next frame */
    uint32_t refs;       /**< references so far */
    int64_t key_pts;     /**< display time of the last key frame */
    uint64_t lost;       /**< missing frames, by their numbers */
    uint64_t lost_refs;  /**< missing frames that were not disposable */
} media_reftrack;

/** @brief Initialises. @param t  tracker */
void media__reftrack_init(media_reftrack *t);

/**
 * @brief Processes the next frame of a stream in coding order.
 *
 * `number` and `refs` in its header reveal missing frames before it.
 * @param t       tracker
 * @param h       header of a FRAME
 * @param intact  all its bytes arrived
 * @return whether it can be decoded correctly
 */
bool media__reftrack_frame(media_reftrack *t, const media_header *h,
                           bool intact);

/** Number of sections stored. */
#define MEDIA_ARRIVALS 256

/** Decodable sections of a connection. All zero: none arrived. */
typedef struct media_arrivals {
    uint64_t first;                /**< number of the first + 1 */
    uint64_t good[MEDIA_ARRIVALS]; /**< their numbers + 1 */
} media_arrivals;

/**
 * @brief Whether the dependency of a section can be decoded.
 * @param a        earlier sections
 * @param section  its number
 * @param depends  tltcp_meta::depends as received
 * @return false: it is missing or undecodable; true also if that is not known
 */
bool media__arrivals_has_parent(const media_arrivals *a, uint64_t section,
                                uint32_t depends);

/**
 * @brief Records a section.
 * @param a        earlier sections
 * @param section  its number
 * @param good     it can be decoded, or is independent and complete
 */
void media__arrivals_note(media_arrivals *a, uint64_t section, bool good);

#endif /* MEDIA_REFTRACK_H */
