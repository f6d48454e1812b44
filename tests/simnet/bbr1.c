/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/simnet/bbr1.h"

#include <math.h>

#define NS 1e9
#define HIGH_GAIN 2.885
#define CWND_GAIN 2.0
#define MARGIN 0.99 /* of the rate is used */
#define BW_ROUNDS 10
#define MIN_CWND 4 /* segments */
#define FULL_GROWTH 1.25
#define FULL_ROUNDS 3
#define CYCLE 8
#define TRAIN 2 /* segments that leave at once */
#define RTT_SPAN (10 * (cong_time)1000000000)
#define PROBE_RTT_SPAN (200 * (cong_time)1000000)
#define EXTRA_ROUNDS 5   /* of each half of the window of extra_acked */
#define EXTRA_MOST 0.1   /* s at the bandwidth */
#define INITIAL_RTT 1e-3 /* s */

enum bbr1_mode { STARTUP, DRAIN, PROBE_BW, PROBE_RTT };

struct bbr1 {
    struct cong cc;
    enum bbr1_mode mode;
    double bw[BW_ROUNDS]; /* bytes/s, highest of a round, by its number */
    unsigned round;
    double full_bw;
    unsigned full_rounds;
    bool full;
    unsigned phase; /* of the cycle */
    cong_time phase_at;
    double min_rtt; /* s; 0: none */
    cong_time min_rtt_at;
    cong_time probe_rtt_done; /* 0: not yet known */
    bool probe_rtt_round;
    double prior_cwnd;
    bool recovery;
    bool conserve;
    bool idle_restart;
    double delivered;
    double extra[2]; /* bytes: these rounds, those before */
    unsigned extra_round;
    double epoch_acked;
    cong_time epoch_at;
    uint64_t random;
};

static double max_bw(const struct bbr1 *b) {
    double most = 0;
    for (int i = 0; i < BW_ROUNDS; i++) {
        most = fmax(most, b->bw[i]);
    }
    return most;
}

static double seconds_since(cong_time then, cong_time now) {
    return now > then ? (double)(now - then) / NS : 0;
}

static double pacing_gain(const struct bbr1 *b) {
    static const double cycle[CYCLE] = {1.25, 0.75, 1, 1, 1, 1, 1, 1};
    return b->mode == STARTUP    ? HIGH_GAIN
           : b->mode == DRAIN    ? 1 / HIGH_GAIN
           : b->mode == PROBE_BW ? cycle[b->phase]
                                 : 1;
}

static double bdp(const struct bbr1 *b, double gain) {
    double first = 10 * b->cc.mss;
    return b->min_rtt > 0 ? gain * max_bw(b) * b->min_rtt : first;
}

/* In whole segments, an even number of them, with room for three trains. */
static double bbr1_quantize(const struct bbr1 *b, double bytes) {
    double n = ceil(bytes / b->cc.mss) + 3 * TRAIN;
    n += fmod(n, 2);
    n += b->mode == PROBE_BW && b->phase == 0 ? 2 : 0;
    return n * b->cc.mss;
}

static double bbr1_inflight(const struct bbr1 *b, double gain) {
    return bbr1_quantize(b, bdp(b, gain));
}

static void set_pacing(struct bbr1 *b) {
    double rate = pacing_gain(b) * max_bw(b) * MARGIN;
    if (b->full || rate > b->cc.pacing_rate) {
        b->cc.pacing_rate = rate;
    }
}

static void enter_probe_bw(struct bbr1 *b, cong_time now) {
    b->random = b->random * UINT64_C(6364136223846793005) + 1;
    b->mode = PROBE_BW;
    /* any phase but the one that drains */
    b->phase = (unsigned)(CYCLE - (b->random >> 33) % (CYCLE - 1)) % CYCLE;
    b->phase_at = now;
}

static void leave_probe_rtt(struct bbr1 *b, cong_time now) {
    b->min_rtt_at = now;
    b->cc.cwnd = fmax(b->cc.cwnd, b->prior_cwnd);
    if (b->full) {
        enter_probe_bw(b, now);
    } else {
        b->mode = STARTUP;
    }
}

