/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Peers that lie: the connection ends with a named error, or the lie is
 * dropped; memory stays bounded.  The liar is played by injecting packets with
 * the right connection id.
 */
#include <inttypes.h>

#include "libtltcp/chunk.h"
#include "libtltcp/conn.h"
#include "tests/simnet/world.h"

static struct world w;

/* A packet in the making, as the peer of the victim would send it. */
struct lie {
    uint8_t buf[1472];
    cmn__writer w;
};

static uint32_t next_pn;

static void lie_begin(struct lie *l, const struct end *victim) {
    tltcp__packet p = {.type = TLTCP__SHORT,
                       .dcid = tltcp_conn_id(victim->peer->conn),
                       .pn = next_pn++};
    l->w = cmn__writer_of(l->buf, sizeof(l->buf) - TLTCP__CHECK_LEN);
    tltcp__packet_put(&l->w, &p);
}

static int lie_tell(struct lie *l, const struct end *victim) {
    tltcp_pktinfo info = {.path = tltcp_conn_path(victim->peer->conn)};
    int rv;
    l->w.end += TLTCP__CHECK_LEN;
    tltcp__packet_seal(&l->w, l->buf);
    assert_false(l->w.bad);
    rv = tltcp_conn_recv(victim->peer->conn, &info, l->buf,
                         (size_t)(l->w.p - l->buf), sim_host_now(victim->host));
    sim_peer_pump(victim->peer);
    return rv;
}

/* A connection on which both sides have sent some data; the client's stream
 * goes on slowly. */
static void begin(uint64_t seed) {
    struct plan p;
    plan_init(&p, seed);
    p.source[CLIENT].sections = 1000;
    p.source[CLIENT].interval = 50 * MS;
    p.source[SERVER].sections = 1000;
    p.source[SERVER].interval = 50 * MS;
    p.config[SERVER].recv_buffer = 100000;
    p.config[SERVER].max_sections = 100;
    p.keep_open = true;
    assert_int_equal(world_open(&w, &p), 0);
    world_run_for(&w, 1 * SEC);
    assert_string_equal(w.why, "");
    next_pn = 5000; /* above all that the peer has used */
}

static uint32_t stream_read(void) {
    return (uint32_t)w.flow[CLIENT].next_seq;
}

static uint32_t sections_read(void) {
    return stream_read() / 1000;
}

static void finish(void) {
    world_close(&w);
    assert_int_equal(w.alloc.blocks, 0);
}

/* Tells the lie and expects the end of the victim with an error. */
static void expect_end(struct lie *l, struct end *victim, int error) {
    (void)lie_tell(l, victim);
    if (!victim->closed || victim->error != error) {
        fail_msg("closed %d, error %d (%s), expected %d (%s)", victim->closed,
                 victim->error, tltcp_strerror(victim->error), error,
                 tltcp_strerror(error));
    }
    assert_true(victim->reason[0] != '\0');
    finish();
}

static void put_ack(struct lie *l, uint32_t largest, uint32_t first,
                    uint32_t cumulative) {
    tltcp__ack a = {.largest = largest,
                    .first = first,
                    .cumulative = cumulative,
                    .window = {1 << 20, 1000}};
    tltcp__ack_put(&l->w, &a, 0);
}

static void an_ack_of_a_packet_never_sent_ends_it(void **state) {
    struct lie l;
    (void)state;
    begin(1);
    lie_begin(&l, &w.end[CLIENT]);
    put_ack(&l, 100000, 0, 0);
    expect_end(&l, &w.end[CLIENT], TLTCP_ERR_ACK);
}

static void an_ack_of_packets_below_zero_ends_it(void **state) {
    struct lie l;
    (void)state;
    begin(2);
    lie_begin(&l, &w.end[CLIENT]);
    put_ack(&l, 3, 4, 0);
    expect_end(&l, &w.end[CLIENT], TLTCP_ERR_ACK);
}

