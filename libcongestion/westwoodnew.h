/* SPDX-License-Identifier: MPL-2.0 */
/* What WestwoodNew and Mod WestwoodNew share. */
#ifndef LIBCONGESTION_WESTWOODNEW_H
#define LIBCONGESTION_WESTWOODNEW_H

#include "libcongestion/bandwidth.h"
#include "libcongestion/internal.h"

struct wwn {
    struct window w;
    struct bw_round round;
    double ratio_low;  /* below: no growth */
    double ratio_high; /* above: twice the growth */
    double bw;         /* of the newest round, bytes/s; < 0: none */
    double gain;       /* 0, 1 or 2 segments per round trip */
    cong_time rtt_min; /* ns */
};

#define WWN_PARAMS(state, base)                              \
    CONG__PARAM(state, base ratio_low, "ratio_low", 0, 100), \
        CONG__PARAM(state, base ratio_high, "ratio_high", 0, 100)

void cong__wwn_init(struct wwn *s, cong_time now, cong_time rtt);
/* Takes a new estimate; its ratio to the previous one sets the gain. */
void cong__wwn_estimate(struct wwn *s, double bw);
/* Measures the round that this feedback ended. */
void cong__wwn_measure(struct wwn *s, const struct cong_ack *ack);
/* Slow start, then gain segments per round trip. */
void cong__wwn_grow(struct wwn *s, double n);
/* Size of the pipe, bytes. */
double cong__wwn_pipe(const struct wwn *s);

#endif /* LIBCONGESTION_WESTWOODNEW_H */
