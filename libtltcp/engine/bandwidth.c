/* SPDX-License-Identifier: MPL-2.0 */
/* Estimates the bandwidth of the path for this flow. */
#include "libtltcp/engine/bandwidth.h"

#include <math.h>

#define NS_PER_S 1e9
#define ESTIMATE_SECONDS 0.25 /* time constant of the estimate */
#define RATE_SECONDS 0.5      /* of the path's rate under a queue ... */
#define SPAN_SECONDS 0.3      /* ... as measured over spans */
#define GROWTH 0.05           /* per second without a queue */
#define HEADROOM 16           /* times what the window allows: more is idle */
#define PLATEAU 10000000000   /* ns since the last standing queue */
#define PLATEAU_GROWTH 0.005  /* growth per second during PLATEAU */
#define QUEUE_MIN 4000000     /* ns; less is noise */
#define QUEUE_MOST 50000000   /* ns; more is a queue on any path */
#define QUEUE_PACKETS 1.5     /* less is a packet in transmission */
#define FOREIGN 2             /* times the flight: cross traffic's queue */
#define CHANGE 1.1            /* ratio that counts as a change of bandwidth */
#define LOSSY 0.005           /* loss ratio that makes the rate uncertain */
#define CHANGE_LOSSY 1.3      /* likewise, with it */
#define TRAIN_GAIN 0.125      /* weight of each ACK of a train */
#define SLOWED ((cong_time)TLTCP_S)
#define SETTLE (2 * (cong_time)TLTCP_S)
#define WANTED (2 * (cong_time)TLTCP_S)
#define SPAN ((cong_time)100000000)      /* ns, or a round trip ... */
#define SPAN_MOST ((cong_time)400000000) /* ... or up to this length ... */
#define SPAN_PACKETS 8                   /* ... until it has this many */
#define PLAIN 0.1     /* growth of the RTT: the path, not we, sets the rate */
#define SLIGHT 0.02   /* likewise, if the queue is our own; less is noise */
#define LESS 0.95     /* of the path's rate: below it the queue should shrink */
#define DEFIED 3      /* spans in which it does not: it is cross traffic's */
#define REGAIN 1.25   /* gain after a change of bandwidth */
#define CLAIM 1.1     /* gain while cross traffic fills the queue */
#define SHORT 1.33    /* times: what the window yields for a short queue */
#define OPTIMISM 1.02 /* an unfilled path cannot show more */
#define FULL_MEMORY (10 * (cong_time)TLTCP_S)
#define LOSS_PACKETS 200   /* over which the loss ratio is averaged */
#define PAYLOAD_SHARE 0.96 /* of a packet, without chunk headers */

void tltcp__bandwidth_init(tltcp__bandwidth *c, double max_rate,
                           tltcp_time now) {
    *c = (tltcp__bandwidth)TLTCP__BANDWIDTH_UNKNOWN;
    c->max_rate = max_rate;
    c->t_shown = max_rate > 0 ? (cong_time)now : -1;
}

static bool is_recent(cong_time then, cong_time now, cong_time span) {
    return then >= 0 && now - then < span;
}

/* Whether the queue shrank by less than half of what our lower rate should have
 * drained. */
static bool is_defied(const tltcp__bandwidth *c) {
    double sent = c->last.rate / (1 - fmin(c->last.growth, 0.9));
    return sent < LESS * c->rate && c->last.growth > (sent / c->rate - 1) / 2;
}

static void end_span(tltcp__bandwidth *c, const struct cong_ack *ack) {
    double ns = (double)(ack->now - c->span.since);
    double growth = (double)(c->span.low - c->last.low) / ns;
    c->last = (tltcp__last_span){c->span.low, c->span.acked / ns * NS_PER_S,
                                 ns / NS_PER_S, growth};
    c->span = (tltcp__span){ack->now, ack->rtt, 0};
    c->defied = is_defied(c) ? c->defied + 1 : 0;
}

