/* SPDX-License-Identifier: MPL-2.0 */
/* Token clock (RFC 5348 section 4.6, RFC 9002 section 7.7). */
#include <congestion/pacer.h>

#include "libcongestion/internal.h"

#include <math.h>

#define SLOW_START_GAIN 2.0
#define AVOIDANCE_GAIN 1.2

void cong_pacer_init(struct cong_pacer *p) {
    *p = (struct cong_pacer){.t_next = -1, .t_base = -1};
}

/* Time that size bytes take, bounded for very low rates. */
static cong_time pacer_duration(const struct cong_pacer *p, double size) {
    return cong__ns(cong__clean(size) / p->rate);
}

void cong_pacer_set(struct cong_pacer *p, double rate, double credit) {
    rate = cong__clean(rate);
    p->credit = cong__clean(credit);
    if (rate == p->rate) {
        return;
    }
    p->rate = rate;
    if (rate > 0 && p->t_base >= 0) {
        p->t_next = cong__later(p->t_base, pacer_duration(p, p->size));
    }
}

/* How far the clock has stepped back since the newest packet left; a wait must
 * not last until the clock has caught up. */
static cong_time pacer_stepped(const struct cong_pacer *p, cong_time now) {
    return p->t_base >= 0 ? cong__elapsed(p->t_sent, now) : 0;
}

cong_time cong_pacer_next(const struct cong_pacer *p, cong_time now) {
    cong_time next = cong__earlier(p->t_next, pacer_stepped(p, now));
    return p->rate > 0 && next > now ? next : now;
}

void cong_pacer_sent(struct cong_pacer *p, double size, cong_time now) {
    p->t_next = cong__earlier(p->t_next, pacer_stepped(p, now));
    p->t_sent = now;
    p->size = cong__clean(size);
    if (!(p->rate > 0) || p->t_next < 0) {
        p->t_base = now;
    } else {
        cong_time earliest = cong__earlier(now, pacer_duration(p, p->credit));
        p->t_base = p->t_next > earliest ? p->t_next : earliest;
    }
    p->t_next = p->t_base;
    if (p->rate > 0) {
        p->t_next = cong__later(p->t_base, pacer_duration(p, p->size));
    }
}

uint64_t cong_pacer_burst(const struct cong_pacer *p, double size,
                          cong_time now) {
    struct cong_pacer first = *p;
    cong_time each;
    cong_pacer_sent(&first, size, now);
    each = first.t_next - first.t_base; /* the packets after it are as far */
    if (!(p->rate > 0) || each <= 0) {
        return UINT64_MAX;
    }
    return first.t_next > now
               ? 1
               : 2 + (uint64_t)(cong__elapsed(now, first.t_next) / each);
}

void cong_pacer_sent_burst(struct cong_pacer *p, double size, uint64_t count,
                           cong_time now) {
    cong_time more;
    if (count == 0) {
        return;
    }
    cong_pacer_sent(p, size, now);
    if (p->rate > 0) { /* the clock is not behind any more */
        more = (p->t_next - p->t_base) * (cong_time)(count - 1);
        p->t_base += more;
        p->t_next += more;
    }
}

double cong_pacing_rate(const struct cong *cc, cong_time srtt) {
    if (cc->pacing_rate > 0) {
        return cc->pacing_rate;
    }
    if (srtt <= 0 || !(cc->cwnd < CONG_HUGE)) {
        return 0;
    }
    double gain = cc->cwnd < cc->ssthresh ? SLOW_START_GAIN : AVOIDANCE_GAIN;
    double rate = gain * cc->cwnd / cong__seconds(srtt);
    return cc->pacing_max > 0 ? fmin(rate, cc->pacing_max) : rate;
}
