/* SPDX-License-Identifier: MPL-2.0 */
/*
 * The TFRC sender; also named stfrc, for hosts whose sender keeps the loss
 * history (stfrc.c).
 *
 * Source: RFC 5348 sections 4.2 to 4.5; Shahriar et al. 2011 for the
 * sender-based form.
 *
 * State: x (allowed rate, bytes/s; x_eq of the equation); r (smoothed RTT, s;
 * 0: none); p (loss event rate); set (up to three receive rates, bytes/s, and
 * their times); tld (last doubling, ns); rsq (s^0.5, for damping). Parameters:
 * b (segments per ACK of the modelled TCP), q and q2 (weights of the old RTT
 * and of its root), damping (1: the rate of every RTT follows its delay; RFC
 * 5348 section 4.5).
 *
 * Interpretations: a feedback without p and receive rate is not a report and
 * changes nothing; with p = 0 the lower bound is the initial window per RTT,
 * not one packet; t_RTO is 4 RTT.  The set begins with infinity at the time of
 * the first report, so it does not limit the rate for two RTTs; a first report
 * that also gives the first RTT does not enter the set.  Silence with nothing
 * in flight at CONG_NOFEEDBACK is "nothing sent since the timer was armed".
 * CONG_IDLE needs no response: the timer runs. Losses, ECN marks and timeouts
 * act through p.
 */
#include "libcongestion/internal.h"

#include <congestion/tfrc.h>

#include <math.h>

#define SET_SIZE 3

struct tfrc {
    struct cong cc;
    double b;
    double q;
    double q2;
    double damping;
    double x;
    double x_eq;
    double r;
    double rsq;
    double p;
    double rate[SET_SIZE]; /* newest last */
    cong_time time[SET_SIZE];
    unsigned entries;
    bool reported; /* a report has arrived */
    cong_time tld;
    struct cong__clock clock;
};

static const struct cong__param params[] = {
    CONG__PARAM(tfrc, b, "b", 1, 4),
    CONG__PARAM(tfrc, q, "q", 0, 0.999),
    CONG__PARAM(tfrc, q2, "q2", 0, 0.999),
    CONG__FLAG(tfrc, damping, "damping"),
};

static double tfrc_slowest(const struct tfrc *t) {
    return t->cc.mss / 64;
}

/* The initial window per RTT. */
static double tfrc_recover_rate(const struct tfrc *t) {
    return cong__initial_segments(t->cc.mss) * t->cc.mss / t->r;
}

/* Publishes the rate and arms the timer. */
static void tfrc_publish(struct tfrc *t, cong_time rtt) {
    double rate = t->x;
    if (t->damping > 0 && rtt > 0 && t->rsq > 0) {
        rate *= t->rsq / sqrt(cong__seconds(rtt));
        rate = fmax(rate, tfrc_slowest(t));
    }
    t->cc.pacing_rate = rate;
    t->cc.feedback_timeout = cong__ns(fmax(4 * t->r, 2 * t->cc.mss / t->x));
}

static void tfrc_first_rtt(struct tfrc *t, cong_time rtt, cong_time now) {
    t->r = cong__seconds(rtt);
    t->rsq = sqrt(t->r);
    t->x = tfrc_recover_rate(t);
    t->tld = now;
}

static void tfrc_init(struct cong *cc, cong_time now, cong_time rtt) {
    struct tfrc *t = (struct tfrc *)cc;
    t->b = 1;
    t->q = 0.9;
    t->q2 = 0.9;
    t->x = cc->mss;
    t->tld = now;
    cong__clock_init(&t->clock, now);
    cc->cwnd = cc->cwnd_max;
    cc->ssthresh = (double)INFINITY;
    if (rtt > 0) {
        tfrc_first_rtt(t, rtt, now);
    }
    tfrc_publish(t, -1);
}

static double tfrc_highest(const struct tfrc *t) {
    double x = 0;
    for (unsigned i = 0; i < t->entries; i++) {
        x = fmax(x, t->rate[i]);
    }
    return x;
}

static void tfrc_set_only(struct tfrc *t, double rate, cong_time now) {
    t->rate[0] = rate;
    t->time[0] = now;
    t->entries = 1;
}

/* Drops the first n entries. */
static void tfrc_drop(struct tfrc *t, unsigned n) {
    for (unsigned i = n; i < t->entries; i++) {
        t->rate[i - n] = t->rate[i];
        t->time[i - n] = t->time[i];
    }
    t->entries -= n;
}

/* Stores the receive rates of two RTTs; returns the limit of the sending
 * rate. */
static double tfrc_remember(struct tfrc *t, double x_recv, cong_time now) {
    cong_time oldest = cong__ns(2 * t->r);
    while (t->entries > 0 && cong__elapsed(now, t->time[0]) > oldest) {
        tfrc_drop(t, 1);
    }
    if (t->entries == SET_SIZE) {
        tfrc_drop(t, 1);
    }
    t->rate[t->entries] = x_recv;
    t->time[t->entries] = now;
    t->entries++;
    return 2 * tfrc_highest(t);
}

/* The same for an interval that was application-limited throughout. */
static double tfrc_remember_limited(struct tfrc *t, double x_recv, bool worse,
                                    cong_time now) {
    double most = worse ? 0.85 * x_recv : x_recv;
    for (unsigned i = 0; i < t->entries; i++) {
        if (!isinf(t->rate[i])) {
            most = fmax(most, worse ? t->rate[i] / 2 : t->rate[i]);
        }
    }
    tfrc_set_only(t, most, now);
    return worse ? most : 2 * most;
}

