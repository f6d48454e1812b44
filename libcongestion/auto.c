/* SPDX-License-Identifier: MPL-2.0 */
/*
 * AUTO: CUBIC that tells random loss from congestion.
 *
 * Source: our own.  To judge by the RTT at the time of the loss is in the
 * manner of TCP Veno (Fu, Liew 2003); a window that was used is kept while the
 * application is the limit, and what a loss leaves is measured by that use, in
 * the spirit of RFC 7661.  Growth, and what congestion costs, are CUBIC's (RFC
 * 9438).
 *
 * A flow whose application pauses now and then takes at most what that wants,
 * and congestion leaves it more (beta_live).  A flow that finds a queue when it
 * begins, as a lower RTT tells later, is a guest among others who have what it
 * is to have: for its first seconds congestion avoidance grows faster (claim),
 * for a stream that is late until it has its share gives up whole groups of
 * pictures.  What congestion leaves it then is what it leaves the others
 * (beta_guest).
 *
 * While the queue on the path is its own, the flow keeps it short; CUBIC's
 * growth and its answer to losses are for a queue that others fill
 * (short_queue.h).
 *
 * Three verdicts on a recovery period.  By chance: the losses of late do not
 * follow the RTT (see rtt_history.h), and no queue stands on the path; nothing
 * is given up, and growth goes on.  Doubtful: a queue may stand, but it was
 * short at the time, and few packets are lost; it costs a little of the window.
 * Congestion: all else.
 *
 * The initial window is ten segments (RFC 6928) for every 100 ms of a longer
 * round trip, so that a long path is not filled later than a short one.  Slow
 * start ends when the RTT shows a queue (in the manner of HyStart++, RFC 9406),
 * and most of that queue is let out.
 *
 * State: q (CUBIC's); past (RTTs); base (of the path without a queue, ns),
 * first (lowest when it began, ns), rtt (newest, ns); lost and known (bytes
 * lost of late, of so many whose fate is known); rank (mean rank of the losses
 * of late, 0 to 1), judged (their number); pipe (bytes most in flight in this
 * span of 2 s and the one before); begun (when the first RTT was known); paused
 * (when the application was last the limit); chance (the open recovery period
 * is one by chance); queue (short_queue.h). Parameters: those of CUBIC, and
 * tolerance (share of bytes whose loss may be doubtful), bearable (whose loss
 * may be by chance), depth (part of the span of the RTTs that counts as a short
 * queue), gentle (what a doubtful loss leaves of the window), beta_live and
 * beta_guest (what congestion leaves of it to a live stream, at least), claim
 * (times CUBIC's growth for a newcomer), hystart (1: slow start ends when the
 * RTT shows a queue), delay (1: a queue of the flow's own is kept short), scale
 * (1: the initial window is that of a longer round trip; setting iw makes it
 * 0).
 */
#include "libcongestion/cubic.h"
#include "libcongestion/rtt_history.h"
#include "libcongestion/short_queue.h"

#include <math.h>
#include <string.h>

#define LOSS_SEGMENTS 1600  /* over which the share lost is averaged, ... */
#define LOSS_TIMES 48       /* ... or those that came with so many losses */
#define LOSS_FIRST 400      /* segments taken for arrived to begin with */
#define SUSPECT 0.75        /* the mean rank to begin with */
#define INDEPENDENT 0.7     /* a mean rank below: losses not by the queue */
#define JUDGED 8            /* losses over which the rank is averaged */
#define JUDGED_FIRST 4      /* of which the first say little */
#define SPACING 16          /* segments between two RTTs remembered */
#define ALIKE 0.005         /* of the base at most: RTTs that tell nothing */
#define FULL 0.9            /* quantile of the RTTs that a full queue makes */
#define SOME_QUEUE 0.08     /* of the RTT without a queue ... */
#define SOME_QUEUE_MIN 32e5 /* ... and ns: less is noise */
#define FIRST_QUEUE 0.04    /* while all that was seen may be a full queue */
#define QUEUE 0.125         /* the same, just now */
#define QUEUE_MIN 5e6       /* ns */
#define START_RTTS 8        /* RFC 9406's N_RTT_SAMPLE, ... */
#define START_QUEUE 0.125   /* ... MIN_RTT_DIVISOR, ... */
#define START_LEAST 4e6     /* ... and ns */
#define START_MOST 16e6
#define DRAIN 1.5 /* of the pipe stay when slow start has filled it */
#define PIPE_SPAN 2000000000  /* ns */
#define PAUSE 5000000000      /* ns since the application was the limit */
#define CLAIM_SPAN 5000000000 /* ns from the first RTT */
#define BEGINS 3000000000     /* ns in which a guest does not yield */
#define FOLLOWS 0.9           /* of the window in use: as good as all */
#define ROOM 2                /* the window grows to so many times its use */
#define INITIAL 10            /* segments ... */
#define INITIAL_RTT 1e8       /* ... per so many ns */
#define INITIAL_MOST 10       /* times that at most */

