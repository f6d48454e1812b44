/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Westwood, and Westwood+ by default.
 *
 * Source: Casetti et al. 2002 (window rules; filter in bandwidth.c), as used by
 * Neglia et al.; Westwood+ and the start of the filter as in Linux.
 *
 * State: cwnd, ssthresh (bytes); a filter (bytes/s); rtt_min (smallest RTT,
 * ns). Parameters: iw (segments); plus (1: one sample per round from the
 * delivery rate; 0: one per feedback, for replays); tau (s) and m of the
 * filter.
 *
 * Interpretations: one filter serves both forms, fed per round or per feedback;
 * only the latter has silent steps. Without rate samples from the host, the
 * filter runs per feedback, regardless of plus.  Repeated timeouts keep
 * ssthresh.  A sample below the estimate, taken while the application was the
 * limit, is dropped.
 */
#include "libcongestion/bandwidth.h"
#include "libcongestion/internal.h"

#include <math.h>

struct westwood {
    struct window w;
    struct bw_filter filter;
    struct bw_round round;
    double plus;
    cong_time rtt_min;
    bool sampled; /* the host gives rate samples */
};

static const struct cong__param params[] = {
    CONG__FLAG(westwood, plus, "plus"),
    CONG__PARAM(westwood, filter.tau, "tau", 0.001, 100),
    CONG__PARAM(westwood, filter.m, "m", 1, 100),
};

static void westwood_init(struct cong *cc, cong_time now, cong_time rtt) {
    struct westwood *w = (struct westwood *)cc;
    cong__window_init(&w->w, now);
    w->w.hystart.on = 0;
    cong__bw_filter_init(&w->filter, now);
    cong__bw_round_init(&w->round, now);
    w->plus = 1;
    w->rtt_min = rtt;
}

static void westwood_sample_round(struct westwood *w,
                                  const struct cong_ack *ack) {
    double rate;
    bool app_limited;
    if (!w->sampled) {
        w->sampled = true;
        w->filter.primed = false;
    }
    if (cong__bw_round_ack(&w->round, ack, &rate, &app_limited) &&
        !(app_limited && rate < w->filter.bw)) {
        cong__bw_filter_round(&w->filter, rate, ack->now);
    }
}

static void westwood_ack(struct cong *cc, const struct cong_ack *ack) {
    struct westwood *w = (struct westwood *)cc;
    struct cong_ack seen = *ack;
    double n = cong__clean(ack->acked);
    seen.now = cong__clock_read(&w->w.clock, ack->now);
    if (ack->min_rtt > 0) {
        w->rtt_min = ack->min_rtt;
    }
    if (w->plus > 0 && (w->sampled || ack->rs != NULL)) {
        westwood_sample_round(w, &seen);
    } else if (n > 0) {
        cong__bw_filter_ack(&w->filter, n, seen.now, cong__app_limited(ack));
    }
    cong__grow(cc, cong__hystart_growth(&w->w, ack));
}

/* Size of the pipe, bytes. */
static double westwood_pipe_size(struct westwood *w, cong_time now) {
    if (!w->sampled) {
        cong__bw_filter_silence(&w->filter, now);
    }
    return w->rtt_min > 0 ? w->filter.bw * cong__seconds(w->rtt_min) : 0;
}

static void westwood_event(struct cong *cc, const struct cong_event *ev) {
    struct westwood *w = (struct westwood *)cc;
    cong_time now = cong__clock_read(&w->w.clock, ev->now);
    switch (ev->cause) {
    case CONG_LOSS:
    case CONG_ECN:
        cong__set_ssthresh(cc, westwood_pipe_size(w, now));
        cong__set_cwnd(cc, fmin(cc->cwnd, cc->ssthresh));
        break;
    case CONG_RTO:
        cong__timeout(cc, ev, westwood_pipe_size(w, now));
        break;
    case CONG_IDLE:
        cong__idle(&w->w, ev);
        break;
    case CONG_RECOVERED:
    case CONG_NOFEEDBACK:
    case CONG_UNDO:
        break;
    }
}

static int westwood_set(struct cong *cc, const char *param, double value) {
    return cong__set_window_param((struct window *)cc, params,
                                  CONG__COUNT(params), param, value);
}

const struct cong_ops cong__westwood = {
    .name = "westwood",
    .size = sizeof(struct westwood),
    .init = westwood_init,
    .ack = westwood_ack,
    .event = westwood_event,
    .set = westwood_set,
};
