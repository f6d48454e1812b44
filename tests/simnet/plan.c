/* SPDX-License-Identifier: MPL-2.0 */
#include <inttypes.h>
#include <math.h>

#include <congestion/congestion.h>

#include "libtltcp/engine/fec.h"
#include "tests/simnet/world.h"

#define TOTAL 120000 /* bytes of a random stream, about */

static double between(struct sim_random *r, double lo, double hi) {
    return lo + (hi - lo) * sim_random_unit(r);
}

/* Spread evenly over the orders of magnitude. */
static double scale(struct sim_random *r, double lo, double hi) {
    return lo * exp(log(hi / lo) * sim_random_unit(r));
}

static uint64_t pick(struct sim_random *r, uint64_t n) {
    return sim_random_below(r, n);
}

static void random_queue(struct sim_link_config *c, struct sim_random *r) {
    c->rate = scale(r, 200e3, 50e6);
    c->delay = (uint64_t)scale(r, 0.2e6, 300e6);
    c->jitter = sim_random_chance(r, 0.3) ? (uint64_t)scale(r, 1e5, 5e7) : 0;
    c->overhead = 28;
    switch (pick(r, 4)) {
    case 0:
        c->limit_packets = 3 + pick(r, 100);
        break;
    case 1:
        c->limit_bytes = 5000 + pick(r, 100000);
        break;
    case 2:
        c->limit_time = (uint64_t)scale(r, 2e7, 1e9);
        break;
    default:
        c->limit_packets = 100;
        c->red_on = true;
        c->red.setbit = sim_random_chance(r, 0.5);
        break;
    }
    c->lower_effort = true; /* what Peach needs */
    c->mark_above = sim_random_chance(r, 0.2) ? 5 + pick(r, 20) : 0;
}

static void random_losses(struct sim_link_config *c, struct sim_random *r) {
    if (sim_random_chance(r, 0.6)) {
        c->loss = sim_random_chance(r, 0.5) ? scale(r, 1e-3, 0.2)
                                            : between(r, 0, 0.2);
    }
    if (sim_random_chance(r, 0.2)) {
        c->burst_enter = scale(r, 1e-3, 0.05);
        c->burst_leave = between(r, 0.1, 0.6);
        c->burst_loss = between(r, 0.5, 1);
    }
    if (sim_random_chance(r, 0.3)) {
        c->reorder = scale(r, 1e-3, 0.3);
        c->reorder_delay = (uint64_t)scale(r, 1e5, 1e8);
    }
    c->duplicate = sim_random_chance(r, 0.3) ? scale(r, 1e-3, 0.3) : 0;
    c->corrupt = sim_random_chance(r, 0.3) ? scale(r, 1e-3, 0.1) : 0;
    if (sim_random_chance(r, 0.15)) {
        c->blackout_start = (uint64_t)scale(r, 1e7, 3e9);
        c->blackout_length = (uint64_t)scale(r, 1e8, 4e9);
        c->blackout_period = c->blackout_length * (5 + pick(r, 5));
    }
    c->ecn = sim_random_chance(r, 0.2) ? (enum sim_ecn_path)pick(r, 4)
                                       : SIM_ECN_KEEP;
    c->mtu = sim_random_chance(r, 0.2) ? 1200 + (uint32_t)pick(r, 300) : 0;
}

static void random_names(tltcp_config *c, struct sim_random *r) {
    static const char *const recoveries[] = {
        "packet",       "packet",         "packet",      "dupack",
        "dupack-tahoe", "dupack-newreno", "dupack-sack",
    };
    static const char *const controllers[] = {
        "tahoe", "reno",     "newreno",     "sack",
        "vegas", "fast",     "peach",       "yam",
        "tibet", "westwood", "westwoodnew", "mod-westwoodnew",
        "tfrc",  "cubic",    "bbr",         "fixed",
    };
    const char *name = controllers[pick(r, 16)];
    c->recovery = recoveries[pick(r, 7)];
    c->congestion = cong_find(name) != NULL ? name : "cubic";
    if (strcmp(c->congestion, "fixed") == 0 || sim_random_chance(r, 0.1)) {
        c->max_rate = (uint64_t)scale(r, 200e3, 5e6);
    }
}

