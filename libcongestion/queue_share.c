/* SPDX-License-Identifier: MPL-2.0 */
/* Estimates how much of the queue on the path is the flow's own. */
#include "libcongestion/queue_share.h"

#include <math.h>

#define SPANS 24u      /* over which the means are taken */
#define KNOWN 8        /* spans before there is an estimate */
#define SPAN_RTTS 3.0  /* spans per round trip, ... */
#define SPAN_MIN 1e7   /* ... but no shorter ... */
#define SPAN_MAX 5e7   /* ... and no longer than this, ns */
#define SPAN_STALE 20  /* spans after which the application has paused */
#define SPAN_PACKETS 4 /* fewer do not give a rate */
#define SEVERAL 2      /* more spans than this must differ */
#define QUEUE_MIN 5e6  /* ns; less is noise, or a queue that empties */

static void queue_share_take(struct cong__queue_share *s, double sent,
                             double slope, double delivered) {
    unsigned n = s->spans + 1;
    double gain = 1.0 / (n < SPANS ? n : SPANS);
    double off_sent = sent - s->sent;
    double off_slope = slope - s->slope;
    double weighted;
    s->spans = n < 2 * SPANS ? n : s->spans;
    s->sent += gain * off_sent;
    s->slope += gain * off_slope;
    s->delivered += gain * (delivered - s->delivered);
    s->var_sent = (1 - gain) * (s->var_sent + gain * off_sent * off_sent);
    s->var_slope = (1 - gain) * (s->var_slope + gain * off_slope * off_slope);
    s->cov = (1 - gain) * (s->cov + gain * off_sent * off_slope);
    weighted = gain * off_sent * off_sent;
    s->fourth = (1 - gain) * (1 - gain) * (s->fourth + weighted * weighted);
}

/* took: time in which the span was sent; grown: change of the RTT meanwhile. */
static void queue_share_end_span(struct cong__queue_share *s, double took,
                                 double grown) {
    double arrived = took + grown;
    if (arrived > 0) { /* otherwise packets were reordered */
        queue_share_take(s, s->bytes / took, grown / took, s->bytes / arrived);
    }
}

void cong__queue_share_ack(struct cong__queue_share *s,
                           const struct cong_ack *ack, double mss,
                           double base) {
    double rtt = (double)ack->rtt;
    double before = (double)s->rtt;
    double took, span;
    s->bytes += cong__clean(ack->acked);
    if (ack->rtt <= 0 || !(base > 0)) {
        return;
    }
    took = (double)ack->now - rtt - (double)s->from;
    span = fmin(fmax(rtt / SPAN_RTTS, SPAN_MIN), SPAN_MAX);
    if (before > 0 && took < SPAN_STALE * span) {
        if (took < span || s->bytes < SPAN_PACKETS * mss) {
            return;
        }
        if (fmin(rtt, before) > base + QUEUE_MIN) {
            queue_share_end_span(s, took, rtt - before);
        }
    }
    s->from = cong__earlier(ack->now, ack->rtt);
    s->rtt = (float)rtt;
    s->bytes = 0;
}

static bool queue_share_is_known(const struct cong__queue_share *s) {
    return s->spans >= KNOWN && s->var_sent > 0;
}

double cong__queue_share(const struct cong__queue_share *s) {
    return queue_share_is_known(s)
               ? fmax(s->delivered * s->cov / s->var_sent, 0)
               : -1;
}

double cong__queue_share_error(const struct cong__queue_share *s) {
    double rest;
    if (!queue_share_is_known(s)) {
        return 1;
    }
    rest = fmax(s->var_slope - s->cov * s->cov / s->var_sent, 0);
    return s->delivered * sqrt(rest / s->var_sent / s->spans);
}

/* The sum of weights squared, over that of their squares, is the number of
 * equal weights. */
static bool queue_share_is_of_several(const struct cong__queue_share *s) {
    return s->var_sent * s->var_sent > SEVERAL * s->fourth;
}

/* One span cannot show that the share is small, but that it may be. */
bool cong__queue_share_is_below(const struct cong__queue_share *s, double part,
                                double errors) {
    double share = cong__queue_share(s);
    return share >= 0 && (errors < 0 || queue_share_is_of_several(s)) &&
           share + errors * cong__queue_share_error(s) < part;
}

double cong__queue_share_packet(const struct cong__queue_share *s, double mss) {
    return queue_share_is_known(s) ? mss * fmax(s->cov, 0) / s->var_sent : 0;
}
