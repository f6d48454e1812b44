/* SPDX-License-Identifier: MPL-2.0 */
/* Strangers who guess or repeat packets: they are dropped. */
#include "tests/simnet/lie.h"

/* A packet that looks right but for an id that was guessed. */
static void tell_guess(struct end *victim, uint8_t packet, uint8_t chunk,
                       uint64_t id) {
    tltcp_pktinfo info = {.path = tltcp_conn_path(victim->peer->conn)};
    sec__packet p = {.type = packet,
                     .version = packet == SEC__VERSIONS ? 0 : TLTCP__VERSION,
                     .dcid = id,
                     .scid = 5,
                     .token = (const uint8_t *)"token",
                     .token_len = packet == SEC__RETRY ? 5 : 0,
                     .pn = lie_next_pn++};
    uint8_t buf[100];
    cmn__writer wr = cmn__writer_of(buf, sizeof(buf));
    sec__packet_put(&wr, &p);
    if (packet == SEC__SHORT || packet == SEC__ANSWER) {
        tltcp__chunk_put(&wr, chunk, 0, chunk == TLTCP__CLOSE ? 4 : 8);
        if (chunk == TLTCP__CLOSE) {
            cmn__put32(&wr, 9);
        } else {
            cmn__put64(&wr, 9);
        }
    } else {
        cmn__put32(&wr, packet == SEC__REJECT ? -TLTCP_ERR_AUTH : 7);
    }
    sec__packet_seal(&wr, buf);
    (void)tltcp_conn_recv(victim->peer->conn, &info, buf, (size_t)(wr.p - buf),
                          sim_host_now(victim->host));
    sim_peer_pump(victim->peer);
}

TEST(guessed_ids_neither_end_nor_move_a_connection) {
    static const uint8_t packets[] = {SEC__SHORT, SEC__ANSWER, SEC__RETRY,
                                      SEC__VERSIONS, SEC__REJECT};
    static const uint8_t chunks[] = {TLTCP__CLOSE, TLTCP__RESPONSE};
    struct sim_random r;
    uint64_t path;
    lie_open(65);
    path = tltcp_conn_path(w.end[SERVER].peer->conn);
    sim_random_init(&r, 65);
    for (int i = 0; i < 5000; i++) {
        tell_guess(&w.end[i & 1], packets[i % 5], chunks[i % 2],
                   sim_random_u64(&r));
    }
    assert_false(w.end[CLIENT].closed || w.end[SERVER].closed);
    assert_int_equal(tltcp_conn_path(w.end[SERVER].peer->conn), path);
    world_run_for(&w, 1 * SEC);
    assert_string_equal(w.why, "");
    lie_close();
}

TEST(guessed_answers_do_not_end_a_call) {
    struct sim_random r;
    struct plan p;
    plan_init(&p, 66);
    p.source[CLIENT].sections = 3;
    world_start(&w, &p);
    sim_random_init(&r, 66);
    for (uint8_t type = SEC__ANSWER; type <= SEC__REJECT; type++) {
        for (int i = 0; i < 1000; i++) {
            tell_guess(&w.end[CLIENT], type, TLTCP__CLOSE, sim_random_u64(&r));
        }
    }
    assert_false(w.end[CLIENT].closed);
    assert_int_equal(end_stats(&w.end[CLIENT]).packets_dropped, 4000);
    world_finish(&w);
}

TEST(a_guessed_response_does_not_move_the_path) {
    struct lie l;
    uint64_t path;
    lie_open(67);
    path = tltcp_conn_path(w.end[SERVER].peer->conn);
    for (uint64_t i = 0; i < 1000; i++) { /* with the right id, even */
        lie_begin(&l, &w.end[SERVER]);
        tltcp__chunk_put(&l.w, TLTCP__RESPONSE, 0, 8);
        cmn__put64(&l.w, i);
        assert_int_equal(lie_tell(&l, &w.end[SERVER]), 0);
    }
    assert_int_equal(tltcp_conn_path(w.end[SERVER].peer->conn), path);
    assert_int_equal(w.end[SERVER].path_events, 0);
    lie_close();
}

/* Everything comes a second time, later. */
struct echo {
    struct sim_net *net;
    struct sim_packet *kept[4000];
    uint32_t link[4000];
    size_t count;
    size_t next;
    bool replaying;
};

static bool keep_copies(void *user, uint32_t link, struct sim_packet *p,
                        uint64_t now) {
    struct echo *e = user;
    (void)now;
    if (!e->replaying && e->count < 4000) {
        struct sim_packet *q = sim_packet_new(p->data, p->len);
        q->src = p->src;
        q->dst = p->dst;
        e->link[e->count] = link;
        e->kept[e->count++] = q;
    }
    return true;
}

TEST(packets_that_are_replayed_change_nothing) {
    static struct echo e;
    for (int secured = 0; secured < 2; secured++) {
        struct plan p;
        uint64_t dropped;
        memset(&e, 0, sizeof(e));
        plan_init(&p, 68);
        p.source[CLIENT].sections = 300;
        p.source[CLIENT].interval = 10 * MS;
        p.secured = secured == 1;
        p.tap = keep_copies;
        p.user = &e;
        p.keep_open = true;
        world_start_for(&w, &p, 2 * SEC);
        e.replaying = true;
        dropped = end_stats(&w.end[SERVER]).packets_dropped;
        for (; e.next < e.count; e.next++) {
            sim_net_send(w.net, e.link[e.next], e.kept[e.next]);
            world_run_for(&w, 2 * MS);
        }
        world_run_for(&w, 2 * SEC);
        assert_string_equal(w.why, "");
        assert_int_equal(w.flow[CLIENT].reader.gaps, 0);
        assert_false(w.end[CLIENT].closed || w.end[SERVER].closed);
        assert_true(end_stats(&w.end[SERVER]).packets_dropped > dropped + 100);
        assert_int_equal(
            tltcp_endpoint_count(sim_host_endpoint(w.end[SERVER].host)), 1);
        lie_close();
    }
}

/* Both ends change keys every few packets while these overtake each other. */
TEST(keys_change_under_reordering) {
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct plan p;
        plan_init(&p, seed);
        p.secured = true;
        for (int i = 0; i < 2; i++) {
            p.config[i].rekey_packets = 20;
            p.link[i].loss = 0.05;
            p.link[i].duplicate = 0.05;
            p.link[i].reorder = 0.2;
            p.link[i].reorder_delay = 50 * MS;
            p.source[i].sections = 300;
            p.source[i].interval = 5 * MS;
        }
        world_start(&w, &p);
        world_run(&w);
        assert_string_equal(w.why, "");
        for (int i = 0; i < 2; i++) {
            assert_int_equal(w.flow[i].reader.gaps, 0);
            /* overtaken by two generations: as good as lost, and few */
            assert_true(end_stats(&w.end[i]).packets_forged < 20);
        }
        lie_close();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(guessed_ids_neither_end_nor_move_a_connection),
        cmocka_unit_test(guessed_answers_do_not_end_a_call),
        cmocka_unit_test(a_guessed_response_does_not_move_the_path),
        cmocka_unit_test(packets_that_are_replayed_change_nothing),
        cmocka_unit_test(keys_change_under_reordering),
    };
    return cmocka_run_group_tests_name("guessers", tests, NULL, NULL);
}
