/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Two connected engines, driven by a script of times, calls and mutations of
 * their datagrams.  As long as the check sum is not repaired after a mutation,
 * what is read must be what was written; otherwise the stream must still be in
 * one piece and memory bounded.
 */
#include <string.h>

#include "internal/secure/packet.h"
#include "libtltcp/engine/conn.h"
#include "libtltcp/engine/fec.h"
#include "sim/reader.h"
#include "sim/source.h"
#include "tests/fuzz/script.h"
#include "tests/support/alloc.h"

#define SECTIONS 300
#define CONTENT 77 /* seed of all contents */

struct end {
    struct world *world;
    struct sim_host *host;
    struct sim_peer *peer;
    struct sim_reader reader;
    uint64_t start[SECTIONS + 1]; /* of the sections written */
    tltcp_time deadline[SECTIONS];
    uint32_t n;
    uint64_t next; /* ordered: place read up to */
    bool unordered;
    bool early; /* deadlines mean arrival */
    bool closed;
};

struct world {
    struct script in;
    struct test_alloc alloc;
    struct sim_net *net;
    struct end end[2];
    uint64_t mutations; /* packets still to be mutated */
    bool forge;         /* check sums are repaired */
    bool secured;       /* then that is of no use */
};

static uint32_t section_of(const struct end *e, uint64_t seq) {
    uint32_t i = 0;
    while (i < e->n && e->start[i + 1] <= seq) {
        i++;
    }
    return i;
}

/* The pieces that one end reads of what the other wrote. */
static void on_piece(void *user, const struct tltcp_segment *seg,
                     const struct tltcp_meta *meta, const uint8_t *data,
                     uint64_t len) {
    struct end *reader = user;
    struct world *w = reader->world;
    struct end *writer = &w->end[reader == &w->end[0]];
    uint32_t i;
    FUZZ_CHECK(len > 0);
    FUZZ_CHECK(meta->section_class <= TL_CLASS_LAST &&
               meta->stream < TL_STREAMS_MAX);
    FUZZ_CHECK(meta->depends == TL_DEPENDS_NONE ||
               meta->depends <= seg->section);
    FUZZ_CHECK(reader->unordered || seg->seq == reader->next);
    reader->next = seg->seq + len;
    if (w->forge && !w->secured) {
        return;
    }
    i = section_of(writer, seg->seq);
    FUZZ_CHECK(seg->seq + len <= writer->start[writer->n]);
    if (data != NULL) {
        FUZZ_CHECK(seg->section == i && seg->seq + len <= writer->start[i + 1]);
        FUZZ_CHECK(sim_source_check(CONTENT, seg->seq, data, (size_t)len));
    } else {
        FUZZ_CHECK(writer->deadline[i] <= sim_host_now(writer->host) ||
                   (writer->early && writer->deadline[i] != TLTCP_TIME_NEVER));
    }
}

static void on_ready(void *user, struct sim_peer *p) {
    struct end *e = user;
    FUZZ_CHECK(!p->stuck);
    if (e->peer == NULL) {
        e->peer = p;
        sim_reader_start(&e->reader, p);
    }
    sim_reader_ready(&e->reader);
}

static void on_event(void *user, struct sim_peer *p, const tltcp_event *ev) {
    struct end *e = user;
    (void)p;
    if (ev->type == TLTCP_EVENT_CLOSED) {
        FUZZ_CHECK(!e->closed);
        e->closed = true;
    }
}

static void reseal(struct sim_packet *p) {
    cmn__writer wr = cmn__writer_of(p->data, p->len);
    if (p->len > SEC__CHECK_LEN) {
        wr.p += p->len - SEC__CHECK_LEN;
        sec__packet_seal(&wr, p->data);
    }
}

