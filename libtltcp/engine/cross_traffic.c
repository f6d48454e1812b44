/* SPDX-License-Identifier: MPL-2.0 */
/* Estimates the share of cross traffic at the bottleneck. */
#include "libtltcp/engine/cross_traffic.h"

#include <math.h>

#define NS_PER_S 1e9
#define SPAN ((cong_time)10000000)       /* ns: shorter spans drown in noise */
#define SPAN_MOST ((cong_time)400000000) /* ns: longer spans are outdated */
#define QUEUE_MIN ((cong_time)5000000)   /* ns; less is noise */
#define MEMORY 4.0                       /* seconds */
#define PAUSE 0.95    /* of the mean rate: slower spans drain our queue */
#define PRIOR 0.005   /* prior: seconds of drain counted as our own */
#define EMPTY 0.02    /* of the time without a queue counts as drain */
#define FILLED (-0.5) /* of the drain; below it there was an outage */

void tltcp__cross_traffic_init(tltcp__cross_traffic *c) {
    *c = (tltcp__cross_traffic){.first = {.sent = -1}, .last = {.sent = -1}};
}

static void cross_traffic_fade(tltcp__cross_traffic *c, double seconds) {
    double keep = exp(-seconds / MEMORY);
    c->seconds *= keep;
    c->total *= keep;
    c->expected *= keep;
    c->observed *= keep;
}

/* Our own queue drains until it is empty. */
static void cross_traffic_judge(tltcp__cross_traffic *c, double queue,
                                double seconds, double bytes, double fell) {
    double most = fmin(queue, seconds);
    double mean = c->seconds > 0 ? c->total / c->seconds : 0;
    double drain = mean > 0 ? most - bytes / mean : 0;
    if (bytes < PAUSE * mean * seconds && drain > 0) {
        c->expected += drain;
        c->observed += fmax(fmin(fell, drain), FILLED * drain);
    }
}

static void cross_traffic_end_span(tltcp__cross_traffic *c,
                                   const tltcp__cross_sample *end,
                                   cong_time min_rtt) {
    const tltcp__cross_sample *begin = &c->first;
    cong_time queue = begin->rtt - min_rtt;
    double seconds = (double)(end->sent - begin->sent) / NS_PER_S;
    double bytes = end->bytes - begin->bytes;
    cross_traffic_fade(c, seconds);
    if (seconds < SPAN_MOST && queue > QUEUE_MIN) {
        cross_traffic_judge(c, (double)queue / NS_PER_S, seconds, bytes,
                            (double)(begin->rtt - end->rtt) / NS_PER_S);
        c->seconds += seconds;
        c->total += bytes;
    } else if (seconds < SPAN_MOST) { /* no queue */
        c->expected += EMPTY * seconds;
        c->observed += EMPTY * seconds;
    }
    c->first = *end;
}

/* A pause forms a separate span. */
void tltcp__cross_traffic_on_ack(tltcp__cross_traffic *c,
                                 const tltcp__cross_sample *sample,
                                 cong_time min_rtt) {
    if (sample->sent - c->last.sent >= SPAN && c->last.sent > c->first.sent) {
        cross_traffic_end_span(c, &c->last, min_rtt);
    }
    if (c->first.sent < 0) {
        c->first = *sample;
    } else if (sample->sent - c->first.sent >= SPAN) {
        cross_traffic_end_span(c, sample, min_rtt);
    }
    c->last = *sample;
}

double tltcp__cross_traffic_share(const tltcp__cross_traffic *c) {
    double share = (c->expected - c->observed) / (c->expected + PRIOR);
    return fmin(fmax(share, 0), 1);
}
