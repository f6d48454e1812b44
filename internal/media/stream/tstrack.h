/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/stream/tstrack.h
 * @brief As stream/reftrack.h, for the frames of a transport stream: determines
 * per PID which pictures can be decoded.
 *
 * The frames of all PIDs share one count. The continuity counter, modulo 16,
 * tells which PID lost one; with a single video PID, `refs` is reliable.
 */
#ifndef MEDIA_TSTRACK_H
#define MEDIA_TSTRACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "internal/media/codec/framing.h"
#include "internal/media/stream/reftrack.h"

/** Number of PIDs tracked; pictures of others count as decodable. */
#define MEDIA_TSTRACK_PIDS 32

/** State of a PID. */
typedef struct media_tstrack_pid {
    media_reftrack track;
    uint64_t lost_refs; /**< lost_refs of the whole stream at its newest
                             picture */
    uint16_t pid;
    uint8_t counter; /**< continuity_counter of its last packet */
    bool pictures;   /**< it carries video */
} media_tstrack_pid;

/** A transport stream. All zero: nothing arrived. */
typedef struct media_tstrack {
    media_tstrack_pid pids[MEDIA_TSTRACK_PIDS];
    unsigned count;     /**< PIDs in use */
    unsigned videos;    /**< PIDs with pictures */
    bool started;       /**< a frame was seen */
    bool recovering;    /**< the newest picture is part of a recovery */
    uint32_t next;      /**< number of the next frame */
    uint32_t refs;      /**< references so far */
    uint64_t lost;      /**< missing frames, by their numbers */
    uint64_t lost_refs; /**< missing reference pictures */
} media_tstrack;

/**
 * @brief Processes the next frame of the stream.
 * @param t       tracker
 * @param h       header of a FRAME
 * @param data    its payload
 * @param len     bytes at @p data
 * @param intact  all its bytes arrived
 * @return whether it can be decoded correctly; for other frames, whether it is
 * complete
 */
bool media__tstrack_frame(media_tstrack *t, const media_header *h,
                          const uint8_t *data, size_t len, bool intact);

#endif /* MEDIA_TSTRACK_H */
