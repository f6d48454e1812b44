/* SPDX-License-Identifier: MPL-2.0 */
/* Endpoints that share limits and tokens, as if each were on another thread:
 * what one does between two steps of another. */
#include <string.h>

#include "libtltcp/engine/endpoint.h"
#include "tests/support/alloc.h"
#include "tests/support/cmocka.h"

#define PARTS 3
#define GUESTS 16

static const uint8_t shared_key[32] = {1};

struct house {
    tltcp_endpoint *ep[PARTS];
    tltcp_conn *guest[GUESTS];
    size_t guests;
    tltcp_dispatch out;
    bool locked;
    int unlocks;                        /* until `meanwhile` happens */
    void (*meanwhile)(struct house *h); /* once; NULL: nothing */
    const struct caller *other;         /* for it */
    int verdict;                        /* of it */
    tltcp_time now;
};

/* A caller and what it sent last. */
struct caller {
    tltcp_conn *conn;
    uint64_t path;
    uint8_t dgram[1472];
    size_t len;
};

static void lock(void *arg) {
    struct house *h = arg;

    assert_false(h->locked);
    h->locked = true;
}

static void unlock(void *arg) {
    struct house *h = arg;
    void (*meanwhile)(struct house * h) = h->meanwhile;

    assert_true(h->locked);
    h->locked = false;
    if (meanwhile != NULL && --h->unlocks == 0) {
        h->meanwhile = NULL;
        meanwhile(h);
    }
}

static int make_house(struct house *h, const tltcp_config *c) {
    static const uint8_t seed[TLTCP_SEED_LEN] = {1};
    const tltcp_endpoint_group g = {
        .count = PARTS, .lock = lock, .unlock = unlock, .arg = h};

    *h = (struct house){.now = TLTCP_S};
    return tltcp_endpoint_new_group(h->ep, &g, c, seed, TLTCP_S);
}

static void open_house(struct house *h, const tltcp_config *c) {
    assert_int_equal(make_house(h, c), 0);
}

static void close_house(struct house *h) {
    while (h->guests > 0) {
        tltcp_conn_free(h->guest[--h->guests]);
    }
    for (int i = 0; i < PARTS; i++) { /* the first does not outlive others */
        assert_int_equal(tltcp_endpoint_count(h->ep[i]), 0);
        tltcp_endpoint_free(h->ep[i]);
    }
    assert_false(h->locked);
}

static void secure(tltcp_config *c) {
    tltcp_config_init(c);
    c->key = shared_key;
    c->key_len = sizeof(shared_key);
}

static void caller_open(struct caller *x, uint8_t who, const tltcp_config *c) {
    const uint8_t seed[TLTCP_SEED_LEN] = {2, who};

    *x = (struct caller){.path = who};
    assert_int_equal(tltcp_conn_new(&x->conn, c, seed, 1, TLTCP_S), 0);
}

static void caller_sends(struct caller *x) {
    tltcp_pktinfo to;
    size_t segment;

    x->len = tltcp_conn_send(x->conn, &to, x->dgram, sizeof(x->dgram), &segment,
                             TLTCP_S);
    assert_true(x->len > 0);
}

/* A house with room for `most` connections, and n callers that called. */
static void open_small_house(struct house *h, unsigned most, struct caller *x,
                             uint8_t n) {
    tltcp_config c;

    tltcp_config_init(&c);
    c.listener.max_connections = most;
    open_house(h, &c);
    for (uint8_t i = 0; i < n; i++) {
        caller_open(&x[i], i, &c);
        caller_sends(&x[i]);
    }
}

/* What it sent last arrives at endpoint i. */
static int arrive(struct house *h, int i, const struct caller *x) {
    const tltcp_pktinfo info = {.path = x->path, .network = 7};
    int verdict =
        tltcp_endpoint_recv(h->ep[i], &info, x->dgram, x->len, &h->out, h->now);

    if (verdict == TLTCP_CALLER) {
        assert_true(h->guests < GUESTS);
        h->guest[h->guests++] = h->out.conn;
    }
    return verdict;
}

static void caller_hears(struct caller *x, const struct house *h) {
    const tltcp_pktinfo info = {.path = 1};

    (void)tltcp_conn_recv(x->conn, &info, h->out.reply, h->out.reply_len,
                          TLTCP_S);
}

static void arrive_at_second(struct house *h) {
    h->verdict = arrive(h, 1, h->other);
}

