/* SPDX-License-Identifier: MPL-2.0 */
/* Holds a part of the link beside flows that do not yield to losses. */
#include "libcongestion/hold.h"

#include <math.h>

#define RECENT 128   /* packets over which the loss ratio is averaged, ... */
#define LONGER 600   /* ... and to see whether it is that of TCP flows */
#define KNOWN 64     /* packets before the first trial */
#define SUSPECT 0.02 /* loss ratio above which there is a trial, ... */
#define ENOUGH 0.6   /* ... but not with this part of the link, and only ... */
/* ... if it lasts so long, ns. Flows like this one lose much until they have
 * found their shares; each one's trial would look to the others like a flow
 * that does not yield. */
#define PERSISTS 1e9
/* Therefore each also waits for a time of its own, which grows with the queue.
 * In a short queue BBRv1 would leave a flow nothing meanwhile. */
#define SPREAD 60         /* times the queue beyond ... */
#define SPREAD_BEYOND 5e7 /* ... this one, ns, but ... */
#define SPREAD_MOST 6e9   /* ... no longer than this, ns */

#define TRIAL_LEAST 10       /* packets per round trip, at least */
#define TRIAL_STEP 1.25      /* times what was delivered, at first */
#define TRIAL_GROWS 6        /* round trips in which the rate grows, ... */
#define TRIAL_ROUNDS 12      /* ... and after which there is a verdict */
#define TRIAL_GROWTH 0.15    /* per round trip */
#define TRIAL_SPAN 400000000 /* ns that are measured, at least, ... */
#define TRIAL_KNOWN 40       /* ... and packets */
#define OVERSHOT 0.2         /* above the part: the flow's own doing */

#define MUCH 0.075       /* loss ratio in the trial, at least, ... */
#define UNYIELDING 16    /* ... and times the square of the window */
#define TCP_LIKE 4       /* the same while the rate is held: others yield */
#define UNCLEAR 0.05     /* loss ratio after which the next trial is soon */
#define FEW_PACKETS 8    /* per round trip: the trial says little */
#define AGAIN 3          /* s from a failed trial to the next, ... */
#define DOUBLED 4        /* ... doubled at most this often, ... */
#define AGAIN_FELL 1     /* ... or this, if the queue fell meanwhile */
#define LASTS 3000000000 /* ns for which a rate is held, at least */
#define STALE 2000000000 /* ns without a queue of others */
#define YIELD 0.7        /* of the rate is kept after a failed trial */

#define GROWTH 0.0625  /* per round trip */
#define SHRINK 0.03125 /* likewise */
#define ABOVE 0.06     /* above the part: the rate shrinks */
#define FEW 0.08       /* loss ratio that a flow with its part bears, ... */
#define MANY 0.18      /* ... one with half of it, ... */
#define MOST 0.39      /* ... one with next to nothing, ... */
#define DEEP 0.045     /* ... and any in a deep queue beside BBRv1 ... */
#define DEEP_RTT 14e7  /* ... with this RTT, ns, when it is full */
#define BAND 0.04      /* how much more makes the rate shrink */
#define WINDOW 2       /* times the rate over a round trip with a full queue */
#define WINDOW_LEAST 4 /* packets */

#define TIGHT 1.04 /* times the highest rate, when others paused */

/* Rate of the link, bytes/ns; 0: not known. It is at least the highest rate of
 * delivery. */
static double hold_link(const struct cong__hold *h, double mss,
                        const struct cong__hold_path *path, cong_time now) {
    double paused = cong__pause_link(&h->pause, now);
    double most = cong__peak_rate(path->peak);
    double room = cong__peak_rate_room(path->peak, (double)h->pause.high, mss);
    if (most <= 0) {
        return path->link;
    }
    if (paused > 0) {
        most = fmin(fmax(most, paused), room * most);
        room = TIGHT;
    }
    return fmin(path->link > 0 ? fmax(path->link, most) : CONG_HUGE,
                room * most);
}

static void hold_set_window(const struct cong__hold *h, struct cong *cc,
                            const struct cong_ack *ack) {
    double full = (double)ack->min_rtt + (double)h->pause.high;
    double window = WINDOW * (double)h->pace * fmax((double)ack->srtt, full);
    window = fmax(window, WINDOW_LEAST * cc->mss);
    cong__set_cwnd(cc, fmin(window, cc->cwnd + cong__clean(ack->acked)));
    cong__set_ssthresh(cc, cc->cwnd);
    cc->pacing_rate = fmin((double)h->pace * CONG_NS, CONG_HUGE);
    cc->queue = cong__pause_is_bbr(&h->pause, ack->now) ? CONG_QUEUE_BBR
                                                        : CONG_QUEUE_FOREIGN;
}

static void hold_forget(struct cong__hold *h, cong_time now) {
    h->since = now;
    h->sum = (struct cong__loss_ratio){0, 0};
}

