/* SPDX-License-Identifier: MPL-2.0 */
/*
 * AUTO: CUBIC that tells random loss from congestion.
 *
 * Source: our own. Judging a loss by the RTT at that time follows TCP Veno (Fu,
 * Liew 2003). While the application is the limit, the window that was used is
 * kept, and a reduction starts from that use, in the spirit of RFC 7661. Growth
 * and the response to congestion are CUBIC's (RFC 9438).
 *
 * A flow whose application pauses now and then takes no more than the
 * application wants, so it yields less to congestion (beta_live). A flow that
 * starts while other flows fill the queue (a later, lower RTT reveals this) is
 * a guest. For its first seconds, congestion avoidance grows faster (claim),
 * because a stream drops whole groups of pictures until it gets its share. A
 * guest yields as much to congestion as the other flows do (beta_guest).
 *
 * While the queue on the path is its own, the flow keeps it short; CUBIC's
 * growth and its response to losses are for a queue that other flows fill
 * (short_queue.h). While other flows fill the queue, a flow that has more than
 * its part of the link (link_rate.h, peak_rate.h) does not grow, and in a short
 * queue gives back the excess. Without that bound it would take more and more:
 * a paced flow loses fewer packets than flows that send trains. A flow that has
 * less than its part does not shorten the queue, and its window grows by a
 * sixteenth of CUBIC's growth for each segment that it has. Beside flows that
 * do not yield to losses, it holds a part of the link (hold.h).
 *
 * A recovery period gets one of three verdicts. By chance: recent losses do not
 * correlate with the RTT (see rtt_history.h), and there is no standing queue;
 * the window is not reduced and continues to grow. Doubtful: there may be a
 * queue, but it was short at that time, and few packets are lost; the window
 * shrinks a little. Congestion: everything else.
 *
 * The initial window is ten segments (RFC 6928), or ten per 100 ms of a longer
 * round trip, so that a long path fills as early as a short one. Slow start
 * ends when the RTT shows a queue (as in HyStart++, RFC 9406), and most of that
 * queue is then drained.
 */
#include "libcongestion/auto.h"

#include <string.h>

#define LOSS_SEGMENTS 1600    /* over which the loss ratio is averaged, ... */
#define LOSS_TIMES 48         /* ... or the segments until this many losses */
#define LOSS_FIRST 400        /* segments assumed delivered at the start */
#define SUSPECT 0.75          /* initial mean rank */
#define INDEPENDENT 0.7       /* mean rank below which losses are random */
#define JUDGED 8              /* losses over which the rank is averaged */
#define JUDGED_FIRST 4        /* the first few, which say little */
#define SPACING 16            /* segments between two stored RTTs */
#define ALIKE 0.005           /* of the base, at most: noise in the RTT */
#define FULL 0.9              /* quantile of the RTTs taken as a full queue */
#define SOME_QUEUE 0.08       /* of the base RTT ... */
#define SOME_QUEUE_MIN 32e5   /* ... and ns: less is noise */
#define FIRST_QUEUE 0.04      /* while every RTT so far may include a queue */
#define QUEUE 0.125           /* the same, just now */
#define QUEUE_MIN 5e6         /* ns */
#define PAUSE 5000000000      /* ns since the application was the limit */
#define CLAIM_SPAN 5000000000 /* ns from the first RTT, ... */
#define CLAIM_ROUNDS 40       /* ... or this many round trips, if longer */
#define BEGINS 3000000000     /* ns: a guest does not yield at first */
#define OWN 0.8             /* larger share: the queue is the flow's own ... */
#define ERRORS 3            /* ... within this many standard errors */
#define FOREIGN 0.6         /* smaller share: it is that of others ... */
#define SURE 5              /* ... by this many standard errors */
#define PATH_SHARE 0.25     /* smaller share: the delay is the path's own ... */
#define PATH_ERRORS 2       /* ... by this many standard errors, ... */
#define PATH_RANK 0.65      /* ... with a lower mean rank of the losses ... */
#define PATH_LOSS 0.1       /* ... and a lower loss ratio */
#define LESS 0.45           /* smaller part of the link: others have more */
#define LESS_ERRORS 2       /* standard errors */
#define CATCHES_UP 0.0625   /* times its segments: how fast such a flow grows */
#define ABOVE 0.02          /* above its part, a flow gives back ... */
#define EASE 0.03125        /* ... this much of the window per round trip */
#define LEAST 4             /* segments that it keeps */
#define CLEAR 2             /* full rounds without a queue show a faster path */
#define MORE 2              /* slow start then multiplies the window by this */
#define CALM 10000000000    /* ns without a loss before it may */
#define RECENTLY 2000000000 /* ns */
#define MUCH 0.1            /* loss ratio that shows others, ... */
#define MUCH_HELD 0.025     /* ... and while a part is held */
#define FOLLOWS 0.9         /* of the window in use counts as all of it */
#define ROOM 2              /* the window grows to this multiple of its use */
#define INITIAL 10          /* segments; see auto_start.c */

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
    CONG__PARAM(adaptive, part, "part", 0, 1),
    CONG__PARAM(adaptive, part_held, "hold", 0, 1),
};

