/* SPDX-License-Identifier: MPL-2.0 */
/* Secured connections, packet by packet, with either cipher. */
#include <string.h>

#include "libtltcp/engine/conn.h"
#include "tests/support/cmocka.h"

#define PATH 7u

struct pair {
    tltcp_endpoint *ep;
    tltcp_conn *client;
    tltcp_conn *server;
    tltcp_time now;
    uint8_t dgram[1472];
    size_t len;
};

static const uint8_t key[32] = {1, 2, 3};

/* The linker puts this in front of what asks the processor. */
static uint8_t suite;

uint8_t __wrap_sec__suite_preferred(void);
uint8_t __wrap_sec__suite_preferred(void) {
    return suite;
}

static void pair_open(struct pair *x) {
    static const uint8_t seed[2][TLTCP_SEED_LEN] = {{1}, {2}};
    tltcp_config cfg;
    tltcp_config_init(&cfg);
    cfg.key = key;
    cfg.key_len = sizeof(key);
    *x = (struct pair){.now = TLTCP_S};
    assert_int_equal(tltcp_endpoint_new(&x->ep, &cfg, seed[0], x->now), 0);
    assert_int_equal(tltcp_conn_new(&x->client, &cfg, seed[1], PATH, x->now),
                     0);
}

static void pair_close(struct pair *x) {
    tltcp_conn_free(x->client);
    tltcp_conn_free(x->server);
    tltcp_endpoint_free(x->ep);
}

/* The next datagram of c, into x->dgram; false when there is none. */
static bool next(struct pair *x, tltcp_conn *c) {
    tltcp_pktinfo info;
    size_t segment;
    x->len =
        tltcp_conn_send(c, &info, x->dgram, sizeof(x->dgram), &segment, x->now);
    return x->len > 0;
}

static int to_server(struct pair *x) {
    const tltcp_pktinfo info = {.path = PATH};
    tltcp_dispatch out;
    int verdict =
        tltcp_endpoint_recv(x->ep, &info, x->dgram, x->len, &out, x->now);
    if (verdict == TLTCP_CALLER) {
        x->server = out.conn;
    } else if (verdict == TLTCP_REPLY) {
        memcpy(x->dgram, out.reply, out.reply_len);
        x->len = out.reply_len;
    }
    return verdict;
}

static int to_client(struct pair *x) {
    const tltcp_pktinfo info = {.path = PATH};
    return tltcp_conn_recv(x->client, &info, x->dgram, x->len, x->now);
}

/* The client asks for a token, and has it. */
static void ask(struct pair *x) {
    assert_true(next(x, x->client));
    assert_int_equal(to_server(x), TLTCP_REPLY);
    (void)to_client(x);
}

static void shuttle(struct pair *x) {
    for (int i = 0; i < 20; i++) {
        while (next(x, x->client)) {
            (void)to_server(x);
        }
        while (next(x, x->server)) {
            (void)to_client(x);
        }
        x->now += TLTCP_MS;
    }
}

static void call(struct pair *x) {
    pair_open(x);
    ask(x);
    assert_true(next(x, x->client));
    assert_int_equal(to_server(x), TLTCP_CALLER);
}

TEST(a_caller_who_repeats_itself_may_still_be_accepted) {
    struct pair x;
    call(&x);
    x.now += TLTCP_S;
    tltcp_conn_on_timeout(x.client, x.now);
    assert_true(next(&x, x.client));
    assert_int_equal(to_server(&x), TLTCP_TAKEN);
    assert_int_equal(tltcp_conn_accept(x.server, x.now), 0);
    shuttle(&x);
    assert_int_equal(x.client->state, TLTCP__CONN_OPEN);
    assert_int_equal(x.server->state, TLTCP__CONN_OPEN);
    pair_close(&x);
}

