/* SPDX-License-Identifier: MPL-2.0 */
/* Flows of TLTCP. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/flow.h"
#include "sim/reader.h"
#include "sim/source.h"

#define S 1e9
#define LOOK_AT 16
#define FILE_SECTION 100000
#define DATAGRAM_MIN 1200
#define BUFFER ((size_t)1 << 30)
#define SEND_MOST (UINT64_C(8) << 20)
#define LEAST_AHEAD (UINT64_C(64) << 10)

struct connection {
    struct sim_host *from;
    struct sim_host *to;
    struct sim_peer *peer; /* NULL before the start */
    struct sim_source source;
    struct sim_reader reader;
    const char *params[SCENARIO_PARAMS_MAX + 1];
    double payload;     /* of a full datagram; 0: none sent yet */
    uint64_t sent;      /* stream bytes sent before the newest datagram */
    unsigned looked_at; /* datagrams */
    bool lazy;          /* writes no more than the window may ask for soon */
    uint64_t look_next; /* bytes of datagrams at the next look at the window */
    tltcp_config config;
};

/* ---- the sender ---- */

/* Windows at most double from one look to the next, so the engine never runs
 * out of data. What leaves in datagrams is at least what leaves of the stream.
 */
static void write_ahead(struct connection *c) {
    tltcp_stats st;
    uint64_t window;
    if (!c->lazy || c->peer == NULL || c->peer->sent < c->look_next) {
        return;
    }
    tltcp_stats_init(&st);
    (void)tltcp_conn_get_stats(c->peer->conn, &st, sim_host_now(c->from));
    window = st.cwnd_bytes < SEND_MOST ? st.cwnd_bytes : SEND_MOST;
    c->source.enough = c->peer->sent + LEAST_AHEAD + 4 * window;
    c->look_next = c->peer->sent + LEAST_AHEAD / 4 + window / 2;
}

static void on_source_ready(void *user, struct sim_peer *p) {
    struct connection *c = user;
    (void)p;
    write_ahead(c);
    sim_source_ready(&c->source);
}

static uint64_t stream_bytes_sent(const struct connection *c) {
    tltcp_stats st;
    tltcp_stats_init(&st);
    (void)tltcp_conn_get_stats(c->peer->conn, &st, sim_host_now(c->from));
    return st.bytes_sent;
}

/* The engine does not report the payload of a full datagram: derives it from
 * the first ones, some of which carry other chunks, too. */
static void on_send(void *user, struct sim_peer *p, const tltcp_pktinfo *info,
                    const void *dgram, size_t len) {
    struct connection *c = user;
    (void)info;
    (void)dgram;
    if (c->peer == p && len == c->config.packets.max_datagram) {
        uint64_t sent = stream_bytes_sent(c);
        if (sent - c->sent < len) {
            c->payload = fmax(c->payload, (double)(sent - c->sent));
        }
        c->looked_at += sent > c->sent; /* Peach's dummies carry nothing */
        c->sent = sent;
        if (c->looked_at == LOOK_AT) {
            p->app.on_send = NULL;
        }
    }
}

static void describe_source(const struct scenario_flow *f,
                            struct sim_source_config *s, uint64_t seed) {
    *s = (struct sim_source_config){
        .seed = seed,
        .size_min = (uint32_t)f->section,
        .size_max = (uint32_t)f->section,
        .budget = TLTCP_TIME_NEVER,
        .blank = true,
    };
    if (f->deadline != 0) { /* each begins when the previous one has ended */
        s->interval = f->deadline;
        s->budget = f->deadline;
    } else if (f->bytes != 0) {
        uint64_t size = f->bytes < FILE_SECTION ? f->bytes : FILE_SECTION;
        s->size_min = (uint32_t)size;
        s->size_max = (uint32_t)size;
        s->sections = (f->bytes + size - 1) / size;
        s->finish = true;
    }
}

/* A section, and several windows: it is filled, so a larger one would cost
 * time. */
static size_t flow_tltcp_send_buffer(const struct scenario_flow *f) {
    uint64_t need = f->section + 4 * f->window * f->packet;
    if (f->deadline != 0) {
        return BUFFER;
    }
    return (size_t)(f->window == 0 || need > SEND_MOST ? SEND_MOST : need);
}

