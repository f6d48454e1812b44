/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_BANDWIDTH_H
#define LIBTLTCP_BANDWIDTH_H

#include <congestion/congestion.h>
#include <congestion/rtt.h>
#include <tltcp/types.h>

#include "libtltcp/engine/train.h"

/* Feedback over a tenth of a second, or over a round trip if that is longer. */
typedef struct tltcp__span {
    cong_time since;
    cong_time low; /* lowest RTT */
    double acked;  /* bytes */
} tltcp__span;

/* Result of the previous span. */
typedef struct tltcp__last_span {
    cong_time low;
    double rate;    /* bytes/s delivered */
    double seconds; /* its duration */
    double growth;  /* growth of the lowest RTT since the span before it, per
                       time */
} tltcp__last_span;

/* Bandwidth estimator for encoders and the look-ahead: what the path carries
 * for this flow. It learns from deliveries while there is a standing queue. */
typedef struct tltcp__bandwidth {
    double rate;      /* bytes/s, newest value; 0: not known */
    double estimate;  /* bytes/s we may use, smoothed; 0: not known */
    double max_rate;  /* bytes/s; 0: no limit */
    double steady;    /* rate at t_changed */
    double loss;      /* recent loss ratio */
    cong_time jitter; /* of the path, ns; set by the sender */
    tltcp__train train;
    tltcp__span span;
    tltcp__last_span last;
    unsigned defied; /* spans in a row in which we sent less but the queue
                        stayed */
    cong_time t_estimate;
    cong_time t_full;    /* time of the last standing queue; -1: never */
    cong_time t_slowed;  /* when a train last showed no more than is known; -1:
                            never */
    cong_time t_limited; /* when window or pacer last was the limit; -1:
                            never */
    cong_time t_shown;   /* when the path first showed its rate; -1: not yet */
    cong_time t_changed; /* when the bandwidth last changed */
    cong_time t_foreign; /* when cross traffic last filled the queue; -1:
                            never */
} tltcp__bandwidth;

/* The estimate of a path that has shown nothing yet. */
#define TLTCP__BANDWIDTH_UNKNOWN                                         \
    {                                                                    \
        .t_estimate = -1, .t_full = -1, .t_slowed = -1, .t_limited = -1, \
        .t_shown = -1, .t_changed = -1, .t_foreign = -1                  \
    }

/* Call it again for a new path. */
void tltcp__bandwidth_init(tltcp__bandwidth *c, double max_rate,
                           tltcp_time now);
/* Processes one feedback, after the controller; held: delay at the peer. */
void tltcp__bandwidth_on_ack(tltcp__bandwidth *c, const struct cong *cong,
                             const struct cong_rtt *rtt,
                             const struct cong_ack *ack, cong_time held);

/* Whether the path has shown its rate, or it is configured. */
static inline bool tltcp__bandwidth_is_known(const tltcp__bandwidth *c) {
    return c->rate > 0 || c->t_shown >= 0;
}
/* The bandwidth, in bytes of sections per second; 0: not known. */
double tltcp__bandwidth_estimate(const tltcp__bandwidth *c);
/* The same, if the path has recently shown a limit, with some headroom to
 * discover more; else 0. */
double tltcp__bandwidth_limit(const tltcp__bandwidth *c, tltcp_time now);
/* Whether the rate has been stable for a while without cross traffic. */
bool tltcp__bandwidth_is_settled(const tltcp__bandwidth *c, tltcp_time now);

/* What the congestion controller allows, bytes of sections per second;
 * max_rate as above. */
double tltcp__bandwidth_offered(const tltcp__bandwidth *c,
                                const struct cong *cong, double max_rate,
                                cong_time srtt);

#endif /* LIBTLTCP_BANDWIDTH_H */
