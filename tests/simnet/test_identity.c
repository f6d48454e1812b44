/* SPDX-License-Identifier: MPL-2.0 */
/* Static keys: who is let in, who is called, what it costs. */
#include "libtltcp/engine/endpoint.h"
#include "tests/simnet/world.h"

static struct world w;

/* Static keys; X25519 ignores some bits at both ends of a secret. */
struct keys {
    uint8_t secret[32];
    uint8_t public_key[32];
};

static struct keys keys_of(uint8_t number) {
    struct keys k = {.secret = {8, 9, number}};
    assert_int_equal(tltcp_identity_public(k.secret, k.public_key), 0);
    return k;
}

static struct keys listener;
static struct keys caller;
static struct keys other;
static const uint8_t *welcome[3];

static int make_keys(void **state) {
    (void)state;
    listener = keys_of(1);
    caller = keys_of(2);
    other = keys_of(3);
    welcome[0] = other.public_key;
    welcome[1] = caller.public_key;
    welcome[2] = NULL;
    return 0;
}

static void identity_plan(struct plan *p, uint64_t seed) {
    plan_init(p, seed);
    p->source[CLIENT].sections = 3;
    p->source[SERVER].sections = 2;
    for (int i = 0; i < 2; i++) {
        p->config[i].connect_timeout_ms = 120000;
    }
    p->config[CLIENT].identity.secret = caller.secret;
    p->config[CLIENT].identity.listener = listener.public_key;
    p->config[SERVER].identity.secret = listener.secret;
    p->config[SERVER].identity.callers = welcome;
}

TEST(each_end_knows_the_other) {
    for (int secured = 0; secured < 2; secured++) {
        struct plan p;
        identity_plan(&p, 1);
        p.secured = secured == 1;
        p.keep_open = true;
        world_start_for(&w, &p, 1 * SEC);
        assert_true(w.end[CLIENT].connected);
        assert_true(w.end[SERVER].connected);
        assert_memory_equal(tltcp_conn_identity(w.end[SERVER].peer->conn),
                            caller.public_key, 32);
        assert_memory_equal(tltcp_conn_identity(w.end[CLIENT].peer->conn),
                            listener.public_key, 32);
        world_close(&w);
    }
}

TEST(without_static_keys_there_is_no_identity) {
    struct plan p;
    plan_init(&p, 1);
    p.secured = true;
    p.keep_open = true;
    world_start_for(&w, &p, 1 * SEC);
    assert_null(tltcp_conn_identity(w.end[SERVER].peer->conn));
    assert_null(tltcp_conn_identity(w.end[CLIENT].peer->conn));
    world_close(&w);
}

static bool drop_masked(void *user, uint32_t link, struct sim_packet *p,
                        uint64_t now) {
    uint64_t *mask = user;
    bool drop = (mask[link] & 1) != 0;
    (void)p;
    (void)now;
    mask[link] >>= 1;
    return !drop;
}

TEST(any_of_the_first_packets_may_be_lost) {
    for (uint64_t at = 0; at < 256; at++) {
        uint64_t mask[2] = {at & 15, at >> 4};
        struct plan p;
        identity_plan(&p, at);
        p.tap = drop_masked;
        p.user = mask;
        assert_true(play(&p, NULL));
    }
}

TEST(the_longest_stream_id_fits) {
    char id[TLTCP_STREAM_ID_MAX + 1];
    struct plan p;
    identity_plan(&p, 2);
    memset(id, 'x', sizeof(id));
    id[TLTCP_STREAM_ID_MAX] = '\0';
    p.config[CLIENT].stream_id = id;
    world_start_for(&w, &p, 1 * SEC);
    assert_string_equal(tltcp_conn_stream_id(w.end[SERVER].peer->conn), id);
    world_finish(&w);
}