static void auto_init(struct cong *cc, cong_time now, cong_time rtt) {
    struct adaptive *a = (struct adaptive *)cc;
    cong__cubic.init(cc, now, rtt);
    a->q.w.hystart.on = -1; /* this controller has its own rule */
    a->hystart = 1;
    a->delay = 1;
    a->part = 0.55;
    a->part_held = 0.5;
    a->q.w.iw = INITIAL;
    cong__set_cwnd(cc, INITIAL * cc->mss);
    a->tolerance = 0.05;
    a->bearable = 0.15;
    a->depth = 0.5;
    a->gentle = 0.97;
    a->beta_live = 0.8;
    a->beta_guest = 0.7;
    a->claim = 9;
    a->scale = 1;
    a->rank = (float)SUSPECT;
    a->losses.known = (float)(LOSS_FIRST * cc->mss);
    a->flight.from = now;
    cong__clock_init(&a->clock, now);
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
            cong__auto_scale_window(a);
        }
    }
    cong__rtt_history_add(&a->past, ack, spacing);
    if (a->past.floor > 0) {
        a->base = a->past.floor;
    } else if (ack->min_rtt > 0) {
        a->base = (double)ack->min_rtt;
    }
}

/* Burst losses are few events of many packets, so their mean needs more packets
 * than that of single losses. */
static void note_loss(struct adaptive *a, const struct cong_ack *ack) {
    bool lost = cong__clean(ack->lost) > 0;
    a->lossy = lost ? ack->now : a->lossy;
    cong__loss_ratio_ack(&a->losses, ack, LOSS_SEGMENTS * a->q.w.cc.mss,
                         lost ? 1 - 1.0 / LOSS_TIMES : 1);
}

static bool loses_less_than(const struct adaptive *a, double share) {
    return (double)a->losses.lost < share * (double)a->losses.known;
}

/* How much of the window was recently in use. */
static double use(const struct adaptive *a, double flight) {
    double most = cong__recent_flight(&a->flight);
    return fmin(fmax(cong__clean(flight), most), a->q.w.cc.cwnd);
}

/* A queue just now. Bursts do not count. */
static bool queue_now(const struct adaptive *a) {
    double low = cong__rtt_history_low(&a->past);
    return cong__auto_shows_queue(a, low, QUEUE, QUEUE_MIN);
}

/* A queue most of the time, or just now. */
static bool queue_stands(const struct adaptive *a) {
    double mostly = cong__rtts_quantile(&a->past.lows, 0.5);
    return cong__auto_shows_queue(a, mostly, SOME_QUEUE, SOME_QUEUE_MIN) ||
           queue_now(a);
}

/* Other flows filled the queue when this flow began. */
static bool is_guest(const struct adaptive *a) {
    return cong__auto_shows_queue(a, a->first, SOME_QUEUE, QUEUE_MIN);
}

/* The other flows still hold this flow's share. */
static bool is_newcomer(const struct adaptive *a, cong_time now) {
    double span = fmax(CLAIM_SPAN, CLAIM_ROUNDS * a->rtt);
    return is_guest(a) && (double)cong__elapsed(now, a->begun) < span;
}

