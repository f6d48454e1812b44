/* SPDX-License-Identifier: MPL-2.0 */
/*
 * BBR's state machine: Startup, Drain, the cycle of ProbeBW, ProbeRTT.  Source:
 * draft-ietf-ccwg-bbr, "State Machine Operation" and "Updating the Model Upon
 * Packet Loss".  bbr.c lists our interpretations.
 */
#include "libcongestion/bbr.h"

#include <math.h>

#define STARTUP_LOSS_RANGES 6
#define PROBE_RTT_TIME INT64_C(200000000)
#define SECOND INT64_C(1000000000)
#define PROBE_RTT_GAIN 0.5 /* same as its window gain */
#define RENO_ROUNDS 63
#define UP_ROUNDS_MAX 30

bool cong__bbr_in_probe_bw(const struct bbr *b) {
    return b->state >= BBR_PROBE_DOWN && b->state <= BBR_PROBE_UP;
}

/* xorshift64*; 0 to 1. */
static double bbr_random_fraction(struct bbr *b) {
    uint64_t x = b->random ^ (uint64_t)b->seed;
    x = x != 0 ? x : 1;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    b->random = x;
    return (double)((x * UINT64_C(0x2545F4914F6CDD1D)) >> 11) /
           9007199254740992;
}

/* Begins a phase that must last a full round. */
static void bbr_start_round(struct bbr *b) {
    b->skip_round = !b->round_start;
}

static void bbr_start_down(struct bbr *b) {
    cong__bbr_reset_signals(b);
    b->up_per_segment = (double)INFINITY;
    b->since_probe_up = bbr_random_fraction(b) < 0.5 ? 0 : 1;
    b->probe_wait =
        2 * SECOND + (cong_time)(bbr_random_fraction(b) * (double)SECOND);
    b->cycle_stamp = b->s.now;
    b->acks = BBR_ACKS_STOPPING;
    bbr_start_round(b);
    b->state = BBR_PROBE_DOWN;
}

void cong__bbr_start_refill(struct bbr *b) {
    cong__bbr_reset_shortterm(b);
    b->up_rounds = 0;
    b->up_acked = 0;
    b->probe_precautionary = false;
    b->acks = BBR_ACKS_REFILLING;
    bbr_start_round(b);
    b->state = BBR_PROBE_REFILL;
}

/* The bound grows by 1, 2, 4, ... segments per round. */
static void bbr_raise_slope(struct bbr *b) {
    double growth = ldexp(1, (int)b->up_rounds);
    if (b->up_rounds < UP_ROUNDS_MAX) {
        b->up_rounds++;
    }
    b->up_per_segment = fmax(b->w.cc.cwnd / growth, b->w.cc.mss);
}

static void bbr_start_up(struct bbr *b) {
    b->acks = BBR_ACKS_STARTING;
    bbr_start_round(b);
    cong__bbr_reset_full_bw(b);
    b->full_bw = b->s.rate;
    b->state = BBR_PROBE_UP;
    bbr_raise_slope(b);
}

static void bbr_start_drain(struct bbr *b) {
    b->state = BBR_DRAIN;
    b->drain_start = b->rounds;
}

/* A probe put more in flight than the path carries. */
void cong__bbr_too_high(struct bbr *b, double inflight, bool app_limited) {
    b->probe_too_high = true;
    b->probe_sample = false;
    if (!app_limited) {
        b->inflight_longterm =
            fmax(inflight, b->beta * cong__bbr_target_inflight(b));
    }
    if (b->state == BBR_PROBE_UP) {
        b->undo_probe_up = true;
        bbr_start_down(b);
    }
}

void cong__bbr_leave_startup(struct bbr *b) {
    b->undo_startup = true;
    b->full_bw_reached = true;
    b->inflight_longterm = fmax(cong__bbr_bdp(b, 1), b->inflight_latest);
    bbr_start_drain(b);
}

void cong__bbr_handle_loss(struct bbr *b) {
    struct bbr_sample *s = &b->s;
    if (!(s->lost_now > 0)) {
        return;
    }
    cong__bbr_note_loss(b);
    b->round_lost += s->lost_now;
    double segments = ceil(s->lost_now / b->w.cc.mss);
    bool sums = s->acked > 2 * b->w.cc.mss;
    b->round_ranges += sums ? (unsigned)fmin(segments, 1000) : 1;
    if (!(s->rate > 0)) {
        s->tx_in_flight = s->inflight + s->acked + s->lost_now;
        s->lost = b->round_lost;
    }
    if (b->probe_sample && cong__bbr_inflight_too_high(b)) {
        cong__bbr_too_high(b, cong__bbr_inflight_at_loss(b), s->app_limited);
    }
}

void cong__bbr_check_startup(struct bbr *b) {
    if (b->state != BBR_STARTUP) {
        return;
    }
    if (b->full_bw_reached) {
        bbr_start_drain(b);
    } else if (b->loss_round_start && b->s.recovery &&
               b->round_ranges >= STARTUP_LOSS_RANGES &&
               cong__bbr_inflight_too_high(b)) {
        cong__bbr_leave_startup(b);
    }
}

void cong__bbr_check_drain(struct bbr *b) {
    if (b->state == BBR_DRAIN && (b->s.inflight <= cong__bbr_inflight(b, 1) ||
                                  b->rounds > b->drain_start + 3)) {
        bbr_start_down(b);
    }
}

static void bbr_probe_longterm_upward(struct bbr *b) {
    const struct bbr_sample *s = &b->s;
    if (!s->cwnd_limited || b->w.cc.cwnd < b->inflight_longterm) {
        return;
    }
    b->up_acked += s->acked;
    if (b->up_acked >= b->up_per_segment) {
        double n = floor(b->up_acked / b->up_per_segment);
        b->up_acked -= n * b->up_per_segment;
        b->inflight_longterm += n * b->w.cc.mss;
    }
    if (b->round_start) {
        bbr_raise_slope(b);
    }
}