static void ranges_of_an_ack_below_zero_end_it(void **state) {
    struct lie l;
    tltcp__ack a = {.largest = 10, .window = {1 << 20, 1000}};
    (void)state;
    begin(3);
    lie_begin(&l, &w.end[CLIENT]);
    tltcp__ack_put(&l.w, &a, 1);
    cmn__put32(&l.w, 0xfffffff0);
    cmn__put32(&l.w, 0xfffffff0);
    expect_end(&l, &w.end[CLIENT], TLTCP_ERR_ACK);
}

static void a_cumulative_ack_beyond_what_was_sent_ends_it(void **state) {
    struct lie l;
    (void)state;
    begin(4);
    lie_begin(&l, &w.end[CLIENT]);
    put_ack(&l, 3, 0, 900000);
    expect_end(&l, &w.end[CLIENT], TLTCP_ERR_ACK);
}

static void put_data(struct lie *l, unsigned flags, uint32_t seq,
                     uint32_t section, uint32_t len) {
    tltcp__data_put(&l->w, (uint8_t)flags, seq, section, len);
    for (uint32_t i = 0; i < len; i++) {
        cmn__put8(&l->w, 0);
    }
}

static void data_beyond_the_window_ends_it(void **state) {
    struct lie l;
    (void)state;
    begin(5);
    lie_begin(&l, &w.end[SERVER]);
    put_data(&l, 0, stream_read() + 100001, sections_read() + 5, 10);
    expect_end(&l, &w.end[SERVER], TLTCP_ERR_FLOW);
}

static void sections_beyond_the_window_end_it(void **state) {
    struct lie l;
    (void)state;
    begin(6);
    lie_begin(&l, &w.end[SERVER]);
    put_data(&l, 0, stream_read() + 50000, sections_read() + 101, 10);
    expect_end(&l, &w.end[SERVER], TLTCP_ERR_FLOW);
}

static void an_impossible_seq_update_ends_it(void **state) {
    struct lie l;
    (void)state;
    begin(7);
    lie_begin(&l, &w.end[SERVER]);
    tltcp__place_put(&l.w, TLTCP__UPDATE,
                     (tltcp__place){stream_read() + 0x50000000, 100000});
    expect_end(&l, &w.end[SERVER], TLTCP_ERR_FLOW);
}

static void sections_that_run_backwards_end_it(void **state) {
    struct lie l;
    (void)state;
    begin(8);
    lie_begin(&l, &w.end[SERVER]);
    tltcp__place_put(&l.w, TLTCP__UPDATE,
                     (tltcp__place){stream_read() + 5000, 2});
    expect_end(&l, &w.end[SERVER], TLTCP_ERR_PROTOCOL);
}

static void data_that_contradicts_itself_ends_it(void **state) {
    /* flags, seq, section, len relative to what was read; two chunks */
    static const uint32_t lies[][8] = {
        {1, 5000, 9, 100, 1, 5050, 9, 100}, /* begins twice */
        {2, 5000, 9, 100, 2, 5050, 9, 100}, /* ends twice */
        {2, 5000, 9, 100, 0, 5100, 9, 100}, /* goes on behind its end */
        {1, 5000, 9, 100, 0, 4900, 9, 100}, /* begins before its start */
        {0, 5000, 9, 100, 1, 5050, 9, 100}, /* starts inside itself */
        {0, 5000, 9, 100, 2, 4900, 9, 100}, /* ends inside itself */
    };
    (void)state;
    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        const uint32_t *x = lies[i];
        struct lie l;
        begin(9 + i);
        lie_begin(&l, &w.end[SERVER]);
        put_data(&l, x[0], stream_read() + x[1], sections_read() + x[2], x[3]);
        put_data(&l, x[4], stream_read() + x[5], sections_read() + x[6], x[7]);
        expect_end(&l, &w.end[SERVER], TLTCP_ERR_PROTOCOL);
    }
}

static void two_ends_of_a_stream_end_it(void **state) {
    struct lie l;
    (void)state;
    begin(20);
    lie_begin(&l, &w.end[SERVER]);
    tltcp__place_put(&l.w, TLTCP__FIN,
                     (tltcp__place){stream_read() + 90000, 200});
    tltcp__place_put(&l.w, TLTCP__FIN,
                     (tltcp__place){stream_read() + 80000, 200});
    expect_end(&l, &w.end[SERVER], TLTCP_ERR_PROTOCOL);
}

