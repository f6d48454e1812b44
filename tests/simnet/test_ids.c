/* SPDX-License-Identifier: MPL-2.0 */
/* Connection ids of sealed connections whose ends change addresses. */
#include "libtltcp/engine/endpoint.h"
#include "tests/simnet/world.h"

static struct world w;

#define SEEN_MAX 256u
#define FAR_APART 1000u /* packet numbers */

/* An id as an observer of all links sees it: under which of the caller's
 * addresses, in which direction. */
struct sighting {
    uint32_t link;
    uint64_t id;
    uint64_t address;
    uint32_t first_pn;
    uint32_t last_pn;
};

struct observer {
    struct sighting seen[SEEN_MAX];
    unsigned n;
    uint64_t told;    /* when something was first sent to the newest address */
    uint64_t address; /* the newest of the caller's */
    uint64_t grace;   /* ns in which the caller may not know that it moved */
    unsigned shared;  /* ids that were seen with a second address */
    bool deaf;        /* the caller gets nothing */
};

static struct observer o;

static uint64_t read_number(const uint8_t *p, unsigned bytes) {
    uint64_t v = 0;
    while (bytes-- > 0) {
        v = v << 8 | *p++;
    }
    return v;
}

/* Whether a caller that does not know of its move may still use that id. */
static bool is_excused(const struct sighting *s, uint64_t now) {
    return s->link == 0 && o.grace > 0 && s->address == o.address &&
           (o.told == 0 || now < o.told + o.grace);
}

static void note_sighting(struct sighting s, uint64_t now) {
    if (is_excused(&s, now)) {
        return;
    }
    for (unsigned i = 0; i < o.n; i++) {
        if (o.seen[i].link == s.link && o.seen[i].id == s.id) {
            o.shared += o.seen[i].address != s.address;
            o.seen[i].last_pn = s.last_pn;
            return;
        }
    }
    assert_true(o.n < SEEN_MAX);
    o.seen[o.n++] = s;
}

static bool observe(void *user, uint32_t link, struct sim_packet *p,
                    uint64_t now) {
    struct sighting s = {.link = link, .address = link == 0 ? p->src : p->dst};
    (void)user;
    if ((p->data[0] & ~SEC__PHASE) == SEC__SHORT) {
        s.id = read_number(p->data + 1, 8);
        s.first_pn = (uint32_t)read_number(p->data + 9, 4);
        s.last_pn = s.first_pn;
        if (link == 1 && s.address == o.address && o.told == 0) {
            o.told = now;
        }
        note_sighting(s, now);
    }
    return link == 0 || !o.deaf;
}

static tltcp_conn *conn_of(int end) {
    return w.end[end].peer->conn;
}

static void plan_sealed(struct plan *p, uint64_t seed) {
    plan_steady(p, seed);
    p->secured = true;
    p->config[CLIENT].connect_timeout_ms = 60000; /* whatever is lost */
    p->config[SERVER].connect_timeout_ms = 60000;
    p->tap = observe;
    memset(&o, 0, sizeof(o));
}

static void move_unknowingly(void) {
    (void)sim_peer_rebind(w.end[CLIENT].peer);
    o.address = sim_peer_address(w.end[CLIENT].peer);
    o.told = 0;
}

static bool move_knowingly(void) {
    bool other = tltcp_conn_migrate(conn_of(CLIENT));
    move_unknowingly();
    sim_peer_pump(w.end[CLIENT].peer);
    return other;
}

/* Both ends have an id for the next path. Under losses they may have to wait
 * for new ones. */
static bool are_prepared(void) {
    return w.end[CLIENT].connected && w.end[SERVER].connected &&
           tltcp__ids_spare(conn_of(CLIENT)->ids) > 0 &&
           tltcp__ids_spare(conn_of(SERVER)->ids) > 1;
}

static unsigned run_moves(uint64_t seed, double loss, uint64_t wait) {
    unsigned moves = 0;
    struct plan p;
    plan_sealed(&p, seed);
    for (int i = 0; i < 2; i++) {
        p.link[i].loss = loss;
        p.source[i].sections = 800;
    }
    world_start(&w, &p);
    for (int i = 0; i < 5; i++) {
        world_run_for(&w, wait);
        if (are_prepared()) {
            assert_true(move_knowingly());
            moves++;
        }
    }
    world_finish(&w);
    assert_int_equal(o.shared, 0);
    return moves;
}