struct adaptive {
    struct cubic q;
    double tolerance;
    double bearable;
    double depth;
    double gentle;
    double beta_live;
    double beta_guest;
    double claim;
    double scale;
    double hystart;
    double delay;
    struct cong__rtt_history past;
    double base;
    double first;
    double rtt;
    double lost;
    double known;
    double rank;
    unsigned judged;
    bool chance;
    double pipe, pipe_before;
    cong_time pipe_from;
    struct cong__clock clock;
    cong_time begun;
    cong_time paused; /* when the application was last the limit; 0: never */
    struct cong__short_queue queue;
};

enum verdict { BY_CHANCE, DOUBTFUL, CONGESTION };

static const struct cong__param params[] = {
    CONG__PARAM(adaptive, tolerance, "tolerance", 0, 1),
    CONG__PARAM(adaptive, bearable, "bearable", 0, 1),
    CONG__PARAM(adaptive, depth, "depth", 0, 1),
    CONG__PARAM(adaptive, gentle, "gentle", 0.5, 1),
    CONG__PARAM(adaptive, beta_live, "beta_live", 0.1, 0.99),
    CONG__PARAM(adaptive, beta_guest, "beta_guest", 0.1, 0.99),
    CONG__PARAM(adaptive, claim, "claim", 1, 16),
    CONG__PARAM(adaptive, scale, "scale", 0, 1),
    CONG__FLAG(adaptive, hystart, "hystart"),
    CONG__FLAG(adaptive, delay, "delay"),
};

static void auto_init(struct cong *cc, cong_time now, cong_time rtt) {
    struct adaptive *a = (struct adaptive *)cc;
    cong__cubic.init(cc, now, rtt);
    a->q.w.hystart.on = -1; /* it has a rule of its own */
    a->hystart = 1;
    a->delay = 1;
    a->q.w.iw = INITIAL;
    cong__set_cwnd(cc, INITIAL * cc->mss);
    a->tolerance = 0.05;
    a->bearable = 0.15;
    a->depth = 0.5;
    a->gentle = 0.97;
    a->beta_live = 0.8;
    a->beta_guest = 0.7;
    a->claim = 6;
    a->scale = 1;
    a->rank = SUSPECT;
    a->known = LOSS_FIRST * cc->mss;
    a->pipe_from = now;
    cong__clock_init(&a->clock, now);
}

/* With the first RTT, unless the window was set or lost already. */
static void scale_initial_window(struct adaptive *a) {
    struct cong *cc = &a->q.w.cc;
    double times = fmin(a->rtt / INITIAL_RTT, INITIAL_MOST);
    if (a->scale > 0 && times > 1 && cc->cwnd == a->q.w.iw * cc->mss) {
        a->q.w.iw *= times;
        cong__set_cwnd(cc, a->q.w.iw * cc->mss);
    }
}

static void note_rtt(struct adaptive *a, const struct cong_ack *ack) {
    const struct cong *cc = &a->q.w.cc;
    double spacing = fmin(cc->cwnd, SPACING * cc->mss);
    bool first = a->rtt <= 0;
    if (ack->rtt > 0) {
        a->rtt = (double)ack->rtt;
        if (first) {
            a->first = ack->min_rtt > 0 ? (double)ack->min_rtt : a->rtt;
            a->begun = ack->now;
            scale_initial_window(a);
        }
    }
    cong__rtt_history_add(&a->past, ack, spacing);
    if (a->past.floor > 0) {
        a->base = a->past.floor;
    } else if (ack->min_rtt > 0) {
        a->base = (double)ack->min_rtt;
    }
}

/* Losses in bursts are few events of many packets: a mean over as many packets
 * as would do for single ones strays far from what is lost in the long run. */
static void note_loss(struct adaptive *a, const struct cong_ack *ack) {
    double lost = cong__clean(ack->lost);
    double most = LOSS_SEGMENTS * a->q.w.cc.mss;
    double keep = lost > 0 ? 1 - 1.0 / LOSS_TIMES : 1;
    a->lost = keep * a->lost + lost;
    a->known = keep * a->known + cong__clean(ack->acked) + lost;
    if (a->known > most) {
        a->lost *= most / a->known;
        a->known = most;
    }
}

static bool loses_less_than(const struct adaptive *a, double share) {
    return a->lost < share * a->known;
}

