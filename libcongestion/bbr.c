/* SPDX-License-Identifier: MPL-2.0 */
/*
 * BBR, version 3.
 *
 * Source: draft-ietf-ccwg-bbr (2026): state machine, gains, ProbeRTT, restart
 * from idle, undo, rate and window control; the model is in bbr_model.c.
 *
 * State: see bbr.h.  Parameters: iw (segments), loss_threshold, beta, headroom,
 * margin (fractions), seed (of the randomised time between probes; connections
 * that start at different times differ anyway).
 *
 * Interpretations, where the interface gives sums per feedback or the draft is
 * open: the host defines rounds; if a phase that must last a full round begins
 * within one, the end of that round is ignored. Losses of one feedback count as
 * detected one segment at a time, with the flight of the rate sample, or,
 * without a sample, the current flight plus the losses of the round. A feedback
 * that delivers up to two segments reports one lost range; any other reports
 * one range per lost segment. The window counts as full when less than a
 * segment is free. Rate samples of ProbeRTT and of the round after it count as
 * application-limited. An ECN mark counts as loss above the threshold. The
 * window does not grow while the application is the limit; it does during
 * recovery, which the model already bounds.  ssthresh is not used.
 */
#include "libcongestion/bbr.h"

#include <math.h>

#define STARTUP_GAIN 2.77

static const struct cong__param params[] = {
    CONG__PARAM(bbr, loss_threshold, "loss_threshold", 0.001, 0.5),
    CONG__PARAM(bbr, beta, "beta", 0.1, 1),
    CONG__PARAM(bbr, headroom, "headroom", 0, 0.9),
    CONG__PARAM(bbr, margin, "margin", 0, 0.5),
    CONG__PARAM(bbr, seed, "seed", 0, 1e15),
};

static const struct gains {
    double pacing;
    double cwnd;
} gains[] = {
    [BBR_STARTUP] = {STARTUP_GAIN, 2}, [BBR_DRAIN] = {0.5, 2},
    [BBR_PROBE_DOWN] = {0.9, 2},       [BBR_PROBE_CRUISE] = {1, 2},
    [BBR_PROBE_REFILL] = {1, 2},       [BBR_PROBE_UP] = {1.25, 2.25},
    [BBR_PROBE_RTT] = {1, 0.5},
};

double cong__bbr_pacing_gain(const struct bbr *b) {
    return gains[b->state].pacing;
}

double cong__bbr_cwnd_gain(const struct bbr *b) {
    return gains[b->state].cwnd;
}

void cong__bbr_set_pacing(struct bbr *b, double gain) {
    double rate = cong__clean(gain * b->bw * (1 - b->margin));
    if (rate > 0 && (b->full_bw_reached || rate > b->w.cc.pacing_rate)) {
        b->w.cc.pacing_rate = rate;
    }
}

/* The bounds that losses set. */
static void bbr_bound_cwnd(struct bbr *b) {
    double cap = (double)INFINITY;
    if (b->state == BBR_PROBE_RTT || b->state == BBR_PROBE_CRUISE) {
        cap = cong__bbr_with_headroom(b);
    } else if (cong__bbr_in_probe_bw(b)) {
        cap = b->inflight_longterm;
    }
    cap = fmin(cap, b->inflight_shortterm);
    cap = fmax(cap, BBR_MIN_PIPE * b->w.cc.mss);
    cong__set_cwnd(&b->w.cc, fmin(b->w.cc.cwnd, cap));
}

static void bbr_set_cwnd(struct bbr *b) {
    struct cong *cc = &b->w.cc;
    double bdp = cong__bbr_bdp(b, cong__bbr_cwnd_gain(b));
    double cap = cong__bbr_quantize(b, bdp + cong__bbr_extra_acked(b));
    double n = b->s.grows ? b->s.acked : 0;
    double cwnd = cc->cwnd;
    if (b->full_bw_reached) {
        cwnd = fmin(cwnd + n, cap);
    } else if (cwnd < cap || b->delivered < b->w.iw * cc->mss) {
        cwnd += n;
    }
    cwnd = fmax(cwnd, BBR_MIN_PIPE * cc->mss);
    if (b->state == BBR_PROBE_RTT) {
        cwnd = fmin(cwnd, cong__bbr_probe_rtt_cwnd(b));
    }
    cong__set_cwnd(cc, cwnd);
    bbr_bound_cwnd(b);
}

