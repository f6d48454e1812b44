/* SPDX-License-Identifier: MPL-2.0 */
/* Many callers of one listener. */
#include <stdlib.h>

#include "libtltcp/engine/conn.h"
#include "sim/tltcp_host.h"
#include "tests/support/alloc.h"
#include "tests/support/cmocka.h"

#define CALLERS 3000
#define SOCKET 280     /* bytes of the socket's state at most */
#define MALLOC_ADDS 16 /* to a block, with rounding */
#define SEC TLTCP_S

/* Both ends of all connections; each says its number and hears it back. */
struct crowd {
    struct sim_net *net;
    struct sim_host *host[2];
    struct test_alloc alloc[2];
    uint32_t link[2];
    struct sim_peer *caller[CALLERS];
    uint32_t heard[CALLERS];
    uint32_t accepted;
    uint32_t limit; /* refuse from here on */
    uint32_t closed[2];
};

static struct crowd c;

static void say(struct sim_peer *p, uint32_t number) {
    tltcp_section s = {.data = &(struct iovec){&number, sizeof(number)},
                       .count = 1,
                       .deadline = TLTCP_TIME_NEVER};
    assert_int_equal(tltcp_conn_write(p->conn, &s, 1, sim_host_now(p->host)),
                     1);
}

static bool hear(struct sim_peer *p, uint32_t *number) {
    struct tltcp_segment seg;
    tltcp_buf buf = {number, sizeof(*number)};
    size_t count = 1;
    bool readable = tltcp_conn_readable(p->conn);
    int64_t n =
        tltcp_conn_read(p->conn, &buf, &seg, &count, sim_host_now(p->host));
    assert_int_equal(readable, n != TLTCP_ERR_AGAIN);
    return n == sizeof(*number);
}

static void on_event(void *user, struct sim_peer *p, const tltcp_event *ev) {
    (void)user;
    c.closed[p->host == c.host[1]] += ev->type == TLTCP_EVENT_CLOSED;
}

static void echo(void *user, struct sim_peer *p) {
    uint32_t number;
    (void)user;
    if (hear(p, &number)) {
        say(p, number);
    }
}

static void listen_for_echo(void *user, struct sim_peer *p) {
    uint32_t *heard = user;
    uint32_t number;
    if (hear(p, &number)) {
        assert_int_equal(number, (uint32_t)(heard - c.heard));
        (*heard)++;
    }
}

static enum sim_answer on_caller(void *user, struct sim_peer *p) {
    (void)user;
    p->app = (struct sim_app){.on_ready = echo, .on_event = on_event};
    return c.accepted++ < c.limit ? SIM_ACCEPT : SIM_REFUSE;
}

static void open_silent_crowd(uint32_t callers, tltcp_config *config) {
    struct sim_link_config link;
    memset(&c, 0, sizeof(c));
    c.limit = UINT32_MAX;
    c.net = sim_net_new();
    assert_non_null(c.net);
    sim_link_config_init(&link);
    link.rate = 100e6;
    link.delay = 10 * TLTCP_MS;
    for (int i = 0; i < 2; i++) {
        c.host[i] = sim_host_new(c.net, 0);
        assert_non_null(c.host[i]);
    }
    for (uint32_t i = 0; i < 2; i++) {
        c.link[i] = sim_net_add_link(c.net, i, 1 - i, &link, i);
    }
    config->allocator = (tltcp_allocator){test_alloc_realloc, &c.alloc[1]};
    assert_int_equal(sim_host_listen(c.host[1], config, 1, on_caller, NULL), 0);
    config->allocator = (tltcp_allocator){test_alloc_realloc, &c.alloc[0]};
    for (uint32_t i = 0; i < callers; i++) {
        struct sim_app app = {.on_ready = listen_for_echo,
                              .on_event = on_event,
                              .user = &c.heard[i]};
        c.heard[i] = i;
        assert_int_equal(sim_host_connect(c.host[0], &c.caller[i], config,
                                          1000 + i, sim_address(1, 0), &app),
                         0);
        sim_peer_pump(c.caller[i]);
    }
}

static void open_crowd(uint32_t callers, tltcp_config *config) {
    open_silent_crowd(callers, config);
    for (uint32_t i = 0; i < callers; i++) {
        say(c.caller[i], i);
        sim_peer_pump(c.caller[i]);
    }
}

static void run(uint64_t ns) {
    struct sim_loop *l = sim_net_loop(c.net);
    sim_loop_run(l, l->now + ns);
}

