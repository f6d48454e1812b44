/* SPDX-License-Identifier: MPL-2.0 */
/* Measures the bandwidth by packets sent back to back. */
#include "libtltcp/engine/train.h"

#include <math.h>

#define NS_PER_S 1e9
#define LEAST 0.75 /* packets after those of its first ACK */
#define LOOSE 1.2  /* times slower than the path: no longer a train */
#define SLOWED 1.1 /* times its duration when sent: the path spread it */
/* Times faster than sent: it was delayed and compressed on the path. */
#define COMPRESSED 2

/* A new train begins after a pause of the application. */
static bool joins(tltcp__train *t, double rate, const struct cong_ack *ack,
                  cong_time came) {
    cong_time sent = came - ack->rtt;
    double gap = (double)(sent - t->sent_last) / NS_PER_S;
    if (sent < t->sent_last || gap * rate > LOOSE * ack->acked) {
        *t = (tltcp__train){sent, sent, came, 0};
        return false;
    }
    t->sent_last = sent;
    t->bytes += ack->acked;
    return true;
}

bool tltcp__train_on_ack(tltcp__train *t, double rate, double mss,
                         const struct cong_ack *ack, cong_time held,
                         tltcp__train_sample *out) {
    cong_time came = ack->now - held;
    double left;
    double passed;
    if (ack->rtt <= 0 || !joins(t, rate, ack, came) || t->bytes < LEAST * mss) {
        return false;
    }
    left = (double)(t->sent_last - t->sent_first) / NS_PER_S;
    passed = (double)(came - t->came_first) / NS_PER_S;
    if (left <= 0 || COMPRESSED * passed < left) {
        return false;
    }
    *out = (tltcp__train_sample){.rate = t->bytes / fmax(passed, left),
                                 .slowed = passed > SLOWED * left,
                                 .tight = t->bytes > rate * left};
    return true;
}
