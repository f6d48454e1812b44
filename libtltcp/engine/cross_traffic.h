/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_CROSS_TRAFFIC_H
#define LIBTLTCP_CROSS_TRAFFIC_H

#include <congestion/congestion.h>

/* Estimates the share of cross traffic at the bottleneck.
 *
 * While it has a queue, a bottleneck of capacity C serves our traffic of rate S
 * and cross traffic of rate Z, so the queueing delay q changes by
 *
 *   dq/dt = (S + Z) / C - 1
 *
 * (Nimbus: Goyal et al., SIGCOMM 2022, section 3). Our own queue drains when we
 * pause between frames; a queue of others does not. The missing fraction of
 * that drain is Z / C, for any C. */

/* An acknowledged packet. */
typedef struct tltcp__cross_sample {
    cong_time sent; /* when it left; -1: none yet */
    double bytes;   /* sent so far, including itself */
    cong_time rtt;
} tltcp__cross_sample;

typedef struct tltcp__cross_traffic {
    tltcp__cross_sample first; /* of the span */
    tltcp__cross_sample last;
    double seconds;  /* of all spans with a queue, decaying */
    double total;    /* bytes sent in them */
    double expected; /* drain expected of our own queue in pauses, seconds */
    double observed; /* drain observed, seconds */
} tltcp__cross_traffic;

void tltcp__cross_traffic_init(tltcp__cross_traffic *c);
/* Processes the newest packet of an acknowledgement. */
void tltcp__cross_traffic_on_ack(tltcp__cross_traffic *c,
                                 const tltcp__cross_sample *sample,
                                 cong_time min_rtt);
/* Z / C, 0 to 1; 0: no sign of cross traffic. */
double tltcp__cross_traffic_share(const tltcp__cross_traffic *c);

#endif /* LIBTLTCP_CROSS_TRAFFIC_H */
