/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/simnet/lie.h"

struct world w;
uint32_t lie_next_pn;

void lie_begin(struct lie *l, const struct end *victim) {
    sec__packet p = {.type = SEC__SHORT,
                     .dcid = tltcp_conn_id(victim->peer->conn),
                     .pn = lie_next_pn++};
    l->w = cmn__writer_of(l->buf, sizeof(l->buf) - SEC__CHECK_LEN);
    sec__packet_put(&l->w, &p);
}

int lie_tell(struct lie *l, const struct end *victim) {
    tltcp_pktinfo info = {.path = tltcp_conn_path(victim->peer->conn)};
    int rv;
    l->w.end += SEC__CHECK_LEN;
    sec__packet_seal(&l->w, l->buf);
    assert_false(l->w.bad);
    rv = tltcp_conn_recv(victim->peer->conn, &info, l->buf,
                         (size_t)(l->w.p - l->buf), sim_host_now(victim->host));
    sim_peer_pump(victim->peer);
    return rv;
}

void lie_open(uint64_t seed) {
    struct plan p;
    plan_init(&p, seed);
    p.source[CLIENT].sections = 1000;
    p.source[CLIENT].interval = 50 * MS;
    p.source[SERVER].sections = 1000;
    p.source[SERVER].interval = 50 * MS;
    p.config[SERVER].recv_buffer = 100000;
    p.config[SERVER].max_sections = 100;
    p.keep_open = true;
    world_start_for(&w, &p, 1 * SEC);
    lie_next_pn = 5000; /* above all that the peer has used */
}

void lie_start(struct lie *l, const struct end *victim, uint64_t seed) {
    lie_open(seed);
    lie_begin(l, victim);
}

uint32_t stream_read(void) {
    return (uint32_t)w.flow[CLIENT].next_seq;
}

uint32_t sections_read(void) {
    return stream_read() / 1000;
}

void lie_close(void) {
    world_close(&w);
}

void lie_put(struct lie *l, uint64_t v, size_t n) {
    while (n-- > 0) {
        cmn__put8(&l->w, n < sizeof(v) ? (uint8_t)(v >> 8 * n) : 0);
    }
}

void lie_ack(struct lie *l, uint32_t largest, uint32_t first,
             uint32_t cumulative) {
    tltcp__ack a = {.largest = largest,
                    .first = first,
                    .cumulative = cumulative,
                    .window = {1 << 20, 1000}};
    tltcp__ack_put(&l->w, &a, 0);
}

void lie_data(struct lie *l, unsigned flags, uint32_t seq, uint32_t section,
              uint32_t len) {
    tltcp__data_put(&l->w, (uint8_t)flags, seq, section, len);
    len += (uint32_t)tltcp__meta_len(flags);
    for (uint32_t i = 0; i < len; i++) {
        cmn__put8(&l->w, 0);
    }
}

void lie_meta(struct lie *l, uint32_t section, const tltcp__meta *m) {
    uint8_t flags = TLTCP__DATA_START | tltcp__meta_flags(m);
    tltcp__data_put(&l->w, flags, stream_read() + 5000, section, 1);
    tltcp__meta_put(&l->w, flags, m);
    cmn__put8(&l->w, 0);
}

void lie_place(struct lie *l, uint8_t type, uint32_t seq, uint32_t section) {
    tltcp__position_put(&l->w, type, (tltcp__position){seq, section});
}

void lie_repair(struct lie *l, uint32_t start, uint32_t len, uint8_t index) {
    static const uint8_t symbol[256] = {1};
    const tltcp__repair_chunk r = {.start = start,
                                   .section = start / 1000,
                                   .len = len,
                                   .index = index,
                                   .symbol = symbol,
                                   .size = sizeof(symbol)};
    tltcp__repair_put(&l->w, 0, &r);
}

static bool drop_towards_server(void *user, uint32_t link, struct sim_packet *p,
                                uint64_t now) {
    (void)user;
    (void)p;
    (void)now;
    return link != 0;
}

void lie_mute_client(void) {
    sim_net_set_tap(w.net, drop_towards_server, NULL);
}
