/* SPDX-License-Identifier: MPL-2.0 */
/* RTT estimator, windowed minimum, and retransmission timeout (RFC 6298). */
#include <congestion/rtt.h>

#include "libcongestion/internal.h"

#define SECOND INT64_C(1000000000)
#define WINDOW (10 * SECOND) /* as in BBR */
#define RTO_MAX (60 * SECOND)
/* Keeps every sum and doubling below the range of the type. */
#define SAMPLE_MAX (INT64_C(3600) * SECOND)

static cong_time rtt_at_most(cong_time a, cong_time b) {
    return a < b ? a : b;
}

static cong_time rtt_at_least(cong_time a, cong_time b) {
    return a > b ? a : b;
}

void cong_rtt_init(struct cong_rtt *r, cong_time granularity,
                   cong_time rto_min) {
    *r = (struct cong_rtt){
        .srtt = -1,
        .min_rtt = -1,
        .lowest = -1,
        .latest = -1,
        .granularity = rtt_at_least(granularity, 0),
        .rto_min = rtt_at_most(rtt_at_least(rto_min, 0), RTO_MAX),
        .rto_max = RTO_MAX,
        .window = WINDOW,
    };
}

/* When the clock steps back, the stored times move with it. */
static void rtt_advance(struct cong_rtt *r, cong_time now) {
    cong_time back = r->min_rtt >= 0 ? cong__elapsed(r->clock, now) : 0;
    for (unsigned i = 0; i < 3; i++) {
        r->low[i].at = cong__earlier(r->low[i].at, back);
    }
    r->clock = now;
}

static void rtt_set_low(struct cong_rtt *r, unsigned from, cong_time rtt) {
    for (unsigned i = from; i < 3; i++) {
        r->low[i].rtt = rtt;
        r->low[i].at = r->clock;
    }
}

static void rtt_age_low(struct cong_rtt *r, cong_time rtt) {
    cong_time age = cong__elapsed(r->clock, r->low[0].at);
    if (age > r->window) {
        r->low[0] = r->low[1];
        r->low[1] = r->low[2];
        rtt_set_low(r, 2, rtt);
    } else if (age > r->window / 4 && r->low[1].at == r->low[0].at) {
        rtt_set_low(r, 1, rtt);
    } else if (age > r->window / 2 && r->low[2].at == r->low[1].at) {
        rtt_set_low(r, 2, rtt);
    }
}

/* Keeps the lowest sample of the window, the lowest after it, and the lowest
 * after that; each is replaced when part of the window has passed without a
 * lower one (Nichols's windowed filter, as in BBR and Linux). */
static void rtt_update_low(struct cong_rtt *r, cong_time rtt) {
    if (r->min_rtt < 0 || rtt <= r->low[0].rtt ||
        cong__elapsed(r->clock, r->low[2].at) > r->window) {
        rtt_set_low(r, 0, rtt);
    } else if (rtt <= r->low[1].rtt) {
        rtt_set_low(r, 1, rtt);
    } else if (rtt <= r->low[2].rtt) {
        rtt_set_low(r, 2, rtt);
    }
    rtt_age_low(r, rtt);
    r->min_rtt = r->low[0].rtt;
}

static void rtt_take(struct cong_rtt *r, cong_time sample) {
    r->latest = sample;
    r->backoff = 0;
    rtt_update_low(r, sample);
    if (r->lowest < 0 || sample < r->lowest) {
        r->lowest = sample;
    }
    if (r->srtt < 0) {
        r->srtt = sample;
        r->rttvar = sample / 2;
        return;
    }
    cong_time off = sample - r->srtt;
    r->rttvar += ((off < 0 ? -off : off) - r->rttvar) / 4;
    r->srtt += off / 8;
}

void cong_rtt_sample_at(struct cong_rtt *r, cong_time sample, cong_time now) {
    if (sample > 0) {
        rtt_advance(r, now);
        rtt_take(r, rtt_at_most(sample, SAMPLE_MAX));
    }
}

void cong_rtt_sample(struct cong_rtt *r, cong_time sample) {
    if (sample > 0) {
        sample = rtt_at_most(sample, SAMPLE_MAX);
        r->clock = cong__later(r->clock, sample);
        rtt_take(r, sample);
    }
}

void cong_rtt_raise_min(struct cong_rtt *r, cong_time rtt) {
    if (r->min_rtt >= 0 && rtt > r->min_rtt) {
        rtt_set_low(r, 0, rtt);
        r->min_rtt = rtt;
    }
}

cong_time cong_rtt_rto(const struct cong_rtt *r) {
    cong_time rto = SECOND;
    if (r->srtt >= 0) {
        cong_time spread = rtt_at_least(r->granularity, 4 * r->rttvar);
        rto = rtt_at_least(r->srtt + spread, r->rto_min);
    }
    for (unsigned i = 0; i < r->backoff && rto < r->rto_max; i++) {
        rto *= 2;
    }
    return rtt_at_most(rto, r->rto_max);
}
