/* SPDX-License-Identifier: MPL-2.0 */
/*
 * CUBIC.
 *
 * Source: RFC 9438 section 4 (equations 1 to 4, fast convergence 4.7, timeouts
 * 4.8), section 5.8 for application pauses; RFC 8511 for ECN.
 *
 * State: cwnd, ssthresh (bytes); w_max, w_prior, w_est (segments); k (s); epoch
 * (start of the stage of congestion avoidance), last (newest feedback).  All
 * but last are restored when a recovery period proves spurious (4.9).
 * Parameters: iw (segments), hystart (1: slow start ends by RFC 9406), C or c
 * (segments/s^3), beta, beta_ecn (both: fraction of the flight that is kept).
 *
 * Interpretations: time in which the application was the limit does not count
 * as time since the epoch; it is measured between feedbacks, and from the last
 * feedback to CONG_IDLE. When a feedback crosses ssthresh, the bytes that slow
 * start does not use go to congestion avoidance. A stage ends when slow start
 * begins, when the host changes the segment size, or when it sets a window that
 * the stage cannot reach. Time does not count while the window is at cwnd_max.
 */
#include "libcongestion/cubic.h"

#include <math.h>

static const struct cong__param params[] = {
    CONG__PARAM(cubic, c, "C", 0.001, 1000),
    CONG__PARAM(cubic, c, "c", 0.001, 1000),
    CONG__PARAM(cubic, beta, "beta", 0.1, 0.99),
    CONG__PARAM(cubic, beta_ecn, "beta_ecn", 0.1, 1),
};

/* The host makes any change between this call and the next. */
static void cubic_leave(struct cubic *q) {
    q->cwnd = q->w.cc.cwnd;
    q->mss = q->w.cc.mss;
}

static void cubic_init(struct cong *cc, cong_time now, cong_time rtt) {
    struct cubic *q = (struct cubic *)cc;
    (void)rtt;
    cong__window_init(&q->w, now);
    q->w.hystart.on = 1;
    q->c = 0.4;
    q->beta = 0.7;
    q->beta_ecn = 0.7;
    q->m.epoch = -1;
    q->saved = q->m;
    q->last = now;
    cubic_leave(q);
}

/* A phase of congestion avoidance begins. */
static void cubic_start_epoch(struct cubic *q, double cwnd, cong_time now) {
    q->m.epoch = now;
    q->m.w_est = cwnd;
    q->m.k = 0;
    if (q->m.w_max > cwnd) {
        q->m.k = cbrt((q->m.w_max - cwnd) / q->c);
    } else {
        q->m.w_max = cwnd;
    }
}

static double cubic_curve(const struct cubic *q, double t) {
    double d = t - q->m.k;
    return q->c * d * d * d + q->m.w_max;
}

static double cubic_age(const struct cubic *q, cong_time now) {
    return cong__seconds(cong__elapsed(now, q->m.epoch));
}

static void cubic_avoid(struct cubic *q, const struct cong_ack *ack, double n) {
    struct cong *cc = &q->w.cc;
    double cwnd = cc->cwnd / cc->mss;
    if (q->m.epoch < 0) {
        cubic_start_epoch(q, cwnd, ack->now);
    }
    double t = cubic_age(q, ack->now);
    cong_time rtt = ack->srtt > 0 ? ack->srtt : ack->rtt;
    double ahead = rtt > 0 ? cong__seconds(rtt) : 0;
    double a =
        q->m.w_est < q->m.w_prior ? 3 * (1 - q->beta) / (1 + q->beta) : 1;
    n /= cc->mss;
    q->m.w_est = cong__clean(q->m.w_est + a * n / cwnd);
    if (cubic_curve(q, t) < q->m.w_est) {
        cong__set_cwnd(cc, fmin(q->m.w_est, cwnd + n) * cc->mss);
        return;
    }
    double target = fmin(fmax(cubic_curve(q, t + ahead), cwnd), 1.5 * cwnd);
    cong__set_cwnd(cc, (cwnd + n * (target - cwnd) / cwnd) * cc->mss);
}

/* The segment size changed: rescales the state so that it means the same
 * bytes. */
static void cubic_rescale(struct cubic_memory *m, double by) {
    m->w_max = cong__clean(m->w_max * by);
    m->w_prior = cong__clean(m->w_prior * by);
    m->w_est = cong__clean(m->w_est * by);
    m->epoch = -1;
}

/* Whether the stage could have reached the window that the host set. */
static bool cubic_fits_epoch(const struct cubic *q, cong_time now) {
    double cwnd = q->w.cc.cwnd / q->w.cc.mss;
    double curve = cubic_curve(q, cubic_age(q, now));
    return cwnd <= fmax(curve, q->m.w_est) && 1.5 * cwnd >= curve;
}