static void mutate(struct world *w, struct sim_packet *p) {
    uint64_t times = 1 + script_below(&w->in, 4);
    for (uint64_t i = 0; i < times && p->len > 0; i++) {
        /* mostly near the front, where headers and control are */
        uint64_t span = script_below(&w->in, 4) == 0 ? p->len : 64;
        uint64_t at = script_below(&w->in, span < p->len ? span : p->len);
        switch (script_below(&w->in, 4)) {
        case 0:
            p->data[at] = (uint8_t)script_number(&w->in, 1);
            break;
        case 1:
            p->data[at] ^= (uint8_t)(1U << script_below(&w->in, 8));
            break;
        case 2:
            p->len = (uint32_t)(at > 20 ? at : p->len);
            break;
        default:
            p->data[at] = 0xff;
            break;
        }
    }
    if (w->forge) {
        reseal(p);
    }
}

static bool on_wire(void *user, uint32_t link, struct sim_packet *p,
                    uint64_t now) {
    struct world *w = user;
    (void)link;
    (void)now;
    if (w->mutations == 0) {
        return true;
    }
    w->mutations--;
    if (script_below(&w->in, 8) == 0) {
        return false;
    }
    mutate(w, p);
    return true;
}

static enum sim_answer on_caller(void *user, struct sim_peer *p) {
    struct world *w = user;
    if (w->end[1].peer != NULL) { /* a mutated INITIAL is somebody else's */
        return SIM_REFUSE;
    }
    p->app = (struct sim_app){
        .on_event = on_event, .on_ready = on_ready, .user = &w->end[1]};
    return SIM_ACCEPT;
}

static void configure(struct world *w, tltcp_config *c) {
    static const char *const recoveries[] = {"packet", "dupack", "dupack-tahoe",
                                             "dupack-newreno"};
    static const char *const names[] = {"cubic", "reno", "sack", "tahoe"};
    uint64_t x = script_number(&w->in, 2);
    tltcp_config_init(c);
    c->recovery = recoveries[x & 3];
    c->congestion = names[x >> 2 & 3];
    c->unordered = (x >> 4 & 1) != 0;
    c->deadline_at_receiver = (x >> 5 & 1) != 0;
    c->controller.pacing = (x >> 6 & 1) == 0;
    c->recv_buffer = (x >> 7 & 1) != 0 ? 4096 : 1 << 18;
    c->send_buffer = (x >> 8 & 1) != 0 ? 4096 : 1 << 18;
    c->max_sections = (x >> 9 & 1) != 0 ? 16 : 1024;
    c->listener.always_retry = (x >> 10 & 1) != 0;
    if ((x >> 11 & 1) != 0 && tltcp__fec_available()) {
        c->fec = TLTCP_FEC_ON;
    }
    c->report_fates = true;
    if (w->secured) {
        static const uint8_t key[32] = {1, 2, 3};
        c->key = key;
        c->key_len = sizeof(key);
    }
    c->allocator = (tltcp_allocator){test_alloc_realloc, &w->alloc};
}

static void open_world(struct world *w) {
    struct sim_link_config link;
    struct sim_app app = {
        .on_event = on_event, .on_ready = on_ready, .user = &w->end[0]};
    struct sim_reader_config reading = {.on_piece = on_piece};
    struct sim_peer *caller = NULL;
    tltcp_config c;
    w->net = sim_net_new();
    FUZZ_CHECK(w->net != NULL);
    sim_link_config_init(&link);
    link.rate = 10e6;
    link.delay = 5000000;
    link.limit_packets = 50;
    for (int i = 0; i < 2; i++) {
        w->end[i].world = w;
        w->end[i].host = sim_host_new(w->net, 1000);
        FUZZ_CHECK(w->end[i].host != NULL);
        reading.user = &w->end[i];
        sim_reader_init(&w->end[i].reader, &reading);
    }
    (void)sim_net_add_link(w->net, 0, 1, &link, 1);
    (void)sim_net_add_link(w->net, 1, 0, &link, 2);
    sim_net_set_tap(w->net, on_wire, w);
    configure(w, &c);
    w->end[1].unordered = c.unordered;
    w->end[1].early = c.deadline_at_receiver;
    FUZZ_CHECK(sim_host_listen(w->end[1].host, &c, 5, on_caller, w) == 0);
    configure(w, &c);
    c.listener.always_retry = false;
    w->end[0].unordered = c.unordered;
    w->end[0].early = c.deadline_at_receiver;
    FUZZ_CHECK(sim_host_connect(w->end[0].host, &caller, &c, 6,
                                sim_address(1, 0), &app) == 0);
}

