/* SPDX-License-Identifier: MPL-2.0 */
/* Computes the target bitrate for an encoder. */
#include "libtltcp/engine/target.h"

#include <math.h>
#include <tltcp/types.h>

#define NS_PER_S 1e9
#define DRAIN 0.15        /* seconds in which backlog and queue should drain */
#define MARGIN_MAX 0.95   /* of the bandwidth */
#define MARGIN_MIN 0.6    /* likewise, at the highest variation */
#define VARIATION 0.7     /* reduction of the margin at a variation of 1 */
#define CEILING 1.5       /* times what was delivered */
#define FLOOR_SILENT 0.05 /* of the bandwidth: an encoder cannot stop */
#define FLOOR_ACKED 0.2   /* likewise while acknowledgements arrive */
#define RISE_SECONDS 0.15 /* time constant upwards */
#define VARIATION_SECONDS 3.0
#define PAYLOAD_SHARE 0.96  /* of a packet, without chunk headers */
#define PACKET 1200.0       /* bytes that a probe adds, at least ... */
#define PACKET_SECONDS 0.04 /* ... per round trip, or this time if longer */
#define PROBE_AFTER 0.2     /* seconds without a queue: there may be more ... */
#define PROBE_SECONDS 0.5   /* ... up to the ceiling after these */
#define FLIGHT_MIN 3000.0   /* bytes; less is no queue */
#define WINDOW ((cong_time)(100 * TLTCP_MS))      /* of the newest samples */
#define WINDOW_SAMPLES 3u                         /* minimum number in it */
#define QUEUE_WINDOW ((cong_time)(50 * TLTCP_MS)) /* likewise for the RTT */
#define SPAN ((cong_time)(100 * TLTCP_MS))        /* of the delivery rate */
#define PERIOD ((cong_time)(2 * TLTCP_S))         /* window of its maximum */
/* The queue that a stream tolerates, s, at this rate, bytes/s: the lower the
 * rate, the more, by this power. */
#define TOLERATED 0.016
#define TOLERATED_AT 250e3
#define TOLERATED_POWER 0.7
#define TOLERATED_LEAST_RATE 10e3 /* bytes/s */
#define TOLERATED_MOST 0.04       /* s */
#define TOLERATED_UNSTEADY 0.5    /* of it on a path whose rate varies most */
#define TOLERATED_FULL 0.6        /* of the queue at losses and marks, ... */
#define TOLERATED_SHORT 0.006     /* ... or this, s, if that is longer */
#define TOLERATED_BASE 0.0625     /* of the RTT without a queue, at least */
#define FULL_GAIN 0.25
/* Share of cross traffic: up to LEAST a queue is ours, from MOST on it is
 * not. Without losses and marks, others may be streams like ours, which
 * yield. */
#define CROSS_LEAST 0.1
#define CROSS_MOST 0.35
#define CROSS_CALM_LEAST 0.4
#define CROSS_CALM_MOST 0.6
#define CALM 10000000000 /* ns without losses and marks */
/* A delay that would need more packets in a queue than are in flight, and that
 * stays the same, is no queue: the path has become longer. */
#define FLAT_LEAST 0.008 /* s of delay */
#define FLAT_TIMES 1.5   /* what is in flight */
#define FLAT_SECONDS 0.6 /* it stays for so long ... */
#define FLAT_ROUNDS 3    /* ... and for so many round trips */
#define FLAT_BAND 0.004  /* s by which it may change, ... */
#define FLAT_PART 16     /* ... or this part of it */
#define COLLAPSED 0.5    /* of the highest recent rate */
#define DOUBT 2000000000 /* ns */
/* Streams like ours drain a queue again and again: it stands for about a
 * quarter of the time, and little is lost. Up to LEAST it is taken for theirs,
 * from MOST on for that of others; frequent losses also mean others. */
#define STANDING 0.9 /* of the tolerated queue */
#define STANDING_LEAST 0.4
#define STANDING_MOST 0.5
#define STANDING_SECONDS 1.0 /* of which about this part counts */
#define LOSSES 1             /* of spans, ... */
#define LOSSES_SECONDS 5     /* ... in about this time, are frequent */
/* Times what the controller offers: its window must be full to grow, and a
 * flow that does not fill it loses its share of the queue. */
#define CLAIM 1.1
#define SIGNALLED 2000000000 /* ns after a loss or a mark */
/* Seconds of queue: up to LEAST it is left to others, from MOST on it is
 * drained like our own. Between them, the longer it is, the more we yield:
 * frames would be late there, and it may be that of streams like ours. */
#define DEEP_LEAST 0.08
#define DEEP_MOST 0.4
/* Likewise of flows that do not yield: draining is of no use. */
#define BBR_LEAST 0.15
#define BBR_MOST 0.6

