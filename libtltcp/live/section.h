/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file libtltcp/live/section.h
 * @brief A section for one or more connections.
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
    bool is_frame;           /**< codec data; else a description or an event */
    media_header header;     /**< describes the section, even if it is sent
                                  without a header */
    media_timed_frame timed; /**< its dependencies and deadline */
    struct tltcp_live_section *begin; /**< replacement for a connection that
                                           begins here */
    struct tltcp_live_section *clock; /**< to send when the section is given
                                           up */
    size_t len;
    uint8_t data[];
};

/** @brief Makes one with room for a payload.
 * @param h  header; its length is filled in @param framed  the header is part
 *           of the section
 * @param bytes  of the payload @param[out] payload  to fill in
 * @return one reference; NULL: out of memory */
tltcp_live_section *tltcp__live_section_new(const media_header *h, bool framed,
                                            size_t bytes, uint8_t **payload);

/** @brief Adds counters and gauges. @param to  the application's sum, which may
 * be of another header's size @param s  part */
void tltcp__live_stats_add(tltcp_live_stats *to, const tltcp_live_stats *s);

#endif /* TLTCP_LIVE_SECTION_H */
