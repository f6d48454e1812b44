/* SPDX-License-Identifier: MPL-2.0 */
/*
 * BBR's model of the path: bandwidth, RTT, aggregation, and how much may be in
 * flight.  Source: draft-ietf-ccwg-bbr, "Updating Network Path Model
 * Parameters".
 */
#include "libcongestion/bbr.h"

#include <math.h>

#define MIN_RTT_WINDOW INT64_C(10000000000)
#define PROBE_RTT_INTERVAL INT64_C(5000000000)
#define QUANTUM_MAX 65536
#define EXTRA_ROUNDS 5 /* two slots make the window of 10 rounds */

void cong__bbr_reset_signals(struct bbr *b) {
    b->loss_in_round = false;
    b->bw_latest = 0;
    b->inflight_latest = 0;
}

void cong__bbr_reset_shortterm(struct bbr *b) {
    b->bw_shortterm = (double)INFINITY;
    b->inflight_shortterm = (double)INFINITY;
}

void cong__bbr_reset_full_bw(struct bbr *b) {
    b->full_bw = 0;
    b->full_bw_count = 0;
    b->full_bw_now = false;
}

void cong__bbr_model_init(struct bbr *b, cong_time now, cong_time rtt) {
    b->min_rtt = rtt > 0 ? cong__seconds(rtt) : (double)INFINITY;
    b->min_rtt_stamp = now;
    b->probe_rtt_delay = (double)INFINITY;
    b->probe_rtt_stamp = now;
    b->probe_rtt_done = -1;
    b->extra_start = now;
    b->inflight_longterm = (double)INFINITY;
    b->up_per_segment = (double)INFINITY;
    cong__bbr_reset_signals(b);
    cong__bbr_reset_shortterm(b);
    cong__bbr_reset_full_bw(b);
}

static bool bbr_is_probing(const struct bbr *b) {
    return b->state == BBR_STARTUP || b->state == BBR_PROBE_REFILL ||
           b->state == BBR_PROBE_UP;
}

static void bbr_update_max_bw(struct bbr *b) {
    const struct bbr_sample *s = &b->s;
    if (s->rate > 0 && (s->rate >= b->max_bw || !s->app_limited)) {
        b->bw_slot[0] = fmax(b->bw_slot[0], s->rate);
        b->max_bw = fmax(b->bw_slot[0], b->bw_slot[1]);
    }
}

/* Losses outside a probe lower the bounds towards the current delivery. */
static void bbr_adapt_lower_bounds(struct bbr *b) {
    if (bbr_is_probing(b) || !b->loss_in_round) {
        return;
    }
    if (isinf(b->bw_shortterm)) {
        b->bw_shortterm = b->max_bw;
    }
    if (isinf(b->inflight_shortterm)) {
        b->inflight_shortterm = b->w.cc.cwnd;
    }
    b->bw_shortterm = fmax(b->bw_latest, b->beta * b->bw_shortterm);
    b->inflight_shortterm =
        fmax(b->inflight_latest, b->beta * b->inflight_shortterm);
}

static void bbr_update_latest(struct bbr *b) {
    const struct bbr_sample *s = &b->s;
    b->bw_latest = fmax(b->bw_latest, s->rate);
    b->inflight_latest = fmax(b->inflight_latest, s->delivered);
    b->loss_round_start = s->prior >= b->loss_round;
    if (b->loss_round_start) {
        b->loss_round = b->delivered;
    }
}

/* Tracks how much more is acknowledged than the bandwidth explains. */
static void bbr_update_aggregation(struct bbr *b) {
    const struct bbr_sample *s = &b->s;
    double interval = cong__seconds(cong__elapsed(s->now, b->extra_start));
    double expected = b->bw * interval;
    if (b->extra_delivered <= expected) {
        b->extra_delivered = 0;
        b->extra_start = s->now;
        expected = 0;
    }
    b->extra_delivered += s->acked;
    if (b->round_start &&
        ++b->extra_rounds >= (b->full_bw_reached ? EXTRA_ROUNDS : 1)) {
        b->extra_rounds = 0;
        b->extra_slot[1] = b->extra_slot[0];
        b->extra_slot[0] = 0;
    }
    double extra = fmin(b->extra_delivered - expected, b->w.cc.cwnd);
    b->extra_slot[0] = fmax(b->extra_slot[0], extra);
}

double cong__bbr_extra_acked(const struct bbr *b) {
    return fmax(b->extra_slot[0], b->extra_slot[1]);
}

/* The pipe is full after three rounds in which sending more gained little. */
static void bbr_check_full_bw(struct bbr *b) {
    const struct bbr_sample *s = &b->s;
    if (b->full_bw_now || !b->round_start || s->app_limited || !(s->rate > 0)) {
        return;
    }
    if (s->rate >= b->full_bw * 1.25) {
        cong__bbr_reset_full_bw(b);
        b->full_bw = s->rate;
        return;
    }
    b->full_bw_count++;
    b->full_bw_now = b->full_bw_count >= 3;
    b->full_bw_reached = b->full_bw_reached || b->full_bw_now;
}