static void write_section(struct world *w, struct end *e) {
    static uint8_t data[8192];
    struct iovec part = {data, 1 + (size_t)script_below(&w->in, 4000)};
    tltcp_section s = {.data = &part, .count = 1};
    uint64_t budget = script_below(&w->in, 256);
    if (e->n == SECTIONS) {
        return;
    }
    sim_source_fill(CONTENT, e->start[e->n], data, part.iov_len);
    s.deadline = budget == 0 ? TLTCP_TIME_NEVER
                             : sim_host_now(e->host) + (budget - 1) * 500000;
    e->deadline[e->n] = s.deadline;
    if (tltcp_conn_write(e->peer->conn, &s, 1, sim_host_now(e->host)) == 1) {
        e->start[e->n + 1] = e->start[e->n] + part.iov_len;
        e->n++;
    }
}

static void call(struct world *w, struct end *e) {
    tltcp_time now = sim_host_now(e->host);
    tltcp_stats st;
    switch (script_below(&w->in, 32)) {
    case 0:
        tltcp_conn_finish(e->peer->conn, now);
        break;
    case 1:
        tltcp_conn_close(e->peer->conn, now + 100 * TLTCP_MS, now);
        break;
    case 2:
        if (script_below(&w->in, 16) == 0) {
            tltcp_conn_abort(e->peer->conn, TLTCP_ERR_LIMIT, "script", now);
        }
        break;
    case 3:
        if (script_below(&w->in, 2) == 0) {
            (void)tltcp_conn_migrate(e->peer->conn);
        }
        if (e == &w->end[0]) {
            (void)sim_peer_rebind(e->peer);
        }
        break;
    case 4:
        tltcp_stats_init(&st);
        FUZZ_CHECK(tltcp_conn_get_stats(e->peer->conn, &st, now) == 0);
        FUZZ_CHECK(st.bytes_in_flight < UINT64_C(1) << 32);
        break;
    default:
        write_section(w, e);
        break;
    }
    sim_peer_pump(e->peer);
}

static void step(struct world *w) {
    struct end *e = &w->end[script_below(&w->in, 2)];
    struct sim_loop *l = sim_net_loop(w->net);
    switch (script_below(&w->in, 4)) {
    case 0:
        sim_loop_run(l, l->now + script_below(&w->in, 256) * 200000);
        break;
    case 1:
        w->mutations += script_below(&w->in, 8);
        break;
    default:
        if (e->peer != NULL) {
            call(w, e);
        }
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *in, size_t size) {
    static struct world w; /* large */
    struct sim_loop *l;
    memset(&w, 0, sizeof(w));
    w.in = (struct script){in, in + size};
    w.forge = script_below(&w.in, 2) == 1;
    w.secured = script_below(&w.in, 4) == 1;
    w.mutations = script_below(&w.in, 16);
    w.alloc.limit = 64 << 20;
    open_world(&w);
    l = sim_net_loop(w.net);
    while (script_left(&w.in)) {
        step(&w);
    }
    w.mutations = 0;
    sim_loop_run(l, l->now + 200 * TLTCP_S); /* idle timeouts end the rest */
    FUZZ_CHECK(w.alloc.peak < 16 << 20);
    for (int i = 0; i < 2; i++) {
        sim_reader_stop(&w.end[i].reader);
        sim_host_free(w.end[i].host);
    }
    sim_net_free(w.net);
    FUZZ_CHECK(w.alloc.blocks == 0);
    return 0;
}