/* Plays a call that must not come about; returns the caller's error. */
static int refusal_of(struct plan *p) {
    int error;
    p->no_delivery_check = true;
    p->config[CLIENT].connect_timeout_ms = 3000;
    world_start_for(&w, p, 5 * SEC);
    error = w.end[CLIENT].error;
    assert_true(w.end[CLIENT].closed);
    assert_false(w.end[CLIENT].connected);
    assert_null(w.end[SERVER].peer);
    assert_int_equal(
        tltcp_endpoint_count(sim_host_endpoint(w.end[SERVER].host)), 0);
    assert_true(tltcp_endpoint_rejected(sim_host_endpoint(w.end[SERVER].host)) >
                0);
    world_close(&w);
    return error;
}

TEST(a_caller_that_is_not_listed_is_rejected) {
    const uint8_t *const only[] = {other.public_key, NULL};
    const uint8_t *const none[] = {NULL};
    struct plan p;
    identity_plan(&p, 3);
    p.config[SERVER].identity.callers = only;
    assert_int_equal(refusal_of(&p), TLTCP_ERR_AUTH);
    p.config[SERVER].identity.callers = none;
    assert_int_equal(refusal_of(&p), TLTCP_ERR_AUTH);
}

TEST(the_application_may_decide_alone) {
    struct plan p;
    identity_plan(&p, 3);
    p.config[SERVER].identity.callers = NULL;
    assert_true(play(&p, NULL));
}

/* Its key is that of no listener here. */
TEST(a_call_to_another_listener_is_rejected) {
    struct plan p;
    identity_plan(&p, 4);
    p.config[CLIENT].identity.listener = other.public_key;
    assert_int_equal(refusal_of(&p), TLTCP_ERR_AUTH);
    p.secured = true; /* who has the shared key is not the listener yet */
    assert_int_equal(refusal_of(&p), TLTCP_ERR_AUTH);
}

/* Whoever has the public key of a welcome caller is not that caller. */
TEST(a_caller_without_the_secret_is_rejected) {
    struct plan p;
    identity_plan(&p, 5);
    p.config[CLIENT].identity.secret = listener.secret;
    assert_int_equal(refusal_of(&p), TLTCP_ERR_AUTH);
}

TEST(neither_end_falls_back_to_a_shared_key) {
    struct plan p;
    identity_plan(&p, 6);
    p.secured = true;
    memset(&p.config[CLIENT].identity, 0, sizeof(p.config[CLIENT].identity));
    assert_int_equal(refusal_of(&p), TLTCP_ERR_AUTH);
    identity_plan(&p, 6);
    p.secured = true;
    memset(&p.config[SERVER].identity, 0, sizeof(p.config[SERVER].identity));
    assert_int_equal(refusal_of(&p), TLTCP_ERR_AUTH);
}

TEST(a_plain_caller_is_rejected) {
    struct plan p;
    identity_plan(&p, 7);
    memset(&p.config[CLIENT].identity, 0, sizeof(p.config[CLIENT].identity));
    assert_int_equal(refusal_of(&p), TLTCP_ERR_AUTH);
}

TEST(a_caller_must_know_whom_it_calls) {
    static const uint8_t seed[TLTCP_SEED_LEN] = {1};
    tltcp_config c;
    tltcp_conn *conn;
    tltcp_config_init(&c);
    c.identity.secret = caller.secret;
    assert_int_equal(tltcp_conn_new(&conn, &c, seed, 1, 1), TLTCP_ERR_INVAL);
    c.identity.secret = NULL;
    c.identity.listener = listener.public_key;
    assert_int_equal(tltcp_conn_new(&conn, &c, seed, 1, 1), TLTCP_ERR_INVAL);
}

/* Looks for a text in all that leaves. */
struct search {
    const uint8_t *text;
    bool found;
};

static bool look_for(void *user, uint32_t link, struct sim_packet *p,
                     uint64_t now) {
    struct search *s = user;
    (void)link;
    (void)now;
    for (size_t i = 0; i + 32 <= p->len; i++) {
        s->found = s->found || memcmp(p->data + i, s->text, 32) == 0;
    }
    return true;
}

