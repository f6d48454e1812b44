/* SPDX-License-Identifier: MPL-2.0 */
/*
 * The rules common to every window controller: initial window (RFC 3390),
 * growth gate (RFC 7661 in its simplest form), slow start and congestion
 * avoidance by byte counting (RFC 5681 section 3.1), timeouts (section 3.1),
 * restart after idling (section 4.1).
 */
#include "libcongestion/internal.h"

#include <math.h>

double cong__clean(double x) {
    if (!(x > 0)) {
        return 0;
    }
    return x < CONG_HUGE ? x : CONG_HUGE;
}

double cong__seconds(cong_time t) {
    return (double)t / CONG_NS;
}

cong_time cong__ns(double seconds) {
    return cong__to_time(seconds * CONG_NS + 0.5);
}

cong_time cong__to_time(double ns) {
    return (cong_time)cong__clean(ns);
}

cong_time cong__elapsed(cong_time a, cong_time b) {
    if (a <= b) {
        return 0;
    }
    if (b < 0 && a > INT64_MAX + b) {
        return INT64_MAX;
    }
    return a - b;
}

cong_time cong__later(cong_time t, cong_time d) {
    return t > INT64_MAX - d ? INT64_MAX : t + d;
}

cong_time cong__earlier(cong_time t, cong_time d) {
    return t < INT64_MIN + d ? INT64_MIN : t - d;
}

void cong__clock_init(struct cong__clock *c, cong_time now) {
    *c = (struct cong__clock){.newest = now};
}

cong_time cong__clock_read(struct cong__clock *c, cong_time now) {
    c->skipped = cong__later(c->skipped, cong__elapsed(c->newest, now));
    c->newest = now;
    return cong__later(now, c->skipped);
}

void cong__set_cwnd(struct cong *cc, double cwnd) {
    double top = cc->cwnd_max < CONG_HUGE ? cc->cwnd_max : CONG_HUGE;
    if (cwnd > top) {
        cwnd = top;
    }
    cc->cwnd = cwnd > cc->mss ? cwnd : cc->mss;
}

void cong__set_ssthresh(struct cong *cc, double ssthresh) {
    double floor = 2 * cc->mss;
    cc->ssthresh = ssthresh > floor ? ssthresh : floor;
}

double cong__initial_segments(double mss) {
    return fmin(4, fmax(2, 4380 / mss));
}

void cong__window_init(struct window *w, cong_time now) {
    cong__clock_init(&w->clock, now);
    w->hystart = (struct cong__hystart){.on = -1};
    w->iw = cong__initial_segments(w->cc.mss);
    w->cc.ssthresh = (double)INFINITY;
    cong__set_cwnd(&w->cc, w->iw * w->cc.mss);
}

double cong__growth(const struct cong_ack *ack) {
    if (!ack->limited || ack->recovery) {
        return 0;
    }
    return cong__clean(ack->acked);
}

double cong__slow_start(struct cong *cc, double n) {
    double room = cc->ssthresh - cc->cwnd;
    if (!(room > 0)) {
        return n;
    }
    double used = n < room ? n : room;
    cong__set_cwnd(cc, used < room ? cc->cwnd + used : cc->ssthresh);
    return n - used;
}

void cong__grow(struct cong *cc, double n) {
    n = cong__slow_start(cc, n);
    if (n > 0) {
        cong__set_cwnd(cc, cc->cwnd + cc->mss * n / cc->cwnd);
    }
}

/* After a reduction, more may be in flight than the window allows. */
void cong__cut(struct cong *cc, double target) {
    cong__set_ssthresh(cc, fmin(target, cc->cwnd));
    cong__set_cwnd(cc, fmin(cc->cwnd, cc->ssthresh));
}

void cong__timeout(struct cong *cc, const struct cong_event *ev,
                   double target) {
    if (ev->count <= 1) {
        cong__set_ssthresh(cc, target);
    }
    cong__set_cwnd(cc, cc->mss);
}

void cong__idle(struct window *w, const struct cong_event *ev) {
    if (ev->count >= 1) {
        cong__set_cwnd(&w->cc, fmin(w->cc.cwnd, w->iw * w->cc.mss));
    }
}
