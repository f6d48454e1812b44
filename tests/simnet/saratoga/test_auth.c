/* SPDX-License-Identifier: MPL-2.0 */
/* Peers that share a key, and those that do not. */
#include <string.h>

#include "libsaratoga/engine/auth.h"
#include "tests/simnet/saratoga/pass.h"
#include "tests/support/cmocka.h"

#define REQUEST_FIRST 0x21
#define OTHER_NODES                                          \
    ((uint64_t)1 << 57) /* seed of worlds with other secrets \
                         */

static const uint8_t key[] = "the key of both of them";
static const uint8_t other[] = "the key of somebody else";

static saratoga_config keyed(const uint8_t *k) {
    saratoga_config c;
    saratoga_config_init(&c);
    c.auth_key = k;
    c.auth_key_len = k != NULL ? sizeof(key) : 0;
    return c;
}

static struct world world_seeded(const uint8_t *sat_key,
                                 const uint8_t *ground_key, uint64_t seed) {
    const struct plan p = {0, 0, 20 * MSEC, 0, 0, seed};
    saratoga_config sat = keyed(sat_key);
    saratoga_config ground = keyed(ground_key);
    struct world w = world_new(&p, &sat, &ground);
    (void)host_make_file(w.sat, "f", 10000, 1);
    return w;
}

static struct world world_of(const uint8_t *sat_key,
                             const uint8_t *ground_key) {
    return world_seeded(sat_key, ground_key, 1);
}

/* The newest REQUEST as it left. */
struct wiretap {
    uint8_t bytes[1600];
    size_t len;
    uint32_t seen; /* so far */
};

static void listen_in(void *user, struct host *h, const saratoga_pktinfo *to,
                      const uint8_t *dgram, size_t len) {
    struct wiretap *t = user;
    (void)h;
    (void)to;
    if (dgram[0] == REQUEST_FIRST && len <= sizeof(t->bytes)) {
        memcpy(t->bytes, dgram, len);
        t->len = len;
        t->seen++;
    }
}

static struct xfer *get(struct world *w, struct wiretap *t) {
    struct xfer *x;
    w->ground->tap = listen_in;
    w->ground->tap_user = t;
    x = host_start(w->ground, w->sat, SARATOGA_GET, "f", NULL, NULL);
    world_finish(w, x, 60 * SEC);
    return x;
}

/* A datagram from elsewhere; what comes back is counted. */
static uint64_t answers_to(struct world *w, uint64_t host,
                           const struct wiretap *t) {
    saratoga_pktinfo from = {.host = host, .path = sim_address(98, 7)};
    uint64_t before = w->sat->sim.sent_packets;
    saratoga_engine_recv(w->sat->sim.engine, &from, t->bytes, t->len,
                         host_now(w->sat));
    host_pump(w->sat);
    return w->sat->sim.sent_packets - before;
}

TEST(a_peer_with_the_key_is_served) {
    struct world w = world_of(key, key);
    struct wiretap t = {.len = 0};
    struct xfer *x = get(&w, &t);
    assert_int_equal(x->end.error, 0);
    assert_true(host_same(host_find_file(w.sat, "f"), x->file));
    assert_int_equal(t.len, 8 + 1 + 1 + SARATOGA__BOUND_LEN);
    world_free(&w);
}

TEST(a_peer_with_no_or_a_wrong_key_is_refused) {
    const uint8_t *const wrong[] = {NULL, other};
    for (size_t i = 0; i < 2; i++) {
        struct world w = world_of(key, wrong[i]);
        struct wiretap t;
        struct xfer *x = get(&w, &t);
        assert_int_equal(x->end.error, SARATOGA_ERR_REFUSED);
        assert_int_equal(x->end.status, SARATOGA_ACCESS_DENIED);
        assert_int_equal(w.sat->requests, 0);
        world_free(&w);
    }
}

TEST(a_secured_node_may_ask_plain_peers) {
    struct world w = world_of(NULL, key);
    struct wiretap t;
    assert_int_equal(get(&w, &t)->end.error, 0);
    world_free(&w);
}