void tltcp__target_init(tltcp__target *t) {
    *t = (tltcp__target){.low = {-1, -1},
                         .span = -1,
                         .t_update = -1,
                         .t_doubt = -DOUBT,
                         .t_signal = -1,
                         .flat = -1,
                         .tolerated = TOLERATED_SHORT};
    tltcp__cross_traffic_init(&t->cross);
}

static double target_seconds(cong_time ns) {
    return (double)ns / NS_PER_S;
}

/* The n-th newest sample, from 0. */
static const tltcp__target_sample *target_sample(const tltcp__target *t,
                                                 unsigned n) {
    return &t->sample[(t->newest + TLTCP__TARGET_SAMPLES - n) %
                      TLTCP__TARGET_SAMPLES];
}

/* Samples no older than a window before the newest one. */
static unsigned target_within(const tltcp__target *t, cong_time window) {
    unsigned n = 0;
    while (n < t->count &&
           target_sample(t, 0)->at - target_sample(t, n)->at <= window) {
        n++;
    }
    return n;
}

static void target_remember(tltcp__target *t, cong_time rtt, cong_time now) {
    t->newest = (t->newest + 1) % TLTCP__TARGET_SAMPLES;
    t->count += t->count < TLTCP__TARGET_SAMPLES;
    t->sample[t->newest] = (tltcp__target_sample){now, rtt, t->delivered};
}

/* Recent lowest queueing delay: the burst of a frame is not a queue. */
static cong_time target_queue(const tltcp__target *t, cong_time min_rtt) {
    unsigned n = target_within(t, QUEUE_WINDOW);
    cong_time low = -1;
    for (unsigned i = 0; i < n; i++) {
        cong_time rtt = target_sample(t, i)->rtt;
        low = rtt > 0 && (low < 0 || rtt < low) ? rtt : low;
    }
    return low > 0 && min_rtt > 0 && low > min_rtt ? low - min_rtt : 0;
}

/* Delivery rate of the newest samples, bytes/s; 0: too few. */
static double target_delivered(const tltcp__target *t) {
    unsigned n = target_within(t, WINDOW);
    const tltcp__target_sample *from;
    cong_time took;
    if (n < WINDOW_SAMPLES) {
        return 0;
    }
    from = target_sample(t, n - 1);
    took = target_sample(t, 0)->at - from->at;
    return took > 0 ? (t->delivered - from->delivered) / target_seconds(took) *
                          PAYLOAD_SHARE
                    : 0;
}

/* Whether there is a standing queue. */
static bool target_is_standing(const tltcp__target *t,
                               const tltcp__target_input *in, cong_time queue) {
    return target_seconds(queue) > t->tolerated && in->flight > FLIGHT_MIN;
}

/* Whether it stood throughout the newest spans. */
static bool target_stood(const tltcp__target *t,
                         const tltcp__target_input *in) {
    cong_time low = t->low[0];
    if (t->low[1] >= 0 && (low < 0 || t->low[1] < low)) {
        low = t->low[1];
    }
    return low > 0 && in->min_rtt > 0 &&
           target_is_standing(t, in, low - in->min_rtt);
}

/* From 0 at `low` to 1 at `high`. */
static double target_ramp(double x, double low, double high) {
    return fmin(fmax((x - low) / (high - low), 0), 1);
}

/* The degree to which nobody drains the queue, from 0 to 1. */
static double target_undrained(const tltcp__target *t) {
    return t->losses > LOSSES
               ? 1
               : target_ramp(t->standing, STANDING_LEAST, STANDING_MOST);
}

/* To what degree the queue is left to others: 0 to 1. The deeper it is, the
 * more of it is drained. */
static double target_foreign(const tltcp__target *t,
                             const tltcp__target_input *in, cong_time delay) {
    double queue = target_seconds(delay);
    double share = tltcp__cross_traffic_share(&t->cross);
    if (in->bbr) {
        return 1 - target_ramp(queue, BBR_LEAST, BBR_MOST);
    }
    bool calm = t->t_signal < 0 || t->t_update - t->t_signal > CALM;
    double others = calm ? target_ramp(share, CROSS_CALM_LEAST, CROSS_CALM_MOST)
                         : target_ramp(share, CROSS_LEAST, CROSS_MOST);
    others *= target_undrained(t);
    return others * (1 - target_ramp(queue, DEEP_LEAST, DEEP_MOST));
}

/* Streams that share a queue see the same of it. Since the larger one tolerates
 * less, it yields to the smaller one, until both are equal. In a queue that
 * overflows before, less is tolerated. */