static void data_behind_the_end_of_the_stream_ends_it(void **state) {
    struct lie l;
    (void)state;
    begin(21);
    lie_begin(&l, &w.end[SERVER]);
    tltcp__place_put(&l.w, TLTCP__FIN,
                     (tltcp__place){stream_read() + 5000, 50});
    put_data(&l, 0, stream_read() + 4999, 49, 2);
    expect_end(&l, &w.end[SERVER], TLTCP_ERR_PROTOCOL);
}

static void an_end_before_what_came_ends_it(void **state) {
    struct lie l;
    (void)state;
    begin(22);
    lie_begin(&l, &w.end[SERVER]);
    tltcp__place_put(&l.w, TLTCP__FIN, (tltcp__place){stream_read() - 1, 1});
    expect_end(&l, &w.end[SERVER], TLTCP_ERR_PROTOCOL);
}

static void chunks_that_are_unknown_or_malformed_end_it(void **state) {
    static const uint8_t types[] = {0x0d, 0x0f, 0x10, 0x20, 0x7f};
    (void)state;
    for (size_t i = 0; i < sizeof(types); i++) {
        struct lie l;
        begin(23 + i);
        lie_begin(&l, &w.end[SERVER]);
        tltcp__chunk_put(&l.w, types[i], 0, 0);
        expect_end(&l, &w.end[SERVER], TLTCP_ERR_PROTOCOL);
    }
    for (uint8_t type = 1; type <= 9; type++) { /* too short a body */
        struct lie l;
        if (type == TLTCP__PING) {
            continue;
        }
        begin(30 + type);
        lie_begin(&l, &w.end[SERVER]);
        tltcp__chunk_put(&l.w, type, 0, 3);
        cmn__put(&l.w, 0, 3);
        expect_end(&l, &w.end[SERVER], TLTCP_ERR_PROTOCOL);
    }
}

static void chunks_from_0x80_on_are_skipped(void **state) {
    struct lie l;
    (void)state;
    begin(40);
    lie_begin(&l, &w.end[SERVER]);
    tltcp__chunk_put(&l.w, 0x80, 7, 5);
    cmn__put(&l.w, 0, 5);
    tltcp__chunk_put(&l.w, 0xff, 7, 0);
    assert_int_equal(lie_tell(&l, &w.end[SERVER]), 0);
    assert_false(w.end[SERVER].closed);
    finish();
}

static void a_window_that_shrinks_is_ignored(void **state) {
    const tltcp__sections *sec;
    uint64_t seq;
    uint64_t section;
    struct lie l;
    (void)state;
    begin(41);
    sec = &w.end[CLIENT].peer->conn->sender.sec;
    seq = sec->peer_seq;
    section = sec->peer_section;
    lie_begin(&l, &w.end[CLIENT]);
    tltcp__place_put(&l.w, TLTCP__WINDOW, (tltcp__place){5, 1});
    assert_int_equal(lie_tell(&l, &w.end[CLIENT]), 0);
    assert_int_equal(sec->peer_seq, seq);
    assert_int_equal(sec->peer_section, section);
    assert_false(w.end[CLIENT].closed);
    finish();
}

static void a_million_holes_cost_bounded_memory(void **state) {
    size_t live;
    (void)state;
    begin(42);
    live = w.alloc.live;
    for (uint32_t i = 0; i < 1000000 && !w.end[SERVER].closed; i += 50) {
        struct lie l;
        lie_begin(&l, &w.end[SERVER]);
        for (uint32_t k = 0; k < 50; k++) { /* single bytes, all one section */
            put_data(&l, 0, stream_read() + 4000 + (i + k) * 2 % 90000,
                     sections_read() + 20, 1);
        }
        assert_int_equal(lie_tell(&l, &w.end[SERVER]), 0);
    }
    assert_true(w.alloc.peak - live < 2000000);
    finish();
}

