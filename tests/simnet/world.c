/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/simnet/world.h"

#include <inttypes.h>
#include <stdlib.h>

#include "libtltcp/engine/conn.h"
#include "libtltcp/engine/fec.h"

void world_fault(struct world *w, const char *format, ...) {
    va_list ap;
    size_t n;
    if (w->why[0] != '\0') {
        return;
    }
    n = (size_t)snprintf(w->why, sizeof(w->why),
                         "at %.6f s: ", (double)world_now(w) * 1e-9);
    va_start(ap, format);
    (void)vsnprintf(w->why + n, sizeof(w->why) - n, format, ap);
    va_end(ap);
}

uint64_t world_now(struct world *w) {
    return sim_net_loop(w->net)->now;
}

tltcp_stats end_stats(const struct end *e) {
    tltcp_stats st;
    tltcp_stats_init(&st);
    if (e->peer != NULL) {
        (void)tltcp_conn_get_stats(e->peer->conn, &st, sim_host_now(e->host));
    }
    return st;
}

static void hash_in(struct world *w, const void *data, size_t len) {
    const uint8_t *p = data;
    for (size_t i = 0; i < len; i++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
        w->hash = (w->hash ^ p[i]) * UINT64_C(0x100000001b3);
    }
}

/* Before the caller's address is proven, the listener sends at most three times
 * what came. */
static void check_amplification(struct end *e, size_t len) {
    struct world *w = e->world;
    const struct sim_link_stats *in =
        sim_link_stats(sim_net_link(w->net, w->link[CLIENT]));
    e->bytes += len;
    if (e == &w->end[SERVER] && !e->connected &&
        e->bytes > 3 * in->delivered_bytes) {
        world_fault(w, "%" PRIu64 " bytes out for %" PRIu64 " in", e->bytes,
                    in->delivered_bytes);
    }
}

static void on_send(void *user, struct sim_peer *p, const tltcp_pktinfo *info,
                    const void *dgram, size_t len) {
    struct end *e = user;
    uint64_t now = world_now(e->world);
    uint64_t head[4] = {now, (uint64_t)(e - e->world->end), info->ecn,
                        info->path};
    (void)p;
    e->datagrams++;
    if (e->world->plan.light) {
        return;
    }
    hash_in(e->world, head, sizeof(head));
    hash_in(e->world, dgram, len);
    e->largest = len > e->largest ? len : e->largest;
    e->last_send = now;
    trace_datagram(e, "sends", dgram, len);
    check_amplification(e, len);
    check_path(e, info->path, dgram, len);
    check_datagram(e, dgram, len);
    check_flight(e);
    if (e->world->plan.spy != NULL) {
        e->world->plan.spy(e->world->plan.user, e, dgram, len);
    }
}

static void on_recv(void *user, struct sim_peer *p, const tltcp_pktinfo *info,
                    const void *dgram, size_t len) {
    struct end *e = user;
    (void)p;
    (void)info;
    if (!e->world->plan.light) {
        check_lead(e);
    }
    trace_datagram(e, "takes", dgram, len);
}

static void on_event(void *user, struct sim_peer *p, const tltcp_event *ev) {
    struct end *e = user;
    (void)p;
    switch (ev->type) {
    case TLTCP_EVENT_CONNECTED:
        if (e->connected || e->closed) {
            world_fault(e->world, "connected twice, or after the end");
        }
        e->connected = true;
        e->connected_at = world_now(e->world);
        break;
    case TLTCP_EVENT_CLOSED:
        if (e->closed) {
            world_fault(e->world, "closed twice");
        }
        e->closed = true;
        e->closed_at = world_now(e->world);
        e->error = ev->error;
        memcpy(e->reason, ev->reason, sizeof(e->reason));
        break;
    case TLTCP_EVENT_FATE:
        check_fate(e, ev);
        break;
    case TLTCP_EVENT_PATH:
        e->path_events++;
        break;
    default:
        break;
    }
}

void end_close(struct end *e) {
    e->closing = true;
    tltcp_conn_close(e->peer->conn, NEVER, sim_host_now(e->host));
}

static void attach(struct end *e, struct sim_peer *p) {
    const struct plan *plan = &e->world->plan;
    e->peer = p;
    if (e == &e->world->end[CLIENT]) { /* nothing has left yet */
        tltcp__conn_set_first(p->conn, plan->first_pn, plan->first_seq);
    }
    sim_source_start(&e->out->source, p);
    sim_reader_start(&e->in->reader, p);
    if (e->out->source.cfg.sections == 0) { /* nothing to say */
        e->out->source.done = true;
        tltcp_conn_finish(p->conn, sim_host_now(e->host));
    }
}

