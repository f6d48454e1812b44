/* SPDX-License-Identifier: MPL-2.0 */
#include "libtltcp/capacity.h"

#include <math.h>

#define NS_PER_S 1e9
#define ESTIMATE_SECONDS 0.5 /* time constant of the estimate */
#define RATE_SECONDS 0.5     /* of the path's rate under a queue */
#define GROWTH 0.05          /* per second without a queue */
#define PLATEAU 10000000000  /* ns since a queue stood */
#define PLATEAU_GROWTH 0.005 /* per second, so long */
#define QUEUE_MIN 4000000    /* ns; less is noise */
#define FOREIGN 2            /* times what is in flight: a queue of others */
#define CHANGE 1.1           /* times: the path carries more, or less */
#define TRAIN 4              /* packets that make a train ... */
#define TRAIN_GAIN 0.125     /* ... and how far each of its ACKs is believed */
#define LOOSE 2              /* times slower than the path: no train any more */
#define COMPRESSED 2 /* times faster than it left: a train that was held up */
#define SLOWED ((cong_time)TLTCP_S)
#define SETTLE (2 * (cong_time)TLTCP_S)
#define WANTED (2 * (cong_time)TLTCP_S)
#define LOW_WINDOW ((cong_time)100000000) /* ns in which a queue must stand */
#define CLAIM 1.25    /* while others have a part: claim as much more */
#define OPTIMISM 1.02 /* a path that is not filled would not show more */
#define FULL_MEMORY (10 * (cong_time)TLTCP_S)
#define PAYLOAD_SHARE 0.96 /* of a packet, headers of chunks taken off */

void tltcp__capacity_init(tltcp__capacity *c, double max_rate, tltcp_time now) {
    *c = (tltcp__capacity){.max_rate = max_rate,
                           .t_estimate = -1,
                           .t_full = -1,
                           .t_slowed = -1,
                           .t_limited = -1,
                           .t_shown = max_rate > 0 ? (cong_time)now : -1,
                           .t_changed = -1,
                           .t_foreign = -1};
}

static bool is_recent(cong_time then, cong_time now, cong_time span) {
    return then >= 0 && now - then < span;
}

/* Keeps the lowest RTT of the last one or two windows: a burst makes a queue
 * that is gone before the next one. */
static void note_low_rtt(tltcp__capacity *c, cong_time srtt,
                         const struct cong_ack *ack) {
    cong_time window = srtt > LOW_WINDOW ? srtt : LOW_WINDOW;
    if (ack->rtt <= 0) {
        return;
    }
    if (ack->now - c->t_low > window) {
        c->low_before = c->low;
        c->low = ack->rtt;
        c->t_low = ack->now;
    } else if (ack->rtt < c->low) {
        c->low = ack->rtt;
    }
}

static cong_time low_rtt(const tltcp__capacity *c) {
    return c->low < c->low_before ? c->low : c->low_before;
}

/* A queue stands on the path: what is delivered is what it carries. */
static bool is_saturated(const tltcp__capacity *c, cong_time min_rtt) {
    cong_time queue = low_rtt(c) - min_rtt;
    return min_rtt > 0 && 4 * queue > min_rtt && queue > QUEUE_MIN;
}

/* The queue is not ours: we have too little in flight.  Others fill it, and
 * would give way. */
static bool is_shared(const tltcp__capacity *c,
                      const struct cong_rate_sample *rs) {
    return rs != NULL &&
           FOREIGN * rs->tx_in_flight < c->rate * (double)low_rtt(c) / NS_PER_S;
}

/* A new train begins where the application paused. */
static bool joins(tltcp__train *t, double rate, const struct cong_ack *ack) {
    cong_time sent = ack->now - ack->rtt;
    double gap = (double)(sent - t->sent_last) / NS_PER_S;
    if (sent < t->sent_last || gap * rate > LOOSE * ack->acked) {
        *t = (tltcp__train){sent, sent, ack->now, 0};
        return false;
    }
    t->sent_last = sent;
    t->bytes += ack->acked;
    return true;
}

/* What the train shows that goes on with this ACK.  No faster than it left; one
 * that came faster was held up on the way. */
static void note_train(tltcp__capacity *c, double mss,
                       const struct cong_ack *ack) {
    tltcp__train *t = &c->train;
    double sent;
    double acked;
    double rate;
    if (c->rate <= 0 || ack->rtt <= 0 || !joins(t, c->rate, ack) ||
        t->bytes < TRAIN * mss) {
        return;
    }
    sent = (double)(t->sent_last - t->sent_first);
    acked = (double)(ack->now - t->acked_first);
    if (sent <= 0 || COMPRESSED * acked < sent) {
        return;
    }
    rate = t->bytes / fmax(acked, sent) * NS_PER_S;
    if (rate > CHANGE * c->rate) {
        c->rate += TRAIN_GAIN * (rate - c->rate);
    } else if (acked > CHANGE * sent) {
        c->t_slowed = ack->now;
    }
}

