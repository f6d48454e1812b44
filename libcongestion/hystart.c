/* SPDX-License-Identifier: MPL-2.0 */
/*
 * HyStart++ (RFC 9406): slow start ends when RTTs show a queue, before it
 * overflows.
 *
 * Interpretations: only the first slow start, whose threshold is still
 * infinite, ends this way (section 4.3); hosts that pace need no limit per ACK.
 * The host defines rounds.  Hosts with fewer than eight RTTs per round keep the
 * standard slow start.
 */
#include "libcongestion/internal.h"

#include <math.h>

#define MIN_RTT_THRESH 4e6 /* ns */
#define MAX_RTT_THRESH 16e6
#define MIN_RTT_DIVISOR 8
#define N_RTT_SAMPLE 8
#define CSS_GROWTH_DIVISOR 4
#define CSS_ROUNDS 5

static void hystart_sample(struct cong__hystart *h, double rtt) {
    h->low = h->low > 0 ? fmin(h->low, rtt) : rtt;
    h->samples++;
}

/* Checks whether the RTT has risen (in slow start) or fallen again (in
 * conservative slow start). */
static void hystart_judge(struct cong__hystart *h) {
    double thresh =
        fmin(fmax(h->last / MIN_RTT_DIVISOR, MIN_RTT_THRESH), MAX_RTT_THRESH);
    if (h->samples < N_RTT_SAMPLE || !(h->last > 0)) {
        return;
    }
    if (h->baseline > 0) {
        h->baseline = h->low < h->baseline ? 0 : h->baseline;
    } else if (h->low >= h->last + thresh) {
        h->baseline = h->low;
        h->rounds = 0;
    }
}

/* True when slow start is over. */
static bool hystart_next_round(struct cong__hystart *h) {
    h->last = h->low;
    h->low = 0;
    h->samples = 0;
    return h->baseline > 0 && ++h->rounds >= CSS_ROUNDS;
}

double cong__hystart_growth(struct window *w, const struct cong_ack *ack) {
    struct cong__hystart *h = &w->hystart;
    double n = cong__growth(ack);
    if (!(h->on > 0) || !isinf(w->cc.ssthresh)) {
        return n;
    }
    if (ack->rtt > 0) {
        hystart_sample(h, (double)ack->rtt);
        hystart_judge(h);
    }
    n = h->baseline > 0 ? n / CSS_GROWTH_DIVISOR : n;
    if (ack->round && hystart_next_round(h)) {
        cong__set_ssthresh(&w->cc, w->cc.cwnd);
    }
    return n;
}
