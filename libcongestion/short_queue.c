/* SPDX-License-Identifier: MPL-2.0 */
/* Keeps the flow's own queue short. */
#include "libcongestion/short_queue.h"

#include <math.h>

#define TARGET 1e7         /* ns of queue, ... */
#define TARGET_PACKETS 2   /* ... these packets on a slow link, ... */
#define TARGET_BASE 0.0625 /* ... or this part of a long path */
#define BEARABLE 1.5       /* times the target; a longer queue is excess */
#define EXCESS 25e6        /* ns * s; above it the queue is persistent */
#define EXCESS_GUEST 0.4   /* of that if there was a queue at the start */
#define EXCESS_MOST 1e8    /* ns of queue counted at most */
#define RELIEF 2           /* weight of a short queue */
#define FOREIGN 0.6        /* smaller own share: others fill the queue */
#define DOUBT 5            /* standard errors of distance from FOREIGN */
#define STAYS 0.85         /* as FOREIGN, while the queue is foreign, ... */
#define STAYS_DOUBT 3
#define UNCONFIRMED 1000000000 /* ... confirmed within this time, ns */
#define OWN 0.8                /* larger share: the queue is the flow's own */
#define NO_NOISE 0.3           /* a smaller share may be noise, not a queue */
#define GONE 5000000000        /* ns without a queue: the others left */
#define NEAR 2000000000        /* ns after a queue */
#define LEAST 4                /* segments that a yielding window keeps */
#define EMPTY 2e6              /* ns above the lowest RTT */
#define EMPTIED 7000000000     /* ns, within the window of the lowest RTT */
#define DRAIN 0.75             /* of the path used while the queue drains */
#define CLEAR 0.25             /* of the target; less is no queue */

static bool short_queue_is_recent(cong_time then, cong_time now,
                                  cong_time span) {
    return then > 0 && cong__elapsed(now, then) < span;
}

static double short_queue_target(const struct cong__short_queue *q, double mss,
                                 double base) {
    double packet = cong__queue_share_packet(&q->share, mss);
    double slow = fmin(TARGET_PACKETS * packet, EXCESS_MOST);
    return fmax(fmax(TARGET, slow), TARGET_BASE * base);
}

/* A long queue that is brief counts as much as a shorter one that lasts. */
static void short_queue_count(struct cong__short_queue *q, double queue,
                              double target, cong_time now) {
    double seconds = fmin(cong__seconds(cong__elapsed(now, q->judged)), 1);
    double over = fmin(queue - BEARABLE * target, EXCESS_MOST);
    q->excess += (over > 0 ? over : RELIEF * over) * seconds;
    q->excess = fmin(fmax(q->excess, 0), 2 * EXCESS);
    q->judged = now;
    if (queue > target) {
        q->stood = now;
    }
}

/* True when the queue has just become foreign. */
static bool short_queue_judge(struct cong__short_queue *q, bool guest,
                              cong_time now) {
    bool own = cong__queue_share(&q->share) > OWN;
    double enough = guest ? EXCESS_GUEST * EXCESS : EXCESS;
    q->was_own |= own;
    if (cong__queue_share_is_below(&q->share, STAYS, STAYS_DOUBT)) {
        q->confirmed = now;
    }
    if (q->foreign) {
        q->foreign = !own &&
                     short_queue_is_recent(q->confirmed, now, UNCONFIRMED) &&
                     short_queue_is_recent(q->stood, now, GONE);
        q->excess = q->foreign ? q->excess : 0;
        return false;
    }
    q->foreign = q->excess > enough &&
                 cong__queue_share_is_below(&q->share, FOREIGN, DOUBT);
    return q->foreign;
}

static void short_queue_set(struct cong__short_queue *q, struct cong *cc,
                            double cwnd) {
    cong__set_cwnd(cc, cwnd);
    cong__set_ssthresh(cc, cc->cwnd);
    q->settling = true;
}

/* Shrinks the window to what fills the path and the target. */
static void short_queue_yield(struct cong__short_queue *q, struct cong *cc,
                              double mean, double wanted) {
    double least = fmax(q->share.delivered * wanted, LEAST * cc->mss);
    double cwnd = fmax(cc->cwnd * wanted / mean, least);
    if (cwnd < cc->cwnd) {
        q->yielded = fmax(q->yielded, cc->cwnd);
        short_queue_set(q, cc, cwnd);
    }
}