static void a_million_skips_cost_bounded_memory(void **state) {
    size_t live;
    (void)state;
    begin(43);
    live = w.alloc.live;
    for (uint32_t i = 0; i < 1000000 && !w.end[SERVER].closed; i += 50) {
        struct lie l;
        lie_begin(&l, &w.end[SERVER]);
        for (uint32_t k = 0; k < 50; k++) {
            tltcp__skip s = {stream_read() + 4000 + (i + k) * 2,
                             stream_read() + 4001 + (i + k) * 2,
                             sections_read() + 50};
            tltcp__skip_put(&l.w, &s);
        }
        (void)lie_tell(&l, &w.end[SERVER]);
    }
    assert_true(w.alloc.peak - live < 2000000);
    finish();
}

static void
packet_numbers_all_over_the_place_cost_bounded_memory(void **state) {
    struct sim_random r;
    size_t live;
    (void)state;
    begin(44);
    live = w.alloc.live;
    sim_random_init(&r, 44);
    for (int i = 0; i < 200000; i++) {
        struct lie l;
        next_pn = 5000 + (uint32_t)sim_random_below(&r, 1 << 30);
        lie_begin(&l, &w.end[SERVER]);
        tltcp__chunk_put(&l.w, TLTCP__PING, 0, 0);
        if (lie_tell(&l, &w.end[SERVER]) != 0) {
            fail_msg("%d: %s (%s)", i, tltcp_strerror(w.end[SERVER].error),
                     w.end[SERVER].reason);
        }
    }
    assert_false(w.end[SERVER].closed);
    assert_true(w.alloc.peak - live < 60000000); /* records of own ACKs */
    finish();
}

/* Tells a lie again and again and never acknowledges what it causes. */
static void flood(int packets, uint8_t type, size_t len) {
    for (int i = 0; i < packets && !w.end[SERVER].closed; i++) {
        struct lie l;
        lie_begin(&l, &w.end[SERVER]);
        for (int k = 0; k < 100; k++) {
            tltcp__chunk_put(&l.w, type, 0, len);
            cmn__put(&l.w, 7, len);
        }
        (void)lie_tell(&l, &w.end[SERVER]);
    }
}

static void a_flood_of_chunks_is_answered_by_few_packets(void **state) {
    static const uint8_t types[] = {TLTCP__CHALLENGE, TLTCP__PING};
    (void)state;
    for (int i = 0; i < 2; i++) {
        uint64_t sent;
        begin(45);
        sent = w.end[SERVER].datagrams;
        flood(2000, types[i], i == 0 ? 8 : 0);
        assert_false(w.end[SERVER].closed);
        assert_true(w.end[SERVER].datagrams - sent <= 2 * 2000);
        finish();
    }
}

static void
a_peer_that_acknowledges_nothing_costs_bounded_memory(void **state) {
    static const uint8_t types[] = {TLTCP__CHALLENGE, TLTCP__PING};
    (void)state;
    for (int i = 0; i < 2; i++) {
        begin(45);
        flood(600000, types[i], i == 0 ? 8 : 0);
        assert_true(w.end[SERVER].closed);
        assert_int_equal(w.end[SERVER].error, TLTCP_ERR_LIMIT);
        assert_true(w.alloc.peak < 60000000);
        finish();
    }
}

static void acks_of_the_oldest_kind_cost_no_memory(void **state) {
    size_t live;
    (void)state;
    begin(46);
    live = w.alloc.live;
    for (int i = 0; i < 100000; i++) {
        struct lie l;
        lie_begin(&l, &w.end[CLIENT]);
        put_ack(&l, 3, 3, 0);
        assert_int_equal(lie_tell(&l, &w.end[CLIENT]), 0);
    }
    assert_false(w.end[CLIENT].closed);
    assert_true(w.alloc.peak - live < 300000);
    world_run_for(&w, 1 * SEC);
    assert_string_equal(w.why, "");
    finish();
}

static void sections_by_the_billion_are_passed_in_one_step(void **state) {
    const tltcp__reasm *r;
    struct lie l;
    (void)state;
    begin(47);
    r = &w.end[SERVER].peer->conn->reasm;
    lie_begin(&l, &w.end[SERVER]);
    tltcp__place_put(
        &l.w, TLTCP__UPDATE,
        (tltcp__place){stream_read() + 5000, sections_read() + 0x7ffffff0});
    assert_int_equal(lie_tell(&l, &w.end[SERVER]), 0);
    assert_int_equal(r->recs.head, r->update_section);
    assert_true(w.end[SERVER].peer->conn->stats.sections_cut >= 0x7ffffff0);
    finish();
}

