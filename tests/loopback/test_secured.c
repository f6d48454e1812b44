/* SPDX-License-Identifier: MPL-2.0 */
/* Passphrases and keys through the socket API. */
#include <stdlib.h>

#include "tests/loopback/relay.h"

#define RIGHT "correct horse battery"
#define WRONG "a wrong passphrase"
/* A caller that is told nothing would only give up after this. */
#define HOUR 3600000

static void pair_works(struct lo *l) {
    lo_send_text(l->client, "there");
    lo_expect_text(l->server, "there");
    lo_send_text(l->server, "and back");
    lo_expect_text(l->client, "and back");
}

static void close_pair(struct lo *l) {
    (void)tltcp_close(l->client, 0);
    (void)tltcp_close(l->server, 0);
    l->client = NULL;
    l->server = NULL;
}

TEST(both_ends_with_the_passphrase_talk) {
    struct lo *l = *state;

    l->config.passphrase = RIGHT;
    lo_pair(l);
    pair_works(l);
    assert_int_equal(tltcp_shutdown(l->client), 0);
    lo_expect_end(l->server);
}

TEST(both_ends_with_the_key_talk) {
    struct lo *l = *state;
    uint8_t key[32];

    lo_fill(key, sizeof(key), 0);
    l->config.key = key;
    l->config.key_len = sizeof(key);
    lo_pair(l);
    pair_works(l);
    l->config.key = NULL;
}

/* The refusal must come from the listener: the patience is an hour, and the
 * test program's own is a minute. */
static void expect_no_entry(struct lo *l) {
    char reason[TLTCP_REASON_MAX + 1] = "";
    tltcp_socket *s = NULL;

    assert_int_equal(tltcp_connect(&s, l->host, l->port, &l->config, HOUR),
                     TLTCP_ERR_AUTH);
    assert_null(s);
    l->config.connect_timeout_ms = HOUR;
    assert_int_equal(tltcp_connect(&l->client, l->host, l->port, &l->config, 0),
                     0);
    assert_int_equal(tltcp_wait_connected(l->client, -1), TLTCP_ERR_AUTH);
    assert_int_equal(tltcp_socket_error(l->client, reason), TLTCP_ERR_AUTH);
    assert_non_null(strstr(reason, "passphrase"));
    assert_int_equal(tltcp_accept(l->listener, &s, 0), TLTCP_ERR_AGAIN);
}

TEST(a_wrong_passphrase_is_named_as_the_cause) {
    struct lo *l = *state;

    l->config.passphrase = RIGHT;
    lo_listen(l);
    l->config.passphrase = WRONG;
    expect_no_entry(l);
}

TEST(a_wrong_key_is_named_as_the_cause) {
    struct lo *l = *state;
    uint8_t key[32] = {1};

    l->config.key = key;
    l->config.key_len = sizeof(key);
    lo_listen(l);
    key[31] = 1;
    expect_no_entry(l);
    l->config.key = NULL;
}

static void
without_a_passphrase_a_secured_listener_lets_nobody_in(void **state) {
    struct lo *l = *state;

    l->config.passphrase = RIGHT;
    lo_listen(l);
    l->config.passphrase = NULL;
    expect_no_entry(l);
}

TEST(a_passphrase_is_not_dropped_for_a_plain_listener) {
    struct lo *l = *state;

    lo_listen(l);
    l->config.passphrase = RIGHT;
    expect_no_entry(l);
}

TEST(the_right_passphrase_works_after_wrong_ones) {
    struct lo *l = *state;

    l->config.passphrase = RIGHT;
    lo_listen(l);
    l->config.passphrase = WRONG;
    expect_no_entry(l);
    close_pair(l);
    l->config.passphrase = RIGHT;
    lo_connect(l);
    lo_accept(l);
    pair_works(l);
}