TEST(nobody_on_the_way_sees_who_calls) {
    const uint8_t *const keys[] = {caller.public_key, listener.public_key};
    for (size_t i = 0; i < 2; i++) {
        struct search s = {.text = keys[i]};
        struct plan p;
        identity_plan(&p, 8);
        p.tap = look_for;
        p.user = &s;
        world_start_for(&w, &p, 1 * SEC);
        assert_true(w.end[SERVER].connected);
        assert_false(s.found);
        world_finish(&w);
    }
}

/* Changes one byte of the packet of a kind. */
struct changer {
    uint8_t type;
    size_t at;
};

static bool change_byte(void *user, uint32_t link, struct sim_packet *p,
                        uint64_t now) {
    const struct changer *c = user;
    cmn__writer wr = cmn__writer_of(p->data, p->len);
    (void)link;
    (void)now;
    if (p->data[0] == c->type && p->len > c->at + 4) {
        p->data[c->at] ^= 1;
        wr.p += p->len - SEC__CHECK_LEN;
        sec__packet_seal(&wr, p->data);
    }
    return true;
}

/* Changed once it bears a token; the proof is among what is changed. */
TEST(a_changed_call_is_rejected) {
    for (size_t at = 60; at < 200; at += 7) {
        struct changer c = {SEC__INITIAL, at};
        struct plan p;
        identity_plan(&p, 9);
        p.tap = change_byte;
        p.user = &c;
        p.no_delivery_check = true;
        p.config[CLIENT].connect_timeout_ms = 2000;
        world_start_for(&w, &p, 5 * SEC);
        assert_false(w.end[CLIENT].connected);
        assert_false(w.end[SERVER].connected);
        world_close(&w);
    }
}

TEST(few_strangers_a_second_cost_a_diffie_hellman) {
    const sec__limits limits = {.max = 100};
    const uint8_t seed[TLTCP_SEED_LEN] = {7};
    cmn__mem mem = cmn__mem_default();
    sec__secret secret;
    sec__admission a;
    unsigned heard[2] = {0, 0};
    sec__secret_init(&secret, seed);
    assert_true(sec__admission_init(&a, &mem, &limits, &secret, 1 * SEC));
    for (unsigned i = 0; i < 100000; i++) { /* one network, and many */
        uint64_t network[2] = {5, i};
        for (int k = 0; k < 2; k++) {
            if (sec__admission_hears(&a, network[k], 10 * SEC)) {
                sec__admission_on_stranger(&a, network[k], 10 * SEC);
                heard[k]++;
            }
        }
    }
    assert_in_range(heard[0], 10, 50);
    assert_in_range(heard[1], 200, 600);
    assert_true(sec__admission_hears(&a, 5, 11 * SEC + 1));
    sec__admission_free(&a);
    sec__secret_clear(&secret);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_end_knows_the_other),
        cmocka_unit_test(without_static_keys_there_is_no_identity),
        cmocka_unit_test(any_of_the_first_packets_may_be_lost),
        cmocka_unit_test(the_longest_stream_id_fits),
        cmocka_unit_test(a_caller_that_is_not_listed_is_rejected),
        cmocka_unit_test(the_application_may_decide_alone),
        cmocka_unit_test(a_call_to_another_listener_is_rejected),
        cmocka_unit_test(a_caller_without_the_secret_is_rejected),
        cmocka_unit_test(neither_end_falls_back_to_a_shared_key),
        cmocka_unit_test(a_plain_caller_is_rejected),
        cmocka_unit_test(a_caller_must_know_whom_it_calls),
        cmocka_unit_test(nobody_on_the_way_sees_who_calls),
        cmocka_unit_test(a_changed_call_is_rejected),
        cmocka_unit_test(few_strangers_a_second_cost_a_diffie_hellman),
    };
    return cmocka_run_group_tests_name("identity", tests, make_keys, NULL);
}