/* Lets the queue drain for one round trip. */
static void short_queue_drain(struct cong__short_queue *q, struct cong *cc,
                              double base, cong_time now) {
    double cwnd = DRAIN * q->share.delivered * base;
    q->emptied = now;
    if (cwnd < cc->cwnd) {
        q->drained = cc->cwnd;
        short_queue_set(q, cc, cwnd);
    }
}

/* Restores the window by slow start. */
static void short_queue_restore(struct cong *cc, double *cwnd) {
    if (*cwnd > cc->ssthresh) {
        cong__set_ssthresh(cc, *cwnd);
    }
    *cwnd = 0;
}

static void short_queue_keep(struct cong__short_queue *q, struct cong *cc,
                             double mean, double base, cong_time now) {
    double share = cong__queue_share(&q->share);
    double target = short_queue_target(q, cc->mss, base);
    if (cc->cwnd < cc->ssthresh || share < NO_NOISE) {
        return;
    }
    if (mean - base > target) {
        q->stands = true;
        q->stood = now;
        short_queue_yield(q, cc, mean, base + target);
    } else if (!short_queue_is_recent(q->stood, now, NEAR)) {
        q->yielded = 0;
    }
    if (share > OWN && !short_queue_is_recent(q->emptied, now, EMPTIED)) {
        short_queue_drain(q, cc, base, now);
    }
}

/* Whether the window was the limit and no queue stood. */
static bool short_queue_is_clear(const struct cong__short_queue *q, double mss,
                                 double mean, const struct cong_ack *ack) {
    double base = (double)ack->min_rtt;
    return q->full && !ack->recovery &&
           mean - base < CLEAR * short_queue_target(q, mss, base);
}

/* A round trip ends. */
static bool short_queue_end_round(struct cong__short_queue *q, struct cong *cc,
                                  const struct cong_ack *ack, bool guest,
                                  bool keep) {
    double base = (double)ack->min_rtt;
    double mean = q->sum / q->count;
    bool turned;
    short_queue_count(q, q->low - base, short_queue_target(q, cc->mss, base),
                      ack->now);
    turned = short_queue_judge(q, guest, ack->now);
    q->clear = short_queue_is_clear(q, cc->mss, mean, ack) ? q->clear + 1 : 0;
    q->full = false;
    q->low = q->sum = 0;
    q->count = 0;
    if (turned) {
        short_queue_restore(cc, &q->yielded);
    }
    if (q->settling) {
        q->settling = false;
        return turned;
    }
    short_queue_restore(cc, &q->drained);
    if (!q->foreign && keep) {
        short_queue_keep(q, cc, mean, base, ack->now);
    }
    return turned;
}

static void short_queue_report(const struct cong__short_queue *q,
                               struct cong *cc, cong_time now) {
    cc->queue = q->foreign                          ? CONG_QUEUE_FOREIGN
                : cong__short_queue_is_near(q, now) ? CONG_QUEUE_OWN
                                                    : CONG_QUEUE_UNKNOWN;
}

bool cong__short_queue_ack(struct cong__short_queue *q, struct cong *cc,
                           const struct cong_ack *ack, bool guest, bool keep) {
    bool turned = false;
    double base = (double)ack->min_rtt;
    cong__queue_share_ack(&q->share, ack, cc->mss, base);
    q->full |= ack->limited;
    q->stands &= !(ack->lost > 0);
    if (ack->rtt > 0) {
        double rtt = (double)ack->rtt;
        q->low = q->count > 0 ? fmin(q->low, rtt) : rtt;
        q->sum += rtt;
        q->count++;
        q->emptied = rtt <= base + EMPTY ? ack->now : q->emptied;
    }
    if (ack->round && q->count > 0 && ack->min_rtt > 0) {
        turned = short_queue_end_round(q, cc, ack, guest, keep);
        short_queue_report(q, cc, ack->now);
    }
    return turned;
}

void cong__short_queue_forget(struct cong__short_queue *q) {
    q->clear = 0;
    q->stood = 0;
    q->yielded = 0;
}

bool cong__short_queue_is_near(const struct cong__short_queue *q,
                               cong_time now) {
    return !q->foreign && short_queue_is_recent(q->stood, now, NEAR);
}
