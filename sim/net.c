/* SPDX-License-Identifier: MPL-2.0 */
/* Nodes joined by links, in virtual time. */
#include "sim/net.h"

#include <stdlib.h>

#define NO_ROUTE UINT32_MAX

struct node {
    sim_deliver_fn deliver;
    void *user;
    uint32_t *routes; /* by destination: link */
    uint32_t n_routes;
    uint32_t fallback; /* link for all others */
};

/* A link with its end node; must not move, because the loop refers to its
 * timer. */
struct joint {
    struct sim_net *net;
    struct sim_link *link;
    struct sim_timer timer;
    uint32_t to;
};

struct sim_net {
    struct sim_loop loop;
    struct sim_pool pool;
    struct node *nodes;
    uint32_t n_nodes;
    struct joint **joints;
    uint32_t n_joints;
    sim_tap_fn tap;
    void *tap_user;
    sim_arrival_fn arrival;
    void *arrival_user;
};

struct sim_net *sim_net_new(void) {
    return calloc(1, sizeof(struct sim_net));
}

void sim_net_free(struct sim_net *n) {
    if (n == NULL) {
        return;
    }
    sim_loop_free(&n->loop); /* it refers to the timers of the links */
    for (uint32_t i = 0; i < n->n_joints; i++) {
        sim_link_free(n->joints[i]->link);
        free(n->joints[i]);
    }
    for (uint32_t i = 0; i < n->n_nodes; i++) {
        free(n->nodes[i].routes);
    }
    sim_pool_free(&n->pool);
    free(n->joints);
    free(n->nodes);
    free(n);
}

struct sim_loop *sim_net_loop(struct sim_net *n) {
    return &n->loop;
}

uint32_t sim_net_add_node(struct sim_net *n, sim_deliver_fn deliver,
                          void *user) {
    struct node *wide =
        realloc(n->nodes, ((size_t)n->n_nodes + 1) * sizeof(*wide));
    if (wide == NULL) {
        return UINT32_MAX;
    }
    n->nodes = wide;
    wide[n->n_nodes] =
        (struct node){.deliver = deliver, .user = user, .fallback = NO_ROUTE};
    return n->n_nodes++;
}

void sim_net_set_node(struct sim_net *n, uint32_t node, sim_deliver_fn deliver,
                      void *user) {
    n->nodes[node].deliver = deliver;
    n->nodes[node].user = user;
}

bool sim_net_route(struct sim_net *n, uint32_t at, uint32_t dst,
                   uint32_t link) {
    struct node *node = &n->nodes[at];
    if (dst >= node->n_routes) {
        uint32_t *wide =
            realloc(node->routes, ((size_t)dst + 1) * sizeof(*wide));
        if (wide == NULL) {
            return false;
        }
        node->routes = wide;
        while (node->n_routes <= dst) {
            wide[node->n_routes++] = NO_ROUTE;
        }
    }
    node->routes[dst] = link;
    return true;
}

static void forward(struct sim_net *n, uint32_t at, struct sim_packet *p) {
    uint32_t dst = sim_address_node(p->dst);
    struct node *node = &n->nodes[at];
    struct joint *j;
    uint32_t link;
    if (dst == at && node->deliver != NULL) {
        if (n->arrival != NULL) {
            n->arrival(n->arrival_user, p, n->loop.now);
        }
        node->deliver(node->user, p, n->loop.now);
        return;
    }
    link = dst < node->n_routes ? node->routes[dst] : NO_ROUTE;
    link = link != NO_ROUTE ? link : node->fallback;
    if (dst == at || link == NO_ROUTE ||
        (n->tap != NULL && !n->tap(n->tap_user, link, p, n->loop.now))) {
        sim_packet_free(p);
        return;
    }
    j = n->joints[link];
    sim_link_send(j->link, p, n->loop.now);
    (void)sim_loop_arm(&n->loop, &j->timer, sim_link_next(j->link));
}

static void link_due(struct sim_timer *t, uint64_t now) {
    struct joint *j = t->user;
    struct sim_packet *p;
    while ((p = sim_link_recv(j->link, now)) != NULL) {
        forward(j->net, j->to, p);
    }
    (void)sim_loop_arm(&j->net->loop, &j->timer, sim_link_next(j->link));
}

static struct joint *new_joint(struct sim_net *n, uint32_t to,
                               const struct sim_link_config *c, uint64_t seed) {
    struct joint *j = calloc(1, sizeof(*j));
    if (j == NULL) {
        return NULL;
    }
    j->link = sim_link_new(c, seed);
    if (j->link == NULL) {
        free(j);
        return NULL;
    }
    j->net = n;
    j->to = to;
    j->timer.fire = link_due;
    j->timer.user = j;
    return j;
}

uint32_t sim_net_add_link(struct sim_net *n, uint32_t from, uint32_t to,
                          const struct sim_link_config *c, uint64_t seed) {
    struct joint **wide =
        realloc(n->joints, ((size_t)n->n_joints + 1) * sizeof(struct joint *));
    uint32_t number = n->n_joints;
    if (wide == NULL) {
        return UINT32_MAX;
    }
    n->joints = wide;
    wide[number] = new_joint(n, to, c, seed);
    if (wide[number] == NULL) {
        return UINT32_MAX;
    }
    n->n_joints++;
    if (!sim_net_route(n, from, to, number)) {
        return UINT32_MAX;
    }
    if (n->nodes[from].fallback == NO_ROUTE) {
        n->nodes[from].fallback = number;
    }
    return number;
}

uint32_t sim_net_links(const struct sim_net *n) {
    return n->n_joints;
}

const struct sim_link *sim_net_link(const struct sim_net *n, uint32_t link) {
    return n->joints[link]->link;
}

void sim_net_set_link(struct sim_net *n, uint32_t link,
                      const struct sim_link_config *c) {
    struct joint *j = n->joints[link];
    sim_link_set(j->link, c, n->loop.now);
    (void)sim_loop_arm(&n->loop, &j->timer, sim_link_next(j->link));
}

void sim_net_set_tap(struct sim_net *n, sim_tap_fn tap, void *user) {
    n->tap = tap;
    n->tap_user = user;
}

void sim_net_set_arrival(struct sim_net *n, sim_arrival_fn arrival,
                         void *user) {
    n->arrival = arrival;
    n->arrival_user = user;
}

struct sim_packet *sim_net_packet(struct sim_net *n, const void *data,
                                  size_t len) {
    return sim_pool_packet(&n->pool, data, len);
}

void sim_net_send(struct sim_net *n, uint32_t from, struct sim_packet *p) {
    p->born = n->loop.now;
    forward(n, from, p);
}
