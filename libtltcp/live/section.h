/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file libtltcp/live/section.h
 * @brief A section on its way to one or more connections.
 */
#ifndef TLTCP_LIVE_SECTION_H
#define TLTCP_LIVE_SECTION_H

#include <stdatomic.h>

#include "internal/media/codec/framing.h"
#include "internal/media/stream/deadline.h"
#include "internal/media/stream/timed_frame.h"
#include "tltcp/live_parts.h"

struct tltcp_live_section {
    atomic_uint references;
    bool is_frame;           /**< of a codec; else a description or an event */
    media_header header;     /**< what is in it, also where it goes without */
    media_timed_frame timed; /**< what it needs, when it is due */
    struct tltcp_live_section *begin; /**< instead of it for who begins here */
    struct tltcp_live_section *clock; /**< to be sent when it is given up */
    size_t len;
    uint8_t data[];
};

/** @brief Makes one with room for a payload.
 * @param h  header; its length is set @param framed  the header goes along
 * @param bytes  of the payload @param[out] payload  where it goes
 * @return one reference; NULL: out of memory */
tltcp_live_section *tltcp__live_section_new(const media_header *h, bool framed,
                                            size_t bytes, uint8_t **payload);

/** @brief Adds counters to counters; gauges stay. @param to  sum
 * @param s  part */
void tltcp__live_stats_add(tltcp_live_stats *to, const tltcp_live_stats *s);

#endif /* TLTCP_LIVE_SECTION_H */
