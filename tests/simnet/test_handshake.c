/* SPDX-License-Identifier: MPL-2.0 */
/* Connections that begin: losses, tokens, versions, refusals, amplification. */
#include "libtltcp/engine/conn.h"
#include "tests/simnet/world.h"

static struct world w;

/* Drops the packets of one direction whose numbers are set in a mask. */
struct dropper {
    uint64_t mask[2];
    uint64_t seen[2];
};

static bool drop_masked(void *user, uint32_t link, struct sim_packet *p,
                        uint64_t now) {
    struct dropper *d = user;
    uint64_t i = d->seen[link]++;
    (void)p;
    (void)now;
    return i >= 64 || (d->mask[link] >> i & 1) == 0;
}

static void short_plan(struct plan *p, uint64_t seed) {
    plan_init(p, seed);
    p->source[CLIENT].sections = 3;
    p->source[SERVER].sections = 2;
    for (int i = 0; i < 2; i++) {
        p->config[i].connect_timeout_ms = 120000;
    }
}

TEST(any_of_the_first_packets_may_be_lost) {
    for (uint64_t mask = 0; mask < 1024; mask++) {
        struct dropper d = {{mask & 31, mask >> 5}, {0, 0}};
        struct plan p;
        short_plan(&p, mask);
        p.config[SERVER].listener.always_retry = (mask & 64) != 0;
        p.tap = drop_masked;
        p.user = &d;
        assert_true(play(&p, NULL));
    }
}

TEST(the_first_data_leaves_after_one_round_trip) {
    struct plan p;
    short_plan(&p, 1);
    p.link[CLIENT].delay = 50 * MS;
    p.link[SERVER].delay = 50 * MS;
    p.config[CLIENT].controller.pacing = false;
    p.link[CLIENT].rate = 0;
    p.link[SERVER].rate = 0;
    world_start_for(&w, &p, 100 * MS);
    assert_true(w.end[CLIENT].connected);
    assert_int_equal(w.end[CLIENT].connected_at, 100 * MS);
    world_run_for(&w, 50 * MS);
    assert_true(w.end[SERVER].connected);
    assert_true(w.flow[CLIENT].next_seq > 0);
    world_finish(&w);
}

/* With a key one more: the listener's token and key come first. */
TEST(the_first_sealed_data_leaves_after_two_round_trips) {
    struct plan p;
    short_plan(&p, 1);
    p.secured = true;
    p.link[CLIENT].delay = 50 * MS;
    p.link[SERVER].delay = 50 * MS;
    p.config[CLIENT].controller.pacing = false;
    p.link[CLIENT].rate = 0;
    p.link[SERVER].rate = 0;
    world_start_for(&w, &p, 199 * MS);
    assert_false(w.end[CLIENT].connected);
    assert_non_null(w.end[SERVER].peer);
    world_run_for(&w, 1 * MS);
    assert_true(w.end[CLIENT].connected);
    assert_int_equal(w.end[CLIENT].connected_at, 200 * MS);
    world_run_for(&w, 50 * MS);
    assert_true(w.end[SERVER].connected);
    assert_true(w.flow[CLIENT].next_seq > 0);
    world_finish(&w);
}

TEST(any_of_the_first_sealed_packets_may_be_lost) {
    for (uint64_t mask = 0; mask < 1024; mask++) {
        struct dropper d = {{mask & 31, mask >> 5}, {0, 0}};
        struct plan p;
        short_plan(&p, mask);
        p.secured = true;
        p.tap = drop_masked;
        p.user = &d;
        assert_true(play(&p, NULL));
    }
}

static void
a_listener_that_is_careful_keeps_no_state_for_the_first_call(void **state) {
    struct plan p;
    (void)state;
    short_plan(&p, 2);
    p.config[SERVER].listener.always_retry = true;
    world_start_for(&w, &p, 30 * MS); /* the first INITIAL has come */
    assert_int_equal(
        tltcp_endpoint_count(sim_host_endpoint(w.end[SERVER].host)), 0);
    assert_null(w.end[SERVER].peer);
    world_run_for(&w, 40 * MS); /* the token comes back */
    assert_non_null(w.end[SERVER].peer);
    world_finish(&w);
}