/* At least some packets per round trip: fewer are lost so rarely that they tell
 * nothing. */
static void hold_begin(struct cong__hold *h, const struct cong *cc,
                       const struct cong__hold_path *path,
                       const struct cong_ack *ack) {
    double rtt = (double)ack->srtt;
    double rate = fmin(cc->cwnd / rtt, TRIAL_STEP * path->peak->delivered);
    h->state = CONG__HOLD_TRIAL;
    h->pace = (float)fmax(rate, TRIAL_LEAST * cc->mss / rtt);
    h->rounds = 0;
    hold_forget(h, ack->now);
}

void cong__hold_leave(struct cong__hold *h, struct cong *cc) {
    h->state = CONG__HOLD_OFF;
    cc->pacing_rate = 0;
    cong__set_cwnd(
        cc, fmin(fmax(cc->cwnd / WINDOW, WINDOW_LEAST * cc->mss), cc->cwnd));
    cong__set_ssthresh(cc, cc->cwnd);
}

/* The loss ratio times the square of the window: about 1.5 beside TCP flows. */
static double hold_score(const struct cong__hold *h, double packets) {
    return cong__loss_ratio(&h->sum) * packets * packets;
}

static cong_time hold_backoff(const struct cong__hold *h) {
    return (cong_time)(AGAIN * CONG_NS) << h->failed;
}

/* Time until the next trial: longer after each that clearly failed. If others
 * paused, it says nothing. */
static cong_time hold_wait(struct cong__hold *h, double packets, double loss) {
    if (cong__elapsed(h->pause.fallen, h->since) > 0) {
        return (cong_time)(AGAIN_FELL * CONG_NS);
    }
    if (loss < UNCLEAR && packets > FEW_PACKETS && h->failed < DOUBLED) {
        h->failed++;
    }
    return hold_backoff(h);
}

static void hold_end_trial(struct cong__hold *h, struct cong *cc, double share,
                           const struct cong__hold_path *path,
                           const struct cong_ack *ack) {
    double packets = (double)h->sum.known / cc->mss / (h->rounds - TRIAL_GROWS);
    double loss = cong__loss_ratio(&h->sum);
    if ((cong__pause_is_bbr(&h->pause, ack->now) ||
         (loss > MUCH && hold_score(h, packets) > UNYIELDING)) &&
        share < path->part + OVERSHOT) {
        h->state = CONG__HOLD_ON;
        h->failed = 0;
        hold_forget(h, ack->now);
        return;
    }
    h->again = cong__later(ack->now, hold_wait(h, packets, loss));
    cong__hold_leave(h, cc);
    cong__set_cwnd(cc, (loss > 0 ? YIELD : 1) * cc->cwnd);
    cong__set_ssthresh(cc, cc->cwnd);
}

static void hold_try(struct cong__hold *h, struct cong *cc, double share,
                     const struct cong__hold_path *path,
                     const struct cong_ack *ack) {
    if (ack->round && ++h->rounds == TRIAL_GROWS) {
        hold_forget(h, ack->now);
    }
    if (h->rounds >= TRIAL_ROUNDS &&
        (double)h->sum.known > TRIAL_KNOWN * cc->mss &&
        cong__elapsed(ack->now, h->since) > TRIAL_SPAN) {
        hold_end_trial(h, cc, share, path, ack);
    }
}

/* Others left, or turned out to yield, or the flow's share is no longer
 * known. */
static bool hold_is_over(const struct cong__hold *h, const struct cong *cc,
                         const struct cong__hold_path *path,
                         const struct cong_ack *ack) {
    double full = (double)ack->min_rtt + (double)h->pause.high;
    return cong__elapsed(ack->now, h->stood) > STALE ||
           cong__peak_rate(path->peak) <= 0 ||
           (!cong__pause_is_bbr(&h->pause, ack->now) &&
            cong__elapsed(ack->now, h->since) > LASTS &&
            (double)h->sum.known > 0.5 * LONGER * cc->mss &&
            hold_score(h, path->peak->delivered * full / cc->mss) < TCP_LIKE);
}

static void hold_check(struct cong__hold *h, struct cong *cc,
                       const struct cong__hold_path *path,
                       const struct cong_ack *ack) {
    if (cong__pause_excludes_bbr(&h->pause, ack)) {
        h->failed = DOUBLED;
        h->again = cong__later(ack->now, hold_backoff(h));
        cong__hold_leave(h, cc);
    } else if (hold_is_over(h, cc, path, ack)) {
        cong__hold_leave(h, cc);
    }
}

/* In a queue deeper than the pipe, BBRv1 causes few losses, and packets that
 * are sent again are late. */
