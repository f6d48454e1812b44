/* SPDX-License-Identifier: MPL-2.0 */
/* Bulk flows of chosen controllers over one bottleneck, in virtual time. */
#include "sim/bulk.h"

#include <stdlib.h>
#include <string.h>

#include "sim/net.h"
#include "sim/reader.h"
#include "sim/source.h"

#define ACCESS_BPS 10e9
#define PACKET 1228 /* bytes of most packets, including headers */
#define SECOND UINT64_C(1000000000)
#define SAMPLE_EVERY (SECOND / 20)
#define IDLE_MS 600000
#define BUFFER ((size_t)64 << 20) /* never limits a receiver */
#define SEND_PIPES 16             /* this many pipes never limit a sender */
#define SEND_LEAST 1e6

struct flow {
    struct sim_host *from, *to;
    struct sim_peer *peer;
    struct sim_source source;
    struct sim_reader reader;
    struct sim_timer start;
    struct run *run;
    int index;
    int error;
    uint64_t warm_bytes;
    double queueing; /* sum over samples, seconds */
};

struct run {
    const struct sim_bulk_config *c;
    struct sim_net *net;
    struct flow *flow;
    struct sim_timer sample, handover;
    struct sim_link_config ahead, back; /* current configs of the bottleneck */
    uint32_t left, right;               /* its ends */
    uint32_t link_ahead, link_back;
    uint64_t samples;
    bool far; /* the longer of two paths is in use */
};

void sim_bulk_config_init(struct sim_bulk_config *c) {
    *c = (struct sim_bulk_config){.rate = 10e6,
                                  .rtt = SECOND / 10,
                                  .queue = 1,
                                  .seconds = 60 * SECOND,
                                  .warmup = 20 * SECOND,
                                  .stagger = SECOND / 10,
                                  .seed = 1};
}

/* --- The applications --- */

/* No larger than needed, because it is filled. */
static size_t bulk_send_buffer(const struct sim_bulk_config *c) {
    double pipe = c->rate / 8 * (double)(c->rtt + c->handover_rtt) / 1e9;
    double bytes = SEND_PIPES * (1 + c->queue) * pipe;
    bytes = bytes < SEND_LEAST ? SEND_LEAST : bytes;
    return bytes < (double)BUFFER ? (size_t)bytes : BUFFER;
}

static void bulk_on_start(struct sim_timer *t, uint64_t now) {
    struct flow *f = t->user;
    const struct sim_bulk_config *c = f->run->c;
    const struct sim_bulk_flow *wanted = &c->flow[f->index];
    struct sim_app app = {.on_ready = sim_source_on_ready, .user = &f->source};
    tltcp_config cfg;
    (void)now;
    tltcp_config_init(&cfg);
    if (c->sender != NULL) {
        cfg = *c->sender;
    }
    cfg.congestion = wanted->congestion;
    cfg.controller.params = wanted->params;
    cfg.controller.values = wanted->values;
    cfg.send_buffer = bulk_send_buffer(c);
    cfg.idle_timeout_ms = IDLE_MS;
    if (strcmp(cfg.congestion, "fixed") == 0) {
        cfg.max_rate = (uint64_t)c->rate;
    }
    f->error = sim_host_connect(f->from, &f->peer, &cfg,
                                c->seed * SIM_BULK_FLOWS + (uint64_t)f->index,
                                sim_address(sim_host_node(f->to), 0), &app);
    if (f->error == 0) {
        sim_source_start(&f->source, f->peer);
    }
}

/* --- The network --- */

static uint32_t bulk_join(struct run *r, uint32_t from, uint32_t to,
                          const struct sim_link_config *c, uint64_t seed) {
    return sim_net_add_link(r->net, from, to, c, seed);
}

