/* SPDX-License-Identifier: MPL-2.0 */
/* Limits on the memory that callers make a listener hold. */
#include <string.h>

#include "libtltcp/engine/conn.h"
#include "libtltcp/engine/endpoint.h"
#include "tests/support/alloc.h"
#include "tests/support/cmocka.h"

#define GUESTS 6000

struct house {
    struct test_alloc alloc;
    tltcp_endpoint *ep;
    tltcp_conn *guest[GUESTS];
    size_t guests;
    tltcp_time now;
    tltcp_dispatch out;
};

static struct house h;

static void open_house(tltcp_config *c) {
    static const uint8_t seed[TLTCP_SEED_LEN] = {1};
    memset(&h, 0, sizeof(h));
    h.now = TLTCP_S;
    c->allocator = (tltcp_allocator){test_alloc_realloc, &h.alloc};
    assert_int_equal(tltcp_endpoint_new(&h.ep, c, seed, h.now), 0);
}

static void close_house(void) {
    while (h.guests > 0) {
        tltcp_conn_free(h.guest[--h.guests]);
    }
    assert_int_equal(tltcp_endpoint_count(h.ep), 0);
    assert_int_equal(h.ep->shared->budget.held, 0);
    assert_int_equal(h.ep->shared->budget.half_open, 0);
    tltcp_endpoint_free(h.ep);
    assert_int_equal(h.alloc.blocks, 0);
}

static int knock(const tltcp_pktinfo *from, uint64_t id, const uint8_t *token,
                 size_t token_len) {
    const tltcp__params params = {
        .window = 1, .sections = 1, .datagram = 1200, .ack_every = 1};
    const sec__packet p = {.type = SEC__INITIAL,
                           .version = TLTCP__VERSION,
                           .scid = id,
                           .token = token,
                           .token_len = token_len};
    uint8_t dgram[SEC__DATAGRAM_MIN] = {0};
    cmn__writer w = cmn__writer_of(dgram, sizeof(dgram));
    int verdict;
    sec__packet_put(&w, &p);
    tltcp__params_put(&w, &params);
    w.p = dgram + sizeof(dgram) - SEC__CHECK_LEN;
    sec__packet_seal(&w, dgram);
    verdict =
        tltcp_endpoint_recv(h.ep, from, dgram, sizeof(dgram), &h.out, h.now);
    if (verdict == TLTCP_CALLER) {
        assert_true(h.guests < GUESTS);
        h.guest[h.guests++] = h.out.conn;
    }
    return verdict;
}

static tltcp_pktinfo place(uint64_t path, uint64_t network, uint64_t block56,
                           uint64_t block48) {
    return (tltcp_pktinfo){.path = path,
                           .network = network,
                           .block56 = block56,
                           .block48 = block48};
}

/* Calls and returns the token that is asked for.  True when let in. */
static bool call_with_token(const tltcp_pktinfo *from, uint64_t id) {
    uint8_t token[SEC__TOKEN_MAX];
    sec__packet p;
    int verdict = knock(from, id, NULL, 0);
    if (verdict != TLTCP_REPLY) {
        return verdict == TLTCP_CALLER;
    }
    assert_true(sec__packet_parse(h.out.reply, h.out.reply_len, &p));
    if (p.type == SEC__REJECT) {
        return false;
    }
    assert_int_equal(p.type, SEC__RETRY);
    memcpy(token, p.token, p.token_len);
    return knock(from, id, token, p.token_len) == TLTCP_CALLER;
}

/* How many of `calls` callers are let in, each from a network of its own or all
 * from one block. */
static unsigned let_in(unsigned calls, bool own, uint64_t block56,
                       uint64_t block48) {
    unsigned in = 0;
    for (unsigned i = 0; i < calls; i++) {
        uint64_t x = h.guests * 10000 + i + 1000;
        tltcp_pktinfo from = place(x, own ? x : 77, block56, block48);
        in += call_with_token(&from, x);
    }
    return in;
}

TEST(a_token_opens_a_limited_number_of_calls_of_one_address) {
    tltcp_config c;
    tltcp_config_init(&c);
    c.listener.max_half_open_per_address = 2;
    open_house(&c);
    assert_int_equal(let_in(100, false, 0, 0), 32);
    assert_int_equal(let_in(3, true, 0, 0), 3); /* others are not concerned */
    close_house();
}

TEST(larger_blocks_have_limits_of_their_own) {
    tltcp_config c;
    tltcp_config_init(&c);
    c.listener.max_half_open_per_address = 2;
    open_house(&c);
    assert_int_equal(let_in(100, true, 5, 6), 64);
    assert_int_equal(let_in(100, true, 7, 6), 64);
    assert_int_equal(let_in(100, true, 8, 6), 0);
    assert_int_equal(let_in(3, true, 9, 10), 3);
    close_house();
    c.listener.max_half_open_per_address = 64;
    c.listener.max_per_address = 3;
    open_house(&c);
    assert_int_equal(let_in(100, true, 5, 6), 6);
    assert_int_equal(let_in(100, true, 7, 6), 6);
    assert_int_equal(let_in(100, true, 8, 6), 0);
    close_house();
}

