/* SPDX-License-Identifier: MPL-2.0 */
/* AUTO's initial window and the end of its slow start. */
#include "libcongestion/auto.h"

#define START_RTTS 8      /* RFC 9406's N_RTT_SAMPLE, ... */
#define START_QUEUE 0.125 /* ... MIN_RTT_DIVISOR, ... */
#define START_LEAST 4e6   /* ... and ns */
#define START_MOST 16e6
#define DRAIN 1.5         /* times the pipe is kept when slow start ends */
#define EMPTIED 500000000 /* ns: a queue that was empty within this time */
#define NOISE 0.2         /* a smaller own share shows jitter, ... */
#define NOISE_ERRORS 2    /* ... or if it is in doubt by these errors */
#define INITIAL_RTT 1e8   /* ns: a longer one scales the window, ... */
#define INITIAL_MOST 10   /* ... by at most this */

void cong__auto_scale_window(struct adaptive *a) {
    struct cong *cc = &a->q.w.cc;
    double times = fmin(a->rtt / INITIAL_RTT, INITIAL_MOST);
    if (a->scale > 0 && times > 1 && cc->cwnd == a->q.w.iw * cc->mss) {
        a->q.w.iw *= times;
        cong__set_cwnd(cc, a->q.w.iw * cc->mss);
    }
}

void cong__auto_end_slow_start(struct adaptive *a) {
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

void cong__auto_leave_slow_start(struct adaptive *a,
                                 const struct cong_ack *ack) {
    struct cong *cc = &a->q.w.cc;
    const struct cong__short_queue *q = &a->queue;
    bool unused = !ack->limited && a->flight.before > 0 &&
                  cong__recent_flight(&a->flight) < cc->cwnd;
    if (ack->round && unused && !q->foreign &&
        !cong__queue_share_is_below(&q->share, NOISE, -NOISE_ERRORS) &&
        cong__elapsed(ack->now, q->emptied) < EMPTIED &&
        !cong__hold_is_on(&a->hold)) {
        cong__set_ssthresh(cc, fmin(cc->ssthresh, cc->cwnd));
    }
}
