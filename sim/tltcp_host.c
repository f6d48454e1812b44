/* SPDX-License-Identifier: MPL-2.0 */
/* TLTCP engines attached to a node of the virtual network. */
#include "sim/tltcp_host.h"

#include <stdlib.h>
#include <string.h>

#include "sim/fifo.h"

#define BATCH_MAX 65535
#define SPINS_MAX 1000
#define FIRST_PORT 1

struct sim_host {
    struct sim_net *net;
    tltcp_endpoint *endpoint;
    sim_caller_fn on_caller;
    void *user;
    struct sim_peer *peers;
    struct sim_peer **ports; /* callers by port, below next_port */
    uint32_t cap_ports;
    uint64_t clock;
    uint32_t node;
    uint32_t next_port;
    uint64_t every; /* time between two looks; 0: looks at once */
    struct sim_fifo unread;
    struct sim_timer look;
    size_t batch;
    uint8_t buf[BATCH_MAX];
};

uint64_t sim_host_now(const struct sim_host *h) {
    return h->clock + sim_net_loop(h->net)->now;
}

uint32_t sim_host_node(const struct sim_host *h) {
    return h->node;
}

struct sim_net *sim_host_net(const struct sim_host *h) {
    return h->net;
}

tltcp_endpoint *sim_host_endpoint(const struct sim_host *h) {
    return h->endpoint;
}

struct sim_peer *sim_host_peers(const struct sim_host *h) {
    return h->peers;
}

void sim_host_set_batch(struct sim_host *h, size_t bytes) {
    h->batch = bytes < BATCH_MAX ? bytes : BATCH_MAX;
}

uint64_t sim_peer_address(const struct sim_peer *p) {
    return sim_address(p->host->node, p->port);
}

static void transmit(struct sim_host *h, uint32_t port,
                     const tltcp_pktinfo *info, const void *data, size_t len) {
    struct sim_packet *p = sim_net_packet(h->net, data, len);
    if (p != NULL) {
        p->src = sim_address(h->node, port);
        p->dst = info->path;
        p->ecn = info->ecn;
        p->dscp = info->dscp;
        sim_net_send(h->net, h->node, p);
    }
}

static void transmit_batch(struct sim_peer *p, const tltcp_pktinfo *info,
                           size_t total, size_t segment) {
    struct sim_host *h = p->host;
    p->sent += total;
    for (size_t at = 0; at < total; at += segment) {
        size_t len = total - at < segment ? total - at : segment;
        if (p->app.on_send != NULL) {
            p->app.on_send(p->app.user, p, info, h->buf + at, len);
        }
        transmit(h, p->port, info, h->buf + at, len);
    }
}

static bool tltcp_host_flush(struct sim_peer *p) {
    struct sim_host *h = p->host;
    tltcp_pktinfo info = {0};
    bool any = false;
    size_t segment = 0;
    size_t n;
    while ((n = tltcp_conn_send(p->conn, &info, h->buf, h->batch, &segment,
                                sim_host_now(h))) > 0) {
        transmit_batch(p, &info, n, segment);
        any = true;
    }
    return any;
}

static void drain_events(struct sim_peer *p) {
    tltcp_event ev;
    while (tltcp_conn_next_event(p->conn, &ev) > 0) {
        if (p->app.on_event != NULL) {
            p->app.on_event(p->app.user, p, &ev);
        }
    }
}

void sim_host_skip(struct sim_host *h, uint64_t ns) {
    h->clock += ns;
    for (struct sim_peer *p = h->peers; p != NULL; p = p->next) {
        sim_peer_pump(p);
    }
}

/* When the host notices what happens at a time of the network. */
static uint64_t notices_at(const struct sim_host *h, uint64_t at) {
    return h->every > 0 ? (at + h->every - 1) / h->every * h->every : at;
}

static void tltcp_host_arm(struct sim_peer *p) {
    struct sim_host *h = p->host;
    uint64_t at = tltcp_conn_timeout(p->conn);
    if (p->stuck) {
        at = SIM_NEVER;
    } else if (at != TLTCP_TIME_NEVER) {
        at = notices_at(h, at > h->clock ? at - h->clock : 0);
    }
    (void)sim_loop_arm(sim_net_loop(h->net), &p->timer, at);
}