/* A burst's queue is gone in the next span. True when a span ends. */
static bool note_span(tltcp__bandwidth *c, double mss, cong_time min_rtt,
                      const struct cong_ack *ack) {
    cong_time took = ack->now - c->span.since;
    c->span.acked += ack->acked;
    if (ack->rtt <= 0) {
        return false;
    }
    if (took > SPAN && took > min_rtt &&
        (took > SPAN_MOST || c->span.acked > SPAN_PACKETS * mss)) {
        end_span(c, ack);
        return true;
    }
    c->span.low = ack->rtt < c->span.low ? ack->rtt : c->span.low;
    return false;
}

static cong_time low_rtt(const tltcp__bandwidth *c) {
    return c->span.low < c->last.low ? c->span.low : c->last.low;
}

/* There is a standing queue, so the delivery rate is the bandwidth. A queue
 * that the controller keeps short is not noise. */
static bool is_saturated(const tltcp__bandwidth *c, const struct cong *cong,
                         cong_time min_rtt) {
    cong_time queue = low_rtt(c) - min_rtt;
    double packets = (double)queue / NS_PER_S * c->rate / cong->mss;
    return min_rtt > 0 && queue > QUEUE_MIN &&
           (4 * queue > min_rtt || queue > QUEUE_MOST ||
            cong->queue == CONG_QUEUE_OWN) &&
           (c->rate <= 0 || packets > QUEUE_PACKETS);
}

/* The queue is not our own: we have too little in flight. Cross traffic fills
 * it, and would yield. */
static bool is_shared(const tltcp__bandwidth *c,
                      const struct cong_rate_sample *rs) {
    return rs != NULL &&
           FOREIGN * rs->tx_in_flight < c->rate * (double)low_rtt(c) / NS_PER_S;
}

/* Follows what the newest train shows, more or less. */
static void note_train(tltcp__bandwidth *c, double mss,
                       const struct cong_ack *ack, cong_time held) {
    tltcp__train_sample seen;
    if (c->rate <= 0 || c->jitter > 0 ||
        !tltcp__train_on_ack(&c->train, c->rate, mss, ack, held, &seen)) {
        return;
    }
    c->t_slowed = seen.slowed ? ack->now : c->t_slowed;
    if (seen.rate > CHANGE * c->rate || (seen.slowed && seen.tight)) {
        c->rate += TRAIN_GAIN * (seen.rate - c->rate);
    }
}

/* Rate growth that a limiting window would allow. */
static double growth_of_window(double mss, cong_time srtt_ns, double seconds) {
    double srtt = (double)srtt_ns / NS_PER_S;
    return srtt > 0 ? mss / (srtt * srtt) * seconds : 0;
}

static bool is_foreign(const struct cong *cong) {
    return cong->queue == CONG_QUEUE_FOREIGN || cong->queue == CONG_QUEUE_BBR;
}

/* The controller keeps a rate although packets are lost. */
static bool is_held(const struct cong *cong) {
    return is_foreign(cong) && cong->pacing_rate > 0;
}

static void note_loss(tltcp__bandwidth *c, double mss,
                      const struct cong_ack *ack) {
    double known = ack->lost + ack->acked;
    double gain = fmin(known / (LOSS_PACKETS * mss), 1);
    if (known > 0) {
        c->loss += gain * (ack->lost / known - c->loss);
    }
}

/* The window over the RTT, or the controller's pacing rate. A rate that is kept
 * includes retransmissions. */
static double offered(const tltcp__bandwidth *c, const struct cong *cong,
                      cong_time rtt) {
    double rate = cong->cwnd < 1e300 && rtt > 0
                      ? cong->cwnd / ((double)rtt / NS_PER_S)
                      : cong->pacing_rate;
    return is_held(cong) ? fmin(rate, cong->pacing_rate * (1 - c->loss)) : rate;
}