/* A full queue caused a loss, not long ago. */
static bool overflowed(const struct adaptive *a, cong_time now) {
    return a->congested > 0 && cong__elapsed(now, a->congested) < RECENTLY;
}

/* Nothing was lost for a while. */
static bool is_calm(const struct adaptive *a, cong_time now) {
    return a->lossy <= 0 || cong__elapsed(now, a->lossy) > CALM;
}

/* The queue's length tells whether other flows fill it; where it is too short
 * for that, the flow's share does. Such a queue overflows now and then. Without
 * a loss the flow may not fill the path, and its share says nothing. Losses by
 * chance distort the share, so they must not be likely. */
static bool is_beside_others(const struct adaptive *a, cong_time now) {
    return a->queue.foreign ||
           (cong__queue_share_is_below(&a->queue.share, FOREIGN, SURE) &&
            !is_calm(a, now) && (double)a->rank >= INDEPENDENT &&
            (overflowed(a, now) || queue_stands(a)));
}

/* Rate of the link, bytes/ns; 0: not known. The regression errs towards higher
 * rates where the queue is too short to follow what is sent. */
static double link_rate(const struct adaptive *a) {
    double share = cong__link_rate_share(&a->link);
    double link = share > 0 ? a->link.mean_came / share : 0;
    double most = cong__peak_rate(&a->peak);
    double room = cong__peak_rate_room(&a->peak, (double)a->hold.pause.high,
                                       a->q.w.cc.mss);
    return a->queue.foreign || link <= 0 ? link
                                         : fmin(fmax(link, most), room * most);
}

/* Whether the flow has more than this part of a link whose queue others fill.
 */
static bool has_more_than(const struct adaptive *a, double part,
                          cong_time now) {
    double link = link_rate(a);
    return link > 0 && a->link.mean_came > part * link &&
           is_beside_others(a, now);
}

/* Others have more of the link, and most of the queue is theirs. */
static bool may_catch_up(const struct adaptive *a, cong_time now) {
    return a->link.mean_came < LESS * link_rate(a) &&
           cong__queue_share_is_below(&a->queue.share, FOREIGN, LESS_ERRORS) &&
           is_beside_others(a, now);
}

/* Times CUBIC's. In a small window, a segment more is much. */
static double growth(const struct adaptive *a, cong_time now) {
    const struct cong *cc = &a->q.w.cc;
    double more = fmax(CATCHES_UP * cc->cwnd / cc->mss, 1);
    if (cc->cwnd < cc->ssthresh) {
        return 1; /* it is fast enough */
    }
    return is_newcomer(a, now)    ? a->claim
           : may_catch_up(a, now) ? fmin(more, a->claim)
                                  : 1;
}

/* In a short queue, gives back what the flow has beyond its part: its paced
 * packets are so rarely lost that others do not take it by themselves. */
static void ease(struct adaptive *a, const struct cong_ack *ack) {
    struct cong *cc = &a->q.w.cc;
    double rounds = fmin(cong__clean(ack->acked) / cc->cwnd, 1);
    double part = a->part + ABOVE;
    if (!a->queue.foreign && cc->cwnd >= cc->ssthresh &&
        has_more_than(a, part, ack->now) &&
        a->peak.delivered > part * link_rate(a)) {
        cong__set_cwnd(cc, fmax((1 - rounds * EASE) * cc->cwnd,
                                fmin(cc->cwnd, LEAST * cc->mss)));
        cong__set_ssthresh(cc, fmin(cc->ssthresh, cc->cwnd));
    }
}

/* Near the queue target, the window grows by a segment per round trip, and
 * never faster than in slow start. */
static void limit_growth(struct adaptive *a, const struct cong_ack *ack,
                         double before) {
    struct cong *cc = &a->q.w.cc;
    double most = cong__clean(ack->acked);
    if (cc->cwnd <= before) {
        return;
    }
    if (a->delay > 0 && cc->cwnd >= cc->ssthresh &&
        cong__short_queue_is_near(&a->queue, ack->now) &&
        !may_catch_up(a, ack->now)) {
        most *= fmin(cc->mss / before, 1);
    }
    cong__set_cwnd(cc, fmin(cc->cwnd, before + most));
}