TEST(a_large_block_leaves_others_a_quarter) {
    tltcp_config c;
    tltcp_config_init(&c);
    c.listener.max_connections = 16;
    c.listener.max_per_address = 4;
    open_house(&c);
    assert_int_equal(let_in(100, true, 5, 6), 8);
    assert_int_equal(let_in(100, true, 7, 6), 4);
    assert_int_equal(let_in(100, true, 8, 9), 4);
    close_house();
    /* Connections that are half open, with a token: 64 in all. */
    c.listener.max_connections = 65536;
    c.listener.max_per_address = 16384;
    c.listener.max_half_open = 4;
    c.listener.max_half_open_per_address = 1;
    open_house(&c);
    assert_true(let_in(1000, true, 5, 6) <= 32);
    assert_true(let_in(1000, true, 7, 6) <= 16);
    assert_in_range(let_in(1000, true, 8, 9), 10, 16);
    close_house();
}

/* Where one host may take all, so may a network. */
TEST(a_listener_of_one_network_serves_it) {
    tltcp_config c;
    tltcp_config_init(&c);
    c.listener.max_connections = 16;
    open_house(&c);
    assert_int_equal(let_in(100, true, 5, 6), 16);
    close_house();
}

TEST(calls_with_a_token_are_dropped_at_random_before_there_are_too_many) {
    tltcp_config c;
    unsigned in;
    tltcp_config_init(&c);
    c.listener.max_half_open = 16;
    open_house(&c);
    assert_int_equal(let_in(128, true, 0, 0), 128);
    in = let_in(100, true, 0, 0);
    assert_true(in > 20 && in < 99);
    (void)let_in(5000, true, 0, 0);
    assert_int_equal(tltcp_endpoint_count(h.ep), 256);
    assert_int_equal(let_in(100, true, 0, 0), 0);
    tltcp_conn_free(h.guest[--h.guests]); /* time passes for some of them */
    for (int i = 0; i < 60; i++) {
        tltcp_conn_free(h.guest[--h.guests]);
    }
    assert_true(let_in(20, true, 0, 0) > 0); /* who repeats his call gets in */
    close_house();
}

TEST(forged_calls_cost_no_memory_beyond_a_fixed_number) {
    tltcp_config c;
    size_t live;
    tltcp_config_init(&c);
    open_house(&c);
    for (uint64_t i = 1; i <= 1000; i++) {
        tltcp_pktinfo from = place(i, i, i, i);
        (void)knock(&from, i, NULL, 0);
    }
    live = h.alloc.live;
    for (uint64_t i = 1001; i <= 100000; i++) {
        tltcp_pktinfo from = place(i, i, i, i);
        assert_int_equal(knock(&from, i, NULL, 0), TLTCP_REPLY);
        assert_true(h.out.reply_len <= SEC__DATAGRAM_MIN / 3);
    }
    assert_int_equal(h.alloc.live, live);
    assert_int_equal(let_in(100, true, 0, 0), 100); /* real ones get in */
    close_house();
}

/* Begins a packet of a guest. */
static cmn__writer begin(const tltcp_conn *c, uint32_t pn, uint8_t *dgram,
                         size_t cap) {
    const sec__packet p = {
        .type = SEC__SHORT, .dcid = tltcp_conn_id(c), .pn = pn};
    cmn__writer w = cmn__writer_of(dgram, cap);
    sec__packet_put(&w, &p);
    return w;
}

static void deliver(cmn__writer *w, uint8_t *dgram, uint64_t path) {
    const tltcp_pktinfo from = {.path = path};
    sec__packet_seal(w, dgram);
    (void)tltcp_endpoint_recv(h.ep, &from, dgram, (size_t)(w->p - dgram),
                              &h.out, h.now);
}

/* A byte of data far from all others, in a packet of its own. */
static void hog(tltcp_conn *c, uint64_t path, uint32_t pn, uint32_t seq,
                uint32_t section) {
    uint8_t dgram[100];
    cmn__writer w = begin(c, pn, dgram, sizeof(dgram));
    tltcp__data_put(&w, 0, seq, section, 1);
    cmn__put8(&w, 1);
    deliver(&w, dgram, path);
}

/* Somebody calls, is accepted and proves his address. */
static tltcp_conn *open_guest(const tltcp_pktinfo *from) {
    tltcp_conn *conn;
    assert_true(call_with_token(from, from->path));
    conn = h.out.conn;
    assert_int_equal(tltcp_conn_accept(conn, h.now), 0);
    hog(conn, from->path, 1, 0, 0);
    return conn;
}

/* Fills what a connection may hold; returns the bytes held. */
static size_t fill(tltcp_conn *conn, uint64_t path) {
    for (uint32_t i = 0; i < 2000; i++) {
        hog(conn, path, 2 + i, 2000 + i * 2048, 1 + i * 8);
    }
    return conn->caller.charged;
}

/* Opens a house with so much memory, and guests of different addresses on paths
 * from 1 on. Returns the bytes that they take. */
