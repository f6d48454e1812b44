/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Average loss interval with history discounting (RFC 5348 sections 5.2
 * to 5.5).
 *
 * Interpretation: loss events are strictly more than one RTT apart; arrival
 * times are used as reported.
 */
#include <congestion/loss_history.h>

#include "libcongestion/internal.h"

#include <math.h>
#include <string.h>

#define DISCOUNT_MIN 0.25

static const double weight[CONG_LOSS_INTERVALS] = {1,   1,   1,   1,
                                                   0.8, 0.6, 0.4, 0.2};

void cong_loss_history_init(struct cong_loss_history *h) {
    memset(h, 0, sizeof(*h));
    h->factor = 1;
    for (int i = 0; i <= CONG_LOSS_INTERVALS; i++) {
        h->discount[i] = 1;
    }
}

/* Mean of the closed intervals; the common discount cancels out. */
static double loss_history_closed_mean(const struct cong_loss_history *h) {
    double total = 0;
    double weights = 0;
    for (unsigned i = 1; i <= h->closed; i++) {
        double w = weight[i - 1] * h->discount[i];
        total += w * h->interval[i];
        weights += w;
    }
    return weights > 0 ? total / weights : 0;
}

/* Mean with the open interval instead of the oldest one. */
static double loss_history_open_mean(const struct cong_loss_history *h) {
    double total = h->interval[0];
    double weights = 1;
    for (unsigned i = 1; i < h->closed; i++) {
        double w = weight[i] * h->discount[i] * h->factor;
        total += w * h->interval[i];
        weights += w;
    }
    return total / weights;
}

double cong_loss_history_mean(const struct cong_loss_history *h) {
    return h->lossy
               ? fmax(loss_history_open_mean(h), loss_history_closed_mean(h))
               : 0;
}

double cong_loss_history_rate(const struct cong_loss_history *h) {
    return h->lossy ? 1 / fmax(cong_loss_history_mean(h), 1) : 0;
}

/* Extends the open interval up to a reported number. */
static void loss_history_advance(struct cong_loss_history *h, uint64_t seq) {
    if (seq > h->newest) {
        h->newest = seq;
    }
    if (!h->lossy || h->newest < h->start) {
        return;
    }
    h->interval[0] = (double)(h->newest - h->start) + 1;
    double twice = 2 * loss_history_closed_mean(h);
    h->factor = 1;
    if (h->interval[0] > twice) {
        h->factor = fmax(twice / h->interval[0], DISCOUNT_MIN);
    }
}

void cong_loss_history_received(struct cong_loss_history *h, uint64_t seq) {
    loss_history_advance(h, seq);
}

static bool loss_history_is_new(const struct cong_loss_history *h, uint64_t seq,
                                cong_time t_arrival, cong_time rtt) {
    return !h->lossy ||
           (seq > h->start && cong__elapsed(t_arrival, h->t_start) > rtt);
}

/* Closes the open interval with the given length. */
static void loss_history_close_interval(struct cong_loss_history *h,
                                        double length) {
    h->interval[0] = length;
    for (unsigned i = 1; i <= CONG_LOSS_INTERVALS; i++) {
        h->discount[i] *= h->factor;
    }
    for (unsigned i = CONG_LOSS_INTERVALS; i > 0; i--) {
        h->interval[i] = h->interval[i - 1];
        h->discount[i] = h->discount[i - 1];
    }
    h->discount[1] = 1;
    h->factor = 1;
    if (h->closed < CONG_LOSS_INTERVALS) {
        h->closed++;
    }
}

bool cong_loss_history_lost(struct cong_loss_history *h, uint64_t seq,
                            cong_time t_arrival, cong_time rtt, double first) {
    bool fresh = loss_history_is_new(h, seq, t_arrival, rtt);
    if (fresh) {
        loss_history_close_interval(h, h->lossy ? (double)(seq - h->start)
                                                : fmax(cong__clean(first), 1));
        h->lossy = true;
        h->start = seq;
        h->t_start = t_arrival;
    }
    loss_history_advance(h, seq);
    return fresh;
}