/* By which a window that was the limit would make the rate grow. */
static double growth_of_window(double mss, cong_time srtt_ns, double seconds) {
    double srtt = (double)srtt_ns / NS_PER_S;
    return srtt > 0 ? mss / (srtt * srtt) * seconds : 0;
}

/* What was delivered at most, corrected while a queue stands, but not by the
 * application's pauses.  Without a queue there may be more: a little for a
 * while, for the path has just shown what it carries, then more and more. */
static void measure(tltcp__capacity *c, double mss, const struct cong_rtt *rtt,
                    const struct cong_ack *ack, double seconds) {
    const struct cong_rate_sample *rs = ack->rs;
    double gain = seconds < RATE_SECONDS ? seconds / RATE_SECONDS : 1;
    bool saturated = is_saturated(c, rtt->min_rtt);
    if (rs != NULL && rs->rate > c->rate && (c->rate > 0 || saturated)) {
        c->rate = rs->rate;
    } else if (!saturated) {
        bool plateau = ack->now - c->t_full < PLATEAU ||
                       is_recent(c->t_slowed, ack->now, SLOWED);
        c->rate *= 1 + (plateau ? PLATEAU_GROWTH : GROWTH) * seconds;
        note_train(c, mss, ack);
    } else if (!ack->limited && is_shared(c, rs)) {
        c->t_foreign = ack->now;
        c->rate += growth_of_window(mss, rtt->srtt, seconds);
    } else if (rs != NULL && !rs->app_limited) {
        c->rate += gain * (rs->rate - c->rate);
    }
}

/* Notes when the path carries more or less than it has shown. */
static void note_change(tltcp__capacity *c, cong_time now) {
    if (c->t_shown < 0) {
        c->steady = c->rate;
    } else if (c->rate > CHANGE * c->steady || CHANGE * c->rate < c->steady) {
        c->steady = c->rate;
        c->t_changed = now;
    }
}

/* A queue is a limit of the path only for who wanted to send more. */
static void note_full(tltcp__capacity *c, cong_time min_rtt,
                      const struct cong_ack *ack) {
    c->t_limited = ack->limited ? ack->now : c->t_limited;
    if (is_saturated(c, min_rtt) && is_recent(c->t_limited, ack->now, WANTED)) {
        c->t_full = ack->now;
        c->t_shown = c->t_shown < 0 ? ack->now : c->t_shown;
    }
}

/* The window over the RTT, or what the controller paces at, but not more than
 * the path is known to deliver.  Where that is known, the RTT that counts is
 * the one without our own queue: a window that was cut just now has not drained
 * it yet. */
static double usable(const tltcp__capacity *c, const struct cong *cong,
                     const struct cong_rtt *rtt) {
    double rate = cong->pacing_rate;
    if (cong->cwnd < 1e300 && rtt->srtt > 0) {
        cong_time ns = c->rate > 0 ? rtt->min_rtt : rtt->srtt;
        rate = cong->cwnd / ((double)ns / NS_PER_S);
    }
    if (c->max_rate > 0 && rate > c->max_rate) {
        rate = c->max_rate;
    }
    return c->rate > 0 && rate > c->rate ? c->rate : rate;
}

void tltcp__capacity_on_ack(tltcp__capacity *c, const struct cong *cong,
                            const struct cong_rtt *rtt,
                            const struct cong_ack *ack) {
    double seconds =
        c->t_estimate >= 0 ? (double)(ack->now - c->t_estimate) / NS_PER_S : 0;
    double gain = seconds < ESTIMATE_SECONDS ? seconds / ESTIMATE_SECONDS : 1;
    double rate;
    note_low_rtt(c, rtt->srtt, ack);
    measure(c, cong->mss, rtt, ack, seconds);
    note_change(c, ack->now);
    note_full(c, rtt->min_rtt, ack);
    rate = usable(c, cong, rtt);
    if (rate > 0) {
        gain = c->estimate <= 0 ? 1 : gain;
        c->estimate += gain * (rate - c->estimate);
        c->t_estimate = ack->now;
    }
}

/* Others have a part of the path: what it carries for us changes, or they fill
 * its queue. */
static bool is_contested(const tltcp__capacity *c, cong_time now) {
    return is_recent(c->t_changed, now, SETTLE) ||
           is_recent(c->t_foreign, now, FULL_MEMORY);
}

bool tltcp__capacity_is_settled(const tltcp__capacity *c, tltcp_time now) {
    return c->t_shown >= 0 && (cong_time)now - c->t_shown > SETTLE &&
           !is_contested(c, (cong_time)now);
}

double tltcp__capacity_estimate(const tltcp__capacity *c) {
    return PAYLOAD_SHARE * c->estimate;
}

double tltcp__capacity_limit(const tltcp__capacity *c, tltcp_time now) {
    double rate = c->estimate;
    if (!is_recent(c->t_full, (cong_time)now, FULL_MEMORY) &&
        c->max_rate <= 0) {
        return 0;
    }
    if (c->rate > 0 && c->rate < rate) {
        rate = c->rate; /* which the smoothed one has not reached yet */
    }
    return PAYLOAD_SHARE * rate *
           (is_contested(c, (cong_time)now) ? CLAIM : OPTIMISM);
}