static void random_config(tltcp_config *c, struct sim_random *r) {
    random_names(c, r);
    c->send_buffer = (size_t)scale(r, 16384, 1e6);
    c->recv_buffer = (size_t)scale(r, 4096, 1e6);
    c->max_sections = (uint32_t)scale(r, 16, 16384);
    c->packets.max_datagram =
        1200 + (uint32_t)pick(r, sim_random_chance(r, 0.2) ? 8000 : 301);
    c->packets.mtu_probing = !sim_random_chance(r, 0.3);
    c->controller.pacing = !sim_random_chance(r, 0.3);
    c->packets.ecn = !sim_random_chance(r, 0.3);
    c->unordered = sim_random_chance(r, 0.25);
    c->deadline_at_receiver = sim_random_chance(r, 0.25);
    c->packets.ack_every = 1 + (uint32_t)pick(r, 8);
    c->packets.max_ack_delay_ms = (uint32_t)pick(r, 60);
    c->controller.initial_window =
        sim_random_chance(r, 0.3) ? 1 + (uint32_t)pick(r, 20) : 0;
    c->controller.max_window =
        sim_random_chance(r, 0.2) ? 2 + (uint32_t)pick(r, 60) : 0;
    c->io.timer_granularity_us = (uint32_t)scale(r, 1, 10000);
    c->connect_timeout_ms = 300000;
    c->idle_timeout_ms = 600000; /* no blackout lasts so long */
    c->keep_alive_ms = 60000;
}

static void random_source(struct plan *p, int i, struct sim_random *r) {
    struct sim_source_config *s = &p->source[i];
    uint64_t most = p->config[i].send_buffer;
    double size = scale(r, 20, 20000);
    double rate = scale(r, 0.2, 2) * p->link[i].rate / 8;
    most = most < p->config[1 - i].recv_buffer ? most
                                               : p->config[1 - i].recv_buffer;
    size = size < (double)most / 8 ? size : (double)most / 8;
    s->size_min = (uint32_t)(size / 2) + 1;
    s->size_max = (uint32_t)(size * 1.5) + 1;
    s->sections = (uint64_t)(TOTAL * between(r, 0.1, 1) / size) + 1;
    s->sections = s->sections < 1500 ? s->sections : 1500;
    if (sim_random_chance(r, 0.7)) { /* live, below or above the link's rate */
        s->interval = (uint64_t)(size / rate * 1e9);
    }
    if (sim_random_chance(r, 0.3)) {
        s->key_every = 2 + (uint32_t)pick(r, 20);
        s->key_scale = 1 + (uint32_t)pick(r, 5);
    }
    if (sim_random_chance(r, 0.75)) {
        s->budget = (uint64_t)scale(r, 1e6, 3e9);
        s->reliable = sim_random_chance(r, 0.3) ? between(r, 0, 1) : 0;
        s->backwards = sim_random_chance(r, 0.3) ? between(r, 0, 1) : 0;
    }
}

static void random_reader(struct sim_reader_config *c, struct sim_random *r) {
    c->buffer = (uint32_t)scale(r, 1, 16000);
    c->pieces = 1 + (uint32_t)pick(r, 16);
    if (sim_random_chance(r, 0.2)) {
        c->rate = (uint64_t)scale(r, 5e3, 1e6);
    }
    if (sim_random_chance(r, 0.2)) {
        c->pause_from = (uint64_t)scale(r, 1e7, 2e9);
        c->pause_until = c->pause_from + (uint64_t)scale(r, 1e8, 5e9);
    }
}

