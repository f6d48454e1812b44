/* SPDX-License-Identifier: MPL-2.0 */
/* Bulk flows of given controllers over one emulated bottleneck, in virtual
 * time.  Prints one JSON object; equal arguments give equal bytes. */
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <congestion/congestion.h>

#include "sim/bulk.h"

#define PARAMS_MAX 8
#define NS 1e9

/* A flow of the command line: reno, or auto:tolerance=0.1,depth=1. */
struct named {
    char *text;
    const char *param[PARAMS_MAX + 1];
    double value[PARAMS_MAX];
};

struct options {
    double rate, rtt, queue, loss, seconds, warmup, stagger;
    double handover, handover_rtt, handover_gap;
    uint64_t seed;
    bool red;
    const char *recovery;
    struct named flow[SIM_BULK_FLOWS];
    int flows;
};

static int congestion_usage(void) {
    fprintf(stderr,
            "usage: bench_congestion [OPTION...] CONTROLLER[:PARAM=X,...] ...\n"
            "  --rate MBIT        of the bottleneck (10)\n"
            "  --rtt MS           without queues (100)\n"
            "  --queue BDPS       of the bottleneck (1)\n"
            "  --loss P           of each packet, 0 to 1 (0)\n"
            "  --red              drops early\n"
            "  --handover S       one each so often: the RTT changes by\n"
            "  --handover-rtt MS  so much and back, and for\n"
            "  --handover-gap MS  so long nothing passes\n"
            "  --seconds S        length of the run (60)\n"
            "  --warmup S         of which so much does not count (20)\n"
            "  --stagger S        between the starts of two flows (0.1)\n"
            "  --recovery NAME    of TLTCP (packet)\n"
            "  --seed N           (1)\n"
            "  --list             the names of the controllers, and no run\n");
    return 2;
}

static void list_controllers(FILE *to) {
    for (const char *const *name = cong_list(); *name != NULL; name++) {
        fprintf(to, " %s", *name);
    }
    fprintf(to, "\n");
}

static bool parse_params(struct named *n, char *text) {
    int count = 0;
    char *rest;
    for (char *p = strtok_r(text, ",", &rest); p != NULL;
         p = strtok_r(NULL, ",", &rest)) {
        char *is = strchr(p, '=');
        char *end;
        if (is == NULL || count == PARAMS_MAX) {
            return false;
        }
        *is = '\0';
        n->param[count] = p;
        n->value[count++] = strtod(is + 1, &end);
        if (end == is + 1 || *end != '\0') {
            return false;
        }
    }
    return count > 0;
}

static bool parse_flow(struct options *o, const char *text) {
    struct named *n = &o->flow[o->flows];
    char *params;
    if (o->flows == SIM_BULK_FLOWS) {
        fprintf(stderr, "more than %d flows\n", SIM_BULK_FLOWS);
        return false;
    }
    n->text = strdup(text);
    o->flows++;
    if (n->text == NULL) {
        return false;
    }
    params = strchr(n->text, ':');
    if (params != NULL) {
        *params++ = '\0';
        if (!parse_params(n, params)) {
            fprintf(stderr,
                    "%s: after the colon there must be up to %d of "
                    "PARAM=NUMBER with commas between\n",
                    text, PARAMS_MAX);
            return false;
        }
    }
    if (cong_find(n->text) == NULL) {
        fprintf(stderr, "no controller %s; valid names are:", n->text);
        list_controllers(stderr);
        return false;
    }
    return true;
}

static bool is_possible(const struct options *o) {
    return o->flows > 0 && o->warmup >= 0 && o->warmup < o->seconds &&
           o->rate > 0 && o->rtt > 0 && o->queue > 0 && o->loss >= 0 &&
           o->loss <= 1 && o->stagger >= 0 && o->handover >= 0 &&
           o->handover_rtt >= 0 && o->handover_gap >= 0;
}