/* Other flows have used the path: the flow claims its share, as a newcomer
 * does. */
static void keep_queue(struct adaptive *a, const struct cong_ack *ack) {
    bool guest = is_guest(a);
    bool keep = !cong__hold_is_on(&a->hold) && !may_catch_up(a, ack->now) &&
                (!guest || cong__elapsed(ack->now, a->begun) >= BEGINS);
    if (a->delay > 0 &&
        cong__short_queue_ack(&a->queue, &a->q.w.cc, ack, guest, keep) &&
        !a->queue.was_own) {
        a->begun = ack->now;
        a->first = 2 * a->rtt;
    }
}

/* Beside other flows, a stream that adapts to its share never quite fills the
 * window, which may still grow. */
static bool follows_share(const struct adaptive *a) {
    double used = cong__recent_flight(&a->flight);
    return a->queue.foreign && used >= FOLLOWS * a->q.w.cc.cwnd;
}

/* The flow's own queue is gone, so the window that kept it short says nothing
 * about the path now. A stream that does not fill the window gets back the room
 * it would otherwise have (RFC 7661 section 4.3). */
static void reopen(struct adaptive *a, const struct cong_ack *ack,
                   cong_time now) {
    struct cong *cc = &a->q.w.cc;
    double room = ROOM * cong__recent_flight(&a->flight);
    if (a->delay > 0 && a->queue.was_own && !a->queue.foreign &&
        !ack->limited && !ack->recovery && cc->cwnd >= cc->ssthresh &&
        cc->cwnd < room && !cong__short_queue_is_near(&a->queue, now)) {
        cong__set_cwnd(cc, fmin(room, cc->cwnd + cong__clean(ack->acked)));
        cong__set_ssthresh(cc, fmin(cc->ssthresh, cc->cwnd));
    }
}

/* Lets slow start look for the rate of a path that has become faster. It has if
 * a full window makes no queue where one stood before, and nothing was lost. */
static void look_for_more(struct adaptive *a, cong_time now) {
    struct cong *cc = &a->q.w.cc;
    if (a->queue.clear >= CLEAR && a->queue.stands && is_calm(a, now) &&
        a->delay > 0 && !a->queue.foreign && cc->cwnd >= cc->ssthresh) {
        cong__set_ssthresh(cc, MORE * cc->cwnd);
        cong__short_queue_forget(&a->queue);
    }
}

/* A queue that is too short to stand overflows all the time, and the RTT is
 * then high at each loss. */
static bool loses_much(const struct adaptive *a, cong_time now) {
    if ((double)a->rank < INDEPENDENT) {
        return false;
    }
    return cong__hold_is_on(&a->hold)
               ? !loses_less_than(a, MUCH_HELD)
               : overflowed(a, now) && !loses_less_than(a, MUCH);
}

/* Other flows fill the queue. If it never was the flow's own, this need not be
 * as certain. */
static bool is_others_queue(const struct adaptive *a, cong_time now) {
    return a->queue.foreign ||
           (!a->queue.was_own &&
            cong__queue_share_is_below(&a->queue.share, OWN, ERRORS) &&
            (queue_stands(a) || loses_much(a, now)));
}

/* Beside flows that do not yield, hold.h sets the window. */
static bool holds_part(struct adaptive *a, const struct cong_ack *ack) {
    double share = cong__link_rate_share(&a->link);
    struct cong__hold_path path = {
        .stands = is_others_queue(a, ack->now) ||
                  cong__pause_bbr_fills(&a->hold.pause, ack),
        .link = share > 0 ? a->link.mean_came / share : 0,
        .peak = &a->peak,
        .part = a->part_held,
    };
    return cong__hold_ack(&a->hold, &a->q.w.cc, ack, &path);
}

