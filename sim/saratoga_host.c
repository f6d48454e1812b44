/* SPDX-License-Identifier: MPL-2.0 */
/* A Saratoga node on a host of the virtual network. */
#include "sim/saratoga_host.h"

#include <stdlib.h>

#define BATCH 65535
#define SPINS_MAX 2000

uint64_t sim_saratoga_now(const struct sim_saratoga *s) {
    return sim_net_loop(s->net)->now;
}

saratoga_pktinfo sim_saratoga_address(const struct sim_saratoga *s) {
    return (saratoga_pktinfo){.host = s->node + 1u,
                              .path = sim_address(s->node, SARATOGA_PORT)};
}

void sim_saratoga_transmit(struct sim_saratoga *s, uint64_t src, uint64_t dst,
                           const uint8_t *dgram, size_t len) {
    struct sim_packet *p = sim_net_packet(s->net, dgram, len);
    s->sent_packets++;
    s->sent_bytes += len;
    if (p != NULL) {
        p->src = src;
        p->dst = dst;
        sim_net_send(s->net, s->node, p);
    }
}

static void leave(struct sim_saratoga *s, const saratoga_pktinfo *to,
                  const uint8_t *dgram, size_t len) {
    if (s->app.on_send != NULL) {
        s->app.on_send(s->app.user, to, dgram, len);
    }
    if (s->wrap.out != NULL) {
        s->wrap.out(s->wrap.user, to, dgram, len);
    } else {
        sim_saratoga_transmit(s, sim_address(s->node, SARATOGA_PORT), to->path,
                              dgram, len);
    }
}

static bool saratoga_host_flush(struct sim_saratoga *s) {
    saratoga_pktinfo to;
    size_t segment = 0;
    size_t len;
    bool any = false;
    while ((len = saratoga_engine_send(s->engine, &to, s->batch, BATCH,
                                       &segment, sim_saratoga_now(s))) > 0) {
        for (size_t at = 0; at < len; at += segment) {
            leave(s, &to, s->batch + at,
                  len - at < segment ? len - at : segment);
        }
        any = true;
    }
    return any;
}

void sim_saratoga_pump(struct sim_saratoga *s) {
    saratoga_event ev;
    saratoga_time at;
    bool again;
    if (s->dead) {
        return;
    }
    do {
        again = false;
        while (saratoga_engine_next_event(s->engine, &ev) > 0) {
            s->app.on_event(s->app.user, &ev);
            again = true;
        }
        again |= s->app.take_work(s->app.user);
        again |= saratoga_host_flush(s);
    } while (again && !s->terse);
    at = saratoga_engine_timeout(s->engine);
    at = at < SARATOGA_TIME_NEVER - s->late ? at + s->late : SIM_NEVER;
    (void)sim_loop_arm(sim_net_loop(s->net), &s->timer,
                       s->stuck ? SIM_NEVER : at);
}

static void saratoga_host_on_timer(struct sim_timer *t, uint64_t now) {
    struct sim_saratoga *s = t->user;
    s->spins = now == s->spin_at ? s->spins + 1 : 0;
    s->spin_at = now;
    s->stuck |= s->spins > SPINS_MAX;
    saratoga_engine_on_timeout(s->engine, now);
    sim_saratoga_pump(s);
}

void sim_saratoga_take(struct sim_saratoga *s, const saratoga_pktinfo *from,
                       const uint8_t *dgram, size_t len) {
    saratoga_engine_recv(s->engine, from, dgram, len, sim_saratoga_now(s));
    sim_saratoga_pump(s);
}

static void saratoga_host_deliver(void *user, struct sim_packet *p,
                                  uint64_t now) {
    struct sim_saratoga *s = user;
    saratoga_pktinfo from = {.host = sim_address_node(p->src) + 1u,
                             .path = p->src};
    (void)now;
    if (s->engine != NULL && !s->dead && s->wrap.in != NULL) {
        s->wrap.in(s->wrap.user, p);
    } else if (s->engine != NULL && !s->dead) {
        from.flags = p->dst != sim_address(s->node, SARATOGA_PORT)
                         ? SARATOGA_PKT_MULTICAST
                         : 0;
        from.flags |= s->six ? (uint32_t)SARATOGA_PKT_IPV6 : 0;
        sim_saratoga_take(s, &from, p->data, p->len);
    }
    sim_packet_free(p);
}

bool sim_saratoga_open(struct sim_saratoga *s, struct sim_net *net,
                       const saratoga_config *cfg, uint64_t seed,
                       const struct sim_saratoga_app *app) {
    uint8_t bytes[SARATOGA_SEED_LEN] = {0};
    for (size_t i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(seed >> (8 * i));
    }
    bytes[SARATOGA_SEED_LEN - 1] = bytes[7]; /* tells secrets apart */
    *s = (struct sim_saratoga){.net = net, .app = *app, .spin_at = SIM_NEVER};
    s->timer.fire = saratoga_host_on_timer;
    s->timer.user = s;
    s->node = sim_net_add_node(net, saratoga_host_deliver, s);
    s->batch = malloc(BATCH);
    return s->node != UINT32_MAX && s->batch != NULL &&
           saratoga_engine_new(&s->engine, cfg, bytes, sim_saratoga_now(s)) ==
               0;
}

void sim_saratoga_close(struct sim_saratoga *s) {
    if (s->net != NULL) {
        sim_loop_stop(sim_net_loop(s->net), &s->timer);
        sim_net_set_node(s->net, s->node, NULL, NULL);
    }
    saratoga_engine_free(s->engine);
    free(s->batch);
    s->engine = NULL;
    s->batch = NULL;
}
