/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/stream/timed_frame.h
 * @brief A frame that waits to be sent.
 */
#ifndef MEDIA_TIMED_FRAME_H
#define MEDIA_TIMED_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "internal/media/codec/scan.h"

/** A frame on its way to a connection. */
typedef struct media_timed_frame {
    media_frame frame; /**< what it is */
    uint8_t stream;    /**< which stream, from 0 */
    size_t bytes;      /**< as it will be sent, header included */
    int64_t arrival;   /**< when it was pushed */
    int64_t due;       /**< when it should be there; ::MEDIA_NEVER */
    int64_t deadline;  /**< when sending has become pointless; ::MEDIA_NEVER */
    uint32_t number;   /**< place in its stream, as media_header::number */
    uint32_t depends;  /**< it refers to the frame that many places before it in
                          its stream; ::TL_DEPENDS_NONE: to none; 0: find out */
    uint64_t tag;      /**< as tltcp_meta::tag */
    void *user;        /**< the caller's */
    void *begin;       /**< likewise, instead of user for who begins with it */
} media_timed_frame;

#endif /* MEDIA_TIMED_FRAME_H */
