/* SPDX-License-Identifier: MPL-2.0 */
/* The state of AUTO. */
#ifndef LIBCONGESTION_AUTO_H
#define LIBCONGESTION_AUTO_H

#include "libcongestion/cubic.h"
#include "libcongestion/hold.h"
#include "libcongestion/link_rate.h"
#include "libcongestion/loss_ratio.h"
#include "libcongestion/pace_limit.h"
#include "libcongestion/peak_rate.h"
#include "libcongestion/recent_flight.h"
#include "libcongestion/rtt_history.h"
#include "libcongestion/short_queue.h"

#include <math.h>

struct adaptive {
    struct cubic q;
    /* Parameters, beside those of CUBIC. */
    double tolerance;  /* loss ratio up to which a loss may be doubtful */
    double bearable;   /* loss ratio up to which it may be by chance */
    double depth;      /* part of the RTT range that counts as a short queue */
    double gentle;     /* part of the window kept after a doubtful loss */
    double beta_live;  /* part that a live stream keeps after congestion, ... */
    double beta_guest; /* ... and a guest; at least */
    double claim;      /* times CUBIC's growth: a newcomer's, and at most
                          that of a flow that catches up */
    double scale;      /* 1: the initial window grows with the round trip */
    double hystart;    /* 1: slow start ends when the RTT shows a queue */
    double delay;      /* 1: the flow's own queue is kept short */
    double part;      /* of the link: with more, no growth beside other flows */
    double part_held; /* of the link, beside flows that do not yield; 0: none */
    /* The path. */
    struct cong__rtt_history past;
    double base;  /* RTT without a queue, ns; 0: not known */
    double first; /* lowest RTT when the flow began, ns */
    double rtt;   /* newest, ns; 0: none yet */
    struct cong__loss_ratio losses;
    float rank;           /* mean rank of the RTT at recent losses, 0 to 1 */
    unsigned char judged; /* number of them */
    struct cong__pace_limit pace;
    bool chance; /* the open recovery period is by chance */
    struct cong__recent_flight flight;
    struct cong__clock clock;
    cong_time begun;     /* when the first RTT was known */
    cong_time lossy;     /* newest loss; 0: none */
    cong_time congested; /* newest loss judged so; 0: none */
    cong_time paused;    /* when the application was last the limit; 0: never */
    struct cong__short_queue queue;
    struct cong__link_rate link;
    struct cong__peak_rate peak;
    struct cong__hold hold;
};

/* A queue of more than this part of the RTT without one, and than `least` ns.
 */
static inline bool cong__auto_shows_queue(const struct adaptive *a, double rtt,
                                          double part, double least) {
    return rtt - a->base > fmax(part * a->base, least);
}

/* Runs at the first RTT, unless the window was set or reduced before. */
void cong__auto_scale_window(struct adaptive *a);
/* Ends slow start before the queue overflows and key frames are lost; the queue
 * built so far is drained, as in BBR. */
void cong__auto_end_slow_start(struct adaptive *a);
/* Slow start ends where the application leaves room in the window and the queue
 * was just empty, as that of streams like this one is again and again. In slow
 * start the flow would not yield, and they would yield alone. A queue of which
 * the flow's share is small or doubtful may be jitter. */
void cong__auto_leave_slow_start(struct adaptive *a,
                                 const struct cong_ack *ack);

#endif /* LIBCONGESTION_AUTO_H */
