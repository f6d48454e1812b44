/* SPDX-License-Identifier: MPL-2.0 */
#include "libcongestion/link_rate.h"

#include <math.h>

#define SPANS 64u      /* over which the means are taken */
#define KNOWN 16       /* spans before there is an answer */
#define SPAN_RTTS 3.0  /* spans per round trip, ... */
#define SPAN_MIN 1e7   /* ... but no shorter ... */
#define SPAN_MAX 5e7   /* ... and no longer than this, ns */
#define SPAN_STALE 20  /* times a span: the application paused */
#define SPAN_PACKETS 4 /* fewer do not tell a rate */
#define QUEUE_MIN 5e6  /* ns; less is noise, or a queue that empties */
#define ALIKE 1e-3     /* of the variances: S and A cannot be told apart */

static void link_rate_take(struct cong__link_rate *l, double sent, double came,
                           double growth) {
    unsigned n = l->spans + 1;
    double gain = 1.0 / (n < SPANS ? n : SPANS);
    double off_sent = sent - l->mean_sent;
    double off_came = came - l->mean_came;
    double off_growth = growth - l->mean_growth;
    double keep = 1 - gain;
    l->spans = n < 2 * SPANS ? n : l->spans;
    l->mean_sent += gain * off_sent;
    l->mean_came += gain * off_came;
    l->mean_growth += gain * off_growth;
    l->var_sent = keep * (l->var_sent + gain * off_sent * off_sent);
    l->var_came = keep * (l->var_came + gain * off_came * off_came);
    l->cov = keep * (l->cov + gain * off_sent * off_came);
    l->growth_sent = keep * (l->growth_sent + gain * off_sent * off_growth);
    l->growth_came = keep * (l->growth_came + gain * off_came * off_growth);
}

/* Packets that a full queue dropped do not make it grow. */
static void link_rate_end_span(struct cong__link_rate *l,
                               const struct cong_ack *ack, double took,
                               double sent, double came) {
    double rtt = (double)ack->rtt;
    if (fmin(rtt, l->rtt) > (double)ack->min_rtt + QUEUE_MIN &&
        ack->rs->lost <= 0) {
        link_rate_take(l, (sent - l->sent) / took, (came - l->came) / took,
                       (rtt - l->rtt) / took);
    }
}

void cong__link_rate_ack(struct cong__link_rate *l, const struct cong_ack *ack,
                         double mss) {
    double rtt = (double)ack->rtt;
    double took = (double)ack->now - rtt - (double)l->from;
    double span = fmin(fmax(rtt / SPAN_RTTS, SPAN_MIN), SPAN_MAX);
    double sent, came;
    l->delivered += cong__clean(ack->acked);
    if (ack->rtt <= 0 || ack->min_rtt <= 0 || ack->rs == NULL) {
        return;
    }
    came = l->delivered - cong__clean(ack->rs->delivered);
    sent = came + cong__clean(ack->rs->tx_in_flight);
    if (l->rtt > 0 && took < SPAN_STALE * span) {
        if (took < span || sent - l->sent < SPAN_PACKETS * mss) {
            return;
        }
        link_rate_end_span(l, ack, took, sent, came);
    }
    l->from = cong__earlier(ack->now, ack->rtt);
    l->rtt = rtt;
    l->sent = sent;
    l->came = came;
}

double cong__link_rate_share(const struct cong__link_rate *l) {
    double both = l->var_sent * l->var_came;
    double det = both - l->cov * l->cov;
    double weight = l->var_came * l->growth_sent - l->cov * l->growth_came;
    return l->spans >= KNOWN && det > ALIKE * both
               ? fmax(l->mean_came * weight / det, 0)
               : 0;
}
