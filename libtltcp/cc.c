/* SPDX-License-Identifier: MPL-2.0 */
#include "libtltcp/cc.h"

#include <string.h>

#define BURST_PACKETS 10 /* RFC 9002, 7.7 */
#define QUANTUM_MAX 65000.0
#define EST_SECONDS 0.5      /* time constant of the encoder's estimate */
#define CAPACITY_SECONDS 0.5 /* of the path's rate under a queue */
#define CAPACITY_GROWTH 0.05 /* per second without a queue */
#define PLATEAU 10000000000  /* ns since a queue stood */
#define PLATEAU_GROWTH 0.005 /* per second, so long */
#define QUEUE_MIN 4000000    /* ns; less is noise */
#define FOREIGN 2            /* times what is in flight: a queue of others */
#define CHANGE 1.1           /* times: the path carries more, or less */
#define SETTLE (2 * (cong_time)TLTCP_S)
#define WANTED (2 * (cong_time)TLTCP_S)
#define LOW_WINDOW 100000000 /* ns; over which a queue must stand */
#define CLAIM 1.25           /* while others have a part: claim as much more */
#define OPTIMISM 1.02        /* a path that is not filled would not show more */
#define FULL_MEMORY (10 * (cong_time)TLTCP_S)
#define PAYLOAD_SHARE 0.96 /* of a packet, headers of chunks taken off */
#define NS_PER_S 1e9

static bool is_finite(double x) {
    return x < 1e300;
}

