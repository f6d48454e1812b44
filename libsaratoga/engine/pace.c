/* SPDX-License-Identifier: MPL-2.0 */
/* Decides when the next DATA may leave. */
#include "libsaratoga/engine/pace.h"

#include <congestion/tfrc.h>

#include <math.h>

#define NS_PER_S 1e9
#define BURST_PACKETS 2
#define WINDOW_MAX 9.0e18
#define LATE_MAX 0.020 /* compensated lateness, s; at most an RTT */

static int set_params(struct cong *cong, const saratoga_options *o) {
    int rv = 0;
    for (size_t i = 0;
         o->congestion_params != NULL && o->congestion_params[i] != NULL; i++) {
        if (cong_set(cong, o->congestion_params[i], o->congestion_values[i]) !=
            0) {
            rv = SARATOGA_ERR_INVAL;
        }
    }
    return rv;
}

static void arm(saratoga__pace *p, saratoga_time now) {
    cong_time wait = p->cong != NULL ? p->cong->feedback_timeout : 0;
    p->feedback_at = wait > 0 ? now + (saratoga_time)wait : SARATOGA_TIME_NEVER;
}

int saratoga__pace_init(saratoga__pace *p, const cmn__mem *mem,
                        const saratoga_options *o,
                        const saratoga__pace_terms *terms, saratoga_time now) {
    const struct cong_ops *ops;
    *p = (saratoga__pace){.rate = (double)o->rate_bps / 8,
                          .granularity = terms->granularity,
                          .overhead = terms->overhead,
                          .mss = terms->mss,
                          .feedback_at = SARATOGA_TIME_NEVER};
    p->law = saratoga__options_law(o, &ops);
    cong_pacer_init(&p->pacer);
    cong_recovery_period_init(&p->period, 0);
    if (ops == NULL) {
        return p->law == SARATOGA__OPEN_LOOP ? 0 : SARATOGA_ERR_ALGORITHM;
    }
    p->cong = cmn__alloc(mem, ops->size);
    if (p->cong == NULL) {
        return SARATOGA_ERR_NOMEM;
    }
    cong_init(p->cong, ops, terms->mss,
              p->law == SARATOGA__WINDOW ? WINDOW_MAX : (double)INFINITY,
              (cong_time)now, terms->rtt);
    if (p->rate > 0) { /* the controllers without it do not know it */
        (void)cong_set(p->cong, "rate", p->rate);
    }
    arm(p, now);
    return set_params(p->cong, o);
}

bool saratoga__pace_has_equation(const saratoga__pace *p) {
    return p->law == SARATOGA__STFRC || p->law == SARATOGA__TFRC;
}

void saratoga__pace_free(saratoga__pace *p, const cmn__mem *mem) {
    cmn__free(mem, p->cong);
    p->cong = NULL;
}

void saratoga__pace_set_rate(saratoga__pace *p, uint64_t bps) {
    p->rate = (double)bps / 8;
    if (p->cong != NULL && p->rate > 0) {
        (void)cong_set(p->cong, "rate", p->rate);
    }
}

/* A busy machine wakes programs milliseconds late.
 */
static double lateness(const saratoga__pace *p, cong_time srtt) {
    double rtt = srtt > 0 ? (double)srtt / NS_PER_S : 0;
    if (!p->waits) {
        return 0;
    }
    return p->cong != NULL ? fmin(LATE_MAX, rtt) : LATE_MAX;
}

void saratoga__pace_update(saratoga__pace *p, cong_time srtt) {
    double packet = p->mss + p->overhead;
    double rate = p->rate;
    double burst;
    if (p->cong != NULL) {
        double own = cong_pacing_rate(p->cong, srtt) * packet / p->mss;
        rate = own > 0 && (rate <= 0 || own < rate) ? own : rate;
    }
    burst = fmax(BURST_PACKETS * packet, 2 * rate * p->granularity);
    cong_pacer_set(&p->pacer, rate, fmax(burst, rate * lateness(p, srtt)));
}

bool saratoga__pace_is_shut(const saratoga__pace *p, double flight) {
    return p->cong != NULL && flight > 0 && flight + p->mss > p->cong->cwnd;
}

saratoga_time saratoga__pace_next(const saratoga__pace *p, double flight,
                                  saratoga_time now) {
    cong_time at;
    if (saratoga__pace_is_shut(p, flight)) {
        return SARATOGA_TIME_NEVER;
    }
    at = cong_pacer_next(&p->pacer, (cong_time)now);
    return at > 0 ? (saratoga_time)at : 0;
}

void saratoga__pace_sent(saratoga__pace *p, double size, saratoga_time now) {
    cong_pacer_sent(&p->pacer, size, (cong_time)now);
}

/* One sample per cycle: the bytes delivered between two reports. */
static const struct cong_rate_sample *sample_rate(saratoga__pace *p,
                                                  const saratoga__cycle *c,
                                                  double flight,
                                                  saratoga_time now) {
    cong_time span = (cong_time)(now - p->cycle_at);
    bool good = p->cycle_at != 0 && span > 0;
    p->cycle_at = now;
    if (!good) {
        return NULL;
    }
    p->sample = (struct cong_rate_sample){
        .rate = c->acked / ((double)span / NS_PER_S),
        .delivered = c->acked,
        .tx_in_flight = flight,
        .lost = c->lost,
        .interval = span,
        .app_limited = !p->limited,
    };
    return &p->sample;
}

static bool ends_round(saratoga__pace *p, cong_time srtt, saratoga_time now) {
    if (now < p->round_at) {
        return false;
    }
    p->round_at = now + (saratoga_time)(srtt > 0 ? srtt : 0);
    return true;
}

