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
 * in the lowest RTT of a round trip, or of more where they have few: of a few
 * RTTs with jitter the lowest is higher than of many.  It is compared not with
 * the lowest ever, a stroke of luck that does not come again, but with the
 * floor, which one low in eight reaches.
 */
#ifndef LIBCONGESTION_RTT_HISTORY_H
#define LIBCONGESTION_RTT_HISTORY_H

#include "libcongestion/internal.h"

#define CONG__RTTS 64

struct cong__rtts {
    float
        at[CONG__RTTS]; /* ns; a double would be no better and twice as long */
    unsigned count;     /* ever taken */
};

struct cong__rtt_history {
    struct cong__rtts samples; /* one per so many bytes */
    struct cong__rtts lows;    /* lowest of one or more round trips each */
    double since;              /* bytes since the newest sample */
    double low, low_before;    /* the one being made, and the last; 0: none */
    unsigned chances;          /* RTTs of which `low` is the lowest */
    bool round;                /* it has a whole round trip */
    double floor;              /* ns, 0: not known */
};

/* Takes a feedback; samples are to be so many bytes apart. */
void cong__rtt_history_add(struct cong__rtt_history *h,
                           const struct cong_ack *ack, double spacing);
/* The share of those remembered that are lower, where one that is `near` counts
 * half; 0.5 when there are none. */
double cong__rtts_rank(const struct cong__rtts *r, double rtt, double near);
/* The RTT that a share of those remembered does not exceed; 0: none. */
double cong__rtts_quantile(const struct cong__rtts *r, double share);
/* The lower of the low that is being made and the last; 0: none. */
double cong__rtt_history_low(const struct cong__rtt_history *h);

#endif /* LIBCONGESTION_RTT_HISTORY_H */
