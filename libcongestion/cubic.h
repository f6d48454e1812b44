/* SPDX-License-Identifier: MPL-2.0 */
/* CUBIC's state, for those who build on it; see cubic.c. */
#ifndef LIBCONGESTION_CUBIC_H
#define LIBCONGESTION_CUBIC_H

#include "libcongestion/internal.h"

/* What a false alarm restores. */
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
    struct cubic_memory saved; /* as it was before the newest reduction */
    cong_time last;
};

#endif /* LIBCONGESTION_CUBIC_H */
