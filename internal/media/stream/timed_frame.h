/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/stream/timed_frame.h
 * @brief A frame queued for sending.
 */
#ifndef MEDIA_TIMED_FRAME_H
#define MEDIA_TIMED_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "internal/media/codec/scan.h"

/** A frame queued for a connection. */
typedef struct media_timed_frame {
    media_frame frame; /**< its classification */
    uint8_t stream;    /**< number of the stream, from 0 */
    size_t bytes;      /**< as sent, including the header */
    int64_t arrival;   /**< when it was pushed */
    int64_t due;       /**< when it should arrive; or ::MEDIA_NEVER */
    int64_t deadline;  /**< when it becomes useless; or ::MEDIA_NEVER */
    uint32_t number;   /**< index in its stream, as media_header::number */
    uint32_t depends;  /**< distance to the frame it depends on, in frames of
                            its stream; ::TL_DEPENDS_NONE: none; 0: determine */
    uint64_t tag;      /**< as tltcp_meta::tag */
    void *user;        /**< user pointer */
    void *begin;       /**< likewise, used instead of user by a connection that
                            begins with it */
} media_timed_frame;

#endif /* MEDIA_TIMED_FRAME_H */