TEST(a_request_counts_once) {
    struct world w = world_of(key, key);
    struct wiretap t;
    (void)get(&w, &t);
    world_run(&w, 30 * SEC);                     /* all is over and forgotten */
    assert_int_equal(answers_to(&w, 99, &t), 1); /* a challenge */
    assert_int_equal(answers_to(&w, w.ground->sim.node + 1, &t), 0);
    assert_int_equal(w.sat->requests, 1);
    world_free(&w);
}

/* Two servers with one key: what one was asked does not count at the other. */
TEST(a_request_counts_at_one_server_alone) {
    struct world w = world_of(key, key);
    struct world twin = world_seeded(key, key, OTHER_NODES);
    struct wiretap t = {.len = 0};
    assert_int_equal(get(&w, &t)->end.error, 0);
    world_run(&twin, 1 * SEC);
    (void)answers_to(&twin, w.ground->sim.node + 1, &t);
    assert_int_equal(twin.sat->requests, 0);
    world_free(&twin);
    world_free(&w);
}

TEST(the_first_request_counts_nowhere) {
    struct world w = world_of(key, other);
    struct world twin = world_seeded(key, key, OTHER_NODES);
    struct wiretap t = {.len = 0};
    w.sat->sim.dead = true;
    twin.ground->tap = listen_in;
    twin.ground->tap_user = &t;
    (void)host_start(twin.ground, twin.sat, SARATOGA_GET, "f", NULL, NULL);
    assert_int_equal(t.seen, 1);
    w.sat->sim.dead = false;
    assert_int_equal(answers_to(&w, twin.ground->sim.node + 1, &t), 1);
    assert_int_equal(w.sat->requests, 0);
    world_free(&twin);
    world_free(&w);
}

TEST(one_challenge_serves_for_many_requests) {
    struct world w = world_of(key, key);
    struct wiretap t = {.len = 0};
    saratoga_engine_stats st;
    for (uint32_t i = 1; i <= 3; i++) {
        assert_int_equal(get(&w, &t)->end.error, 0);
        assert_int_equal(t.seen, i + 1);
    }
    saratoga_engine_stats_init(&st);
    saratoga_engine_get_stats(w.sat->sim.engine, &st);
    assert_int_equal(st.challenges_sent, 1);
    world_free(&w);
}

TEST(a_server_that_starts_anew_challenges_anew) {
    struct world w = world_of(key, key);
    struct world anew = world_seeded(key, key, OTHER_NODES);
    struct wiretap t = {.len = 0};
    saratoga_engine *before;
    assert_int_equal(get(&w, &t)->end.error, 0);
    before = w.sat->sim.engine; /* it was this one; now it is the other */
    w.sat->sim.engine = anew.sat->sim.engine;
    anew.sat->sim.engine = before;
    assert_int_equal(get(&w, &t)->end.error, 0);
    assert_int_equal(t.seen, 4);
    world_free(&anew);
    world_free(&w);
}

/* REQUESTs are repeated while the challenge is on its way, so that several of
 * them come. */
TEST(a_long_way_is_no_obstacle) {
    static const uint32_t type[] = {SARATOGA_GET, SARATOGA_PUT};
    const struct plan p = {0, 0, 9 * SEC, 0, 0, 1};
    saratoga_config c = keyed(key);
    for (size_t i = 0; i < 2; i++) {
        struct world w = world_new(&p, &c, &c);
        struct host *from = i == 0 ? w.sat : w.ground;
        struct xfer *x;
        (void)host_make_file(from, "f", 10000, 1);
        x = host_start(w.ground, w.sat, type[i], "f", NULL, NULL);
        world_finish(&w, x, 200 * SEC);
        assert_int_equal(x->end.error, 0);
        world_free(&w);
    }
}