/* Keeps the first packet of the caller and sends it again much later. */
struct replayer {
    struct sim_packet *copy;
};

static bool keep_first(void *user, uint32_t link, struct sim_packet *p,
                       uint64_t now) {
    struct replayer *r = user;
    (void)now;
    if (link == 0 && r->copy == NULL) {
        r->copy = sim_packet_new(p->data, p->len);
        r->copy->src = p->src;
        r->copy->dst = p->dst;
    }
    return true;
}

TEST(a_call_that_comes_twice_makes_one_connection) {
    struct replayer r = {NULL};
    struct plan p;
    short_plan(&p, 3);
    p.keep_open = true;
    p.tap = keep_first;
    p.user = &r;
    world_start_for(&w, &p, 1 * SEC);
    assert_true(w.end[SERVER].connected);
    sim_net_send(w.net, sim_host_node(w.end[CLIENT].host), r.copy);
    world_run_for(&w, 1 * SEC);
    assert_int_equal(
        tltcp_endpoint_count(sim_host_endpoint(w.end[SERVER].host)), 1);
    assert_string_equal(w.why, ""); /* no second caller */
    world_close(&w);
}

TEST(a_token_is_good_for_its_address_only) {
    struct replayer r = {NULL};
    struct plan p;
    struct sim_packet *stolen;
    short_plan(&p, 4);
    p.config[SERVER].listener.always_retry = true;
    world_start_for(&w, &p, 30 * MS); /* RETRY is under way */
    sim_net_set_tap(w.net, keep_first, &r);
    world_run_for(&w, 30 * MS); /* the INITIAL with the token was copied */
    assert_non_null(r.copy);
    stolen = r.copy;
    stolen->src = sim_address(sim_host_node(w.end[CLIENT].host), 77);
    sim_net_send(w.net, sim_host_node(w.end[CLIENT].host), stolen);
    world_run_for(&w, 100 * MS);
    assert_int_equal(
        tltcp_endpoint_count(sim_host_endpoint(w.end[SERVER].host)), 1);
    world_finish(&w);
}

/* An observer of the call could make it repeat forever. */
TEST(a_caller_follows_eight_tokens_at_most) {
    static const uint8_t seed[TLTCP_SEED_LEN] = {1};
    static const uint8_t token[24] = {2};
    tltcp_pktinfo info = {.path = 1};
    uint8_t sent[1472];
    uint8_t buf[100];
    tltcp_config cfg;
    tltcp_conn *c;
    size_t segment;
    int calls = 0;
    tltcp_config_init(&cfg);
    assert_int_equal(tltcp_conn_new(&c, &cfg, seed, 1, SEC), 0);
    assert_true(tltcp_conn_send(c, &info, sent, sizeof(sent), &segment, SEC));
    for (int i = 0; i < 20; i++) {
        cmn__writer to = cmn__writer_of(buf, sizeof(buf));
        sec__packet_put(&to, &(sec__packet){.type = SEC__RETRY,
                                            .version = TLTCP__VERSION,
                                            .dcid = tltcp_conn_id(c),
                                            .token = token,
                                            .token_len = sizeof(token)});
        sec__packet_seal(&to, buf);
        (void)tltcp_conn_recv(c, &info, buf, (size_t)(to.p - buf), SEC);
        calls +=
            tltcp_conn_send(c, &info, sent, sizeof(sent), &segment, SEC) > 0;
    }
    assert_int_equal(calls, 8);
    tltcp_conn_free(c);
}

