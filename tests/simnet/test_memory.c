/* SPDX-License-Identifier: MPL-2.0 */
/* Memory: every request for it may fail, and in steady state there is none. */
#include <inttypes.h>

#include "libtltcp/engine/conn.h"
#include "tests/simnet/world.h"
#include "tests/support/crypto_alloc.h"

static struct world w;

static void eventful(struct plan *p, uint64_t seed) {
    plan_init(p, seed);
    for (int i = 0; i < 2; i++) {
        p->config[i].recovery = seed % 2 == 0 ? "packet" : "dupack";
        p->config[i].unordered = seed % 4 >= 2;
        p->link[i].loss = 0.1;
        p->link[i].reorder = 0.1;
        p->link[i].reorder_delay = 20 * MS;
        p->source[i].sections = 30;
        p->source[i].size_max = 4000;
        p->source[i].interval = 5 * MS;
        p->source[i].budget = 150 * MS;
        p->source[i].reliable = 0.5;
    }
    p->config[CLIENT].stream_id = "camera 1";
    p->config[SERVER].listener.always_retry = true;
}

/* Runs with failures; true when the failure was reached. */
static bool run_starved(struct plan *p, uint64_t fail_at, uint64_t fail_from) {
    bool reached;
    p->alloc.fail_at = fail_at;
    p->alloc.fail_from = fail_from;
    (void)world_open(&w, p);
    world_run_for(&w, 300 * SEC);
    if (w.why[0] != '\0') {
        fail_msg("request %" PRIu64 ": %s", fail_at + fail_from, w.why);
    }
    reached = w.alloc.calls >= fail_at + fail_from;
    world_close(&w);
    assert_int_equal(w.alloc.live, 0);
    return reached;
}

/* One request fails, or all from one on: wherever that is. */
static void starve_everywhere(bool for_good) {
    for (uint64_t seed = 0; seed < 5; seed++) {
        struct plan p;
        uint64_t k = 1;
        eventful(&p, seed);
        p.secured = seed == 4;
        while (run_starved(&p, for_good ? 0 : k, for_good ? k : 0)) {
            k++;
        }
        assert_true(k > 50); /* there were some */
    }
}

TEST(any_single_request_may_fail) {
    starve_everywhere(false);
}

TEST(memory_may_run_out_for_good_at_any_time) {
    starve_everywhere(true);
}

/* Once it has what it keeps for good. */
TEST(libcrypto_may_run_out_of_memory_at_any_time) {
    bool reached = true;
    struct plan p;
    eventful(&p, 4);
    p.secured = true;
    (void)run_starved(&p, 0, 0);
    for (int k = 0; reached; k++) {
        test_crypto_left = k;
        (void)run_starved(&p, 0, 0);
        reached = test_crypto_left < 0;
        test_crypto_left = -1;
    }
}

static uint8_t caller_key[32];
static uint8_t listener_key[32];

static void static_keys_plan(struct plan *p) {
    static const uint8_t secret[2][32] = {{8, 1}, {8, 2}};
    static const uint8_t *const callers[] = {caller_key, NULL};
    plan_init(p, 1);
    p->source[CLIENT].sections = 3;
    p->config[CLIENT].connect_timeout_ms = 10000;
    assert_int_equal(tltcp_identity_public(secret[0], caller_key), 0);
    assert_int_equal(tltcp_identity_public(secret[1], listener_key), 0);
    p->config[CLIENT].identity.secret = secret[0];
    p->config[CLIENT].identity.listener = listener_key;
    p->config[SERVER].identity.secret = secret[1];
    p->config[SERVER].identity.callers = callers;
}

TEST(static_keys_may_find_no_memory) {
    bool reached = true;
    struct plan p;
    static_keys_plan(&p);
    for (uint64_t k = 1; reached; k++) {
        reached = run_starved(&p, k, 0);
        (void)run_starved(&p, 0, k);
    }
    reached = true;
    for (int k = 0; reached; k++) {
        test_crypto_left = k;
        (void)run_starved(&p, 0, 0);
        reached = test_crypto_left < 0;
        test_crypto_left = -1;
    }
}

