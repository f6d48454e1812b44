/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/stream/playout.h
 * @brief When to play frames: the sender's time line on a receiver's clock,
 * kept steady.
 *
 * Like media/timemap.h this lays the frame that took the least time on the
 * moment of its arrival, but what is played must not jump:
 *
 *  - within the first seconds an earlier arrival moves the map at once, since
 * the first frame is large and was late;
 *  - after that the map moves by small steps, as clocks drift apart; a sender
 *    that runs ahead of time does not move it;
 *  - when for a whole window every frame was later than the receiver can wait,
 *    the map begins anew;
 *  - so it does when the time line jumps, as after a pause of the sender.
 */
#ifndef MEDIA_PLAYOUT_H
#define MEDIA_PLAYOUT_H

#include <stdbool.h>
#include <stdint.h>

/** How many windows the least delay is taken over. */
#define MEDIA_PLAYOUT_WINDOWS 8

/** The map; plain memory. */
typedef struct media_playout {
    bool started;         /**< offset holds */
    int64_t tolerance;    /**< how late frames may be, ns */
    int64_t offset;       /**< receiver's clock - media time */
    int64_t begun;        /**< arrival of the first frame */
    int64_t moved;        /**< by how much early arrivals moved it at once */
    int64_t last_media;   /**< of the frame before */
    int64_t last_arrival; /**< likewise */
    int64_t window_start; /**< arrival of the first frame of this window */
    int64_t least[MEDIA_PLAYOUT_WINDOWS]; /**< least offsets, newest first */
    int windows;                          /**< how many of them hold */
} media_playout;

/**
 * @brief Forgets everything.
 * @param p          map
 * @param tolerance  how late frames may be: the latency and some more, ns
 */
void media__playout_init(media_playout *p, int64_t tolerance);

/**
 * @brief Takes the arrival of a frame.
 * @param p        map
 * @param media    when the frame was sent on the media time line: its decoding
 *                 time, or its display time when it has no other
 * @param arrival  when it was there, receiver's clock; never runs back
 * @return true when the map began anew
 */
bool media__playout_arrival(media_playout *p, int64_t media, int64_t arrival);

/**
 * @brief A media time on the receiver's clock, latency not counted.
 * @param p      map that has seen an arrival
 * @param media  media time
 * @return the receiver's clock
 */
int64_t media__playout_local(const media_playout *p, int64_t media);

#endif /* MEDIA_PLAYOUT_H */
