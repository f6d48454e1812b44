/* SPDX-License-Identifier: MPL-2.0 */
/* Admission of callers by a listener. */
#include <string.h>

#include "internal/secure/tokens.h"
#include "libtltcp/engine/conn.h"
#include "tests/support/alloc.h"
#include "tests/support/cmocka.h"

#define GUESTS 64

struct house {
    tltcp_endpoint *ep;
    tltcp_conn *guest[GUESTS];
    size_t guests;
    tltcp_time now;
    tltcp_dispatch out;
    uint8_t token[SEC__TOKEN_MAX]; /* of the newest RETRY */
    size_t token_len;
    unsigned told; /* to the log */
};

static void count_words(void *user, const tltcp_trace_event *ev) {
    struct house *h = user;
    h->told += strncmp(ev->name, "security:", 9) == 0;
}

static void open_house(struct house *h, tltcp_config *c) {
    static const uint8_t seed[TLTCP_SEED_LEN] = {1};
    *h = (struct house){.now = TLTCP_S};
    c->on_trace = count_words;
    c->user = h;
    assert_int_equal(tltcp_endpoint_new(&h->ep, c, seed, h->now), 0);
}

static void leave(struct house *h) {
    while (h->guests > 0) {
        tltcp_conn_free(h->guest[--h->guests]);
    }
}

static void close_house(struct house *h) {
    leave(h);
    assert_int_equal(tltcp_endpoint_count(h->ep), 0);
    tltcp_endpoint_free(h->ep);
}

/* Somebody calls, with the token at hand if `with_token`. */
static int knock(struct house *h, uint64_t path, uint64_t network, uint64_t id,
                 bool with_token) {
    const tltcp__params params = {
        .window = 1, .sections = 1, .datagram = 1200, .ack_every = 1};
    const tltcp_pktinfo info = {.path = path, .network = network};
    sec__packet p = {
        .type = SEC__INITIAL, .version = TLTCP__VERSION, .scid = id};
    uint8_t dgram[SEC__DATAGRAM_MIN] = {0};
    cmn__writer w = cmn__writer_of(dgram, sizeof(dgram));
    int verdict;
    p.token = h->token;
    p.token_len = with_token ? h->token_len : 0;
    sec__packet_put(&w, &p);
    tltcp__params_put(&w, &params);
    w.p = dgram + sizeof(dgram) - SEC__CHECK_LEN;
    sec__packet_seal(&w, dgram);
    verdict = tltcp_endpoint_recv(h->ep, &info, dgram, sizeof(dgram), &h->out,
                                  h->now);
    if (verdict == TLTCP_CALLER) {
        assert_true(h->guests < GUESTS);
        h->guest[h->guests++] = h->out.conn;
    }
    return verdict;
}

/* What the reply says: 0 for a RETRY, whose token is kept, or the error of a
 * REJECT. */
static int word(struct house *h) {
    sec__packet p;
    cmn__reader r;
    assert_true(sec__packet_parse(h->out.reply, h->out.reply_len, &p));
    if (p.type == SEC__RETRY) {
        memcpy(h->token, p.token, p.token_len);
        h->token_len = p.token_len;
        return 0;
    }
    assert_int_equal(p.type, SEC__REJECT);
    r = cmn__reader_of(p.body, p.body_len);
    return -(int)cmn__get32(&r);
}

static tltcp_stats stats(const struct house *h) {
    tltcp_stats st;
    tltcp_stats_init(&st);
    assert_int_equal(tltcp_endpoint_get_stats(h->ep, &st), 0);
    return st;
}

TEST(callers_beyond_max_connections_are_rejected) {
    tltcp_config c;
    struct house h;
    tltcp_config_init(&c);
    c.listener.max_connections = 3;
    open_house(&h, &c);
    for (uint64_t i = 1; i <= 5; i++) {
        int verdict = knock(&h, i, i, i, false);
        assert_int_equal(verdict, i <= 3 ? TLTCP_CALLER : TLTCP_REPLY);
    }
    assert_int_equal(word(&h), TLTCP_ERR_LIMIT);
    assert_int_equal(stats(&h).callers_turned_away, 2);
    assert_int_equal(h.told, 1); /* once a second */
    leave(&h);
    assert_int_equal(knock(&h, 9, 9, 9, false), TLTCP_CALLER);
    close_house(&h);
}