/* Who remembers as many as he can and no more does not take them again. */
TEST(a_forgotten_request_is_challenged) {
    cmn__mem mem = cmn__mem_default();
    saratoga_config c = keyed(key);
    saratoga__auth a;
    saratoga__auth_init(&a, &mem, &c, 0);
    for (uint64_t t = 1; t <= 10000; t++) {
        assert_int_equal(saratoga__auth_spend(&a, t, 7), SARATOGA__GENUINE);
        assert_int_equal(saratoga__auth_spend(&a, t, 7), SARATOGA__REPLAYED);
    }
    assert_int_equal(saratoga__auth_spend(&a, 1, 7), SARATOGA__UNBOUND);
    assert_int_equal(saratoga__auth_spend(&a, 5000, 8), SARATOGA__UNBOUND);
    assert_int_equal(saratoga__auth_spend(&a, 10000, 8), SARATOGA__GENUINE);
    saratoga__auth_free(&a);
}

TEST(a_request_that_was_changed_is_refused) {
    struct wiretap t;
    struct world w = world_of(key, key);
    (void)get(&w, &t);
    for (size_t i = 0; i < t.len; i++) {
        struct wiretap bad = t;
        bad.bytes[i] ^= 1;
        (void)answers_to(&w, 99, &bad);
    }
    assert_int_equal(w.sat->requests, 1);
    for (size_t len = 9; len < t.len; len++) {
        struct wiretap cut = t;
        cut.len = len;
        (void)answers_to(&w, 99, &cut);
    }
    assert_int_equal(w.sat->requests, 1);
    world_free(&w);
}

/* Holds back the second REQUEST, the one with the challenge. */
struct holder {
    struct wiretap second;
    uint32_t met;
};

static bool hold_back(void *user, uint32_t link, struct sim_packet *p,
                      uint64_t now) {
    struct holder *h = user;
    (void)link;
    (void)now;
    if (p->data[0] != REQUEST_FIRST || ++h->met < 2) {
        return true;
    }
    if (h->met == 2) {
        memcpy(h->second.bytes, p->data, p->len);
        h->second.len = p->len;
    }
    return false;
}

/* The challenge is of 0.02 s. */
static uint64_t requests_when_late(uint64_t at) {
    struct world w = world_of(key, key);
    struct holder h = {.met = 0};
    uint64_t requests;
    sim_net_set_tap(w.net, hold_back, &h);
    (void)host_start(w.ground, w.sat, SARATOGA_GET, "f", NULL, NULL);
    world_run(&w, at);
    assert_true(h.met >= 2);
    (void)answers_to(&w, host_address(w.ground).host, &h.second);
    requests = w.sat->requests;
    world_free(&w);
    return requests;
}

TEST(a_request_of_another_time_is_refused) {
    assert_int_equal(requests_when_late(299 * SEC), 1);
    assert_int_equal(requests_when_late(302 * SEC), 0);
}

/* Which REQUESTs came before, a node that starts anew does not know. */
TEST(a_request_from_before_a_restart_is_not_taken) {
    struct world w = world_of(key, key);
    struct wiretap t = {.len = 0};
    uint64_t host = host_address(w.ground).host;
    (void)get(&w, &t);
    world_free(&w);
    w = world_seeded(key, key, OTHER_NODES);
    assert_int_equal(answers_to(&w, host, &t), 1); /* a challenge */
    assert_int_equal(w.sat->requests, 0);
    assert_int_equal(get(&w, &t)->end.error, 0);
    world_free(&w);
}

