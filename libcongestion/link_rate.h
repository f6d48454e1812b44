/* SPDX-License-Identifier: MPL-2.0 */
/*
 * What part of a bottleneck a flow has when others fill its queue as well.
 *
 * While a queue stands, a link of rate C serves what this flow sends at a rate
 * S and what the others send at a rate Z, so the RTT changes by
 *
 *   dR/dt = (S + Z) / C - 1
 *
 * (Nimbus: Goyal et al., SIGCOMM 2022, section 3).  Flows with a window send
 * what leaves the queue.  What this flow gets acknowledged, at a rate A, is not
 * theirs, so Z = C - A and dR/dt = (S - A) / C.  Flows with a rate of their own
 * keep Z.  A regression on S and A at once gives 1 / C as the weight of S for
 * both kinds; A takes the weight of the others' reaction.  The part is A / C.
 *
 * S varies from picture to picture, and A does a round trip later: nothing is
 * probed.
 */
#ifndef LIBCONGESTION_LINK_RATE_H
#define LIBCONGESTION_LINK_RATE_H

#include "libcongestion/internal.h"

struct cong__link_rate {
    double delivered; /* bytes, ever */
    cong_time from;   /* when the packet left that the span begins with */
    double rtt;       /* of that packet, ns; 0: none yet */
    double sent;      /* bytes before it */
    double came;      /* bytes that were acknowledged when it left */
    unsigned spans;   /* taken so far, no more than count */
    double mean_sent, mean_came, mean_growth; /* bytes/ns twice, ns/ns */
    double var_sent, var_came, cov;           /* of the rates */
    double growth_sent, growth_came;          /* covariances with the growth */
};

/* Takes a feedback, with its rate sample. */
void cong__link_rate_ack(struct cong__link_rate *l, const struct cong_ack *ack,
                         double mss);
/* The flow's part of the link, about 0 to 1; 0: not known. */
double cong__link_rate_share(const struct cong__link_rate *l);

#endif /* LIBCONGESTION_LINK_RATE_H */