/* Keeps the parameters: a new path needs them again. */
static int take_params(tltcp__cc *cc, const cmn__mem *mem,
                       const tltcp_config *cfg) {
    const char *const *names = cfg->congestion_params;
    size_t n = 0;
    while (names != NULL && names[n] != NULL) {
        if (strlen(names[n]) >= sizeof(cc->params->name)) {
            return TLTCP_ERR_INVAL; /* no parameter has so long a name */
        }
        n++;
    }
    if (n == 0) {
        return 0;
    }
    cc->params = cmn__alloc(mem, n * sizeof(*cc->params));
    if (cc->params == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    for (; cc->n_params < n; cc->n_params++) {
        tltcp__cc_param *p = &cc->params[cc->n_params];
        memcpy(p->name, names[cc->n_params], strlen(names[cc->n_params]) + 1);
        p->value = cfg->congestion_values[cc->n_params];
    }
    return 0;
}

/* What the config asks of a controller that has just been made. */
static int set_params(tltcp__cc *cc) {
    int rv = 0;
    if (cc->max_rate > 0) { /* the controllers without it do not know it */
        (void)cong_set(cc->cong, "rate", cc->max_rate);
    }
    for (size_t i = 0; i < cc->n_params; i++) {
        if (cong_set(cc->cong, cc->params[i].name, cc->params[i].value) != 0) {
            rv = TLTCP_ERR_INVAL;
        }
    }
    if (cc->initial_window > 0) {
        cc->cong->cwnd = cc->initial_window * cc->cong->mss;
    }
    return rv;
}

int tltcp__cc_init(tltcp__cc *cc, const cmn__mem *mem, const tltcp_config *cfg,
                   const struct cong_ops *ops, double mss, tltcp_time now) {
    double cwnd_max =
        cfg->max_window > 0 ? (double)cfg->max_window * mss : (double)INT64_MAX;
    int rv;
    *cc = (tltcp__cc){.t_sent = -1,
                      .t_est = -1,
                      .t_shown = cfg->max_rate > 0 ? (cong_time)now : -1,
                      .t_full = -1,
                      .t_limited = -1,
                      .t_foreign = -1,
                      .t_changed = -1,
                      .paced = !cfg->no_pacing};
    cc->cong = cmn__alloc(mem, ops->size);
    if (cc->cong == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    cong_init(cc->cong, ops, mss, cwnd_max, (cong_time)now, -1);
    cc->max_rate = (double)cfg->max_rate / 8;
    cc->initial_window = (double)cfg->initial_window;
    rv = take_params(cc, mem, cfg);
    if (rv == 0) {
        rv = set_params(cc);
    }
    cc->granularity = (double)cfg->timer_granularity_us * 1e-6;
    cong_rtt_init(&cc->rtt, (cong_time)TLTCP_MS,
                  (cong_time)(cfg->rto_min_ms * TLTCP_MS));
    cong_rate_init(&cc->rate);
    cong_pacer_init(&cc->pacer);
    return rv;
}

void tltcp__cc_free(tltcp__cc *cc, const cmn__mem *mem) {
    cmn__free(mem, cc->cong);
    cmn__free(mem, cc->params);
    cc->cong = NULL;
    cc->params = NULL;
}

void tltcp__cc_restart(tltcp__cc *cc, tltcp_time now) {
    const struct cong_ops *ops = cc->cong->ops;
    double mss = cc->cong->mss;
    double cwnd_max = cc->cong->cwnd_max;
    cong_init(cc->cong, ops, mss, cwnd_max, (cong_time)now, -1);
    (void)set_params(cc); /* which were good before */
    cong_rtt_init(&cc->rtt, cc->rtt.granularity, cc->rtt.rto_min);
    cong_rate_init(&cc->rate);
    cc->rate.t_first = (cong_time)now;
    cc->rate.t_delivered = (cong_time)now;
    cc->sample = (struct cong_rate_sample){0};
    cong_pacer_init(&cc->pacer);
    cc->t_resume = 0;
    cc->est_rate = 0;
    cc->t_est = -1;
    cc->capacity = 0;
    cc->low = cc->low_before = 0;
    cc->episode = false;
    cc->can_undo = false;
    cc->capacity = 0;
    cc->low = cc->low_before = 0;
    cc->t_shown = cc->max_rate > 0 ? (cong_time)now : -1;
    cc->t_full = -1;
    cc->t_limited = -1;
    cc->t_foreign = -1;
    cc->t_changed = -1;
    cc->steady = 0;
}

double tltcp__cc_window(const tltcp__cc *cc) {
    return cc->episode && cc->use_prr ? cc->prr.cwnd : cc->cong->cwnd;
}

bool tltcp__cc_window_open(const tltcp__cc *cc, double flight) {
    return flight + cc->cong->mss <= tltcp__cc_window(cc);
}

tltcp_time tltcp__cc_pace_at(const tltcp__cc *cc, tltcp_time now) {
    cong_time at = cong_pacer_next(&cc->pacer, (cong_time)now);
    if (at < cc->t_resume && cc->pacer.rate > 0) {
        at = cc->t_resume;
    }
    return at > 0 ? (tltcp_time)at : 0;
}

bool tltcp__cc_pacer_open(tltcp__cc *cc, tltcp_time now) {
    if (tltcp__cc_pace_at(cc, now) <= now) {
        return true;
    }
    cc->limited = true;
    return false;
}

/* Bytes worth a wake: what the driver's clock can tell apart, but no more than
 * one system call takes. */
static double quantum(const tltcp__cc *cc, double rate) {
    double bytes = rate * cc->granularity;
    return bytes < QUANTUM_MAX ? bytes : QUANTUM_MAX;
}

void tltcp__cc_set_pace(tltcp__cc *cc) {
    double rate = cc->paced ? cong_pacing_rate(cc->cong, cc->rtt.srtt) : 0;
    double burst = BURST_PACKETS * cc->cong->mss;
    if (cc->max_rate > 0 && (rate <= 0 || rate > cc->max_rate)) {
        rate = cc->max_rate;
    }
    if (burst < rate * cc->granularity + quantum(cc, rate)) {
        burst = rate * cc->granularity + quantum(cc, rate);
    }
    cong_pacer_set(&cc->pacer, rate, burst);
}

void tltcp__cc_on_wake(tltcp__cc *cc, double flight, tltcp_time now) {
    cong_time rto;
    cong_time quiet = (cong_time)now - cc->t_sent;
    if (quiet == 0) { /* another packet of the same train */
        return;
    }
    tltcp__cc_set_pace(cc);
    rto = cong_rtt_rto(&cc->rtt);
    if (cc->t_sent >= 0 && flight <= 0 && quiet > rto) {
        tltcp__cc_on_event(cc, CONG_IDLE, 0, 0, (unsigned)(quiet / rto), now);
        cc->t_sent = (cong_time)now; /* told once */
    }
}

/* Once the pacer says no, it lets this much gather, so that fast flows do not
 * cost a wake per packet. */
static void rest(tltcp__cc *cc, double size, cong_time now) {
    double more = quantum(cc, cc->pacer.rate) - size;
    cong_time next = cong_pacer_next(&cc->pacer, now);
    if (next > now && more > 0) {
        cc->t_resume = next + (cong_time)(more / cc->pacer.rate * NS_PER_S);
    }
}

void tltcp__cc_on_sent(tltcp__cc *cc, double size, tltcp_time now) {
    cong_pacer_sent(&cc->pacer, size, (cong_time)now);
    rest(cc, size, (cong_time)now);
    cc->t_sent = (cong_time)now;
    if (cc->episode && cc->use_prr) {
        cong_prr_sent(&cc->prr, size);
    }
}

/* Keeps the lowest RTT of the last one or two windows: a burst makes a queue
 * that is gone before the next one. */
static void note_low_rtt(tltcp__cc *cc, cong_time rtt, cong_time now) {
    cong_time window =
        cc->rtt.srtt > LOW_WINDOW ? cc->rtt.srtt : (cong_time)LOW_WINDOW;
    if (rtt <= 0) {
        return;
    }
    if (now - cc->t_low > window) {
        cc->low_before = cc->low;
        cc->low = rtt;
        cc->t_low = now;
    } else if (rtt < cc->low) {
        cc->low = rtt;
    }
}

/* A queue stands on the path: what is delivered is what it carries. */
static bool is_saturated(const tltcp__cc *cc) {
    cong_time low = cc->low < cc->low_before ? cc->low : cc->low_before;
    cong_time queue = low - cc->rtt.min_rtt;
    return cc->rtt.min_rtt > 0 && 4 * queue > cc->rtt.min_rtt &&
           queue > QUEUE_MIN;
}

/* The queue is not ours: we have too little in flight.  Others fill it, and
 * would give way. */
static bool is_shared(const tltcp__cc *cc, const struct cong_rate_sample *rs) {
    double low = (double)(cc->low < cc->low_before ? cc->low : cc->low_before);
    return rs != NULL &&
           FOREIGN * rs->tx_in_flight < cc->capacity * low / NS_PER_S;
}

/* By which a window that was the limit would make the rate grow. */
static double growth_of_window(const tltcp__cc *cc, double seconds) {
    double srtt = (double)cc->rtt.srtt / NS_PER_S;
    return srtt > 0 ? cc->cong->mss / (srtt * srtt) * seconds : 0;
}

/* What was delivered at most, corrected while a queue stands, but not by the
 * application's pauses.  Without a queue there may be more: a little for a
 * while, for the path has just shown what it carries, then more and more. */
static void measure_capacity(tltcp__cc *cc, const struct cong_rate_sample *rs,
                             double seconds, bool limited, cong_time now) {
    double gain = seconds < CAPACITY_SECONDS ? seconds / CAPACITY_SECONDS : 1;
    bool saturated = is_saturated(cc);
    if (rs != NULL && rs->rate > cc->capacity &&
        (cc->capacity > 0 || saturated)) {
        cc->capacity = rs->rate;
    } else if (!saturated) {
        double growth =
            now - cc->t_full < PLATEAU ? PLATEAU_GROWTH : CAPACITY_GROWTH;
        cc->capacity *= 1 + growth * seconds;
    } else if (!limited && is_shared(cc, rs)) {
        cc->t_foreign = now;
        cc->capacity += growth_of_window(cc, seconds);
    } else if (rs != NULL && !rs->app_limited) {
        cc->capacity += gain * (rs->rate - cc->capacity);
    }
}

static bool is_recent(cong_time then, cong_time now, cong_time span) {
    return then >= 0 && now - then < span;
}

/* Notes when the path carries more or less than it has shown. */
static void note_change(tltcp__cc *cc, cong_time now) {
    if (cc->t_shown < 0) {
        cc->steady = cc->capacity;
    } else if (cc->capacity > CHANGE * cc->steady ||
               CHANGE * cc->capacity < cc->steady) {
        cc->steady = cc->capacity;
        cc->t_changed = now;
    }
}

/* A queue is a limit of the path only for who wanted to send more. */
static void note_full(tltcp__cc *cc, bool limited, cong_time now) {
    cc->t_limited = limited ? now : cc->t_limited;
    if (is_saturated(cc) && is_recent(cc->t_limited, now, WANTED)) {
        cc->t_full = now;
        cc->t_shown = cc->t_shown < 0 ? now : cc->t_shown;
    }
}

bool tltcp__cc_is_contested(const tltcp__cc *cc, tltcp_time now) {
    return is_recent(cc->t_changed, (cong_time)now, SETTLE) ||
           is_recent(cc->t_foreign, (cong_time)now, FULL_MEMORY);
}

bool tltcp__cc_is_settled(const tltcp__cc *cc, tltcp_time now) {
    return cc->t_shown >= 0 && (cong_time)now - cc->t_shown > SETTLE &&
           !tltcp__cc_is_contested(cc, now);
}

/* What the path would carry, for encoders: the window over the RTT, or what the
 * controller paces at, but not more than the path is known to deliver.  Where
 * that is known, the RTT that counts is the one without our own queue: a window
 * that was cut just now has not drained it yet. */
static void estimate(tltcp__cc *cc, const struct cong_rate_sample *rs,
                     bool limited, cong_time now) {
    double rate = cc->cong->pacing_rate;
    double seconds = cc->t_est >= 0 ? (double)(now - cc->t_est) / NS_PER_S : 0;
    double gain = seconds < EST_SECONDS ? seconds / EST_SECONDS : 1;
    measure_capacity(cc, rs, seconds, limited, now);
    note_change(cc, now);
    note_full(cc, limited, now);
    if (is_finite(cc->cong->cwnd) && cc->rtt.srtt > 0) {
        cong_time rtt = cc->capacity > 0 ? cc->rtt.min_rtt : cc->rtt.srtt;
        rate = cc->cong->cwnd / ((double)rtt / NS_PER_S);
    }
    if (cc->max_rate > 0 && rate > cc->max_rate) {
        rate = cc->max_rate;
    }
    if (cc->capacity > 0 && rate > cc->capacity) {
        rate = cc->capacity;
    }
    if (rate > 0) {
        gain = cc->est_rate <= 0 ? 1 : gain;
        cc->est_rate += gain * (rate - cc->est_rate);
        cc->t_est = now;
    }
}

void tltcp__cc_on_ack(tltcp__cc *cc, struct cong_ack *ack, bool advanced) {
    double after = ack->flight - ack->acked - ack->lost;
    ack->min_rtt = cc->rtt.min_rtt;
    ack->srtt = cc->rtt.srtt;
    ack->limited = cc->limited;
    ack->p = -1;
    ack->x_recv = -1;
    if (cong_rate_sample(&cc->rate, cc->rtt.min_rtt, &cc->sample)) {
        ack->rs = &cc->sample;
    }
    cc->cong->ops->ack(cc->cong, ack);
    cc->report_limited |= cc->limited;
    cc->limited = false;
    if (cc->episode && cc->use_prr) {
        cong_prr_ack(&cc->prr, ack->acked, after > 0 ? after : 0,
                     cc->cong->ssthresh, cc->cong->mss, advanced);
    }
    note_low_rtt(cc, ack->rtt, ack->now);
    estimate(cc, ack->rs, ack->limited, ack->now);
    tltcp__cc_set_pace(cc);
}

bool tltcp__cc_wants_reports(const tltcp__cc *cc) {
    return cc->cong->feedback_timeout > 0;
}

void tltcp__cc_on_report(tltcp__cc *cc, double p, double x_recv, double flight,
                         tltcp_time now) {
    const struct cong_ack ack = {
        .now = (cong_time)now,
        .rtt = cc->rtt.latest,
        .min_rtt = cc->rtt.min_rtt,
        .srtt = cc->rtt.srtt,
        .flight = flight,
        .p = p,
        .x_recv = x_recv,
        .round = true,
        .limited = cc->report_limited || cc->limited,
    };
    cc->cong->ops->ack(cc->cong, &ack);
    cc->report_limited = false;
    tltcp__cc_set_pace(cc);
}

bool tltcp__cc_on_loss(tltcp__cc *cc, const struct cong_event *ev) {
    bool first = !cc->episode;
    if (first) {
        cc->undo_cwnd = cc->cong->cwnd;
        cc->undo_ssthresh = cc->cong->ssthresh;
        cc->can_undo = true;
    }
    cc->cong->ops->event(cc->cong, ev);
    if (cc->cong->cwnd <= cc->cong->mss) {
        cc->episode = false;
        cc->can_undo = false;
        tltcp__cc_set_pace(cc);
        return true;
    }
    cc->episode = true;
    if (first) {
        cc->use_prr = cc->cong->cwnd < cc->undo_cwnd &&
                      cc->cong->ssthresh < ev->flight && !cc->cong->repair_only;
        cong_prr_enter(&cc->prr, ev->flight);
        cc->prr.cwnd = cc->cong->cwnd;
    }
    tltcp__cc_set_pace(cc);
    return false;
}

void tltcp__cc_on_event(tltcp__cc *cc, enum cong_cause cause, double flight,
                        double missing, unsigned count, tltcp_time now) {
    const struct cong_event ev = {.now = (cong_time)now,
                                  .cause = cause,
                                  .flight = flight,
                                  .missing = missing,
                                  .count = count};
    cc->cong->ops->event(cc->cong, &ev);
    tltcp__cc_set_pace(cc);
}

void tltcp__cc_on_recovered(tltcp__cc *cc, tltcp_time now) {
    if (cc->episode) {
        cc->episode = false;
        tltcp__cc_on_event(cc, CONG_RECOVERED, 0, 0, 0, now);
    }
}

void tltcp__cc_undo(tltcp__cc *cc, tltcp_time now) {
    if (cc->can_undo && cc->cong->cwnd < cc->undo_cwnd) {
        cc->cong->cwnd = cc->undo_cwnd;
        cc->cong->ssthresh = cc->undo_ssthresh;
        cc->episode = false;
        tltcp__cc_on_event(cc, CONG_UNDO, 0, 0, 0, now);
    }
    cc->can_undo = false;
}

static uint64_t whole(double x) {
    return is_finite(x) && x < 1.8e19 ? (uint64_t)x : UINT64_MAX;
}

static uint64_t time_of(cong_time t) {
    return t > 0 ? (uint64_t)t : 0;
}

uint64_t tltcp__cc_estimated_bps(const tltcp__cc *cc) {
    return whole(8 * PAYLOAD_SHARE * cc->est_rate);
}

double tltcp__cc_limit(const tltcp__cc *cc, tltcp_time now) {
    double rate = cc->est_rate;
    if (!is_recent(cc->t_full, (cong_time)now, FULL_MEMORY) &&
        cc->max_rate <= 0) {
        return 0;
    }
    if (cc->capacity > 0 && cc->capacity < rate) {
        rate = cc->capacity; /* which the smoothed one has not reached yet */
    }
    return PAYLOAD_SHARE * rate *
           (tltcp__cc_is_contested(cc, now) ? CLAIM : OPTIMISM);
}

void tltcp__cc_get_stats(const tltcp__cc *cc, tltcp_stats *st) {
    st->cwnd_bytes = whole(cc->cong->cwnd);
    st->ssthresh_bytes = whole(cc->cong->ssthresh);
    st->pacing_rate_bps = whole(8 * cc->pacer.rate);
    st->delivery_rate_bps = whole(8 * cc->sample.rate);
    st->estimated_bps = tltcp__cc_estimated_bps(cc);
    st->srtt_ns = time_of(cc->rtt.srtt);
    st->rttvar_ns = time_of(cc->rtt.rttvar);
    st->min_rtt_ns = time_of(cc->rtt.min_rtt);
    st->latest_rtt_ns = time_of(cc->rtt.latest);
    strncpy(st->congestion, cc->cong->ops->name, sizeof(st->congestion) - 1);
}
