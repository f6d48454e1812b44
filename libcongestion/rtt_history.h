/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Recent RTTs, to distinguish queue losses from random losses.
 *
 * A drop-tail queue drops when it is full, so the packets around a lost one
 * waited longer than nearly all others: their rank among the RTTs is near 1.
 * Losses unrelated to the queue have random ranks, 0.5 on average. A rank needs
 * no lowest RTT, which a flow that begins beside others never sees, and it is
 * robust against a single odd RTT of a busy host.
 *
 * Bursts cause transient queues. A standing queue shows in the lowest RTT of a
 * round trip, or of several if they have few samples, because with jitter the
 * lowest of few samples is higher than that of many. It is compared not with
 * the lowest RTT ever, which may be a rare outlier, but with the floor, which
 * one low in eight reaches.
 */
#ifndef LIBCONGESTION_RTT_HISTORY_H
#define LIBCONGESTION_RTT_HISTORY_H

#include "libcongestion/internal.h"

#define CONG__RTTS 48

struct cong__rtts {
    float at[CONG__RTTS]; /* ns; a double would gain nothing and be twice as
                             large */
    unsigned count;       /* taken so far */
};

struct cong__rtt_history {
    struct cong__rtts samples; /* spaced evenly in bytes */
    struct cong__rtts lows;    /* lowest of one or more round trips each */
    double since;              /* bytes since the newest sample */
    double low, low_before;    /* the low in progress, and the last; 0: none */
    unsigned chances;          /* RTTs of which `low` is the lowest */
    bool round;                /* `low` covers a whole round trip */
    double floor;              /* ns, 0: not known */
};

/* Processes a feedback; takes one sample per `spacing` bytes. */
void cong__rtt_history_add(struct cong__rtt_history *h,
                           const struct cong_ack *ack, double spacing);
/* The fraction of stored RTTs that are lower; those within `near` count half.
 * 0.5 when there are none. */
double cong__rtts_rank(const struct cong__rtts *r, double rtt, double near);
/* The quantile `share` of the stored RTTs; 0: none. */
double cong__rtts_quantile(const struct cong__rtts *r, double share);
/* The lower of the low in progress and the last; 0: none. */
double cong__rtt_history_low(const struct cong__rtt_history *h);

#endif /* LIBCONGESTION_RTT_HISTORY_H */
