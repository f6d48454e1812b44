/* SPDX-License-Identifier: MPL-2.0 */
/*
 * What the RTT has been of late, to tell losses that a queue made from others.
 *
 * A drop-tail queue drops when it is full, so the packets around a lost one
 * have waited longer than nearly all others: their rank among the RTTs is near
 * 1.  Losses that have nothing to do with the queue have any rank, 0.5 on
 * average.  A rank needs no lowest RTT, which a flow that begins beside others
 * does not get to see, and one odd RTT of a busy host does not upset it.
 *
 * Bursts make queues that are gone after them.  What stands on the path shows
 * in the lowest RTT of each round trip.
 */
#ifndef LIBCONGESTION_RTT_HISTORY_H
#define LIBCONGESTION_RTT_HISTORY_H

#include "libcongestion/internal.h"

#define CONG__RTTS 64

struct cong__rtts {
    double at[CONG__RTTS]; /* ns */
    unsigned count;        /* ever taken */
};

struct cong__rtt_history {
    struct cong__rtts samples; /* one per so many bytes */
    struct cong__rtts lows;    /* lowest of each round trip */
    double since;              /* bytes since the newest sample */
    double low, low_before;    /* of this round trip and the last; 0: none */
};

/* Takes a feedback; samples are to be so many bytes apart. */
void cong__rtt_history_add(struct cong__rtt_history *h,
                           const struct cong_ack *ack, double spacing);
/* The share of those remembered that are lower; 0.5 when there are none. */
double cong__rtts_rank(const struct cong__rtts *r, double rtt);
/* The RTT that a share of those remembered does not exceed; 0: none. */
double cong__rtts_quantile(const struct cong__rtts *r, double share);
/* The lowest of this round trip and the last; 0: none. */
double cong__rtt_history_low(const struct cong__rtt_history *h);

#endif /* LIBCONGESTION_RTT_HISTORY_H */