static void on_ready(void *user, struct sim_peer *p) {
    struct end *e = user;
    if (e->peer == NULL) {
        attach(e, p);
    }
    if (p->stuck) {
        world_fault(e->world, "the engine asks for the same time for ever");
    }
    sim_reader_ready(&e->in->reader);
    sim_source_ready(&e->out->source);
    if (!e->closing && !e->world->plan.keep_open && !e->world->plan.quiet &&
        e->out->source.done && e->in->reader.ended) {
        end_close(e);
    }
}

static struct sim_app app_of(struct end *e) {
    return (struct sim_app){.on_event = on_event,
                            .on_ready = on_ready,
                            .on_send = on_send,
                            .on_recv = on_recv,
                            .user = e};
}

static enum sim_answer on_caller(void *user, struct sim_peer *p) {
    struct world *w = user;
    if (w->end[SERVER].peer != NULL) {
        world_fault(w, "a second caller appears");
        return SIM_REFUSE;
    }
    p->app = app_of(&w->end[SERVER]);
    attach(&w->end[SERVER], p);
    return w->plan.answer;
}

void plan_init(struct plan *p, uint64_t seed) {
    memset(p, 0, sizeof(*p));
    p->seed = seed;
    p->max_time = 100000 * SEC;
    p->batch = 65535;
    for (int i = 0; i < 2; i++) {
        sim_link_config_init(&p->link[i]);
        p->link[i].rate = 10e6;
        p->link[i].delay = 20 * MS;
        p->link[i].overhead = 28;
        p->link[i].limit_packets = 100;
        tltcp_config_init(&p->config[i]);
        p->config[i].report_fates = true;
        p->clock[i] = 7 * SEC * (uint64_t)i;
        p->source[i] = (struct sim_source_config){
            .seed = seed * 2 + (uint64_t)i + 1,
            .size_min = 1000,
            .size_max = 1000,
            .budget = NEVER,
            .finish = true,
            .record = true,
        };
    }
    p->source[CLIENT].sections = 50;
}

static void open_flow(struct world *w, int i) {
    struct flow *f = &w->flow[i];
    struct sim_reader_config r = w->plan.reader[1 - i];
    f->world = w;
    f->unordered = w->plan.config[1 - i].unordered;
    r.on_piece = w->plan.light ? NULL : check_piece;
    r.user = f;
    sim_source_init(&f->source, &w->plan.source[i]);
    sim_reader_init(&f->reader, &r);
}

bool world_is_sealed(const struct world *w) {
    return w->plan.secured || w->plan.config[CLIENT].identity.secret != NULL;
}

static void open_end(struct world *w, int i) {
    struct end *e = &w->end[i];
    e->world = w;
    e->out = &w->flow[i];
    e->in = &w->flow[1 - i];
    e->host = sim_host_new(w->net, w->plan.clock[i]);
    assert_non_null(e->host);
    sim_host_set_batch(e->host, w->plan.batch);
    if (w->plan.secured) {
        static const uint8_t key[32] = {42, 1, 2, 3};
        w->plan.config[i].key = key;
        w->plan.config[i].key_len = sizeof(key);
    }
    w->plan.config[i].allocator =
        (tltcp_allocator){test_alloc_realloc, &w->alloc};
}

int world_open(struct world *w, const struct plan *p) {
    struct sim_peer *caller = NULL;
    int rv;
    memset(w, 0, sizeof(*w));
    w->plan = *p;
    w->alloc = p->alloc;
    w->hash = UINT64_C(0xcbf29ce484222325);
    w->net = sim_net_new();
    assert_non_null(w->net);
    for (int i = 0; i < 2; i++) {
        open_flow(w, i);
        open_end(w, i);
    }
    for (int i = 0; i < 2; i++) {
        w->link[i] =
            sim_net_add_link(w->net, sim_host_node(w->end[i].host),
                             sim_host_node(w->end[1 - i].host),
                             &w->plan.link[i], p->seed * 2 + (uint64_t)i);
        assert_int_not_equal(w->link[i], UINT32_MAX);
    }
    rv = sim_host_listen(w->end[SERVER].host, &w->plan.config[SERVER],
                         p->seed ^ 0x5e57e5, on_caller, w);
    if (rv == 0) {
        tltcp__endpoint_set_first(sim_host_endpoint(w->end[SERVER].host),
                                  p->first_pn, p->first_seq);
        sim_net_set_tap(w->net, p->tap, p->user);
    }
    if (rv == 0) {
        struct sim_app app = app_of(&w->end[CLIENT]);
        rv = sim_host_connect(
            w->end[CLIENT].host, &caller, &w->plan.config[CLIENT],
            p->seed ^ 0xca11e5,
            sim_address(sim_host_node(w->end[SERVER].host), 0), &app);
    }
    return rv;
}