static void bbr_initial_rate(struct bbr *b, cong_time rtt) {
    double r = rtt > 0 ? cong__seconds(rtt) : 0.001;
    b->w.cc.pacing_rate = STARTUP_GAIN * b->w.iw * b->w.cc.mss / r;
    b->has_rtt = rtt > 0;
}

static void bbr_init(struct cong *cc, cong_time now, cong_time rtt) {
    struct bbr *b = (struct bbr *)cc;
    cong__window_init(&b->w, now);
    b->loss_threshold = 0.02;
    b->beta = 0.7;
    b->headroom = 0.15;
    b->margin = 0.01;
    b->random = (uint64_t)now * UINT64_C(0x9E3779B97F4A7C15) + 1;
    b->state = BBR_STARTUP;
    cong__bbr_model_init(b, now, rtt);
    bbr_initial_rate(b, rtt);
}

static void bbr_new_round(struct bbr *b, const struct cong_ack *ack) {
    b->round_start = ack->round && !b->skip_round;
    if (ack->round) {
        b->skip_round = false;
    }
    if (b->round_start) {
        b->rounds++;
        b->since_probe_up++;
        b->limited[1] = b->limited[0];
        b->limited[0] = false;
    }
    double flight = cong__clean(ack->flight);
    b->limited[0] = b->limited[0] || flight + b->w.cc.mss > b->w.cc.cwnd;
}

static void bbr_take_sample(struct bbr *b, const struct cong_ack *ack) {
    double acked = cong__clean(ack->acked);
    double lost = cong__clean(ack->lost);
    b->delivered += acked;
    b->s = (struct bbr_sample){
        .now = ack->now,
        .acked = acked,
        .lost_now = lost,
        .inflight = cong__clean(cong__clean(ack->flight) - acked - lost),
        .prior = ack->round ? b->delivered : -1,
        .cwnd_limited = b->limited[0] || b->limited[1],
        .grows = ack->limited,
        .recovery = ack->recovery,
        .app_limited = !ack->limited,
    };
    const struct cong_rate_sample *rs = ack->rs;
    if (rs == NULL || !(cong__clean(rs->rate) > 0)) {
        return;
    }
    b->s.rate = cong__clean(rs->rate);
    b->s.delivered = cong__clean(rs->delivered);
    b->s.tx_in_flight = cong__clean(rs->tx_in_flight);
    b->s.lost = cong__clean(rs->lost);
    b->s.app_limited = rs->app_limited || b->state == BBR_PROBE_RTT ||
                       b->rounds < b->samples_after;
    if (b->s.delivered > 0 && b->s.delivered <= b->delivered) {
        b->s.prior = b->delivered - b->s.delivered;
    }
}

static void bbr_take(struct bbr *b, const struct cong_ack *ack) {
    cong_time rtt = ack->rtt > 0 ? ack->rtt : -1;
    if (rtt < 0 && isinf(b->min_rtt)) {
        rtt = ack->min_rtt;
    }
    if (!b->has_rtt && rtt > 0) {
        bbr_initial_rate(b, rtt);
    }
    bbr_new_round(b, ack);
    bbr_take_sample(b, ack);
    cong__bbr_handle_loss(b);
    cong__bbr_model_update(b);
    cong__bbr_check_startup(b);
    cong__bbr_check_drain(b);
    cong__bbr_update_cycle(b);
    cong__bbr_model_rtt(b, rtt);
    cong__bbr_check_probe_rtt(b);
    cong__bbr_model_advance(b);
    cong__bbr_set_pacing(b, cong__bbr_pacing_gain(b));
    bbr_set_cwnd(b);
}