static void bulk_route(struct run *r, struct flow *f) {
    struct sim_link_config access;
    uint32_t a = sim_host_node(f->from);
    uint32_t b = sim_host_node(f->to);
    sim_link_config_init(&access);
    access.rate = ACCESS_BPS;
    sim_net_route(r->net, a, b, bulk_join(r, a, r->left, &access, 1));
    sim_net_route(r->net, r->left, b, r->link_ahead);
    sim_net_route(r->net, r->right, b, bulk_join(r, r->right, b, &access, 2));
    sim_net_route(r->net, b, a, bulk_join(r, b, r->right, &access, 3));
    sim_net_route(r->net, r->right, a, r->link_back);
    sim_net_route(r->net, r->left, a, bulk_join(r, r->left, a, &access, 4));
}

/* Random within its slot, so that seeds differ even without loss. */
static uint64_t start_of(const struct sim_bulk_config *c, int i) {
    struct sim_random luck;
    sim_random_init(&luck, c->seed * SIM_BULK_FLOWS + (uint64_t)i);
    return (uint64_t)i * c->stagger + sim_random_below(&luck, c->stagger + 1);
}

static int add_flow(struct run *r, int i) {
    const struct sim_source_config source = {
        .size_min = 50000, .size_max = 50000, .budget = TLTCP_TIME_NEVER};
    const struct sim_reader_config reader = {.buffer = SIM_READER_BUF};
    struct flow *f = &r->flow[i];
    tltcp_config cfg;
    f->run = r;
    f->index = i;
    f->from = sim_host_new(r->net, SECOND);
    f->to = sim_host_new(r->net, 2 * SECOND);
    if (f->from == NULL || f->to == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    bulk_route(r, f);
    sim_source_init(&f->source, &source);
    sim_reader_init(&f->reader, &reader);
    f->start.fire = bulk_on_start;
    f->start.user = f;
    sim_loop_arm(sim_net_loop(r->net), &f->start, start_of(r->c, i));
    tltcp_config_init(&cfg);
    cfg.recv_buffer = BUFFER;
    cfg.idle_timeout_ms = IDLE_MS;
    return sim_host_listen(f->to, &cfg, r->c->seed + 1000 + (uint64_t)i,
                           sim_reader_accept, &f->reader);
}

static void on_handover(struct sim_timer *t, uint64_t now) {
    struct run *r = t->user;
    const struct sim_bulk_config *c = r->c;
    r->far = !r->far;
    r->ahead.delay = (c->rtt + (r->far ? c->handover_rtt : 0)) / 2;
    r->back.delay = r->ahead.delay;
    r->ahead.blackout_start = now;
    r->ahead.blackout_length = c->handover_gap;
    sim_net_set_link(r->net, r->link_ahead, &r->ahead);
    sim_net_set_link(r->net, r->link_back, &r->back);
    sim_loop_arm(sim_net_loop(r->net), t, now + c->handover_every);
}

static void bulk_on_sample(struct sim_timer *t, uint64_t now) {
    struct run *r = t->user;
    for (int i = 0; i < r->c->flows; i++) {
        struct flow *f = &r->flow[i];
        tltcp_stats s;
        tltcp_stats_init(&s);
        if (f->peer != NULL &&
            tltcp_conn_get_stats(f->peer->conn, &s, sim_host_now(f->from)) ==
                0) {
            f->queueing += (double)(s.srtt_ns - s.min_rtt_ns) / 1e9;
        }
    }
    r->samples++;
    sim_loop_arm(sim_net_loop(r->net), t, now + SAMPLE_EVERY);
}

static void bulk_arm(struct run *r, struct sim_timer *t, sim_timer_fn fire,
                     uint64_t at) {
    t->fire = fire;
    t->user = r;
    sim_loop_arm(sim_net_loop(r->net), t, at);
}

static void use_red(struct sim_link_config *link) {
    link->red_on = true;
    link->red.bytes = true;
    link->red.gentle = true;
    link->red.mean_pktsize = PACKET;
    link->red.thresh = (double)link->limit_bytes / PACKET / 4;
    link->red.maxthresh = 3 * link->red.thresh;
}

static int bulk_build(struct run *r) {
    const struct sim_bulk_config *c = r->c;
    int rv = 0;
    r->left = sim_net_add_node(r->net, NULL, NULL);
    r->right = sim_net_add_node(r->net, NULL, NULL);
    sim_link_config_init(&r->ahead);
    r->ahead.rate = c->rate;
    r->ahead.delay = c->rtt / 2;
    r->ahead.overhead = SIM_IP_UDP;
    r->back = r->ahead;
    r->ahead.loss = c->loss;
    r->ahead.limit_bytes =
        (uint64_t)(c->queue * c->rate / 8 * (double)c->rtt / 1e9);
    if (c->red) {
        use_red(&r->ahead);
    }
    r->link_back = bulk_join(r, r->right, r->left, &r->back, c->seed + 1);
    r->link_ahead = bulk_join(r, r->left, r->right, &r->ahead, c->seed + 2);
    for (int i = 0; rv == 0 && i < c->flows; i++) {
        rv = add_flow(r, i);
    }
    bulk_arm(r, &r->sample, bulk_on_sample, c->warmup);
    if (c->handover_every != 0) {
        bulk_arm(r, &r->handover, on_handover, c->handover_every);
    }
    return rv;
}

/* --- The results --- */

static void evaluate(const struct run *r, struct sim_bulk_results *out) {
    const struct sim_bulk_config *c = r->c;
    double span = (double)(c->seconds - c->warmup) / 1e9;
    double sum = 0;
    double squares = 0;
    for (int i = 0; i < c->flows; i++) {
        const struct flow *f = &r->flow[i];
        struct sim_bulk_result *x = &out->flow[i];
        x->goodput = (double)(f->reader.bytes - f->warm_bytes) * 8 / span;
        x->queueing = f->queueing / (double)(r->samples > 0 ? r->samples : 1);
        tltcp_stats_init(&x->stats);
        (void)tltcp_conn_get_stats(f->peer->conn, &x->stats,
                                   sim_host_now(f->from));
        sum += x->goodput;
        squares += x->goodput * x->goodput;
    }
    out->utilisation = sum / c->rate;
    out->jain = squares > 0 ? sum * sum / (c->flows * squares) : 0;
    out->dropped =
        sim_link_stats(sim_net_link(r->net, r->link_ahead))->dropped_queue;
}

static int play(struct run *r, struct sim_bulk_results *out) {
    const struct sim_bulk_config *c = r->c;
    int rv = bulk_build(r);
    if (rv != 0) {
        return rv;
    }
    sim_loop_run(sim_net_loop(r->net), c->warmup);
    for (int i = 0; i < c->flows; i++) {
        r->flow[i].warm_bytes = r->flow[i].reader.bytes;
    }
    sim_loop_run(sim_net_loop(r->net), c->seconds);
    for (int i = 0; rv == 0 && i < c->flows; i++) {
        rv = r->flow[i].error;
    }
    if (rv == 0) {
        evaluate(r, out);
    }
    return rv;
}

int sim_bulk_run(const struct sim_bulk_config *c,
                 struct sim_bulk_results *out) {
    struct run r = {.c = c, .net = sim_net_new()};
    int rv = TLTCP_ERR_NOMEM;
    r.flow = calloc((size_t)c->flows + 1, sizeof(*r.flow));
    *out = (struct sim_bulk_results){0};
    if (r.net != NULL && r.flow != NULL) {
        rv = play(&r, out);
    }
    for (int i = 0; r.flow != NULL && i < c->flows; i++) {
        sim_source_free(&r.flow[i].source);
        sim_reader_stop(&r.flow[i].reader);
        sim_host_free(r.flow[i].from);
        sim_host_free(r.flow[i].to);
    }
    free(r.flow);
    sim_net_free(r.net);
    return rv;
}
