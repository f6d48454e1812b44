/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_LOOKAHEAD_H
#define LIBTLTCP_LOOKAHEAD_H

#include "internal/common/ring.h"
#include "libtltcp/engine/dependencies.h"

/* Decides whether the next section should be given up.
 *
 * Queued sections, and those expected from the cadence of the streams up to
 * their next KEY, are scheduled one after the other at the rate of the path:
 *
 *  1. KEY, HEADER, AUDIO and unclassified sections are always in the plan.
 *  2. REFERENCEs of the section's stream are dropped from the end of the GOP as
 *     long as they would be much too late or would delay the next KEY too much:
 *     a late KEY costs a whole GOP. In a chain, where only REFERENCEs follow a
 *     KEY, "much" is little, because nothing else can be in time. With cross
 *     traffic, late ones are dropped only when the next KEY is already queued.
 *  3. DISPOSABLEs are added from the smallest on, since each counts for one
 *     picture. One is omitted if it would be late, or would delay anything else
 *     beyond its unavoidable lateness.
 *
 * The decision is made when the section's first byte would enter a packet, as
 * late as possible. */

/* Estimate of the path. */
typedef struct tltcp__path_estimate {
    double rate;      /* bytes of sections per second; 0: no limit seen */
    tltcp_time delay; /* of the path's queue */
    tltcp_time lead;  /* how much earlier than due sections must leave */
    bool settled;     /* the rate is stable and free of cross traffic */
    bool starved;     /* limited by a window that must grow, not by the path */
} tltcp__path_estimate;

/* Whether to send the section `first` of recs, of which no byte has been sent;
 * `before` bytes go first. */
bool tltcp__lookahead_keeps(const tltcp__dependencies *d, const cmn__ring *recs,
                            uint64_t first, uint64_t before,
                            const tltcp__path_estimate *path, tltcp_time now);

#endif /* LIBTLTCP_LOOKAHEAD_H */