static void nonces_and_pings_of_the_wrong_length_end_it(void **state) {
    static const uint8_t types[] = {TLTCP__CHALLENGE, TLTCP__RESPONSE,
                                    TLTCP__PING};
    (void)state;
    for (size_t i = 0; i < sizeof(types); i++) {
        struct lie l;
        begin(48 + i);
        lie_begin(&l, &w.end[SERVER]);
        tltcp__chunk_put(&l.w, types[i], 0, 9);
        cmn__put(&l.w, 0, 9);
        expect_end(&l, &w.end[SERVER], TLTCP_ERR_PROTOCOL);
    }
}

static void put_repair(struct lie *l, uint32_t start, uint32_t len,
                       uint8_t index) {
    static const uint8_t symbol[100] = {1};
    const tltcp__repair_chunk r = {.start = start,
                                   .section = start / 1000,
                                   .len = len,
                                   .index = index,
                                   .symbol = symbol,
                                   .size = sizeof(symbol)};
    tltcp__repair_put(&l->w, 0, &r);
}

static void repairs_of_anything_cost_bounded_memory(void **state) {
    (void)state;
    if (!tltcp__fec_available()) {
        skip();
    }
    begin(57);
    for (uint32_t i = 0; i < 20000 && !w.end[SERVER].closed; i++) {
        struct lie l;
        uint32_t ahead = 1000 + i * 7 % 80000;
        lie_begin(&l, &w.end[SERVER]);
        put_repair(&l, stream_read() + ahead, 200 + i % 9000,
                   (uint8_t)(i % TLTCP__FEC_REPAIR));
        (void)lie_tell(&l, &w.end[SERVER]);
    }
    assert_false(w.end[SERVER].closed);
    assert_true(w.end[SERVER].peer->conn->rebuild->bytes <= 50000);
    finish();
}

static void repairs_that_cannot_be_end_it(void **state) {
    struct lie l;
    (void)state;
    begin(58);
    lie_begin(&l, &w.end[SERVER]);
    put_repair(&l, stream_read() + 100, 100, TLTCP__FEC_REPAIR);
    expect_end(&l, &w.end[SERVER], TLTCP_ERR_PROTOCOL);
}

static void a_claim_to_have_rebuilt_what_was_never_sent_ends_it(void **state) {
    struct lie l;
    (void)state;
    begin(59);
    lie_begin(&l, &w.end[CLIENT]);
    tltcp__rebuilt_put(&l.w, 900000, 1000);
    expect_end(&l, &w.end[CLIENT], TLTCP_ERR_ACK);
}

static void an_ack_of_a_number_left_out_ends_it(void **state) {
    const tltcp__sender *s;
    struct lie l;
    (void)state;
    begin(60);
    s = &w.end[CLIENT].peer->conn->sender;
    while (s->left_out[0] == 0) {
        world_run_for(&w, 1 * SEC);
        assert_false(w.end[CLIENT].closed);
    }
    lie_begin(&l, &w.end[CLIENT]);
    put_ack(&l, (uint32_t)s->left_out[0], 0, 0);
    expect_end(&l, &w.end[CLIENT], TLTCP_ERR_ACK);
}

static bool drop_towards_server(void *user, uint32_t link, struct sim_packet *p,
                                uint64_t now) {
    (void)user;
    (void)p;
    (void)now;
    return link != 0;
}