static size_t open_full_house(size_t max_memory, uint64_t guests) {
    tltcp_config c;
    tltcp_config_init(&c);
    c.listener.max_memory = max_memory;
    open_house(&c);
    for (uint64_t i = 1; i <= guests; i++) {
        tltcp_pktinfo from = place(i, i, 0, 0);
        (void)open_guest(&from);
    }
    return h.alloc.live;
}

TEST(callers_share_a_budget_of_memory) {
    enum { MAX = 8 << 20, CALLERS = 100 };
    size_t live = open_full_house(MAX, CALLERS);
    tltcp_conn *conn;
    for (uint64_t i = 1; i <= CALLERS; i++) {
        (void)fill(h.guest[i - 1], i);
        assert_true(h.guest[i - 1]->state == TLTCP__CONN_OPEN);
    }
    assert_true(h.alloc.live - live < MAX);
    assert_true(h.ep->shared->budget.held + CALLERS * TLTCP__BUDGET_OWN <= MAX);
    conn = h.guest[CALLERS - 1]; /* even the last one has his own */
    assert_true(conn->caller.charged > TLTCP__BUDGET_OWN / 2);
    close_house();
}

/* Callers of one address, or of one block, get `quarters` of the memory: not
 * more, and hardly less. */
static void share_memory(bool one_address, uint64_t block56, uint64_t block48,
                         size_t quarters) {
    enum { MAX = 16 << 20, CALLERS = 40 };
    const size_t most = quarters * MAX / 4;
    tltcp_config c;
    size_t live;
    tltcp_config_init(&c);
    c.listener.max_memory = MAX;
    open_house(&c);
    for (uint64_t i = 1; i <= CALLERS; i++) {
        tltcp_pktinfo from =
            place(i, one_address ? 77 : 1000 + i, block56, block48);
        (void)open_guest(&from);
    }
    live = h.alloc.live;
    for (uint64_t i = 1; i <= CALLERS; i++) {
        (void)fill(h.guest[i - 1], i);
    }
    assert_in_range(h.ep->shared->budget.held, most - MAX / 32, most);
    assert_true(h.alloc.live - live < most + CALLERS * TLTCP__BUDGET_OWN);
    close_house();
}

/* Pings, takes what is sent, and acknowledges nothing. */
static void ping(tltcp_conn *c, uint64_t path, uint32_t pn) {
    uint8_t dgram[1500];
    cmn__writer w = begin(c, pn, dgram, 100);
    tltcp_pktinfo to;
    size_t segment;
    tltcp__chunk_put(&w, TLTCP__PING, 0, 0);
    deliver(&w, dgram, path);
    while (tltcp_conn_send(c, &to, dgram, sizeof(dgram), &segment, h.now) > 0) {
    }
}

TEST(callers_that_acknowledge_nothing_share_the_budget) {
    enum { MAX = 8 << 20, CALLERS = 20, PINGS = 40000 };
    size_t live = open_full_house(MAX, CALLERS);
    for (uint32_t pn = 2; pn < PINGS; pn++) {
        for (uint64_t i = 1; i <= CALLERS; i++) {
            ping(h.guest[i - 1], i, pn);
        }
    }
    assert_true(h.alloc.live - live < MAX);
    close_house();
}

TEST(one_address_has_a_quarter_of_the_memory) {
    share_memory(true, 0, 0, 1);
    share_memory(true, 5, 6, 1);
}

TEST(larger_blocks_have_more_of_the_memory) {
    share_memory(false, 5, 0, 2);
    share_memory(false, 0, 6, 3);
}

TEST(the_memory_bounds_the_number_of_connections) {
    tltcp_config c;
    tltcp_config_init(&c);
    c.listener.max_memory = 1 << 20;
    open_house(&c);
    for (uint64_t i = 1; i <= 40; i++) {
        tltcp_pktinfo from = place(i, i, 0, 0);
        int verdict = knock(&from, i, NULL, 0);
        assert_int_equal(verdict, i <= 32 ? TLTCP_CALLER : TLTCP_REPLY);
    }
    close_house();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_token_opens_a_limited_number_of_calls_of_one_address),
        cmocka_unit_test(larger_blocks_have_limits_of_their_own),
        cmocka_unit_test(a_large_block_leaves_others_a_quarter),
        cmocka_unit_test(a_listener_of_one_network_serves_it),
        cmocka_unit_test(
            calls_with_a_token_are_dropped_at_random_before_there_are_too_many),
        cmocka_unit_test(forged_calls_cost_no_memory_beyond_a_fixed_number),
        cmocka_unit_test(callers_share_a_budget_of_memory),
        cmocka_unit_test(callers_that_acknowledge_nothing_share_the_budget),
        cmocka_unit_test(one_address_has_a_quarter_of_the_memory),
        cmocka_unit_test(larger_blocks_have_more_of_the_memory),
        cmocka_unit_test(the_memory_bounds_the_number_of_connections),
    };
    return cmocka_run_group_tests_name("budget", tests, NULL, NULL);
}
