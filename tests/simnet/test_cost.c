/* SPDX-License-Identifier: MPL-2.0 */
/*
 * The work per packet does not grow with the window.  Work is counted in
 * branches taken by the engine (it is compiled with -fsanitize-coverage=
 * trace-pc for this test), so no clock and no load of the machine is in it.
 */
#include <inttypes.h>

#include "libtltcp/engine/conn.h"
#include "tests/simnet/lie.h"

void __sanitizer_cov_trace_pc(void);

static uint64_t steps;

void __sanitizer_cov_trace_pc(void) {
    steps++;
}

#define LARGEST 100000 /* packets in flight */

/* Steps of both ends per packet sent, with so many packets in flight. */
static double steps_per_packet(uint64_t packets, double loss, bool deadlines) {
    struct plan p;
    uint64_t sent;
    uint64_t before;
    double result;
    plan_init(&p, packets);
    for (int i = 0; i < 2; i++) {
        p.link[i].rate = 0;
        p.link[i].delay = 500 * MS;
        p.config[i].send_buffer = packets * 3000 + 50000;
        p.config[i].recv_buffer = packets * 3000 + 50000;
        p.config[i].max_sections = (uint32_t)(packets * 3 + 100);
        p.config[i].packets.max_datagram = 1200;
        p.config[i].io.timer_granularity_us = 10000;
    }
    p.config[CLIENT].congestion = "fixed";
    p.config[CLIENT].max_rate = packets * 1200 * 8; /* the RTT is a second */
    p.link[CLIENT].loss = loss;
    p.source[CLIENT].sections = UINT64_MAX;
    p.source[CLIENT].size_min = 1000;
    p.source[CLIENT].size_max = 1200;
    p.source[CLIENT].budget = deadlines ? 1800 * MS : NEVER;
    p.source[CLIENT].record = false;
    p.config[CLIENT].report_fates = false;
    p.light = true;
    p.keep_open = true;
    world_start_for(&w, &p, 4 * SEC);
    assert_true(end_stats(&w.end[CLIENT]).bytes_in_flight > packets * 800);
    before = steps;
    sent = end_stats(&w.end[CLIENT]).packets_sent;
    world_run_for(&w, packets < 1000 ? 20 * SEC : 1 * SEC);
    assert_string_equal(w.why, "");
    sent = end_stats(&w.end[CLIENT]).packets_sent - sent;
    assert_true(sent >= packets / 2);
    result = (double)(steps - before) / (double)sent;
    world_close(&w);
    return result;
}

static void assert_flat(const uint64_t *windows, double loss, bool deadlines) {
    double least = 1e18;
    double most = 0;
    for (; *windows != 0; windows++) {
        double n = steps_per_packet(*windows, loss, deadlines);
        print_message("%" PRIu64 " packets in flight: %.0f steps each\n",
                      *windows, n);
        least = n < least ? n : least;
        most = n > most ? n : most;
    }
    /* Ten thousand times the window may cost a few levels of search. */
    assert_true(most < 2 * least);
}

TEST(the_work_per_packet_does_not_grow_with_the_window) {
    static const uint64_t windows[] = {10, 100, 1000, LARGEST, 0};
    assert_flat(windows, 0, false);
}

/* Both windows have more holes than an ACK names, so that its length is the
 * same. */
TEST(nor_does_it_with_losses_and_deadlines) {
    static const uint64_t windows[] = {3000, LARGEST / 2, 0};
    assert_flat(windows, 0.02, true);
}

/* ---- what a peer can ask for ---- */

#define SIZE 10 /* bytes of a section */

/* So many sections, all of them sent and none acknowledged. */
static void send_sections(tltcp__sections *s, const cmn__mem *mem, uint32_t n,
                          tltcp__counters *stats) {
    static uint8_t bytes[SIZE];
    const tltcp_section in = {
        .data = &(struct iovec){bytes, SIZE}, .count = 1, .deadline = NEVER};
    tltcp__piece p;
    tltcp__sections_init(s, mem, (size_t)n * SIZE, n, stats);
    s->peer_seq = (uint64_t)n * SIZE;
    s->peer_section = n;
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(tltcp__sections_write(s, &in, 1), 0);
        assert_true(tltcp__sections_next(s, SIZE, true, 1, &p));
        tltcp__sections_on_sent(s, &p, true);
    }
}

/* Steps of a hundred claims that all of them but the first were rebuilt. */
static uint64_t steps_per_claim(uint32_t n) {
    const cmn__mem mem = cmn__mem_default();
    tltcp__counters stats = {0};
    tltcp__sections s;
    uint64_t before;
    send_sections(&s, &mem, n, &stats);
    before = steps;
    for (int i = 0; i < 100; i++) {
        assert_int_equal(tltcp__sections_on_rebuilt(&s, SIZE, s.nxt), 0);
    }
    before = steps - before;
    tltcp__sections_free(&s);
    print_message("%" PRIu32 " sections: %" PRIu64 " steps\n", n, before);
    return before;
}

TEST(a_claim_of_rebuilt_bytes_costs_the_same_in_many_sections) {
    assert_true(steps_per_claim(16384) < 2 * steps_per_claim(100));
}

/* Room for n sections, of which none is written yet. */
struct store {
    cmn__mem mem;
    tltcp__counters stats;
    tltcp__sections sections;
};

static void store_open(struct store *o, uint32_t n) {
    o->mem = cmn__mem_default();
    o->stats = (tltcp__counters){0};
    tltcp__sections_init(&o->sections, &o->mem, (size_t)n * SIZE, n, &o->stats);
}

