/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_CROSS_TRAFFIC_H
#define LIBTLTCP_CROSS_TRAFFIC_H

#include <congestion/congestion.h>

/* The part of a bottleneck that other flows fill.
 *
 * While its queue stands, a bottleneck of capacity C serves what we send at a
 * rate S and the cross traffic of rate Z, so the queueing delay q changes by
 *
 *   dq/dt = (S + Z) / C - 1
 *
 * (Nimbus: Goyal et al., SIGCOMM 2022, section 3).  A queue of our own drains
 * when we pause between frames, a queue of others does not.  The part of that
 * drain that is missing is Z / C, whatever C is. */

/* A packet that was acknowledged. */
typedef struct tltcp__cross_sample {
    cong_time sent; /* when it left; -1: none yet */
    double bytes;   /* sent so far, itself included */
    cong_time rtt;
} tltcp__cross_sample;

typedef struct tltcp__cross_traffic {
    tltcp__cross_sample first; /* of the span */
    tltcp__cross_sample last;
    double seconds;  /* of all spans under a queue, fading */
    double total;    /* bytes sent in them */
    double expected; /* drain of a queue of our own in pauses, seconds */
    double observed; /* how far the queue drained, seconds */
} tltcp__cross_traffic;

void tltcp__cross_traffic_init(tltcp__cross_traffic *c);
/* The newest packet of an acknowledgement. */
void tltcp__cross_traffic_on_ack(tltcp__cross_traffic *c,
                                 const tltcp__cross_sample *sample,
                                 cong_time min_rtt);
/* Z / C, 0 to 1; 0 where nothing tells of others. */
double tltcp__cross_traffic_share(const tltcp__cross_traffic *c);

#endif /* LIBTLTCP_CROSS_TRAFFIC_H */