static bool hold_is_deep(const struct cong__hold *h,
                         const struct cong_ack *ack) {
    double high = (double)h->pause.high;
    double base = (double)ack->min_rtt;
    return cong__pause_is_bbr(&h->pause, ack->now) && high > base &&
           high + base > DEEP_RTT;
}

/* In other queues, the smaller its share, the more losses a flow bears: they
 * are fewest when it has half of the link. */
static double hold_bearable(const struct cong__hold *h, double share,
                            const struct cong__hold_path *path,
                            const struct cong_ack *ack) {
    double has = fmin(share / path->part, 1);
    double most = hold_is_deep(h, ack) ? DEEP : 1;
    double loss = has < 0.5 ? MOST + 2 * has * (MANY - MOST)
                            : MANY + (2 * has - 1) * (FEW - MANY);
    return fmin(loss, most);
}

static double hold_step(const struct cong__hold *h, double share,
                        const struct cong__hold_path *path,
                        const struct cong_ack *ack) {
    double loss = cong__loss_ratio(&h->recent);
    double bearable = hold_bearable(h, share, path, ack);
    bool more = ack->limited && share < path->part;
    if (h->state == CONG__HOLD_TRIAL) {
        return more && h->rounds < TRIAL_GROWS ? TRIAL_GROWTH : 0;
    }
    if (loss > bearable + BAND || share > path->part + ABOVE) {
        return -SHRINK;
    }
    if (!more || loss > bearable) {
        return 0;
    }
    return share < path->part / 2 ? TRIAL_GROWTH : GROWTH;
}

static void hold_steer(struct cong__hold *h, struct cong *cc, double share,
                       const struct cong__hold_path *path,
                       const struct cong_ack *ack) {
    double rtt = (double)ack->srtt;
    double pace = (double)h->pace;
    double rounds = fmin(cong__clean(ack->acked) / (pace * rtt), 1);
    pace *= 1 + rounds * hold_step(h, share, path, ack);
    h->pace = (float)fmax(pace, WINDOW_LEAST * cc->mss / rtt);
    hold_set_window(h, cc, ack);
}

static void hold_note_losses(struct cong__hold *h, double mss, cong_time now) {
    bool much = (double)h->recent.known >= KNOWN * mss &&
                cong__loss_ratio(&h->recent) > SUSPECT;
    if (!much) {
        h->much = 0;
    } else if (h->much == 0) {
        h->much = now;
    }
}

/* Time for which much must be lost before a trial, ns. It is another for each
 * flow, since each notices at another time. */
static double hold_patience(const struct cong__hold *h) {
    double beyond = fmax((double)h->pause.high - SPREAD_BEYOND, 0);
    uint32_t hash = (uint32_t)h->much * 2654435761U; /* 2^32 / golden ratio */
    return PERSISTS +
           hash / (double)UINT32_MAX * fmin(SPREAD * beyond, SPREAD_MOST);
}

static bool hold_may_begin(const struct cong__hold *h, double link,
                           const struct cong__hold_path *path,
                           const struct cong_ack *ack) {
    bool suspects =
        ack->now >= h->again && h->much > 0 &&
        (double)cong__elapsed(ack->now, h->much) >= hold_patience(h);
    return path->stands && path->part > 0 && path->peak->delivered > 0 &&
           path->peak->delivered <= ENOUGH * link &&
           !cong__pause_excludes_bbr(&h->pause, ack) &&
           (suspects || cong__pause_is_bbr(&h->pause, ack->now));
}

bool cong__hold_ack(struct cong__hold *h, struct cong *cc,
                    const struct cong_ack *ack,
                    const struct cong__hold_path *path) {
    double link, share;
    cong__loss_ratio_ack(&h->recent, ack, RECENT * cc->mss, 1);
    cong__loss_ratio_ack(&h->sum, ack, LONGER * cc->mss, 1);
    hold_note_losses(h, cc->mss, ack->now);
    cong__pause_ack(&h->pause, ack, cc->mss, path->peak);
    h->stood = path->stands ? ack->now : h->stood;
    if (path->part <= 0 && cong__hold_is_on(h)) {
        cong__hold_leave(h, cc);
    }
    if (ack->srtt <= 0 || path->part <= 0) {
        return false;
    }
    link = hold_link(h, cc->mss, path, ack->now);
    if (h->state == CONG__HOLD_OFF) {
        if (!hold_may_begin(h, link, path, ack)) {
            return false;
        }
        hold_begin(h, cc, path, ack);
    }
    share = link > 0
                ? (double)h->pace / link * (1 - cong__loss_ratio(&h->recent))
                : 0;
    if (h->state == CONG__HOLD_TRIAL) {
        hold_try(h, cc, share, path, ack);
    } else {
        hold_check(h, cc, path, ack);
    }
    if (h->state == CONG__HOLD_OFF) {
        return false;
    }
    hold_steer(h, cc, share, path, ack);
    return true;
}
