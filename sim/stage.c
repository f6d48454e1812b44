/* SPDX-License-Identifier: MPL-2.0 */
/* A scenario as a running network. */
#include "sim/stage.h"

#include <congestion/congestion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALL 200 /* a smaller datagram carries hardly any data */

static const struct flow_ops *const kinds[] = {
    [SCENARIO_TLTCP] = &flow_tltcp,
    [SCENARIO_CBR] = &flow_cbr,
    [SCENARIO_SARATOGA] = &flow_saratoga,
};

static bool no_memory(char *why) {
    (void)snprintf(why, SCENARIO_WHY_MAX, "out of memory");
    return false;
}

/* ---- sizes and ways of packets ---- */

static struct flow *flow_at(const struct stage *t, struct flow *const *table,
                            uint64_t address) {
    uint32_t node = sim_address_node(address);
    return node < t->n_hosts ? table[node] : NULL;
}

/* Size that a datagram counts as. The engine's datagrams have a minimum size:
 * smaller packets of a paper stand for parts of them. */
static uint64_t size_of(const struct flow *f, uint64_t len) {
    uint64_t packet = f->spec->packet;
    if (len < SMALL) {
        return f->spec->ack;
    }
    return packet < f->full_packet ? len * packet / f->full_packet
                                   : len + packet - f->full_packet;
}

/* Packets count with the sizes of the paper, not of the engine. */
static bool on_link(void *user, uint32_t link, struct sim_packet *p,
                    uint64_t now) {
    const struct stage *t = user;
    const struct flow *f;
    (void)link;
    (void)now;
    if (p->wire != 0) {
        return true;
    }
    f = flow_at(t, t->sender_of, p->src);
    f = f != NULL ? f : flow_at(t, t->receiver_of, p->src);
    if (f != NULL && f->spec->packet != 0 &&
        f->spec->kind != SCENARIO_SARATOGA) {
        p->wire = (uint32_t)size_of(f, p->len);
    }
    return true;
}

static void on_arrival(void *user, const struct sim_packet *p, uint64_t now) {
    const struct stage *t = user;
    struct flow *f = flow_at(t, t->receiver_of, p->dst);
    struct flow_arrivals *a = f != NULL ? &f->there : NULL;
    if (a == NULL) {
        f = flow_at(t, t->sender_of, p->dst);
        a = f != NULL ? &f->back : NULL;
    }
    if (a != NULL) {
        a->packets++;
        a->full += p->len >= SMALL;
        a->bytes += p->wire != 0 ? p->wire : p->len + SIM_IP_UDP;
        a->delay += (double)(now - p->born) * 1e-9;
    }
}

/* ---- the network ---- */

static uint32_t stage_join(struct stage *t, uint32_t a, uint32_t b, double rate,
                           uint64_t delay) {
    struct sim_link_config c;
    sim_link_config_init(&c);
    c.overhead = SIM_IP_UDP;
    c.rate = rate;
    c.delay = delay;
    return sim_net_add_link(t->net, a, b, &c, 0);
}

/* The first link on the shortest path from each node to dst; UINT32_MAX: no
 * path. Ties go to the lower link number. */
static void ways_to(const struct scenario *s, uint32_t dst, uint32_t *way,
                    uint32_t *queue) {
    uint32_t head = 0;
    uint32_t tail = 0;
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        way[i] = UINT32_MAX;
    }
    queue[tail++] = dst;
    while (head < tail) {
        uint32_t at = queue[head++];
        for (uint32_t i = 0; i < s->n_links; i++) {
            const struct scenario_link *l = &s->links[i];
            if (l->to == at && l->from != dst && way[l->from] == UINT32_MAX) {
                way[l->from] = i;
                queue[tail++] = l->from;
            }
        }
    }
}

/* Sets the routes of every router to a host. */
static bool stage_route(struct stage *t, uint32_t host, uint32_t behind,
                        uint32_t last, const uint32_t *way) {
    const struct scenario *s = t->scenario;
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        uint32_t link = i == behind            ? last
                        : way[i] == UINT32_MAX ? UINT32_MAX
                                               : t->links[way[i]];
        if (link != UINT32_MAX &&
            !sim_net_route(t->net, t->nodes[i], host, link)) {
            return false;
        }
    }
    return true;
}

static bool attach(struct stage *t, uint32_t host, uint32_t node, double rate,
                   uint64_t delay) {
    const struct scenario *s = t->scenario;
    uint32_t *way = calloc(2 * (size_t)s->n_nodes, sizeof(*way));
    uint32_t up;
    uint32_t down;
    bool ok = way != NULL;
    if (ok) {
        up = stage_join(t, host, t->nodes[node], rate, delay);
        down = stage_join(t, t->nodes[node], host, rate, delay);
        ways_to(s, node, way, way + s->n_nodes);
        ok = up != UINT32_MAX && down != UINT32_MAX &&
             stage_route(t, host, node, down, way);
    }
    free(way);
    return ok;
}

static bool build_routers(struct stage *t) {
    const struct scenario *s = t->scenario;
    t->net = sim_net_new();
    t->nodes = calloc((size_t)s->n_nodes + 1, sizeof(*t->nodes));
    t->links = calloc((size_t)s->n_links + 1, sizeof(*t->links));
    if (t->net == NULL || t->nodes == NULL || t->links == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        t->nodes[i] = sim_net_add_node(t->net, NULL, NULL);
    }
    for (uint32_t i = 0; i < s->n_links; i++) {
        const struct scenario_link *l = &s->links[i];
        t->links[i] =
            sim_net_add_link(t->net, t->nodes[l->from], t->nodes[l->to],
                             &l->config, s->seed * 1000 + i);
        if (t->links[i] == UINT32_MAX) {
            return false;
        }
    }
    return true;
}