static void a_receiver_that_acknowledges_ahead_is_found_out(void **state) {
    const tltcp__sender *s;
    uint64_t claimed = 0;
    int told = 0;
    (void)state;
    begin(61);
    s = &w.end[CLIENT].peer->conn->sender;
    sim_net_set_tap(w.net, drop_towards_server, NULL);
    claimed = s->map.packets.tail;
    for (; !w.end[CLIENT].closed && told < 1000; told++) {
        struct lie l; /* one number after the other, as they must come */
        while (claimed >= s->map.packets.tail) {
            world_run_for(&w, 10 * MS);
        }
        lie_begin(&l, &w.end[CLIENT]);
        put_ack(&l, (uint32_t)claimed++, 0, 0);
        (void)lie_tell(&l, &w.end[CLIENT]);
    }
    assert_in_range(told, 1, 600);
    assert_int_equal(w.end[CLIENT].error, TLTCP_ERR_ACK);
    finish();
}

static void a_seq_update_that_goes_backwards_is_ignored(void **state) {
    struct lie l;
    uint64_t read;
    (void)state;
    begin(62);
    read = w.flow[CLIENT].next_seq;
    for (uint32_t back = 0; back < 3; back++) {
        lie_begin(&l, &w.end[SERVER]);
        tltcp__place_put(&l.w, TLTCP__UPDATE,
                         (tltcp__place){(uint32_t)read - 1000 * (back + 1),
                                        sections_read() - back - 1});
        assert_int_equal(lie_tell(&l, &w.end[SERVER]), 0);
    }
    assert_false(w.end[SERVER].closed);
    assert_int_equal(w.end[SERVER].peer->conn->reasm.cursor, read);
    world_run_for(&w, 1 * SEC);
    assert_true(w.flow[CLIENT].next_seq > read);
    assert_string_equal(w.why, "");
    finish();
}

static void a_boundless_window_makes_the_sender_hold_no_more(void **state) {
    const tltcp__sections *sec;
    struct lie l;
    (void)state;
    begin(63);
    sec = &w.end[CLIENT].peer->conn->sender.sec;
    lie_begin(&l, &w.end[CLIENT]);
    tltcp__place_put(&l.w, TLTCP__WINDOW,
                     (tltcp__place){(uint32_t)sec->nxt + 0x7fffffff,
                                    (uint32_t)sec->recs.tail + 0x7fffffff});
    assert_int_equal(lie_tell(&l, &w.end[CLIENT]), 0);
    assert_true(sec->peer_seq >= 0x7fffffff);
    sim_net_set_tap(w.net, drop_towards_server, NULL);
    world_run_for(&w, 20 * SEC); /* 400 sections of 1000 bytes */
    assert_true(end_stats(&w.end[CLIENT]).bytes_queued <=
                w.plan.config[CLIENT].send_buffer);
    assert_true(w.alloc.peak < 8000000);
    finish();
}

static void a_reader_that_never_reads_costs_its_buffer_only(void **state) {
    struct plan p;
    tltcp_stats st;
    (void)state;
    plan_init(&p, 64);
    p.source[CLIENT].sections = 1000;
    p.source[CLIENT].size_min = 10000;
    p.source[CLIENT].size_max = 10000;
    p.config[CLIENT].send_buffer = 200000;
    p.config[SERVER].recv_buffer = 100000;
    p.reader[SERVER].pause_from = 0;
    p.reader[SERVER].pause_until = 3600 * SEC;
    p.keep_open = true;
    assert_int_equal(world_open(&w, &p), 0);
    world_run_for(&w, 60 * SEC);
    st = end_stats(&w.end[SERVER]);
    assert_true(st.bytes_unread <= 100000);
    st = end_stats(&w.end[CLIENT]);
    assert_true(st.bytes_queued <= 200000);
    assert_true(w.alloc.peak < 2000000);
    assert_false(w.end[CLIENT].closed); /* keep-alives: he lives */
    finish();
}

