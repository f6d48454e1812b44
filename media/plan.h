/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file media/plan.h
 * @brief Which frames may go when not all can be there in time.
 *
 * The frames that are queued and those that the rhythm of the stream lets
 * expect are laid out one after the other at the rate of the path, first
 * without the disposable ones.  From the end of the GOP on, references are cut
 * off as long as they come much too late, or make the next key frame come too
 * late: a late key frame costs a whole GOP.  Then disposable frames are added
 * from the smallest on; one that comes too late itself, or makes a frame that
 * others need later past its due time, is left out.
 */
#ifndef MEDIA_PLAN_H
#define MEDIA_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "media/item.h"

/** Frames in a plan at most; what lies behind is not looked at. */
#define MEDIA_PLAN_MAX 96
/** Streams whose rhythm is followed. */
#define MEDIA_RHYTHM_STREAMS 4

/** The rhythm of a stream's frames that others need. */
typedef struct media_rhythm {
    int64_t last_arrival; /**< of the newest such frame */
    int64_t last_key;     /**< arrival of the newest key frame */
    int64_t gap;          /**< between such frames on average; 0: not known */
    int64_t gop;          /**< between key frames; 0: not known */
    int64_t frames;       /**< since the newest key frame, and it */
    int64_t ref_slack;    /**< references: from arrival to due */
    int64_t key_slack;    /**< key frames: from arrival to due */
    size_t ref_bytes;     /**< size of a reference, smoothed */
    size_t key_bytes;     /**< size of the newest key frame */
} media_rhythm;

/** What a plan does with a frame. */
enum media_slot_state {
    MEDIA_SLOT_OPEN = 0, /**< disposable, not decided yet */
    MEDIA_SLOT_TAKEN = 1,
    MEDIA_SLOT_OUT = 2
};

/** One frame of a plan. */
typedef struct media_slot {
    int64_t arrival; /**< cannot leave before */
    int64_t due;     /**< should be there; ::MEDIA_NEVER */
    size_t bytes;    /**< its size */
    int frame_class; /**< ::media_class */
    uint8_t stream;  /**< which stream */
    int state;       /**< ::media_slot_state */
    int64_t there;   /**< when it arrives, if taken */
    int64_t late;    /**< past its time without any disposable frame */
} media_slot;

/** A plan. */
typedef struct media_plan {
    media_slot slots[MEDIA_PLAN_MAX]; /**< in order of sending */
    size_t count;                     /**< how many */
} media_plan;

/**
 * @brief Learns from a frame that others need.
 * @param r     rhythm
 * @param item  frame of class KEY or REFERENCE
 */
void media__rhythm_learn(media_rhythm *r, const media_item *item);

/**
 * @brief Adds a frame.  A full plan takes no more.
 * @param p     plan
 * @param item  frame
 */
void media__plan_add(media_plan *p, const media_item *item);

/**
 * @brief Adds the frames that are to be expected up to the next key frame.
 * @param p       plan
 * @param r       rhythm of one stream
 * @param stream  which
 */
void media__plan_expect(media_plan *p, const media_rhythm *r, uint8_t stream);

/**
 * @brief Decides which frames are taken.  Only disposable ones and references
 * of the first frame's stream can be left out.
 * @param p     plan
 * @param link  state of the connection; its rate is known
 * @param now   current time
 */
void media__plan_choose(media_plan *p, const media_link *link, int64_t now);

/**
 * @brief How long some bytes take.
 * @param bytes     how many
 * @param rate_bps  bit/s, not 0
 * @return ns
 */
int64_t media__leave_time(size_t bytes, uint64_t rate_bps);

#endif /* MEDIA_PLAN_H */
