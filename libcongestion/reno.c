/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Reno, NewReno and the controller of SACK-based recovery.
 *
 * Source: RFC 5681 sections 3.1 and 3.2; RFC 6582; RFC 6675; RFC 8511 for the
 * response to ECN marks. The three share one law.  What differs is the recovery
 * engine that the host runs: <congestion/recovery.h> for Reno and NewReno,
 * <congestion/prr.h> for SACK; inflation of the window lives there, not here.
 *
 * State: cwnd, ssthresh (bytes). Parameters: iw (segments), beta_ecn (fraction
 * of the flight kept after an ECN mark; 0.5 in RFC 3168, 0.8 in RFC 8511).
 *
 * Interpretation: the flight is halved, not the window (RFC 5681 warns against
 * the latter). A lost retransmission is a second indication of congestion and
 * halves again (RFC 5681 section 4.3).
 */
#include "libcongestion/internal.h"

struct reno {
    struct window w;
    double beta_ecn;
};

static const struct cong__param params[] = {
    CONG__PARAM(reno, beta_ecn, "beta_ecn", 0.1, 1),
};

static void reno_init(struct cong *cc, cong_time now, cong_time rtt) {
    struct reno *r = (struct reno *)cc;
    (void)rtt;
    cong__window_init(&r->w, now);
    r->w.hystart.on = 0;
    r->beta_ecn = 0.5;
}

static void reno_ack(struct cong *cc, const struct cong_ack *ack) {
    struct reno *r = (struct reno *)cc;
    cong__grow(cc, cong__hystart_growth(&r->w, ack));
}

static void reno_event(struct cong *cc, const struct cong_event *ev) {
    struct reno *r = (struct reno *)cc;
    double flight = cong__clean(ev->flight);
    switch (ev->cause) {
    case CONG_LOSS:
        cong__cut(cc, flight / 2);
        break;
    case CONG_ECN:
        cong__cut(cc, r->beta_ecn * flight);
        break;
    case CONG_RTO:
        cong__timeout(cc, ev, flight / 2);
        break;
    case CONG_IDLE:
        cong__idle(&r->w, ev);
        break;
    case CONG_RECOVERED:
    case CONG_NOFEEDBACK:
    case CONG_UNDO:
        break;
    }
}

static int reno_set(struct cong *cc, const char *param, double value) {
    return cong__set_window_param((struct window *)cc, params,
                                  CONG__COUNT(params), param, value);
}

const struct cong_ops cong__reno = {
    .name = "reno",
    .size = sizeof(struct reno),
    .init = reno_init,
    .ack = reno_ack,
    .event = reno_event,
    .set = reno_set,
};

const struct cong_ops cong__newreno = {
    .name = "newreno",
    .size = sizeof(struct reno),
    .init = reno_init,
    .ack = reno_ack,
    .event = reno_event,
    .set = reno_set,
};

const struct cong_ops cong__sack = {
    .name = "sack",
    .size = sizeof(struct reno),
    .init = reno_init,
    .ack = reno_ack,
    .event = reno_event,
    .set = reno_set,
};