TEST(a_call_sent_over_and_over_is_answered_now_and_then) {
    uint8_t initial[1472];
    unsigned answers = 0;
    struct pair x;
    size_t len;
    call(&x);
    memcpy(initial, x.dgram, x.len);
    len = x.len;
    assert_int_equal(tltcp_conn_accept(x.server, x.now), 0);
    for (int i = 0; i < 200; i++, x.now += TLTCP_MS) {
        answers += next(&x, x.server);
        memcpy(x.dgram, initial, len);
        x.len = len;
        assert_int_equal(to_server(&x), TLTCP_TAKEN);
    }
    assert_int_equal(answers, 4);
    pair_close(&x);
}

static void
an_answer_with_a_false_id_does_not_spoil_the_true_one(void **state) {
    uint8_t answer[1472];
    struct pair x;
    cmn__writer w;
    size_t len;
    (void)state;
    call(&x);
    assert_int_equal(tltcp_conn_accept(x.server, x.now), 0);
    assert_true(next(&x, x.server));
    len = x.len;
    memcpy(answer, x.dgram, len);
    x.dgram[13] ^= 1; /* scid */
    w = cmn__writer_of(x.dgram, len);
    w.p += len - SEC__CHECK_LEN;
    sec__packet_seal(&w, x.dgram);
    (void)to_client(&x);
    assert_int_equal(x.client->state, TLTCP__CONN_CALLING);
    memcpy(x.dgram, answer, len);
    (void)to_client(&x);
    assert_int_equal(x.client->state, TLTCP__CONN_OPEN);
    pair_close(&x);
}

TEST(a_datagram_that_cannot_be_sealed_is_not_sent) {
    const tltcp_section s = {.data = &(struct iovec){(void *)("secret"), 6},
                             .count = 1,
                             .deadline = TLTCP_TIME_NEVER};
    struct pair x;
    call(&x);
    assert_int_equal(tltcp_conn_accept(x.server, x.now), 0);
    shuttle(&x);
    assert_int_equal(tltcp_conn_write(x.client, &s, 1, x.now), 1);
    x.client->seal->confirmed = false; /* the peer never opens a packet */
    x.client->seal->sealed = UINT64_C(1) << 40;
    assert_false(next(&x, x.client));
    assert_true(tltcp_conn_is_closed(x.client));
    pair_close(&x);
}

static void open_pair(struct pair *x) {
    call(x);
    assert_int_equal(tltcp_conn_accept(x->server, x->now), 0);
    shuttle(x);
    assert_int_equal(x->client->state, TLTCP__CONN_OPEN);
    assert_int_equal(x->client->seal->suite, suite);
    assert_int_equal(x->server->seal->suite, suite);
}

static uint64_t received(const tltcp_conn *c) {
    return c->stats.packets_received;
}

static bool write_and_next(struct pair *x) {
    const tltcp_section s = {.data = &(struct iovec){(void *)("secret"), 6},
                             .count = 1,
                             .deadline = TLTCP_TIME_NEVER};
    x->now += TLTCP_MS;
    return tltcp_conn_write(x->client, &s, 1, x->now) == 1 &&
           next(x, x->client);
}

/* Long enough for everything to be acknowledged. */
static void settle(struct pair *x) {
    for (int i = 0; i < 10; i++) {
        x->now += 50 * TLTCP_MS;
        tltcp_conn_on_timeout(x->client, x->now);
        tltcp_conn_on_timeout(x->server, x->now);
        shuttle(x);
    }
}

static void
packets_overtaken_by_new_keys_are_opened_those_of_older_keys_not(void **s) {
    uint8_t old[2][1472];
    size_t len[2];
    struct pair x;
    uint64_t before;
    (void)s;
    open_pair(&x);
    assert_true(write_and_next(&x));
    (void)to_server(&x);
    settle(&x);
    for (int i = 0; i < 2; i++) { /* held back on their way */
        assert_true(write_and_next(&x));
        len[i] = x.len;
        memcpy(old[i], x.dgram, x.len);
    }
    assert_int_equal(tltcp_conn_rekey(x.client), 0);
    assert_true(write_and_next(&x));
    assert_int_equal(x.dgram[0], SEC__SHORT | SEC__PHASE);
    (void)to_server(&x); /* the new key is in use */
    before = received(x.server);
    x.len = len[0];
    memcpy(x.dgram, old[0], x.len);
    (void)to_server(&x);
    assert_int_equal(received(x.server), before + 1);
    (void)to_server(&x); /* again: a duplicate */
    assert_int_equal(received(x.server), before + 1);
    settle(&x);
    assert_int_equal(tltcp_conn_rekey(x.client), 0);
    assert_true(write_and_next(&x));
    (void)to_server(&x);
    assert_int_equal(x.server->seal->rx_phase, 2);
    before = received(x.server);
    x.len = len[1]; /* two keys behind */
    memcpy(x.dgram, old[1], x.len);
    (void)to_server(&x);
    assert_int_equal(received(x.server), before);
    assert_int_equal(x.server->stats.packets_forged, 1);
    pair_close(&x);
}