TEST(a_flood_of_refusals_is_not_answered) {
    tltcp_config c;
    struct house h;
    unsigned replies = 0;
    tltcp_config_init(&c);
    c.listener.max_connections = 1;
    open_house(&h, &c);
    assert_int_equal(knock(&h, 1, 1, 1, false), TLTCP_CALLER);
    for (uint64_t i = 2; i < 10000; i++) {
        replies += knock(&h, i, i, i, false) == TLTCP_REPLY;
    }
    assert_int_equal(replies, 1000);
    h.now += TLTCP_S;
    assert_int_equal(knock(&h, 2, 2, 2, false), TLTCP_REPLY);
    assert_int_equal(stats(&h).callers_turned_away, 9999);
    close_house(&h);
}

TEST(connections_of_one_address_are_limited) {
    tltcp_config c;
    struct house h;
    tltcp_config_init(&c);
    c.listener.max_per_address = 2;
    open_house(&h, &c);
    for (uint64_t i = 1; i <= 3; i++) { /* from as many ports */
        int verdict = knock(&h, i, 77, i, false);
        assert_int_equal(verdict, i <= 2 ? TLTCP_CALLER : TLTCP_REPLY);
    }
    assert_int_equal(word(&h), TLTCP_ERR_REFUSED);
    assert_int_equal(knock(&h, 4, 78, 4, false), TLTCP_CALLER);
    assert_int_equal(knock(&h, 5, 0, 5, false), TLTCP_CALLER); /* not known */
    leave(&h);
    assert_int_equal(knock(&h, 6, 77, 6, false), TLTCP_CALLER);
    close_house(&h);
}

TEST(one_address_with_many_half_open_must_return_a_token) {
    tltcp_config c;
    struct house h;
    tltcp_config_init(&c);
    c.listener.max_half_open_per_address = 2;
    open_house(&h, &c);
    assert_int_equal(knock(&h, 1, 77, 1, false), TLTCP_CALLER);
    assert_int_equal(knock(&h, 2, 77, 2, false), TLTCP_CALLER);
    assert_int_equal(knock(&h, 3, 77, 3, false), TLTCP_REPLY);
    assert_int_equal(word(&h), 0);
    assert_int_equal(knock(&h, 4, 78, 4, false), TLTCP_CALLER); /* others not */
    assert_int_equal(knock(&h, 3, 77, 3, true), TLTCP_CALLER);
    assert_int_equal(stats(&h).callers_retried, 1);
    leave(&h); /* none of them was ever proven */
    assert_int_equal(knock(&h, 5, 77, 5, false), TLTCP_CALLER);
    close_house(&h);
}

static void a_token_is_good_for_one_address_one_id_and_ten_seconds(void **s) {
    tltcp_config c;
    struct house h;
    uint8_t other[SEC__TOKEN_MAX];
    (void)s;
    tltcp_config_init(&c);
    c.listener.always_retry = true;
    open_house(&h, &c);
    assert_int_equal(knock(&h, 3, 3, 3, false), TLTCP_REPLY);
    assert_int_equal(word(&h), 0);
    memcpy(other, h.token, sizeof(other));
    assert_int_equal(knock(&h, 1, 1, 1, false), TLTCP_REPLY);
    assert_int_equal(word(&h), 0);
    assert_int_equal(knock(&h, 2, 1, 1, true), TLTCP_REPLY);
    assert_int_equal(knock(&h, 1, 1, 2, true), TLTCP_REPLY);
    h.now += 10 * TLTCP_S;
    h.token[10] ^= 1;
    assert_int_equal(knock(&h, 1, 1, 1, true), TLTCP_REPLY);
    h.token[10] ^= 1;
    assert_int_equal(knock(&h, 1, 1, 1, true), TLTCP_CALLER);
    h.now += 1;
    memcpy(h.token, other, sizeof(other));
    assert_int_equal(knock(&h, 3, 3, 3, true), TLTCP_REPLY);
    close_house(&h);
}

