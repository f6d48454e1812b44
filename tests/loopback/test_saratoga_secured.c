/* SPDX-License-Identifier: MPL-2.0 */
/* Nodes with a passphrase or key, and strangers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/loopback/saratoga_pair.h"

static const uint8_t old_key[32] = {1, 2, 3};
static const uint8_t new_key[32] = {4, 5, 6};
static const uint8_t *const both[] = {old_key, NULL};

static void same_passphrase(saratoga_node_config *c, bool server) {
    (void)server;
    c->passphrase = "correct horse battery staple";
    c->rekey_packets = 50; /* many times in one file */
}

static void other_passphrases(saratoga_node_config *c, bool server) {
    c->passphrase = server ? "correct horse battery staple" : "tr0ub4dor&3";
}

static void keys_being_changed(saratoga_node_config *c, bool server) {
    c->key = server ? new_key : old_key;
    c->key_len = sizeof(new_key);
    c->more_keys = server ? both : NULL;
}

static void only_the_caller(saratoga_node_config *c, bool server) {
    c->key = server ? NULL : old_key;
    c->key_len = server ? 0 : sizeof(old_key);
}

static saratoga_engine_stats stats_of(saratoga_node *u) {
    saratoga_engine_stats st;
    saratoga_engine_stats_init(&st);
    assert_int_equal(saratoga_node_get_engine_stats(u, &st), 0);
    return st;
}

TEST(files_go_sealed_both_ways) {
    struct pair *p = *state;
    p->tune = same_passphrase;
    get_put_and_list(p);
    assert_int_equal(stats_of(p->server).sealed_sessions, 1);
    assert_int_equal(stats_of(p->server).sealed_forged, 0);
    assert_int_equal(stats_of(p->client).sealed_forged, 0);
}

TEST(statistics_of_an_older_or_a_newer_program_are_filled_in) {
    const size_t size = offsetof(saratoga_engine_stats, callers_rejected);
    struct pair *p = *state;
    struct {
        saratoga_engine_stats known;
        uint64_t later;
    } st;
    p->tune = same_passphrase;
    get_put_and_list(p);
    saratoga_engine_stats_init_sized(&st.known, size);
    st.known.callers_rejected = 77;
    assert_int_equal(saratoga_node_get_engine_stats(p->server, &st.known), 0);
    assert_int_equal(st.known.struct_size, size);
    assert_int_equal(st.known.sealed_sessions, 1);
    assert_int_equal(st.known.callers_rejected, 77);
    saratoga_engine_stats_init_sized(&st.known, sizeof(st));
    assert_int_equal(saratoga_node_get_engine_stats(p->server, &st.known), 0);
    assert_int_equal(st.known.struct_size, sizeof(st));
    assert_int_equal(st.known.sealed_sessions, 1);
    assert_int_equal(st.later, 0);
}

/* Nothing waits for another proof. */
TEST(the_handshake_proves_the_address) {
    struct pair *p = *state;
    p->tune = same_passphrase;
    open_pair(p, true, 0);
    for (unsigned i = 0; i < 20; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "f%u", i);
        make_file(p->there, name, 10, i);
        (void)ask(p, SARATOGA_PUT, name, name);
    }
    wait_for(p, 20);
    assert_int_equal(stats_of(p->server).challenges_sent, 0);
}

TEST(a_client_sends_close_notify) {
    struct pair *p = *state;
    p->tune = same_passphrase;
    get_put_and_list(p);
    saratoga_node_close(p->client);
    p->client = NULL;
    while (stats_of(p->server).sealed_sessions > 0) {
        (void)uv_run(&p->loop, UV_RUN_ONCE);
    }
}

TEST(an_old_key_is_good_beside_the_new) {
    struct pair *p = *state;
    p->tune = keys_being_changed;
    get_put_and_list(p);
}

static void is_told_of_the_key(struct pair *p) {
    open_pair(p, true, 0);
    make_file(p->here, "f", FILE_LEN, 1);
    (void)ask(p, SARATOGA_GET, "f", "f");
    wait_for(p, 1);
    assert_int_equal(p->last.error, SARATOGA_ERR_AUTH);
    assert_string_equal(p->last.text, saratoga_strerror(SARATOGA_ERR_AUTH));
    assert_int_equal(count_files(p->there, "f"), 0);
    assert_int_equal(stats_of(p->server).sealed_sessions, 0);
    assert_int_equal(stats_of(p->server).callers_rejected, 1);
}

TEST(a_wrong_passphrase_is_reported_at_once) {
    struct pair *p = *state;
    p->tune = other_passphrases;
    is_told_of_the_key(p);
}

