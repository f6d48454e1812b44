/* SPDX-License-Identifier: MPL-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/loopback/saratoga_pair.h"

TEST(many_transfers_run_at_once_in_both_directions) {
    struct pair *p = *state;
    char name[32];

    open_pair(p, true, 0);
    for (unsigned i = 0; i < 10; i++) {
        (void)snprintf(name, sizeof(name), "get%u", i);
        make_file(p->here, name, FILE_LEN, i);
        (void)ask(p, SARATOGA_GET, name, name);
        (void)snprintf(name, sizeof(name), "put%u", i);
        make_file(p->there, name, FILE_LEN, i + 100);
        (void)ask(p, SARATOGA_PUT, name, name);
    }
    wait_for(p, 20);
    for (unsigned i = 0; i < 10; i++) {
        (void)snprintf(name, sizeof(name), "get%u", i);
        expect_file(p->there, name, FILE_LEN, i);
        (void)snprintf(name, sizeof(name), "put%u", i);
        expect_file(p->here, name, FILE_LEN, i + 100);
    }
    assert_int_equal(count_files(p->here, ".saratoga-"), 0);
    assert_int_equal(count_files(p->there, ".saratoga-"), 0);
}

static void
a_transfer_that_is_cancelled_ends_and_keeps_what_came(void **state) {
    struct pair *p = *state;
    saratoga_stats st;
    uint64_t id;

    make_file(p->here, "f", 20 * FILE_LEN, 1);
    open_pair(p, false, 20000000);
    id = ask(p, SARATOGA_GET, "f", "f");
    saratoga_stats_init(&st);
    while (st.written_bytes < FILE_LEN) {
        (void)uv_run(&p->loop, UV_RUN_ONCE);
        if (saratoga_node_get_stats(p->client, id, &st) != 0) {
            saratoga_stats_init(&st);
        }
    }
    assert_int_equal(saratoga_node_cancel(p->client, id), 0);
    wait_for(p, 1);
    assert_int_equal(p->last.error, SARATOGA_ERR_CANCELLED);
    assert_int_equal(saratoga_node_cancel(p->client, id), SARATOGA_ERR_GONE);
    assert_int_equal(count_files(p->there, "f"), 0);
    assert_int_equal(count_files(p->there, ".saratoga-"), 2);
}

static uint64_t rate_of(const struct pair *p, uint64_t id) {
    saratoga_stats st;

    saratoga_stats_init(&st);
    return saratoga_node_get_stats(p->client, id, &st) == 0 ? st.rate_bps : 0;
}

TEST(the_rate_of_a_node_or_a_transfer_may_change) {
    struct pair *p = *state;
    uint64_t id;

    make_file(p->there, "f", 20 * FILE_LEN, 1);
    open_pair(p, true, 1000000);
    id = ask(p, SARATOGA_PUT, "f", "f");
    assert_int_equal(saratoga_node_set_rate(p->client, id, 5),
                     SARATOGA_ERR_GONE); /* not yet begun */
    while (rate_of(p, id) != 1000000) {
        (void)uv_run(&p->loop, UV_RUN_ONCE);
    }
    assert_int_equal(saratoga_node_set_rate(p->client, 0, 0),
                     SARATOGA_ERR_INVAL);
    assert_int_equal(saratoga_node_set_rate(p->client, 0, 50000000), 0);
    assert_int_equal(rate_of(p, id), 50000000);
    assert_int_equal(saratoga_node_set_rate(p->client, id, 200000000), 0);
    wait_for(p, 1);
    assert_int_equal(p->last.stats.rate_bps, 200000000);
    expect_file(p->here, "f", 20 * FILE_LEN, 1);
    close_pair(p);
    open_pair(p, true, 0);
    assert_int_equal(saratoga_node_set_rate(p->client, 0, 1),
                     SARATOGA_ERR_STATE);
}

static void count_call(void *user) {
    ++*(unsigned *)user;
}

TEST(the_event_callback_reports_events) {
    struct pair *p = *state;
    unsigned calls = 0;

    make_file(p->here, "f", FILE_LEN, 1);
    open_pair(p, false, 0);
    saratoga_node_on_events(p->client, count_call, &calls);
    (void)ask(p, SARATOGA_GET, "f", "f");
    wait_for(p, 1);
    assert_int_equal(calls, 1);
    saratoga_node_on_events(p->client, NULL, NULL);
    (void)ask(p, SARATOGA_GETDIR, "", NULL);
    wait_for(p, 2);
    assert_int_equal(calls, 1);
}

