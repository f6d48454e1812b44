/* SPDX-License-Identifier: MPL-2.0 */
/* The sender's metadata of sections reaches the receiver; the world compares it
 * with what was written. */
#include "tests/simnet/lie.h"

static void plan_classes(struct plan *p, uint64_t seed) {
    plan_init(p, seed);
    p->source[CLIENT].sections = 300;
    p->source[CLIENT].streams = 4;
    p->source[CLIENT].size_min = 1;
    p->source[CLIENT].size_max = 6000;
}

/* How many pieces were read with something known of their sections. */
static uint64_t play_told(const struct plan *p) {
    world_start(&w, p);
    world_finish(&w);
    return w.flow[CLIENT].told;
}

TEST(it_reaches_the_receiver_whatever_is_lost) {
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct plan p;
        plan_classes(&p, seed);
        p.link[CLIENT].loss = 0.1;
        p.link[CLIENT].reorder = 0.1;
        p.link[CLIENT].reorder_delay = 30 * MS;
        p.config[SERVER].unordered = seed % 2 == 0;
        assert_true(play_told(&p) >= p.source[CLIENT].sections);
    }
}

/* Section 0 is whole in a packet; it can be read when all else has failed. */
TEST(accepted_packets_are_known_when_memory_runs_out) {
    bool reached = true;
    for (uint64_t k = 1; reached; k++) {
        struct plan p;
        plan_init(&p, 1);
        p.source[CLIENT].sections = 20;
        p.source[CLIENT].streams = 1;
        p.source[CLIENT].size_min = 500;
        p.config[SERVER].unordered = true;
        p.alloc.fail_at = k;
        (void)world_open(&w, &p);
        world_run_for(&w, 100 * SEC);
        assert_string_equal(w.why, "");
        reached = w.alloc.calls >= k;
        assert_true(reached || w.flow[CLIENT].told == 20);
        world_close(&w);
    }
}

TEST(it_comes_with_repair_where_the_first_packet_is_lost) {
    world_needs_fec();
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct plan p;
        plan_classes(&p, seed);
        p.link[CLIENT].loss = 0.1;
        p.link[CLIENT].delay = 300 * MS;
        p.config[CLIENT].fec = TLTCP_FEC_ON;
        p.source[CLIENT].budget = 500 * MS;
        p.source[CLIENT].interval = 20 * MS;
        p.config[SERVER].unordered = true;
        p.gives_up = true;
        assert_true(play_told(&p) > p.source[CLIENT].sections / 2);
    }
}

/* With all that may be said of them, symbols fill packets to the last byte. */
static void plan_repair(struct plan *p, uint32_t symbol) {
    plan_init(p, 1);
    p->max_time = 200 * SEC;
    p->source[CLIENT].sections = 0;
    p->link[SERVER].loss = 0.1;
    p->source[SERVER].sections = 100;
    p->source[SERVER].interval = 20 * MS;
    p->source[SERVER].streams = 3;
    p->source[SERVER].size_min = 3 * symbol - 90;
    p->source[SERVER].size_max = 3 * symbol;
    p->config[SERVER].fec = TLTCP_FEC_ON;
}

TEST(repair_of_sealed_packets_finds_room) {
    struct plan p;
    world_needs_fec();
    plan_repair(&p, 1133);
    p.secured = true;
    p.config[SERVER].packets.mtu_probing = false;
    world_start(&w, &p);
    world_run(&w);
    assert_true(end_stats(&w.end[SERVER]).repair_bytes_sent > 50000);
    world_finish(&w);
}

TEST(repair_of_larger_datagrams_holds_nothing_up) {
    struct plan p;
    world_needs_fec();
    plan_repair(&p, 1400);
    world_start_for(&w, &p, 1 * SEC);
    assert_int_equal(end_stats(&w.end[SERVER]).datagram_bytes, 1472);
    world_narrow(&w, SERVER);
    world_finish(&w);
}

TEST(the_recovery_of_the_paper_says_nothing) {
    struct plan p;
    plan_classes(&p, 1);
    p.config[CLIENT].recovery = "dupack-reno";
    assert_int_equal(play_told(&p), 0);
}

/* ---- what no sender of today says ---- */

static struct tltcp_meta last; /* of the data read last */

static void keep(void *user, const struct tltcp_segment *seg,
                 const struct tltcp_meta *meta, const uint8_t *data,
                 uint64_t len) {
    (void)user;
    (void)seg;
    (void)len;
    last = data != NULL ? *meta : last;
}

TEST(a_class_of_later_versions_is_one_not_known) {
    struct lie l;
    uint32_t next;
    lie_open(1);
    next = sections_read();
    w.flow[CLIENT].reader.cfg.on_piece = keep;
    lie_begin(&l, &w.end[SERVER]);
    lie_place(&l, TLTCP__UPDATE, stream_read() + 5000, next + 9);
    lie_meta(&l, next + 9,
             &(tltcp__meta){
                 .cls = 15, .stream = 15, .depends = 1, .tag = UINT64_MAX});
    (void)lie_tell(&l, &w.end[SERVER]);
    assert_false(w.end[SERVER].closed);
    assert_int_equal(last.section_class, TL_CLASS_OTHER);
    assert_int_equal(last.stream, 15);
    assert_int_equal(last.depends, 1);
    assert_true(last.tag == UINT64_MAX);
    lie_close();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_reaches_the_receiver_whatever_is_lost),
        cmocka_unit_test(accepted_packets_are_known_when_memory_runs_out),
        cmocka_unit_test(it_comes_with_repair_where_the_first_packet_is_lost),
        cmocka_unit_test(repair_of_sealed_packets_finds_room),
        cmocka_unit_test(repair_of_larger_datagrams_holds_nothing_up),
        cmocka_unit_test(the_recovery_of_the_paper_says_nothing),
        cmocka_unit_test(a_class_of_later_versions_is_one_not_known),
    };
    return cmocka_run_group_tests_name("meta", tests, NULL, NULL);
}
