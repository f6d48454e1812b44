/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/simnet/rival.h"

#include "libtltcp/engine/conn.h"

#define SEGMENTS 10  /* RFC 6928 */
#define SEGMENT 1000 /* bytes; less carries no data */
#define AT_ONCE 2    /* segments that Linux hands down as one */
#define BUFFER ((size_t)1 << 20)

void rival_route(struct world *w, struct sim_host *a, struct sim_host *b) {
    struct sim_net *net = w->net;
    uint32_t client = sim_host_node(w->end[CLIENT].host);
    uint32_t server = sim_host_node(w->end[SERVER].host);
    uint32_t from = sim_host_node(a);
    uint32_t to = sim_host_node(b);
    struct sim_link_config wire;
    sim_link_config_init(&wire);
    (void)sim_net_add_link(net, from, client, &wire, 1);
    (void)sim_net_add_link(net, client, from, &wire, 2);
    (void)sim_net_add_link(net, to, server, &wire, 3);
    (void)sim_net_add_link(net, server, to, &wire, 4);
    assert_true(sim_net_route(net, client, to, w->link[CLIENT]));
    assert_true(sim_net_route(net, server, from, w->link[SERVER]));
}

static bool *push_of(struct rival *r, uint64_t number) {
    return &r->push[number % RIVAL_REMEMBERED];
}

static void ready_to_send(void *user, struct sim_peer *p) {
    struct rival *r = user;
    (void)p;
    sim_source_ready(&r->source);
}

static void on_send(void *user, struct sim_peer *p, const tltcp_pktinfo *info,
                    const void *dgram, size_t len) {
    struct rival *r = user;
    uint64_t now = sim_host_now(p->host);
    (void)info;
    (void)dgram;
    r->train = now == r->train_at && len >= SEGMENT ? r->train + 1 : 0;
    r->train_at = now;
    *push_of(r, p->conn->sender.map.packets.tail - 1) =
        r->train % AT_ONCE == AT_ONCE - 1;
}

static void ready_to_read(void *user, struct sim_peer *p) {
    struct rival *r = user;
    (void)p;
    sim_reader_ready(&r->reader);
}

/* The engine has seen it, but has not answered yet. */
static void on_recv(void *user, struct sim_peer *p, const tltcp_pktinfo *info,
                    const void *dgram, size_t len) {
    struct rival *r = user;
    tltcp__acks *acks = &p->conn->acks;
    (void)info;
    (void)dgram;
    (void)len;
    if (acks->owed > 0 && *push_of(r, acks->largest - 1)) {
        acks->due = sim_host_now(p->host);
    }
}

static enum sim_answer on_caller(void *user, struct sim_peer *p) {
    struct rival *r = user;
    p->app = (struct sim_app){
        .on_ready = ready_to_read, .on_recv = on_recv, .user = r};
    sim_reader_start(&r->reader, p);
    return SIM_ACCEPT;
}

void rival_join(struct rival *r, struct world *w, const char *congestion,
                uint64_t seed) {
    const struct sim_source_config source = {
        .size_min = 50000, .size_max = 50000, .budget = NEVER, .blank = true};
    const struct sim_reader_config reader = {.buffer = SIM_READER_BUF};
    struct sim_app app = {
        .on_ready = ready_to_send, .on_send = on_send, .user = r};
    tltcp_config c;
    *r = (struct rival){.world = w};
    r->from = sim_host_new(w->net, SEC);
    r->to = sim_host_new(w->net, 2 * SEC);
    assert_true(r->from != NULL && r->to != NULL);
    rival_route(w, r->from, r->to);
    sim_source_init(&r->source, &source);
    sim_reader_init(&r->reader, &reader);
    tltcp_config_init(&c);
    c.congestion = congestion;
    c.controller.pacing = strncmp(congestion, "bbr", 3) == 0;
    c.controller.initial_window = SEGMENTS;
    c.send_buffer = c.recv_buffer = BUFFER;
    c.idle_timeout_ms = 600000;
    assert_int_equal(sim_host_listen(r->to, &c, seed + 1, on_caller, r), 0);
    assert_int_equal(sim_host_connect(r->from, &r->peer, &c, seed,
                                      sim_address(sim_host_node(r->to), 0),
                                      &app),
                     0);
    sim_source_start(&r->source, r->peer);
}

void rival_leave(struct rival *r) {
    sim_source_free(&r->source);
    sim_reader_stop(&r->reader);
    sim_host_free(r->from);
    sim_host_free(r->to);
}
