/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_BANDWIDTH_H
#define LIBTLTCP_BANDWIDTH_H

#include <congestion/congestion.h>
#include <congestion/rtt.h>
#include <tltcp/types.h>

#include "libtltcp/engine/train.h"

/* Feedback of a tenth of a second, or of a round trip where that is longer. */
typedef struct tltcp__span {
    cong_time since;
    cong_time low; /* lowest RTT */
    double acked;  /* bytes */
} tltcp__span;

/* Result of the span before. */
typedef struct tltcp__last_span {
    cong_time low;
    double rate;    /* bytes/s delivered */
    double seconds; /* that it took */
    double growth;  /* of the lowest RTT since the span before, per time */
} tltcp__last_span;

/* Bandwidth estimator: what the path carries for this flow, for encoders and
 * the look-ahead.  It learns from what is delivered while a queue stands. */
typedef struct tltcp__bandwidth {
    double rate;     /* bytes/s as last seen; 0: not known */
    double estimate; /* bytes/s, smoothed, that we may use; 0: not known */
    double max_rate; /* bytes/s; 0: no cap */
    double steady;   /* rate at t_changed */
    tltcp__train train;
    tltcp__span span;
    tltcp__last_span last;
    unsigned defied; /* spans in a row: we send less, the queue stays */
    cong_time t_estimate;
    cong_time t_full;    /* a queue last stood on the path; -1: never */
    cong_time t_slowed;  /* a train last showed no more than is known; -1 */
    cong_time t_limited; /* when window or pacer last held back; -1: never */
    cong_time t_shown;   /* the path first showed its rate; -1: not yet */
    cong_time t_changed; /* when it last came to carry more or less */
    cong_time t_foreign; /* when others filled its queue; -1: never */
} tltcp__bandwidth;

/* Also for another path. */
void tltcp__bandwidth_init(tltcp__bandwidth *c, double max_rate,
                           tltcp_time now);
/* One feedback, which the controller has had; the peer held it back so long. */
void tltcp__bandwidth_on_ack(tltcp__bandwidth *c, const struct cong *cong,
                             const struct cong_rtt *rtt,
                             const struct cong_ack *ack, cong_time held);

/* What the path would carry, in bytes of sections per second; 0: not known. */
double tltcp__bandwidth_estimate(const tltcp__bandwidth *c);
/* The same if the path has shown a limit of late, and somewhat more, so that it
 * can show that it carries more; else 0. */
double tltcp__bandwidth_limit(const tltcp__bandwidth *c, tltcp_time now);
/* The rate is known for a while, and others have no part of the path. */
bool tltcp__bandwidth_is_settled(const tltcp__bandwidth *c, tltcp_time now);

/* What the congestion controller lets out, bytes of sections per second. */
double tltcp__bandwidth_offered(const tltcp__bandwidth *c,
                                const struct cong *cong, cong_time srtt);

#endif /* LIBTLTCP_BANDWIDTH_H */