static void save_cwnd(struct bbr1 *b) {
    b->prior_cwnd = !b->recovery && b->mode != PROBE_RTT
                        ? b->cc.cwnd
                        : fmax(b->prior_cwnd, b->cc.cwnd);
}

static void note_rate(struct bbr1 *b, const struct cong_ack *ack) {
    const struct cong_rate_sample *rs = ack->rs;
    if (ack->round) {
        b->round++;
        b->bw[b->round % BW_ROUNDS] = 0;
        b->conserve = false;
    }
    if (rs != NULL &&
        ((!rs->app_limited && b->mode != PROBE_RTT) || rs->rate >= max_bw(b))) {
        double *bw = &b->bw[b->round % BW_ROUNDS];
        *bw = fmax(*bw, rs->rate);
    }
}

/* Bytes acknowledged in excess of the bandwidth. */
static void note_extra(struct bbr1 *b, const struct cong_ack *ack) {
    double expected = max_bw(b) * seconds_since(b->epoch_at, ack->now);
    if (ack->round && ++b->extra_round >= EXTRA_ROUNDS) {
        b->extra_round = 0;
        b->extra[1] = b->extra[0];
        b->extra[0] = 0;
    }
    if (b->epoch_acked <= expected) {
        b->epoch_acked = 0;
        b->epoch_at = ack->now;
        expected = 0;
    }
    b->epoch_acked += ack->acked;
    b->extra[0] =
        fmax(b->extra[0], fmin(b->epoch_acked - expected, b->cc.cwnd));
}

static double extra_acked(const struct bbr1 *b) {
    return b->full
               ? fmin(fmax(b->extra[0], b->extra[1]), EXTRA_MOST * max_bw(b))
               : 0;
}

static void cycle(struct bbr1 *b, const struct cong_ack *ack) {
    bool over = seconds_since(b->phase_at, ack->now) > b->min_rtt;
    if (b->mode != PROBE_BW) {
        return;
    }
    if (pacing_gain(b) > 1) {
        over = over && (ack->lost > 0 || ack->flight >= bbr1_inflight(b, 1.25));
    } else if (pacing_gain(b) < 1) {
        over = over || ack->flight <= bbr1_inflight(b, 1);
    }
    if (over) {
        b->phase = (b->phase + 1) % CYCLE;
        b->phase_at = ack->now;
    }
}

static void check_full(struct bbr1 *b, const struct cong_ack *ack) {
    if (b->full || !ack->round || (ack->rs != NULL && ack->rs->app_limited)) {
        return;
    }
    if (max_bw(b) >= FULL_GROWTH * b->full_bw) {
        b->full_bw = max_bw(b);
        b->full_rounds = 0;
        return;
    }
    b->full = ++b->full_rounds >= FULL_ROUNDS;
}

static void check_drain(struct bbr1 *b, double flight, cong_time now) {
    if (b->mode == STARTUP && b->full) {
        b->mode = DRAIN;
    }
    if (b->mode == DRAIN && flight <= bbr1_inflight(b, 1)) {
        enter_probe_bw(b, now);
    }
}

static void stay_in_probe_rtt(struct bbr1 *b, const struct cong_ack *ack,
                              double flight) {
    if (b->probe_rtt_done == 0) {
        if (flight <= MIN_CWND * b->cc.mss) {
            b->probe_rtt_done = ack->now + PROBE_RTT_SPAN;
            b->probe_rtt_round = false;
        }
        return;
    }
    b->probe_rtt_round |= ack->round;
    if (b->probe_rtt_round && ack->now > b->probe_rtt_done) {
        leave_probe_rtt(b, ack->now);
    }
}

