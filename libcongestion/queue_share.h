/* SPDX-License-Identifier: MPL-2.0 */
/*
 * How much of the queue on the path is a flow's own.
 *
 * Alone on a link that carries C bytes/s, a queue that stands grows with what
 * the flow sends: B bytes sent within t change the RTT by B/C - t.  So the
 * slope of the RTT's change over the sending rate is 1/C, and since the link
 * delivers nothing else, the delivered rate is C: their product is 1.  Beside
 * others the slope is the same, but the flow gets a part of C only: the product
 * is that part.  Video varies its rate from picture to picture by itself, which
 * is all that is needed: nothing is probed, and the lowest RTT of the path only
 * tells whether a queue stands at all.
 *
 * The slope is a regression over spans of some 50 ms, weighted towards the
 * newest second.  A link whose rate changes looks like noise; the standard
 * error tells how far the answer can be trusted.
 */
#ifndef LIBCONGESTION_QUEUE_SHARE_H
#define LIBCONGESTION_QUEUE_SHARE_H

#include "libcongestion/internal.h"

struct cong__queue_share {
    cong_time from;   /* when the packet left that the span begins with */
    double bytes;     /* delivered since */
    float rtt;        /* of that packet, ns; 0: none yet */
    unsigned spans;   /* taken so far, no more than count */
    double sent;      /* mean rate of sending, bytes/ns */
    double slope;     /* mean change of the RTT, ns/ns */
    double delivered; /* mean rate of delivery, bytes/ns */
    double var_sent, var_slope, cov;
};

/* Takes a feedback; base is the path's RTT without a queue, ns. */
void cong__queue_share_ack(struct cong__queue_share *s,
                           const struct cong_ack *ack, double mss, double base);
/* The flow's own part, about 0 to 1; < 0: not known. */
double cong__queue_share(const struct cong__queue_share *s);
/* Its standard error; 1 when it is not known. */
double cong__queue_share_error(const struct cong__queue_share *s);
/* Time that a packet takes to leave the bottleneck, ns; 0: not known. */
double cong__queue_share_packet(const struct cong__queue_share *s, double mss);

#endif /* LIBCONGESTION_QUEUE_SHARE_H */