static void auto_ack(struct cong *cc, const struct cong_ack *ack) {
    struct adaptive *a = (struct adaptive *)cc;
    struct cong_ack seen = *ack;
    double before, times;
    seen.now = cong__clock_read(&a->clock, ack->now);
    note_rtt(a, &seen);
    note_loss(a, &seen);
    cong__recent_flight_ack(&a->flight, &seen);
    cong__auto_end_slow_start(a);
    cong__auto_leave_slow_start(a, &seen);
    keep_queue(a, &seen);
    cong__link_rate_ack(&a->link, &seen, cc->mss);
    cong__peak_rate_ack(&a->peak, &seen, cc->mss);
    cc->pacing_max = cong__pace_limit_ack(&a->pace, &seen, a->base,
                                          a->queue.foreign ? NULL : &a->peak);
    before = cc->cwnd;
    if (!ack->limited) {
        a->paused = seen.now;
    }
    if (holds_part(a, &seen)) {
        return;
    }
    seen.recovery &= !a->chance;
    seen.limited |= follows_share(a);
    seen.limited &= cc->cwnd < ROOM * cong__recent_flight(&a->flight);
    seen.limited &=
        cc->cwnd < cc->ssthresh || !has_more_than(a, a->part, seen.now);
    times = growth(a, seen.now);
    if (times > 1) {
        seen.acked = fmin(times * cong__clean(ack->acked), cc->cwnd);
    }
    cong__cubic.ack(cc, &seen);
    seen.acked = ack->acked;
    limit_growth(a, &seen, before);
    reopen(a, ack, seen.now);
    ease(a, &seen);
    look_for_more(a, seen.now);
}

/* The application does not use all the capacity, or has had no time to show
 * it. */
static bool is_live(const struct adaptive *a, cong_time now) {
    return (a->paused > 0 && cong__elapsed(now, a->paused) < PAUSE) ||
           is_newcomer(a, now);
}

/* The RTT noise that one packet of a live stream causes for the next. A greedy
 * flow builds queues itself, and small differences are how its short queues
 * show. */
static double noise(const struct adaptive *a, cong_time now) {
    const struct cong *cc = &a->q.w.cc;
    return is_live(a, now) ? a->base * fmin(cc->mss / cc->cwnd, ALIKE) : 0;
}

/* Recent losses do not correlate with the RTT; each of the first few is judged
 * alone. */
static bool is_independent(struct adaptive *a, cong_time now) {
    double rank = cong__rtts_rank(&a->past.samples, a->rtt, noise(a, now));
    a->rank += (float)((rank - (double)a->rank) / JUDGED);
    if (a->judged < JUDGED_FIRST) {
        a->judged++;
        return rank < 0.5 ||
               !cong__auto_shows_queue(a, a->rtt, FIRST_QUEUE, SOME_QUEUE_MIN);
    }
    return (double)a->rank < INDEPENDENT;
}

/* What looks like a queue is the delay of a path that has become longer, or
 * jitter: it does not depend on what the flow sends, as it would in a queue of
 * which the flow fills a part, nor do the losses follow it. */
static bool is_delay_of_path(const struct adaptive *a, cong_time now) {
    return cong__queue_share_is_below(&a->queue.share, PATH_SHARE,
                                      PATH_ERRORS) &&
           (double)a->rank < PATH_RANK && loses_less_than(a, PATH_LOSS) &&
           is_live(a, now);
}

static enum verdict judge(struct adaptive *a, cong_time now) {
    double span = cong__rtts_quantile(&a->past.samples, FULL) - a->base;
    if (is_independent(a, now) &&
        (!queue_stands(a) || is_delay_of_path(a, now)) &&
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
    if (ev->cause == CONG_LOSS) {
        a->congested = ev->now;
    }
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
    if (cong__hold_is_on(&a->hold) &&
        (ev->cause == CONG_RTO || ev->cause == CONG_ECN)) {
        cong__hold_leave(&a->hold, cc);
    }
    a->chance &= ev->cause != CONG_ECN; /* marks are no noise */
    if (ev->cause == CONG_LOSS && cong__hold_is_on(&a->hold)) {
        (void)is_independent(a, seen.now);
        a->chance = true;
        verdict = BY_CHANCE;
    } else if (ev->cause == CONG_LOSS) {
        verdict = judge(a, seen.now);
        a->chance = verdict == BY_CHANCE;
    }
    if (verdict == CONGESTION) {
        give_way(a, &seen);
        return;
    }
    cong__cubic_save(&a->q, &seen); /* an undo restores this state */
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
