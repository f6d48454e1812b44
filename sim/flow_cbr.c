/* SPDX-License-Identifier: MPL-2.0 */
/* Flows of constant bit rate. */
#include <stdio.h>
#include <stdlib.h>

#include "sim/flow.h"

struct cbr {
    struct flow *flow;
    struct sim_timer timer;
    uint64_t began;
    uint64_t sent;
    bool running;
};

static void discard(void *user, struct sim_packet *p, uint64_t now) {
    (void)user;
    (void)now;
    sim_packet_free(p);
}

/* Computed from the start, so that rounding errors do not accumulate. */
static uint64_t next_at(const struct cbr *c) {
    const struct scenario_flow *f = c->flow->spec;
    return c->began +
           (uint64_t)((double)c->sent * (double)f->packet * 8e9 / f->rate);
}

static void flow_cbr_on_timer(struct sim_timer *t, uint64_t now) {
    struct cbr *c = t->user;
    struct flow *f = c->flow;
    struct sim_packet *p =
        sim_net_packet(f->net, NULL, f->spec->packet - SIM_IP_UDP);
    (void)now;
    if (p != NULL) {
        p->src = sim_address(f->from, 0);
        p->dst = sim_address(f->to, 0);
        p->wire = (uint32_t)f->spec->packet;
        sim_net_send(f->net, f->from, p);
    }
    c->sent++;
    (void)sim_loop_arm(sim_net_loop(f->net), t,
                       c->running ? next_at(c) : SIM_NEVER);
}

static bool open_cbr(struct flow *f, char *why) {
    struct cbr *c = calloc(1, sizeof(*c));
    f->self = c;
    f->from = sim_net_add_node(f->net, discard, NULL);
    f->to = sim_net_add_node(f->net, discard, NULL);
    if (c == NULL || f->to == UINT32_MAX) {
        (void)snprintf(why, SCENARIO_WHY_MAX, "out of memory");
        return false;
    }
    c->flow = f;
    c->timer = (struct sim_timer){.fire = flow_cbr_on_timer, .user = c};
    return true;
}

static void start_cbr(struct flow *f) {
    struct cbr *c = f->self;
    c->began = sim_net_loop(f->net)->now;
    c->running = true;
    (void)sim_loop_arm(sim_net_loop(f->net), &c->timer, c->began);
}

static void stop_cbr(struct flow *f) {
    struct cbr *c = f->self;
    c->running = false;
    sim_loop_stop(sim_net_loop(f->net), &c->timer);
}

static void counts_cbr(const struct flow *f, struct flow_counts *out) {
    const struct cbr *c = f->self;
    out->payload = (double)(f->spec->packet - SIM_IP_UDP);
    out->bytes = f->there.packets * out->payload;
    out->sent = (double)c->sent;
}

static void close_cbr(struct flow *f) {
    struct cbr *c = f->self;
    if (c != NULL) {
        sim_loop_stop(sim_net_loop(f->net), &c->timer);
        free(c);
    }
}

const struct flow_ops flow_cbr = {open_cbr, start_cbr, stop_cbr, counts_cbr,
                                  close_cbr};