/* New keys that find no memory are made later; all arrives. */
TEST(keys_change_though_memory_was_short_once) {
    bool reached = true;
    for (int k = 0; reached; k++) {
        struct plan p;
        plan_steady(&p, 1);
        p.secured = true;
        for (int i = 0; i < 2; i++) {
            p.source[i].sections = 60;
            p.config[i].rekey_packets = 20;
        }
        world_start_for(&w, &p, 100 * MS);
        test_crypto_left = k;
        world_run(&w);
        world_check_end(&w);
        reached = test_crypto_left < 0;
        test_crypto_left = -1;
        if (w.why[0] != '\0') {
            fail_msg("request %d: %s", k, w.why);
        }
        assert_true(w.end[CLIENT].peer->conn->seal->tx_phase > 2);
        world_close(&w);
    }
}

TEST(running_out_of_memory_has_a_name) {
    struct plan p;
    eventful(&p, 0);
    p.alloc.fail_from = 1;
    assert_int_equal(world_open(&w, &p), TLTCP_ERR_NOMEM);
    world_close(&w);
}

/* Requests for memory, and packets, in ten seconds of a settled connection. */
static void assert_steady(struct plan *p) {
    uint64_t calls;
    uint64_t packets;
    p->source[CLIENT].sections = UINT64_MAX;
    p->keep_open = true;
    world_start_for(&w, p, 20 * SEC);
    calls = w.alloc.calls;
    packets = w.end[CLIENT].datagrams + w.end[SERVER].datagrams;
    world_run_for(&w, 10 * SEC);
    assert_string_equal(w.why, "");
    calls = w.alloc.calls - calls;
    packets = w.end[CLIENT].datagrams + w.end[SERVER].datagrams - packets;
    assert_true(packets > 3000);
    /* None per packet; a table may still grow when losses heap up. */
    if (calls > packets / 1000) {
        fail_msg("%" PRIu64 " requests in %" PRIu64 " packets", calls, packets);
    }
    world_close(&w);
}

/* After the handshake there may be thousands of them that are silent. */
TEST(an_unused_connection_holds_no_more_than_a_silent_one) {
    for (int secured = 0; secured < 2; secured++) {
        struct plan p;
        size_t early;
        plan_init(&p, 1);
        p.secured = secured == 1;
        p.keep_open = true;
        p.source[CLIENT].sections = 0;
        world_start_for(&w, &p, 1 * SEC);
        assert_true(w.end[SERVER].connected);
        early = w.alloc.live;
        world_run_for(&w, 60 * SEC);
        assert_string_equal(w.why, "");
        /* a few packets may wait for their ACK until then */
        if (early > w.alloc.live + 1000) {
            fail_msg("%zu bytes, later %zu", early, w.alloc.live);
        }
        world_close(&w);
    }
}

TEST(a_steady_bulk_transfer_asks_for_no_memory) {
    static const char *const recoveries[] = {"packet", "dupack"};
    for (int r = 0; r < 2; r++) {
        for (int loss = 0; loss < 2; loss++) {
            struct plan p;
            plan_init(&p, 1);
            p.config[CLIENT].recovery = recoveries[r];
            p.config[CLIENT].send_buffer = 200000;
            p.link[CLIENT].loss = 0.01 * loss;
            assert_steady(&p);
        }
    }
}

TEST(a_steady_live_stream_asks_for_no_memory) {
    for (int unordered = 0; unordered < 2; unordered++) {
        for (int loss = 0; loss < 2; loss++) {
            struct plan p;
            plan_init(&p, 1);
            p.config[SERVER].unordered = unordered == 1;
            p.link[CLIENT].loss = 0.02 * loss;
            p.link[CLIENT].rate = 4e6;
            p.source[CLIENT].interval = 10 * MS;
            p.source[CLIENT].size_min = 2000;
            p.source[CLIENT].size_max = 9000; /* 4.4 Mbit/s: some expire */
            p.source[CLIENT].budget = 150 * MS;
            assert_steady(&p);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_single_request_may_fail),
        cmocka_unit_test(memory_may_run_out_for_good_at_any_time),
        cmocka_unit_test(libcrypto_may_run_out_of_memory_at_any_time),
        cmocka_unit_test(static_keys_may_find_no_memory),
        cmocka_unit_test(keys_change_though_memory_was_short_once),
        cmocka_unit_test(running_out_of_memory_has_a_name),
        cmocka_unit_test(an_unused_connection_holds_no_more_than_a_silent_one),
        cmocka_unit_test(a_steady_bulk_transfer_asks_for_no_memory),
        cmocka_unit_test(a_steady_live_stream_asks_for_no_memory),
    };
    return test_crypto_alloc_init()
               ? cmocka_run_group_tests_name("memory", tests, NULL, NULL)
               : 1;
}