TEST(peers_with_a_key_verify_files_with_it) {
    struct pair *p = *state;

    p->keyed = true;
    get_put_and_list(p);
    assert_int_equal(p->last.checksum, SARATOGA_HMAC_SHA256);
    assert_true(p->last.verified);
}

TEST(files_go_over_ipv6) {
    struct pair *p = *state;
    struct sockaddr_in6 here = {.sin6_family = AF_INET6,
                                .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int fd = socket(AF_INET6, SOCK_DGRAM, 0);
    bool can = fd >= 0 && bind(fd, (struct sockaddr *)&here, sizeof(here)) == 0;

    if (fd >= 0) {
        (void)close(fd);
    }
    if (!can) {
        skip();
    }
    p->six = true;
    get_put_and_list(p);
}

/* A transfer takes 40 s at this rate, so that even a slow machine is in the
 * middle of it. */
TEST(nodes_can_be_closed_in_the_middle_of_everything) {
    struct pair *p = *state;

    make_file(p->here, "f", 10 * FILE_LEN, 1);
    make_file(p->there, "g", 10 * FILE_LEN, 1);
    for (unsigned turns = 0; turns < 40; turns += 3) {
        open_pair(p, true, 400000);
        (void)ask(p, SARATOGA_GET, "f", "f");
        (void)ask(p, SARATOGA_PUT, "g", "g");
        (void)ask(p, SARATOGA_GETDIR, "", NULL);
        for (unsigned i = 0; i < turns; i++) {
            (void)uv_run(&p->loop, UV_RUN_ONCE);
        }
        close_pair(p);
    }
    assert_int_equal(count_files(p->there, "f"), 0);
}

TEST(a_directory_record_comes_with_the_event) {
    struct pair *p = *state;
    saratoga_node_event ev;
    saratoga_entry e;

    make_file(p->here, "f", 7, 1);
    p->shared = false; /* a loop of its own, and a thread for none */
    open_pair(p, false, 0);
    (void)ask(p, SARATOGA_GETDIR, "", NULL);
    do {
        saratoga_node_run(p->client, 10);
        saratoga_node_run(p->server, 10);
    } while (saratoga_node_next_event(p->client, &ev) == 0);
    assert_int_equal(ev.type, SARATOGA_NODE_DONE);
    assert_int_equal(ev.error, 0);
    assert_int_equal(saratoga_entry_read(ev.record, ev.record_len, &e),
                     ev.record_len);
    assert_string_equal(e.path, "f");
    assert_int_equal(e.size, 7);
}

TEST(a_missing_root_is_reported) {
    saratoga_node_config c;
    saratoga_node *u;
    char why[SARATOGA_NODE_TEXT];

    saratoga_node_config_init(&c);
    c.root = "/nonexistent";
    assert_int_equal(saratoga_node_open(&u, &c, why), SARATOGA_ERR_IO);
    assert_null(u);
    assert_non_null(strstr(why, "/nonexistent"));
}

TEST(a_transfer_without_a_host_is_refused) {
    struct pair *p = *state;
    saratoga_node_transfer t;
    uint64_t id;

    open_pair(p, false, 0);
    saratoga_node_transfer_init(&t);
    t.type = SARATOGA_GET;
    assert_int_equal(saratoga_node_start(p->client, &t, &id),
                     SARATOGA_ERR_INVAL);
    assert_int_equal(saratoga_node_start(p->client, NULL, &id),
                     SARATOGA_ERR_INVAL);
    t.host = "127.0.0.1";
    t.path = "a";
    assert_int_equal(saratoga_node_start(p->client, &t, NULL),
                     SARATOGA_ERR_INVAL);
    t.file = "../a";
    assert_int_equal(saratoga_node_start(p->client, &t, &id),
                     SARATOGA_ERR_INVAL);
    t.file = NULL;
    t.stream = true;
    t.output = -1;
    assert_int_equal(saratoga_node_start(p->client, &t, &id),
                     SARATOGA_ERR_INVAL);
    t.type = SARATOGA_PUT;
    t.input = -1;
    assert_int_equal(saratoga_node_start(p->client, &t, &id),
                     SARATOGA_ERR_INVAL);
    assert_int_equal(saratoga_node_active(p->client), 0);
}

/* A get of the file "f" into the other folder. */
static saratoga_node_transfer plan_get(const struct pair *p) {
    saratoga_node_transfer t;

    saratoga_node_transfer_init(&t);
    t.type = SARATOGA_GET;
    t.host = "127.0.0.1";
    t.service = p->port;
    t.path = "f";
    t.folder = p->there;
    return t;
}

static void get_from_group(struct pair *p, const char *group) {
    saratoga_node_transfer t = plan_get(p);
    uint64_t id;

    t.file = group;
    t.group = group;
    assert_int_equal(saratoga_node_start(p->client, &t, &id), 0);
}

TEST(a_group_that_cannot_be_joined_is_named) {
    struct pair *p = *state;

    make_file(p->here, "f", 7, 1);
    open_pair(p, false, 0);
    get_from_group(p, "127.0.0.9");
    wait_for(p, 1);
    assert_string_equal(p->last.text,
                        "127.0.0.9: that is not a multicast address");
    get_from_group(p, "239.255.1.2");
    wait_for(p, 2);
    assert_int_equal(p->last.error, 0);
    get_from_group(p, "239.255.1.3");
    wait_for(p, 3);
    assert_string_equal(p->last.text, "cannot join the group 239.255.1.3: the "
                                      "node has joined another one");
}

/* It was compiled when there were fewer. */
TEST(fields_that_a_caller_does_not_know_are_not_read) {
    struct pair *p = *state;
    saratoga_node_transfer t;
    uint64_t id = 0;

    make_file(p->here, "f", FILE_LEN, 1);
    open_pair(p, false, 0);
    t = plan_get(p);
    t.struct_size = offsetof(saratoga_node_transfer, group);
    t.group = (const char *)1;
    t.group_service = (const char *)1;
    assert_int_equal(saratoga_node_start(p->client, &t, &id), 0);
    wait_for(p, 1);
    assert_int_equal(p->last.error, 0);
    expect_file(p->there, "f", FILE_LEN, 1);
}

/* What a program frees after the call. */
struct lent {
    char congestion[8];
    char name[8];
    const char *names[2];
    double value;
    saratoga_options options;
};

static struct lent lent;

static void lend(void) {
    lent = (struct lent){.congestion = "cubic", .name = "beta", .value = 0.5};
    lent.names[0] = lent.name;
    saratoga_options_init(&lent.options);
    lent.options.congestion = lent.congestion;
    lent.options.congestion_params = lent.names;
    lent.options.congestion_values = &lent.value;
}

static void take_back(void) {
    memset(&lent, 'x', sizeof(lent));
}

TEST(options_of_a_transfer_need_not_outlive_the_call) {
    struct pair *p = *state;
    saratoga_node_transfer t;
    uint64_t id;

    make_file(p->there, "f", FILE_LEN, 1);
    open_pair(p, true, 0);
    lend();
    saratoga_node_transfer_init(&t);
    t.type = SARATOGA_PUT;
    t.host = "127.0.0.1";
    t.service = p->port;
    t.path = "f";
    t.folder = p->there;
    t.file = "f";
    t.options = &lent.options;
    assert_int_equal(saratoga_node_start(p->client, &t, &id), 0);
    take_back();
    wait_for(p, 1);
    assert_int_equal(p->last.error, 0);
    expect_file(p->here, "f", FILE_LEN, 1);
}

static void with_lent_options(saratoga_node_config *c, bool server) {
    static saratoga_config engine;

    (void)server;
    lend();
    saratoga_config_init(&engine);
    engine.transfer = &lent.options;
    c->engine = &engine;
}

TEST(options_of_a_node_need_not_outlive_the_call) {
    struct pair *p = *state;

    make_file(p->there, "f", FILE_LEN, 1);
    p->tune = with_lent_options;
    open_pair(p, true, 0);
    take_back();
    (void)ask(p, SARATOGA_PUT, "f", "f");
    wait_for(p, 1);
    assert_int_equal(p->last.error, 0);
    expect_file(p->here, "f", FILE_LEN, 1);
}

/* As a program passes it that was built before there was auth_key. */
static void with_older_engine_config(saratoga_node_config *c, bool server) {
    static saratoga_config engine;

    (void)server;
    memset(&engine, 0xff, sizeof(engine));
    saratoga_config_init_sized(&engine, offsetof(saratoga_config, auth_key));
    engine.auth_key_len = 16; /* beyond the end: must not be read */
    c->engine = &engine;
}

TEST(an_older_and_shorter_engine_config_is_understood) {
    struct pair *p = *state;

    p->tune = with_older_engine_config;
    get_put_and_list(p);
}

TEST(a_config_that_was_not_initialised_is_refused) {
    struct pair *p = *state;
    char why[SARATOGA_NODE_TEXT];
    saratoga_node_transfer t;
    saratoga_node_config c;
    saratoga_node *u;
    uint64_t id;

    open_pair(p, false, 0);
    memset(&c, 0, sizeof(c));
    assert_int_equal(saratoga_node_open(&u, &c, NULL), SARATOGA_ERR_INVAL);
    assert_null(u);
    assert_int_equal(saratoga_node_open(&u, NULL, NULL), SARATOGA_ERR_INVAL);
    assert_int_equal(saratoga_node_open(NULL, &c, NULL), SARATOGA_ERR_INVAL);
    saratoga_node_config_init(&c);
    c.engine = &(const saratoga_config){.auth_key = (const uint8_t *)"key"};
    assert_int_equal(saratoga_node_open(&u, &c, why), SARATOGA_ERR_INVAL);
    assert_non_null(strstr(why, "saratoga_config_init()"));
    saratoga_node_transfer_init(&t);
    t.type = SARATOGA_GET;
    t.host = "127.0.0.1";
    t.path = "f";
    t.options = &(const saratoga_options){.copies = 2};
    assert_int_equal(saratoga_node_start(p->client, &t, &id),
                     SARATOGA_ERR_INVAL);
}

TEST(a_no_op_is_done_when_it_is_sent) {
    struct pair *p = *state;

    open_pair(p, false, 0);
    (void)ask(p, SARATOGA_NOOP, "", NULL);
    wait_for(p, 1);
    assert_int_equal(p->last.error, 0);
    assert_int_equal(p->last.request, SARATOGA_NOOP);
    assert_int_equal(saratoga_node_active(p->client), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            many_transfers_run_at_once_in_both_directions, pair_set_up,
            pair_tear_down),
        cmocka_unit_test_setup_teardown(
            a_transfer_that_is_cancelled_ends_and_keeps_what_came, pair_set_up,
            pair_tear_down),
        cmocka_unit_test_setup_teardown(
            the_rate_of_a_node_or_a_transfer_may_change, pair_set_up,
            pair_tear_down),
        cmocka_unit_test_setup_teardown(a_group_that_cannot_be_joined_is_named,
                                        pair_set_up, pair_tear_down),
        cmocka_unit_test_setup_teardown(the_event_callback_reports_events,
                                        pair_set_up, pair_tear_down),
        cmocka_unit_test_setup_teardown(peers_with_a_key_verify_files_with_it,
                                        pair_set_up, pair_tear_down),
        cmocka_unit_test_setup_teardown(files_go_over_ipv6, pair_set_up,
                                        pair_tear_down),
        cmocka_unit_test_setup_teardown(
            nodes_can_be_closed_in_the_middle_of_everything, pair_set_up,
            pair_tear_down),
        cmocka_unit_test_setup_teardown(a_directory_record_comes_with_the_event,
                                        pair_set_up, pair_tear_down),
        cmocka_unit_test_setup_teardown(a_missing_root_is_reported, pair_set_up,
                                        pair_tear_down),
        cmocka_unit_test_setup_teardown(a_transfer_without_a_host_is_refused,
                                        pair_set_up, pair_tear_down),
        cmocka_unit_test_setup_teardown(
            fields_that_a_caller_does_not_know_are_not_read, pair_set_up,
            pair_tear_down),
        cmocka_unit_test_setup_teardown(
            options_of_a_transfer_need_not_outlive_the_call, pair_set_up,
            pair_tear_down),
        cmocka_unit_test_setup_teardown(
            options_of_a_node_need_not_outlive_the_call, pair_set_up,
            pair_tear_down),
        cmocka_unit_test_setup_teardown(
            an_older_and_shorter_engine_config_is_understood, pair_set_up,
            pair_tear_down),
        cmocka_unit_test_setup_teardown(
            a_config_that_was_not_initialised_is_refused, pair_set_up,
            pair_tear_down),
        cmocka_unit_test_setup_teardown(a_no_op_is_done_when_it_is_sent,
                                        pair_set_up, pair_tear_down)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