void cong__bbr_model_update(struct bbr *b) {
    bbr_update_latest(b);
    bbr_update_max_bw(b);
    if (b->loss_round_start) {
        bbr_adapt_lower_bounds(b);
    }
    bbr_update_aggregation(b);
    bbr_check_full_bw(b);
}

void cong__bbr_model_rtt(struct bbr *b, cong_time rtt) {
    cong_time now = b->s.now;
    b->probe_rtt_expired =
        cong__elapsed(now, b->probe_rtt_stamp) > PROBE_RTT_INTERVAL;
    if (rtt > 0 &&
        (cong__seconds(rtt) < b->probe_rtt_delay || b->probe_rtt_expired)) {
        b->probe_rtt_delay = cong__seconds(rtt);
        b->probe_rtt_stamp = now;
    }
    if (b->probe_rtt_delay < b->min_rtt ||
        cong__elapsed(now, b->min_rtt_stamp) > MIN_RTT_WINDOW) {
        b->min_rtt = b->probe_rtt_delay;
        b->min_rtt_stamp = b->probe_rtt_stamp;
    }
}

void cong__bbr_model_advance(struct bbr *b) {
    if (b->loss_round_start) {
        b->bw_latest = b->s.rate;
        b->inflight_latest = b->s.delivered;
        b->loss_in_round = false;
        b->round_lost = 0;
        b->round_ranges = 0;
    }
    b->bw = fmin(b->max_bw, b->bw_shortterm);
}

void cong__bbr_save_cwnd(struct bbr *b) {
    bool cut = b->in_recovery || b->state == BBR_PROBE_RTT;
    b->prior_cwnd = cut ? fmax(b->prior_cwnd, b->w.cc.cwnd) : b->w.cc.cwnd;
}

/* An undo restores the state from before the recovery period, which may span
 * several rounds. */
static void bbr_save_for_undo(struct bbr *b) {
    if (!b->in_recovery) {
        b->undo_startup = false;
        b->undo_probe_up = false;
        b->undo_bw_shortterm = b->bw_shortterm;
        b->undo_inflight_shortterm = b->inflight_shortterm;
        b->undo_inflight_longterm = b->inflight_longterm;
    }
}

void cong__bbr_note_loss(struct bbr *b) {
    if (!b->loss_in_round) {
        b->loss_round = b->delivered;
        cong__bbr_save_cwnd(b);
        bbr_save_for_undo(b);
    }
    b->loss_in_round = true;
}

bool cong__bbr_inflight_too_high(const struct bbr *b) {
    return b->s.lost > b->s.tx_in_flight * b->loss_threshold;
}

double cong__bbr_inflight_at_loss(const struct bbr *b) {
    const struct bbr_sample *s = &b->s;
    double mss = b->w.cc.mss;
    double tolerated = b->loss_threshold * s->tx_in_flight;
    /* The packet of this feedback whose loss crossed the threshold. */
    double before = fmax(s->lost - s->lost_now, 0);
    double nth = fmax(floor((tolerated - before) / mss) + 1, 1);
    double lost_prev = before + (nth - 1) * mss;
    double prev = s->tx_in_flight - mss;
    return prev +
           (b->loss_threshold * prev - lost_prev) / (1 - b->loss_threshold);
}

double cong__bbr_bdp(const struct bbr *b, double gain) {
    if (isinf(b->min_rtt)) {
        return b->w.iw * b->w.cc.mss;
    }
    return gain * b->bw * b->min_rtt;
}

/* The burst that a host sends at once. */
static double bbr_quantum(const struct bbr *b) {
    double ms = b->w.cc.pacing_rate / 1000;
    return fmax(fmin(ms, QUANTUM_MAX), 2 * b->w.cc.mss);
}

double cong__bbr_quantize(const struct bbr *b, double inflight) {
    double mss = b->w.cc.mss;
    double cap = fmax(inflight, fmax(bbr_quantum(b), BBR_MIN_PIPE * mss));
    return b->state == BBR_PROBE_UP ? cap + 2 * mss : cap;
}

double cong__bbr_inflight(const struct bbr *b, double gain) {
    return cong__bbr_quantize(b, cong__bbr_bdp(b, gain));
}

double cong__bbr_with_headroom(const struct bbr *b) {
    if (isinf(b->inflight_longterm)) {
        return b->inflight_longterm;
    }
    double mss = b->w.cc.mss;
    double room = fmax(mss, b->headroom * b->inflight_longterm);
    return fmax(b->inflight_longterm - room, BBR_MIN_PIPE * mss);
}

double cong__bbr_target_inflight(const struct bbr *b) {
    return fmin(cong__bbr_bdp(b, 1), b->w.cc.cwnd);
}