static void flow_tltcp_configure(struct connection *c,
                                 const struct scenario_flow *f) {
    tltcp_config *g = &c->config;
    tltcp_config_init(g);
    g->congestion = f->congestion;
    g->recovery = f->recovery;
    g->controller.params = f->n_params > 0 ? c->params : NULL;
    g->controller.values = f->values;
    g->paper.limited_transmit = f->limited_transmit;
    g->paper.hold_skipped = f->hold_skipped;
    g->controller.pacing = f->pacing;
    g->packets.ecn = f->ecn;
    g->packets.mtu_probing = false;
    g->controller.max_window = (uint32_t)f->window;
    g->controller.initial_window = (uint32_t)f->initial_window;
    g->paper.rto_min_ms = (uint32_t)(f->rto_min / TLTCP_MS);
    g->packets.ack_every = (uint32_t)f->ack_every;
    g->packets.max_ack_delay_ms = f->ack_every > 1 ? 100 : 0;
    g->max_rate = (uint64_t)f->rate;
    g->idle_timeout_ms = 600000;
    g->connect_timeout_ms = 60000;
    if (f->packet > DATAGRAM_MIN + SIM_IP_UDP) {
        g->packets.max_datagram = (uint32_t)f->packet - SIM_IP_UDP;
    } else if (f->packet != 0) {
        g->packets.max_datagram = DATAGRAM_MIN;
    }
    g->packets.base_datagram = g->packets.max_datagram;
    g->recv_buffer = BUFFER;
    g->send_buffer = flow_tltcp_send_buffer(f);
    c->lazy = f->deadline == 0 && f->bytes == 0 && g->send_buffer >= SEND_MOST;
    for (uint32_t i = 0; i < f->n_params; i++) {
        c->params[i] = f->params[i];
    }
}

static bool open_ends(struct connection *c, struct flow *f, char *why) {
    char reason[TLTCP_REASON_MAX + 1];
    int rv = tltcp_config_check(&c->config, reason);
    if (rv != 0) {
        (void)snprintf(why, SCENARIO_WHY_MAX, "flow %s: %s", f->spec->name,
                       reason);
        return false;
    }
    c->from = sim_host_new(f->net, (uint64_t)S);
    c->to = sim_host_new(f->net, (uint64_t)(2 * S));
    if (c->from == NULL || c->to == NULL ||
        sim_host_listen(c->to, &c->config, f->seed + 1, sim_reader_accept,
                        &c->reader) != 0) {
        (void)snprintf(why, SCENARIO_WHY_MAX, "out of memory");
        return false;
    }
    /* One datagram at a time, so that on_send() can distinguish them. */
    sim_host_set_batch(c->from, c->config.packets.max_datagram);
    f->from = sim_host_node(c->from);
    f->to = sim_host_node(c->to);
    return true;
}

static bool open_tltcp(struct flow *f, char *why) {
    const struct sim_reader_config reading = {.buffer = SIM_READER_BUF};
    struct sim_source_config writing;
    struct connection *c = calloc(1, sizeof(*c));
    f->self = c;
    if (c == NULL) {
        (void)snprintf(why, SCENARIO_WHY_MAX, "out of memory");
        return false;
    }
    flow_tltcp_configure(c, f->spec);
    f->full_packet = c->config.packets.max_datagram;
    describe_source(f->spec, &writing, f->seed);
    sim_source_init(&c->source, &writing);
    sim_reader_init(&c->reader, &reading);
    return open_ends(c, f, why);
}

static void start_tltcp(struct flow *f) {
    struct connection *c = f->self;
    struct sim_app app = {
        .on_ready = on_source_ready, .on_send = on_send, .user = c};
    if (sim_host_connect(c->from, &c->peer, &c->config, f->seed,
                         sim_address(f->to, 0), &app) == 0) {
        sim_source_start(&c->source, c->peer);
    }
}

static void stop_tltcp(struct flow *f) {
    struct connection *c = f->self;
    c->source.done = true;
    if (c->peer != NULL) {
        tltcp_conn_abort(c->peer->conn, TLTCP_ERR_ABORTED, NULL,
                         sim_host_now(c->from));
        sim_peer_pump(c->peer);
    }
}

static void counts_tltcp(const struct flow *f, struct flow_counts *out) {
    const struct connection *c = f->self;
    tltcp_stats st;
    double mss = c->payload;
    if (c->peer == NULL) {
        return;
    }
    tltcp_stats_init(&st);
    (void)tltcp_conn_get_stats(c->peer->conn, &st, sim_host_now(c->from));
    if (strcmp(f->spec->recovery, "packet") == 0) {
        mss = (double)st.datagram_bytes; /* whose window counts datagrams */
    }
    out->bytes = (double)st.bytes_delivered;
    out->payload = c->payload;
    out->sequence = (double)(st.bytes_delivered + st.bytes_expired);
    out->sent = (double)st.packets_sent;
    out->lost = (double)st.packets_lost;
    out->cuts = (double)st.congestion_events;
    out->timeouts = (double)st.rto_count;
    out->pseudo = (double)st.pseudo_retransmissions;
    out->cwnd = mss > 0 && st.cwnd_bytes != UINT64_MAX
                    ? (double)st.cwnd_bytes / mss
                    : 0;
    out->srtt = (double)st.srtt_ns / S;
    out->done = c->reader.ended ? (double)c->reader.last / S : 0;
}

static void close_tltcp(struct flow *f) {
    struct connection *c = f->self;
    if (c != NULL) {
        sim_source_free(&c->source);
        sim_reader_stop(&c->reader);
        sim_host_free(c->from);
        sim_host_free(c->to);
        free(c);
    }
}

const struct flow_ops flow_tltcp = {open_tltcp, start_tltcp, stop_tltcp,
                                    counts_tltcp, close_tltcp};
