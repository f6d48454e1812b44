/* SPDX-License-Identifier: MPL-2.0 */
#include "internal/common/rng.h"
#include "libtltcp/engine/sentmap.h"
#include "tests/support/alloc.h"
#include "tests/support/cmocka.h"

struct world {
    struct test_alloc alloc;
    cmn__mem mem;
    tltcp__sentmap map;
};

static int setup(void **state) {
    static struct world w;
    memset(&w, 0, sizeof(w));
    w.mem = (cmn__mem){test_alloc_realloc, &w.alloc};
    tltcp__sentmap_init(&w.map, &w.mem, 100);
    *state = &w;
    return 0;
}

static int teardown(void **state) {
    struct world *w = *state;
    tltcp__sentmap_free(&w->map);
    return w->alloc.blocks == 0 ? 0 : -1;
}

static uint64_t send(struct world *w, uint32_t size, unsigned frames,
                     bool eliciting, tltcp_time now) {
    uint64_t pn = tltcp__sentmap_next(&w->map);
    tltcp__sent *s = tltcp__sentmap_open(&w->map);
    assert_non_null(s);
    s->size = size;
    s->at = now;
    for (unsigned i = 0; i < frames; i++) {
        tltcp__sent_chunk *f = tltcp__sentmap_add(&w->map, s);
        assert_non_null(f);
        f->start = pn * 10 + i;
    }
    tltcp__sentmap_commit(&w->map, s, eliciting);
    return pn;
}

TEST(numbers_go_up_and_records_are_found) {
    struct world *w = *state;
    assert_null(tltcp__sentmap_get(&w->map, 100));
    assert_int_equal(send(w, 1000, 2, true, 0), 100);
    assert_int_equal(send(w, 500, 1, true, 0), 101);
    assert_int_equal(tltcp__sentmap_get(&w->map, 101)->size, 500);
    assert_int_equal(
        tltcp__sentmap_chunk(&w->map, tltcp__sentmap_get(&w->map, 100), 1)
            ->start,
        1001);
    assert_null(tltcp__sentmap_get(&w->map, 99));
    assert_null(tltcp__sentmap_get(&w->map, 102));
    assert_int_equal(w->map.bytes, 1500);
    assert_int_equal(w->map.flying, 2);
}

TEST(the_oldest_in_flight_is_found_past_settled_ones) {
    struct world *w = *state;
    uint64_t pn = 0;
    for (int i = 0; i < 5; i++) {
        (void)send(w, 10, 1, i != 2, 0);
    }
    tltcp__sentmap_on_acked(&w->map, tltcp__sentmap_get(&w->map, 101));
    assert_non_null(tltcp__sentmap_oldest(&w->map, &pn));
    assert_int_equal(pn, 100);
    tltcp__sentmap_on_lost(&w->map, tltcp__sentmap_get(&w->map, 100));
    assert_non_null(tltcp__sentmap_oldest(&w->map, &pn));
    assert_int_equal(pn, 103); /* 102 wants no ACK */
    assert_int_equal(w->map.bytes, 20);
    tltcp__sentmap_on_acked(&w->map, tltcp__sentmap_get(&w->map, 103));
    tltcp__sentmap_on_acked(&w->map, tltcp__sentmap_get(&w->map, 104));
    assert_null(tltcp__sentmap_oldest(&w->map, &pn));
    assert_int_equal(w->map.bytes, 0);
    assert_int_equal(w->map.flying, 0);
}

TEST(a_late_ack_of_a_lost_packet_counts_once) {
    struct world *w = *state;
    uint64_t pn = send(w, 10, 1, true, 0);
    (void)send(w, 20, 1, true, 0);
    tltcp__sentmap_on_lost(&w->map, tltcp__sentmap_get(&w->map, pn));
    assert_int_equal(w->map.bytes, 20);
    tltcp__sentmap_on_acked(&w->map, tltcp__sentmap_get(&w->map, pn));
    assert_int_equal(w->map.bytes, 20);
    assert_int_equal(w->map.flying, 1);
}