static void note_min_rtt(struct bbr1 *b, const struct cong_ack *ack,
                         double flight) {
    bool expired = ack->now > b->min_rtt_at + RTT_SPAN;
    double rtt = (double)ack->rtt / NS;
    if (ack->rtt > 0 && (b->min_rtt <= 0 || rtt < b->min_rtt || expired)) {
        b->min_rtt = rtt;
        b->min_rtt_at = ack->now;
    }
    if (expired && !b->idle_restart && b->mode != PROBE_RTT) {
        save_cwnd(b);
        b->mode = PROBE_RTT;
        b->probe_rtt_done = 0;
    }
    if (b->mode == PROBE_RTT) {
        stay_in_probe_rtt(b, ack, flight);
    }
    b->idle_restart &= ack->acked <= 0;
}

/* In the first round trip after a loss as much leaves as arrives. */
static void set_cwnd(struct bbr1 *b, const struct cong_ack *ack,
                     double flight) {
    double target = bbr1_quantize(
        b,
        bdp(b, b->mode == STARTUP || b->mode == DRAIN ? HIGH_GAIN : CWND_GAIN) +
            extra_acked(b));
    double cwnd = fmax(b->cc.cwnd - ack->lost, b->cc.mss);
    if (b->conserve) {
        cwnd = fmax(cwnd, flight + ack->acked);
    } else if (b->full) {
        cwnd = fmin(cwnd + ack->acked, target);
    } else if (cwnd < target || b->delivered < 10 * b->cc.mss) {
        cwnd += ack->acked;
    }
    cwnd = fmax(cwnd, MIN_CWND * b->cc.mss);
    if (b->mode == PROBE_RTT) {
        cwnd = fmin(cwnd, MIN_CWND * b->cc.mss);
    }
    b->cc.cwnd = fmin(cwnd, b->cc.cwnd_max);
}

static void bbr1_ack(struct cong *cc, const struct cong_ack *ack) {
    struct bbr1 *b = (struct bbr1 *)cc;
    double flight = fmax(ack->flight - ack->acked - ack->lost, 0);
    if (b->min_rtt <= 0 && ack->rtt > 0) {
        cc->pacing_rate = HIGH_GAIN * cc->cwnd / ((double)ack->rtt / NS);
    }
    b->delivered += ack->acked;
    note_rate(b, ack);
    note_extra(b, ack);
    cycle(b, ack);
    check_full(b, ack);
    check_drain(b, flight, ack->now);
    note_min_rtt(b, ack, flight);
    set_pacing(b);
    set_cwnd(b, ack, flight);
}

static void bbr1_event(struct cong *cc, const struct cong_event *ev) {
    struct bbr1 *b = (struct bbr1 *)cc;
    switch (ev->cause) {
    case CONG_LOSS:
        if (!b->recovery) {
            save_cwnd(b);
            b->recovery = true;
            b->conserve = true;
            cc->cwnd = fmax(ev->flight, MIN_CWND * cc->mss);
        }
        break;
    case CONG_RTO:
        save_cwnd(b);
        b->recovery = true;
        b->full_bw = 0;
        cc->cwnd = fmax(ev->flight, 0) + cc->mss;
        break;
    case CONG_RECOVERED:
    case CONG_UNDO:
        b->recovery = false;
        b->conserve = false;
        cc->cwnd = fmin(fmax(cc->cwnd, b->prior_cwnd), cc->cwnd_max);
        break;
    case CONG_IDLE:
        b->idle_restart = true;
        break;
    case CONG_ECN:
    case CONG_NOFEEDBACK:
        break;
    }
}

static void bbr1_init(struct cong *cc, cong_time now, cong_time rtt) {
    struct bbr1 *b = (struct bbr1 *)cc;
    cc->cwnd = 10 * cc->mss;
    cc->ssthresh = (double)INFINITY;
    cc->pacing_rate =
        HIGH_GAIN * cc->cwnd / (rtt > 0 ? (double)rtt / NS : INITIAL_RTT);
    b->mode = STARTUP;
    b->random = (uint64_t)now * UINT64_C(0x9E3779B97F4A7C15) + 1;
    b->min_rtt_at = now;
    b->epoch_at = now;
}

const struct cong_ops bbr1 = {
    .name = "bbr1",
    .size = sizeof(struct bbr1),
    .init = bbr1_init,
    .ack = bbr1_ack,
    .event = bbr1_event,
};