static void bbr_ack(struct cong *cc, const struct cong_ack *ack) {
    struct bbr *b = (struct bbr *)cc;
    struct cong_ack seen = *ack;
    seen.now = cong__clock_read(&b->w.clock, ack->now);
    bbr_take(b, &seen);
}

static void bbr_on_ecn(struct bbr *b, const struct cong_event *ev,
                       cong_time now) {
    b->s.now = now;
    cong__bbr_note_loss(b);
    if (b->state == BBR_STARTUP) {
        cong__bbr_leave_startup(b);
    } else if (b->probe_sample) {
        cong__bbr_too_high(b, cong__clean(ev->flight), false);
    }
}

static void bbr_on_idle(struct bbr *b, cong_time now) {
    b->s.now = now;
    b->idle_restart = true;
    b->extra_start = now;
    b->extra_delivered = 0;
    if (cong__bbr_in_probe_bw(b)) {
        cong__bbr_set_pacing(b, 1);
    } else if (b->state == BBR_PROBE_RTT) {
        cong__bbr_check_probe_rtt_done(b, now);
    }
}

static void bbr_on_undo(struct bbr *b) {
    cong__bbr_restore_cwnd(b);
    b->in_recovery = false;
    b->loss_in_round = false;
    cong__bbr_reset_full_bw(b);
    b->bw_shortterm = fmax(b->bw_shortterm, b->undo_bw_shortterm);
    b->inflight_shortterm =
        fmax(b->inflight_shortterm, b->undo_inflight_shortterm);
    b->inflight_longterm =
        fmax(b->inflight_longterm, b->undo_inflight_longterm);
    if (b->undo_startup && b->state != BBR_STARTUP) {
        b->full_bw_reached = false;
        b->state = b->state == BBR_PROBE_RTT ? BBR_PROBE_RTT : BBR_STARTUP;
    } else if (b->undo_probe_up && b->state != BBR_PROBE_UP &&
               b->state != BBR_PROBE_RTT) {
        cong__bbr_start_refill(b);
    }
    b->undo_startup = false;
    b->undo_probe_up = false;
}

/* The draft declares everything in flight lost and then allows one segment more
 * than is in flight; the event has the flight before that. */
static void bbr_on_rto(struct bbr *b) {
    cong__bbr_note_loss(b);
    cong__bbr_save_cwnd(b);
    b->in_recovery = true;
    cong__set_cwnd(&b->w.cc, b->w.cc.mss);
}

static void bbr_event(struct cong *cc, const struct cong_event *ev) {
    struct bbr *b = (struct bbr *)cc;
    cong_time now = cong__clock_read(&b->w.clock, ev->now);
    switch (ev->cause) {
    case CONG_LOSS:
        cong__bbr_note_loss(b);
        cong__bbr_save_cwnd(b);
        b->in_recovery = true;
        break;
    case CONG_ECN:
        bbr_on_ecn(b, ev, now);
        break;
    case CONG_RTO:
        bbr_on_rto(b);
        break;
    case CONG_RECOVERED:
        b->in_recovery = false;
        cong__bbr_restore_cwnd(b);
        bbr_bound_cwnd(b);
        break;
    case CONG_IDLE:
        bbr_on_idle(b, now);
        break;
    case CONG_UNDO:
        bbr_on_undo(b);
        break;
    case CONG_NOFEEDBACK:
        break;
    }
}

static int bbr_set(struct cong *cc, const char *param, double value) {
    struct bbr *b = (struct bbr *)cc;
    int result = cong__set_window_param(&b->w, params, CONG__COUNT(params),
                                        param, value);
    if (result == 0 && !(b->delivered > 0)) {
        bbr_initial_rate(b, isinf(b->min_rtt) ? -1 : cong__ns(b->min_rtt));
    }
    return result;
}

const struct cong_ops cong__bbr = {
    .name = "bbr",
    .size = sizeof(struct bbr),
    .init = bbr_init,
    .ack = bbr_ack,
    .event = bbr_event,
    .set = bbr_set,
};
