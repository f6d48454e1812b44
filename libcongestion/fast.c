/* SPDX-License-Identifier: MPL-2.0 */
/*
 * FAST.
 *
 * Source: Jin, Wei, Low 2004, as described by Tsai, Wang, Wang 2014; responses
 * to loss and the threshold q_min as in the ns-2 module of Cui and Andrew.
 *
 * State: cwnd, ssthresh (bytes; no slow start of its own); base (smallest RTT,
 * ns); avg (smoothed RTT, ns; 0: none); acked (bytes in this round).
 * Parameters: iw (segments); alpha (segments that the flow keeps queued: about
 * what the path carries in 10 ms, and at most half of its queue; 20 by
 * default); g or gamma (weight of an update); q_min (queueing delay that counts
 * as none, seconds).
 *
 * Interpretations: the paper's n is the target number of this flow's own
 * segments in the queue of the path; one update per round trip; without a queue
 * the window doubles.  Rounds that deliver nothing, are application-limited or
 * fall into a recovery period give no update.
 */
#include "libcongestion/internal.h"

#include <math.h>

struct fast {
    struct window w;
    double alpha;
    double g;
    double q_min;
    double base;
    double avg;
    double acked; /* bytes in this round */
};

static const struct cong__param params[] = {
    CONG__PARAM(fast, alpha, "alpha", 0.1, 1e6),
    CONG__PARAM(fast, g, "g", 0.001, 1),
    CONG__PARAM(fast, g, "gamma", 0.001, 1),
    CONG__PARAM(fast, q_min, "q_min", 0, 1),
};

static void fast_set_window(struct fast *f, double cwnd) {
    cong__set_cwnd(&f->w.cc, fmax(cwnd, 2 * f->w.cc.mss));
}

static void fast_init(struct cong *cc, cong_time now, cong_time rtt) {
    struct fast *f = (struct fast *)cc;
    (void)rtt;
    cong__window_init(&f->w, now);
    fast_set_window(f, cc->cwnd);
    f->alpha = 20;
    f->g = 0.5;
    f->q_min = 0.75e-3;
    f->base = (double)INFINITY;
}

static void fast_measure(struct fast *f, double rtt) {
    f->base = fmin(f->base, rtt);
    if (!(f->avg > 0)) {
        f->avg = rtt;
        return;
    }
    double eta = fmin(3 * f->w.cc.mss / f->w.cc.cwnd, 0.25);
    f->avg += eta * (rtt - f->avg);
}

static void fast_update(struct fast *f) {
    struct cong *cc = &f->w.cc;
    double w = cc->cwnd;
    double queue = (f->avg - f->base) / CONG_NS;
    double k = queue > f->q_min ? f->alpha * cc->mss : f->alpha * w;
    double target = f->base / f->avg * w + k;
    fast_set_window(f, fmin(2 * w, (1 - f->g) * w + f->g * target));
}

static void fast_ack(struct cong *cc, const struct cong_ack *ack) {
    struct fast *f = (struct fast *)cc;
    if (ack->rtt > 0) {
        fast_measure(f, (double)ack->rtt);
    }
    f->acked += cong__clean(ack->acked);
    if (!ack->round) {
        return;
    }
    if (f->acked > 0 && ack->limited && !ack->recovery && f->avg > 0) {
        fast_update(f);
    }
    f->acked = 0;
}

static void fast_event(struct cong *cc, const struct cong_event *ev) {
    struct fast *f = (struct fast *)cc;
    double half = cong__clean(ev->flight) / 2;
    switch (ev->cause) {
    case CONG_LOSS:
    case CONG_ECN:
        cong__cut(cc, half);
        break;
    case CONG_RTO:
        cong__timeout(cc, ev, half);
        fast_set_window(f, 0);
        f->avg = 0;
        break;
    case CONG_IDLE:
        cong__idle(&f->w, ev);
        fast_set_window(f, cc->cwnd);
        f->avg = 0;
        break;
    case CONG_RECOVERED:
    case CONG_NOFEEDBACK:
    case CONG_UNDO:
        break;
    }
}

static int fast_set(struct cong *cc, const char *param, double value) {
    return cong__set_window_param((struct window *)cc, params,
                                  CONG__COUNT(params), param, value);
}

const struct cong_ops cong__fast = {
    .name = "fast",
    .size = sizeof(struct fast),
    .init = fast_init,
    .ack = fast_ack,
    .event = fast_event,
    .set = fast_set,
};
