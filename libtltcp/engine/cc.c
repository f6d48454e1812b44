/* SPDX-License-Identifier: MPL-2.0 */
/* Hosts a congestion controller: window, pacing, events. */
#include "libtltcp/engine/cc.h"

#include <math.h>
#include <string.h>

#include "libtltcp/engine/carried.h"
#include "libtltcp/engine/cc_packed.h"
#include "libtltcp/engine/config.h"

/* Burst after a late opening of the window: two packets leave at once, which is
 * what most ACKs cover. RFC 9002 section 7.7 allows ten, but a full queue drops
 * the end of a train. */
#define BURST_PACKETS 1
#define FULL (1 / 1.2) /* of the window in flight, by the pacer's gain */
#define QUANTUM_MAX 65000.0
#define NS_PER_S 1e9
/* A path has slack when for this many round trips, and this long, there was no
 * loss, no mark, no full window, and no queue beyond this part of the lowest
 * RTT, or this time, which timers and delayed ACKs explain. */
#define SLACK_RTTS 8
#define SLACK_MIN (3 * (cong_time)TLTCP_S)
#define SLACK_QUEUE_PART 8
#define SLACK_QUEUE_MIN ((cong_time)4 * (cong_time)TLTCP_MS)
/* A queue must show in this many RTT samples in a row, for at least this long.
 */
#define SLACK_QUEUED 3u
#define SLACK_QUEUE_TIME ((cong_time)10 * (cong_time)TLTCP_MS)
/* Whenever slack ends, the next needs twice as long a time, up to 16 times,
 * until it has lasted for a minute. */
#define RELAPSES_MAX 4
#define SLACK_PROVEN (60 * (cong_time)TLTCP_S)
/* Trains on a path with slack last this part of an RTT, and at most this many
 * seconds and packets; half as long where the rate of the path is known, since
 * spread packets show when that grows. */
#define TRAIN_PART_OF_RTT 0.25
#define TRAIN_MAX 0.010
#define TRAIN_PACKETS 10
/* A busy machine wakes the sender late. The pacer makes up for this much, but
 * for no more than an RTT. */
#define LATE_MAX ((cong_time)10 * (cong_time)TLTCP_MS)
/* Cross traffic may keep a queue for long; min_rtt must not include it. */
#define MIN_RTT_WINDOW (60 * (cong_time)TLTCP_S)

static bool is_finite(double x) {
    return x < 1e300;
}