TEST(a_crowd_of_callers_is_asked_for_tokens) {
    struct plan p;
    struct sim_random rnd;
    tltcp_endpoint *ep;
    tltcp_conn *callers[10] = {NULL};
    short_plan(&p, 5);
    p.config[SERVER].listener.max_half_open = 10;
    p.keep_open = true;
    world_start_for(&w, &p, 1 * SEC);
    ep = sim_host_endpoint(w.end[SERVER].host);
    sim_random_init(&rnd, 5);
    for (uint64_t i = 0; i < 100; i++) { /* strangers that never answer */
        uint8_t dgram[1200] = {0};
        cmn__writer wr = cmn__writer_of(dgram, sizeof(dgram));
        sec__packet call = {.type = SEC__INITIAL,
                            .version = TLTCP__VERSION,
                            .scid = sim_random_u64(&rnd)};
        tltcp__params params = {
            .window = 1, .sections = 1, .datagram = 1200, .ack_every = 1};
        tltcp_pktinfo info = {.path = sim_address(9, (uint32_t)i + 1)};
        tltcp_dispatch out;
        int verdict;
        sec__packet_put(&wr, &call);
        tltcp__params_put(&wr, &params);
        wr.p = dgram + sizeof(dgram) - SEC__CHECK_LEN;
        sec__packet_seal(&wr, dgram);
        verdict = tltcp_endpoint_recv(ep, &info, dgram, sizeof(dgram), &out,
                                      sim_host_now(w.end[SERVER].host));
        assert_int_equal(verdict, i < 10 ? TLTCP_CALLER : TLTCP_REPLY);
        assert_true(out.reply_len <= sizeof(dgram) / 3);
        callers[i % 10] = verdict == TLTCP_CALLER ? out.conn : callers[i % 10];
    }
    for (int i = 0; i < 10; i++) {
        tltcp_conn_free(callers[i]);
    }
    world_close(&w);
}

/* Makes the listener see a version that it does not speak. */
static bool change_version(void *user, uint32_t link, struct sim_packet *p,
                           uint64_t now) {
    cmn__writer wr = cmn__writer_of(p->data + 1, 4);
    (void)user;
    (void)now;
    if (link == 0 && p->data[0] == SEC__INITIAL) {
        cmn__put32(&wr, TLTCP__VERSION + 1);
        wr = cmn__writer_of(p->data, p->len);
        wr.p += p->len - SEC__CHECK_LEN;
        sec__packet_seal(&wr, p->data);
    }
    return true;
}

TEST(a_list_of_versions_with_ours_in_it_is_not_believed) {
    struct plan p;
    short_plan(&p, 6);
    p.tap = change_version;
    p.config[CLIENT].connect_timeout_ms = 2000;
    world_start_for(&w, &p, 1 * SEC);
    assert_null(w.end[SERVER].peer); /* it answered by its list */
    assert_false(w.end[CLIENT].closed);
    assert_true(end_stats(&w.end[CLIENT]).packets_dropped > 0);
    world_run_for(&w, 2 * SEC);
    assert_int_equal(w.end[CLIENT].error, TLTCP_ERR_TIMEOUT);
    world_close(&w);
}

static void answer_versions(const uint8_t *initial, size_t len,
                            uint32_t version) {
    uint8_t dgram[64];
    cmn__writer wr = cmn__writer_of(dgram, sizeof(dgram));
    sec__packet call;
    sec__packet list = {.type = SEC__VERSIONS};
    struct end *e = &w.end[CLIENT];
    tltcp_pktinfo info = {.path = tltcp_conn_path(e->peer->conn)};
    assert_true(sec__packet_parse(initial, len, &call));
    list.dcid = call.scid;
    sec__packet_put(&wr, &list);
    cmn__put32(&wr, version);
    sec__packet_seal(&wr, dgram);
    (void)tltcp_conn_recv(e->peer->conn, &info, dgram, (size_t)(wr.p - dgram),
                          sim_host_now(e->host));
    sim_peer_pump(e->peer);
}

TEST(a_caller_learns_that_no_version_is_in_common) {
    struct replayer r = {NULL};
    struct plan p;
    short_plan(&p, 6);
    p.tap = keep_first;
    p.user = &r;
    world_start(&w, &p);
    answer_versions(r.copy->data, r.copy->len, TLTCP__VERSION + 7);
    assert_true(w.end[CLIENT].closed);
    assert_int_equal(w.end[CLIENT].error, TLTCP_ERR_VERSION);
    assert_non_null(strstr(w.end[CLIENT].reason, "version"));
    sim_packet_free(r.copy);
    world_close(&w);
}

