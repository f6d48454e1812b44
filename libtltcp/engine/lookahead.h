/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_LOOKAHEAD_H
#define LIBTLTCP_LOOKAHEAD_H

#include "internal/common/ring.h"
#include "libtltcp/engine/dependencies.h"

/* Whether the next section should rather not be sent.
 *
 * What is queued, and what the cadence of the streams lets expect up to their
 * next KEY, is laid out one after the other at the rate of the path:
 *
 *  1. KEY, HEADER, AUDIO and what is not known are always in the plan.
 *  2. REFERENCEs of the section's stream are cut off from the end of the GOP,
 *     as long as they come much too late or make the next KEY come too late: a
 *     late KEY costs a whole GOP.  In a chain, where nothing but REFERENCEs
 *     follows a KEY, "much" is little: nothing else can be in time.  While
 *     other flows have a part of the path, those that come too late go only
 *     when the next KEY waits already.
 *  3. DISPOSABLEs are added from the smallest on, since each counts for one
 *     picture.  One is left out when it would come late, or make anything else
 *     come later than it has to.
 *
 * The decision falls when the section's first byte would enter a packet: as
 * late as possible. */

/* What the path does now. */
typedef struct tltcp__path_estimate {
    double rate;      /* bytes of sections per second; 0: no limit was seen */
    tltcp_time delay; /* of the path's queue */
    tltcp_time lead;  /* by so much sections are due to leave earlier */
    bool settled;     /* the rate is known for a while, and is ours */
    bool starved;     /* not the path limits, but a window that has to grow */
} tltcp__path_estimate;

/* Whether to send the section `first` of recs, of which no byte has left;
 * `before` bytes go first. */
bool tltcp__lookahead_keeps(const tltcp__dependencies *d, const cmn__ring *recs,
                            uint64_t first, uint64_t before,
                            const tltcp__path_estimate *path, tltcp_time now);

#endif /* LIBTLTCP_LOOKAHEAD_H */