TEST(no_id_is_seen_on_two_paths_of_a_caller_that_moves) {
    for (uint64_t seed = 0; seed < 20; seed++) {
        assert_int_equal(run_moves(seed, 0, 500 * MS), 5);
        assert_true(o.n >= 12); /* six addresses, two directions */
        assert_int_equal(w.end[SERVER].path_events, 5);
    }
}

TEST(moves_during_loss_share_no_ids_and_lose_nothing) {
    unsigned moves = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        moves += run_moves(seed, seed % 2 == 0 ? 0.05 : 0.2, 1300 * MS);
    }
    assert_true(moves >= 150); /* of 200 */
}

/* Before the first answer the caller cannot know of a new address. */
TEST(a_caller_behind_a_nat_changes_its_id_with_the_first_answer) {
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct plan p;
        plan_sealed(&p, seed);
        o.grace =
            60 * MS; /* an answer is on its way for 20 ms, or in a queue */
        world_start(&w, &p);
        for (int i = 0; i < 5; i++) {
            world_run_for(&w, 500 * MS);
            move_unknowingly();
        }
        world_finish(&w);
        assert_int_equal(o.shared, 0);
        assert_int_equal(w.end[SERVER].path_events, 5);
        assert_true(o.n >= 10);
    }
}

/* An observer could follow numbers that go on across addresses. */
TEST(packet_numbers_do_not_go_on_under_another_id) {
    struct plan p;
    plan_sealed(&p, 3);
    world_start_for(&w, &p, 500 * MS);
    assert_true(move_knowingly());
    world_finish(&w);
    for (unsigned i = 0; i < o.n; i++) {
        for (unsigned j = 0; j < i; j++) {
            uint32_t ahead = o.seen[i].first_pn - o.seen[j].last_pn;
            assert_true(o.seen[i].link != o.seen[j].link ||
                        (ahead > FAR_APART && -ahead > FAR_APART));
        }
    }
}

static void assert_spare(unsigned n) {
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tltcp__ids_spare(conn_of(i)->ids), n);
    }
}

TEST(lost_id_chunks_are_repeated) {
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct plan p;
        plan_sealed(&p, seed);
        p.link[CLIENT].loss = 0.25;
        p.link[SERVER].loss = 0.25;
        p.source[CLIENT].sections = 1000;
        world_start(&w, &p);
        world_run_for(&w, 2 * SEC);
        if (w.end[SERVER].connected && w.end[CLIENT].connected) {
            (void)move_knowingly();
            world_run_for(&w, 20 * SEC); /* the old path was asked, too */
            assert_spare(TLTCP__IDS_ACTIVE - 1);
            assert_int_equal(conn_of(CLIENT)->ids->retired,
                             conn_of(SERVER)->ids->oldest);
            assert_int_equal(conn_of(SERVER)->ids->retired,
                             conn_of(CLIENT)->ids->oldest);
        }
        world_finish(&w);
    }
}

/* They would chase each other if each change asked for another. */
TEST(ends_that_change_at_the_same_time_agree) {
    struct plan p;
    uint32_t number[2];
    plan_sealed(&p, 1);
    world_start_for(&w, &p, 500 * MS);
    assert_true(tltcp_conn_migrate(conn_of(SERVER)));
    assert_true(move_knowingly());
    world_run_for(&w, 1 * SEC);
    for (int i = 0; i < 2; i++) {
        number[i] = conn_of(i)->peer.number;
        assert_in_range(number[i], 1, 3);
    }
    assert_int_equal(number[CLIENT], number[SERVER]);
    world_run_for(&w, 1 * SEC);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(conn_of(i)->peer.number, number[i]);
    }
    world_finish(&w);
}

/* The caller moves on and on while nothing reaches it. */
TEST(a_caller_without_spare_ids_goes_on_with_the_last) {
    struct plan p;
    plan_sealed(&p, 1);
    p.source[CLIENT].sections = 1000;
    world_start_for(&w, &p, 500 * MS);
    o.deaf = true;
    for (unsigned i = 0; i < 8; i++) {
        assert_true(move_knowingly() == (i < TLTCP__IDS_ACTIVE - 1));
        world_run_for(&w, 200 * MS);
    }
    o.deaf = false;
    world_run_for(&w, 5 * SEC);
    assert_spare(TLTCP__IDS_ACTIVE - 1);
    assert_true(move_knowingly());
    world_finish(&w);
}