static void tfrc_step(struct tfrc *t, double limit, cong_time now) {
    if (t->p > 0) {
        t->x_eq = cong_tfrc_rate(t->cc.mss, cong__ns(t->r), t->p, t->b);
        t->x = fmax(fmin(t->x_eq, limit), tfrc_slowest(t));
    } else if (cong__elapsed(now, t->tld) >= cong__ns(t->r)) {
        t->x = fmax(fmin(2 * t->x, limit), tfrc_recover_rate(t));
        t->tld = now;
    }
    t->x = fmin(t->x, CONG_HUGE);
}

static void tfrc_smooth(struct tfrc *t, cong_time rtt) {
    if (rtt <= 0) {
        return;
    }
    double r = cong__seconds(rtt);
    t->r = t->q * t->r + (1 - t->q) * r;
    t->rsq = t->q2 * t->rsq + (1 - t->q2) * sqrt(r);
}

/* A report without a receive rate: the earlier rates hold. If there are none,
 * the rate may double for two RTTs. */
static double tfrc_bound_unknown(struct tfrc *t, cong_time now) {
    if (t->entries > 0 && isinf(t->rate[0]) &&
        cong__elapsed(now, t->time[0]) > cong__ns(2 * t->r)) {
        tfrc_drop(t, 1);
    }
    if (t->entries == 0) {
        return t->x;
    }
    return 2 * (isinf(t->rate[0]) ? t->x : tfrc_highest(t));
}

static double tfrc_bound(struct tfrc *t, const struct cong_ack *ack,
                         bool worse) {
    if (!(ack->x_recv >= 0)) {
        return tfrc_bound_unknown(t, ack->now);
    }
    double x_recv = cong__clean(ack->x_recv);
    return ack->limited ? tfrc_remember(t, x_recv, ack->now)
                        : tfrc_remember_limited(t, x_recv, worse, ack->now);
}

static void tfrc_report(struct tfrc *t, const struct cong_ack *ack) {
    if (!(ack->p >= 0) && !(ack->x_recv >= 0)) {
        return;
    }
    cong_time rtt = ack->rtt > 0 ? ack->rtt : -1;
    double p = fmin(cong__clean(ack->p), 1);
    if (!(t->r > 0) && rtt < 0) {
        rtt = ack->srtt;
    }
    if (!(t->r > 0) && rtt <= 0) {
        t->p = p;
        return;
    }
    if (!t->reported) {
        t->reported = true;
        tfrc_set_only(t, (double)INFINITY, ack->now);
    }
    double limit = (double)INFINITY;
    if (!(t->r > 0)) {
        tfrc_first_rtt(t, rtt, ack->now);
        t->p = p;
    } else {
        bool worse = p > t->p || ack->lost > 0;
        tfrc_smooth(t, rtt);
        t->p = p;
        limit = tfrc_bound(t, ack, worse);
    }
    tfrc_step(t, limit, ack->now);
    tfrc_publish(t, rtt);
}

static void tfrc_ack(struct cong *cc, const struct cong_ack *ack) {
    struct tfrc *t = (struct tfrc *)cc;
    struct cong_ack seen = *ack;
    seen.now = cong__clock_read(&t->clock, ack->now);
    tfrc_report(t, &seen);
}

static void tfrc_halve(struct tfrc *t) {
    t->x = fmax(t->x / 2, tfrc_slowest(t));
}

/* The table of RFC 5348 section 4.4. */
static void tfrc_no_feedback(struct tfrc *t, const struct cong_event *ev) {
    bool quiet = !(ev->flight > 0);
    double received = tfrc_highest(t);
    if (!(t->r > 0)) {
        if (!quiet) {
            tfrc_halve(t);
        }
        return;
    }
    double recover = tfrc_recover_rate(t);
    if (quiet && (t->p > 0 ? received < recover : t->x < 2 * recover)) {
        return;
    }
    if (!(t->p > 0)) {
        tfrc_halve(t);
        return;
    }
    double bound_now = t->x_eq > 2 * received ? received : t->x_eq / 2;
    tfrc_set_only(t, fmax(bound_now, tfrc_slowest(t)) / 2, ev->now);
    tfrc_step(t, 2 * t->rate[0], ev->now);
}

static void tfrc_event(struct cong *cc, const struct cong_event *ev) {
    struct tfrc *t = (struct tfrc *)cc;
    struct cong_event seen = *ev;
    seen.now = cong__clock_read(&t->clock, ev->now);
    if (ev->cause == CONG_NOFEEDBACK) {
        tfrc_no_feedback(t, &seen);
        tfrc_publish(t, -1);
    }
}

static int tfrc_set(struct cong *cc, const char *param, double value) {
    return cong__set_param(cc, params, CONG__COUNT(params), param, value);
}

const struct cong_ops cong__tfrc = {
    .name = "tfrc",
    .size = sizeof(struct tfrc),
    .init = tfrc_init,
    .ack = tfrc_ack,
    .event = tfrc_event,
    .set = tfrc_set,
};

const struct cong_ops cong__stfrc = {
    .name = "stfrc",
    .size = sizeof(struct tfrc),
    .init = tfrc_init,
    .ack = tfrc_ack,
    .event = tfrc_event,
    .set = tfrc_set,
};