static void store_write(struct store *o, uint32_t class, uint32_t depends,
                        tltcp_time deadline) {
    static uint8_t bytes[SIZE];
    const tltcp_section in = {
        .data = &(struct iovec){bytes, SIZE},
        .count = 1,
        .deadline = deadline,
        .meta = {.section_class = class, .depends = depends}};
    assert_int_equal(tltcp__sections_write(&o->sections, &in, 0), 0);
}

/* Steps per section of n until all have expired, one at a time. */
static uint64_t store_expire(struct store *o, uint32_t n) {
    uint64_t before = steps;
    for (tltcp_time now = 1; now <= n; now++) {
        assert_int_equal(tltcp__sections_expire(&o->sections, now), 0);
    }
    before = steps - before;
    assert_int_equal(o->stats.sections_expired, n);
    print_message("%" PRIu32 " sections: %" PRIu64 " steps each\n", n,
                  before / n);
    return before / n;
}

/* Steps per section of n, each needed by the next, that expire one by one where
 * each dies alone. */
static uint64_t steps_per_expiry(uint32_t n) {
    struct store o;
    uint64_t each;
    store_open(&o, n);
    for (uint32_t i = 1; i <= n; i++) {
        store_write(&o, TL_CLASS_REFERENCE, 0, i);
    }
    each = store_expire(&o, n);
    tltcp__sections_free(&o.sections);
    return each;
}

TEST(the_end_of_a_section_costs_the_same_before_many) {
    assert_true(steps_per_expiry(16384) < 2 * steps_per_expiry(100));
}

/* Steps per section of n, half of which expire one by one, each with the one
 * that depends on it. */
static uint64_t steps_per_dependent(uint32_t n) {
    struct store o;
    uint64_t each;
    store_open(&o, n);
    o.sections.policy = TLTCP_DROP_DEPENDENTS;
    for (uint32_t i = 0; i < n; i += 2) {
        store_write(&o, TL_CLASS_REFERENCE, TL_DEPENDS_NONE, 1 + i);
        store_write(&o, TL_CLASS_DISPOSABLE, 1, 2 * (tltcp_time)n);
    }
    each = store_expire(&o, n);
    assert_int_equal(o.stats.sections_dependent, n / 2);
    tltcp__sections_free(&o.sections);
    return each;
}

/* More than are remembered as lost. */
TEST(all_dependents_of_one_section_go_with_it) {
    enum { ALL = 6000 };
    struct store o;
    store_open(&o, ALL);
    o.sections.policy = TLTCP_DROP_DEPENDENTS;
    store_write(&o, TL_CLASS_KEY, TL_DEPENDS_NONE, 1);
    for (uint32_t i = 1; i < ALL; i++) {
        store_write(&o, TL_CLASS_DISPOSABLE, i, 2);
    }
    assert_int_equal(tltcp__sections_expire(&o.sections, 1), 0);
    assert_int_equal(o.stats.sections_dependent, ALL - 1);
    tltcp__sections_free(&o.sections);
}

TEST(so_does_that_of_a_section_and_its_dependents) {
    assert_true(steps_per_dependent(16384) < 2 * steps_per_dependent(100));
}

/* Adds a block of symbols of so many bytes: the first three quarters of its
 * data, and as many repair symbols as the rest has symbols. All is zero. */
static void put_block(struct lie *l, uint32_t start, uint32_t section,
                      uint32_t size) {
    static const uint8_t zeros[1024];
    uint32_t len = TLTCP__FEC_DATA * size;
    tltcp__repair_chunk r = {.start = start,
                             .section = section,
                             .len = len,
                             .symbol = zeros,
                             .size = size};
    lie_data(l, 0, start, section, len - TLTCP__FEC_REPAIR * size);
    for (r.index = 0; r.index < TLTCP__FEC_REPAIR; r.index++) {
        tltcp__repair_put(&l->w, 0, &r);
    }
}

/* What takes much longer to rebuild than to receive is dropped. */
TEST(small_repair_symbols_cost_little) {
    struct lie l;
    uint32_t start;
    uint32_t section;
    uint64_t before;
    uint64_t bytes = 0;
    world_needs_fec();
    lie_open(71);
    start = stream_read() + 5000;
    section = sections_read() + 20;
    before = steps;
    for (uint32_t i = 0; i < 200; i++) {
        lie_begin(&l, &w.end[SERVER]);
        put_block(&l, start, section, 1);
        put_block(&l, start + TLTCP__FEC_DATA, section, 1);
        start += 2 * TLTCP__FEC_DATA;
        bytes += (uint64_t)(l.w.p - l.buf);
        assert_int_equal(lie_tell(&l, &w.end[SERVER]), 0);
    }
    before = steps - before;
    print_message("%" PRIu64 " steps a byte\n", before / bytes);
    assert_true(before / bytes < 20);
    lie_close();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_repair_symbols_cost_little),
        cmocka_unit_test(the_end_of_a_section_costs_the_same_before_many),
        cmocka_unit_test(so_does_that_of_a_section_and_its_dependents),
        cmocka_unit_test(all_dependents_of_one_section_go_with_it),
        cmocka_unit_test(
            a_claim_of_rebuilt_bytes_costs_the_same_in_many_sections),
        cmocka_unit_test(the_work_per_packet_does_not_grow_with_the_window),
        cmocka_unit_test(nor_does_it_with_losses_and_deadlines),
    };
    return cmocka_run_group_tests_name("cost", tests, NULL, NULL);
}
