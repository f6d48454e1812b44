/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/stream/playout.h
 * @brief Playout times: maps the sender's media time to the receiver's clock,
 * without jumps.
 *
 * Like stream/timemap.h, this aligns the frame with the least delay with its
 * arrival, but playout must not jump:
 *
 *  - within the first seconds, an earlier arrival moves the map at once, since
 *    the first frame is large and late;
 *  - after that, the map moves in small steps, as clocks drift; a sender that
 *    runs ahead does not move it;
 *  - if every frame of a whole window was later than the receiver can wait, the
 *    map restarts;
 *  - it also restarts when the media time jumps, as after a sender's pause.
 */
#ifndef MEDIA_PLAYOUT_H
#define MEDIA_PLAYOUT_H

#include <stdbool.h>
#include <stdint.h>

/** Number of windows for the least delay. */
#define MEDIA_PLAYOUT_WINDOWS 8

/** The map; plain memory. */
typedef struct media_playout {
    bool started;         /**< offset is valid */
    int64_t tolerance;    /**< how late frames may be, ns */
    int64_t offset;       /**< receiver's clock - media time */
    int64_t begun;        /**< arrival of the first frame */
    int64_t moved;        /**< how far early arrivals moved it at once */
    int64_t last_media;   /**< media time of the previous frame */
    int64_t last_arrival; /**< likewise */
    int64_t window_start; /**< arrival of the first frame of this window */
    int64_t least[MEDIA_PLAYOUT_WINDOWS]; /**< least offsets, newest first */
    int windows;                          /**< number of valid entries */
} media_playout;

/**
 * @brief Initialises.
 * @param p          map
 * @param tolerance  how late frames may be: the latency plus a margin, ns
 */
void media__playout_init(media_playout *p, int64_t tolerance);

/**
 * @brief Processes the arrival of a frame.
 * @param p        map
 * @param media    media time at which the frame was sent: its decoding time, or
 *                 else its display time
 * @param arrival  when it arrived, receiver's clock; never runs backwards
 * @return true when the map restarted
 */
bool media__playout_arrival(media_playout *p, int64_t media, int64_t arrival);

/**
 * @brief Converts a media time to the receiver's clock, without latency.
 * @param p      map that has seen an arrival
 * @param media  media time
 * @return the receiver's clock
 */
int64_t media__playout_local(const media_playout *p, int64_t media);

#endif /* MEDIA_PLAYOUT_H */