TEST(lost_packets_are_remembered_for_a_while) {
    struct world *w = *state;
    uint64_t a = send(w, 10, 1, true, 1000);
    uint64_t b = send(w, 10, 3, true, 2000);
    tltcp__sentmap_on_lost(&w->map, tltcp__sentmap_get(&w->map, a));
    tltcp__sentmap_on_acked(&w->map, tltcp__sentmap_get(&w->map, b));
    tltcp__sentmap_trim(&w->map, 1000);
    assert_non_null(tltcp__sentmap_get(&w->map, a));
    tltcp__sentmap_trim(&w->map, 1001);
    assert_null(tltcp__sentmap_get(&w->map, a));
    assert_null(tltcp__sentmap_get(&w->map, b));
    assert_int_equal(cmn__ring_len(&w->map.chunks), 0);
}

/* Millions a second fill the records before a lost one is old. */
TEST(a_lost_packet_does_not_keep_all_that_follow) {
    struct world *w = *state;
    tltcp__sent *s;
    w->map.max = 100;
    (void)send(w, 1000, 1, true, 1000);
    tltcp__sentmap_on_lost(&w->map, tltcp__sentmap_get(&w->map, 100));
    for (int i = 0; i < 1000; i++) {
        s = tltcp__sentmap_get(&w->map, send(w, 1000, 1, true, 1001));
        tltcp__sentmap_on_acked(&w->map, s);
        tltcp__sentmap_trim(&w->map, 0);
        assert_false(tltcp__sentmap_is_full(&w->map));
    }
}

TEST(packets_that_want_no_ack_leave_nothing_behind) {
    struct world *w = *state;
    uint64_t calls;
    (void)send(w, 10, 0, false, 0);
    calls = w->alloc.calls;
    for (int i = 0; i < 10000; i++) {
        (void)send(w, 10, 0, false, 0);
    }
    assert_int_equal(w->alloc.calls, calls);
    assert_int_equal(tltcp__sentmap_next(&w->map), 100 + 10001);
}

TEST(a_steady_window_asks_for_no_memory) {
    struct world *w = *state;
    uint64_t calls = 0;
    uint64_t pn = 0;
    cmn__rng g;
    cmn__rng_seed(&g, 1);
    for (int i = 0; i < 20000; i++) {
        if (i == 1000) {
            calls = w->alloc.calls;
        }
        (void)send(w, 10, 1, true, (tltcp_time)i);
        while (w->map.flying > 64) {
            tltcp__sent *s = tltcp__sentmap_oldest(&w->map, &pn);
            if (cmn__rng_below(&g, 10) == 0) {
                tltcp__sentmap_on_lost(&w->map, s);
            } else {
                tltcp__sentmap_on_acked(&w->map, s);
            }
        }
        tltcp__sentmap_trim(&w->map, (tltcp_time)(i > 100 ? i - 100 : 0));
    }
    assert_int_equal(w->alloc.calls, calls);
    assert_int_equal(w->map.bytes, 640);
}

TEST(without_memory_nothing_is_opened) {
    struct world *w = *state;
    w->alloc.fail_at = 1;
    assert_null(tltcp__sentmap_open(&w->map));
    assert_int_equal(tltcp__sentmap_next(&w->map), 100);
    assert_int_equal(send(w, 1, 1, true, 0), 100);
}

int main(void) {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(numbers_go_up_and_records_are_found),
        T(the_oldest_in_flight_is_found_past_settled_ones),
        T(a_late_ack_of_a_lost_packet_counts_once),
        T(lost_packets_are_remembered_for_a_while),
        T(a_lost_packet_does_not_keep_all_that_follow),
        T(packets_that_want_no_ack_leave_nothing_behind),
        T(a_steady_window_asks_for_no_memory),
        T(without_memory_nothing_is_opened),
    };
    return cmocka_run_group_tests_name("sentmap", tests, NULL, NULL);
}
