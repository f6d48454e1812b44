/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/unit/congestion/rig.h"
#include "tests/support/cmocka.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

uint64_t rig_draw(uint64_t *seed) {
    uint64_t z = *seed += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

void rig_start(struct rig *r, const char *name, cong_time rtt) {
    rig_start_sized(r, name, 1, (double)INFINITY, rtt);
}

void rig_start_sized(struct rig *r, const char *name, double mss,
                     double cwnd_max, cong_time rtt) {
    const struct cong_ops *ops = cong_find(name);
    if (ops == NULL) {
        fail_msg("no controller named %s", name);
        return;
    }
    *r = (struct rig){.ack = {.rtt = -1,
                              .min_rtt = rtt,
                              .srtt = rtt,
                              .p = -1,
                              .x_recv = -1,
                              .limited = true}};
    r->cc = malloc(ops->size);
    assert_non_null(r->cc);
    cong_init(r->cc, ops, mss, cwnd_max, 0, rtt);
}

struct rig rig_copy(const struct rig *r) {
    struct rig copy = *r;
    copy.cc = malloc(r->cc->ops->size);
    assert_non_null(copy.cc);
    memcpy(copy.cc, r->cc, r->cc->ops->size);
    return copy;
}

void rig_stop(struct rig *r) {
    free(r->cc);
    r->cc = NULL;
}

void rig_set(struct rig *r, const char *param, double value) {
    int result = cong_set(r->cc, param, value);
    if (result != 0) {
        fail_msg("%s: %s = %g: %d", r->cc->ops->name, param, value, result);
    }
}

void rig_ack(struct rig *r, double n) {
    r->ack.now = r->now;
    r->ack.acked = n;
    r->cc->ops->ack(r->cc, &r->ack);
}

void rig_ack_rtt(struct rig *r, double n, cong_time rtt) {
    r->ack.rtt = rtt;
    r->ack.srtt = rtt;
    if (r->ack.min_rtt < 0 || rtt < r->ack.min_rtt) {
        r->ack.min_rtt = rtt;
    }
    rig_ack(r, n);
    r->ack.rtt = -1;
}

void rig_round(struct rig *r, double n, double rate) {
    r->rs = (struct cong_rate_sample){.rate = rate};
    r->ack.rs = rate >= 0 ? &r->rs : NULL;
    r->ack.round = true;
    rig_ack(r, n);
    r->ack.round = false;
    r->ack.rs = NULL;
}

void rig_event(struct rig *r, enum cong_cause cause, double flight,
               double missing, unsigned count) {
    struct cong_event ev = {.now = r->now,
                            .cause = cause,
                            .flight = flight,
                            .missing = missing,
                            .count = count};
    r->cc->ops->event(r->cc, &ev);
}

void rig_lose_at(struct rig *r, double cwnd) {
    r->cc->cwnd = cwnd;
    rig_event(r, CONG_LOSS, cwnd, 1, 1);
}

void rig_grow_alike(struct rig *a, struct rig *b) {
    for (int i = 0; i < 20; i++) {
        a->now = b->now += MS(100);
        rig_ack(a, a->cc->cwnd);
        rig_ack(b, b->cc->cwnd);
    }
    if (fabs(a->cc->cwnd - b->cc->cwnd) > 1e-12 * b->cc->cwnd) {
        fail_msg("windows of %.17g and %.17g", a->cc->cwnd, b->cc->cwnd);
    }
}
