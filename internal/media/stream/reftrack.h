/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/stream/reftrack.h
 * @brief Which frames can be decoded, given which ones arrived.
 *
 * The first half infers references from classes, so it errs on the side of
 * "not": a frame that is neither disposable nor a branch is taken to be needed
 * by all that follow it up to the next key frame.
 *
 *  - a key frame needs nothing;
 *  - a reference needs every earlier reference back to its key frame;
 *  - a disposable frame or a branch needs the same; when it is shown before the
 * key frame that it follows (open GOP), the references before that key frame
 * too;
 *  - a frame of class OTHER needs nothing, and nothing before it matters to
 * those behind it;
 *  - after a recovery point frames are right again once its count has passed.
 *
 * The second half knows what each section says that it refers to, which is how
 * the loss of a branch is seen.
 */
#ifndef MEDIA_REFTRACK_H
#define MEDIA_REFTRACK_H

#include <stdbool.h>
#include <stdint.h>

#include "internal/media/codec/frame.h"
#include "internal/media/codec/framing.h"

/** Reference state of one stream. */
typedef struct media_reftrack {
    bool chain_ok;       /**< all references since the key frame are there */
    bool before_ok;      /**< so they were just before that key frame */
    bool started;        /**< a frame was seen */
    uint32_t recovering; /**< frames until a recovery point holds; 0: none */
    uint32_t next;       /**< number of the next frame */
    uint32_t refs;       /**< references so far */
    int64_t key_pts;     /**< display time of the last key frame */
    uint64_t lost;       /**< frames that are missing, by their numbers */
    uint64_t lost_refs;  /**< of these, not disposable */
} media_reftrack;

/** @brief Forgets everything. @param t  tracker */
void media__reftrack_init(media_reftrack *t);

/**
 * @brief Takes the next frame of a stream in coding order.
 *
 * Missing frames before it are found by `number` and `refs` of its header.
 * @param t       tracker
 * @param h       header of a FRAME
 * @param intact  all its bytes arrived
 * @return whether it can be decoded right
 */
bool media__reftrack_frame(media_reftrack *t, const media_header *h,
                           bool intact);

/** Sections that are remembered. */
#define MEDIA_ARRIVALS 256

/** Which sections of a connection can be decoded.  All zero: none came. */
typedef struct media_arrivals {
    uint64_t first;                /**< number of the first + 1 */
    uint64_t good[MEDIA_ARRIVALS]; /**< their numbers + 1 */
} media_arrivals;

/**
 * @brief Whether what a section refers to can be decoded.
 * @param a        sections before it
 * @param section  its number
 * @param depends  tltcp_meta::depends as it came
 * @return false: it is missing, or misses another itself; true also when that
 * is not known
 */
bool media__arrivals_has_parent(const media_arrivals *a, uint64_t section,
                                uint32_t depends);

/**
 * @brief Takes note of a section.
 * @param a        sections before it
 * @param section  its number
 * @param good     it can be decoded, or stands alone and is whole
 */
void media__arrivals_note(media_arrivals *a, uint64_t section, bool good);

#endif /* MEDIA_REFTRACK_H */