/* Detects whether the host has set the window or the segment size. */
static void cubic_return(struct cubic *q, cong_time now) {
    const struct cong *cc = &q->w.cc;
    if (cc->mss != q->mss) {
        cubic_rescale(&q->m, q->mss / cc->mss);
        cubic_rescale(&q->saved, q->mss / cc->mss);
    } else if (q->m.epoch >= 0 && cc->cwnd != q->cwnd) {
        q->m.w_est = fmin(q->m.w_est, cc->cwnd / cc->mss);
        q->m.epoch = cubic_fits_epoch(q, now) ? q->m.epoch : -1;
    }
}

/* An application pause shifts the epoch. */
static void cubic_skip_pause(struct cubic *q, cong_time now) {
    if (q->m.epoch >= 0) {
        q->m.epoch = cong__later(q->m.epoch, cong__elapsed(now, q->last));
    }
}

static void cubic_take(struct cubic *q, const struct cong_ack *ack) {
    struct cong *cc = &q->w.cc;
    bool full = cc->cwnd >= cc->cwnd_max;
    double n = cong__hystart_growth(&q->w, ack);
    cubic_return(q, ack->now);
    if (!ack->limited || full) {
        cubic_skip_pause(q, ack->now);
    }
    q->last = ack->now;
    if (n > 0 && cc->cwnd < cc->ssthresh) {
        q->m.epoch = -1; /* the stage begins when slow start ends */
        n = cong__slow_start(cc, n);
    }
    if (n > 0 && !full) {
        cubic_avoid(q, ack, n);
        q->m.w_est = fmin(q->m.w_est, cc->cwnd_max / cc->mss);
    }
    cubic_leave(q);
}

static void cubic_ack(struct cong *cc, const struct cong_ack *ack) {
    struct cubic *q = (struct cubic *)cc;
    struct cong_ack seen = *ack;
    seen.now = cong__clock_read(&q->w.clock, ack->now);
    cubic_take(q, &seen);
}

/* An undo reverts all reductions of a recovery period. A timeout belongs to the
 * open period of repair, and ends the repair. */
void cong__cubic_save(struct cubic *q, const struct cong_event *ev) {
    if (ev->count <= 1 && !(ev->cause == CONG_RTO && q->repairing)) {
        q->saved = q->m;
    }
    q->repairing = ev->cause != CONG_RTO;
}

/* Records the window that was too large; fast convergence. */
static void cubic_reduce(struct cubic *q, const struct cong_event *ev) {
    double cwnd = q->w.cc.cwnd / q->w.cc.mss;
    cong__cubic_save(q, ev);
    q->m.w_prior = cwnd;
    q->m.w_max = cwnd < q->m.w_max ? cwnd * (1 + q->beta) / 2 : cwnd;
    q->m.epoch = -1;
}

static void cubic_handle(struct cubic *q, const struct cong_event *ev) {
    struct cong *cc = &q->w.cc;
    double flight = cong__clean(ev->flight);
    switch (ev->cause) {
    case CONG_LOSS:
        cubic_reduce(q, ev);
        cong__cut(cc, q->beta * flight);
        break;
    case CONG_ECN:
        cubic_reduce(q, ev);
        cc->ssthresh = fmax(fmin(q->beta_ecn * flight, cc->cwnd), cc->mss);
        cong__set_cwnd(cc, cc->ssthresh);
        break;
    case CONG_RTO:
        cubic_reduce(q, ev);
        q->m.w_max = 0;
        cong__timeout(cc, ev, q->beta * flight);
        break;
    case CONG_IDLE:
        cubic_skip_pause(q, ev->now);
        q->last = ev->now;
        cong__idle(&q->w, ev);
        break;
    case CONG_UNDO:
        q->m = q->saved;
        q->repairing = false;
        break;
    case CONG_RECOVERED:
        q->repairing = false;
        break;
    case CONG_NOFEEDBACK:
        break;
    }
}

static void cubic_event(struct cong *cc, const struct cong_event *ev) {
    struct cubic *q = (struct cubic *)cc;
    struct cong_event seen = *ev;
    seen.now = cong__clock_read(&q->w.clock, ev->now);
    if (ev->cause != CONG_UNDO) { /* an undo sets the window */
        cubic_return(q, seen.now);
    }
    if (ev->cause == CONG_IDLE) { /* treated as set by the host */
        cubic_leave(q);
    }
    cubic_handle(q, &seen);
    if (ev->cause != CONG_IDLE) {
        cubic_leave(q);
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