/* Copies the parameters, since a new path needs them again. */
static int take_params(tltcp__cc *cc, const cmn__mem *mem,
                       const tltcp_config *cfg) {
    const char *const *names = cfg->controller.params;
    size_t n = 0;
    while (names != NULL && names[n] != NULL) {
        if (strlen(names[n]) >= sizeof(cc->params->name)) {
            return TLTCP_ERR_INVAL; /* no parameter has a name that long */
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
        p->value = cfg->controller.values[cc->n_params];
    }
    return 0;
}

/* Applies the config to a new controller. */
static int set_params(tltcp__cc *cc) {
    int rv = 0;
    if (cc->max_rate > 0) { /* not all controllers have this parameter */
        (void)cong_set(cc->cong, "rate", cc->max_rate);
    }
    for (size_t i = 0; i < cc->n_params; i++) {
        if (cong_set(cc->cong, cc->params[i].name, cc->params[i].value) != 0) {
            rv = TLTCP_ERR_INVAL;
        }
    }
    if (cc->initial_window > 0) {
        cc->cong->cwnd =
            fmin(cc->initial_window * cc->cong->mss, cc->cong->cwnd_max);
        (void)cong_set(cc->cong, "scale", 0);
    }
    return rv;
}

int tltcp__cc_init(tltcp__cc *cc, const cmn__mem *mem, const tltcp_config *cfg,
                   double mss, tltcp_time now) {
    const struct cong_ops *ops = tltcp__config_congestion(cfg);
    double cwnd_max = cfg->controller.max_window > 0
                          ? (double)cfg->controller.max_window * mss
                          : (double)INT64_MAX;
    int rv;
    *cc = (tltcp__cc){.mem = mem,
                      .t_sent = -1,
                      .t_due = -1,
                      .t_strain = (cong_time)now,
                      .paced = cfg->controller.pacing};
    cc->cong = cmn__alloc(mem, ops->size);
    if (cc->cong == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    cong_init(cc->cong, ops, mss, cwnd_max, (cong_time)now, -1);
    cc->packs = tltcp__packed_suits(cc->cong);
    cc->max_rate = (double)cfg->max_rate / 8;
    cc->initial_window = (double)cfg->controller.initial_window;
    rv = take_params(cc, mem, cfg);
    if (rv == 0) {
        rv = set_params(cc);
    }
    cc->granularity = (double)cfg->io.timer_granularity_us * 1e-6;
    cong_rtt_init(&cc->rtt, (cong_time)TLTCP_MS,
                  (cong_time)(cfg->paper.rto_min_ms * TLTCP_MS));
    cc->rtt.window = MIN_RTT_WINDOW;
    cong_rate_init(&cc->rate);
    cong_pacer_init(&cc->pacer);
    return rv;
}

void tltcp__cc_free(tltcp__cc *cc) {
    cmn__free(cc->mem, cc->cong);
    cmn__free(cc->mem, cc->params);
    cmn__free(cc->mem, cc->bandwidth);
    tltcp__route_free(&cc->route, cc->mem);
    cc->cong = NULL;
    cc->params = NULL;
    cc->bandwidth = NULL;
}

int tltcp__cc_follow(tltcp__cc *cc, tltcp_time now) {
    struct cong *cong = cmn__alloc(cc->mem, tltcp__carried.size);
    if (cong == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    cong_init(cong, &tltcp__carried, cc->cong->mss, cc->cong->cwnd_max,
              (cong_time)now, -1);
    tltcp__cc_free(cc);
    cc->cong = cong;
    cc->packs = false;
    cc->packed = false;
    cc->n_params = 0;
    cc->initial_window = 0;
    cc->paced = false;
    tltcp__cc_set_pace(cc);
    return 0;
}

void tltcp__cc_rest(tltcp__cc *cc) {
    struct cong *packed;
    if (!cc->packs || cc->packed) {
        return;
    }
    packed = tltcp__packed_new(cc->mem, cc->cong);
    if (packed != NULL) {
        cmn__free(cc->mem, cc->cong);
        cc->cong = packed;
        cc->packed = true;
    }
}

/* Call it before a function of the controller. False without memory. */
static bool cc_rouse(tltcp__cc *cc) {
    struct cong *cong;
    if (!cc->packed) {
        return true;
    }
    cong = tltcp__packed_open(cc->mem, cc->cong);
    if (cong == NULL) {
        return false;
    }
    cmn__free(cc->mem, cc->cong);
    cc->cong = cong;
    cc->packed = false;
    return true;
}

static void note_strain(tltcp__cc *cc, cong_time now) {
    if (cc->slack) {
        cc->t_resume = 0; /* may be the end of a long quantum */
        cc->relapses = (uint8_t)(cc->relapses + (cc->relapses < RELAPSES_MAX));
    }
    cc->slack = false;
    cc->t_strain = now;
}

void tltcp__cc_restart(tltcp__cc *cc, tltcp_time now) {
    const struct cong_ops *ops = cc->cong->ops;
    double mss = cc->cong->mss;
    double cwnd_max = cc->cong->cwnd_max;
    if (cc_rouse(cc)) {
        cong_init(cc->cong, ops, mss, cwnd_max, (cong_time)now, -1);
        (void)set_params(cc); /* validated before */
    }
    cc->lag = 0;
    cc->stretch = 0;
    cong_rtt_init(&cc->rtt, cc->rtt.granularity, cc->rtt.rto_min);
    cc->rtt.window = MIN_RTT_WINDOW;
    cc->small_left = 0;
    cc->low_is_small = false;
    cong_rate_init(&cc->rate);
    cc->rate.t_first = (cong_time)now;
    cc->rate.t_delivered = (cong_time)now;
    cc->delivered = 0;
    cong_pacer_init(&cc->pacer);
    tltcp__route_free(&cc->route, cc->mem);
    cc->use_prr = false;
    note_strain(cc, (cong_time)now);
    cc->t_resume = 0;
    tltcp__cc_restart_bandwidth(cc, now);
}

void tltcp__cc_on_longer_path(tltcp__cc *cc, cong_time rtt, tltcp_time now) {
    cong_rtt_raise_min(&cc->rtt, rtt);
    cc->use_prr = false;
    if (cc->bandwidth != NULL && cc->known > 0) {
        cc->bandwidth->rate = fmax(cc->bandwidth->rate, cc->known);
    } else { /* all that is known is of a queue that is none */
        tltcp__cc_restart_bandwidth(cc, now);
    }
    if (cc_rouse(cc)) {
        cc->kept = cc->cong->cwnd;
        cong_init(cc->cong, cc->cong->ops, cc->cong->mss, cc->cong->cwnd_max,
                  tltcp__cc_clock(cc, now), -1);
        (void)set_params(cc); /* validated before */
    }
}

/* Restores the window after a restart on a longer path. The controller has just
 * chosen its first one. Slow start ends at what the path is known to carry. */
static void keep_window(tltcp__cc *cc) {
    struct cong *cong = cc->cong;
    double rate = tltcp__cc_bandwidth(cc)->rate;
    double pipe = rate * (double)cc->rtt.min_rtt / NS_PER_S;
    if (cc->kept <= 0) {
        return;
    }
    cong->cwnd = fmax(cong->cwnd, cc->kept);
    if (pipe > 0) {
        cong->ssthresh = fmin(cong->ssthresh, fmax(pipe, cong->cwnd));
    }
    cc->kept = 0;
}

/* What waits for an ACK at the peer has left the path: the window is so much
 * larger (BBR calls it extra_acked). */
static double stretched(const tltcp__cc *cc) {
    return cc->stretch > 0 && cc->rtt.srtt > 0
               ? 1 + (double)cc->stretch / (double)cc->rtt.srtt
               : 1;
}

cong_time tltcp__cc_clock(tltcp__cc *cc, tltcp_time now) {
    cong_time at = (cong_time)now - cc->lag;
    bool behind = cc->t_cong <= (cong_time)now; /* not after a step back */
    cc->t_cong = behind && at < cc->t_cong ? cc->t_cong : at;
    return cc->t_cong;
}

double tltcp__cc_window(const tltcp__cc *cc) {
    return tltcp__cc_recovers(cc) && cc->use_prr
               ? cc->prr.cwnd
               : cc->cong->cwnd * stretched(cc);
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

void tltcp__cc_on_full(tltcp__cc *cc) {
    cc->limited = true;
    cc->full = true;
}

/* Spreading a picture does not count as limited as long as the window has room
 * for the next one (RFC 7661 section 4.3, RFC 9002 section 7.8), unless a
 * configured rate is the only limit. */
static void note_pacer(tltcp__cc *cc, double flight) {
    if (cc->cong->pacing_rate > 0 || cc->max_rate > 0) {
        tltcp__cc_on_full(cc);
    }
    cc->limited |= flight >= FULL * cc->cong->cwnd * stretched(cc);
}

bool tltcp__cc_pacer_open(tltcp__cc *cc, double flight, tltcp_time now) {
    cong_time at = (cong_time)tltcp__cc_pace_at(cc, now);
    if (at <= (cong_time)now) {
        return true;
    }
    note_pacer(cc, flight);
    cc->t_due = at;
    return false;
}

/* Whether there is a queue. A host that was busy delays one round of ACKs, or
 * many that then come together. */
static bool sees_queue(tltcp__cc *cc, const struct cong_ack *ack) {
    cong_time part = cc->rtt.min_rtt / SLACK_QUEUE_PART;
    cong_time most =
        cc->rtt.min_rtt + (part > SLACK_QUEUE_MIN ? part : SLACK_QUEUE_MIN);
    if (ack->rtt > most) {
        cc->t_queue = cc->queued > 0 ? cc->t_queue : ack->now;
        cc->queued = (uint8_t)(cc->queued + (cc->queued < SLACK_QUEUED));
    } else if (ack->rtt >= 0) {
        cc->queued = 0;
    }
    return cc->rtt.srtt > most && cc->queued >= SLACK_QUEUED &&
           ack->now - cc->t_queue >= SLACK_QUEUE_TIME;
}

/* Whether an ACK shows that longer trains might do harm. With slack, ACKs are
 * delayed, and so the window may be nearly full without harm. */
static bool is_strained(tltcp__cc *cc, const struct cong_ack *ack) {
    bool queue = sees_queue(cc, ack);
    bool full = cc->slack ? cc->full : ack->limited;
    return ack->lost > 0 || ack->ce > 0 || full || queue;
}

static void update_slack(tltcp__cc *cc, const struct cong_ack *ack) {
    cong_time quiet = ack->now - cc->t_strain;
    if (is_strained(cc, ack)) {
        note_strain(cc, ack->now);
    } else {
        cc->slack = cc->paced && quiet > SLACK_RTTS * cc->rtt.srtt &&
                    quiet > SLACK_MIN << cc->relapses;
        cc->relapses = quiet > SLACK_PROVEN ? 0 : cc->relapses;
    }
}

/* Bytes that may follow the first packet of a train. On a path with slack they
 * are bounded in time, and by what RFC 9002 section 7.7 allows at once. */
static double train_max(const tltcp__cc *cc, double rate) {
    double time = (double)cc->rtt.srtt / NS_PER_S * TRAIN_PART_OF_RTT;
    double part = tltcp__bandwidth_is_known(tltcp__cc_bandwidth(cc)) ? 0.5 : 1;
    double bytes = part * rate * (time < TRAIN_MAX ? time : TRAIN_MAX);
    double most = (TRAIN_PACKETS - 1) * cc->cong->mss;
    if (!cc->slack) {
        return 0;
    }
    return bytes < most ? bytes : most;
}

/* Bytes that leave within one timer tick of the driver, but at most one system
 * call's worth. */
static double tick_bytes(const tltcp__cc *cc, double rate) {
    double bytes = rate * cc->granularity;
    return bytes < QUANTUM_MAX ? bytes : QUANTUM_MAX;
}

/* Bytes worth a wake-up. */
static double quantum(const tltcp__cc *cc, double rate) {
    return fmax(tick_bytes(cc, rate), train_max(cc, rate));
}

/* Paces the initial window over a full round trip. At twice that rate, as in
 * slow start, it would overflow a path of just that bandwidth. */
static double first_flight_rate(const tltcp__cc *cc, double rate) {
    double asked = cc->initial_window * cc->cong->mss;
    double srtt = (double)cc->rtt.srtt / NS_PER_S;
    if (srtt > 0 && cc->rate.delivered < asked && rate > asked / srtt) {
        return asked / srtt;
    }
    return rate;
}

void tltcp__cc_set_pace(tltcp__cc *cc) {
    double rate = cc->paced ? cong_pacing_rate(cc->cong, cc->rtt.srtt) : 0;
    double burst = BURST_PACKETS * cc->cong->mss;
    rate = first_flight_rate(cc, rate);
    if (cc->max_rate > 0 && (rate <= 0 || rate > cc->max_rate)) {
        rate = cc->max_rate;
    }
    burst = fmax(burst, rate * cc->granularity + tick_bytes(cc, rate));
    burst = fmax(burst, train_max(cc, rate));
    cong_pacer_set(&cc->pacer, rate, burst);
}

/* If the timer of the pacer came late, the next burst makes up for it. */
static void make_up(tltcp__cc *cc, cong_time now) {
    cong_time most = cc->rtt.srtt < LATE_MAX ? cc->rtt.srtt : LATE_MAX;
    cong_time late = cc->t_due >= 0 ? now - cc->t_due : 0;
    cc->t_due = -1;
    late = late < most ? late : most;
    if (late > 0) {
        double missed = cc->pacer.rate * (double)late / NS_PER_S;
        cong_pacer_set(&cc->pacer, cc->pacer.rate, cc->pacer.credit + missed);
    }
}

void tltcp__cc_on_wake(tltcp__cc *cc, double flight, tltcp_time ack_delay,
                       tltcp_time now) {
    cong_time rto;
    cong_time quiet = (cong_time)now - cc->t_sent;
    if (quiet == 0) { /* another packet of the same burst */
        return;
    }
    tltcp__cc_set_pace(cc);
    make_up(cc, (cong_time)now);
    /* RTT samples leave out the delay of ACKs */
    rto = cong_rtt_rto(&cc->rtt) + (cong_time)ack_delay;
    if (cc->t_sent >= 0 && flight <= 0 && quiet > rto) {
        tltcp__cc_on_event(cc, CONG_IDLE, 0, 0, (unsigned)(quiet / rto), now);
        cc->t_sent = (cong_time)now; /* notify once */
    }
}

/* Once the pacer says no, it lets this much gather, so that fast flows do not
 * cost a wake per packet. */
static void rest(tltcp__cc *cc, double size, cong_time now) {
    cong_time next = cong_pacer_next(&cc->pacer, now);
    double more = next > now ? quantum(cc, cc->pacer.rate) - size : 0;
    if (more > 0) {
        cc->t_resume = next + (cong_time)(more / cc->pacer.rate * NS_PER_S);
    }
}

void tltcp__cc_on_sent(tltcp__cc *cc, double size, tltcp_time now) {
    cong_pacer_sent(&cc->pacer, size, (cong_time)now);
    rest(cc, size, (cong_time)now);
    cc->t_sent = (cong_time)now;
    if (tltcp__cc_recovers(cc) && cc->use_prr) {
        cong_prr_sent(&cc->prr, size);
    }
}

uint64_t tltcp__cc_burst(const tltcp__cc *cc, double size, tltcp_time now) {
    return tltcp__cc_pace_at(cc, now) <= now
               ? cong_pacer_burst(&cc->pacer, size, (cong_time)now)
               : 0;
}

void tltcp__cc_on_burst_sent(tltcp__cc *cc, double size, uint64_t count,
                             tltcp_time now) {
    if (count > 0) {
        cong_pacer_sent_burst(&cc->pacer, size, count, (cong_time)now);
        rest(cc, size, (cong_time)now);
        cc->t_sent = (cong_time)now;
    }
}

void tltcp__cc_on_ack(tltcp__cc *cc, struct cong_ack *ack, bool advanced) {
    struct cong_rate_sample sample;
    double after = ack->flight - ack->acked - ack->lost;
    ack->min_rtt = cc->rtt.min_rtt;
    ack->srtt = cc->rtt.srtt;
    ack->limited = cc->limited;
    ack->p = -1;
    ack->x_recv = -1;
    ack->rs = NULL;
    if (cong_rate_sample(&cc->rate, cc->rtt.min_rtt, &sample)) {
        ack->rs = &sample;
        cc->delivered = sample.rate;
    }
    update_slack(cc, ack);
    if (cc_rouse(cc)) {
        cc->cong->ops->ack(cc->cong, ack);
        keep_window(cc);
    }
    cc->report_limited |= cc->limited;
    cc->limited = false;
    cc->full = false;
    if (tltcp__cc_recovers(cc) && cc->use_prr) {
        cong_prr_ack(&cc->prr, ack->acked, after > 0 ? after : 0,
                     cc->cong->ssthresh, cc->cong->mss, advanced);
    }
    tltcp__cc_learn_bandwidth(cc, ack);
    ack->rs = NULL; /* it ends with this function */
    tltcp__cc_set_pace(cc);
}

bool tltcp__cc_has_feedback_timer(const tltcp__cc *cc) {
    return cc->cong->feedback_timeout > 0;
}

void tltcp__cc_on_report(tltcp__cc *cc, double p, double x_recv, double flight,
                         tltcp_time now) {
    const struct cong_ack ack = {
        .now = tltcp__cc_clock(cc, now),
        .rtt = cc->rtt.latest,
        .min_rtt = cc->rtt.min_rtt,
        .srtt = cc->rtt.srtt,
        .flight = flight,
        .p = p,
        .x_recv = x_recv,
        .round = true,
        .limited = cc->report_limited || cc->limited,
    };
    if (cc_rouse(cc)) {
        cc->cong->ops->ack(cc->cong, &ack);
    }
    cc->report_limited = false;
    tltcp__cc_set_pace(cc);
}

unsigned tltcp__cc_on_congestion(tltcp__cc *cc,
                                 const struct cong_recovery_report *r) {
    unsigned out = cc_rouse(cc)
                       ? cong_recovery_period_report(&cc->period, cc->cong, r)
                       : CONG_RECOVERY_UNCHANGED;
    if ((out & CONG_RECOVERY_ENTERED) != 0) {
        cc->use_prr = tltcp__cc_recovers(cc) && cc->period.lost.count > 0 &&
                      cc->cong->cwnd < cc->period.cwnd &&
                      cc->cong->ssthresh < r->flight && !cc->cong->repair_only;
        cong_prr_enter(&cc->prr, r->flight);
        cc->prr.cwnd = cc->cong->cwnd;
    }
    if (out != CONG_RECOVERY_UNCHANGED) {
        note_strain(cc, r->now);
        tltcp__cc_set_pace(cc);
    }
    return out;
}

void tltcp__cc_on_persistent(tltcp__cc *cc,
                             const struct cong_recovery_report *r) {
    if (cc_rouse(cc)) {
        cong_recovery_period_timeout(&cc->period, cc->cong, r, 1);
    }
    tltcp__cc_set_pace(cc);
}

bool tltcp__cc_on_settled(tltcp__cc *cc, uint64_t oldest, double flight,
                          tltcp_time now) {
    bool ended = cc_rouse(cc) &&
                 cong_recovery_period_end(&cc->period, cc->cong, oldest, flight,
                                          tltcp__cc_clock(cc, now));
    if (ended) {
        tltcp__cc_set_pace(cc);
    }
    return ended;
}

void tltcp__cc_on_event(tltcp__cc *cc, enum cong_cause cause, double flight,
                        double missing, unsigned count, tltcp_time now) {
    const struct cong_event ev = {.now = tltcp__cc_clock(cc, now),
                                  .cause = cause,
                                  .flight = flight,
                                  .missing = missing,
                                  .count = count};
    if (cc_rouse(cc)) {
        cc->cong->ops->event(cc->cong, &ev);
    }
    tltcp__cc_set_pace(cc);
}

static uint64_t cc_whole(double x) {
    return is_finite(x) && x < 1.8e19 ? (uint64_t)x : UINT64_MAX;
}

static uint64_t time_of(cong_time t) {
    return t > 0 ? (uint64_t)t : 0;
}

uint64_t tltcp__cc_estimated_bps(const tltcp__cc *cc) {
    return cc_whole(8 * tltcp__cc_estimated(cc));
}

void tltcp__cc_get_stats(const tltcp__cc *cc, tltcp_stats *st) {
    st->cwnd_bytes = cc_whole(cc->cong->cwnd);
    st->ssthresh_bytes = cc_whole(cc->cong->ssthresh);
    st->pacing_rate_bps = cc_whole(8 * cc->pacer.rate);
    st->delivery_rate_bps = cc_whole(8 * cc->delivered);
    st->estimated_bps = tltcp__cc_estimated_bps(cc);
    st->srtt_ns = time_of(cc->rtt.srtt);
    st->rttvar_ns = time_of(cc->rtt.rttvar);
    st->min_rtt_ns = time_of(cc->rtt.min_rtt);
    st->latest_rtt_ns = time_of(cc->rtt.latest);
    strncpy(st->congestion, cc->cong->ops->name, sizeof(st->congestion) - 1);
}