/* To a group and as a no-op it counts by its time. */
TEST(a_request_to_a_group_counts_at_each_member_once) {
    struct world w = world_of(key, key);
    struct wiretap t = {.len = 0};
    saratoga_pktinfo group = host_address(w.sat);
    saratoga_pktinfo from = {.host = 99, .path = sim_address(98, 7)};
    group.flags = SARATOGA_PKT_MULTICAST;
    w.ground->tap = listen_in;
    w.ground->tap_user = &t;
    world_run(&w, 1 * SEC);
    (void)host_start_to(w.ground, group, SARATOGA_GET, "f", NULL);
    assert_int_equal(t.len, 8 + 1 + 1 + SARATOGA__AUTH_LEN);
    (void)answers_to(&w, 99, &t); /* as if to this server alone */
    assert_int_equal(w.sat->requests, 0);
    from.flags = SARATOGA_PKT_MULTICAST;
    for (int i = 0; i < 2; i++) {
        saratoga_engine_recv(w.sat->sim.engine, &from, t.bytes, t.len,
                             host_now(w.sat));
        host_pump(w.sat);
        assert_int_equal(w.sat->requests, 1);
    }
    world_free(&w);
}

TEST(what_is_forgotten_is_not_accepted_again) {
    cmn__mem mem = cmn__mem_default();
    saratoga_config c = keyed(key);
    saratoga__auth a;
    cmn__rng rng;
    uint8_t first[SARATOGA__AUTH_LEN];
    uint8_t field[SARATOGA__AUTH_LEN];
    const uint8_t packet[] = "a request";
    const saratoga__signed oldest = {packet, sizeof(packet), first,
                                     sizeof(first)};
    const saratoga__signed newest = {packet, sizeof(packet), field,
                                     sizeof(field)};
    cmn__rng_seed(&rng, 1);
    saratoga__auth_init(&a, &mem, &c, 0);
    saratoga__auth_write(&a, packet, sizeof(packet), 1, &rng, first);
    for (uint64_t t = 1; t <= 10000; t++) {
        saratoga__auth_write(&a, packet, sizeof(packet), t, &rng, field);
        assert_int_equal(
            saratoga__auth_judge(&a, t == 1 ? &oldest : &newest, 10),
            SARATOGA__GENUINE);
    }
    assert_int_equal(saratoga__auth_judge(&a, &oldest, 10), SARATOGA__REPLAYED);
    assert_int_equal(saratoga__auth_judge(&a, &newest, 10), SARATOGA__REPLAYED);
    saratoga__auth_free(&a);
}

TEST(blind_puts_are_refused) {
    struct world w = world_of(key, key);
    struct xfer *x =
        host_start(w.sat, w.ground, SARATOGA_BLIND_PUT, "f", NULL, NULL);
    world_finish(&w, x, 60 * SEC);
    assert_int_equal(x->end.status, SARATOGA_ACCESS_DENIED);
    assert_int_equal(w.ground->requests, 0);
    world_free(&w);
}

TEST(files_without_a_keyed_checksum_are_not_taken) {
    const struct plan p = {0, 0, 20 * MSEC, 0, 0, 1};
    saratoga_config sat = keyed(key);
    saratoga_config ground = keyed(key);
    struct world w;
    struct wiretap t;
    struct xfer *x;
    ground.auth_files = true;
    w = world_new(&p, &sat, &ground);
    (void)host_make_file(w.sat, "f", 10000, 1);
    x = get(&w, &t);
    assert_int_equal(x->end.error, SARATOGA_ERR_AUTH);
    assert_int_equal(x->end.status, SARATOGA_ACCESS_DENIED);
    assert_null(host_find_file(w.ground, "f"));
    world_free(&w);
}

/* ---- the end of a take or give ---- */

#define STATUS_FIRST 0x24
#define STATUS_HEAD 28 /* of a short file, with a timestamp */

/* The change to a signed STATUS in transit. */
struct meddler {
    uint32_t cut; /* octets taken off */
    size_t flip;  /* and one of those that are left changed; 0: none */
    uint32_t met; /* so many */
};

static bool meddle(void *user, uint32_t link, struct sim_packet *p,
                   uint64_t now) {
    struct meddler *m = user;
    (void)link;
    (void)now;
    if (p->data[0] == STATUS_FIRST &&
        p->len == STATUS_HEAD + SARATOGA__AUTH_LEN) {
        p->data[m->flip] ^= m->flip > 0;
        p->len -= m->cut;
        m->met++;
    }
    return true;
}

