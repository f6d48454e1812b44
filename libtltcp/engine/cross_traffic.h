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
 * (Nimbus: Goyal et al., SIGCOMM 2022, section 3). Frames differ in size, so S
 * changes from one span of some ten milliseconds to the next. A regression of
 * the changes of dq/dt on the changes of S over our delivery rate gives that
 * rate over C: our share of the link. Changes, not values, and over the newest
 * delivery rate: the rate of a link may wander, and an encoder follows it.
 *
 * The controller has an estimate of its own, libcongestion/queue_share.h. It
 * regresses the values, over the newest second: it answers sooner, but takes a
 * link that wanders for noise. */

/* An acknowledged packet. */
typedef struct tltcp__cross_sample {
    cong_time sent; /* when it left; -1: none yet */
    double bytes;   /* sent so far, including itself */
    cong_time rtt;
} tltcp__cross_sample;

/* A span: our rate in bytes/ns, and the growth of the RTT per time. */
typedef struct tltcp__cross_span {
    double rate;
    double growth;
} tltcp__cross_span;

typedef struct tltcp__cross_traffic {
    tltcp__cross_sample first; /* of the span */
    tltcp__cross_span last;
    bool follows;      /* the span follows the last one */
    cong_time t_queue; /* end of the last span with a queue; -1: none yet */
    unsigned count;    /* of changes between spans */
    double delivered;  /* mean rate, bytes/ns */
    double var_rate;   /* mean squares of the changes, that of the rate over
                          `delivered`, and their ... */
    double var_growth;
    double cov; /* ... mean product */
} tltcp__cross_traffic;

void tltcp__cross_traffic_init(tltcp__cross_traffic *c);
/* Processes the newest packet of an acknowledgement. */
void tltcp__cross_traffic_on_ack(tltcp__cross_traffic *c,
                                 const tltcp__cross_sample *sample,
                                 cong_time min_rtt);
/* Others may have joined: what follows counts for more. */
void tltcp__cross_traffic_doubt(tltcp__cross_traffic *c);
/* Z / C less what is in doubt, 0 to 1; 0: no sign of cross traffic. */
double tltcp__cross_traffic_share(const tltcp__cross_traffic *c);

#endif /* LIBTLTCP_CROSS_TRAFFIC_H */