/* The losses that end slow start show how far the rate overshot, not the loss
 * ratio of the path. They count as one loss, and the interval before it is set
 * so that the equation gives half the receive rate and the queue drains. RFC
 * 5348 section 6.3.1 uses the full receive rate; it counts bursts once.
 */
static void end_slow_start(saratoga__pace *p, const saratoga__cycle *c,
                           cong_time rtt) {
    p->sent[0] = cong_tfrc_first_interval(p->mss, rtt, c->x_recv / 2);
    p->gone[0] = 1;
    p->slow_start_end = c->newest;
}

/* Each report of losses begins an interval that lasts until the next. */
static void note_report(saratoga__pace *p, const saratoga__cycle *c,
                        cong_time rtt) {
    bool lossy = c->lost_packets > 0;
    if (p->law == SARATOGA__TFRC && c->first <= p->slow_start_end) {
        return;
    }
    if (p->law == SARATOGA__TFRC && lossy && !(p->gone[0] > 0)) {
        end_slow_start(p, c, rtt);
        return;
    }
    if (lossy) {
        for (size_t i = SARATOGA__REPORTS - 1; i > 0; i--) {
            p->sent[i] = p->sent[i - 1];
            p->gone[i] = p->gone[i - 1];
        }
        p->sent[0] = 0;
        p->gone[0] = (double)c->lost_packets;
    }
    p->sent[0] += (double)c->packets;
}

/* The packet loss ratio, as in draft-eddy-tsvwg-saratoga-tfrc-12, but averaged
 * with the number and weights of intervals of RFC 5348 section 5.4. A single
 * report, as in the draft, covers only the few packets of an RTT: its ratio is
 * either 0, which doubles the rate, or so high that the rate collapses and the
 * next ratio is even coarser. */
static double share_lost(const saratoga__pace *p) {
    static const double weight[SARATOGA__REPORTS] = {1,   1,   1,   1,
                                                     0.8, 0.6, 0.4, 0.2};
    double sent = 0;
    double gone = 0;
    for (size_t i = 0; i < SARATOGA__REPORTS; i++) {
        sent += weight[i] * p->sent[i];
        gone += weight[i] * p->gone[i];
    }
    return sent > 0 ? gone / sent : 0;
}

/* A report covers a cycle, which may last a round trip: one that began within
 * the period belongs to it as a whole. It only matters on which side of the
 * newest reduction losses lie, so the lowest and the highest suffice. A lost
 * retransmission counts like new data. */
static void note_losses(saratoga__pace *p, const saratoga__cycle *c) {
    if (c->lost_packets > 0 && p->period.state != CONG_RECOVERY_STATE_REPAIR) {
        cong_recovery_period_on_lost(&p->period, c->first_lost, 1);
        cong_recovery_period_on_lost(&p->period, c->last_lost, 1);
    }
}

/* A controller that restarts needs nothing declared lost here: the list of
 * holes says what is. */
static void report_losses(saratoga__pace *p, const saratoga__pace_report *r,
                          saratoga_time now) {
    const struct cong_recovery_report losses = {.now = (cong_time)now,
                                                .next = r->cycle->newest + 1,
                                                .flight = r->flight,
                                                .missing = r->missing};
    (void)cong_recovery_period_report(&p->period, p->cong, &losses);
}

void saratoga__pace_on_cycle(saratoga__pace *p, const saratoga__pace_report *r,
                             saratoga_time now) {
    const saratoga__cycle *c = r->cycle;
    const struct cong_rtt *rtt = r->rtt;
    struct cong_ack ack = {.now = (cong_time)now,
                           .rtt = r->sample,
                           .min_rtt = rtt->min_rtt,
                           .srtt = rtt->srtt,
                           .acked = c->acked,
                           .lost = c->lost,
                           .flight = r->flight,
                           .p = -1,
                           .x_recv = -1,
                           .limited = p->limited};
    note_report(p, c, rtt->srtt);
    p->p = p->law == SARATOGA__STFRC ? c->p : share_lost(p);
    p->x_recv = c->x_recv;
    if (p->cong == NULL) {
        return;
    }
    if (p->law == SARATOGA__WINDOW) {
        (void)cong_recovery_period_end(&p->period, p->cong, c->first, 0,
                                       (cong_time)now);
        /* Data acknowledged by a cycle arrived before its losses were known. */
        ack.recovery = cong_recovery_period_in_recovery(&p->period);
        note_losses(p, c);
    } else {
        ack.p = p->p;
        /* A TFRC receiver that got nothing would not have reported. */
        ack.x_recv = c->acked > 0 ? p->x_recv : -1;
    }
    ack.rs = sample_rate(p, c, r->flight, now);
    ack.round = ends_round(p, rtt->srtt, now);
    p->cong->ops->ack(p->cong, &ack);
    p->limited = false;
    if (p->law == SARATOGA__WINDOW) {
        report_losses(p, r, now);
    }
    arm(p, now);
}

void saratoga__pace_on_rto(saratoga__pace *p, double flight, uint64_t next,
                           unsigned nth, saratoga_time now) {
    const struct cong_recovery_report r = {
        .now = (cong_time)now, .next = next, .flight = flight};
    if (p->law == SARATOGA__WINDOW) {
        cong_recovery_period_timeout(&p->period, p->cong, &r, nth);
    }
}

void saratoga__pace_await(saratoga__pace *p, saratoga_time now) {
    arm(p, now);
}

void saratoga__pace_on_timeout(saratoga__pace *p, double flight, bool owed,
                               saratoga_time now) {
    if (now < p->feedback_at) {
        return;
    }
    if (owed || !(flight > 0)) {
        const struct cong_event ev = {
            .now = (cong_time)now, .cause = CONG_NOFEEDBACK, .flight = flight};
        p->cong->ops->event(p->cong, &ev);
    }
    arm(p, now);
}
