/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Yam.
 *
 * Source: Tsai, Wang, Wang, "A Transmission Control Protocol with High
 * Throughput of Using Low Earth-Orbit Satellite to Collect Data from the Floats
 * on Sea Surface", 2014.
 *
 * State: cwnd, ssthresh (bytes); ring (newest three windows, bytes), filled
 * (entries in it); last (RTT to compare with, ns; -1: none); verdict
 * (per_round: whether the newest round was faster); open (a recovery period is
 * open). Parameters: iw (segments); chi (fraction of the window kept after a
 * loss); eq_hold (1: an equal RTT changes nothing; for paced senders);
 * per_round (1: compares the RTTs of rounds, not of feedbacks); rto_as_dupack
 * (1: handles a timeout like a loss, as in the text).
 *
 * Interpretations: phases are distinguished by comparison, so ssthresh is a
 * floor of congestion avoidance; an equal RTT counts as congestion, as in the
 * formula (the prose says "greater"); RTTs are compared from feedback to
 * feedback; awnd is the mean of the newest windows, including the current one;
 * one feedback is one step, however much it delivers, and bytes that slow start
 * does not use are discarded; a threshold of at most two segments, or the third
 * loss of the same data, restarts slow start; inflation never exceeds the old
 * window; a timeout starts from one segment.  A feedback that delivers nothing
 * or carries no RTT is not a positive ACK of congestion avoidance.  A restart
 * or a timeout closes the recovery period, so CONG_RECOVERED after it changes
 * nothing.
 */
#include "libcongestion/internal.h"

#include <math.h>

#define RING 3

enum verdict { UNKNOWN, FASTER, SLOWER, EQUAL };

struct yam {
    struct window w;
    double chi;
    double eq_hold;
    double per_round;
    double rto_as_dupack;
    double ring[RING];
    unsigned pushed;
    unsigned filled;
    cong_time last;
    enum verdict verdict;
    bool open;
};

static const struct cong__param params[] = {
    CONG__PARAM(yam, chi, "chi", 0.05, 1),
    CONG__FLAG(yam, eq_hold, "eq_hold"),
    CONG__FLAG(yam, per_round, "per_round"),
    CONG__FLAG(yam, rto_as_dupack, "rto_as_dupack"),
};

static void yam_forget_rtt(struct yam *y) {
    y->last = -1;
    y->verdict = UNKNOWN;
}

static void yam_init(struct cong *cc, cong_time now, cong_time rtt) {
    struct yam *y = (struct yam *)cc;
    (void)rtt;
    cong__window_init(&y->w, now);
    y->w.hystart.on = 0;
    y->chi = 0.75;
    yam_forget_rtt(y);
}

/* Mean of the newest windows, including the current one. */
static double yam_mean_window(struct yam *y) {
    y->ring[y->pushed] = y->w.cc.cwnd;
    y->pushed = (y->pushed + 1) % RING;
    if (y->filled < RING) {
        y->filled++;
    }
    double sum = 0;
    for (unsigned i = 0; i < y->filled; i++) {
        sum += y->ring[i];
    }
    return sum / y->filled;
}

static enum verdict yam_compare(const struct yam *y, cong_time rtt) {
    if (y->last < 0) {
        return UNKNOWN;
    }
    if (rtt == y->last) {
        return EQUAL;
    }
    return rtt < y->last ? FASTER : SLOWER;
}

static void yam_take_step(struct yam *y, enum verdict v) {
    struct cong *cc = &y->w.cc;
    double awnd = yam_mean_window(y);
    if (v == UNKNOWN || (v == EQUAL && y->eq_hold > 0)) {
        return;
    }
    double step = cc->cwnd < awnd ? cc->mss : cc->mss * cc->mss / cc->cwnd;
    cong__set_cwnd(cc, v == FASTER ? cc->cwnd + step : cc->cwnd - step);
}

static void yam_avoid(struct yam *y, const struct cong_ack *ack) {
    bool due = !(y->per_round > 0) || ack->round;
    if (due && ack->rtt > 0) {
        y->verdict = yam_compare(y, ack->rtt);
        y->last = ack->rtt;
    }
    if (ack->rtt > 0 || y->per_round > 0) {
        yam_take_step(y, y->verdict);
    }
}

static void yam_ack(struct cong *cc, const struct cong_ack *ack) {
    struct yam *y = (struct yam *)cc;
    if (!ack->limited) {
        yam_forget_rtt(y);
        return;
    }
    double n = cong__hystart_growth(&y->w, ack);
    if (!(n > 0)) {
        return;
    }
    if (cc->cwnd < cc->ssthresh) {
        (void)cong__slow_start(cc, n);
        if (ack->rtt > 0) {
            y->last = ack->rtt;
        }
        return;
    }
    yam_avoid(y, ack);
}

/* Restarts as at the start of the connection. */
static void yam_restart(struct yam *y) {
    cong__set_cwnd(&y->w.cc, y->w.cc.mss);
    y->w.cc.ssthresh = (double)INFINITY;
    y->w.cc.repair_only = false;
    y->filled = 0;
    y->pushed = 0;
    y->open = false;
    yam_forget_rtt(y);
}

static void yam_reduce(struct yam *y, double missing, unsigned count) {
    struct cong *cc = &y->w.cc;
    double before = cc->cwnd;
    double ssthresh = y->chi * before;
    if (ssthresh <= 2 * cc->mss || count >= 3) {
        yam_restart(y);
        return;
    }
    cc->ssthresh = ssthresh;
    cong__set_cwnd(cc, fmin(ssthresh + missing, before));
    cc->repair_only = true;
    y->open = true;
}

static void yam_time_out(struct yam *y, const struct cong_event *ev) {
    if (y->rto_as_dupack > 0) {
        yam_reduce(y, fmax(cong__clean(ev->missing), cong__clean(ev->flight)),
                   ev->count);
        return;
    }
    cong__timeout(&y->w.cc, ev, y->chi * y->w.cc.cwnd);
    y->w.cc.repair_only = false;
    y->open = false;
}

static void yam_on_recovered(struct yam *y) {
    if (y->open) {
        cong__set_cwnd(&y->w.cc, y->w.cc.ssthresh);
    }
    y->w.cc.repair_only = false;
    y->open = false;
    yam_forget_rtt(y);
}

static void yam_event(struct cong *cc, const struct cong_event *ev) {
    struct yam *y = (struct yam *)cc;
    switch (ev->cause) {
    case CONG_LOSS:
        yam_reduce(y, cong__clean(ev->missing), ev->count);
        break;
    case CONG_ECN:
        cong__cut(cc, y->chi * cc->cwnd);
        y->open = true;
        break;
    case CONG_RTO:
        yam_time_out(y, ev);
        break;
    case CONG_RECOVERED:
        yam_on_recovered(y);
        break;
    case CONG_IDLE:
        cong__idle(&y->w, ev);
        yam_forget_rtt(y);
        break;
    case CONG_UNDO:
        cc->repair_only = false;
        y->open = false;
        break;
    case CONG_NOFEEDBACK:
        break;
    }
}

static int yam_set(struct cong *cc, const char *param, double value) {
    return cong__set_window_param((struct window *)cc, params,
                                  CONG__COUNT(params), param, value);
}

const struct cong_ops cong__yam = {
    .name = "yam",
    .size = sizeof(struct yam),
    .init = yam_init,
    .ack = yam_ack,
    .event = yam_event,
    .set = yam_set,
};
