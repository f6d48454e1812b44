/* SPDX-License-Identifier: MPL-2.0 */
/* Finds the highest rate of delivery. */
#include "libcongestion/peak_rate.h"

#include <math.h>

#define SPAN 1e7       /* ns over which a rate is taken, ... */
#define SPAN_PACKETS 5 /* ... and packets, at least */
#define SPAN_STALE 2e8 /* ns: the application paused */
#define SMOOTH 5e8     /* ns */
#define OWN 0.1        /* change of the RTT over a span; less: see there */
#define ALIKE 0.04     /* of the highest rate: it is reached */
#define OFTEN 4        /* times reached: that of the link, ... */
#define TIGHT 1.12     /* ... which is no faster than times this, ... */
#define CLOSE 1.3      /* ... or this where the queue has room for more, ... */
#define LOOSE 2.5      /* ... or this if it is not often reached */
#define FEW 32         /* packets in a full queue */
#define HITS_MAX 1000u
#define MOST_SPAN 10500000000 /* ns: BBR pauses within this time */

/* own: the packets arrived as they were sent, so the rate is the flow's. */
static void peak_rate_take(struct cong__peak_rate *p, double rate, bool own) {
    double most = (double)p->most[0];
    if (rate > (1 + ALIKE) * most) {
        p->hit[0] = 0;
    }
    if (!own && rate > (1 - ALIKE) * most && p->hit[0] < HITS_MAX) {
        p->hit[0]++;
    }
    p->most[0] = (float)fmax(most, rate);
}

static void peak_rate_end_span(struct cong__peak_rate *p, double took,
                               double rtt) {
    double rate = (double)p->bytes / took;
    bool own = fabs(rtt - (double)p->rtt) < OWN * took;
    peak_rate_take(p, rate, own);
    p->delivered += fmin(took / SMOOTH, 1) * (rate - p->delivered);
}

void cong__peak_rate_ack(struct cong__peak_rate *p, const struct cong_ack *ack,
                         double mss) {
    double took = (double)cong__elapsed(ack->now, p->from);
    double rtt = ack->rtt > 0 ? (double)ack->rtt : (double)p->rtt;
    bool fresh = p->from > 0 && took < SPAN_STALE;
    if (cong__elapsed(ack->now, p->most_from) > MOST_SPAN) {
        p->most[1] = p->most[0];
        p->hit[1] = p->hit[0];
        p->most[0] = 0;
        p->hit[0] = 0;
        p->most_from = ack->now;
    }
    p->bytes += (float)cong__clean(ack->acked);
    if (fresh && (took < SPAN || (double)p->bytes < SPAN_PACKETS * mss)) {
        return;
    }
    if (fresh) {
        peak_rate_end_span(p, took, rtt);
    }
    p->rtt = (float)rtt;
    p->from = ack->now;
    p->bytes = 0;
}

double cong__peak_rate(const struct cong__peak_rate *p) {
    return p->most[0] > p->most[1] ? (double)p->most[0] : (double)p->most[1];
}

static unsigned peak_rate_hits(const struct cong__peak_rate *p) {
    double reached = (1 - ALIKE) * cong__peak_rate(p);
    unsigned hits = 0;
    for (int i = 0; i < 2; i++) {
        hits += (double)p->most[i] >= reached ? p->hit[i] : 0u;
    }
    return hits;
}

double cong__peak_rate_shown(const struct cong__peak_rate *p) {
    return peak_rate_hits(p) > 0 ? cong__peak_rate(p) : 0;
}

double cong__peak_rate_room(const struct cong__peak_rate *p, double queue,
                            double mss) {
    bool few = queue * cong__peak_rate(p) < FEW * mss;
    return peak_rate_hits(p) < OFTEN ? LOOSE : few ? TIGHT : CLOSE;
}