static void random_classes(struct plan *p, int i, struct sim_random *r) {
    if (tltcp__fec_available()) {
        p->config[i].fec = (uint32_t)pick(r, TLTCP_FEC_ON + 1);
    }
    if (sim_random_chance(r, 0.4)) {
        p->source[i].streams = 1 + (uint32_t)pick(r, 3);
        p->config[i].drop_policy = (uint32_t)pick(r, TLTCP_DROP_UNTIL_KEY + 1);
        p->config[i].look_ahead = !sim_random_chance(r, 0.2);
        p->gives_up = true;
    }
}

void plan_steady(struct plan *p, uint64_t seed) {
    plan_init(p, seed);
    for (int i = 0; i < 2; i++) {
        p->source[i].sections = 300;
        p->source[i].interval = 10 * MS;
        p->source[i].size_max = 3000;
    }
}

void plan_random(struct plan *p, uint64_t seed) {
    struct sim_random r;
    plan_init(p, seed);
    sim_random_init(&r, seed * UINT64_C(0x2545f4914f6cdd1d));
    for (int i = 0; i < 2; i++) {
        random_queue(&p->link[i], &r);
        random_losses(&p->link[i], &r);
        random_config(&p->config[i], &r);
        random_reader(&p->reader[i], &r);
        p->clock[i] = sim_random_u64(&r) >> (2 + pick(&r, 40));
    }
    p->config[SERVER].listener.always_retry = sim_random_chance(&r, 0.2);
    p->batch = sim_random_chance(&r, 0.5) ? 65535 : 9300;
    p->quiet = sim_random_chance(&r, 0.5);
    p->secured = sim_random_chance(&r, 0.15);
    if (sim_random_chance(&r, 0.5)) { /* numbers wrap on the way */
        p->first_pn =
            UINT32_MAX - 40 - pick(&r, 100); /* not in the handshake */
        p->first_seq = UINT32_MAX - (uint32_t)pick(&r, 100000);
    }
    p->source[CLIENT].sections = 0;
    if (sim_random_chance(&r, 0.8)) {
        random_source(p, CLIENT, &r);
    }
    if (p->source[CLIENT].sections == 0 || sim_random_chance(&r, 0.3)) {
        random_source(p, SERVER, &r);
    }
    random_classes(p, CLIENT, &r);
    random_classes(p, SERVER, &r);
}

static int describe_link(char *buf, size_t size, const char *name,
                         const struct sim_link_config *c) {
    return snprintf(buf, size,
                    "%s %.0f kbit/s %.1f ms loss %.3f burst %.3f reorder %.3f "
                    "dup %.3f corrupt %.3f blackout %.1f+%.1f s ecn %d mtu %u",
                    name, c->rate * 1e-3, (double)c->delay * 1e-6, c->loss,
                    c->burst_enter, c->reorder, c->duplicate, c->corrupt,
                    (double)c->blackout_start * 1e-9,
                    (double)c->blackout_length * 1e-9, (int)c->ecn, c->mtu);
}

const char *plan_describe(const struct plan *p, char *buf, size_t size) {
    size_t n = (size_t)snprintf(buf, size, "seed %" PRIu64 "%s:", p->seed,
                                p->secured ? " secured" : "");
    for (int i = 0; i < 2 && n < size; i++) {
        const tltcp_config *c = &p->config[i];
        n += (size_t)describe_link(buf + n, size - n, i == 0 ? " up" : "; down",
                                   &p->link[i]);
        if (n < size) {
            n += (size_t)snprintf(
                buf + n, size - n, "; %s %s %" PRIu64 " sections, %s%s",
                c->recovery != NULL ? c->recovery : "packet",
                c->congestion != NULL ? c->congestion : "cubic",
                p->source[i].sections, c->unordered ? "unordered " : "",
                c->deadline_at_receiver ? "at-receiver" : "");
        }
    }
    return buf;
}
