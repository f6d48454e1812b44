/* SPDX-License-Identifier: MPL-2.0 */
/*
 * CUBIC.
 *
 * Source: RFC 9438 section 4 (equations 1 to 4, fast convergence 4.7, timeouts
 * 4.8), section 5.8 for pauses of the application; RFC 8511 for ECN.
 *
 * State: cwnd, ssthresh (bytes); w_max, w_prior, w_est (segments); k (s); epoch
 * (start of the phase of congestion avoidance), last (newest feedback).  All
 * but the last are restored when a reduction turns out to be a false alarm
 * (4.9).
 * Parameters: iw (segments), C or c (segments/s^3), beta, beta_ecn (both:
 * fraction of the flight that is kept).
 *
 * Readings: time in which the application was the limit does not count as time
 * since the epoch; it is measured between feedbacks, and from the last feedback
 * to CONG_IDLE.  What slow start leaves over of a feedback that crosses
 * ssthresh belongs to congestion avoidance.
 */
#include "libcongestion/cubic.h"

#include <math.h>

static const struct cong__param params[] = {
    CONG__PARAM(cubic, c, "C", 0.001, 1000),
    CONG__PARAM(cubic, c, "c", 0.001, 1000),
    CONG__PARAM(cubic, beta, "beta", 0.1, 0.99),
    CONG__PARAM(cubic, beta_ecn, "beta_ecn", 0.1, 1),
};

static void cubic_init(struct cong *cc, cong_time now, cong_time rtt) {
    struct cubic *q = (struct cubic *)cc;
    (void)rtt;
    cong__window_init(&q->w);
    q->c = 0.4;
    q->beta = 0.7;
    q->beta_ecn = 0.7;
    q->m.epoch = -1;
    q->saved = q->m;
    q->last = now;
}

/* A phase of congestion avoidance begins. */
static void start_epoch(struct cubic *q, double cwnd, cong_time now) {
    q->m.epoch = now;
    q->m.w_est = cwnd;
    q->m.k = 0;
    if (q->m.w_max > cwnd) {
        q->m.k = cbrt((q->m.w_max - cwnd) / q->c);
    } else {
        q->m.w_max = cwnd;
    }
}

static double w_cubic(const struct cubic *q, double t) {
    double d = t - q->m.k;
    return q->c * d * d * d + q->m.w_max;
}

static void cubic_avoid(struct cubic *q, const struct cong_ack *ack, double n) {
    struct cong *cc = &q->w.cc;
    double cwnd = cc->cwnd / cc->mss;
    if (q->m.epoch < 0) {
        start_epoch(q, cwnd, ack->now);
    }
    double t = cong__seconds(cong__elapsed(ack->now, q->m.epoch));
    cong_time rtt = ack->srtt > 0 ? ack->srtt : ack->rtt;
    double ahead = rtt > 0 ? cong__seconds(rtt) : 0;
    double a =
        q->m.w_est < q->m.w_prior ? 3 * (1 - q->beta) / (1 + q->beta) : 1;
    n /= cc->mss;
    q->m.w_est = cong__clean(q->m.w_est + a * n / cwnd);
    if (w_cubic(q, t) < q->m.w_est) {
        cong__set_cwnd(cc, q->m.w_est * cc->mss);
        return;
    }
    double target = fmin(fmax(w_cubic(q, t + ahead), cwnd), 1.5 * cwnd);
    cong__set_cwnd(cc, (cwnd + n * (target - cwnd) / cwnd) * cc->mss);
}

/* A pause of the application moves the epoch along. */
static void skip_pause(struct cubic *q, cong_time now) {
    if (q->m.epoch >= 0) {
        q->m.epoch = cong__later(q->m.epoch, cong__elapsed(now, q->last));
    }
}

static void cubic_ack(struct cong *cc, const struct cong_ack *ack) {
    struct cubic *q = (struct cubic *)cc;
    if (!ack->limited) {
        skip_pause(q, ack->now);
    }
    q->last = ack->now;
    double n = cong__slow_start(cc, cong__growth(ack));
    if (n > 0) {
        cubic_avoid(q, ack, n);
    }
}

/* Remembers the window that was too large; fast convergence. */
static void reduce(struct cubic *q) {
    double cwnd = q->w.cc.cwnd / q->w.cc.mss;
    q->saved = q->m;
    q->m.w_prior = cwnd;
    q->m.w_max = cwnd < q->m.w_max ? cwnd * (1 + q->beta) / 2 : cwnd;
    q->m.epoch = -1;
}

static void cubic_event(struct cong *cc, const struct cong_event *ev) {
    struct cubic *q = (struct cubic *)cc;
    double flight = cong__clean(ev->flight);
    switch (ev->cause) {
    case CONG_LOSS:
        reduce(q);
        cong__cut(cc, q->beta * flight);
        break;
    case CONG_ECN:
        reduce(q);
        cc->ssthresh = fmax(q->beta_ecn * flight, cc->mss);
        cong__set_cwnd(cc, cc->ssthresh);
        break;
    case CONG_RTO:
        reduce(q);
        q->m.w_max = 0;
        cong__timeout(cc, ev, q->beta * flight);
        break;
    case CONG_IDLE:
        skip_pause(q, ev->now);
        q->last = ev->now;
        cong__idle(&q->w, ev);
        break;
    case CONG_UNDO:
        q->m = q->saved;
        break;
    case CONG_RECOVERED:
    case CONG_NOFEEDBACK:
        break;
    }
}

static int cubic_set(struct cong *cc, const char *param, double value) {
    return cong__set_window_param((struct window *)cc, params,
                                  CONG__COUNT(params), param, value);
}

const struct cong_ops cong__cubic = {
    .name = "cubic",
    .size = sizeof(struct cubic),
    .init = cubic_init,
    .ack = cubic_ack,
    .event = cubic_event,
    .set = cubic_set,
};