TEST(tokens_outlive_a_change_of_their_key) {
    static const uint8_t seed[TLTCP_SEED_LEN] = {7};
    const sec__bearer who = {.path = 1, .id = 2};
    const cmn__mem mem = cmn__mem_default();
    uint8_t token[SEC__TOKEN_LEN];
    uint8_t later[SEC__TOKEN_LEN];
    sec__secret s;
    sec__tokens t;
    sec__tokens stolen;
    tltcp_time now = TLTCP_S;
    sec__secret_init(&s, seed);
    sec__tokens_init(&t, &s, true, now);
    sec__secret_init(&s, seed);
    sec__tokens_init(&stolen, &s, true, now); /* the same */
    now += 59 * TLTCP_S;
    sec__tokens_make(&t, &s, &who, now, token);
    now += 2 * TLTCP_S;
    sec__tokens_make(&t, &s, &who, now, later); /* under a new key */
    assert_ptr_equal(sec__tokens_keys(&t, &who, now, token, sizeof(token)),
                     &t.before);
    assert_ptr_equal(sec__tokens_keys(&t, &who, now, later, sizeof(later)),
                     &t.now);
    assert_memory_equal(t.before.secret, stolen.now.secret,
                        sizeof(t.now.secret));
    assert_memory_not_equal(t.now.secret, stolen.now.secret,
                            sizeof(t.now.secret));
    /* who has the old key cannot make tokens any more */
    stolen.since = now;
    sec__tokens_make(&stolen, &s, &who, now, token);
    assert_null(sec__tokens_keys(&t, &who, now, token, sizeof(token)));
    assert_non_null(sec__tokens_keys(&stolen, &who, now, token, sizeof(token)));
    sec__tokens_clear(&t, &mem);
    sec__tokens_clear(&stolen, &mem);
}

TEST(the_key_before_is_wiped_once_its_tokens_have_expired) {
    static const uint8_t seed[TLTCP_SEED_LEN] = {7};
    static const uint8_t zeros[SEC__KEY_LEN];
    const cmn__mem mem = cmn__mem_default();
    uint8_t first[SEC__KEY_LEN];
    sec__secret s;
    sec__tokens t;
    tltcp_time now = TLTCP_S;
    sec__secret_init(&s, seed);
    sec__tokens_init(&t, &s, true, now);
    memcpy(first, t.now.secret, sizeof(first));
    now += 60 * TLTCP_S;
    sec__tokens_age(&t, &s, now);
    assert_memory_equal(t.before.secret, first, sizeof(first));
    now += 10 * TLTCP_S + 1;
    sec__tokens_age(&t, &s, now);
    assert_memory_equal(t.before.secret, zeros, sizeof(zeros));
    memcpy(first, t.now.secret, sizeof(first));
    now += 3600 * TLTCP_S; /* nobody called */
    sec__tokens_age(&t, &s, now);
    assert_memory_equal(t.before.secret, zeros, sizeof(zeros));
    assert_memory_not_equal(t.now.secret, first, sizeof(first));
    sec__tokens_clear(&t, &mem);
}

TEST(a_token_is_spent_once_however_many_there_are) {
    static const uint8_t seed[TLTCP_SEED_LEN] = {7};
    enum { MANY = 20000 };
    static uint8_t token[MANY][SEC__TOKEN_LEN];
    const cmn__mem mem = cmn__mem_default();
    unsigned refused = 0;
    sec__secret s;
    sec__tokens t;
    tltcp_time now = TLTCP_S;
    sec__secret_init(&s, seed);
    sec__tokens_init(&t, &s, true, now);
    for (uint64_t i = 0; i < MANY; i++, now += TLTCP_US) {
        const sec__bearer who = {.path = i, .id = i + 1};
        sec__tokens_make(&t, &s, &who, now, token[i]);
        assert_non_null(
            sec__tokens_keys(&t, &who, now, token[i], SEC__TOKEN_LEN));
        assert_true(sec__tokens_spend(&t, &mem, token[i], now));
    }
    for (uint64_t i = 0; i < MANY; i++) {
        const sec__bearer who = {.path = i, .id = i + 1};
        refused +=
            sec__tokens_keys(&t, &who, now, token[i], SEC__TOKEN_LEN) == NULL;
    }
    assert_int_equal(refused, MANY);
    sec__tokens_clear(&t, &mem);
}

static const uint8_t shared_key[32] = {1};

/* A secured caller and what it sent last. */
struct caller {
    tltcp_conn *conn;
    uint64_t path;
    uint8_t dgram[1472];
    size_t len;
};

static void caller_open(struct caller *x, const struct house *h, uint8_t who) {
    const uint8_t seed[TLTCP_SEED_LEN] = {2, who};
    tltcp_config c;
    *x = (struct caller){.path = who};
    tltcp_config_init(&c);
    c.key = shared_key;
    c.key_len = sizeof(shared_key);
    assert_int_equal(tltcp_conn_new(&x->conn, &c, seed, 1, h->now), 0);
}