TEST(a_refused_caller_learns_the_reason) {
    for (uint64_t mask = 0; mask < 16; mask++) {
        struct dropper d = {{mask & 3, mask >> 2}, {0, 0}};
        struct plan p;
        short_plan(&p, 7 + mask);
        p.answer = SIM_REFUSE;
        p.tap = drop_masked;
        p.user = &d;
        world_start_for(&w, &p, 130 * SEC);
        assert_true(w.end[CLIENT].closed);
        assert_false(w.end[CLIENT].connected);
        if ((mask >> 2) == 0) { /* else the word is lost: it is said once */
            assert_int_equal(w.end[CLIENT].error, TLTCP_ERR_REFUSED);
            assert_string_equal(w.end[CLIENT].reason, "not wanted here");
        }
        assert_true(tltcp_conn_is_closed(w.end[SERVER].peer->conn));
        world_close(&w);
    }
}

TEST(an_application_may_take_its_time_to_answer) {
    struct plan p;
    short_plan(&p, 8);
    p.answer = SIM_LATER;
    world_start_for(&w, &p, 2 * SEC);
    assert_false(w.end[CLIENT].connected);
    assert_int_equal(tltcp_conn_accept(w.end[SERVER].peer->conn,
                                       sim_host_now(w.end[SERVER].host)),
                     0);
    sim_peer_pump(w.end[SERVER].peer);
    world_run_for(&w, 1 * SEC);
    assert_true(w.end[CLIENT].connected);
    assert_int_equal(tltcp_conn_accept(w.end[SERVER].peer->conn,
                                       sim_host_now(w.end[SERVER].host)),
                     TLTCP_ERR_STATE);
    world_finish(&w);
}

static bool drop_all(void *user, uint32_t link, struct sim_packet *p,
                     uint64_t now) {
    (void)user;
    (void)link;
    (void)p;
    (void)now;
    return false;
}

TEST(a_caller_without_an_answer_gives_up_in_time) {
    struct plan p;
    short_plan(&p, 9);
    p.config[CLIENT].connect_timeout_ms = 3000;
    p.tap = drop_all;
    world_start_for(&w, &p, 10 * SEC);
    assert_true(w.end[CLIENT].closed);
    assert_int_equal(w.end[CLIENT].error, TLTCP_ERR_TIMEOUT);
    assert_int_equal(w.end[CLIENT].closed_at, 3 * SEC);
    assert_in_range(w.end[CLIENT].datagrams, 3, 10); /* it backs off */
    world_close(&w);
}

TEST(a_caller_tries_often_before_it_gives_up) {
    struct dropper d = {{31, 0}, {0, 0}};
    struct plan p;
    short_plan(&p, 11);
    p.config[CLIENT].connect_timeout_ms = 5000;
    p.tap = drop_masked;
    p.user = &d;
    assert_true(play(&p, NULL));
}

static bool drop_answers(void *user, uint32_t link, struct sim_packet *p,
                         uint64_t now) {
    (void)user;
    (void)p;
    (void)now;
    return link == 0;
}

TEST(a_listener_forgets_a_caller_that_never_proves_itself) {
    struct plan p;
    short_plan(&p, 10);
    p.config[CLIENT].connect_timeout_ms = 300; /* one INITIAL */
    p.config[SERVER].connect_timeout_ms = 2000000;
    p.tap = drop_answers;
    world_start_for(&w, &p, 3000 * SEC);
    assert_string_equal(w.why, ""); /* three times 1200 bytes at most */
    assert_true(w.end[SERVER].datagrams > 10);
    assert_true(tltcp_conn_is_closed(w.end[SERVER].peer->conn));
    assert_false(w.end[SERVER].connected);
    assert_int_equal(w.end[SERVER].error, TLTCP_ERR_TIMEOUT);
    world_close(&w);
}

