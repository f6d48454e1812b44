/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Bandwidth estimators.
 *
 * Sources: Casetti et al. 2002 for the filter and its silent steps (constants
 * as commonly cited); Capone, Fratta, Martignon 2004 for the ratio of two
 * averages, as described by Neglia et al.
 *
 * Interpretations: after silent steps, the sample covers the time since the
 * last feedback but its step only the time since the last silent step;
 * otherwise a feedback just after a silent step would read as a huge rate. The
 * first sample is the first estimate. Feedbacks at the same instant are one
 * sample.
 */
#include "libcongestion/bandwidth.h"

#include "libcongestion/internal.h"

#include <math.h>

/* Silent steps computed one by one. */
#define SILENT_STEPS_MAX 200

bool cong__app_limited(const struct cong_ack *ack) {
    return !ack->limited || (ack->rs != NULL && ack->rs->app_limited);
}

void cong__bw_round_init(struct bw_round *r, cong_time now) {
    *r = (struct bw_round){.newest = -1, .since = now};
}

bool cong__bw_round_ack(struct bw_round *r, const struct cong_ack *ack,
                        double *rate, bool *app_limited) {
    r->delivered += cong__clean(ack->acked);
    r->app_limited = r->app_limited || cong__app_limited(ack);
    if (ack->rs != NULL) {
        r->newest = cong__clean(ack->rs->rate);
    }
    if (!ack->round) {
        return false;
    }
    cong_time length = cong__elapsed(ack->now, r->since);
    double measured =
        length > 0 ? cong__clean(r->delivered / cong__seconds(length)) : -1;
    *rate = r->newest >= 0 ? r->newest : measured;
    *app_limited = r->app_limited;
    cong__bw_round_init(r, ack->now);
    return *rate >= 0;
}

void cong__bw_filter_init(struct bw_filter *f, cong_time now) {
    *f = (struct bw_filter){.tau = 0.5, .m = 2, .t_ack = now, .t_step = now};
}

/* One step of dt seconds. Steps longer than 2 tau would overshoot. */
static void bw_filter_step(struct bw_filter *f, double sample, double dt) {
    double g = fmax(2 * f->tau / dt, 1);
    f->bw = (g - 1) / (g + 1) * f->bw + (sample + f->sample) / (g + 1);
    f->bw = cong__clean(f->bw);
    f->sample = sample;
}

/* Many silent steps at once: each keeps the same fraction of the estimate. */
static void bw_skip_silence_steps(struct bw_filter *f, cong_time now,
                                  cong_time period) {
    cong_time left = cong__elapsed(now, f->t_step) - 1;
    double g = fmax(2 * f->m, 1);
    f->bw *= pow((g - 1) / (g + 1), floor((double)left / (double)period));
    f->t_step = cong__earlier(now, left % period + 1);
}

void cong__bw_filter_silence(struct bw_filter *f, cong_time now) {
    cong_time period = cong__ns(f->tau / f->m);
    for (int i = 0; f->primed && cong__elapsed(now, f->t_step) > period; i++) {
        if (i == SILENT_STEPS_MAX) {
            bw_skip_silence_steps(f, now, period);
            break;
        }
        bw_filter_step(f, 0, cong__seconds(period));
        f->t_step += period;
    }
}

static void bw_filter_prime(struct bw_filter *f, double sample) {
    f->bw = sample;
    f->sample = sample;
    f->primed = true;
}

void cong__bw_filter_ack(struct bw_filter *f, double n, cong_time now,
                         bool app_limited) {
    cong_time dt = cong__elapsed(now, f->t_ack);
    if (dt <= 0) {
        f->waiting += f->primed ? n : 0;
        return;
    }
    double sample = cong__clean((n + f->waiting) / cong__seconds(dt));
    cong__bw_filter_silence(f, now);
    if (!f->primed) {
        bw_filter_prime(f, sample);
    } else if (!(app_limited && sample < f->bw)) {
        bw_filter_step(f, sample, cong__seconds(cong__elapsed(now, f->t_step)));
    }
    f->waiting = 0;
    f->t_ack = now;
    f->t_step = now;
}

void cong__bw_filter_round(struct bw_filter *f, double rate, cong_time now) {
    cong_time dt = cong__elapsed(now, f->t_step);
    if (!f->primed) {
        bw_filter_prime(f, rate);
    } else if (dt > 0) {
        bw_filter_step(f, rate, cong__seconds(dt));
    }
    f->t_step = now;
    f->t_ack = now;
}

void cong__bw_tibet_init(struct bw_tibet *t, cong_time now) {
    *t = (struct bw_tibet){.alpha = 0.99, .t0 = 1, .t_ack = now};
}

/* Updates the two averages; false while there is no interval yet. */
static bool bw_tibet_average(struct bw_tibet *t, double n, double dt) {
    if (t->interval > 0) {
        t->length = t->alpha * t->length + (1 - t->alpha) * n;
        t->interval = t->alpha * t->interval + (1 - t->alpha) * dt;
        return true;
    }
    t->waiting += n;
    if (!(dt > 0)) {
        return false;
    }
    t->length = t->waiting;
    t->interval = dt;
    t->waiting = 0;
    return true;
}

void cong__bw_tibet_ack(struct bw_tibet *t, double n, cong_time now,
                        bool app_limited) {
    bool first = t->t_ack < 0;
    double dt = cong__seconds(cong__elapsed(now, t->t_ack));
    t->t_ack = now;
    if (first || !bw_tibet_average(t, n, dt)) {
        return;
    }
    double ratio = cong__clean(t->length / t->interval);
    double e = t->bw > 0 ? exp(-dt / t->t0) : 0;
    double bw = (1 - e) * ratio + e * t->bw;
    if (bw >= t->bw || !app_limited) {
        t->bw = bw;
    }
}