static double target_tolerated(const tltcp__target *t,
                               const tltcp__target_input *in) {
    double rate = fmax(t->spans, TOLERATED_LEAST_RATE);
    double most = t->full > 0 ? fmax(TOLERATED_FULL * t->full, TOLERATED_SHORT)
                              : TOLERATED_MOST;
    double steady = fmax(1 - t->variation, TOLERATED_UNSTEADY);
    double queue =
        steady * TOLERATED * pow(TOLERATED_AT / rate, TOLERATED_POWER);
    return fmax(fmin(queue, fmin(most, TOLERATED_MOST)),
                TOLERATED_BASE * target_seconds(in->min_rtt));
}

static void target_note_signal(tltcp__target *t, const tltcp__target_input *in,
                               cong_time now) {
    double queue = 0;
    for (unsigned i = 0; i < t->count; i++) {
        queue = fmax(queue, target_seconds(t->sample[i].rtt - in->min_rtt));
    }
    t->full += (t->full > 0 ? FULL_GAIN : 1) * (queue - t->full);
    t->signals = in->signals;
    t->t_signal = now;
}

static double target_margin(const tltcp__target *t) {
    return fmax(MARGIN_MIN, MARGIN_MAX - VARIATION * t->variation);
}

/* A queue that seemed to be ours stands although we all but stopped: others
 * may have joined. */
static bool target_collapsed(const tltcp__target *t, cong_time now) {
    return t->spans < COLLAPSED * fmax(t->proven[0], t->proven[1]) &&
           tltcp__cross_traffic_share(&t->cross) < CROSS_LEAST &&
           now - t->t_doubt > DOUBT;
}

/* Whether what seems to be a queue holds more than we can have put there. */
static bool target_is_unexplained(const tltcp__target *t,
                                  const tltcp__target_input *in) {
    double queue = target_seconds(t->low[0] - in->min_rtt);
    return t->low[0] > 0 && in->min_rtt > 0 && queue > FLAT_LEAST &&
           FLAT_TIMES * t->flight < queue * in->bandwidth;
}

static void target_note_flat(tltcp__target *t, const tltcp__target_input *in,
                             cong_time now) {
    double off = fabs(target_seconds(t->low[0] - t->flat));
    double queue = target_seconds(t->low[0] - in->min_rtt);
    if (!target_is_unexplained(t, in)) {
        t->flat = -1;
    } else if (t->flat < 0 || off > fmax(FLAT_BAND, queue / FLAT_PART) ||
               t->t_signal > t->t_flat) {
        t->flat = t->low[0];
        t->t_flat = now;
    }
}

bool tltcp__target_was_signalled(const tltcp__target *t, cong_time now) {
    return t->t_signal >= 0 && now - t->t_signal < SIGNALLED;
}

cong_time tltcp__target_longer_path(const tltcp__target *t,
                                    const tltcp__target_input *in,
                                    cong_time now) {
    cong_time span = (cong_time)(FLAT_SECONDS * NS_PER_S);
    bool is = t->flat > in->min_rtt && now - t->t_flat > span &&
              now - t->t_flat > FLAT_ROUNDS * in->srtt;
    return is ? t->flat : -1;
}

/* Notes whether the queue stood in this span, and losses. */
static void target_note_standing(tltcp__target *t,
                                 const tltcp__target_input *in, cong_time now) {
    double queue = target_seconds(t->low[0] - in->min_rtt);
    double gain = 1 - exp(-target_seconds(now - t->span) / STANDING_SECONDS);
    if (t->low[0] > 0) {
        t->standing += gain * ((queue > STANDING * t->tolerated) - t->standing);
    }
    t->losses *= exp(-target_seconds(now - t->span) / LOSSES_SECONDS);
    t->losses += t->t_signal > t->span;
}

/* A span ends: its rate may be the highest of the period. */
static void target_end_span(tltcp__target *t, const tltcp__target_input *in,
                            cong_time now) {
    bool stood = target_stood(t, in);
    double rate = (t->delivered - t->span_from) / target_seconds(now - t->span);
    double off = in->bandwidth > 0 ? fabs(rate / in->bandwidth - 1) : 0;
    double gain = fmin(target_seconds(now - t->span) / VARIATION_SECONDS, 1);
    rate *= PAYLOAD_SHARE;
    if (now - t->period > PERIOD && now - t->period > 8 * in->srtt) {
        t->proven[1] = t->proven[0];
        t->proven[0] = 0;
        t->period = now;
    }
    t->proven[0] = fmax(t->proven[0], rate);
    target_note_standing(t, in, now);
    if (stood) {
        t->t_queue = now;
    }
    if (stood && target_foreign(t, in, target_queue(t, in->min_rtt)) < 1) {
        t->variation += gain * (fmin(off, 1) - t->variation);
    } else {
        t->variation -= gain / 2 * t->variation;
    }
    t->spans += (rate - t->spans) * (rate > t->spans ? 0.5 : 0.25);
    if (stood && target_collapsed(t, now)) {
        t->t_doubt = now;
        tltcp__cross_traffic_doubt(&t->cross);
    }
    t->tolerated = target_tolerated(t, in);
    target_note_flat(t, in, now);
    t->flight = 0;
    t->span = now;
    t->span_from = t->delivered;
    t->low[1] = t->low[0];
    t->low[0] = -1;
}