bool world_is_over(const struct world *w) {
    for (int i = 0; i < 2; i++) {
        const struct end *e = &w->end[i];
        if (e->peer == NULL || !tltcp_conn_is_closed(e->peer->conn) ||
            !(e->in->reader.ended || e->in->reader.error != 0)) {
            return false;
        }
    }
    return true;
}

void world_run(struct world *w) {
    struct sim_loop *l = sim_net_loop(w->net);
    while (w->why[0] == '\0' && !world_is_over(w) &&
           sim_loop_step(l, w->plan.max_time)) {
    }
}

static bool all_quiet(const struct world *w) {
    for (int i = 0; i < 2; i++) {
        const struct end *e = &w->end[i];
        if (e->peer == NULL || !e->out->source.done || !e->in->reader.ended ||
            end_stats(e).bytes_in_flight != 0) {
            return false;
        }
    }
    return true;
}

void world_run_until_quiet(struct world *w) {
    struct sim_loop *l = sim_net_loop(w->net);
    while (w->why[0] == '\0' && !all_quiet(w)) {
        if (world_is_over(w) || !sim_loop_step(l, w->plan.max_time)) {
            world_fault(w, "never quiet: %" PRIu64 ", %" PRIu64 " in flight",
                        end_stats(&w->end[CLIENT]).bytes_in_flight,
                        end_stats(&w->end[SERVER]).bytes_in_flight);
        }
    }
}

void world_run_for(struct world *w, uint64_t ns) {
    struct sim_loop *l = sim_net_loop(w->net);
    uint64_t until = l->now + ns;
    while (w->why[0] == '\0' && sim_loop_step(l, until)) {
    }
}

static void check_end_of(struct world *w, struct end *e) {
    if (e->peer == NULL || !e->connected) {
        world_fault(w, "end %d never connected", (int)(e - w->end));
    } else if (!tltcp_conn_is_closed(e->peer->conn) || !e->closed) {
        world_fault(w, "end %d is still open", (int)(e - w->end));
    } else if (e->error != 0) {
        world_fault(w, "end %d closed with %s (%s)", (int)(e - w->end),
                    tltcp_strerror(e->error), e->reason);
    }
}

void world_check_end(struct world *w) {
    for (int i = 0; i < 2; i++) {
        check_end_of(w, &w->end[i]);
        check_flow_end(w, &w->flow[i]);
    }
}

void world_start(struct world *w, const struct plan *p) {
    assert_int_equal(world_open(w, p), 0);
}

void world_start_for(struct world *w, const struct plan *p, uint64_t ns) {
    world_start(w, p);
    world_run_for(w, ns);
    assert_string_equal(w->why, "");
}

void world_run_checked(struct world *w) {
    world_run(w);
    world_check_end(w);
    assert_string_equal(w->why, "");
}

void world_finish(struct world *w) {
    world_run_checked(w);
    world_close(w);
}

void world_close(struct world *w) {
    world_free(w);
    assert_int_equal(w->alloc.blocks, 0);
}

void world_free(struct world *w) {
    for (int i = 0; i < 2; i++) {
        sim_source_free(&w->flow[i].source);
        sim_reader_stop(&w->flow[i].reader);
        free(w->flow[i].tally);
    }
    for (int i = 0; i < 2; i++) {
        sim_host_free(w->end[i].host);
        w->end[i].peer = NULL;
    }
    sim_net_free(w->net);
}

void world_narrow(struct world *w, int end) {
    struct sim_link_config c = w->plan.link[end];
    c.mtu = 1250;
    sim_net_set_link(w->net, w->link[end], &c);
}

void world_needs_fec(void) {
    if (!tltcp__fec_available()) {
        skip();
    }
}

bool play(const struct plan *p, uint64_t *hash) {
    static struct world w; /* large */
    char line[700];
    int rv = world_open(&w, p);
    if (rv != 0) {
        world_fault(&w, "not opened: %s", tltcp_strerror(rv));
    }
    if (p->quiet) {
        world_run_until_quiet(&w);
        for (int i = 0; i < 2 && w.why[0] == '\0'; i++) {
            end_close(&w.end[i]);
            sim_peer_pump(w.end[i].peer);
        }
    }
    world_run(&w);
    if (!p->no_delivery_check) {
        world_check_end(&w);
    }
    if (w.why[0] != '\0') {
        print_error("%s\n    %s\n", plan_describe(p, line, sizeof(line)),
                    w.why);
    }
    world_free(&w);
    if (w.alloc.blocks != 0) {
        print_error("%zu blocks leaked\n", w.alloc.blocks);
    }
    if (hash != NULL) {
        *hash = w.hash;
    }
    return w.why[0] == '\0' && w.alloc.blocks == 0;
}