/* Runs one round after a probe ended; true when the next probe begins at
 * once. */
static bool bbr_end_of_probe(struct bbr *b) {
    b->probe_sample = false;
    b->acks = BBR_ACKS_INIT;
    if (!cong__bbr_in_probe_bw(b)) {
        return false;
    }
    if (!b->s.app_limited && b->bw_slot[0] > 0) {
        b->bw_slot[1] = b->bw_slot[0];
        b->bw_slot[0] = 0;
    }
    if (b->probe_precautionary && !b->probe_too_high) {
        cong__bbr_start_refill(b);
        return true;
    }
    return false;
}

static bool bbr_adapt_longterm(struct bbr *b) {
    if (b->acks == BBR_ACKS_STARTING && b->round_start) {
        b->acks = BBR_ACKS_FEEDBACK;
    }
    if (b->acks == BBR_ACKS_STOPPING && b->round_start && bbr_end_of_probe(b)) {
        return true;
    }
    if (cong__bbr_inflight_too_high(b) || isinf(b->inflight_longterm)) {
        return false;
    }
    b->inflight_longterm = fmax(b->inflight_longterm, b->s.tx_in_flight);
    if (b->state == BBR_PROBE_UP) {
        bbr_probe_longterm_upward(b);
    }
    return false;
}

static bool bbr_time_to_probe(const struct bbr *b) {
    double target = cong__bbr_target_inflight(b) / b->w.cc.mss;
    return cong__elapsed(b->s.now, b->cycle_stamp) > b->probe_wait ||
           b->since_probe_up >= fmin(target, RENO_ROUNDS);
}

static bool bbr_time_to_cruise(const struct bbr *b) {
    double bdp =
        isinf(b->min_rtt) ? cong__bbr_inflight(b, 1) : b->max_bw * b->min_rtt;
    bdp = fmax(bdp, BBR_MIN_PIPE * b->w.cc.mss);
    return b->s.inflight <= cong__bbr_with_headroom(b) && b->s.inflight <= bdp;
}

static bool bbr_time_to_go_down(struct bbr *b) {
    if (b->probe_too_high && b->s.inflight >= b->inflight_longterm) {
        b->probe_precautionary = true;
        return true;
    }
    if (b->s.cwnd_limited && b->w.cc.cwnd >= b->inflight_longterm) {
        cong__bbr_reset_full_bw(b);
        b->full_bw = b->s.rate;
        return false;
    }
    return b->full_bw_now;
}

void cong__bbr_update_cycle(struct bbr *b) {
    if (!b->full_bw_reached || bbr_adapt_longterm(b)) {
        return;
    }
    bool waiting = b->state == BBR_PROBE_DOWN || b->state == BBR_PROBE_CRUISE;
    if (waiting && bbr_time_to_probe(b)) {
        cong__bbr_start_refill(b);
    } else if (b->state == BBR_PROBE_DOWN && bbr_time_to_cruise(b)) {
        b->state = BBR_PROBE_CRUISE;
    } else if (b->state == BBR_PROBE_REFILL && b->round_start) {
        b->probe_sample = true;
        bbr_start_up(b);
    } else if (b->state == BBR_PROBE_UP && bbr_time_to_go_down(b)) {
        b->probe_too_high = false;
        bbr_start_down(b);
    }
}

void cong__bbr_restore_cwnd(struct bbr *b) {
    cong__set_cwnd(&b->w.cc, fmax(b->w.cc.cwnd, b->prior_cwnd));
}

double cong__bbr_probe_rtt_cwnd(const struct bbr *b) {
    double half = cong__bbr_bdp(b, PROBE_RTT_GAIN);
    return fmax(half, BBR_MIN_PIPE * b->w.cc.mss);
}

void cong__bbr_check_probe_rtt_done(struct bbr *b, cong_time now) {
    if (b->probe_rtt_done < 0 || now <= b->probe_rtt_done) {
        return;
    }
    b->probe_rtt_stamp = now;
    b->samples_after = b->rounds + 1;
    cong__bbr_restore_cwnd(b);
    cong__bbr_reset_shortterm(b);
    b->state = BBR_STARTUP;
    if (b->full_bw_reached) {
        bbr_start_down(b);
        b->state = BBR_PROBE_CRUISE;
    }
}

static void bbr_hold_probe_rtt(struct bbr *b) {
    if (b->probe_rtt_done < 0) {
        if (b->s.inflight <= cong__bbr_probe_rtt_cwnd(b)) {
            b->probe_rtt_done = cong__later(b->s.now, PROBE_RTT_TIME);
            b->probe_rtt_round_done = false;
            bbr_start_round(b);
        }
        return;
    }
    b->probe_rtt_round_done = b->probe_rtt_round_done || b->round_start;
    if (b->probe_rtt_round_done) {
        cong__bbr_check_probe_rtt_done(b, b->s.now);
    }
}

void cong__bbr_check_probe_rtt(struct bbr *b) {
    if (b->state != BBR_PROBE_RTT && b->probe_rtt_expired && !b->idle_restart) {
        cong__bbr_save_cwnd(b);
        b->state = BBR_PROBE_RTT;
        b->probe_rtt_done = -1;
        b->acks = BBR_ACKS_STOPPING;
        bbr_start_round(b);
    }
    if (b->state == BBR_PROBE_RTT) {
        bbr_hold_probe_rtt(b);
    }
    if (b->s.acked > 0) {
        b->idle_restart = false;
    }
}
