/* SPDX-License-Identifier: MPL-2.0 */
/* Bandwidth estimators of the Westwood family, bytes/s. */
#ifndef LIBCONGESTION_BANDWIDTH_H
#define LIBCONGESTION_BANDWIDTH_H

#include <congestion/congestion.h>

/* An application-limited sample measures the application, not the path. */
bool cong__app_limited(const struct cong_ack *ack);

/* One sample per round: the newest of the delivery-rate sampler, or, if the
 * host has no sampler, the bytes delivered over the length of the round. */
struct bw_round {
    double delivered; /* bytes since the round began */
    double newest;    /* newest rate of the sampler; < 0: none */
    cong_time since;  /* when the round began */
    bool app_limited; /* at least one feedback of the round was */
};

void cong__bw_round_init(struct bw_round *r, cong_time now);
/* Processes a feedback; true at the end of a round that gave a sample. */
bool cong__bw_round_ack(struct bw_round *r, const struct cong_ack *ack,
                        double *rate, bool *app_limited);

/* Low-pass filter with variable step (bilinear transform). */
struct bw_filter {
    double tau;       /* s */
    double m;         /* silent steps per tau */
    double bw;        /* estimate */
    double sample;    /* newest sample */
    double waiting;   /* bytes of feedbacks at the same instant */
    cong_time t_ack;  /* newest feedback that delivered data */
    cong_time t_step; /* newest step, silent ones included */
    bool primed;
};

void cong__bw_filter_init(struct bw_filter *f, cong_time now);
/* Adds n delivered bytes; drops a lower sample when app_limited. */
void cong__bw_filter_ack(struct bw_filter *f, double n, cong_time now,
                         bool app_limited);
/* Accounts for the silence until now. */
void cong__bw_filter_silence(struct bw_filter *f, cong_time now);
/* Adds the sample of a whole round. */
void cong__bw_filter_round(struct bw_filter *f, double rate, cong_time now);

/* One filter for lengths and one for intervals, then one for their ratio. */
struct bw_tibet {
    double alpha;    /* pole of the first two */
    double t0;       /* time constant of the third, s */
    double length;   /* mean bytes acknowledged */
    double interval; /* mean time between feedbacks, s */
    double bw;       /* estimate; 0: none */
    double waiting;  /* bytes before the first non-zero interval */
    cong_time t_ack; /* newest feedback; -1: do not measure the next one */
};

void cong__bw_tibet_init(struct bw_tibet *t, cong_time now);
void cong__bw_tibet_ack(struct bw_tibet *t, double n, cong_time now,
                        bool app_limited);

#endif /* LIBCONGESTION_BANDWIDTH_H */