/* Expects a little more at first, since the path has just shown its bandwidth,
 * then more and more, but not for hours: a queue must soon show the limit
 * again. */
static void expect_more(tltcp__bandwidth *c, const struct cong *cong,
                        cong_time min_rtt, cong_time now, double seconds) {
    bool plateau =
        now - c->t_full < PLATEAU || is_recent(c->t_slowed, now, SLOWED);
    if (c->rate < HEADROOM * offered(c, cong, min_rtt)) {
        c->rate *= 1 + (plateau ? PLATEAU_GROWTH : GROWTH) * seconds;
    }
}

/* The queue grows or shrinks: the delivery rate is the bandwidth and not our
 * sending rate, even if the application has not filled the path or the window
 * was just reduced. */
static bool shows_limit(const tltcp__bandwidth *c, bool shared, cong_time now) {
    double moved = fabs(c->last.growth);
    bool foreign = shared || is_recent(c->t_foreign, now, FULL_MEMORY);
    return moved > PLAIN || (moved > SLIGHT && !foreign);
}

/* Corrects the rate while there is a standing queue. */
static void correct(tltcp__bandwidth *c, double mss, const struct cong_rtt *rtt,
                    const struct cong_ack *ack, double seconds, bool ended) {
    const struct cong_rate_sample *rs = ack->rs;
    bool shared = !ack->limited && is_shared(c, rs);
    if (c->defied >= DEFIED) {
        c->t_foreign = ack->now;
    }
    if (shows_limit(c, shared, ack->now)) {
        double gain = ended ? fmin(c->last.seconds / SPAN_SECONDS, 1) : 0;
        c->rate += gain * (c->last.rate - c->rate);
    } else if (shared) {
        c->t_foreign = ack->now;
        c->rate += growth_of_window(mss, rtt->srtt, seconds);
    } else if (rs != NULL && !rs->app_limited) {
        c->rate += fmin(seconds / RATE_SECONDS, 1) * (rs->rate - c->rate);
    }
}

/* Jitter delivers packets of a longer time together. */
static double reached_rate(const tltcp__bandwidth *c,
                           const struct cong_rate_sample *rs) {
    double took = (double)rs->interval;
    return rs->rate * took / (took + (double)c->jitter);
}

/* The highest delivery rate, corrected while there is a standing queue, but not
 * by the application's pauses. Without a queue, there may be more. */
static void measure(tltcp__bandwidth *c, const struct cong *cong,
                    const struct cong_rtt *rtt, const struct cong_ack *ack,
                    cong_time held, double seconds) {
    const struct cong_rate_sample *rs = ack->rs;
    double mss = cong->mss;
    bool ended = note_span(c, mss, rtt->min_rtt, ack);
    bool saturated = is_saturated(c, cong, rtt->min_rtt);
    double reached = rs != NULL ? reached_rate(c, rs) : 0;
    if (reached > c->rate && (c->rate > 0 || saturated)) {
        c->rate = reached;
    } else if (saturated) {
        correct(c, mss, rtt, ack, seconds, ended);
    } else {
        c->defied = 0;
        expect_more(c, cong, rtt->min_rtt, ack->now, seconds);
        note_train(c, mss, ack, held);
    }
}

static bool is_shared_now(const tltcp__bandwidth *c, cong_time now) {
    return is_recent(c->t_foreign, now, FULL_MEMORY);
}

/* Notes when the path carries more or less than it has shown. */
static void note_change(tltcp__bandwidth *c, cong_time now) {
    bool lossy = c->loss > LOSSY && !is_shared_now(c, now);
    double ratio = lossy ? CHANGE_LOSSY : CHANGE;
    if (c->t_shown < 0) {
        c->steady = c->rate;
    } else if (c->rate > ratio * c->steady || ratio * c->rate < c->steady) {
        c->steady = c->rate;
        c->t_changed = now;
    }
}

