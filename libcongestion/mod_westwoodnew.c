/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Mod WestwoodNew.
 *
 * Source: Ayob, Subramaniam, Othman, Zulkarnain, "An enhanced congestion
 * control algorithm for LEO satellite networks", 2018, Fig. 1 to 3.
 *
 * State: WestwoodNew's; in literal mode also t_ack (newest feedback) and
 * waiting (bytes at the same instant). Parameters: iw, ratio_low, ratio_high as
 * WestwoodNew; slow_start_pipes and pipes (limits of the bandwidth term, in
 * bandwidth-delay products); literal (1: as printed, per feedback and without
 * limit, for comparison).  The paper's 55 segments are cwnd_max.
 *
 * Interpretations: the branches of Fig. 1 are evaluated in order, so ratios of
 * 1 and 1.5 both give gain 1; Fig. 2 is ssthresh = max(bandwidth term, half the
 * window) and cwnd = min(cwnd, ssthresh); Fig. 3 is missing; we assume the same
 * ssthresh with a window of one segment.  As printed, the bandwidth term, which
 * is itself a full pipe, is added per ACK from the unfiltered ratio of one ACK
 * to one gap, which makes the window explode.  Here it is added once per round,
 * from the rate of the round, and never beyond 3 pipes in slow start and 2
 * after it.  The feedback that ends a round first grows the window by the old
 * gain.
 */
#include "libcongestion/westwoodnew.h"

#include <math.h>

struct mod_wwn {
    struct wwn s;
    double slow_start_pipes;
    double pipes;
    double literal;
    double waiting;
    cong_time t_ack;
};

static const struct cong__param params[] = {
    WWN_PARAMS(mod_wwn, s.),
    CONG__PARAM(mod_wwn, slow_start_pipes, "slow_start_pipes", 1, 1000),
    CONG__PARAM(mod_wwn, pipes, "pipes", 1, 1000),
    CONG__FLAG(mod_wwn, literal, "literal"),
};

static void mod_wwn_init(struct cong *cc, cong_time now, cong_time rtt) {
    struct mod_wwn *m = (struct mod_wwn *)cc;
    cong__wwn_init(&m->s, now, rtt);
    m->slow_start_pipes = 3;
    m->pipes = 2;
    m->t_ack = now;
}

/* The bandwidth term of a round. */
static void mod_wwn_add_pipe(struct mod_wwn *m) {
    struct cong *cc = &m->s.w.cc;
    double pipe = cong__wwn_pipe(&m->s);
    double add = m->s.gain / 2 * pipe;
    double limit = m->pipes * pipe;
    if (cc->cwnd < cc->ssthresh) {
        add = pipe;
        limit = fmin(m->slow_start_pipes * pipe, cc->ssthresh);
    }
    cong__set_cwnd(cc, fmin(cc->cwnd + add, fmax(cc->cwnd, limit)));
}

/* Measures the rate of one feedback over the gap before it. */
static void mod_wwn_measure_literally(struct mod_wwn *m,
                                      const struct cong_ack *ack) {
    cong_time now = cong__clock_read(&m->s.w.clock, ack->now);
    cong_time gap = cong__elapsed(now, m->t_ack);
    m->waiting += cong__clean(ack->acked);
    if (ack->min_rtt > 0) {
        m->s.rtt_min = ack->min_rtt;
    }
    if (gap > 0) {
        cong__wwn_estimate(&m->s, cong__clean(m->waiting / cong__seconds(gap)));
        m->waiting = 0;
        m->t_ack = now;
    }
}

/* Fig. 1 as printed. */
static void mod_wwn_grow_literally(struct mod_wwn *m, double n) {
    struct cong *cc = &m->s.w.cc;
    double pipe = cong__wwn_pipe(&m->s);
    if (!(n > 0)) {
        return;
    }
    if (cc->cwnd < cc->ssthresh) {
        cong__set_cwnd(cc, cc->cwnd + n + pipe);
        return;
    }
    double step = m->s.gain * cc->mss * n / cc->cwnd;
    cong__set_cwnd(cc, cc->cwnd + step + m->s.gain / 2 * pipe);
}

static void mod_wwn_ack(struct cong *cc, const struct cong_ack *ack) {
    struct mod_wwn *m = (struct mod_wwn *)cc;
    double n = cong__hystart_growth(&m->s.w, ack);
    if (m->literal > 0) {
        if (cong__clean(ack->acked) > 0) {
            mod_wwn_measure_literally(m, ack);
        }
        mod_wwn_grow_literally(m, n);
        return;
    }
    cong__wwn_grow(&m->s, n);
    cong__wwn_measure(&m->s, ack);
    if (ack->round && ack->limited && !ack->recovery) {
        mod_wwn_add_pipe(m);
    }
}

static void mod_wwn_event(struct cong *cc, const struct cong_event *ev) {
    struct mod_wwn *m = (struct mod_wwn *)cc;
    double target = fmax(cong__wwn_pipe(&m->s), cc->cwnd / 2);
    switch (ev->cause) {
    case CONG_LOSS:
    case CONG_ECN:
        cong__set_ssthresh(cc, target);
        cong__set_cwnd(cc, fmin(cc->cwnd, cc->ssthresh));
        break;
    case CONG_RTO:
        cong__timeout(cc, ev, target);
        break;
    case CONG_IDLE:
        cong__idle(&m->s.w, ev);
        break;
    case CONG_RECOVERED:
    case CONG_NOFEEDBACK:
    case CONG_UNDO:
        break;
    }
}

static int mod_wwn_set(struct cong *cc, const char *param, double value) {
    return cong__set_window_param((struct window *)cc, params,
                                  CONG__COUNT(params), param, value);
}

const struct cong_ops cong__mod_westwoodnew = {
    .name = "mod-westwoodnew",
    .size = sizeof(struct mod_wwn),
    .init = mod_wwn_init,
    .ack = mod_wwn_ack,
    .event = mod_wwn_event,
    .set = mod_wwn_set,
};
