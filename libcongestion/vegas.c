/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Vegas.
 *
 * Source: Brakmo, Peterson 1995, as described by Tsai, Wang, Wang 2014
 * (equations 1 to 3) and by Neglia et al.; constants of the original and of
 * ns-2.
 *
 * State: cwnd, ssthresh (bytes); base (smallest RTT ever, ns); rmin (smallest
 * of this round, ns); samples (of this round); growing (slow start grows every
 * other round). Parameters: iw, alpha, beta, gamma (all segments).
 *
 * Interpretations: thresholds are queued segments, not rates; the queue is cwnd
 * (rmin - base) / rmin, with the RTT as divisor; a round is judged by its
 * smallest RTT; one sample is enough because neither transport delays ACKs; the
 * handshake's RTT is ignored because its packets are short; slow start ends
 * with a cut of one eighth; a negative difference cannot occur, because base is
 * a running minimum; early retransmission belongs to loss detection (RACK does
 * it; the dupack recovery has none, and its throughput is ns-2's within 5 % up
 * to 5 % loss).  Rounds that deliver nothing, are application-limited or fall
 * into a recovery period are not judged.
 */
#include "libcongestion/internal.h"

#include <math.h>

struct vegas {
    struct window w;
    double alpha;
    double beta;
    double gamma;
    double base;
    double rmin;
    double acked; /* bytes in this round */
    unsigned samples;
    bool growing;
};

static const struct cong__param params[] = {
    CONG__PARAM(vegas, alpha, "alpha", 0, 1e6),
    CONG__PARAM(vegas, beta, "beta", 0, 1e6),
    CONG__PARAM(vegas, gamma, "gamma", 0, 1e6),
};

/* Vegas does not go below two segments. */
static void vegas_set_window(struct vegas *v, double cwnd) {
    cong__set_cwnd(&v->w.cc, fmax(cwnd, 2 * v->w.cc.mss));
}

static void vegas_new_round(struct vegas *v) {
    v->rmin = (double)INFINITY;
    v->acked = 0;
    v->samples = 0;
}

static void vegas_init(struct cong *cc, cong_time now, cong_time rtt) {
    struct vegas *v = (struct vegas *)cc;
    (void)rtt;
    cong__window_init(&v->w, now);
    vegas_set_window(v, cc->cwnd);
    v->alpha = 1;
    v->beta = 3;
    v->gamma = 1;
    v->base = (double)INFINITY;
    v->growing = true;
    vegas_new_round(v);
}

static void vegas_leave_slow_start(struct vegas *v) {
    struct cong *cc = &v->w.cc;
    vegas_set_window(v, cc->cwnd * 7 / 8);
    cong__set_ssthresh(cc, fmin(cc->ssthresh, cc->cwnd));
}

static void vegas_judge_round(struct vegas *v) {
    struct cong *cc = &v->w.cc;
    double queued = cc->cwnd * (v->rmin - v->base) / v->rmin;
    if (cc->cwnd < cc->ssthresh) {
        if (!v->growing && queued > v->gamma * cc->mss) {
            vegas_leave_slow_start(v);
        }
        v->growing = !v->growing;
    } else if (queued < v->alpha * cc->mss) {
        vegas_set_window(v, cc->cwnd + cc->mss);
    } else if (queued > v->beta * cc->mss) {
        vegas_set_window(v, cc->cwnd - cc->mss);
    }
}

static void vegas_ack(struct cong *cc, const struct cong_ack *ack) {
    struct vegas *v = (struct vegas *)cc;
    if (ack->rtt > 0) {
        v->base = fmin(v->base, (double)ack->rtt);
        v->rmin = fmin(v->rmin, (double)ack->rtt);
        v->samples++;
    }
    if (v->growing) {
        (void)cong__slow_start(cc, cong__growth(ack));
    }
    v->acked += cong__clean(ack->acked);
    if (!ack->round) {
        return;
    }
    if (v->samples > 0 && v->acked > 0 && ack->limited && !ack->recovery) {
        vegas_judge_round(v);
    }
    vegas_new_round(v);
}

static void vegas_event(struct cong *cc, const struct cong_event *ev) {
    struct vegas *v = (struct vegas *)cc;
    switch (ev->cause) {
    case CONG_LOSS:
    case CONG_ECN:
        cong__cut(cc, cc->cwnd * (ev->count > 1 ? 0.5 : 0.75));
        break;
    case CONG_RTO:
        cong__timeout(cc, ev, cong__clean(ev->flight) / 2);
        vegas_set_window(v, 0);
        break;
    case CONG_IDLE:
        cong__idle(&v->w, ev);
        vegas_set_window(v, cc->cwnd);
        vegas_new_round(v);
        break;
    case CONG_RECOVERED:
    case CONG_NOFEEDBACK:
    case CONG_UNDO:
        break;
    }
}

static int vegas_set(struct cong *cc, const char *param, double value) {
    return cong__set_window_param((struct window *)cc, params,
                                  CONG__COUNT(params), param, value);
}

const struct cong_ops cong__vegas = {
    .name = "vegas",
    .size = sizeof(struct vegas),
    .init = vegas_init,
    .ack = vegas_ack,
    .event = vegas_event,
    .set = vegas_set,
};