/* Its next INITIAL arrives. */
static int caller_knocks(struct caller *x, struct house *h) {
    const tltcp_pktinfo info = {.path = x->path};
    tltcp_pktinfo to;
    size_t segment;
    int verdict;
    x->len = tltcp_conn_send(x->conn, &to, x->dgram, sizeof(x->dgram), &segment,
                             h->now);
    verdict =
        tltcp_endpoint_recv(h->ep, &info, x->dgram, x->len, &h->out, h->now);
    if (verdict == TLTCP_CALLER) {
        assert_true(h->guests < GUESTS);
        h->guest[h->guests++] = h->out.conn;
    }
    return verdict;
}

static void caller_hears(struct caller *x, const struct house *h) {
    const tltcp_pktinfo info = {.path = 1};
    (void)tltcp_conn_recv(x->conn, &info, h->out.reply, h->out.reply_len,
                          h->now);
}

static void open_secured_house(struct house *h) {
    tltcp_config c;
    tltcp_config_init(&c);
    c.key = shared_key;
    c.key_len = sizeof(shared_key);
    open_house(h, &c);
}

/* The same datagram, from where it came and from elsewhere. */
static void expect_no_entry(struct house *h, const struct caller *x) {
    const tltcp_dispatch own = h->out; /* of the caller */
    for (uint64_t path = x->path; path < x->path + 3; path++) {
        const tltcp_pktinfo info = {.path = path};
        assert_int_equal(tltcp_endpoint_recv(h->ep, &info, x->dgram, x->len,
                                             &h->out, h->now),
                         TLTCP_REPLY);
        assert_true(h->out.reply_len <= x->len / 3);
    }
    h->out = own;
}

TEST(a_recorded_call_makes_no_connection) {
    struct caller x;
    struct house h;
    open_secured_house(&h);
    caller_open(&x, &h, 7);
    assert_int_equal(caller_knocks(&x, &h), TLTCP_REPLY);
    expect_no_entry(&h, &x);
    assert_int_equal(tltcp_endpoint_count(h.ep), 0);
    caller_hears(&x, &h);
    assert_int_equal(caller_knocks(&x, &h), TLTCP_CALLER);
    leave(&h);
    expect_no_entry(&h, &x); /* its token is good for seconds yet */
    h.now += 11 * TLTCP_S;
    expect_no_entry(&h, &x);
    assert_int_equal(tltcp_endpoint_count(h.ep), 0);
    assert_int_equal(tltcp_endpoint_rejected(h.ep), 0);
    tltcp_conn_free(x.conn);
    close_house(&h);
}

/* An attacker with its own token for the id of a recorded call. */
TEST(a_recorded_call_does_not_fit_another_token) {
    struct caller x;
    struct house h;
    sec__packet call;
    sec__packet retry;
    const tltcp_pktinfo info = {.path = 9};
    uint8_t forged[1472];
    cmn__writer w = cmn__writer_of(forged, sizeof(forged));
    open_secured_house(&h);
    caller_open(&x, &h, 7);
    assert_int_equal(caller_knocks(&x, &h), TLTCP_REPLY);
    caller_hears(&x, &h);
    assert_int_equal(caller_knocks(&x, &h), TLTCP_CALLER);
    assert_int_equal(
        tltcp_endpoint_recv(h.ep, &info, x.dgram, x.len, &h.out, h.now),
        TLTCP_REPLY);
    assert_true(sec__packet_parse(x.dgram, x.len, &call));
    assert_true(sec__packet_parse(h.out.reply, h.out.reply_len, &retry));
    call.token = retry.token;
    call.token_len = retry.token_len;
    sec__packet_put(&w, &call);
    cmn__put_bytes(&w, call.body, call.body_len);
    sec__packet_seal(&w, forged);
    assert_int_equal(tltcp_endpoint_recv(h.ep, &info, forged,
                                         (size_t)(w.p - forged), &h.out, h.now),
                     TLTCP_REPLY);
    assert_int_equal(word(&h), TLTCP_ERR_AUTH);
    assert_int_equal(tltcp_endpoint_count(h.ep), 1);
    tltcp_conn_free(x.conn);
    close_house(&h);
}

/* An answer to what was asked before the present token was had: following it
 * would part the caller from the connection that is being made. */