TEST(forged_packets_are_counted_and_too_many_end_it) {
    struct pair x;
    uint64_t before;
    open_pair(&x);
    assert_true(write_and_next(&x));
    before = received(x.server);
    for (size_t i = SEC__SHORT_LEN; i < x.len; i++) {
        x.dgram[i] ^= 1;
        (void)to_server(&x);
        x.dgram[i] ^= 1;
    }
    assert_int_equal(x.server->stats.packets_forged, x.len - SEC__SHORT_LEN);
    assert_int_equal(received(x.server), before);
    (void)to_server(&x); /* the true one still counts */
    assert_int_equal(received(x.server), before + 1);
    x.server->stats.packets_forged = (UINT64_C(1) << 35) - 1;
    assert_true(write_and_next(&x));
    x.dgram[20] ^= 1;
    (void)to_server(&x);
    assert_int_equal(x.server->close.error, TLTCP_ERR_LIMIT);
    pair_close(&x);
}

/* With another key, or none. */
static void who_has_not_the_key_learns_it_at_once_and_leaves_nothing(void **s) {
    static const uint8_t others[32] = {9};
    static const uint8_t seed[TLTCP_SEED_LEN] = {3};
    (void)s;
    for (int i = 0; i < 2; i++) {
        tltcp_stats st;
        tltcp_config cfg;
        struct pair x;
        pair_open(&x);
        tltcp_conn_free(x.client);
        tltcp_config_init(&cfg);
        cfg.key = i == 0 ? others : NULL;
        cfg.key_len = i == 0 ? sizeof(others) : 0;
        assert_int_equal(tltcp_conn_new(&x.client, &cfg, seed, PATH, x.now), 0);
        if (i == 0) {
            ask(&x);
        }
        assert_true(next(&x, x.client));
        assert_int_equal(to_server(&x), TLTCP_REPLY);
        assert_int_equal(tltcp_endpoint_count(x.ep), 0);
        assert_true(x.len < SEC__DATAGRAM_MIN / 3);
        (void)to_client(&x);
        assert_true(tltcp_conn_is_closed(x.client));
        assert_int_equal(x.client->close.error, TLTCP_ERR_AUTH);
        tltcp_stats_init(&st);
        assert_int_equal(tltcp_endpoint_get_stats(x.ep, &st), 0);
        assert_int_equal(st.callers_rejected, 1);
        pair_close(&x);
    }
}

/* The driver makes the key of a passphrase elsewhere. */
static struct pair deferring_pair(void) {
    static const uint8_t seed[2][TLTCP_SEED_LEN] = {{1}, {2}};
    struct pair x = {.now = TLTCP_S};
    tltcp_config cfg;
    tltcp_config_init(&cfg);
    cfg.passphrase = "correct horse";
    assert_int_equal(tltcp_endpoint_new(&x.ep, &cfg, seed[0], x.now), 0);
    assert_int_equal(tltcp_conn_new(&x.client, &cfg, seed[1], PATH, x.now), 0);
    tltcp_conn_defer_keys(x.client);
    return x;
}