static bool drop_when_connected(void *user, uint32_t link, struct sim_packet *p,
                                uint64_t now) {
    (void)user;
    (void)p;
    (void)now;
    return link != 0 || !w.end[CLIENT].connected;
}

/* Otherwise it would send into nothing until its idle timeout. */
TEST(a_caller_that_is_not_heard_gives_up_with_the_listener) {
    for (int sealed = 0; sealed < 2; sealed++) {
        struct plan p;
        short_plan(&p, 12);
        p.secured = sealed != 0;
        p.config[CLIENT].idle_timeout_ms = 60000;
        p.config[CLIENT].connect_timeout_ms = 3000;
        p.config[SERVER].connect_timeout_ms = 5000;
        p.tap = drop_when_connected;
        world_start_for(&w, &p, 10 * SEC);
        assert_false(w.end[SERVER].connected);
        assert_int_equal(w.end[SERVER].error, TLTCP_ERR_TIMEOUT);
        assert_true(w.end[CLIENT].closed);
        assert_int_equal(w.end[CLIENT].error, TLTCP_ERR_TIMEOUT);
        world_close(&w);
    }
}

TEST(the_stream_id_reaches_the_listener) {
    char id[TLTCP_STREAM_ID_MAX + 1];
    struct plan p;
    short_plan(&p, 11);
    memset(id, 'x', sizeof(id));
    id[TLTCP_STREAM_ID_MAX] = '\0';
    p.config[CLIENT].stream_id = id;
    world_start_for(&w, &p, 100 * MS);
    assert_string_equal(tltcp_conn_stream_id(w.end[SERVER].peer->conn), id);
    world_finish(&w);
}

TEST(both_ends_may_start_from_any_number) {
    static const uint64_t pns[] = {0, UINT32_MAX, UINT64_C(0x1fffffff0)};
    static const uint32_t seqs[] = {0, 1, 0x7ffffff0, 0x80000000, 0xfffffff0};
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < 5; k++) {
            struct plan p;
            short_plan(&p, 12 + i * 5 + k);
            p.first_pn = pns[i] > UINT32_MAX ? UINT32_MAX - 5 : pns[i];
            p.first_seq = seqs[k];
            p.source[CLIENT].sections = 200;
            assert_true(play(&p, NULL));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_of_the_first_packets_may_be_lost),
        cmocka_unit_test(the_first_data_leaves_after_one_round_trip),
        cmocka_unit_test(the_first_sealed_data_leaves_after_two_round_trips),
        cmocka_unit_test(any_of_the_first_sealed_packets_may_be_lost),
        cmocka_unit_test(
            a_listener_that_is_careful_keeps_no_state_for_the_first_call),
        cmocka_unit_test(a_call_that_comes_twice_makes_one_connection),
        cmocka_unit_test(a_token_is_good_for_its_address_only),
        cmocka_unit_test(a_caller_follows_eight_tokens_at_most),
        cmocka_unit_test(a_crowd_of_callers_is_asked_for_tokens),
        cmocka_unit_test(a_list_of_versions_with_ours_in_it_is_not_believed),
        cmocka_unit_test(a_caller_learns_that_no_version_is_in_common),
        cmocka_unit_test(a_refused_caller_learns_the_reason),
        cmocka_unit_test(an_application_may_take_its_time_to_answer),
        cmocka_unit_test(a_caller_without_an_answer_gives_up_in_time),
        cmocka_unit_test(a_caller_tries_often_before_it_gives_up),
        cmocka_unit_test(a_listener_forgets_a_caller_that_never_proves_itself),
        cmocka_unit_test(a_caller_that_is_not_heard_gives_up_with_the_listener),
        cmocka_unit_test(the_stream_id_reaches_the_listener),
        cmocka_unit_test(both_ends_may_start_from_any_number),
    };
    return cmocka_run_group_tests_name("handshake", tests, NULL, NULL);
}
