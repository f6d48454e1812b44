/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Estimates a flow's own share of the queue on the path.
 *
 * Alone on a link of C bytes/s, a standing queue grows with the flow's sending:
 * B bytes sent within t change the RTT by B/C - t. So the slope of the RTT
 * change over the sending rate is 1/C. The link delivers nothing else, so the
 * delivery rate is C, and their product is 1. Beside other flows the slope is
 * the same, but the flow gets only a share of C: the product is that share.
 * Video varies its rate from picture to picture anyway, so no probing is
 * needed. The path's lowest RTT only shows whether there is a standing queue at
 * all.
 *
 * The slope is a regression over spans of about 50 ms, weighted towards the
 * newest second. A link whose rate changes looks like noise; the standard error
 * says how reliable the estimate is. It says nothing where one or two spans
 * differ from all others: a line fits any two points.
 */
#ifndef LIBCONGESTION_QUEUE_SHARE_H
#define LIBCONGESTION_QUEUE_SHARE_H

#include "libcongestion/internal.h"

struct cong__queue_share {
    cong_time from;   /* when the first packet of the span left */
    double bytes;     /* delivered since */
    float rtt;        /* of that packet, ns; 0: none yet */
    unsigned spans;   /* number so far, at most the number averaged */
    double sent;      /* mean rate of sending, bytes/ns */
    double slope;     /* mean change of the RTT, ns/ns */
    double delivered; /* mean rate of delivery, bytes/ns */
    double var_sent, var_slope, cov;
    double fourth; /* sum of the squared terms of var_sent */
};

/* Processes a feedback; base is the path's RTT without a queue, ns. */
void cong__queue_share_ack(struct cong__queue_share *s,
                           const struct cong_ack *ack, double mss, double base);
/* The flow's own share, about 0 to 1; < 0: not known. */
double cong__queue_share(const struct cong__queue_share *s);
/* Its standard error; 1 when the share is not known. */
double cong__queue_share_error(const struct cong__queue_share *s);
/* Whether the share is below `part` by `errors` standard errors and at least
 * three spans differ. Negative errors ask whether the share may be below it;
 * one span is enough for that. */
bool cong__queue_share_is_below(const struct cong__queue_share *s, double part,
                                double errors);
/* Transmission time of a packet at the bottleneck, ns; 0: not known. */
double cong__queue_share_packet(const struct cong__queue_share *s, double mss);

#endif /* LIBCONGESTION_QUEUE_SHARE_H */
