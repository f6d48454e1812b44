/* SPDX-License-Identifier: MPL-2.0 */
/* Averages the loss ratio over the newest bytes whose fate is known. */
#ifndef LIBCONGESTION_LOSS_RATIO_H
#define LIBCONGESTION_LOSS_RATIO_H

#include "libcongestion/internal.h"

/* Floats save memory: each connection has several of these. */
struct cong__loss_ratio {
    float lost;  /* bytes */
    float known; /* bytes lost or delivered */
};

/* Keeps this part of what was known before, and no more than `most` bytes in
 * all. */
static inline void cong__loss_ratio_ack(struct cong__loss_ratio *l,
                                        const struct cong_ack *ack, double most,
                                        double keep) {
    double lost = cong__clean(ack->lost);
    double known = keep * (double)l->known + cong__clean(ack->acked) + lost;
    double scale = known > most ? most / known : 1;
    l->lost = (float)(scale * (keep * (double)l->lost + lost));
    l->known = (float)(scale * known);
}

/* 0 if nothing is known. */
static inline double cong__loss_ratio(const struct cong__loss_ratio *l) {
    return l->known > 0 ? (double)l->lost / (double)l->known : 0;
}

#endif /* LIBCONGESTION_LOSS_RATIO_H */
