/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/stream/timemap.h
 * @brief Maps a sender's media time to the receiver's clock.
 *
 * The clocks differ in offset and rate, and packet delay varies. The map keeps
 * `offset` such that a frame with the least recent delay arrives at `time +
 * offset`. Earlier arrivals move it at once, later ones slowly, so it follows
 * clock drift but not queueing delay.
 */
#ifndef MEDIA_TIMEMAP_H
#define MEDIA_TIMEMAP_H

#include <stdbool.h>
#include <stdint.h>

/** Number of windows for the least delay. */
#define MEDIA_TIMEMAP_WINDOWS 8

/** The map; plain memory. */
typedef struct media_timemap {
    bool started;         /**< offset is valid */
    int64_t offset;       /**< receiver's clock - media time, at least delay */
    int64_t window_start; /**< arrival of the first frame of this window */
    int64_t last;         /**< media time of the previous frame */
    int64_t least[MEDIA_TIMEMAP_WINDOWS]; /**< least offsets, newest first */
    int windows;                          /**< number of valid entries */
} media_timemap;

/** @brief Initialises. @param m  map */
void media__timemap_init(media_timemap *m);

/**
 * @brief Processes the arrival of a frame.
 * @param m        map
 * @param media    media time at which the frame was sent: its decoding time, or
 *                 else its display time
 * @param arrival  when it arrived, receiver's clock
 * @return true when the map restarted because the media time jumped
 */
bool media__timemap_arrival(media_timemap *m, int64_t media, int64_t arrival);

/**
 * @brief Converts a media time to the receiver's clock.
 * @param m      map that has seen an arrival
 * @param media  media time
 * @return the receiver's clock
 */
int64_t media__timemap_local(const media_timemap *m, int64_t media);

#endif /* MEDIA_TIMEMAP_H */