static tltcp_stats stats(const struct house *h, int i) {
    tltcp_stats st;

    tltcp_stats_init(&st);
    assert_int_equal(tltcp_endpoint_get_stats(h->ep[i], &st), 0);
    return st;
}

TEST(a_connection_id_names_its_endpoint) {
    tltcp_config c;
    struct house h;
    struct caller x;

    tltcp_config_init(&c);
    open_house(&h, &c);
    for (uint8_t i = 0; i < 4 * PARTS; i++) {
        caller_open(&x, i, &c);
        caller_sends(&x);
        assert_int_equal(arrive(&h, i % PARTS, &x), TLTCP_CALLER);
        assert_int_equal((tltcp_conn_id(h.out.conn) & 0xff) % PARTS, i % PARTS);
        tltcp_conn_free(x.conn);
    }
    for (int i = 0; i < PARTS; i++) {
        assert_int_equal(tltcp_endpoint_count(h.ep[i]), 4);
    }
    close_house(&h);
}

TEST(ids_stay_random_beside_the_index) {
    tltcp_endpoint ep = {.parts = 3};
    unsigned seen[256] = {0};

    for (ep.index = 0; ep.index < ep.parts; ep.index++) {
        for (uint64_t last = 0; last < 256; last++) {
            uint64_t id = tltcp__endpoint_own_id(
                &ep, UINT64_C(0x1122334455667700) | last);

            assert_true(id >> 8 == UINT64_C(0x11223344556677));
            assert_int_equal((id & 0xff) % ep.parts, ep.index);
            seen[id & 0xff]++;
        }
    }
    for (int i = 0; i < 256; i++) { /* each of the bytes is in use */
        assert_in_range(seen[i], 1, 4);
    }
}

TEST(limits_are_those_of_all_endpoints_together) {
    struct house h;
    struct caller x[4];

    open_small_house(&h, 3, x, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(arrive(&h, i % PARTS, &x[i]),
                         i < 3 ? TLTCP_CALLER : TLTCP_REPLY);
        tltcp_conn_free(x[i].conn);
    }
    for (int i = 0; i < PARTS; i++) { /* counted once, told by each */
        assert_int_equal(stats(&h, i).callers_turned_away, 1);
    }
    close_house(&h);
}

TEST(the_last_place_is_given_away_once) {
    struct house h;
    struct caller x[2];

    open_small_house(&h, 1, x, 2);
    h.other = &x[1];
    h.meanwhile = arrive_at_second;
    h.unlocks = 1; /* the first has been judged */
    assert_int_equal(arrive(&h, 0, &x[0]), TLTCP_DROPPED);
    assert_int_equal(h.verdict, TLTCP_CALLER);
    assert_int_equal(arrive(&h, 0, &x[0]), TLTCP_REPLY); /* is turned away */
    tltcp_conn_free(x[0].conn);
    tltcp_conn_free(x[1].conn);
    close_house(&h);
}

TEST(a_token_of_one_endpoint_is_good_for_all) {
    tltcp_config c;
    struct house h;
    struct caller x;

    secure(&c);
    open_house(&h, &c);
    caller_open(&x, 1, &c);
    caller_sends(&x);
    assert_int_equal(arrive(&h, 0, &x), TLTCP_REPLY);
    caller_hears(&x, &h);
    caller_sends(&x);
    assert_int_equal(arrive(&h, 2, &x), TLTCP_CALLER);
    tltcp_conn_free(x.conn);
    close_house(&h);
}

/* The keys of tokens change each minute. */
TEST(threads_that_read_the_clock_late_keep_tokens_valid) {
    tltcp_config c;
    struct house h;
    struct caller x[2];

    secure(&c);
    open_house(&h, &c);
    for (uint8_t i = 0; i < 2; i++) {
        caller_open(&x[i], i, &c);
        caller_sends(&x[i]);
    }
    h.now = 90 * TLTCP_S;
    assert_int_equal(arrive(&h, 0, &x[0]), TLTCP_REPLY);
    caller_hears(&x[0], &h);
    h.now -= TLTCP_US; /* another thread, which was interrupted */
    assert_int_equal(arrive(&h, 1, &x[1]), TLTCP_REPLY);
    caller_hears(&x[1], &h);
    for (int i = 0; i < 2; i++) {
        caller_sends(&x[i]);
        assert_int_equal(arrive(&h, 2, &x[i]), TLTCP_CALLER);
        tltcp_conn_free(x[i].conn);
    }
    close_house(&h);
}

