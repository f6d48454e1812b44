/* SPDX-License-Identifier: MPL-2.0 */
/* Bulk flows of chosen controllers over one emulated bottleneck, in virtual
 * time: bench_congestion --rate MBIT --rtt MS --queue BDPS --loss P
 * --seconds S --seed N NAME [NAME ...].  Prints one JSON object. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <congestion/congestion.h>

#include "sim/net.h"
#include "sim/reader.h"
#include "sim/source.h"

#define FLOWS_MAX 16
#define ACCESS_BPS 10e9
#define IP_UDP 28 /* bytes of headers that the link counts */
#define S UINT64_C(1000000000)

struct options {
    double rate, rtt, queue, loss, seconds, warmup, stagger;
    uint64_t seed;
    const char *recovery;
    const char *flow[FLOWS_MAX];
    int flows;
};

struct flow {
    struct sim_host *from, *to;
    struct sim_peer *peer;
    struct sim_source source;
    struct sim_reader reader;
    struct sim_timer start;
    const struct options *o;
    int index;
    uint64_t warm_bytes;
};

struct world {
    struct sim_net *net;
    struct flow flow[FLOWS_MAX];
    uint32_t bottleneck;
};

static void on_reader_ready(void *user, struct sim_peer *p) {
    struct flow *f = user;
    if (f->reader.peer == NULL) {
        sim_reader_start(&f->reader, p);
    }
    sim_reader_ready(&f->reader);
}

static enum sim_answer on_caller(void *user, struct sim_peer *p) {
    p->app = (struct sim_app){.on_ready = on_reader_ready, .user = user};
    return SIM_ACCEPT;
}

static void on_source_ready(void *user, struct sim_peer *p) {
    struct flow *f = user;
    (void)p;
    sim_source_ready(&f->source);
}

static void on_start(struct sim_timer *t, uint64_t now) {
    struct flow *f = t->user;
    struct sim_app app = {.on_ready = on_source_ready, .user = f};
    tltcp_config cfg;
    (void)now;
    tltcp_config_init(&cfg);
    cfg.congestion = f->o->flow[f->index];
    cfg.recovery = f->o->recovery;
    cfg.send_buffer = (size_t)64 << 20;
    if (strcmp(cfg.congestion, "fixed") == 0) {
        cfg.max_rate = (uint64_t)(f->o->rate * 1e6);
    }
    if (sim_host_connect(f->from, &f->peer, &cfg,
                         f->o->seed * FLOWS_MAX + (uint64_t)f->index,
                         sim_address(sim_host_node(f->to), 0), &app) != 0) {
        fprintf(stderr, "cannot connect with %s\n", cfg.congestion);
        exit(1);
    }
    sim_source_start(&f->source, f->peer);
}

static uint32_t link_to(struct world *w, uint32_t from, uint32_t to,
                        const struct sim_link_config *c, uint64_t seed) {
    return sim_net_add_link(w->net, from, to, c, seed);
}

static void add_flow(struct world *w, const struct options *o, int i,
                     uint32_t left, uint32_t right, uint32_t there,
                     uint32_t back) {
    const struct sim_source_config source = {
        .size_min = 50000, .size_max = 50000, .budget = TLTCP_TIME_NEVER};
    const struct sim_reader_config reader = {.buffer = SIM_READER_BUF};
    struct flow *f = &w->flow[i];
    struct sim_link_config access;
    tltcp_config cfg;
    uint32_t a;
    uint32_t b;
    f->o = o;
    f->index = i;
    f->from = sim_host_new(w->net, S);
    f->to = sim_host_new(w->net, 2 * S);
    a = sim_host_node(f->from);
    b = sim_host_node(f->to);
    sim_link_config_init(&access);
    access.rate = ACCESS_BPS;
    sim_net_route(w->net, a, b, link_to(w, a, left, &access, 1));
    sim_net_route(w->net, left, b, there);
    sim_net_route(w->net, right, b, link_to(w, right, b, &access, 2));
    sim_net_route(w->net, b, a, link_to(w, b, right, &access, 3));
    sim_net_route(w->net, right, a, back);
    sim_net_route(w->net, left, a, link_to(w, left, a, &access, 4));
    sim_source_init(&f->source, &source);
    sim_reader_init(&f->reader, &reader);
    tltcp_config_init(&cfg);
    cfg.recv_buffer = (size_t)64 << 20;
    if (sim_host_listen(f->to, &cfg, o->seed + 1000 + (uint64_t)i, on_caller,
                        f) != 0) {
        exit(1);
    }
    f->start.fire = on_start;
    f->start.user = f;
    sim_loop_arm(sim_net_loop(w->net), &f->start,
                 (uint64_t)((double)i * o->stagger * 1e9));
}