/* Meanwhile the call waits, whatever else arrives. */
TEST(a_key_may_be_made_elsewhere) {
    struct pair x = deferring_pair();
    tltcp_key_job *job;
    assert_null(tltcp_conn_key_job(x.client));
    ask(&x);
    job = tltcp_conn_key_job(x.client);
    assert_non_null(job);
    assert_null(tltcp_conn_key_job(x.client));
    assert_false(next(&x, x.client));
    x.now += TLTCP_S;
    tltcp_conn_on_timeout(x.client, x.now);
    ask(&x); /* it repeats itself, and the same key is on its way */
    assert_null(tltcp_conn_key_job(x.client));
    tltcp_key_job_run(job);
    tltcp_conn_take_key(x.client, job, x.now);
    assert_true(next(&x, x.client));
    assert_int_equal(to_server(&x), TLTCP_CALLER);
    assert_int_equal(tltcp_conn_accept(x.server, x.now), 0);
    shuttle(&x);
    assert_int_equal(x.client->state, TLTCP__CONN_OPEN);
    assert_null(x.client->handshake.keys);
    assert_null(x.client->handshake.offer);
    pair_close(&x);
}

TEST(an_unneeded_key_is_dropped) {
    struct pair x = deferring_pair();
    tltcp_key_job *job;
    ask(&x);
    job = tltcp_conn_key_job(x.client);
    tltcp_conn_free(x.client);
    x.client = NULL;
    tltcp_key_job_run(job);
    tltcp_conn_take_key(NULL, job, x.now);
    pair_close(&x);
}

TEST(more_passphrases_than_are_kept_are_refused) {
    const char *more[17] = {NULL};
    char why[TLTCP_REASON_MAX + 1];
    tltcp_config cfg;
    for (int i = 0; i < 15; i++) {
        more[i] = "a passphrase";
    }
    tltcp_config_init(&cfg);
    cfg.listener.more_passphrases = more;
    assert_int_equal(tltcp_config_check(&cfg, why), 0);
    more[15] = "one too many";
    assert_int_equal(tltcp_config_check(&cfg, why), TLTCP_ERR_INVAL);
    assert_non_null(strstr(why, "more_passphrases"));
}

/* The path takes 1472; AES-GCM likes whole groups of blocks. */
TEST(a_full_packet_is_as_long_as_its_cipher_likes) {
    static const uint8_t text[40000];
    static uint8_t burst[8 * 1472];
    const tltcp_section s = {.data =
                                 &(struct iovec){(void *)text, sizeof(text)},
                             .count = 1,
                             .deadline = TLTCP_TIME_NEVER};
    size_t segment = 0;
    tltcp_pktinfo info;
    struct pair x;
    open_pair(&x);
    settle(&x);
    assert_int_equal(x.client->mtu.current, 1472);
    assert_int_equal(tltcp_conn_write(x.client, &s, 1, x.now), 1);
    assert_true(tltcp_conn_send(x.client, &info, burst, sizeof(burst), &segment,
                                x.now) >= 4 * segment);
    assert_int_equal(segment, suite == SEC__AES_GCM ? 13 + 15 * 96 + 16 : 1472);
    pair_close(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_caller_who_repeats_itself_may_still_be_accepted),
        cmocka_unit_test(a_call_sent_over_and_over_is_answered_now_and_then),
        cmocka_unit_test(an_answer_with_a_false_id_does_not_spoil_the_true_one),
        cmocka_unit_test(a_datagram_that_cannot_be_sealed_is_not_sent),
        cmocka_unit_test(
            packets_overtaken_by_new_keys_are_opened_those_of_older_keys_not),
        cmocka_unit_test(forged_packets_are_counted_and_too_many_end_it),
        cmocka_unit_test(
            who_has_not_the_key_learns_it_at_once_and_leaves_nothing),
        cmocka_unit_test(a_key_may_be_made_elsewhere),
        cmocka_unit_test(an_unneeded_key_is_dropped),
        cmocka_unit_test(more_passphrases_than_are_kept_are_refused),
        cmocka_unit_test(a_full_packet_is_as_long_as_its_cipher_likes),
    };
    int failed;
    suite = SEC__AES_GCM;
    failed = cmocka_run_group_tests_name("AES-GCM", tests, NULL, NULL);
    suite = SEC__CHACHA_POLY;
    return failed +
           cmocka_run_group_tests_name("ChaChaPoly", tests, NULL, NULL);
}