/* Moves a file to the ground; what the satellite thinks of it at the end. */
static saratoga_event move(struct world *w, uint32_t type, struct meddler *m) {
    saratoga_event end;
    if (m != NULL) {
        sim_net_set_tap(w->net, meddle, m);
    }
    (void)(type == SARATOGA_TAKE
               ? host_start(w->ground, w->sat, type, "f", NULL, NULL)
               : host_start(w->sat, w->ground, type, "f", NULL, NULL));
    world_run(w, 60 * SEC);
    assert_non_null(host_find_file(w->ground, "f"));
    end = w->sat->xfers->end;
    assert_true(end.remove == (host_find_file(w->sat, "f") == NULL));
    return end;
}

TEST(a_peer_with_the_key_may_complete_a_migration) {
    static const uint32_t type[] = {SARATOGA_TAKE, SARATOGA_GIVE};
    for (size_t i = 0; i < 2; i++) {
        struct world w = world_of(key, key);
        struct meddler m = {0, 0, 0};
        assert_true(move(&w, type[i], &m).remove);
        assert_true(m.met > 0);
        world_free(&w);
    }
}

TEST(only_the_peer_completes_a_migration) {
    static const uint32_t type[] = {SARATOGA_TAKE, SARATOGA_GIVE};
    for (size_t i = 0; i < 2 * (STATUS_HEAD + SARATOGA__AUTH_LEN); i++) {
        struct world w = world_of(key, key);
        size_t at = i / 2;
        struct meddler m = {at == 0 ? (uint32_t)SARATOGA__AUTH_LEN : 0, at, 0};
        saratoga_event end = move(&w, type[i % 2], &m);
        assert_true(m.met > 0);
        assert_false(end.remove);
        if (at == 0 || at >= STATUS_HEAD) { /* else it may be another STATUS */
            assert_int_equal(end.error, SARATOGA_ERR_AUTH);
        }
        world_free(&w);
    }
}

TEST(a_copy_is_kept_where_the_other_end_has_no_key) {
    struct world w = world_of(key, NULL);
    assert_int_equal(move(&w, SARATOGA_GIVE, NULL).error, SARATOGA_ERR_AUTH);
    world_free(&w);
}

/* The STATUS that ended one transfer. */
struct recorder {
    uint8_t bytes[STATUS_HEAD + SARATOGA__AUTH_LEN];
    size_t len;
};

static bool record(void *user, uint32_t link, struct sim_packet *p,
                   uint64_t now) {
    struct recorder *r = user;
    (void)link;
    (void)now;
    if (p->data[0] == STATUS_FIRST && p->len == sizeof(r->bytes)) {
        memcpy(r->bytes, p->data, p->len);
        r->len = p->len;
        return false; /* the owner never hears it */
    }
    return true;
}

/* Takes "f" under Id 7 from a satellite that hears nothing of the end. */
static void take_unheard(struct world *w, struct recorder *r) {
    saratoga_request q;
    saratoga_request_init(&q);
    q.type = SARATOGA_TAKE;
    q.to = host_address(w->sat);
    q.path = "f";
    q.id = 7;
    sim_net_set_tap(w->net, record, r);
    assert_non_null(host_start_request(w->ground, &q, "f"));
    world_run(w, 1 * SEC);
    assert_true(r->len > 0);
    assert_non_null(host_find_file(w->sat, "f"));
}

static void hear(struct world *w, const struct recorder *r) {
    const saratoga_pktinfo from = host_address(w->ground);
    saratoga_engine_recv(w->sat->sim.engine, &from, r->bytes, r->len,
                         host_now(w->sat));
    host_pump(w->sat);
}

TEST(the_end_of_a_move_counts_at_its_server_alone) {
    struct world w = world_of(key, key);
    struct world twin = world_seeded(key, key, OTHER_NODES);
    struct recorder r = {.len = 0};
    struct recorder other_end = {.len = 0};
    take_unheard(&w, &r);
    take_unheard(&twin, &other_end);
    hear(&twin, &r);
    assert_non_null(host_find_file(twin.sat, "f"));
    hear(&w, &r);
    assert_null(host_find_file(w.sat, "f"));
    world_free(&twin);
    world_free(&w);
}

