/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/stream/chain.h
 * @brief What the frames of one elementary stream refer to, for
 * tltcp_meta::depends.
 */
#ifndef MEDIA_CHAIN_H
#define MEDIA_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "internal/media/stream/timed_frame.h"

/** Temporal layers that are told apart. */
#define MEDIA_LAYERS 8
/** How far back media_timed_frame::depends may reach. */
#define MEDIA_CHAIN_RECENT 64

/** A stream as one connection has it.  All zero: nothing was sent.  Sections
 * count from 0, and stand here by their numbers + 1. */
typedef struct media_chain {
    uint64_t references[MEDIA_LAYERS]; /**< newest by temporal layer, since the
                                            newest key frame */
    uint64_t key;                      /**< newest key frame */
    uint64_t last;                     /**< newest picture of any class */
    uint64_t before_key;               /**< newest reference before it */
    uint64_t leading; /**< newest reference that is shown before it */
    int64_t key_due;  /**< when it is due */
    bool key_closed;  /**< nothing behind it needs anything before it */
    uint64_t
        recent[MEDIA_CHAIN_RECENT]; /**< by their media_timed_frame::number */
    uint32_t numbers[MEDIA_CHAIN_RECENT]; /**< which ones these are */
    struct {
        uint64_t section;           /**< newest with a part of it */
        uint32_t ordinal;           /**< its media_frame::ordinal */
        uint8_t stream;             /**< its media_timed_frame::stream */
    } pictures[MEDIA_CHAIN_RECENT]; /**< by their ordinals */
} media_chain;

/**
 * @brief What a frame refers to.
 * @param c        chain
 * @param timed     the frame, which is sent now
 * @param section  its number on the connection
 * @return value for tltcp_meta::depends
 */
uint32_t media__chain_add(media_chain *c, const media_timed_frame *timed,
                          uint64_t section);

/**
 * @brief The class of a frame as the connection sees it.
 *
 * A branch is given up like what is disposable; what refers to it says so.
 * @param frame  what it is
 * @return value for tltcp_meta::section_class
 */
unsigned media__chain_class(const media_frame *frame);

/**
 * @brief Whether it matters that a section did not arrive.
 * @param c            chain
 * @param frame_class  as media__chain_class() has it
 * @param section      its number on the connection
 * @return true when a key frame should be asked for
 */
bool media__chain_misses(const media_chain *c, unsigned frame_class,
                         uint64_t section);

#endif /* MEDIA_CHAIN_H */
