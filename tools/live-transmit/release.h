/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/live-transmit/release.h
 * @brief Holds bytes back until their time on the sender's time line, mapped to
 * the local clock, plus the latency, so that they leave at their original pace.
 */
#ifndef TOOLS_TRANSMIT_RELEASE_H
#define TOOLS_TRANSMIT_RELEASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "internal/media/stream/timemap.h"
#include "tltcp/live.h"

/** Nanoseconds of a millisecond. */
#define NS_PER_MS UINT64_C(1000000)

/** @brief The waiting bytes; zeroed initially. */
struct release {
    struct release_piece *first;
    struct release_piece *last;
    media_timemap map;
    uint64_t newest; /* release time of the last of them */
    size_t held;     /* bytes of memory that they take */
    size_t most;     /* beyond, the oldest leave early; 0: a default */
};

/** @brief How long a sender may have its frames held: a minute at most, or
 * anyone who sends could fill the memory.
 * @param announced_ms  the latency that it announces @return ns */
uint64_t release_latency(uint32_t announced_ms);

/** @brief Appends. @param r  release @param f  frame; copied
 * @param latency  ns @return false: out of memory */
bool release_push(struct release *r, const tltcp_live_frame *f,
                  uint64_t latency);

/** @brief Release time of the next bytes; 0: too many wait; TLTCP_TIME_NEVER:
 * there are none. */
uint64_t release_when(const struct release *r);

/** @brief Returns the next bytes. @param r  release @param[out] len  how many
 * @return bytes, valid until the next call on @p r; NULL: none */
const uint8_t *release_peek(const struct release *r, size_t *len);

/** @brief Removes the next bytes. @param r  release */
void release_pop(struct release *r);

/** @brief Restarts for a new connection, with a new time line. @param r
 * release */
void release_restart(struct release *r);

#endif /* TOOLS_TRANSMIT_RELEASE_H */
