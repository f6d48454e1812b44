/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/stream/timemap.h
 * @brief A sender's media time line as seen on a receiver's clock.
 *
 * The clocks share neither zero nor exact speed, and packets are delayed by a
 * changing amount.  The map holds `offset` such that a frame that took the
 * least time of late arrives at `time + offset`.  Earlier arrivals move it at
 * once, later ones slowly, so it follows clock drift but not queueing delay.
 */
#ifndef MEDIA_TIMEMAP_H
#define MEDIA_TIMEMAP_H

#include <stdbool.h>
#include <stdint.h>

/** How many windows the least delay is taken over. */
#define MEDIA_TIMEMAP_WINDOWS 8

/** The map; plain memory. */
typedef struct media_timemap {
    bool started;         /**< offset holds */
    int64_t offset;       /**< receiver's clock - media time, at least delay */
    int64_t window_start; /**< arrival of the first frame of this window */
    int64_t last;         /**< media time of the frame before */
    int64_t least[MEDIA_TIMEMAP_WINDOWS]; /**< least offsets, newest first */
    int windows;                          /**< how many of them hold */
} media_timemap;

/** @brief Forgets everything. @param m  map */
void media__timemap_init(media_timemap *m);

/**
 * @brief Takes the arrival of a frame.
 * @param m        map
 * @param media    when the frame was sent on the media time line: its decoding
 *                 time, or its display time when it has no other
 * @param arrival  when it was there, receiver's clock
 * @return true when the map began anew, since the time line jumped
 */
bool media__timemap_arrival(media_timemap *m, int64_t media, int64_t arrival);

/**
 * @brief A media time on the receiver's clock.
 * @param m      map that has seen an arrival
 * @param media  media time
 * @return the receiver's clock
 */
int64_t media__timemap_local(const media_timemap *m, int64_t media);

#endif /* MEDIA_TIMEMAP_H */
