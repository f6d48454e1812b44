/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Tibet.
 *
 * Source: Capone, Fratta, Martignon 2004, as described by Neglia et al.; the
 * estimator is in bandwidth.c, the responses are Westwood's.
 *
 * State: cwnd, ssthresh (bytes); the estimator; rtt_min (smallest RTT, ns).
 * Parameters: iw (segments); alpha (pole of the averages of length and
 * interval); T0 or t0 (time constant of the estimate, s; a few RTTs).
 *
 * Interpretations: the averages are of acknowledged lengths and gaps between
 * ACKs, not of transmissions; the first interval starts with the connection;
 * the first after a silence is not averaged; while the application is the
 * limit, the estimate may rise but not fall. The values of alpha and T0 are our
 * choice.
 */
#include "libcongestion/bandwidth.h"
#include "libcongestion/internal.h"

#include <math.h>

struct tibet {
    struct window w;
    struct bw_tibet estimate;
    cong_time rtt_min;
};

static const struct cong__param params[] = {
    CONG__PARAM(tibet, estimate.alpha, "alpha", 0, 0.9999),
    CONG__PARAM(tibet, estimate.t0, "T0", 0.001, 100),
    CONG__PARAM(tibet, estimate.t0, "t0", 0.001, 100),
};

static void tibet_init(struct cong *cc, cong_time now, cong_time rtt) {
    struct tibet *t = (struct tibet *)cc;
    cong__window_init(&t->w, now);
    t->w.hystart.on = 0;
    cong__bw_tibet_init(&t->estimate, now);
    t->rtt_min = rtt;
}

static void tibet_ack(struct cong *cc, const struct cong_ack *ack) {
    struct tibet *t = (struct tibet *)cc;
    double n = cong__clean(ack->acked);
    if (ack->min_rtt > 0) {
        t->rtt_min = ack->min_rtt;
    }
    if (n > 0) {
        cong__bw_tibet_ack(&t->estimate, n,
                           cong__clock_read(&t->w.clock, ack->now),
                           cong__app_limited(ack));
    }
    cong__grow(cc, cong__hystart_growth(&t->w, ack));
}

static double tibet_pipe_size(const struct tibet *t) {
    return t->rtt_min > 0 ? t->estimate.bw * cong__seconds(t->rtt_min) : 0;
}

static void tibet_event(struct cong *cc, const struct cong_event *ev) {
    struct tibet *t = (struct tibet *)cc;
    switch (ev->cause) {
    case CONG_LOSS:
    case CONG_ECN:
        cong__set_ssthresh(cc, tibet_pipe_size(t));
        cong__set_cwnd(cc, fmin(cc->cwnd, cc->ssthresh));
        break;
    case CONG_RTO:
        cong__timeout(cc, ev, tibet_pipe_size(t));
        break;
    case CONG_IDLE:
        cong__idle(&t->w, ev);
        t->estimate.t_ack = -1;
        break;
    case CONG_RECOVERED:
    case CONG_NOFEEDBACK:
    case CONG_UNDO:
        break;
    }
}

static int tibet_set(struct cong *cc, const char *param, double value) {
    return cong__set_window_param((struct window *)cc, params,
                                  CONG__COUNT(params), param, value);
}

const struct cong_ops cong__tibet = {
    .name = "tibet",
    .size = sizeof(struct tibet),
    .init = tibet_init,
    .ack = tibet_ack,
    .event = tibet_event,
    .set = tibet_set,
};