/* A packet that looks right but for an id that was guessed. */
static void tell_guess(struct end *victim, uint8_t packet, uint8_t chunk,
                       uint64_t id) {
    tltcp_pktinfo info = {.path = tltcp_conn_path(victim->peer->conn)};
    tltcp__packet p = {.type = packet,
                       .version =
                           packet == TLTCP__VERSIONS ? 0 : TLTCP__VERSION,
                       .dcid = id,
                       .scid = 5,
                       .token = (const uint8_t *)"token",
                       .token_len = packet == TLTCP__RETRY ? 5 : 0,
                       .pn = next_pn++};
    uint8_t buf[100];
    cmn__writer wr = cmn__writer_of(buf, sizeof(buf));
    tltcp__packet_put(&wr, &p);
    if (packet == TLTCP__SHORT || packet == TLTCP__ANSWER) {
        tltcp__chunk_put(&wr, chunk, 0, chunk == TLTCP__CLOSE ? 4 : 8);
        cmn__put(&wr, 9, chunk == TLTCP__CLOSE ? 4 : 8);
    } else {
        cmn__put32(&wr, packet == TLTCP__REJECT ? -TLTCP_ERR_AUTH : 7);
    }
    tltcp__packet_seal(&wr, buf);
    (void)tltcp_conn_recv(victim->peer->conn, &info, buf, (size_t)(wr.p - buf),
                          sim_host_now(victim->host));
    sim_peer_pump(victim->peer);
}

static void guessed_ids_neither_end_nor_move_a_connection(void **state) {
    static const uint8_t packets[] = {TLTCP__SHORT, TLTCP__ANSWER, TLTCP__RETRY,
                                      TLTCP__VERSIONS, TLTCP__REJECT};
    static const uint8_t chunks[] = {TLTCP__CLOSE, TLTCP__RESPONSE};
    struct sim_random r;
    uint64_t path;
    (void)state;
    begin(65);
    path = tltcp_conn_path(w.end[SERVER].peer->conn);
    sim_random_init(&r, 65);
    for (int i = 0; i < 5000; i++) {
        tell_guess(&w.end[i & 1], packets[i % 5], chunks[i % 2],
                   sim_random_u64(&r));
    }
    assert_false(w.end[CLIENT].closed || w.end[SERVER].closed);
    assert_int_equal(tltcp_conn_path(w.end[SERVER].peer->conn), path);
    world_run_for(&w, 1 * SEC);
    assert_string_equal(w.why, "");
    finish();
}

static void guessed_answers_do_not_end_a_call(void **state) {
    struct sim_random r;
    struct plan p;
    (void)state;
    plan_init(&p, 66);
    p.source[CLIENT].sections = 3;
    assert_int_equal(world_open(&w, &p), 0);
    sim_random_init(&r, 66);
    for (uint8_t type = TLTCP__ANSWER; type <= TLTCP__REJECT; type++) {
        for (int i = 0; i < 1000; i++) {
            tell_guess(&w.end[CLIENT], type, TLTCP__CLOSE, sim_random_u64(&r));
        }
    }
    assert_false(w.end[CLIENT].closed);
    assert_int_equal(end_stats(&w.end[CLIENT]).packets_dropped, 4000);
    world_finish(&w);
}

static void a_guessed_response_does_not_move_the_path(void **state) {
    struct lie l;
    uint64_t path;
    (void)state;
    begin(67);
    path = tltcp_conn_path(w.end[SERVER].peer->conn);
    for (uint64_t i = 0; i < 1000; i++) { /* with the right id, even */
        lie_begin(&l, &w.end[SERVER]);
        tltcp__chunk_put(&l.w, TLTCP__RESPONSE, 0, 8);
        cmn__put64(&l.w, i);
        assert_int_equal(lie_tell(&l, &w.end[SERVER]), 0);
    }
    assert_int_equal(tltcp_conn_path(w.end[SERVER].peer->conn), path);
    assert_int_equal(w.end[SERVER].path_events, 0);
    finish();
}

/* Everything comes a second time, later. */
struct echo {
    struct sim_net *net;
    struct sim_packet *kept[4000];
    uint32_t link[4000];
    size_t count;
    size_t next;
    bool replaying;
};

static bool keep_copies(void *user, uint32_t link, struct sim_packet *p,
                        uint64_t now) {
    struct echo *e = user;
    (void)now;
    if (!e->replaying && e->count < 4000) {
        struct sim_packet *q = sim_packet_new(p->data, p->len);
        q->src = p->src;
        q->dst = p->dst;
        e->link[e->count] = link;
        e->kept[e->count++] = q;
    }
    return true;
}