/* Copies of the caller's packets come from ever new addresses, each of which
 * costs the listener an id. */
struct copier {
    struct sim_net *net;
    uint32_t node;
    uint32_t port;
};

static bool copy_from_everywhere(void *user, uint32_t link,
                                 struct sim_packet *p, uint64_t now) {
    struct copier *a = user;
    bool theirs = sim_address_node(link == 0 ? p->src : p->dst) == a->node &&
                  (link == 0 ? p->src : p->dst) >> 32 >= 4000;
    (void)now;
    if (link == 0 && !theirs && a->net != NULL) {
        struct sim_packet *q = sim_packet_new(p->data, p->len);
        q->src = sim_address(a->node, 4000 + a->port++ % 1000);
        q->dst = p->dst;
        sim_net_send(a->net, 0, q);
    }
    return !theirs || link == 0;
}

TEST(copies_that_use_up_ids_do_not_keep_a_caller_from_moving) {
    struct copier a = {0};
    struct plan p;
    plan_sealed(&p, 1);
    p.source[CLIENT].sections = 1000;
    p.tap = copy_from_everywhere;
    p.user = &a;
    world_start_for(&w, &p, 500 * MS);
    a.node = sim_host_node(w.end[CLIENT].host);
    a.net = w.net;
    world_run_for(&w, 3 * SEC);
    a.net = NULL;
    assert_int_equal(w.end[SERVER].path_events, 0);
    move_unknowingly();
    world_run_for(&w, 5 * SEC);
    assert_int_equal(w.end[SERVER].path_events, 1);
    assert_int_equal(tltcp_conn_path(conn_of(SERVER)),
                     sim_peer_address(w.end[CLIENT].peer));
    assert_true(tltcp__ids_spare(conn_of(SERVER)->ids) > 0);
    world_finish(&w);
}

/* Keeps the last packet to the listener's first id. */
static struct sim_packet *kept;

static bool keep_one(void *user, uint32_t link, struct sim_packet *p,
                     uint64_t now) {
    (void)user;
    (void)now;
    if (link == 0 && kept == NULL && p->data[0] == SEC__SHORT) {
        kept = sim_packet_new(p->data, p->len);
        kept->src = p->src;
        kept->dst = p->dst;
    }
    return true;
}

TEST(a_retired_id_belongs_to_no_connection) {
    const tltcp_endpoint *ep;
    uint64_t id;
    uint64_t dropped;
    struct plan p;
    plan_sealed(&p, 1);
    kept = NULL;
    p.tap = keep_one;
    p.source[CLIENT].sections = 1000;
    world_start_for(&w, &p, 500 * MS);
    ep = sim_host_endpoint(w.end[SERVER].host);
    id = conn_of(SERVER)->own.id;
    assert_ptr_equal(tltcp__endpoint_find_id(ep, id), conn_of(SERVER));
    (void)move_knowingly();
    world_run_for(&w, 3 * SEC);
    assert_null(tltcp__endpoint_find_id(ep, id));
    dropped = ep->dropped;
    sim_net_send(w.net, w.link[CLIENT], kept);
    world_run_for(&w, 1 * SEC);
    assert_int_equal(ep->dropped, dropped + 1);
    world_finish(&w);
    assert_int_equal(end_stats(&w.end[SERVER]).packets_forged, 0);
}

/* The connection's own key seals what a liar says. */
static void say(tltcp__chunk *k,
                int (*hear)(tltcp_conn *, const tltcp__chunk *), int expected) {
    assert_int_equal(hear(conn_of(SERVER), k), expected);
}

static void new_id(uint32_t number, uint64_t id, int expected) {
    uint8_t buf[TLTCP__NEW_ID_LEN];
    cmn__writer to = cmn__writer_of(buf, sizeof(buf));
    cmn__reader r;
    tltcp__chunk k;
    tltcp__new_id_put(&to, number, id, 5);
    r = cmn__reader_of(buf, sizeof(buf));
    assert_true(tltcp__chunk_next(&r, &k));
    say(&k, tltcp__conn_on_new_id, expected);
}

