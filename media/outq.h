/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file media/outq.h
 * @brief The frames that one connection has yet to send, and which of them to
 * give up.
 *
 * A connection sends what it was given in order, so what should rather not be
 * sent must not be given to it.  The queue holds frames back until the
 * connection has sent nearly all that it was given, and then decides with what
 * is known by then:
 *
 *  1. A frame whose deadline cannot be met any more is dropped.
 *  2. With `dependents`, frames that need a lost one are dropped until decoding
 *     can begin again; with `until-keyframe` all pictures are, also when the
 *     lost one was disposable.  After ten seconds without a key frame the wait
 *     is over: some streams have none.
 *  3. With `dependents` a disposable frame is sent only if no frame that others
 *     need would become later by it: those queued and those that the rhythm of
 *     the stream lets expect up to the next key frame, at the rate that the
 *     path carries.  Among disposable frames the smallest come first, since
 *     each counts for one picture.
 *  4. With `dependents` the references at the end of a GOP are dropped that
 *     would come much too late, or without which the next key frame would be in
 *     time and otherwise not.
 *  5. Headers are never dropped.
 *
 * Pure: no clock, no I/O; `now` and all times are on one clock of the caller's.
 */
#ifndef MEDIA_OUTQ_H
#define MEDIA_OUTQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "media/deadline.h"
#include "media/item.h"

/** What is given up. */
enum media_drop_policy {
    MEDIA_DROP_SECTION = 0,       /**< single sections, by deadline alone */
    MEDIA_DROP_DEPENDENTS = 1,    /**< what needs a lost frame, and disposable
                                       frames that would delay others */
    MEDIA_DROP_UNTIL_KEYFRAME = 2 /**< all pictures between a loss and the next
                                       key frame */
};

/** Why a frame was not sent. */
enum media_drop_reason {
    MEDIA_DROP_NONE = 0,     /**< it was not dropped */
    MEDIA_DROP_LATE = 1,     /**< its deadline cannot be met */
    MEDIA_DROP_DEPENDS = 2,  /**< what it needs is lost */
    MEDIA_DROP_YIELDED = 3,  /**< gave way to frames that others need */
    MEDIA_DROP_OVERFLOW = 4, /**< the queue was full */
    MEDIA_DROP_REASONS = 5   /**< how many there are */
};

/** What to do next. */
enum media_verdict {
    MEDIA_WAIT = 0, /**< nothing to do before media_next::when */
    MEDIA_SEND = 1, /**< give the item to the connection */
    MEDIA_DROP = 2  /**< the item is given up, for media_next::reason */
};

/** The queue's answer. */
typedef struct media_next {
    int verdict;  /**< ::media_verdict */
    int reason;   /**< DROP: ::media_drop_reason */
    int64_t when; /**< WAIT: when to ask again; ::MEDIA_NEVER: after a push */
    media_item item; /**< SEND, DROP: which; the queue has forgotten it */
} media_next;

/** The queue. */
typedef struct media_outq media_outq;

/**
 * @brief Makes a queue.
 * @param policy     ::media_drop_policy
 * @param max_items  frames at most
 * @param max_bytes  bytes at most
 * @return the queue, free with media__outq_free(); NULL: out of memory
 */
media_outq *media__outq_new(int policy, size_t max_items, size_t max_bytes);

/**
 * @brief Frees a queue.
 * @param q     queue, or NULL
 * @param drop  called for each item left; NULL: none
 * @param user  for @p drop
 */
void media__outq_free(media_outq *q, void (*drop)(void *user, media_item *item),
                      void *user);

/**
 * @brief Changes the policy.
 * @param q       queue
 * @param policy  ::media_drop_policy
 */
void media__outq_set_policy(media_outq *q, int policy);

/**
 * @brief Appends a frame.
 * @param q     queue
 * @param item  copied
 * @retval true   taken
 * @retval false  full; the caller keeps the item and counts it as dropped
 *                (::MEDIA_DROP_OVERFLOW); the queue remembers the loss
 */
bool media__outq_push(media_outq *q, const media_item *item);

/**
 * @brief Decides about the oldest frames.  Ask until MEDIA_WAIT.
 * @param q     queue
 * @param link  state of the connection now
 * @param now   current time
 * @param[out] next  the answer
 */
void media__outq_next(media_outq *q, const media_link *link, int64_t now,
                      media_next *next);

/**
 * @brief The deadline to send a frame with.
 *
 * What others need keeps its deadline.  A disposable frame gets one by which it
 * can still be there when it is due, with the delay that the path has now.
 * @param item  frame
 * @param link  state of the connection now
 * @return deadline; ::MEDIA_NEVER
 */
int64_t media__item_deadline(const media_item *item, const media_link *link);

/**
 * @brief Tells that a frame given to the connection did not arrive.
 * @param q     queue
 * @param item  the frame as it was given out
 * @return true when others needed it, so that a key frame should be asked for
 */
bool media__outq_on_lost(media_outq *q, const media_item *item);

/**
 * @brief Makes a stream wait for a key frame, for who joins in its middle.
 * Without effect with ::MEDIA_DROP_SECTION.
 * @param q       queue
 * @param stream  which, from 0
 * @param now     current time
 */
void media__outq_wait_key(media_outq *q, uint8_t stream, int64_t now);

/** @brief Frames in the queue. @param q  queue @return how many */
size_t media__outq_items(const media_outq *q);

/** @brief Bytes in the queue. @param q  queue @return how many */
size_t media__outq_bytes(const media_outq *q);

/**
 * @brief The name of a reason.
 * @param reason  ::media_drop_reason
 * @return static text such as "late"
 */
const char *media__drop_name(int reason);

#endif /* MEDIA_OUTQ_H */
