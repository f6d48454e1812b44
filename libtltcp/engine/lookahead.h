/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_LOOKAHEAD_H
#define LIBTLTCP_LOOKAHEAD_H

#include "internal/common/ring.h"
#include "libtltcp/engine/dependencies.h"

/* Decides whether the next section should be given up.
 *
 * Queued sections, and those expected from the cadence of the streams, are
 * scheduled one after the other at the rate of the path. KEY, HEADER, AUDIO and
 * unclassified sections are always sent.
 *
 * Where the rate of the path is known, send_plan.h chooses those that bring the
 * most bytes of pictures in time:
 *
 *  1. REFERENCEs can be sent only if all of them since the KEY were. They are
 *     given up from some point to the end of the GOP, when the time that they
 *     would take is worth more to the next KEY and what follows it.
 *  2. Each DISPOSABLE is chosen by itself, with those that depend on it.
 *
 * Beside cross traffic the rate is what others leave, and a window that is not
 * filled does not grow: a sender that gives up what is late by that rate
 * starves itself. So there
 *
 *  1. REFERENCEs are dropped from the end of the GOP, only in favour of a KEY
 *     that is queued already.
 *  2. DISPOSABLEs are added from the smallest on, since each counts for one
 *     picture. One is omitted if it would be late, or would delay anything else
 *     beyond its unavoidable lateness.
 *
 * Where nothing shows the limit of the path, but data waits for the window,
 * everything is sent, so that the window grows. Only when a KEY is queued, what
 * is late by the rate that the window lets through yields to it, as beside
 * cross traffic. Otherwise a queue as long as the deadlines allow makes all
 * late.
 *
 * A lost packet arrives later, by the time of a repair. So the more packets a
 * section has and the more are lost, the earlier it should be complete.
 * This does not hold for a KEY that repair symbols cover.
 *
 * The decision is made when the section's first byte would enter a packet, as
 * late as possible. */

/* Estimate of the path. */
typedef struct tltcp__path_estimate {
    double rate;       /* bytes of sections per second; 0: no limit seen */
    double window;     /* likewise, that the window lets through */
    tltcp_time delay;  /* of the path's queue */
    tltcp_time lead;   /* sections must leave, and expire, so much earlier */
    tltcp_time repair; /* until what was lost has been sent again */
    float loss;        /* share of the packets that are lost */
    uint16_t packet;   /* bytes of a packet */
    /* Bits, since an idle connection has little room. */
    bool repairs : 1; /* KEYs get repair symbols where there is no time for a
                         repair */
    bool settled : 1; /* the rate is stable and free of cross traffic */
    bool starved : 1; /* limited by a window that must grow, not by the path */
} tltcp__path_estimate;

/* Share of a section's packets for which a repair must be expected. */
static inline double tltcp__loss_of(const tltcp__path_estimate *path,
                                    uint8_t cls) {
    return cls == TL_CLASS_KEY && path->repairs ? 0 : (double)path->loss;
}

/* Whether to send the section `first` of recs, of which no byte has been sent;
 * `before` bytes go first. */
bool tltcp__lookahead_keeps(const tltcp__dependencies *d, const cmn__ring *recs,
                            uint64_t first, uint64_t before,
                            const tltcp__path_estimate *path, tltcp_time now);

/* Its two ways, by whether the path is settled. */
bool tltcp__lookahead_plan_keeps(const tltcp__dependencies *d,
                                 const cmn__ring *recs, uint64_t first,
                                 uint64_t before,
                                 const tltcp__path_estimate *path,
                                 tltcp_time now);
bool tltcp__lookahead_tiers_keeps(const tltcp__dependencies *d,
                                  const cmn__ring *recs, uint64_t first,
                                  uint64_t before,
                                  const tltcp__path_estimate *path,
                                  tltcp_time now);

#endif /* LIBTLTCP_LOOKAHEAD_H */