static void note_use(struct adaptive *a, const struct cong_ack *ack) {
    if (cong__elapsed(a->pipe_from, ack->now) == 0 &&
        cong__elapsed(ack->now, a->pipe_from) > PIPE_SPAN) {
        a->pipe_before = a->pipe;
        a->pipe = 0;
        a->pipe_from = ack->now;
    }
    a->pipe = fmax(a->pipe, cong__clean(ack->flight));
}

/* How much of the window was in use of late. */
static double use(const struct adaptive *a, double flight) {
    double most = fmax(a->pipe, a->pipe_before);
    return fmin(fmax(cong__clean(flight), most), a->q.w.cc.cwnd);
}

static bool shows_queue(const struct adaptive *a, double rtt, double part,
                        double least) {
    return rtt - a->base > fmax(part * a->base, least);
}

/* Just now.  Bursts do not count. */
static bool queue_now(const struct adaptive *a) {
    double low = cong__rtt_history_low(&a->past);
    return shows_queue(a, low, QUEUE, QUEUE_MIN);
}

/* For most of the time, or just now. */
static bool queue_stands(const struct adaptive *a) {
    double mostly = cong__rtts_quantile(&a->past.lows, 0.5);
    return shows_queue(a, mostly, SOME_QUEUE, SOME_QUEUE_MIN) || queue_now(a);
}

/* Before the queue is full and key frames are lost behind it; what stands in it
 * already is let out (as BBR does). */
static void end_slow_start(struct adaptive *a) {
    struct cong *cc = &a->q.w.cc;
    const struct cong__rtt_history *h = &a->past;
    bool known = h->round && h->chances >= START_RTTS;
    double queue = (known ? h->low : h->low_before) - a->base;
    double bound = fmin(fmax(START_QUEUE * a->base, START_LEAST), START_MOST);
    if (a->hystart > 0 && !a->queue.foreign && cc->cwnd < cc->ssthresh &&
        queue > bound) {
        double pipe = cc->cwnd * a->base / (a->base + queue);
        cong__set_ssthresh(cc, fmax(DRAIN * pipe, a->q.w.iw * cc->mss));
        cong__set_cwnd(cc, fmin(cc->cwnd, cc->ssthresh));
    }
}

/* A queue stood when it began, which was not its own. */
static bool is_guest(const struct adaptive *a) {
    return shows_queue(a, a->first, SOME_QUEUE, QUEUE_MIN);
}

/* The others still have what it is to have. */
static bool is_newcomer(const struct adaptive *a, cong_time now) {
    return is_guest(a) && cong__elapsed(now, a->begun) < CLAIM_SPAN;
}

/* Near the target of its queue it grows by a segment per round trip, and never
 * faster than slow start. */
static void limit_growth(struct adaptive *a, const struct cong_ack *ack,
                         double before) {
    struct cong *cc = &a->q.w.cc;
    double most = cong__clean(ack->acked);
    if (cc->cwnd <= before) {
        return;
    }
    if (a->delay > 0 && cc->cwnd >= cc->ssthresh &&
        cong__short_queue_is_near(&a->queue, ack->now)) {
        most *= fmin(cc->mss / before, 1);
    }
    cong__set_cwnd(cc, fmin(cc->cwnd, before + most));
}

/* Others have had the path: a share of it is due, as to a newcomer. */
static void keep_queue(struct adaptive *a, const struct cong_ack *ack) {
    bool guest = is_guest(a);
    bool keep = !guest || cong__elapsed(ack->now, a->begun) >= BEGINS;
    if (a->delay > 0 &&
        cong__short_queue_ack(&a->queue, &a->q.w.cc, ack, guest, keep) &&
        !a->queue.was_own) {
        a->begun = ack->now;
        a->first = 2 * a->rtt;
    }
}

/* Beside others a stream that follows its share always leaves a little of the
 * window free, which may grow none the less. */
static bool follows_share(const struct adaptive *a) {
    double used = fmax(a->pipe, a->pipe_before);
    return a->queue.foreign && used >= FOLLOWS * a->q.w.cc.cwnd;
}

/* A queue of its own has gone: the window that kept it short does not tell what
 * the path carries now.  A stream that does not fill it has the room again that
 * it would have without (RFC 7661, 4.3). */
static void reopen(struct adaptive *a, const struct cong_ack *ack) {
    struct cong *cc = &a->q.w.cc;
    double room = ROOM * fmax(a->pipe, a->pipe_before);
    if (a->delay > 0 && a->queue.was_own && !a->queue.foreign &&
        !ack->limited && !ack->recovery && cc->cwnd >= cc->ssthresh &&
        cc->cwnd < room && !cong__short_queue_is_near(&a->queue, ack->now)) {
        cong__set_cwnd(cc, fmin(room, cc->cwnd + cong__clean(ack->acked)));
        cong__set_ssthresh(cc, fmin(cc->ssthresh, cc->cwnd));
    }
}

