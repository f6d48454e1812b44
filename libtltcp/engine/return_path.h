/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_RETURN_PATH_H
#define LIBTLTCP_RETURN_PATH_H

#include <congestion/congestion.h>
#include <tltcp/types.h>

#include "libtltcp/engine/chunk.h"

/* The queue on the return path, by the times of arrival in ACKs. The clocks of
 * both ends need not agree: only changes count, from the shortest transit of an
 * ACK. That of an RTT without a queue is as short, so the clocks may drift and
 * step.
 *
 * ACKs that wait all the time are too many for the path. They then arrive as
 * fast as it carries them, which is its capacity. */
typedef struct tltcp__return_path {
    uint32_t origin;    /* first transit: the clocks' difference, us */
    bool known;         /* there was a first one */
    cong_time base;     /* transit without a queue, ns from that */
    cong_time newest;   /* transit of the newest ACK, likewise */
    cong_time queue;    /* of the newest ACK, ns */
    cong_time span;     /* start of the current span */
    cong_time low;      /* least queue of the span, ns */
    unsigned acks;      /* in the span */
    cong_time interval; /* wanted between ACKs, ns; 0: any */
    cong_time t_set;    /* when that was last changed */
    cong_time t_stood;  /* when ACKs last waited all the time; -1: never */
    cong_time proven;   /* how long they must not wait before more are wanted,
                           ns */
} tltcp__return_path;

void tltcp__return_path_init(tltcp__return_path *r);
/* Processes an ACK with a time of arrival. `rtt` is that of the newest packet
 * which it acknowledges, without the ACK's delay, or -1. */
void tltcp__return_path_on_ack(tltcp__return_path *r, const tltcp__ack *ack,
                               cong_time rtt, cong_time min_rtt, cong_time now);
/* How much later an ACK comes than it would without a queue on the return path
 * and without a delay at the peer; 0 unless that path is too slow. */
cong_time tltcp__return_path_lag(const tltcp__return_path *r,
                                 const tltcp__ack *ack, cong_time now);
/* The queue that the newest ACK met there, ns; little counts as none. */
cong_time tltcp__return_path_queue(const tltcp__return_path *r);
/* The newest RTT without the queue on the return path. */
cong_time tltcp__return_path_without(const tltcp__return_path *r, cong_time rtt,
                                     cong_time min_rtt);

#endif /* LIBTLTCP_RETURN_PATH_H */
