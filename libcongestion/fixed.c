/* SPDX-License-Identifier: MPL-2.0 */
/*
 * A fixed rate, whatever happens on the path.
 *
 * For private, unshared links of known capacity. It does not respond to loss,
 * ECN marks or timeouts: on a shared network it starves other flows and can
 * cause congestion collapse.
 *
 * State: none beyond the outputs. Parameters: rate (bytes/s; default 125000,
 * that is 1 Mbit/s), cwnd (bytes; limit of the bytes in flight, none by
 * default).
 */
#include "libcongestion/internal.h"

#include <math.h>

struct fixed {
    struct cong cc;
    double window;
};

static const struct cong__param params[] = {
    CONG__PARAM(fixed, cc.pacing_rate, "rate", 1, CONG_HUGE),
    CONG__PARAM(fixed, window, "cwnd", 1, (double)INFINITY),
};

static void fixed_apply(struct fixed *f) {
    f->cc.cwnd = fmin(fmax(f->window, f->cc.mss), f->cc.cwnd_max);
}

static void fixed_init(struct cong *cc, cong_time now, cong_time rtt) {
    struct fixed *f = (struct fixed *)cc;
    (void)now;
    (void)rtt;
    f->window = (double)INFINITY;
    cc->ssthresh = (double)INFINITY;
    cc->pacing_rate = 125000;
    fixed_apply(f);
}

static void fixed_ack(struct cong *cc, const struct cong_ack *ack) {
    (void)cc;
    (void)ack;
}

static void fixed_event(struct cong *cc, const struct cong_event *ev) {
    (void)cc;
    (void)ev;
}

static int fixed_set(struct cong *cc, const char *param, double value) {
    int result = cong__set_param(cc, params, CONG__COUNT(params), param, value);
    fixed_apply((struct fixed *)cc);
    return result;
}

const struct cong_ops cong__fixed = {
    .name = "fixed",
    .size = sizeof(struct fixed),
    .init = fixed_init,
    .ack = fixed_ack,
    .event = fixed_event,
    .set = fixed_set,
};
