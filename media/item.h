/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file media/item.h
 * @brief A frame that waits to be sent, and the connection that it waits for.
 */
#ifndef MEDIA_ITEM_H
#define MEDIA_ITEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "media/scan.h"

/** A frame in the queue. */
typedef struct media_item {
    media_frame frame; /**< what it is */
    uint8_t stream;    /**< which stream, from 0 */
    uint64_t order;    /**< the queue sets it: counts what was pushed */
    size_t bytes;      /**< as it will be sent, header included */
    int64_t arrival;   /**< when it was pushed */
    int64_t due;       /**< when it should be there; ::MEDIA_NEVER */
    int64_t deadline;  /**< when sending has become pointless; ::MEDIA_NEVER */
    uint32_t depends;  /**< as tltcp_meta::depends; 0: by its class */
    uint64_t tag;      /**< as tltcp_meta::tag */
    void *user;        /**< the caller's */
} media_item;

/** What the connection does, from its statistics. */
typedef struct media_link {
    size_t unsent;     /**< bytes given to the connection, not yet sent */
    uint64_t rate_bps; /**< at which it sends, bit/s; 0: not known */
    bool growing;      /**< the path may carry much more than rate_bps: it has
                            not been filled yet */
    int64_t delay;     /**< how much longer than at best a packet takes to
                            arrive now (srtt - min_rtt), ns */
} media_link;

#endif /* MEDIA_ITEM_H */
