/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/stream/gate.h
 * @brief Which frames of a stream are of use to who has not got them all:
 * from the middle of a stream on, and after a frame was left out.
 */
#ifndef MEDIA_GATE_H
#define MEDIA_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "internal/media/stream/timed_frame.h"

/** How many frames that were left out are remembered. */
#define MEDIA_GATE_MISSING 16

/** A stream on its way to one connection.  All zero: nothing is missing. */
typedef struct media_gate {
    int64_t wait_until; /**< for a frame where decoding can begin; 0: not */
    uint8_t layer;      /**< temporal layer from which on pictures wait */
    bool cut;           /**< the newest picture, of which parts may follow, is
                             left out */
    struct {
        bool known;
        uint32_t number;           /**< its media_timed_frame::number */
        uint32_t ordinal;          /**< its media_frame::ordinal */
    } missing[MEDIA_GATE_MISSING]; /**< left out, in turn */
    unsigned next;                 /**< of missing, to be written */
} media_gate;

/**
 * @brief Nothing of the stream was sent, and it is in its middle: waits for a
 * frame where decoding can begin, for a while.  Some streams have none.
 * @param g    gate
 * @param now  current time
 */
void media__gate_join(media_gate *g, int64_t now);

/**
 * @brief Whether a frame is of use.
 * @param g     gate
 * @param timed  the next frame of the stream
 * @return false: it is not to be sent, nor is what refers to it
 */
bool media__gate_takes(media_gate *g, const media_timed_frame *timed);

/**
 * @brief A frame that was taken does not go after all: nor is what refers to it
 * of use.
 * @param g     gate
 * @param timed  the newest frame of the stream
 */
void media__gate_leave_out(media_gate *g, const media_timed_frame *timed);

#endif /* MEDIA_GATE_H */