TEST(a_plain_node_refuses_a_secured_peer) {
    struct pair *p = *state;
    p->tune = only_the_caller;
    is_told_of_the_key(p);
}

/* The server has a key; plain packets, noise and packets that look sealed come
 * from a socket of a stranger. */
TEST(unknown_peers_get_nothing) {
    struct pair *p = *state;
    static const uint8_t request[] = {0x21, 2, 0, 1, 0, 0, 0, 7, 'f', 0};
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    uint8_t packet[1300] = {0x50};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    p->tune = same_passphrase;
    open_pair(p, true, 0);
    to.sin_port = htons((uint16_t)strtol(p->port, NULL, 10));
    assert_true(fd >= 0);
    for (int i = 0; i < 100; i++) {
        const uint8_t *what = i % 2 == 0 ? request : packet;
        size_t len = i % 2 == 0 ? sizeof(request) : sizeof(packet);
        assert_int_equal(
            sendto(fd, what, len, 0, (struct sockaddr *)&to, sizeof(to)),
            (ssize_t)len);
        packet[0] = (uint8_t)(0x50 + i % 16);
        while (stats_of(p->server).sealed_foreign < (unsigned)i + 1) {
            (void)uv_run(&p->loop, UV_RUN_ONCE);
        }
    }
    assert_int_equal(recv(fd, packet, sizeof(packet), MSG_DONTWAIT), -1);
    (void)close(fd);
    (void)ask(p, SARATOGA_GETDIR, "", NULL); /* and friends all the same */
    wait_for(p, 1);
    assert_int_equal(p->last.error, 0);
}

static void refused_with(void (*tune)(saratoga_node_config *c),
                         const char *words) {
    saratoga_node_config c;
    char why[SARATOGA_NODE_TEXT];
    saratoga_node *u;
    saratoga_node_config_init(&c);
    c.passphrase = "correct horse battery staple";
    tune(&c);
    assert_int_equal(saratoga_node_open(&u, &c, why), SARATOGA_ERR_INVAL);
    assert_non_null(strstr(why, words));
}

static void with_beacons(saratoga_node_config *c) {
    static saratoga_config engine;
    saratoga_config_init(&engine);
    engine.eid = "sat";
    engine.beacon_interval = SARATOGA_S;
    c->engine = &engine;
}

static void listening_to_a_group(saratoga_node_config *c) {
    c->join = true;
}

static void too_short(saratoga_node_config *c) {
    c->passphrase = "short";
}

static void with_udp_lite(saratoga_node_config *c) {
    static saratoga_config engine;
    saratoga_config_init(&engine);
    engine.lite = true;
    c->engine = &engine;
}

static void on_a_narrow_link(saratoga_node_config *c) {
    static saratoga_config engine;
    saratoga_config_init(&engine);
    engine.mtu = 1000;
    c->engine = &engine;
}

TEST(options_that_cannot_be_secured_are_refused) {
    refused_with(with_beacons, "group");
    refused_with(listening_to_a_group, "group");
    refused_with(too_short, "8 to 512");
    refused_with(with_udp_lite, "UDP-Lite");
    refused_with(on_a_narrow_link, "MTU");
}

TEST(transfers_to_a_group_are_refused) {
    struct pair *p = *state;
    saratoga_node_transfer t;
    uint64_t id;
    p->tune = same_passphrase;
    open_pair(p, true, 0);
    make_file(p->there, "f", 10, 1);
    saratoga_node_transfer_init(&t);
    t.type = SARATOGA_BLIND_PUT;
    t.host = SARATOGA_GROUP_IPV4;
    t.path = "f";
    t.folder = p->there;
    t.file = "f";
    assert_int_equal(saratoga_node_start(p->client, &t, &id), 0);
    wait_for(p, 1);
    assert_int_equal(p->last.error, SARATOGA_ERR_INVAL);
    assert_non_null(strstr(p->last.text, "group"));
}

#define ON_A_PAIR(test) \
    cmocka_unit_test_setup_teardown(test, pair_set_up, pair_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        ON_A_PAIR(files_go_sealed_both_ways),
        ON_A_PAIR(statistics_of_an_older_or_a_newer_program_are_filled_in),
        ON_A_PAIR(the_handshake_proves_the_address),
        ON_A_PAIR(a_client_sends_close_notify),
        ON_A_PAIR(an_old_key_is_good_beside_the_new),
        ON_A_PAIR(a_wrong_passphrase_is_reported_at_once),
        ON_A_PAIR(a_plain_node_refuses_a_secured_peer),
        ON_A_PAIR(unknown_peers_get_nothing),
        ON_A_PAIR(transfers_to_a_group_are_refused),
        cmocka_unit_test(options_that_cannot_be_secured_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