static void close_crowd(void) {
    for (int i = 0; i < 2; i++) {
        sim_host_free(c.host[i]);
        assert_int_equal(c.alloc[i].blocks, 0);
    }
    sim_net_free(c.net);
}

TEST(thousands_of_callers_each_get_their_own_echo) {
    tltcp_config config;
    tltcp_config_init(&config);
    open_crowd(CALLERS, &config);
    run(20 * SEC);
    assert_int_equal(c.accepted, CALLERS);
    assert_int_equal(tltcp_endpoint_count(sim_host_endpoint(c.host[1])),
                     CALLERS);
    for (uint32_t i = 0; i < CALLERS; i++) {
        assert_int_equal(c.heard[i], i + 1);
    }
    close_crowd();
}

static void
an_idle_connection_takes_little_memory_and_few_packets(void **state) {
    tltcp_config config;
    uint64_t before;
    (void)state;
    tltcp_config_init(&config);
    open_crowd(CALLERS, &config);
    run(60 * SEC); /* keep-alive has given buffers back */
    print_message("%zu and %zu bytes a connection\n",
                  (size_t)c.alloc[0].live / CALLERS,
                  (size_t)c.alloc[1].live / CALLERS);
    assert_true(c.alloc[0].live / CALLERS < 4096);
    assert_true(c.alloc[1].live / CALLERS < 4096);
    before = sim_link_stats(sim_net_link(c.net, c.link[0]))->offered;
    run(100 * SEC);
    /* a PING every ten seconds */
    assert_true(sim_link_stats(sim_net_link(c.net, c.link[0]))->offered -
                    before <=
                11 * CALLERS);
    assert_int_equal(c.closed[0] + c.closed[1], 0);
    close_crowd();
}

/* With its socket, which adds no other blocks, and what malloc() adds. */
TEST(a_connection_without_data_takes_four_kibibytes_of_a_listener) {
    tltcp_config config;
    size_t each;
    tltcp_config_init(&config);
    open_silent_crowd(CALLERS, &config);
    run(60 * SEC);
    assert_int_equal(c.accepted, CALLERS);
    each = (c.alloc[1].live + c.alloc[1].blocks * MALLOC_ADDS) / CALLERS +
           SOCKET + MALLOC_ADDS;
    print_message("%zu bytes\n", each);
    assert_true(each <= 4096);
    close_crowd();
}

TEST(they_leave_one_by_one) {
    tltcp_config config;
    tltcp_config_init(&config);
    open_crowd(500, &config);
    run(5 * SEC);
    for (uint32_t i = 0; i < 500; i++) {
        tltcp_conn_close(c.caller[i]->conn, TLTCP_TIME_NEVER,
                         sim_host_now(c.host[0]));
        sim_peer_pump(c.caller[i]);
        run(SEC / 100);
    }
    run(1 * SEC);
    assert_int_equal(c.closed[0], 500);
    assert_int_equal(c.closed[1], 500);
    while (sim_host_peers(c.host[1]) != NULL) {
        sim_peer_free(sim_host_peers(c.host[1]));
    }
    assert_int_equal(tltcp_endpoint_count(sim_host_endpoint(c.host[1])), 0);
    close_crowd();
}

TEST(callers_beyond_the_limit_of_connections_are_rejected) {
    tltcp_config config;
    tltcp_config_init(&config);
    config.listener.max_connections = 100;
    open_crowd(150, &config);
    run(2 * SEC); /* nobody waits for a timeout */
    assert_int_equal(tltcp_endpoint_count(sim_host_endpoint(c.host[1])), 100);
    assert_int_equal(c.closed[0], 50);
    close_crowd();
}

TEST(a_place_that_was_given_up_is_taken_again) {
    tltcp_config config;
    tltcp_config_init(&config);
    config.listener.max_half_open = 10; /* the others return with a token */
    open_crowd(200, &config);
    c.limit = 100;
    run(20 * SEC);
    assert_int_equal(c.closed[0], 100); /* refused */
    close_crowd();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thousands_of_callers_each_get_their_own_echo),
        cmocka_unit_test(
            an_idle_connection_takes_little_memory_and_few_packets),
        cmocka_unit_test(
            a_connection_without_data_takes_four_kibibytes_of_a_listener),
        cmocka_unit_test(they_leave_one_by_one),
        cmocka_unit_test(callers_beyond_the_limit_of_connections_are_rejected),
        cmocka_unit_test(a_place_that_was_given_up_is_taken_again),
    };
    return cmocka_run_group_tests_name("crowd", tests, NULL, NULL);
}
