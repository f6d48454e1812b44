/* SPDX-License-Identifier: MPL-2.0 */
/* Recognizes BBRv1 beside this flow by its pauses. */
#include "libcongestion/bbr_pause.h"

#include <math.h>

#define LONG 0.7           /* of the longest recent queue */
#define SHORT 0.3          /* likewise */
#define STOOD 3000000000   /* ns without a short queue: it stands */
#define DEEP 1.2           /* times the RTT without a queue, ... */
#define DEEP_LEAST 1e7     /* ... and ns: a queue that tells */
#define STEEP 0.6          /* of what the others sent is gone */
#define PAUSE 150000000    /* ns for which it is short, at least */
#define REFILL 1e9         /* ns and ... */
#define REFILL_ROUNDS 2    /* ... round trips until it is long again */
#define PERIOD 12000000000 /* ns between two pauses, at most */

/* The queue fell from `full` to `queue` between packets that were sent `took`
 * apart. */
static bool pause_is_steep(const struct cong__bbr_pause *p, double queue,
                           double part, cong_time now) {
    double fall = (double)p->full - queue;
    double took = (double)cong__elapsed(now, p->fell) + fall;
    return fall > STEEP * (1 - part) * took;
}

/* The queue is long again. */
static void pause_end(struct cong__bbr_pause *p, const struct cong_ack *ack) {
    double took = (double)cong__elapsed(ack->now, p->emptied);
    if (p->emptied > 0 && cong__elapsed(p->low, p->emptied) > PAUSE &&
        took < REFILL + REFILL_ROUNDS * (double)ack->rtt) {
        p->refilled = ack->now;
    }
    p->emptied = 0;
}

void cong__bbr_pause_ack(struct cong__bbr_pause *p, const struct cong_ack *ack,
                         double high, double part) {
    double queue = (double)ack->rtt - (double)ack->min_rtt;
    double deep = fmax(DEEP * (double)ack->min_rtt, DEEP_LEAST);
    if (ack->rtt <= 0 || ack->min_rtt <= 0) {
        return;
    }
    if (queue > LONG * high) {
        pause_end(p, ack);
        p->fell = ack->now;
        p->full = (float)queue;
    } else if (queue < SHORT * high || p->low == 0) {
        if (p->fell > 0 && high > deep &&
            cong__elapsed(p->fell, p->low) > STOOD &&
            pause_is_steep(p, queue, part, ack->now)) {
            p->emptied = ack->now;
        }
        p->fell = 0;
        p->low = ack->now;
    }
}

bool cong__bbr_pause_is_recent(const struct cong__bbr_pause *p, cong_time now) {
    return p->refilled > 0 && cong__elapsed(now, p->refilled) < PERIOD;
}
