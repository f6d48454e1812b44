/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Prague: a scalable controller for L4S.
 *
 * Source: draft-briscoe-iccrg-prague-congestion-control, "Prague Congestion
 * Control"; RFC 9330 and RFC 9331 section 4 (the Prague requirements); the
 * marking estimator is DCTCP's (RFC 8257 section 3.3).
 *
 * State: cwnd, ssthresh (bytes); alpha (mean fraction of marked bytes); acked
 * and marked (bytes since alpha was last updated, at t_alpha); heard (the host
 * counts marked bytes); marks (a mark was seen); lossy (there was a
 * loss in the recovery period). Parameters: iw (segments), hystart, g (weight
 * of an update of alpha), rtt_virt (s; flows with shorter RTTs grow as if their
 * RTT were this), beta (fraction of the flight kept after a loss).
 *
 * Interpretations: alpha is 1 until the first mark, so the first mark halves
 * the window; a mark ends slow start. In a period of marks, unmarked bytes
 * still grow the window, until a loss; the host reports the first one there,
 * too. If the host reports a mark but counts no bytes, the controller responds
 * as to a loss. ECT(1) is always requested; there is no fallback for classic
 * ECN queues.
 */
#include "libcongestion/internal.h"

#include <math.h>

struct prague {
    struct window w;
    double g;
    double rtt_virt;
    double beta;
    double alpha;
    double acked;
    double marked;
    cong_time t_alpha;
    bool heard;
    bool marks;
    bool lossy;
};

static const struct cong__param params[] = {
    CONG__PARAM(prague, g, "g", 0.001, 1),
    CONG__PARAM(prague, rtt_virt, "rtt_virt", 0, 1),
    CONG__PARAM(prague, beta, "beta", 0.1, 0.99),
};

static void prague_init(struct cong *cc, cong_time now, cong_time rtt) {
    struct prague *p = (struct prague *)cc;
    (void)rtt;
    cong__window_init(&p->w, now);
    p->w.hystart.on = 1;
    p->g = 1.0 / 16;
    p->rtt_virt = 0.025;
    p->beta = 0.7;
    p->alpha = 1;
    p->t_alpha = now;
    cc->ect1 = true;
}

static double prague_rtt(const struct cong_ack *ack) {
    cong_time rtt = ack->srtt > 0 ? ack->srtt : ack->rtt;
    return rtt > 0 ? cong__seconds(rtt) : 0;
}

/* Runs once per round trip, or per virtual RTT if that is longer. */
static void prague_update_alpha(struct prague *p, const struct cong_ack *ack,
                                cong_time now) {
    double age = cong__seconds(cong__elapsed(now, p->t_alpha));
    if (!ack->round || age < p->rtt_virt || !(p->acked > 0)) {
        return;
    }
    if (p->marks) {
        p->alpha += p->g * (p->marked / p->acked - p->alpha);
    }
    p->acked = 0;
    p->marked = 0;
    p->t_alpha = now;
}

static double prague_count(struct prague *p, const struct cong_ack *ack) {
    double acked = cong__clean(ack->acked);
    double ce = fmin(cong__clean(ack->ce), acked);
    p->heard |= ce > 0;
    p->marks |= ce > 0;
    p->acked = cong__clean(p->acked + acked);
    p->marked = cong__clean(p->marked + ce);
    return acked - ce;
}

/* Flows with RTTs below the virtual one all grow at the same rate over time. */
static void prague_avoid(struct prague *p, double n, double rtt) {
    struct cong *cc = &p->w.cc;
    double share = rtt > 0 && rtt < p->rtt_virt ? rtt / p->rtt_virt : 1;
    double step = share * share * cc->mss * n / cc->cwnd;
    cong__set_cwnd(cc, cc->cwnd + fmin(step, n));
}

static void prague_ack(struct cong *cc, const struct cong_ack *ack) {
    struct prague *p = (struct prague *)cc;
    struct cong_ack seen = *ack;
    double unmarked = prague_count(p, ack);
    prague_update_alpha(p, ack, cong__clock_read(&p->w.clock, ack->now));
    seen.acked = unmarked;
    if (!p->lossy && p->marks && !(cong__clean(ack->lost) > 0)) {
        seen.recovery = false;
    }
    double n = cong__slow_start(cc, cong__hystart_growth(&p->w, &seen));
    if (n > 0) {
        prague_avoid(p, n, prague_rtt(ack));
    }
}

/* The host calls this once per round trip. */
static void prague_on_mark(struct prague *p, double flight) {
    struct cong *cc = &p->w.cc;
    if (!p->heard) {
        cong__cut(cc, p->beta * flight);
        return;
    }
    p->marks = true;
    cong__cut(cc, (1 - p->alpha / 2) * cc->cwnd);
}

static void prague_event(struct cong *cc, const struct cong_event *ev) {
    struct prague *p = (struct prague *)cc;
    double flight = cong__clean(ev->flight);
    switch (ev->cause) {
    case CONG_LOSS:
        p->lossy = true;
        cong__cut(cc, p->beta * flight);
        break;
    case CONG_ECN:
        prague_on_mark(p, flight);
        break;
    case CONG_RTO:
        p->lossy = false; /* slow start continues */
        cong__timeout(cc, ev, p->beta * flight);
        break;
    case CONG_IDLE:
        cong__idle(&p->w, ev);
        break;
    case CONG_RECOVERED:
    case CONG_UNDO:
        p->lossy = false;
        break;
    case CONG_NOFEEDBACK:
        break;
    }
}

static int prague_set(struct cong *cc, const char *param, double value) {
    return cong__set_window_param((struct window *)cc, params,
                                  CONG__COUNT(params), param, value);
}

const struct cong_ops cong__prague = {
    .name = "prague",
    .size = sizeof(struct prague),
    .init = prague_init,
    .ack = prague_ack,
    .event = prague_event,
    .set = prague_set,
};