static void auto_ack(struct cong *cc, const struct cong_ack *ack) {
    struct adaptive *a = (struct adaptive *)cc;
    struct cong_ack seen = *ack;
    double before;
    seen.now = cong__clock_read(&a->clock, ack->now);
    note_rtt(a, &seen);
    note_loss(a, &seen);
    note_use(a, &seen);
    end_slow_start(a);
    keep_queue(a, &seen);
    before = cc->cwnd;
    if (!ack->limited) {
        a->paused = seen.now;
    }
    seen.recovery &= !a->chance;
    seen.limited |= follows_share(a);
    seen.limited &= cc->cwnd < ROOM * fmax(a->pipe, a->pipe_before);
    /* below ssthresh it grows fast enough */
    if (cc->cwnd >= cc->ssthresh && is_newcomer(a, seen.now)) {
        seen.acked = fmin(a->claim * cong__clean(ack->acked), cc->cwnd);
    }
    cong__cubic.ack(cc, &seen);
    seen.acked = ack->acked;
    limit_growth(a, &seen, before);
    reopen(a, ack);
}

/* Its application does not take all it can get, or cannot have shown it yet. */
static bool is_live(const struct adaptive *a, cong_time now) {
    return (a->paused > 0 && cong__elapsed(now, a->paused) < PAUSE) ||
           is_newcomer(a, now);
}

/* What RTTs of a live stream differ by when it is only a packet of its own that
 * went before.  A flow that takes all it can get makes queues by itself, and
 * short ones are told by just that. */
static double noise(const struct adaptive *a, cong_time now) {
    const struct cong *cc = &a->q.w.cc;
    return is_live(a, now) ? a->base * fmin(cc->mss / cc->cwnd, ALIKE) : 0;
}

/* Losses of late do not follow the RTT; each of the first ones is taken by
 * itself. */
static bool is_independent(struct adaptive *a, cong_time now) {
    double rank = cong__rtts_rank(&a->past.samples, a->rtt, noise(a, now));
    a->rank += (rank - a->rank) / JUDGED;
    if (a->judged < JUDGED_FIRST) {
        a->judged++;
        return rank < 0.5 ||
               !shows_queue(a, a->rtt, FIRST_QUEUE, SOME_QUEUE_MIN);
    }
    return a->rank < INDEPENDENT;
}

static enum verdict judge(struct adaptive *a, cong_time now) {
    double span = cong__rtts_quantile(&a->past.samples, FULL) - a->base;
    if (is_independent(a, now) && !queue_stands(a) &&
        loses_less_than(a, a->bearable)) {
        return BY_CHANCE;
    }
    return loses_less_than(a, a->tolerance) &&
                   a->rtt - a->base <= a->depth * span
               ? DOUBTFUL
               : CONGESTION;
}

static void give_way(struct adaptive *a, const struct cong_event *ev) {
    struct cong_event seen = *ev;
    double beta = a->q.beta;
    seen.flight = use(a, ev->flight);
    if (ev->cause == CONG_LOSS && is_live(a, ev->now)) {
        a->q.beta = fmax(beta, is_guest(a) ? a->beta_guest : a->beta_live);
    }
    cong__cubic.event(&a->q.w.cc, &seen);
    a->q.beta = beta;
}

static void auto_event(struct cong *cc, const struct cong_event *ev) {
    struct adaptive *a = (struct adaptive *)cc;
    enum verdict verdict = CONGESTION;
    struct cong_event seen = *ev;
    seen.now = cong__clock_read(&a->clock, ev->now);
    if (ev->cause == CONG_LOSS) {
        verdict = judge(a, seen.now);
        a->chance = verdict == BY_CHANCE;
    }
    if (verdict == CONGESTION) {
        give_way(a, &seen);
        return;
    }
    cong__cubic_save(&a->q, &seen); /* a false alarm finds it as it is */
    if (verdict == DOUBTFUL) {
        cong__set_ssthresh(cc, a->gentle * cc->cwnd);
        cong__set_cwnd(cc, cc->ssthresh);
    }
}

static int auto_set(struct cong *cc, const char *param, double value) {
    int rv = cong__set_param(cc, params, CONG__COUNT(params), param, value);
    if (rv != -1) {
        return rv;
    }
    rv = cong__cubic.set(cc, param, value);
    if (rv == 0 && strcmp(param, "iw") == 0) {
        ((struct adaptive *)cc)->scale = 0;
    }
    return rv;
}

const struct cong_ops cong__auto = {
    .name = "auto",
    .size = sizeof(struct adaptive),
    .init = auto_init,
    .ack = auto_ack,
    .event = auto_event,
    .set = auto_set,
};
