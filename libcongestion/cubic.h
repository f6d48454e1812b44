/* SPDX-License-Identifier: MPL-2.0 */
/* CUBIC's state, for controllers that build on it; see cubic.c. */
#ifndef LIBCONGESTION_CUBIC_H
#define LIBCONGESTION_CUBIC_H

#include "libcongestion/internal.h"

/* The state that an undo restores. */
struct cubic_memory {
    double w_max;
    double w_prior;
    double w_est;
    double k;
    cong_time epoch;
};

struct cubic {
    struct window w;
    double c;
    double beta;
    double beta_ecn;
    struct cubic_memory m;
    struct cubic_memory saved; /* as it was before the newest period */
    bool repairing;            /* a recovery period is open, no timeout */
    double cwnd;               /* bytes; as this controller left it */
    double mss;                /* bytes; likewise */
    cong_time last;
};

/* Saves the state that an undo restores. A controller that builds on this one
 * calls it before a reduction. */
void cong__cubic_save(struct cubic *q, const struct cong_event *ev);

#endif /* LIBCONGESTION_CUBIC_H */