/* Without a queue there may be more bandwidth: probes with a growing multiple
 * of the delivery rate. Jitter hides a queue: the probe then stays within the
 * window, which losses and marks bound. */
static double target_probe(const tltcp__target *t,
                           const tltcp__target_input *in) {
    double quiet = target_seconds(t->t_update - t->t_queue);
    double part = fmin(fmax((quiet - PROBE_AFTER) / PROBE_SECONDS, 0), 1);
    double packet = PACKET / fmax(target_seconds(in->srtt), PACKET_SECONDS);
    double more = fmax((CEILING - 1) * t->spans, packet);
    double rate = part <= 0 ? 0 : (t->spans + part * more) / target_margin(t);
    return t->jitter.delay > 0 ? fmin(rate, in->offered) : rate;
}

/* The current bandwidth: with our own standing queue, at most the delivery
 * rate; in a queue of others, the congestion controller's claim. */
static double target_bandwidth(const tltcp__target *t,
                               const tltcp__target_input *in, cong_time queue,
                               double foreign) {
    double delivered = target_delivered(t);
    if (target_is_standing(t, in, queue) && delivered > 0) {
        return (1 - foreign) * fmin(in->bandwidth, delivered) +
               foreign * fmax(in->bandwidth, CLAIM * in->offered);
    }
    return fmax(in->bandwidth, target_probe(t, in));
}

/* At most the proven rate, plus a packet per round trip. */
static double target_ceiling(const tltcp__target *t,
                             const tltcp__target_input *in) {
    double proven = fmax(t->proven[0], t->proven[1]);
    double packet = PACKET / fmax(target_seconds(in->srtt), PACKET_SECONDS);
    return proven > 0 ? fmax(CEILING * proven, proven + packet) : 0;
}

/* The target without smoothing. */
static double target_now(const tltcp__target *t,
                         const tltcp__target_input *in) {
    cong_time queue = target_queue(t, in->min_rtt);
    double foreign = target_foreign(t, in, queue);
    double bandwidth = target_bandwidth(t, in, queue, foreign);
    double more = fmax(target_seconds(queue) - t->tolerated / 2, 0);
    double own = (1 - foreign) * more * bandwidth;
    double excess;
    double rate;
    excess = in->backlog + fmin(own, in->flight) +
             target_seconds(in->silence) * bandwidth;
    rate = target_margin(t) * bandwidth - excess / DRAIN;
    rate = fmax(rate, (in->silence > 0 ? FLOOR_SILENT : FLOOR_ACKED) *
                          fmin(bandwidth, in->bandwidth));
    return fmin(rate, target_ceiling(t, in));
}

void tltcp__target_on_ack(tltcp__target *t, const tltcp__target_input *in,
                          double acked, cong_time rtt,
                          const tltcp__cross_sample *newest, cong_time now) {
    double passed = t->t_update < 0 ? 0 : target_seconds(now - t->t_update);
    double rate;
    t->delivered += acked;
    if (in->signals > t->signals) {
        target_note_signal(t, in, now);
    }
    if (t->span < 0) {
        t->span = now;
        t->span_from = t->delivered;
        t->period = now;
        t->t_queue = now;
    }
    if (rtt > 0) {
        target_remember(t, rtt, now);
        tltcp__cross_traffic_on_ack(&t->cross, newest, in->min_rtt);
        t->low[0] = t->low[0] < 0 || rtt < t->low[0] ? rtt : t->low[0];
    }
    t->flight = fmax(t->flight, in->flight + acked);
    if (now - t->span >= SPAN) {
        target_end_span(t, in, now);
    }
    rate = target_now(t, in);
    if (rate > t->rate) {
        rate = t->rate <= 0 ? rate
                            : t->rate + fmin(passed / RISE_SECONDS, 1) *
                                            (rate - t->rate);
    }
    t->rate = rate;
    t->t_update = now;
}

double tltcp__target_rate(const tltcp__target *t,
                          const tltcp__target_input *in) {
    return in->bandwidth > 0 ? fmin(t->rate, target_now(t, in)) : 0;
}
