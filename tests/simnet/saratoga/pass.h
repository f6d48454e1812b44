/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TESTS_SIMNET_SARATOGA_PASS_H
#define TESTS_SIMNET_SARATOGA_PASS_H

#include "tests/simnet/saratoga/host.h"
#include "tests/support/cmocka.h"

/* A satellite and a ground station with a link each way. */
struct world {
    struct sim_net *net;
    struct host *sat;
    struct host *ground;
    uint32_t down; /* links */
    uint32_t up;
};

struct plan {
    double down_bps;
    double up_bps; /* 0: no limit */
    uint64_t rtt;
    double loss;
    double up_loss;
    uint64_t seed;
};

static inline void link_config(struct sim_link_config *c, double bps,
                               uint64_t delay, double loss) {
    sim_link_config_init(c);
    c->overhead = 28;
    c->rate = bps;
    c->delay = delay;
    c->loss = loss;
    c->limit_bytes = bps > 0 ? (uint64_t)(bps / 80) + 6000 : 0; /* 100 ms */
}

static inline struct world world_new(const struct plan *p,
                                     const saratoga_config *sat,
                                     const saratoga_config *ground) {
    struct world w;
    struct sim_link_config down;
    struct sim_link_config up;
    w.net = sim_net_new();
    w.sat = host_new(w.net, sat, 2 * p->seed + 1);
    w.ground = host_new(w.net, ground, 2 * p->seed + 2);
    link_config(&down, p->down_bps, p->rtt / 2, p->loss);
    link_config(&up, p->up_bps, p->rtt / 2, p->up_loss);
    w.down = sim_net_add_link(w.net, w.sat->sim.node, w.ground->sim.node, &down,
                              2 * p->seed + 77);
    w.up = sim_net_add_link(w.net, w.ground->sim.node, w.sat->sim.node, &up,
                            2 * p->seed + 78);
    return w;
}

static inline void world_free(struct world *w) {
    host_free(w->sat);
    host_free(w->ground);
    sim_net_free(w->net);
}

static inline void world_run(struct world *w, uint64_t until) {
    sim_loop_run(sim_net_loop(w->net), until);
}

/* Until a transfer is done, at most so long. */
static inline void world_finish(struct world *w, const struct xfer *x,
                                uint64_t limit) {
    while (!x->done && sim_loop_step(sim_net_loop(w->net), limit)) {
    }
}

static inline saratoga_options at_rate(uint64_t bps) {
    saratoga_options o;
    saratoga_options_init(&o);
    o.rate_bps = bps;
    return o;
}

static inline void assert_arrived(const struct world *w, const struct xfer *x,
                                  const char *name) {
    assert_true(x->done);
    assert_int_equal(x->end.error, 0);
    assert_true(host_same(x->file, host_find_file(w->ground, name)));
    assert_false(w->sat->sim.stuck || w->ground->sim.stuck);
}

#endif /* TESTS_SIMNET_SARATOGA_PASS_H */