void sim_peer_pump(struct sim_peer *p) {
    if (p->pumping) {
        p->again = true;
        return;
    }
    p->pumping = true;
    do {
        p->again = false;
        drain_events(p);
        if (p->app.on_ready != NULL) {
            p->app.on_ready(p->app.user, p);
        }
        drain_events(p);
        (void)tltcp_host_flush(p);
        drain_events(p);
    } while (p->again);
    p->pumping = false;
    tltcp_host_arm(p);
}

static void read_all(struct sim_host *h);

static void tltcp_host_on_timer(struct sim_timer *t, uint64_t now) {
    struct sim_peer *p = t->user;
    read_all(p->host); /* a driver reads before it looks at timers */
    p->spins = now == p->spin_at ? p->spins + 1 : 0;
    p->spin_at = now;
    p->stuck |= p->spins > SPINS_MAX;
    tltcp_conn_on_timeout(p->conn, sim_host_now(p->host));
    sim_peer_pump(p);
}

/* Opens a new port for a caller; 0 without memory. */
static uint32_t open_port(struct sim_host *h, struct sim_peer *p) {
    if (h->next_port >= h->cap_ports) {
        uint32_t cap = h->cap_ports == 0 ? 16 : 2 * h->cap_ports;
        struct sim_peer **wide =
            realloc(h->ports, cap * sizeof(struct sim_peer *));
        if (wide == NULL) {
            return 0;
        }
        h->ports = wide;
        h->cap_ports = cap;
    }
    h->ports[h->next_port] = p;
    return h->next_port++;
}

static struct sim_peer *new_peer(struct sim_host *h) {
    struct sim_peer *p = calloc(1, sizeof(*p));
    if (p == NULL) {
        return NULL;
    }
    p->host = h;
    p->timer.fire = tltcp_host_on_timer;
    p->timer.user = p;
    p->spin_at = SIM_NEVER;
    p->next = h->peers;
    h->peers = p;
    return p;
}

void sim_peer_free(struct sim_peer *p) {
    struct sim_peer **at;
    if (p == NULL) {
        return;
    }
    for (at = &p->host->peers; *at != p; at = &(*at)->next) {
    }
    *at = p->next;
    if (p->port != 0) {
        p->host->ports[p->port] = NULL;
    }
    sim_loop_stop(sim_net_loop(p->host->net), &p->timer);
    tltcp_conn_free(p->conn);
    free(p);
}

/* Creates the peer of a caller and asks the application. */
static void welcome(struct sim_host *h, tltcp_conn *conn) {
    struct sim_peer *p = new_peer(h);
    enum sim_answer answer = SIM_ACCEPT;
    if (p == NULL) {
        tltcp_conn_free(conn);
        return;
    }
    p->conn = conn;
    p->remote = tltcp_conn_path(conn);
    tltcp_conn_set_user(conn, p);
    if (h->on_caller != NULL) {
        answer = h->on_caller(h->user, p);
    }
    if (answer == SIM_ACCEPT) {
        (void)tltcp_conn_accept(conn, sim_host_now(h));
    } else if (answer == SIM_REFUSE) {
        (void)tltcp_conn_refuse(conn, "not wanted here", sim_host_now(h));
    }
    sim_peer_pump(p);
}

/* A node counts as one address, regardless of the port. */
static tltcp_pktinfo info_of(const struct sim_packet *pkt) {
    return (tltcp_pktinfo){.path = pkt->src,
                           .ecn = pkt->ecn,
                           .network = sim_address_node(pkt->src) + UINT64_C(1)};
}

static void to_endpoint(struct sim_host *h, const struct sim_packet *pkt) {
    tltcp_pktinfo info = info_of(pkt);
    tltcp_dispatch out;
    struct sim_peer *p;
    switch (tltcp_endpoint_recv(h->endpoint, &info, pkt->data, pkt->len, &out,
                                sim_host_now(h))) {
    case TLTCP_TAKEN:
        p = tltcp_conn_user(out.conn);
        if (p->app.on_recv != NULL) {
            p->app.on_recv(p->app.user, p, &info, pkt->data, pkt->len);
        }
        sim_peer_pump(p);
        break;
    case TLTCP_CALLER:
        welcome(h, out.conn);
        break;
    case TLTCP_REPLY:
        info.ecn = 0;
        transmit(h, 0, &info, out.reply, out.reply_len);
        break;
    default:
        break;
    }
}

static void to_caller(struct sim_peer *p, const struct sim_packet *pkt) {
    tltcp_pktinfo info = info_of(pkt);
    if (p->app.on_recv != NULL) {
        p->app.on_recv(p->app.user, p, &info, pkt->data, pkt->len);
    }
    (void)tltcp_conn_recv(p->conn, &info, pkt->data, pkt->len,
                          sim_host_now(p->host));
    sim_peer_pump(p);
}