/* ---- the flows ---- */

static void stage_on_start(struct sim_timer *timer, uint64_t now) {
    struct flow *f = timer->user;
    (void)now;
    f->ops->start(f);
}

static void on_stop(struct sim_timer *timer, uint64_t now) {
    struct flow *f = timer->user;
    (void)now;
    f->ops->stop(f);
}

/* An engine would refuse them only when the flow begins. The engine itself
 * reports a wrong controller name. */
static bool params_fit(const struct scenario_flow *f, char *why) {
    const struct cong_ops *ops = cong_find(f->congestion);
    struct cong *cc = ops != NULL ? malloc(ops->size) : NULL;
    int rv = 0;
    uint32_t i = 0;
    if (cc != NULL) {
        cong_init(cc, ops, f->packet != 0 ? (double)f->packet : 1500,
                  (double)INFINITY, 0, -1);
    }
    while (cc != NULL && rv == 0 && i < f->n_params) {
        rv = cong_set(cc, f->params[i], f->values[i]);
        i += rv == 0;
    }
    if (rv != 0) {
        (void)snprintf(why, SCENARIO_WHY_MAX,
                       "flow %s: cc.%s=%g: %s has no such parameter, or it is "
                       "outside its range (docs/design/controllers.md)",
                       f->name, f->params[i], f->values[i], f->congestion);
    }
    free(cc);
    return rv == 0;
}

static bool open_flow(struct stage *t, struct flow *f, struct sim_random *luck,
                      char *why) {
    const struct scenario_flow *spec = f->spec;
    uint64_t spread = sim_random_below(luck, spec->exit_spread + 1);
    f->net = t->net;
    f->ops = kinds[spec->kind];
    f->exit_delay = spec->exit_delay + spread;
    f->start_at = spec->start + sim_random_below(luck, spec->stagger + 1);
    f->seed = sim_random_u64(luck) >> 1;
    f->start = (struct sim_timer){.fire = stage_on_start, .user = f};
    f->stop = (struct sim_timer){.fire = on_stop, .user = f};
    if (!params_fit(spec, why) || !f->ops->open(f, why)) {
        return false;
    }
    if (!attach(t, f->from, spec->from, spec->access_rate,
                spec->access_delay) ||
        !attach(t, f->to, spec->to, spec->exit_rate, f->exit_delay) ||
        !sim_loop_arm(sim_net_loop(t->net), &f->start, f->start_at) ||
        !sim_loop_arm(sim_net_loop(t->net), &f->stop, spec->stop)) {
        return no_memory(why);
    }
    return true;
}

static bool open_flows(struct stage *t, char *why) {
    const struct scenario *s = t->scenario;
    struct sim_random luck;
    uint64_t count = 0;
    for (uint32_t i = 0; i < s->n_flows; i++) {
        count += s->flows[i].count;
    }
    t->flows = calloc(count + 1, sizeof(*t->flows));
    t->n_hosts = s->n_nodes + 2 * (uint32_t)count;
    t->sender_of = calloc((size_t)t->n_hosts, sizeof(struct flow *));
    t->receiver_of = calloc((size_t)t->n_hosts, sizeof(struct flow *));
    if (t->flows == NULL || t->sender_of == NULL || t->receiver_of == NULL) {
        return no_memory(why);
    }
    sim_random_init(&luck, s->seed);
    for (uint32_t i = 0; i < s->n_flows; i++) {
        for (uint64_t j = 0; j < s->flows[i].count; j++) {
            struct flow *f = &t->flows[t->n_flows++];
            f->spec = &s->flows[i];
            f->index = j;
            if (!open_flow(t, f, &luck, why)) {
                return false;
            }
            t->sender_of[f->from] = f;
            t->receiver_of[f->to] = f;
        }
    }
    return true;
}

/* ---- links that change ---- */

static void on_change(struct sim_timer *timer, uint64_t now) {
    struct stage *t = timer->user;
    const struct scenario_change *c = &t->scenario->changes[timer - t->changes];
    (void)now;
    sim_net_set_link(t->net, t->links[c->link], &c->config);
}

static bool arm_changes(struct stage *t) {
    const struct scenario *s = t->scenario;
    t->changes = calloc((size_t)s->n_changes + 1, sizeof(*t->changes));
    if (t->changes == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < s->n_changes; i++) {
        t->changes[i] = (struct sim_timer){.fire = on_change, .user = t};
        if (!sim_loop_arm(sim_net_loop(t->net), &t->changes[i],
                          s->changes[i].at)) {
            return false;
        }
    }
    return true;
}

bool stage_build(struct stage *t, const struct scenario *s, char *why) {
    *t = (struct stage){.scenario = s};
    if (!build_routers(t) || !arm_changes(t)) {
        return no_memory(why);
    }
    sim_net_set_tap(t->net, on_link, t);
    sim_net_set_arrival(t->net, on_arrival, t);
    return open_flows(t, why);
}

void stage_run(struct stage *t, uint64_t until) {
    sim_loop_run(sim_net_loop(t->net), until);
}

const struct sim_link *stage_link(const struct stage *t, uint32_t link) {
    return sim_net_link(t->net, t->links[link]);
}

void stage_free(struct stage *t) {
    for (uint32_t i = 0; i < t->n_flows; i++) {
        t->flows[i].ops->close(&t->flows[i]);
    }
    sim_net_free(t->net);
    free(t->flows);
    free(t->sender_of);
    free(t->receiver_of);
    free(t->nodes);
    free(t->links);
    free(t->changes);
}
