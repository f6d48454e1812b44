/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/stream/gate.h
 * @brief Decides which frames are useful to a receiver that lacks some: one
 * that joined in the middle of a stream, or after a dropped frame.
 */
#ifndef MEDIA_GATE_H
#define MEDIA_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "internal/media/stream/timed_frame.h"

/** Number of dropped frames remembered. */
#define MEDIA_GATE_MISSING 16

/** A stream to one connection. All zero: nothing is missing. */
typedef struct media_gate {
    int64_t wait_until; /**< waits until then for a frame where decoding can
                             begin; 0: does not wait */
    uint8_t layer;      /**< temporal layer from which pictures wait */
    bool cut;           /**< the newest picture, which may have more parts, is
                             dropped */
    struct {
        bool known;
        uint32_t number;           /**< its media_timed_frame::number */
        uint32_t ordinal;          /**< its media_frame::ordinal */
    } missing[MEDIA_GATE_MISSING]; /**< dropped frames, in a ring */
    unsigned next;                 /**< index in missing to write next */
} media_gate;

/**
 * @brief Joins in the middle of a stream: waits for a frame where decoding can
 * begin, for a limited time. Some streams have none.
 * @param g    gate
 * @param now  current time
 */
void media__gate_join(media_gate *g, int64_t now);

/**
 * @brief Whether a frame is useful.
 * @param g      gate
 * @param timed  the next frame of the stream
 * @return false: do not send it or its dependents
 */
bool media__gate_takes(media_gate *g, const media_timed_frame *timed);

/**
 * @brief Drops a frame after it was accepted: its dependents are useless, too.
 * @param g     gate
 * @param timed  the newest frame of the stream
 */
void media__gate_leave_out(media_gate *g, const media_timed_frame *timed);

#endif /* MEDIA_GATE_H */