/* A queue shows the limit of the path only to a flow that had more to send. */
static void note_full(tltcp__bandwidth *c, const struct cong *cong,
                      cong_time min_rtt, const struct cong_ack *ack) {
    c->t_limited = ack->limited ? ack->now : c->t_limited;
    if (is_saturated(c, cong, min_rtt) &&
        is_recent(c->t_limited, ack->now, WANTED)) {
        c->t_full = ack->now;
        c->t_shown = c->t_shown < 0 ? ack->now : c->t_shown;
    }
}

/* The offered rate, limited to the known bandwidth. If that is known, use the
 * RTT without our own queue: a window that was just reduced has not drained it
 * yet. Behind a policer no queue shows it, only losses do. */
static double usable(const tltcp__bandwidth *c, const struct cong *cong,
                     const struct cong_rtt *rtt) {
    double rate = offered(c, cong, c->rate > 0 ? rtt->min_rtt : rtt->srtt);
    if (cong->queue == CONG_QUEUE_OWN) {
        rate *= SHORT; /* the window is sometimes smaller to keep the queue
                          short */
    }
    if (c->rate <= 0) {
        rate *= 1 - c->loss;
    } else if (rate > c->rate) {
        rate = c->rate;
    }
    return c->max_rate > 0 && rate > c->max_rate ? c->max_rate : rate;
}

void tltcp__bandwidth_on_ack(tltcp__bandwidth *c, const struct cong *cong,
                             const struct cong_rtt *rtt,
                             const struct cong_ack *ack, cong_time held) {
    double seconds =
        c->t_estimate >= 0 ? (double)(ack->now - c->t_estimate) / NS_PER_S : 0;
    double gain = seconds < ESTIMATE_SECONDS ? seconds / ESTIMATE_SECONDS : 1;
    double rate;
    if (is_foreign(cong)) {
        c->t_foreign = ack->now;
    }
    note_loss(c, cong->mss, ack);
    measure(c, cong, rtt, ack, held, seconds);
    note_change(c, ack->now);
    note_full(c, cong, rtt->min_rtt, ack);
    rate = usable(c, cong, rtt);
    if (rate > 0) {
        gain = c->estimate <= 0 ? 1 : gain;
        c->estimate += gain * (rate - c->estimate);
        c->t_estimate = ack->now;
    }
}

bool tltcp__bandwidth_is_settled(const tltcp__bandwidth *c, tltcp_time now) {
    return c->t_shown >= 0 && (cong_time)now - c->t_shown > SETTLE &&
           !is_recent(c->t_changed, (cong_time)now, SETTLE) &&
           !is_shared_now(c, (cong_time)now);
}

double tltcp__bandwidth_offered(const tltcp__bandwidth *c,
                                const struct cong *cong, double max_rate,
                                cong_time srtt) {
    double rate = offered(c, cong, srtt);
    return PAYLOAD_SHARE * (max_rate > 0 ? fmin(rate, max_rate) : rate);
}

double tltcp__bandwidth_estimate(const tltcp__bandwidth *c) {
    return PAYLOAD_SHARE * c->estimate;
}

/* More than is known, so that the window stays in use and can grow. What is too
 * much is late, and beside others this lasts. */
static double gain_of_limit(const tltcp__bandwidth *c, cong_time now) {
    return is_shared_now(c, now)                  ? CLAIM
           : is_recent(c->t_changed, now, SETTLE) ? REGAIN
                                                  : OPTIMISM;
}

double tltcp__bandwidth_limit(const tltcp__bandwidth *c, tltcp_time now) {
    double rate = c->estimate;
    if (!is_recent(c->t_full, (cong_time)now, FULL_MEMORY) &&
        c->max_rate <= 0) {
        return 0;
    }
    if (c->rate > 0 && c->rate < rate) {
        rate = c->rate; /* the smoothed estimate has not reached it yet */
    }
    return PAYLOAD_SHARE * rate * gain_of_limit(c, (cong_time)now);
}
