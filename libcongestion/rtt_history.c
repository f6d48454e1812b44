/* SPDX-License-Identifier: MPL-2.0 */
/* Ranks RTTs among recent ones. */
#include "libcongestion/rtt_history.h"

#include <math.h>

#define FIRST 16    /* samples taken at every feedback */
#define CHANCES 32  /* RTTs per low */
#define RARE 0.125  /* fraction of the lows below the floor */
#define LOWS_MIN 16 /* fewer lows say little */

static unsigned rtt_history_known(const struct cong__rtts *r) {
    return r->count < CONG__RTTS ? r->count : CONG__RTTS;
}

static void rtt_history_take(struct cong__rtts *r, double rtt) {
    r->at[r->count % CONG__RTTS] = (float)rtt;
    /* does not wrap round to small counts */
    r->count = r->count + 1 < 2 * CONG__RTTS ? r->count + 1 : CONG__RTTS;
}

static void rtt_history_insert(double *sorted, unsigned n, double x) {
    for (; n > 0 && sorted[n - 1] > x; n--) {
        sorted[n] = sorted[n - 1];
    }
    sorted[n] = x;
}

double cong__rtts_quantile(const struct cong__rtts *r, double share) {
    double sorted[CONG__RTTS];
    unsigned n = rtt_history_known(r);
    for (unsigned i = 0; i < n; i++) {
        rtt_history_insert(sorted, i, (double)r->at[i]);
    }
    return n > 0 ? sorted[(unsigned)(share * (n - 1))] : 0;
}

static void rtt_history_take_low(struct cong__rtt_history *h) {
    double reached;
    rtt_history_take(&h->lows, h->low);
    h->low_before = h->low;
    h->low = 0;
    h->chances = 0;
    h->round = false;
    reached = cong__rtts_quantile(&h->lows, RARE);
    h->floor = h->lows.count <= LOWS_MIN ? reached : fmin(h->floor, reached);
}

void cong__rtt_history_add(struct cong__rtt_history *h,
                           const struct cong_ack *ack, double spacing) {
    h->since += cong__clean(ack->acked);
    if (ack->rtt > 0) {
        double rtt = (double)ack->rtt;
        h->low = h->low > 0 ? fmin(h->low, rtt) : rtt;
        h->chances++;
        if (h->since >= spacing || h->samples.count < FIRST) {
            rtt_history_take(&h->samples, rtt);
            h->since = 0;
        }
    }
    h->round |= ack->round;
    if (h->round && h->chances >= CHANCES) {
        rtt_history_take_low(h);
    }
}

double cong__rtts_rank(const struct cong__rtts *r, double rtt, double near) {
    unsigned n = rtt_history_known(r);
    double below = 0;
    for (unsigned i = 0; i < n; i++) {
        double at = (double)r->at[i];
        below += at < rtt - near ? 1 : at > rtt + near ? 0 : 0.5;
    }
    return n > 0 ? below / n : 0.5;
}

double cong__rtt_history_low(const struct cong__rtt_history *h) {
    return h->low <= 0          ? h->low_before
           : h->low_before <= 0 ? h->low
                                : fmin(h->low, h->low_before);
}
