/* SPDX-License-Identifier: MPL-2.0 */
/*
 * AUTO: CUBIC that tells random loss from congestion.
 *
 * Source: our own; the test of the queue by the RTT at the time of the loss is
 * in the manner of TCP Veno (Fu, Liew 2003), the tolerance of a small loss rate
 * without a queue in that of BBR (draft-ietf-ccwg-bbr).  Growth, and what a
 * congestive loss costs, are CUBIC's (RFC 9438).
 *
 * A loss is taken as random when the queue was not nearly full as it was
 * noticed (the RTT lies in the lower part of the span between the lowest RTT
 * and the highest one remembered) and not too much is lost at present.  It then
 * costs a little of the window, growth goes on, and CUBIC's own memory stays as
 * it is.
 *
 * Too much is what exceeds the background by the tolerance.  The background is
 * loss that the flow does not cause: what is still lost after it has become
 * slower.  So after each reduction there is a trial: over TRIAL_SEGMENTS, loss
 * without a queue costs no second reduction, and its share is then the new
 * background.  Loss that a policer or a very short queue causes goes away with
 * the first reduction; a radio's does not.
 *
 * State: q (CUBIC's); top (highest RTT remembered, sinks slowly towards the
 * lowest one, ns); rtt (newest, ns); base (lowest, ns); p (share of bytes lost
 * of late); background (share of bytes); trial, with trial_total and trial_lost
 * (bytes); random (the open episode is one of random loss).
 * Parameters: those of CUBIC, and tolerance (share of bytes beyond the
 * background that may be lost without being taken as congestion), depth (part
 * of the span that does not yet count as a full queue), gentle (what a random
 * loss leaves of the window).
 */
#include "libcongestion/cubic.h"

#include <math.h>

#define SINK 0.004         /* of the span, per round trip */
#define LOSS_SEGMENTS 400  /* over which p is averaged */
#define TRIAL_SEGMENTS 200 /* how long a trial lasts */
#define BACKGROUND_MAX 0.1 /* beyond it a path counts as overloaded */

enum trial { NO_TRIAL, TRIAL_AFTER_REPAIR, TRIAL_RUNS };

struct adaptive {
    struct cubic q;
    double tolerance;
    double depth;
    double gentle;
    double top;
    double rtt;
    double base;
    double p;
    double background;
    double trial_total;
    double trial_lost;
    enum trial trial;
    bool random;
};

static const struct cong__param params[] = {
    CONG__PARAM(adaptive, tolerance, "tolerance", 0, 1),
    CONG__PARAM(adaptive, depth, "depth", 0, 1),
    CONG__PARAM(adaptive, gentle, "gentle", 0.5, 1),
};

static void auto_init(struct cong *cc, cong_time now, cong_time rtt) {
    struct adaptive *a = (struct adaptive *)cc;
    cong__cubic.init(cc, now, rtt);
    a->tolerance = 0.05;
    a->depth = 0.8;
    a->gentle = 0.95;
}

static void run_trial(struct adaptive *a, double total, double lost) {
    a->trial_total += total;
    a->trial_lost += lost;
    if (a->trial_total >= TRIAL_SEGMENTS * a->q.w.cc.mss) {
        a->background = fmin(a->trial_lost / a->trial_total, BACKGROUND_MAX);
        a->trial = NO_TRIAL;
    }
}

static void count_losses(struct adaptive *a, const struct cong_ack *ack) {
    double lost = cong__clean(ack->lost);
    double total = cong__clean(ack->acked) + lost;
    double gain = fmin(total / (LOSS_SEGMENTS * a->q.w.cc.mss), 1);
    if (total > 0) {
        a->p += gain * (lost / total - a->p);
    }
    if (a->trial == TRIAL_RUNS) {
        run_trial(a, total, lost);
    }
}

static void follow_rtt(struct adaptive *a, const struct cong_ack *ack) {
    if (ack->min_rtt > 0) {
        a->base = (double)ack->min_rtt;
    }
    if (ack->rtt > 0) {
        a->rtt = (double)ack->rtt;
        a->top = fmax(a->top, a->rtt);
    }
    if (ack->round) {
        a->top -= SINK * fmax(a->top - a->base, 0);
    }
}

static void auto_ack(struct cong *cc, const struct cong_ack *ack) {
    struct adaptive *a = (struct adaptive *)cc;
    struct cong_ack told = *ack;
    count_losses(a, ack);
    follow_rtt(a, ack);
    told.recovery = ack->recovery && !a->random;
    cong__cubic.ack(cc, &told);
}

/* In a queue of few packets, one that has left meanwhile hides that it was
 * full, so the time of one is taken off; but no more than a third, for a small
 * window makes that look long. */
static bool queue_was_full(const struct adaptive *a) {
    double part = a->depth * (a->top - a->base);
    double packet = a->base * a->q.w.cc.mss / a->q.w.cc.cwnd;
    return a->rtt - a->base > fmax(part - packet, part * 2 / 3);
}

static bool is_random(const struct adaptive *a) {
    bool few = a->trial != NO_TRIAL || a->p - a->background < a->tolerance;
    return few && !queue_was_full(a);
}

static void on_loss(struct adaptive *a, const struct cong_event *ev) {
    struct cong *cc = &a->q.w.cc;
    a->random = is_random(a);
    if (!a->random) {
        a->trial = TRIAL_AFTER_REPAIR;
        cong__cubic.event(cc, ev);
        return;
    }
    a->q.saved = a->q.m; /* a false alarm finds it as it is */
    cong__set_ssthresh(cc, a->gentle * cc->cwnd);
    cong__set_cwnd(cc, cc->ssthresh);
}

static void auto_event(struct cong *cc, const struct cong_event *ev) {
    struct adaptive *a = (struct adaptive *)cc;
    if (ev->cause == CONG_LOSS) {
        on_loss(a, ev);
        return;
    }
    a->random = false;
    if (a->trial == TRIAL_AFTER_REPAIR && ev->cause == CONG_RECOVERED) {
        a->trial = TRIAL_RUNS;
        a->trial_total = 0;
        a->trial_lost = 0;
    }
    cong__cubic.event(cc, ev);
}

static int auto_set(struct cong *cc, const char *param, double value) {
    int rv = cong__set_param(cc, params, CONG__COUNT(params), param, value);
    return rv == -1 ? cong__cubic.set(cc, param, value) : rv;
}

const struct cong_ops cong__auto = {
    .name = "auto",
    .size = sizeof(struct adaptive),
    .init = auto_init,
    .ack = auto_ack,
    .event = auto_event,
    .set = auto_set,
};
