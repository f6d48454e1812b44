/* SPDX-License-Identifier: MPL-2.0 */
/* What it shows when others on the path pause. */
#include "libcongestion/pause.h"

#include <math.h>

#define FADE 0.99          /* of the longest queue, per round trip */
#define LONG 0.7           /* of the longest queue */
#define SHORT 0.3          /* likewise */
#define LEAST 1e7          /* ns; less is noise */
#define PACKETS 6          /* left while the queue fell ... */
#define FASTER 1.5         /* ... this much faster than before: a pause */
#define KEPT 0.8           /* of the rate, at each next pause */
#define RECENT 15000000000 /* ns for which the rate is known */

/* BBRv1: */
#define STOOD 3000000000   /* ns without a short queue: it stands */
#define DEEP 0.7           /* times the RTT without a queue */
#define STEEP 0.6          /* part of the others' rate that stops at once */
#define LASTS 150000000    /* ns for which the queue is short, at least */
#define RISE_ROUNDS 3      /* round trips from a short queue to a long one */
#define REFILL 1e9         /* ns and ... */
#define REFILL_ROUNDS 2    /* ... round trips until it is long again */
#define PERIOD 12000000000 /* ns between two pauses, at most */
#define STANDS 11e9        /* ns and ... */
#define STANDS_ROUNDS 4    /* ... round trips from one pause to the next */

/* Own part of the link; 0: not known. */
static double pause_part(const struct cong__peak_rate *peak) {
    double link = cong__peak_rate(peak);
    return link > 0 ? peak->delivered / link : 0;
}

/* While others pause, the packets in the queue are the flow's own, and leave at
 * the rate of the link. */
static void pause_note_link(struct cong__pause *p, cong_time now, double mss,
                            double before) {
    double took = (double)cong__elapsed(now, p->fell);
    double rate = took > 0 ? (double)p->fall / took : 0;
    if ((double)p->fall >= PACKETS * mss && rate >= FASTER * before) {
        p->link = (float)fmax(KEPT * (double)p->link, rate);
        p->paused = now;
    }
}

/* The packets that found the queue at `full` and at `queue` were sent `took`
 * apart. */
static void pause_note_emptied(struct cong__pause *p,
                               const struct cong_ack *ack, double queue,
                               double part) {
    double fall = (double)p->full - queue;
    double took = (double)cong__elapsed(ack->now, p->fell) + fall;
    if ((double)p->high > DEEP * (double)ack->min_rtt &&
        cong__elapsed(p->fell, p->low) > STOOD &&
        fall > STEEP * (1 - part) * took) {
        p->emptied = ack->now;
    }
}

static void pause_note_refilled(struct cong__pause *p,
                                const struct cong_ack *ack) {
    double took = (double)cong__elapsed(ack->now, p->emptied);
    double rose = (double)cong__elapsed(ack->now, p->low);
    if (p->emptied > 0 && cong__elapsed(p->low, p->emptied) > LASTS &&
        rose < RISE_ROUNDS * (double)ack->rtt &&
        took < REFILL + REFILL_ROUNDS * (double)ack->rtt) {
        p->refilled = ack->now;
    }
    p->emptied = 0;
}

static double pause_queue(const struct cong_ack *ack) {
    return (double)ack->rtt - (double)ack->min_rtt;
}

void cong__pause_ack(struct cong__pause *p, const struct cong_ack *ack,
                     double mss, const struct cong__peak_rate *peak) {
    double queue = pause_queue(ack);
    double high = (double)p->high;
    p->fall += (float)cong__clean(ack->acked);
    if (ack->rtt <= 0 || ack->min_rtt <= 0) {
        return;
    }
    if (p->low == 0) {
        p->low = ack->now; /* nothing is known of the time before */
    }
    high = fmax(ack->round ? FADE * high : high, queue);
    p->high = (float)high;
    if (queue > LONG * high) {
        pause_note_refilled(p, ack);
        p->fell = ack->now;
        p->full = (float)queue;
        p->fall = 0;
    } else if (queue < SHORT * high) {
        if (p->fell > 0 && high > LEAST) {
            pause_note_link(p, ack->now, mss, peak->delivered);
            pause_note_emptied(p, ack, queue, pause_part(peak));
            p->fallen = ack->now;
        }
        p->fell = 0;
        p->low = ack->now;
    }
}

double cong__pause_link(const struct cong__pause *p, cong_time now) {
    return p->paused > 0 && cong__elapsed(now, p->paused) < RECENT
               ? (double)p->link
               : 0;
}

bool cong__pause_is_bbr(const struct cong__pause *p, cong_time now) {
    return p->refilled > 0 && cong__elapsed(now, p->refilled) < PERIOD;
}

bool cong__pause_excludes_bbr(const struct cong__pause *p,
                              const struct cong_ack *ack) {
    return p->low > 0 && (double)cong__elapsed(ack->now, p->low) >
                             STANDS + STANDS_ROUNDS * (double)ack->srtt;
}

bool cong__pause_bbr_fills(const struct cong__pause *p,
                           const struct cong_ack *ack) {
    return ack->rtt > 0 && cong__pause_is_bbr(p, ack->now) &&
           pause_queue(ack) > SHORT * (double)p->high;
}