static void build(struct world *w, const struct options *o) {
    struct sim_link_config c;
    uint32_t left;
    uint32_t right;
    uint32_t back;
    w->net = sim_net_new();
    left = sim_net_add_node(w->net, NULL, NULL);
    right = sim_net_add_node(w->net, NULL, NULL);
    sim_link_config_init(&c);
    c.rate = o->rate * 1e6;
    c.delay = (uint64_t)(o->rtt / 2 * 1e6);
    c.overhead = IP_UDP;
    back = link_to(w, right, left, &c, o->seed + 1);
    c.loss = o->loss;
    c.limit_bytes = (uint64_t)(o->queue * o->rate * 1e6 / 8 * o->rtt / 1e3);
    w->bottleneck = link_to(w, left, right, &c, o->seed + 2);
    for (int i = 0; i < o->flows; i++) {
        add_flow(w, o, i, left, right, w->bottleneck, back);
    }
}

static void report(struct world *w, const struct options *o) {
    double sum = 0;
    double squares = 0;
    double span = o->seconds - o->warmup;
    const struct sim_link_stats *st =
        sim_link_stats(sim_net_link(w->net, w->bottleneck));
    printf("{\"flows\":[");
    for (int i = 0; i < o->flows; i++) {
        struct flow *f = &w->flow[i];
        double mbit = (double)(f->reader.bytes - f->warm_bytes) * 8e-6 / span;
        tltcp_stats s;
        tltcp_stats_init(&s);
        (void)tltcp_conn_get_stats(f->peer->conn, &s, sim_host_now(f->from));
        sum += mbit;
        squares += mbit * mbit;
        printf("%s{\"congestion\":\"%s\",\"goodput_mbps\":%.4f,"
               "\"srtt_ms\":%.2f,\"lost\":%" PRIu64 ",\"spurious\":%" PRIu64
               ",\"sent\":%" PRIu64 ",\"cuts\":%" PRIu64 ",\"cwnd\":%" PRIu64
               "}",
               i > 0 ? "," : "", o->flow[i], mbit, (double)s.srtt_ns * 1e-6,
               s.packets_lost, s.packets_spurious, s.packets_sent,
               s.congestion_events, s.cwnd_bytes);
    }
    printf("],\"utilisation\":%.4f,\"jain\":%.4f,\"dropped\":%" PRIu64
           ",\"queue_peak_bytes\":%" PRIu64 "}\n",
           sum / o->rate, squares > 0 ? sum * sum / (o->flows * squares) : 0,
           st->dropped_queue, st->queue_peak_bytes);
}

static int usage(void) {
    fprintf(stderr, "usage: bench_congestion [--rate MBIT] [--rtt MS] "
                    "[--queue BDPS] [--loss P] [--seconds S] [--warmup S]\n"
                    "       [--stagger S] [--seed N] [--recovery NAME] "
                    "CONTROLLER ...\n");
    return 2;
}

static bool parse(struct options *o, int argc, char **argv) {
    static const struct option names[] = {
        {"rate", required_argument, NULL, 'r'},
        {"rtt", required_argument, NULL, 't'},
        {"queue", required_argument, NULL, 'q'},
        {"loss", required_argument, NULL, 'l'},
        {"seconds", required_argument, NULL, 's'},
        {"warmup", required_argument, NULL, 'w'},
        {"stagger", required_argument, NULL, 'g'},
        {"seed", required_argument, NULL, 'n'},
        {"recovery", required_argument, NULL, 'c'},
        {NULL, 0, NULL, 0},
    };
    double *number[256] = {
        ['r'] = &o->rate,   ['t'] = &o->rtt,     ['q'] = &o->queue,
        ['l'] = &o->loss,   ['s'] = &o->seconds, ['w'] = &o->warmup,
        ['g'] = &o->stagger};
    int c;
    while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
        if (c == 'n') {
            o->seed = strtoull(optarg, NULL, 10);
        } else if (c == 'c') {
            o->recovery = optarg;
        } else if (c > 0 && c < 256 && number[c] != NULL) {
            *number[c] = strtod(optarg, NULL);
        } else {
            return false;
        }
    }
    for (; optind < argc && o->flows < FLOWS_MAX; optind++) {
        if (cong_find(argv[optind]) == NULL) {
            fprintf(stderr, "no controller %s\n", argv[optind]);
            return false;
        }
        o->flow[o->flows++] = argv[optind];
    }
    return o->flows > 0 && o->warmup < o->seconds;
}

int main(int argc, char **argv) {
    struct options o = {.rate = 10,
                        .rtt = 100,
                        .queue = 1,
                        .seconds = 60,
                        .warmup = 20,
                        .stagger = 0.1,
                        .seed = 1};
    static struct world w;
    if (!parse(&o, argc, argv)) {
        return usage();
    }
    build(&w, &o);
    sim_loop_run(sim_net_loop(w.net), (uint64_t)(o.warmup * 1e9));
    for (int i = 0; i < o.flows; i++) {
        w.flow[i].warm_bytes = w.flow[i].reader.bytes;
    }
    sim_loop_run(sim_net_loop(w.net), (uint64_t)(o.seconds * 1e9));
    report(&w, &o);
    for (int i = 0; i < o.flows; i++) {
        sim_source_free(&w.flow[i].source);
        sim_reader_stop(&w.flow[i].reader);
        sim_host_free(w.flow[i].from);
        sim_host_free(w.flow[i].to);
    }
    sim_net_free(w.net);
    return 0;
}