/* The same call, recorded and repeated, at two threads at the same time: at
 * each step of the first. */
TEST(a_call_makes_one_connection_at_whatever_endpoint) {
    int met = 0;

    for (int at = 1; at <= 5; at++) {
        tltcp_config c;
        struct house h;
        struct caller x;
        int verdict;

        secure(&c);
        open_house(&h, &c);
        caller_open(&x, 1, &c);
        caller_sends(&x);
        assert_int_equal(arrive(&h, 0, &x), TLTCP_REPLY);
        caller_hears(&x, &h);
        caller_sends(&x);
        h.other = &x;
        h.meanwhile = arrive_at_second;
        h.unlocks = at;
        verdict = arrive(&h, 0, &x);
        assert_int_equal(h.guests, 1);
        if (h.meanwhile == NULL && h.verdict == TLTCP_CALLER) {
            assert_int_equal(verdict, TLTCP_DROPPED);
            met++;
        }
        assert_int_equal(stats(&h, 0).callers_rejected, 0);
        h.meanwhile = NULL;
        tltcp_conn_free(x.conn);
        close_house(&h);
    }
    assert_true(met >= 3); /* judged, keys found, place taken */
}

TEST(memory_is_shared_by_all_endpoints) {
    tltcp_config c;
    struct house h;
    struct caller x[2];

    tltcp_config_init(&c);
    c.listener.max_memory = UINT64_C(1) << 20;
    open_house(&h, &c);
    for (uint8_t i = 0; i < 2; i++) {
        caller_open(&x[i], i, &c);
        caller_sends(&x[i]);
        assert_int_equal(arrive(&h, i, &x[i]), TLTCP_CALLER);
        tltcp_conn_free(x[i].conn);
    }
    assert_true(tltcp__endpoint_allows(h.ep[1], h.guest[1], 200000));
    tltcp__endpoint_charge(h.ep[0], h.guest[0], 200000); /* of one address */
    assert_false(tltcp__endpoint_allows(h.ep[1], h.guest[1], 200000));
    tltcp__endpoint_charge(h.ep[0], h.guest[0], 0);
    assert_true(tltcp__endpoint_allows(h.ep[1], h.guest[1], 200000));
    close_house(&h);
}

TEST(a_group_without_memory_leaves_nothing_behind) {
    struct test_alloc alloc = {0};
    struct house h;
    tltcp_config c;
    int rv = TLTCP_ERR_NOMEM;

    secure(&c);
    c.allocator = (tltcp_allocator){test_alloc_realloc, &alloc};
    for (uint64_t i = 1; i < 100 && rv != 0; i++) {
        alloc = (struct test_alloc){.fail_at = i};
        rv = make_house(&h, &c);
        assert_true(rv == 0 || rv == TLTCP_ERR_NOMEM);
        assert_true(rv == 0 || alloc.blocks == 0);
    }
    assert_int_equal(rv, 0);
    assert_true(alloc.calls > (uint64_t)3 * PARTS);
    close_house(&h);
    assert_int_equal(alloc.blocks, 0);
}

TEST(impossible_groups_are_refused) {
    static const uint8_t seed[TLTCP_SEED_LEN] = {1};
    const tltcp_endpoint_group bad[] = {
        {.count = 0},
        {.count = TLTCP_THREADS_MAX + 1},
        {.count = 2, .lock = lock},
        {.count = 2, .unlock = unlock},
    };
    tltcp_endpoint *ep[TLTCP_THREADS_MAX];
    tltcp_config c;

    tltcp_config_init(&c);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(
            tltcp_endpoint_new_group(ep, &bad[i], &c, seed, TLTCP_S),
            TLTCP_ERR_INVAL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_connection_id_names_its_endpoint),
        cmocka_unit_test(ids_stay_random_beside_the_index),
        cmocka_unit_test(limits_are_those_of_all_endpoints_together),
        cmocka_unit_test(the_last_place_is_given_away_once),
        cmocka_unit_test(a_token_of_one_endpoint_is_good_for_all),
        cmocka_unit_test(threads_that_read_the_clock_late_keep_tokens_valid),
        cmocka_unit_test(a_call_makes_one_connection_at_whatever_endpoint),
        cmocka_unit_test(memory_is_shared_by_all_endpoints),
        cmocka_unit_test(a_group_without_memory_leaves_nothing_behind),
        cmocka_unit_test(impossible_groups_are_refused),
    };
    return cmocka_run_group_tests_name("endpoint_group", tests, NULL, NULL);
}
