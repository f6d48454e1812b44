/* SPDX-License-Identifier: MPL-2.0 */
/*
 * The highest rate of delivery, a lower bound of the link's rate.
 *
 * When the other flows pause for a moment, what this flow has in the queue
 * arrives at the link's rate. A rate that is reached several times and never
 * exceeded is therefore close to that of the link: no other mix of flows gives
 * the same rate again and again. Packets that arrive as they were sent show
 * nothing but the flow's own rate.
 *
 * Compressed acknowledgements make the rate appear higher than it is, and the
 * flow's part of the link smaller.
 */
#ifndef LIBCONGESTION_PEAK_RATE_H
#define LIBCONGESTION_PEAK_RATE_H

#include "libcongestion/internal.h"

struct cong__peak_rate {
    double delivered;      /* smoothed, bytes/ns */
    float most[2];         /* highest, newest time span first, bytes/ns */
    unsigned short hit[2]; /* how often it was reached */
    float bytes;           /* delivered since `from` */
    float rtt;             /* at `from`, ns */
    cong_time from;        /* start of the newest sample; 0: none */
    cong_time most_from;   /* start of the newest time span */
};

/* Processes a feedback. */
void cong__peak_rate_ack(struct cong__peak_rate *p, const struct cong_ack *ack,
                         double mss);
/* The highest rate of the last 10 to 20 s, bytes/ns; 0: not known. */
double cong__peak_rate(const struct cong__peak_rate *p);
/* The same, if packets that reached it did not arrive as they were sent; else
 * 0. */
double cong__peak_rate_shown(const struct cong__peak_rate *p);
/* The link is at most this many times faster; queue: the longest, ns. */
double cong__peak_rate_room(const struct cong__peak_rate *p, double queue,
                            double mss);

#endif /* LIBCONGESTION_PEAK_RATE_H */