static void retire_id(uint32_t below, int expected) {
    uint8_t buf[TLTCP__RETIRE_ID_LEN];
    cmn__writer to = cmn__writer_of(buf, sizeof(buf));
    cmn__reader r;
    tltcp__chunk k;
    tltcp__retire_id_put(&to, below);
    r = cmn__reader_of(buf, sizeof(buf));
    assert_true(tltcp__chunk_next(&r, &k));
    say(&k, tltcp__conn_on_retire_id, expected);
}

TEST(ids_that_contradict_are_refused) {
    struct plan p;
    plan_sealed(&p, 1);
    world_start_for(&w, &p, 500 * MS);
    new_id(1, 77, TLTCP_ERR_PROTOCOL);                 /* it is another one */
    new_id(TLTCP__IDS_ACTIVE, 77, TLTCP_ERR_PROTOCOL); /* too many */
    new_id(UINT32_MAX, 77, TLTCP_ERR_PROTOCOL);
    new_id(2, 0, TLTCP_ERR_PROTOCOL);
    retire_id(1, TLTCP_ERR_PROTOCOL); /* it is in use */
    retire_id(UINT32_MAX, TLTCP_ERR_PROTOCOL);
    retire_id(0, 0);
    world_finish(&w);
}

TEST(a_plain_connection_has_one_id) {
    struct plan p;
    plan_steady(&p, 1);
    world_start_for(&w, &p, 500 * MS);
    assert_null(conn_of(CLIENT)->ids);
    assert_null(conn_of(SERVER)->ids);
    assert_false(tltcp_conn_migrate(conn_of(CLIENT)));
    new_id(1, 77, TLTCP_ERR_PROTOCOL);
    retire_id(0, TLTCP_ERR_PROTOCOL);
    world_finish(&w);
}

/* The peer may be an earlier version. */
TEST(a_peer_without_the_feature_gets_no_ids) {
    struct plan p;
    plan_sealed(&p, 1);
    world_start(&w, &p);
    while (w.end[SERVER].peer == NULL) {
        world_run_for(&w, 1 * MS);
    }
    conn_of(SERVER)->opt.ids = false;
    world_run_for(&w, 100 * MS);
    assert_null(conn_of(SERVER)->ids);
    world_close(&w);
}

TEST(ids_and_acks_share_packets) {
    struct plan p;
    plan_init(&p, 1);
    p.secured = true;
    p.keep_open = true;
    for (int i = 0; i < 2; i++) {
        p.config[i].packets.max_datagram = p.config[i].packets.base_datagram;
        p.source[i].sections = 1;
        p.source[i].start = 10 * SEC;
    }
    world_start_for(&w, &p, 1 * SEC);
    assert_true(w.end[SERVER].connected);
    /* two INITIALs, ids, an ACK; an answer, ids */
    assert_int_equal(w.end[CLIENT].datagrams, 4);
    assert_int_equal(w.end[SERVER].datagrams, 2);
    world_close(&w);
}

TEST(ids_take_little_memory) {
    assert_true(sizeof(tltcp__ids) <= 256);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_id_is_seen_on_two_paths_of_a_caller_that_moves),
        cmocka_unit_test(moves_during_loss_share_no_ids_and_lose_nothing),
        cmocka_unit_test(
            a_caller_behind_a_nat_changes_its_id_with_the_first_answer),
        cmocka_unit_test(packet_numbers_do_not_go_on_under_another_id),
        cmocka_unit_test(lost_id_chunks_are_repeated),
        cmocka_unit_test(ends_that_change_at_the_same_time_agree),
        cmocka_unit_test(a_caller_without_spare_ids_goes_on_with_the_last),
        cmocka_unit_test(
            copies_that_use_up_ids_do_not_keep_a_caller_from_moving),
        cmocka_unit_test(a_retired_id_belongs_to_no_connection),
        cmocka_unit_test(ids_that_contradict_are_refused),
        cmocka_unit_test(a_plain_connection_has_one_id),
        cmocka_unit_test(a_peer_without_the_feature_gets_no_ids),
        cmocka_unit_test(ids_and_acks_share_packets),
        cmocka_unit_test(ids_take_little_memory),
    };
    return cmocka_run_group_tests_name("ids", tests, NULL, NULL);
}
