/* SPDX-License-Identifier: MPL-2.0 */
/* The window over a reliable transport: follows what that has in flight. */
#include "libtltcp/engine/carried.h"

#include <math.h>

#define FIRST 32 /* packets */
#define GAIN 2   /* times what was in flight */
/* The most in flight counts for one to two of these, ns. */
#define MEMORY ((cong_time)5000000000)

struct carried {
    struct cong cc;
    cong_time since; /* when `now` began */
    double now;      /* most in flight since then */
    double before;   /* and in the time before */
};

static void carried_apply(struct carried *c) {
    double most = fmax(c->now, c->before);
    c->cc.cwnd = fmin(fmax(GAIN * most, FIRST * c->cc.mss), c->cc.cwnd_max);
}

static void carried_init(struct cong *cc, cong_time now, cong_time rtt) {
    struct carried *c = (struct carried *)cc;
    (void)rtt;
    c->since = now;
    cc->ssthresh = (double)INFINITY;
    carried_apply(c);
}

static void carried_ack(struct cong *cc, const struct cong_ack *ack) {
    struct carried *c = (struct carried *)cc;
    if (ack->now - c->since > MEMORY) {
        c->before = c->now;
        c->now = 0;
        c->since = ack->now;
    }
    c->now = fmax(c->now, ack->flight);
    carried_apply(c);
}

static void carried_event(struct cong *cc, const struct cong_event *ev) {
    (void)cc; /* losses are the transport's to react to */
    (void)ev;
}

const struct cong_ops tltcp__carried = {
    .name = "tcp",
    .size = sizeof(struct carried),
    .init = carried_init,
    .ack = carried_ack,
    .event = carried_event,
};
