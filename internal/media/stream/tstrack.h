/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/stream/tstrack.h
 * @brief As stream/reftrack.h, for a stream whose frames are parts of a
 * transport stream: which pictures can be decoded, of each PID, given what
 * arrived.
 *
 * The frames of all PIDs share one count.  The continuity counter, which counts
 * to 16 only, tells which PID lost one; with a single video PID `refs` tells it
 * reliably.
 */
#ifndef MEDIA_TSTRACK_H
#define MEDIA_TSTRACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "internal/media/codec/framing.h"
#include "internal/media/stream/reftrack.h"

/** PIDs that are told apart; pictures of others count as decodable. */
#define MEDIA_TSTRACK_PIDS 32

/** What is known about a PID. */
typedef struct media_tstrack_pid {
    media_reftrack track;
    uint64_t lost_refs; /**< of the whole stream, at its newest picture */
    uint16_t pid;
    uint8_t counter; /**< continuity_counter of its last packet */
    bool pictures;   /**< it carries video */
} media_tstrack_pid;

/** A transport stream.  All zero: nothing has come. */
typedef struct media_tstrack {
    media_tstrack_pid pids[MEDIA_TSTRACK_PIDS];
    unsigned count;     /**< of them in use */
    unsigned videos;    /**< of these, with pictures */
    bool started;       /**< a frame was seen */
    bool recovering;    /**< the newest picture is part of a recovery */
    uint32_t next;      /**< number of the next frame */
    uint32_t refs;      /**< references so far */
    uint64_t lost;      /**< frames that are missing, by their numbers */
    uint64_t lost_refs; /**< of these, pictures that others need */
} media_tstrack;

/**
 * @brief Takes the next frame of the stream.
 * @param t       tracker
 * @param h       header of a FRAME
 * @param data    its payload
 * @param len     bytes at @p data
 * @param intact  all its bytes arrived
 * @return whether it can be decoded right; of what is no picture, whether it is
 * whole
 */
bool media__tstrack_frame(media_tstrack *t, const media_header *h,
                          const uint8_t *data, size_t len, bool intact);

#endif /* MEDIA_TSTRACK_H */
