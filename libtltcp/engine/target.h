/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_TARGET_H
#define LIBTLTCP_TARGET_H

#include "libtltcp/engine/cross_traffic.h"

/* The target bitrate: what an encoder should produce now, so that its frames
 * arrive without waiting.
 *
 *   target = margin * bandwidth - (backlog + own queue) / DRAIN
 *
 * The bandwidth is the estimator's or, while a queue of our own stands, what
 * was delivered over the last tenth of a second.  The backlog waits in the
 * sender, the own queue in the path: both are to be gone within DRAIN.  A queue
 * that other flows fill is not subtracted, since draining it would only hand
 * them the path.  The margin shrinks on a path whose rate varies.  Without
 * acknowledgements that are due, the own queue is taken to grow, so that the
 * target falls to its floor within DRAIN.  The target never exceeds a multiple
 * of what was delivered of late, and is 0 before anything was.  After a while
 * without a queue it rises above what the estimator knows, to find out. */

#define TLTCP__TARGET_SAMPLES 32u

typedef struct tltcp__target_sample {
    cong_time at;
    cong_time rtt;
    double delivered; /* bytes so far */
} tltcp__target_sample;

typedef struct tltcp__target {
    tltcp__cross_traffic cross;
    tltcp__target_sample sample[TLTCP__TARGET_SAMPLES]; /* a ring */
    unsigned newest;                                    /* index in it */
    unsigned count;                                     /* samples in it */
    double delivered;                                   /* bytes */
    double rate;        /* bytes/s, smoothed on its way up; 0: none yet */
    double spans;       /* delivered rate, smoothed, bytes/s */
    double variation;   /* of the delivered rate, relative, smoothed */
    double proven[2];   /* highest delivered rates: newest period, the one
                           before */
    double span_from;   /* delivered when the present span began */
    cong_time low[2];   /* lowest RTT of the present span, the one before; -1 */
    cong_time span;     /* when that was; -1: not yet */
    cong_time period;   /* when the newest period began */
    cong_time t_queue;  /* when a queue last stood */
    cong_time t_update; /* of rate; -1: never */
} tltcp__target;

/* What is known of path and sender at a point in time. */
typedef struct tltcp__target_input {
    double bandwidth;  /* bytes of sections per second; 0: not known */
    double backlog;    /* bytes that wait in the sender for longer than a frame
                          takes to leave */
    double flight;     /* bytes sent, neither acknowledged nor lost */
    cong_time min_rtt; /* -1: none yet */
    cong_time srtt;
    cong_time silence; /* since an acknowledgement is overdue; 0: none is */
    double offered;    /* bytes of sections per second that the congestion
                          controller lets out */
} tltcp__target_input;

void tltcp__target_init(tltcp__target *t);
/* One feedback: bytes newly acknowledged, and the RTT or -1, with which
 * goes the newest packet. */
void tltcp__target_on_ack(tltcp__target *t, const tltcp__target_input *in,
                          double acked, cong_time rtt,
                          const tltcp__cross_sample *newest, cong_time now);
/* The target in bytes of sections per second; 0: nothing was delivered yet. */
double tltcp__target_rate(const tltcp__target *t,
                          const tltcp__target_input *in);

#endif /* LIBTLTCP_TARGET_H */