TEST(old_and_new_passphrases_work_side_by_side) {
    static const char *const more[] = {"the one of yesterday",
                                       "the one of last week", NULL};
    const char *const good[] = {RIGHT, more[0], more[1]};
    tltcp_socket *client[3];
    tltcp_socket *server[3];
    struct lo *l = *state;

    l->config.passphrase = RIGHT;
    l->config.listener.more_passphrases = more;
    lo_listen(l);
    l->config.listener.more_passphrases = NULL;
    for (unsigned i = 0; i < 3; i++) {
        l->config.passphrase = good[i];
        lo_connect(l);
        lo_accept(l);
        client[i] = l->client;
        server[i] = l->server;
    }
    for (unsigned i = 0; i < 3; i++) { /* all open at once */
        l->client = client[i];
        l->server = server[i];
        pair_works(l);
    }
    for (unsigned i = 0; i < 3; i++) {
        l->client = client[i];
        l->server = server[i];
        close_pair(l);
    }
    l->config.passphrase = WRONG;
    expect_no_entry(l);
}

/* Each stream has a passphrase of its own: "0", "1", "2". */
static bool whose_stream(void *user, const tltcp_caller *caller, char *reason) {
    char own[12];
    assert_null(user);
    (void)snprintf(own, sizeof(own), "%u", caller->secret);
    (void)snprintf(reason, TLTCP_REASON_MAX + 1, "not your stream");
    return strcmp(own, caller->stream_id) == 0;
}

TEST(a_listener_learns_which_secret_a_caller_has) {
    static const uint8_t key[32] = {1};
    static const uint8_t *const keys[] = {key, NULL};
    static const char *const more[] = {"the passphrase of 2", NULL};
    static const char *const ids[] = {"0", "1", "2"};
    struct lo *l = *state;

    l->config.passphrase = RIGHT;
    l->config.listener.more_passphrases = more;
    l->config.listener.more_keys = keys;
    l->config.listener.on_caller = whose_stream;
    lo_listen(l);
    l->config.listener.more_passphrases = NULL;
    l->config.listener.more_keys = NULL;
    for (unsigned i = 0; i < 3; i++) {
        l->config.passphrase = i == 0 ? RIGHT : i == 2 ? more[0] : NULL;
        l->config.key = i == 1 ? key : NULL;
        l->config.key_len = i == 1 ? sizeof(key) : 0;
        l->config.stream_id = ids[(i + 1) % 3];
        lo_expect_refusal(l, "not your stream");
        close_pair(l);
        l->config.stream_id = ids[i];
        lo_connect(l);
        lo_accept(l);
        pair_works(l);
        close_pair(l);
    }
    l->config.key = NULL;
    l->config.key_len = 0;
}

static bool nobody(void *user, const tltcp_caller *caller, char *reason) {
    assert_null(user);
    snprintf(reason, TLTCP_REASON_MAX + 1, "no such stream: %s",
             caller->stream_id);
    return false;
}

TEST(a_refusal_arrives_with_its_reason) {
    struct lo *l = *state;

    l->config.passphrase = RIGHT;
    l->config.listener.on_caller = nobody;
    lo_listen(l);
    l->config.stream_id = "camera/2";
    lo_expect_refusal(l, "no such stream: camera/2");
}

/* --- Bulk ---------------------------------------------------------------- */

#define BULK ((uint64_t)4000000)

struct bulk {
    tltcp_socket *from;
    tltcp_socket *to;
    atomic_int failed; /* CMocka's asserts belong to the main thread */
};

static void send_bulk(void *arg) {
    struct bulk *b = arg;
    uint8_t data[10000];
    struct iovec iov = {.iov_base = data, .iov_len = sizeof(data)};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};

    for (uint64_t at = 0; at < BULK && !atomic_load(&b->failed);) {
        lo_fill(data, sizeof(data), at);
        if (tltcp_sendmsg(b->from, &m, 0) != (ssize_t)sizeof(data)) {
            atomic_store(&b->failed, 1);
        }
        at += sizeof(data);
    }
    (void)tltcp_shutdown(b->from);
}

static void carry_bulk(struct bulk *b) {
    uv_thread_t thread;
    uint8_t data[16384];
    uint64_t at = 0;
    ssize_t n;

    assert_int_equal(uv_thread_create(&thread, send_bulk, b), 0);
    while ((n = lo_recv_plain(b->to, data, sizeof(data), 0)) > 0) {
        assert_true(lo_matches(data, (size_t)n, at));
        at += (uint64_t)n;
    }
    assert_int_equal(n, 0);
    assert_int_equal(uv_thread_join(&thread), 0);
    assert_int_equal(atomic_load(&b->failed), 0);
    assert_int_equal(at, BULK);
}

/* --- Static keys --------------------------------------------------------- */

