/* SPDX-License-Identifier: MPL-2.0 */
/* Estimates the share of cross traffic at the bottleneck. */
#include "libtltcp/engine/cross_traffic.h"

#include <math.h>

#define CHANGES 96u     /* time constant of the means, in changes */
#define DELIVERED 12u   /* likewise, of the delivered rate */
#define FRESH 3u        /* changes that count after a doubt */
#define KNOWN 8         /* changes before there is an answer */
#define SPAN_RTTS 3.0   /* spans per round trip, ... */
#define SPAN_MIN 10e6   /* ... but no shorter ... */
#define SPAN_MAX 50e6   /* ... and no longer than this, ns */
#define SPAN_STALE 20   /* times a span: we have paused */
#define SPAN_BYTES 4800 /* fewer do not tell a rate */
#define QUEUE_MIN 5e6   /* ns; less is noise, or a queue that empties */
#define GONE 3000000000 /* ns without a queue: the others have left */
#define ERRORS 3        /* standard errors that are in doubt */

void tltcp__cross_traffic_init(tltcp__cross_traffic *c) {
    *c = (tltcp__cross_traffic){.first = {.sent = -1}, .t_queue = -1};
}

static double cross_traffic_gain(unsigned n, unsigned most) {
    return 1.0 / (n < most ? n : most);
}

static void cross_traffic_take(tltcp__cross_traffic *c, tltcp__cross_span span,
                               double delivered) {
    unsigned n = c->count + 1;
    double gain = cross_traffic_gain(n, CHANGES);
    double growth = span.growth - c->last.growth;
    double rate;
    c->count = n < 2 * CHANGES ? n : c->count; /* what the means are worth */
    c->delivered +=
        cross_traffic_gain(n, DELIVERED) * (delivered - c->delivered);
    rate = (span.rate - c->last.rate) / c->delivered;
    c->var_rate += gain * (rate * rate - c->var_rate);
    c->var_growth += gain * (growth * growth - c->var_growth);
    c->cov += gain * (rate * growth - c->cov);
}

/* Packets that took `took` to send arrived within `took + grown`. */
static void cross_traffic_end_span(tltcp__cross_traffic *c, double bytes,
                                   double took, double grown) {
    tltcp__cross_span span = {bytes / took, grown / took};
    if (took + grown <= 0) { /* packets were reordered */
        c->follows = false;
        return;
    }
    if (c->follows) {
        cross_traffic_take(c, span, bytes / (took + grown));
    }
    c->last = span;
    c->follows = true;
}

static void cross_traffic_begin_span(tltcp__cross_traffic *c,
                                     const tltcp__cross_sample *sample) {
    if (sample->sent - c->t_queue > GONE) {
        tltcp__cross_traffic_init(c);
        c->t_queue = sample->sent;
    }
    c->first = *sample;
}

void tltcp__cross_traffic_on_ack(tltcp__cross_traffic *c,
                                 const tltcp__cross_sample *sample,
                                 cong_time min_rtt) {
    double rtt = (double)sample->rtt;
    double before = (double)c->first.rtt;
    double took = (double)(sample->sent - c->first.sent);
    double bytes = sample->bytes - c->first.bytes;
    double length = fmin(fmax(rtt / SPAN_RTTS, SPAN_MIN), SPAN_MAX);
    bool fresh = c->first.sent >= 0 && took < SPAN_STALE * length;
    if (fresh && (took < length || bytes < SPAN_BYTES)) {
        return;
    }
    if (fresh && fmin(rtt, before) > (double)min_rtt + QUEUE_MIN) {
        c->t_queue = sample->sent;
        cross_traffic_end_span(c, bytes, took, rtt - before);
    } else {
        c->follows = false;
    }
    cross_traffic_begin_span(c, sample);
}

void tltcp__cross_traffic_doubt(tltcp__cross_traffic *c) {
    c->count = c->count < FRESH ? c->count : FRESH;
}

double tltcp__cross_traffic_share(const tltcp__cross_traffic *c) {
    double slope, rest, error;
    if (c->count < KNOWN || c->var_rate <= 0) {
        return 0;
    }
    slope = fmax(c->cov / c->var_rate, 0);
    rest = fmax(c->var_growth - slope * c->cov, 0);
    error = sqrt(rest / c->var_rate / c->count);
    return fmax(1 - (slope + ERRORS * error), 0);
}
