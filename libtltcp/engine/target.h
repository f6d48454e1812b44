/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_TARGET_H
#define LIBTLTCP_TARGET_H

#include "libtltcp/engine/cross_traffic.h"
#include "libtltcp/engine/jitter.h"

/* The target bitrate: what an encoder should produce now, so that its frames
 * arrive without waiting.
 *
 *   target = margin * bandwidth - (backlog + own queue) / DRAIN
 *
 * The bandwidth is the estimator's or, while there is a standing queue of our
 * own, the delivery rate of the last tenth of a second. The backlog waits in
 * the sender, our own queue in the path: both should drain within DRAIN. The
 * higher the rate, the less queue is tolerated: streams that share a path then
 * become equal. A queue that other flows fill is not subtracted, since draining
 * it would only yield the path to them. Streams like ours drain a queue again
 * and again: only one that stands for much of the time, or loses much, is that
 * of others. The margin shrinks on a path whose rate varies. While
 * acknowledgements are overdue, our own queue is assumed to grow, so that the
 * target falls to its floor within DRAIN. The target never exceeds a multiple
 * of the recent delivery rate, and is 0 before the first delivery. After a
 * while without a queue, it rises above the estimate to probe for more. A delay
 * that stays the same while less is in flight than a queue of that length would
 * hold is none of ours: the path has become longer. */

#define TLTCP__TARGET_SAMPLES 32u

typedef struct tltcp__target_sample {
    cong_time at;
    cong_time rtt;
    double delivered; /* bytes so far */
} tltcp__target_sample;

typedef struct tltcp__target {
    tltcp__cross_traffic cross;
    tltcp__jitter jitter;
    tltcp__target_sample sample[TLTCP__TARGET_SAMPLES]; /* a ring */
    unsigned newest;                                    /* index in it */
    unsigned count;                                     /* samples in it */
    double delivered;                                   /* bytes */
    double rate;        /* bytes/s, smoothed on its way up; 0: none yet */
    double spans;       /* delivered rate, smoothed, bytes/s */
    double tolerated;   /* queue that is not drained, s */
    double signals;     /* see the input */
    double full;        /* queue at those, smoothed, s; 0: none so far */
    double variation;   /* of the delivered rate, relative, smoothed */
    double proven[2];   /* highest delivery rates: newest period, previous
                           period */
    double span_from;   /* value of delivered when the current span began */
    cong_time low[2];   /* lowest RTT of the current and previous span; -1:
                           none */
    cong_time span;     /* start of the current span; -1: none yet */
    cong_time period;   /* when the newest period began */
    cong_time t_queue;  /* time of the last standing queue */
    cong_time t_doubt;  /* when its share of the path was last doubted */
    cong_time t_signal; /* time of the last one; -1: none yet */
    cong_time flat;     /* lowest RTT of the spans since ... */
    cong_time t_flat;   /* ... then, in which no queue of ours explains it */
    double flight;      /* most of the current span, bytes */
    double standing;    /* part of the newest spans in which the queue was
                           all but as long as tolerated, smoothed */
    double losses;      /* spans with losses or marks; old ones count less */
    cong_time t_update; /* last update of rate; -1: never */
} tltcp__target;

/* State of path and sender. */
typedef struct tltcp__target_input {
    double bandwidth;  /* bytes of sections per second; 0: not known */
    double backlog;    /* bytes that wait in the sender longer than it takes to
                          send a frame */
    double signals;    /* of congestion so far: bytes lost, packets marked */
    double flight;     /* bytes sent, neither acknowledged nor lost */
    cong_time min_rtt; /* -1: none yet */
    cong_time srtt;
    cong_time silence; /* time since an acknowledgement became overdue; 0: none
                          is */
    bool bbr;          /* the queue is that of flows that do not yield */
    double offered;    /* bytes of sections per second that the congestion
                          controller allows */
} tltcp__target_input;

void tltcp__target_init(tltcp__target *t);
/* Processes one feedback: bytes newly acknowledged, and the RTT of the newest
 * packet, or -1. */
void tltcp__target_on_ack(tltcp__target *t, const tltcp__target_input *in,
                          double acked, cong_time rtt,
                          const tltcp__cross_sample *newest, cong_time now);
/* Whether there were losses or marks just now. */
bool tltcp__target_was_signalled(const tltcp__target *t, cong_time now);
/* The RTT without a queue of a path that has become longer; -1: it has not. */
cong_time tltcp__target_longer_path(const tltcp__target *t,
                                    const tltcp__target_input *in,
                                    cong_time now);
/* The target in bytes of sections per second; 0: nothing was delivered yet. */
double tltcp__target_rate(const tltcp__target *t,
                          const tltcp__target_input *in);

#endif /* LIBTLTCP_TARGET_H */
