/* SPDX-License-Identifier: MPL-2.0 */
/*
 * WestwoodNew.
 *
 * Source: Hagag, El-Sayed 2012, by way of Ayob et al. 2018 (Fig. 1 without its
 * bandwidth terms).  The RTO estimate announced by the former is not published
 * with it; <congestion/rtt.h> is used instead.
 *
 * State: cwnd, ssthresh (bytes); bw (delivery rate of the newest round,
 * bytes/s); gain (growth of congestion avoidance, segments per round trip);
 * rtt_min (smallest RTT, ns).
 * Parameters: iw (segments); ratio_low, ratio_high (of two rounds' rates).
 *
 * Interpretations: the ratio is that of two rounds, 1 before there are two;
 * gain 1 holds on the closed interval from ratio_low to ratio_high; the
 * feedback that ends a round grows the window by the new gain.  A rate below
 * the estimate from an application-limited round is dropped. Responses to loss,
 * timeout and ECN are Westwood's.
 */
#include "libcongestion/westwoodnew.h"

#include <math.h>

static const struct cong__param params[] = {WWN_PARAMS(wwn, )};

void cong__wwn_init(struct wwn *s, cong_time now, cong_time rtt) {
    cong__window_init(&s->w, now);
    s->w.hystart.on = 0;
    cong__bw_round_init(&s->round, now);
    s->ratio_low = 1;
    s->ratio_high = 1.5;
    s->bw = -1;
    s->gain = 1;
    s->rtt_min = rtt;
}

void cong__wwn_estimate(struct wwn *s, double bw) {
    double ratio = s->bw > 0 ? bw / s->bw : 1;
    s->bw = bw;
    if (ratio < s->ratio_low) {
        s->gain = 0;
    } else {
        s->gain = ratio > s->ratio_high ? 2 : 1;
    }
}

void cong__wwn_measure(struct wwn *s, const struct cong_ack *ack) {
    double rate;
    bool app_limited;
    struct cong_ack seen = *ack;
    seen.now = cong__clock_read(&s->w.clock, ack->now);
    if (ack->min_rtt > 0) {
        s->rtt_min = ack->min_rtt;
    }
    if (cong__bw_round_ack(&s->round, &seen, &rate, &app_limited) &&
        !(app_limited && rate < s->bw)) {
        cong__wwn_estimate(s, rate);
    }
}

void cong__wwn_grow(struct wwn *s, double n) {
    struct cong *cc = &s->w.cc;
    n = cong__slow_start(cc, n);
    if (n > 0) {
        cong__set_cwnd(cc, cc->cwnd + s->gain * cc->mss * n / cc->cwnd);
    }
}

double cong__wwn_pipe(const struct wwn *s) {
    return s->rtt_min > 0 ? cong__clean(s->bw) * cong__seconds(s->rtt_min) : 0;
}

static void wwn_init(struct cong *cc, cong_time now, cong_time rtt) {
    cong__wwn_init((struct wwn *)cc, now, rtt);
}

static void wwn_ack(struct cong *cc, const struct cong_ack *ack) {
    struct wwn *s = (struct wwn *)cc;
    cong__wwn_measure(s, ack);
    cong__wwn_grow(s, cong__hystart_growth(&s->w, ack));
}

static void wwn_event(struct cong *cc, const struct cong_event *ev) {
    struct wwn *s = (struct wwn *)cc;
    switch (ev->cause) {
    case CONG_LOSS:
    case CONG_ECN:
        cong__set_ssthresh(cc, cong__wwn_pipe(s));
        cong__set_cwnd(cc, fmin(cc->cwnd, cc->ssthresh));
        break;
    case CONG_RTO:
        cong__timeout(cc, ev, cong__wwn_pipe(s));
        break;
    case CONG_IDLE:
        cong__idle(&s->w, ev);
        break;
    case CONG_RECOVERED:
    case CONG_NOFEEDBACK:
    case CONG_UNDO:
        break;
    }
}

static int wwn_set(struct cong *cc, const char *param, double value) {
    return cong__set_window_param((struct window *)cc, params,
                                  CONG__COUNT(params), param, value);
}

const struct cong_ops cong__westwoodnew = {
    .name = "westwoodnew",
    .size = sizeof(struct wwn),
    .init = wwn_init,
    .ack = wwn_ack,
    .event = wwn_event,
    .set = wwn_set,
};