/* X25519 ignores some bits at both ends of a secret. */
static const uint8_t listener_secret[32] = {8, 1};
static const uint8_t caller_secret[32] = {8, 2};

/* The caller's key as on_caller is told it. */
struct told {
    uint8_t key[32];
    atomic_uint times;
    bool answer;
};

static bool hear_key(void *user, const tltcp_caller *caller, char *reason) {
    struct told *t = user;

    (void)snprintf(reason, TLTCP_REASON_MAX + 1, "not on the list");
    memcpy(t->key, caller->identity, sizeof(t->key));
    atomic_fetch_add(&t->times, 1);
    return t->answer;
}

static void listen_for_keys(struct lo *l, struct told *t) {
    l->config.identity.secret = listener_secret;
    l->config.listener.on_caller = hear_key;
    l->config.user = t;
    lo_listen(l);
}

TEST(each_end_learns_the_static_key_of_the_other) {
    struct lo *l = *state;
    struct told t = {.answer = true};
    uint8_t listener[32];
    uint8_t caller[32];

    assert_int_equal(tltcp_identity_public(listener_secret, listener), 0);
    assert_int_equal(tltcp_identity_public(caller_secret, caller), 0);
    listen_for_keys(l, &t);
    l->config.identity.secret = caller_secret;
    l->config.identity.listener = listener;
    lo_connect(l);
    lo_accept(l);
    pair_works(l);
    assert_int_equal(atomic_load(&t.times), 1);
    assert_memory_equal(t.key, caller, sizeof(caller));
    assert_memory_equal(tltcp_identity(l->server), caller, sizeof(caller));
    assert_memory_equal(tltcp_identity(l->client), listener, sizeof(listener));
    assert_null(tltcp_identity(l->listener));
}

TEST(an_application_refuses_a_static_key_by_its_reason) {
    struct lo *l = *state;
    struct told t = {.answer = false};
    uint8_t listener[32];

    assert_int_equal(tltcp_identity_public(listener_secret, listener), 0);
    listen_for_keys(l, &t);
    l->config.identity.secret = caller_secret;
    l->config.identity.listener = listener;
    lo_expect_refusal(l, "not on the list");
}

TEST(somebody_decides_about_static_keys) {
    struct lo *l = *state;

    l->config.identity.secret = listener_secret;
    assert_int_equal(tltcp_listen(&l->listener, l->host, "0", &l->config),
                     TLTCP_ERR_INVAL);
    l->listener = NULL;
    assert_int_equal(tltcp_connect(&l->client, l->host, "9", &l->config, 0),
                     TLTCP_ERR_INVAL);
    l->client = NULL;
}

/* --- What others on the way see ------------------------------------------ */

#define PLAIN "this must not be readable on the way, nor any part of it"
#define STREAM "contribution/studio-7"

/* A relay that searches the datagrams. */
struct tap {
    struct relay relay;
    atomic_uint datagrams;
    atomic_uint plain; /* with readable text */
    uint8_t phase[2];  /* of the newest keys, there and back */
    atomic_uint renewed[2];
};

static bool contains(const uint8_t *buf, size_t n, const char *what,
                     size_t len) {
    for (size_t i = 0; i + len <= n; i++) {
        if (memcmp(buf + i, what, len) == 0) {
            return true;
        }
    }
    return false;
}

/* SHORT packets show by their lowest bit which keys sealed them. */
static void look(void *user, bool back, const uint8_t *buf, size_t n) {
    struct tap *t = user;

    atomic_fetch_add(&t->datagrams, 1);
    if (contains(buf, n, PLAIN, 16) || contains(buf, n, STREAM, 12)) {
        atomic_fetch_add(&t->plain, 1);
    }
    if ((buf[0] & 0xfe) == 0x50 && (buf[0] & 1) != t->phase[back]) {
        t->phase[back] = buf[0] & 1;
        atomic_fetch_add(&t->renewed[back], 1);
    }
}

/* A pair of sockets with a tap between them. */
static void start_tap(struct tap *t, struct lo *l) {
    memset(t, 0, sizeof(*t));
    t->relay.look = look;
    t->relay.user = t;
    relay_start(&t->relay, l);
    lo_connect(l);
    lo_accept(l);
}