static void packets_that_are_replayed_change_nothing(void **state) {
    static struct echo e;
    (void)state;
    for (int secured = 0; secured < 2; secured++) {
        struct plan p;
        uint64_t dropped;
        memset(&e, 0, sizeof(e));
        plan_init(&p, 68);
        p.source[CLIENT].sections = 300;
        p.source[CLIENT].interval = 10 * MS;
        p.secured = secured == 1;
        p.tap = keep_copies;
        p.user = &e;
        p.keep_open = true;
        assert_int_equal(world_open(&w, &p), 0);
        world_run_for(&w, 2 * SEC);
        e.replaying = true;
        dropped = end_stats(&w.end[SERVER]).packets_dropped;
        for (; e.next < e.count; e.next++) {
            sim_net_send(w.net, e.link[e.next], e.kept[e.next]);
            world_run_for(&w, 2 * MS);
        }
        world_run_for(&w, 2 * SEC);
        assert_string_equal(w.why, "");
        assert_int_equal(w.flow[CLIENT].reader.gaps, 0);
        assert_false(w.end[CLIENT].closed || w.end[SERVER].closed);
        assert_true(end_stats(&w.end[SERVER]).packets_dropped > dropped + 100);
        assert_int_equal(
            tltcp_endpoint_count(sim_host_endpoint(w.end[SERVER].host)), 1);
        finish();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_ack_of_a_packet_never_sent_ends_it),
        cmocka_unit_test(an_ack_of_packets_below_zero_ends_it),
        cmocka_unit_test(ranges_of_an_ack_below_zero_end_it),
        cmocka_unit_test(a_cumulative_ack_beyond_what_was_sent_ends_it),
        cmocka_unit_test(data_beyond_the_window_ends_it),
        cmocka_unit_test(sections_beyond_the_window_end_it),
        cmocka_unit_test(an_impossible_seq_update_ends_it),
        cmocka_unit_test(sections_that_run_backwards_end_it),
        cmocka_unit_test(data_that_contradicts_itself_ends_it),
        cmocka_unit_test(two_ends_of_a_stream_end_it),
        cmocka_unit_test(data_behind_the_end_of_the_stream_ends_it),
        cmocka_unit_test(an_end_before_what_came_ends_it),
        cmocka_unit_test(chunks_that_are_unknown_or_malformed_end_it),
        cmocka_unit_test(chunks_from_0x80_on_are_skipped),
        cmocka_unit_test(a_window_that_shrinks_is_ignored),
        cmocka_unit_test(a_million_holes_cost_bounded_memory),
        cmocka_unit_test(a_million_skips_cost_bounded_memory),
        cmocka_unit_test(packet_numbers_all_over_the_place_cost_bounded_memory),
        cmocka_unit_test(a_flood_of_chunks_is_answered_by_few_packets),
        cmocka_unit_test(a_peer_that_acknowledges_nothing_costs_bounded_memory),
        cmocka_unit_test(acks_of_the_oldest_kind_cost_no_memory),
        cmocka_unit_test(sections_by_the_billion_are_passed_in_one_step),
        cmocka_unit_test(nonces_and_pings_of_the_wrong_length_end_it),
        cmocka_unit_test(repairs_of_anything_cost_bounded_memory),
        cmocka_unit_test(repairs_that_cannot_be_end_it),
        cmocka_unit_test(a_claim_to_have_rebuilt_what_was_never_sent_ends_it),
        cmocka_unit_test(an_ack_of_a_number_left_out_ends_it),
        cmocka_unit_test(a_receiver_that_acknowledges_ahead_is_found_out),
        cmocka_unit_test(a_seq_update_that_goes_backwards_is_ignored),
        cmocka_unit_test(a_boundless_window_makes_the_sender_hold_no_more),
        cmocka_unit_test(a_reader_that_never_reads_costs_its_buffer_only),
        cmocka_unit_test(guessed_ids_neither_end_nor_move_a_connection),
        cmocka_unit_test(guessed_answers_do_not_end_a_call),
        cmocka_unit_test(a_guessed_response_does_not_move_the_path),
        cmocka_unit_test(packets_that_are_replayed_change_nothing),
    };
    return cmocka_run_group_tests_name("liars", tests, NULL, NULL);
}