static void read_one(struct sim_host *h, struct sim_packet *pkt) {
    uint32_t port = (uint32_t)(pkt->dst >> 32);
    if (port >= FIRST_PORT && port < h->next_port && h->ports[port] != NULL) {
        to_caller(h->ports[port], pkt);
    } else if (port == 0 && h->endpoint != NULL) {
        to_endpoint(h, pkt);
    }
    sim_packet_free(pkt);
}

static void read_all(struct sim_host *h) {
    struct sim_packet *pkt;
    while ((pkt = sim_fifo_take(&h->unread)) != NULL) {
        read_one(h, pkt);
    }
}

static void tltcp_host_on_look(struct sim_timer *t, uint64_t now) {
    (void)now;
    read_all(t->user);
}

static void tltcp_host_deliver(void *user, struct sim_packet *pkt,
                               uint64_t now) {
    struct sim_host *h = user;
    if (notices_at(h, now) > now) {
        sim_fifo_append(&h->unread, pkt);
        (void)sim_loop_arm(sim_net_loop(h->net), &h->look, notices_at(h, now));
        return;
    }
    read_all(h);
    read_one(h, pkt);
}

void sim_host_set_slow(struct sim_host *h, uint64_t every) {
    h->every = every;
}

struct sim_host *sim_host_new(struct sim_net *net, uint64_t clock) {
    struct sim_host *h = calloc(1, sizeof(*h));
    if (h == NULL) {
        return NULL;
    }
    h->net = net;
    h->clock = clock;
    h->batch = BATCH_MAX;
    sim_fifo_init(&h->unread);
    h->look = (struct sim_timer){.fire = tltcp_host_on_look, .user = h};
    h->next_port = FIRST_PORT;
    h->node = sim_net_add_node(net, tltcp_host_deliver, h);
    if (h->node == UINT32_MAX) {
        free(h);
        return NULL;
    }
    return h;
}

void sim_host_free(struct sim_host *h) {
    struct sim_packet *pkt;
    if (h == NULL) {
        return;
    }
    while (h->peers != NULL) {
        /* It removes itself from the list, which the analyser misses. */
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
        sim_peer_free(h->peers);
    }
    tltcp_endpoint_free(h->endpoint);
    while ((pkt = sim_fifo_take(&h->unread)) != NULL) {
        sim_packet_free(pkt);
    }
    sim_loop_stop(sim_net_loop(h->net), &h->look);
    sim_net_set_node(h->net, h->node, NULL, NULL);
    free(h->ports);
    free(h);
}

static void make_seed(uint8_t *out, uint64_t seed) {
    struct sim_random r;
    sim_random_init(&r, seed);
    sim_random_bytes(&r, out, TLTCP_SEED_LEN);
}

int sim_host_listen(struct sim_host *h, const tltcp_config *config,
                    uint64_t seed, sim_caller_fn on_caller, void *user) {
    uint8_t bytes[TLTCP_SEED_LEN];
    make_seed(bytes, seed);
    h->on_caller = on_caller;
    h->user = user;
    return tltcp_endpoint_new(&h->endpoint, config, bytes, sim_host_now(h));
}

int sim_host_connect(struct sim_host *h, struct sim_peer **out,
                     const tltcp_config *config, uint64_t seed, uint64_t remote,
                     const struct sim_app *app) {
    uint8_t bytes[TLTCP_SEED_LEN];
    struct sim_peer *p;
    tltcp_conn *conn;
    int rv;
    make_seed(bytes, seed);
    rv = tltcp_conn_new(&conn, config, bytes, remote, sim_host_now(h));
    if (rv != 0) {
        return rv;
    }
    p = new_peer(h);
    if (p == NULL) {
        tltcp_conn_free(conn);
        return TLTCP_ERR_NOMEM;
    }
    p->conn = conn;
    p->remote = remote;
    p->port = open_port(h, p);
    if (p->port == 0) {
        sim_peer_free(p);
        return TLTCP_ERR_NOMEM;
    }
    if (app != NULL) {
        p->app = *app;
    }
    *out = p;
    sim_peer_pump(p);
    return 0;
}

uint64_t sim_peer_rebind(struct sim_peer *p) {
    uint64_t before = sim_peer_address(p);
    p->host->ports[p->port] = NULL;
    p->port = open_port(p->host, p);
    return before;
}
