/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_CAPACITY_H
#define LIBTLTCP_CAPACITY_H

#include <congestion/congestion.h>
#include <congestion/rtt.h>
#include <tltcp/types.h>

/* Packets that left close behind each other, as their ACKs tell: what passes
 * between the first and the last tells what the path carries, although the
 * application has not filled it. */
typedef struct tltcp__train {
    cong_time sent_first, sent_last;
    cong_time acked_first;
    double bytes; /* acknowledged since acked_first */
} tltcp__train;

/* What the path carries for us, as encoders and the look-ahead want to know it:
 * from what was delivered while a queue stood on it. */
typedef struct tltcp__capacity {
    double rate;     /* bytes/s as last seen; 0: not known */
    double estimate; /* bytes/s, smoothed, that we may use; 0: not known */
    double max_rate; /* bytes/s; 0: no cap */
    double steady;   /* rate at t_changed */
    tltcp__train train;
    cong_time low;        /* lowest RTT of the window since t_low, */
    cong_time low_before; /* and of the one before */
    cong_time t_low;
    cong_time t_estimate;
    cong_time t_full;    /* a queue last stood on the path; -1: never */
    cong_time t_slowed;  /* a train last showed no more than is known; -1 */
    cong_time t_limited; /* when window or pacer last held back; -1: never */
    cong_time t_shown;   /* the path first showed its rate; -1: not yet */
    cong_time t_changed; /* when it last came to carry more or less */
    cong_time t_foreign; /* when others filled its queue; -1: never */
} tltcp__capacity;

/* Also for another path. */
void tltcp__capacity_init(tltcp__capacity *c, double max_rate, tltcp_time now);
/* One feedback, which the controller has had. */
void tltcp__capacity_on_ack(tltcp__capacity *c, const struct cong *cong,
                            const struct cong_rtt *rtt,
                            const struct cong_ack *ack);

/* What the path would carry, in bytes of sections per second; 0: not known. */
double tltcp__capacity_estimate(const tltcp__capacity *c);
/* The same if the path has shown a limit of late, and somewhat more, so that it
 * can show that it carries more; else 0. */
double tltcp__capacity_limit(const tltcp__capacity *c, tltcp_time now);
/* The rate is known for a while, and others have no part of the path. */
bool tltcp__capacity_is_settled(const tltcp__capacity *c, tltcp_time now);

#endif /* LIBTLTCP_CAPACITY_H */
