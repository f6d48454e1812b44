/* SPDX-License-Identifier: MPL-2.0 */
/*
 * AUTO: CUBIC that tells random loss from congestion.
 *
 * Source: our own; the test of the queue by the RTT at the time of the loss is
 * in the manner of TCP Veno (Fu, Liew 2003), the tolerance of a small loss rate
 * without a queue in that of BBR (draft-ietf-ccwg-bbr).  Growth, and what a
 * congestive loss costs, are CUBIC's (RFC 9438).
 *
 * A loss is taken as random when the queue was short as it was noticed: the RTT
 * lies in the lower part of the span between the lowest RTT and the highest one
 * remembered, and few packets are lost at present.  It then costs a little of
 * the window, and CUBIC's own memory stays as it is.
 *
 * State: q (CUBIC's); top (highest RTT remembered, sinks slowly towards the
 * lowest one, ns); rtt (newest, ns); base (lowest, ns); p (share of bytes lost
 * of late).  Parameters: those of CUBIC, and tolerance (share of bytes that may
 * be lost without being taken as congestion), depth (part of the span that
 * counts as a short queue), gentle (what a random loss leaves of the window).
 */
#include "libcongestion/cubic.h"

#include <math.h>

#define SINK 0.004        /* of the span, per round trip */
#define LOSS_SEGMENTS 400 /* over which p is averaged */

struct adaptive {
    struct cubic q;
    double tolerance;
    double depth;
    double gentle;
    double top;
    double rtt;
    double base;
    double p;
};

static const struct cong__param params[] = {
    CONG__PARAM(adaptive, tolerance, "tolerance", 0, 1),
    CONG__PARAM(adaptive, depth, "depth", 0, 1),
    CONG__PARAM(adaptive, gentle, "gentle", 0.5, 1),
};

static void auto_init(struct cong *cc, cong_time now, cong_time rtt) {
    struct adaptive *a = (struct adaptive *)cc;
    cong__cubic.init(cc, now, rtt);
    a->tolerance = 0.05;
    a->depth = 0.5;
    a->gentle = 0.95;
}

/* Remembers what the RTT spans and what share of the bytes is lost. */
static void observe(struct adaptive *a, const struct cong_ack *ack) {
    double total = cong__clean(ack->acked) + cong__clean(ack->lost);
    double gain = fmin(total / (LOSS_SEGMENTS * a->q.w.cc.mss), 1);
    if (total > 0) {
        a->p += gain * (cong__clean(ack->lost) / total - a->p);
    }
    if (ack->min_rtt > 0) {
        a->base = (double)ack->min_rtt;
    }
    if (ack->rtt > 0) {
        a->rtt = (double)ack->rtt;
        a->top = fmax(a->top, a->rtt);
    }
    if (ack->round) {
        a->top -= SINK * fmax(a->top - a->base, 0);
    }
}

static void auto_ack(struct cong *cc, const struct cong_ack *ack) {
    observe((struct adaptive *)cc, ack);
    cong__cubic.ack(cc, ack);
}

static bool is_random(const struct adaptive *a) {
    double span = a->top - a->base;
    return a->p < a->tolerance && a->rtt - a->base <= a->depth * span;
}

static void auto_event(struct cong *cc, const struct cong_event *ev) {
    struct adaptive *a = (struct adaptive *)cc;
    if (ev->cause == CONG_LOSS && is_random(a)) {
        a->q.saved = a->q.m; /* a false alarm finds it as it is */
        cong__set_ssthresh(cc, a->gentle * cc->cwnd);
        cong__set_cwnd(cc, cc->ssthresh);
    } else {
        cong__cubic.event(cc, ev);
    }
}

static int auto_set(struct cong *cc, const char *param, double value) {
    int rv = cong__set_param(cc, params, CONG__COUNT(params), param, value);
    return rv == -1 ? cong__cubic.set(cc, param, value) : rv;
}

const struct cong_ops cong__auto = {
    .name = "auto",
    .size = sizeof(struct adaptive),
    .init = auto_init,
    .ack = auto_ack,
    .event = auto_event,
    .set = auto_set,
};