TEST(a_late_retry_is_not_followed) {
    tltcp_dispatch late;
    struct caller x;
    struct house h;
    open_secured_house(&h);
    caller_open(&x, &h, 7);
    assert_int_equal(caller_knocks(&x, &h), TLTCP_REPLY);
    h.now += TLTCP_S;
    tltcp_conn_on_timeout(x.conn, h.now);
    late = h.out;
    assert_int_equal(caller_knocks(&x, &h), TLTCP_REPLY);
    caller_hears(&x, &h);
    assert_int_equal(caller_knocks(&x, &h), TLTCP_CALLER);
    h.out = late;
    caller_hears(&x, &h);
    assert_int_equal(x.conn->handshake.retries, 1);
    tltcp_conn_free(x.conn);
    close_house(&h);
}

TEST(lack_of_memory_does_not_make_a_peer_unknown) {
    struct test_alloc alloc = {0};
    const tltcp_pktinfo info = {.path = 7};
    tltcp_config c;
    struct house h;
    struct caller x;
    tltcp_config_init(&c);
    c.key = shared_key;
    c.key_len = sizeof(shared_key);
    c.allocator = (tltcp_allocator){test_alloc_realloc, &alloc};
    open_house(&h, &c);
    caller_open(&x, &h, 7);
    assert_int_equal(caller_knocks(&x, &h), TLTCP_REPLY);
    caller_hears(&x, &h);
    alloc.fail_at = alloc.calls + 1;
    assert_int_equal(caller_knocks(&x, &h), TLTCP_DROPPED);
    for (int i = 1; i < 50 && h.guests == 0; i++) {
        alloc.fail_at = alloc.calls + (uint64_t)i;
        if (tltcp_endpoint_recv(h.ep, &info, x.dgram, x.len, &h.out, h.now) ==
            TLTCP_CALLER) {
            h.guest[h.guests++] = h.out.conn;
        }
        assert_int_equal(h.out.reply_len, 0); /* he may call again */
    }
    assert_int_equal(h.guests, 1);
    assert_int_equal(tltcp_endpoint_rejected(h.ep), 0);
    close_house(&h);
    assert_int_equal(alloc.blocks, 0);
    tltcp_conn_free(x.conn);
}

TEST(datagrams_without_a_connection_are_counted) {
    const tltcp_pktinfo info = {.path = 1};
    uint8_t junk[100] = {SEC__SHORT, 1, 2, 3};
    tltcp_config c;
    struct house h;
    tltcp_config_init(&c);
    open_house(&h, &c);
    for (size_t len = 0; len <= sizeof(junk); len++) {
        assert_int_equal(tltcp_endpoint_recv(h.ep, &info, junk, len, &h.out, 1),
                         TLTCP_DROPPED);
    }
    assert_int_equal(stats(&h).packets_dropped, sizeof(junk) + 1);
    close_house(&h);
}

TEST(a_call_without_an_id_is_dropped) {
    tltcp_config c;
    struct house h;
    tltcp_config_init(&c);
    open_house(&h, &c);
    assert_int_equal(knock(&h, 1, 77, 0, false), TLTCP_DROPPED);
    assert_int_equal(knock(&h, 1, 77, 1, false), TLTCP_CALLER);
    close_house(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callers_beyond_max_connections_are_rejected),
        cmocka_unit_test(a_flood_of_refusals_is_not_answered),
        cmocka_unit_test(connections_of_one_address_are_limited),
        cmocka_unit_test(one_address_with_many_half_open_must_return_a_token),
        cmocka_unit_test(
            a_token_is_good_for_one_address_one_id_and_ten_seconds),
        cmocka_unit_test(tokens_outlive_a_change_of_their_key),
        cmocka_unit_test(the_key_before_is_wiped_once_its_tokens_have_expired),
        cmocka_unit_test(a_token_is_spent_once_however_many_there_are),
        cmocka_unit_test(a_recorded_call_makes_no_connection),
        cmocka_unit_test(a_recorded_call_does_not_fit_another_token),
        cmocka_unit_test(a_late_retry_is_not_followed),
        cmocka_unit_test(lack_of_memory_does_not_make_a_peer_unknown),
        cmocka_unit_test(datagrams_without_a_connection_are_counted),
        cmocka_unit_test(a_call_without_an_id_is_dropped),
    };
    return cmocka_run_group_tests_name("admission", tests, NULL, NULL);
}