/* RFC 4231, cases 2 and 6. */
TEST(hmacs_of_the_rfc) {
    static const uint8_t two[] = {
        0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e, 0x6a, 0x04, 0x24,
        0x26, 0x08, 0x95, 0x75, 0xc7, 0x5a, 0x00, 0x3f, 0x08, 0x9d, 0x27,
        0x39, 0x83, 0x9d, 0xec, 0x58, 0xb9, 0x64, 0xec, 0x38, 0x43};
    static const uint8_t six[] = {
        0x60, 0xe4, 0x31, 0x59, 0x1e, 0xe0, 0xb6, 0x7f, 0x0d, 0x8a, 0x26,
        0xaa, 0xcb, 0xf5, 0xb7, 0x7f, 0x8e, 0x0b, 0xc6, 0x21, 0x37, 0x28,
        0xc5, 0x14, 0x05, 0x46, 0x04, 0x0f, 0x0e, 0xe3, 0x7f, 0x54};
    static const char long_text[] =
        "Test Using Larger Than Block-Size Key - Hash Key First";
    uint8_t long_key[131];
    uint8_t out[32];
    saratoga_digest *d = saratoga_digest_new_keyed(SARATOGA_HMAC_SHA256,
                                                   (const uint8_t *)"Jefe", 4);
    assert_int_equal(
        saratoga_digest_update(d, "what do ya want for nothing?", 28), 0);
    assert_int_equal(saratoga_digest_final(d, out), 0);
    saratoga_digest_free(d);
    assert_memory_equal(out, two, sizeof(two));
    memset(long_key, 0xaa, sizeof(long_key));
    d = saratoga_digest_new_keyed(SARATOGA_HMAC_SHA256, long_key,
                                  sizeof(long_key));
    assert_int_equal(
        saratoga_digest_update(d, long_text, sizeof(long_text) - 1), 0);
    assert_int_equal(saratoga_digest_final(d, out), 0);
    saratoga_digest_free(d);
    assert_memory_equal(out, six, sizeof(six));
    assert_null(saratoga_digest_new(SARATOGA_HMAC_SHA256));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_peer_with_the_key_is_served),
        cmocka_unit_test(a_peer_with_no_or_a_wrong_key_is_refused),
        cmocka_unit_test(a_secured_node_may_ask_plain_peers),
        cmocka_unit_test(a_request_counts_once),
        cmocka_unit_test(a_request_counts_at_one_server_alone),
        cmocka_unit_test(the_first_request_counts_nowhere),
        cmocka_unit_test(one_challenge_serves_for_many_requests),
        cmocka_unit_test(a_server_that_starts_anew_challenges_anew),
        cmocka_unit_test(a_long_way_is_no_obstacle),
        cmocka_unit_test(a_forgotten_request_is_challenged),
        cmocka_unit_test(a_request_to_a_group_counts_at_each_member_once),
        cmocka_unit_test(a_request_that_was_changed_is_refused),
        cmocka_unit_test(a_request_of_another_time_is_refused),
        cmocka_unit_test(a_request_from_before_a_restart_is_not_taken),
        cmocka_unit_test(what_is_forgotten_is_not_accepted_again),
        cmocka_unit_test(blind_puts_are_refused),
        cmocka_unit_test(files_without_a_keyed_checksum_are_not_taken),
        cmocka_unit_test(a_peer_with_the_key_may_complete_a_migration),
        cmocka_unit_test(only_the_peer_completes_a_migration),
        cmocka_unit_test(a_copy_is_kept_where_the_other_end_has_no_key),
        cmocka_unit_test(the_end_of_a_move_counts_at_its_server_alone),
        cmocka_unit_test(hmacs_of_the_rfc),
    };
    return cmocka_run_group_tests_name("auth", tests, NULL, NULL);
}