/* How many datagrams of a connection had text in them. */
static unsigned readable_datagrams(struct lo *l) {
    struct tap t;

    l->config.stream_id = STREAM;
    start_tap(&t, l);
    assert_string_equal(tltcp_stream_id(l->server), STREAM);
    lo_send_text(l->client, PLAIN);
    lo_expect_text(l->server, PLAIN);
    lo_send_text(l->server, PLAIN);
    lo_expect_text(l->client, PLAIN);
    relay_stop(&t.relay);
    assert_true(atomic_load(&t.datagrams) >= 4);
    return atomic_load(&t.plain);
}

TEST(a_secured_connection_shows_no_plain_text) {
    struct lo *l = *state;

    l->config.passphrase = RIGHT;
    assert_int_equal(readable_datagrams(l), 0);
}

/* So that the search above is known to find what there is. */
TEST(a_plain_connection_shows_all_of_it) {
    assert_true(readable_datagrams(*state) >= 3);
}

/* --- New keys ------------------------------------------------------------ */

TEST(a_bulk_transfer_survives_dozens_of_new_keys) {
    struct lo *l = *state;
    struct tap t;
    struct bulk b;

    l->config.passphrase = RIGHT;
    l->config.rekey_packets = 10;
    start_tap(&t, l);
    b = (struct bulk){.from = l->client, .to = l->server};
    carry_bulk(&b);
    b = (struct bulk){.from = l->server, .to = l->client};
    carry_bulk(&b);
    relay_stop(&t.relay);
    assert_true(atomic_load(&t.renewed[0]) >= 24);
    assert_true(atomic_load(&t.renewed[1]) >= 24);
}

TEST(new_keys_come_when_asked_for) {
    struct lo *l = *state;
    struct tap t;

    l->config.passphrase = RIGHT;
    start_tap(&t, l);
    pair_works(l);
    assert_int_equal(atomic_load(&t.renewed[0]), 0);
    assert_int_equal(atomic_load(&t.renewed[1]), 0);
    for (unsigned i = 1; i <= 4; i++) { /* each end in turn */
        assert_int_equal(tltcp_rekey(i % 2 == 0 ? l->server : l->client), 0);
        pair_works(l);
    }
    relay_stop(&t.relay);
    assert_true(atomic_load(&t.renewed[0]) >= 1);
    assert_true(atomic_load(&t.renewed[1]) >= 1);
}

TEST(new_keys_need_a_secured_connection) {
    struct lo *l = *state;

    assert_int_equal(tltcp_rekey(NULL), TLTCP_ERR_INVAL);
    lo_pair(l);
    assert_int_equal(tltcp_rekey(l->listener), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_rekey(l->client), TLTCP_ERR_STATE);
    assert_int_equal(tltcp_rekey(l->server), TLTCP_ERR_STATE);
}

#define T(f) cmocka_unit_test_setup_teardown(f, lo_ipv4, lo_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(both_ends_with_the_passphrase_talk),
        LO_TEST(both_ends_with_the_passphrase_talk, threads),
        T(both_ends_with_the_key_talk),
        T(a_wrong_passphrase_is_named_as_the_cause),
        T(a_wrong_key_is_named_as_the_cause),
        LO_TEST(a_wrong_key_is_named_as_the_cause, threads),
        T(without_a_passphrase_a_secured_listener_lets_nobody_in),
        T(a_passphrase_is_not_dropped_for_a_plain_listener),
        T(the_right_passphrase_works_after_wrong_ones),
        T(old_and_new_passphrases_work_side_by_side),
        LO_TEST(old_and_new_passphrases_work_side_by_side, threads),
        T(a_listener_learns_which_secret_a_caller_has),
        T(a_refusal_arrives_with_its_reason),
        T(each_end_learns_the_static_key_of_the_other),
        LO_TEST(each_end_learns_the_static_key_of_the_other, threads),
        T(an_application_refuses_a_static_key_by_its_reason),
        T(somebody_decides_about_static_keys),
        LO_TEST(somebody_decides_about_static_keys, threads),
        T(a_secured_connection_shows_no_plain_text),
        T(a_plain_connection_shows_all_of_it),
        T(a_bulk_transfer_survives_dozens_of_new_keys),
        LO_TEST(a_bulk_transfer_survives_dozens_of_new_keys, threads),
        T(new_keys_come_when_asked_for),
        T(new_keys_need_a_secured_connection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