static bool parse(struct options *o, int argc, char **argv) {
    static const struct option names[] = {
        {"rate", required_argument, NULL, 'r'},
        {"rtt", required_argument, NULL, 't'},
        {"queue", required_argument, NULL, 'q'},
        {"loss", required_argument, NULL, 'l'},
        {"handover", required_argument, NULL, 'h'},
        {"handover-rtt", required_argument, NULL, 'd'},
        {"handover-gap", required_argument, NULL, 'p'},
        {"seconds", required_argument, NULL, 's'},
        {"warmup", required_argument, NULL, 'w'},
        {"stagger", required_argument, NULL, 'g'},
        {"seed", required_argument, NULL, 'n'},
        {"recovery", required_argument, NULL, 'c'},
        {"red", no_argument, NULL, 'R'},
        {"list", no_argument, NULL, 'L'},
        {NULL, 0, NULL, 0},
    };
    double *number[256] = {
        ['r'] = &o->rate,        ['t'] = &o->rtt,      ['q'] = &o->queue,
        ['l'] = &o->loss,        ['s'] = &o->seconds,  ['w'] = &o->warmup,
        ['g'] = &o->stagger,     ['h'] = &o->handover, ['d'] = &o->handover_rtt,
        ['p'] = &o->handover_gap};
    int c;
    while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
        if (c == 'n') {
            o->seed = strtoull(optarg, NULL, 10);
        } else if (c == 'c') {
            o->recovery = optarg;
        } else if (c == 'R') {
            o->red = true;
        } else if (c == 'L') {
            list_controllers(stdout);
            exit(0);
        } else if (c > 0 && c < 256 && number[c] != NULL) {
            *number[c] = strtod(optarg, NULL);
        } else {
            return false;
        }
    }
    for (; optind < argc; optind++) {
        if (!parse_flow(o, argv[optind])) {
            return false;
        }
    }
    return is_possible(o);
}

static void congestion_configure(struct sim_bulk_config *c,
                                 tltcp_config *sender,
                                 const struct options *o) {
    tltcp_config_init(sender);
    sender->recovery = o->recovery;
    sim_bulk_config_init(c);
    c->sender = sender;
    c->rate = o->rate * 1e6;
    c->rtt = (uint64_t)(o->rtt * 1e6);
    c->queue = o->queue;
    c->loss = o->loss;
    c->red = o->red;
    c->handover_every = (uint64_t)(o->handover * NS);
    c->handover_rtt = (uint64_t)(o->handover_rtt * 1e6);
    c->handover_gap = (uint64_t)(o->handover_gap * 1e6);
    c->seconds = (uint64_t)(o->seconds * NS);
    c->warmup = (uint64_t)(o->warmup * NS);
    c->stagger = (uint64_t)(o->stagger * NS);
    c->seed = o->seed;
    c->flows = o->flows;
    for (int i = 0; i < o->flows; i++) {
        const struct named *n = &o->flow[i];
        c->flow[i].congestion = n->text;
        c->flow[i].params = n->param[0] != NULL ? n->param : NULL;
        c->flow[i].values = n->value;
    }
}

static void report(const struct options *o, const struct sim_bulk_results *r) {
    printf("{\"flows\":[");
    for (int i = 0; i < o->flows; i++) {
        const struct sim_bulk_result *f = &r->flow[i];
        const tltcp_stats *s = &f->stats;
        printf("%s{\"congestion\":\"%s\",\"goodput_mbps\":%.4f,"
               "\"queueing_ms\":%.2f,\"lost\":%" PRIu64 ",\"spurious\":%" PRIu64
               ",\"sent\":%" PRIu64 ",\"cuts\":%" PRIu64 ",\"cwnd\":%" PRIu64
               "}",
               i > 0 ? "," : "", o->flow[i].text, f->goodput / 1e6,
               f->queueing * 1e3, s->packets_lost, s->packets_spurious,
               s->packets_sent, s->congestion_events, s->cwnd_bytes);
    }
    printf("],\"utilisation\":%.4f,\"jain\":%.4f,\"dropped\":%" PRIu64 "}\n",
           r->utilisation, r->jain, r->dropped);
}

int main(int argc, char **argv) {
    static struct options o = {.rate = 10,
                               .rtt = 100,
                               .queue = 1,
                               .seconds = 60,
                               .warmup = 20,
                               .stagger = 0.1,
                               .seed = 1};
    static struct sim_bulk_config c;
    static struct sim_bulk_results r;
    static tltcp_config sender;
    int rv;
    if (!parse(&o, argc, argv)) {
        return congestion_usage();
    }
    congestion_configure(&c, &sender, &o);
    rv = sim_bulk_run(&c, &r);
    if (rv != 0) {
        fprintf(stderr, "bench_congestion: %s\n", tltcp_strerror(rv));
        return 1;
    }
    report(&o, &r);
    for (int i = 0; i < o.flows; i++) {
        free(o.flow[i].text);
    }
    return 0;
}
