/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/stream/chain.h
 * @brief Dependencies of the frames of an elementary stream, for
 * tltcp_meta::depends.
 */
#ifndef MEDIA_CHAIN_H
#define MEDIA_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "internal/media/stream/timed_frame.h"

/** Number of temporal layers distinguished. */
#define MEDIA_LAYERS 8
/** How far back media_timed_frame::depends may reach. */
#define MEDIA_CHAIN_RECENT 64

/** A stream on one connection. All zero: nothing was sent. Section numbers
 * count from 0 and are stored plus 1. */
typedef struct media_chain {
    uint64_t references[MEDIA_LAYERS]; /**< newest by temporal layer, since the
                                            newest key frame */
    uint64_t key;                      /**< newest key frame */
    uint64_t last;                     /**< newest picture of any class */
    uint64_t before_key;               /**< newest reference before the key
                                            frame */
    uint64_t leading; /**< newest reference displayed before the key frame */
    int64_t key_due;  /**< when the key frame is due */
    bool key_closed;  /**< no later frame depends on one before it */
    uint64_t
        recent[MEDIA_CHAIN_RECENT]; /**< by their media_timed_frame::number */
    uint32_t numbers[MEDIA_CHAIN_RECENT]; /**< numbers of these frames */
    struct {
        uint64_t section;           /**< newest section with a part of it */
        uint32_t ordinal;           /**< its media_frame::ordinal */
        uint8_t stream;             /**< its media_timed_frame::stream */
    } pictures[MEDIA_CHAIN_RECENT]; /**< by their ordinals */
} media_chain;

/**
 * @brief Adds a frame and finds its dependency.
 * @param c        chain
 * @param timed     the frame, which is sent now
 * @param section  its number on the connection
 * @return value for tltcp_meta::depends
 */
uint32_t media__chain_add(media_chain *c, const media_timed_frame *timed,
                          uint64_t section);

/**
 * @brief The class of a frame for the connection.
 *
 * A branch is given up like a disposable frame; its dependents name it.
 * @param frame the frame
 * @return value for tltcp_meta::section_class
 */
unsigned media__chain_class(const media_frame *frame);

/**
 * @brief Whether the loss of a section matters.
 * @param c            chain
 * @param frame_class  from media__chain_class()
 * @param section      its number on the connection
 * @return true if a key frame should be requested
 */
bool media__chain_misses(const media_chain *c, unsigned frame_class,
                         uint64_t section);

#endif /* MEDIA_CHAIN_H */
