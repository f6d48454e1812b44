/* SPDX-License-Identifier: MPL-2.0 */
#include "internal/common/rng.h"
#include "libtltcp/engine/acks.h"
#include "tests/support/alloc.h"
#include "tests/support/cmocka.h"

#define MS TLTCP_MS
#define PACKETS 4000u

struct world {
    struct test_alloc alloc;
    cmn__mem mem;
    tltcp__acks acks;
    bool acked[PACKETS];
};

static int setup(void **state) {
    static struct world w;
    memset(&w, 0, sizeof(w));
    w.mem = (cmn__mem){test_alloc_realloc, &w.alloc};
    tltcp__acks_init(&w.acks, &w.mem, 2, 25 * MS);
    *state = &w;
    return 0;
}

static int teardown(void **state) {
    struct world *w = *state;
    tltcp__acks_free(&w->acks);
    return w->alloc.blocks == 0 ? 0 : -1;
}

static void take(struct world *w, uint64_t pn, tltcp_time now) {
    assert_int_equal(tltcp__acks_on_packet(&w->acks, pn, true, 0, now), 0);
}

/* Writes an ACK and notes which packets it acknowledges. */
static uint64_t put(struct world *w, tltcp_time now, size_t room,
                    tltcp__ack *a) {
    static uint8_t buf[2000];
    cmn__writer wr = cmn__writer_of(buf, room);
    cmn__reader r;
    tltcp__chunk c;
    uint64_t upto =
        tltcp__acks_put(&w->acks, &wr, 5, (tltcp__position){6, 7}, now);
    uint64_t pn;
    if (upto == 0) {
        assert_ptr_equal(wr.p, buf);
        return 0;
    }
    assert_false(wr.bad);
    r = cmn__reader_of(buf, (size_t)(wr.p - buf));
    assert_true(tltcp__chunk_next(&r, &c));
    assert_true(tltcp__ack_parse(&c, a));
    memset(w->acked, 0, sizeof(w->acked));
    pn = a->largest;
    for (uint64_t i = 0; i <= a->first; i++) {
        w->acked[pn--] = true;
    }
    while (cmn__reader_left(&a->ranges) > 0) {
        pn -= (uint64_t)cmn__get32(&a->ranges) + 1;
        for (uint64_t i = (uint64_t)cmn__get32(&a->ranges) + 1; i > 0; i--) {
            w->acked[pn--] = true;
        }
    }
    return upto;
}

TEST(every_second_packet_or_the_delay_makes_an_ack_due) {
    struct world *w = *state;
    tltcp__ack a;
    take(w, 0, 10 * MS);
    assert_false(tltcp__acks_due(&w->acks, 34 * MS));
    assert_int_equal(w->acks.due, 35 * MS);
    assert_true(tltcp__acks_due(&w->acks, 35 * MS));
    take(w, 1, 20 * MS);
    assert_true(tltcp__acks_due(&w->acks, 20 * MS));
    assert_int_equal(put(w, 21 * MS, 200, &a), 2);
    assert_int_equal(a.largest, 1);
    assert_int_equal(a.delay_us, 1000);
    assert_int_equal(a.cumulative, 5);
    assert_int_equal(a.window.seq, 6);
    assert_int_equal(a.window.section, 7);
    assert_int_equal(w->acks.due, TLTCP_TIME_NEVER);
    assert_false(tltcp__acks_due(&w->acks, 100 * MS));
}

TEST(a_hole_makes_an_ack_due_at_once) {
    struct world *w = *state;
    tltcp__ack a;
    take(w, 0, 0);
    (void)put(w, 0, 200, &a);
    take(w, 2, 1 * MS);
    assert_true(tltcp__acks_due(&w->acks, 1 * MS));
    (void)put(w, 1 * MS, 200, &a);
    take(w, 1, 2 * MS); /* filling it too */
    assert_true(tltcp__acks_due(&w->acks, 2 * MS));
}

/* The number that RACK requires before it declares a packet lost. */
TEST(packets_after_a_hole_are_acknowledged_at_once_where_acks_are_rare) {
    struct world *w = *state;
    tltcp__ack a;
    tltcp__acks_on_frequency(&w->acks, 1, 8, 10 * MS, false);
    for (uint64_t pn = 0; pn < 7; pn++) {
        take(w, pn, 0);
        assert_false(tltcp__acks_due(&w->acks, 9 * MS));
    }
    assert_int_equal(w->acks.due, 10 * MS);
    for (uint64_t pn = 8; pn < 11; pn++) {
        take(w, pn, 1 * MS);
        assert_true(tltcp__acks_due(&w->acks, 1 * MS));
        (void)put(w, 1 * MS, 200, &a);
    }
    take(w, 11, 2 * MS);
    assert_false(tltcp__acks_due(&w->acks, 2 * MS));
    take(w, 13, 2 * MS); /* another one */
    assert_true(tltcp__acks_due(&w->acks, 2 * MS));
}

TEST(the_peer_cannot_ask_for_a_longer_delay_than_announced) {
    struct world *w = *state;
    tltcp__acks_on_frequency(&w->acks, 1, 64, 1000 * MS, false);
    take(w, 0, 0);
    assert_int_equal(w->acks.due, 25 * MS);
}

TEST(a_peer_that_gets_times_of_arrival_can_ask_for_a_tenth_of_a_second) {
    struct world *w = *state;
    w->acks.times = true;
    tltcp__acks_on_frequency(&w->acks, 1, 64, 1000 * MS, false);
    take(w, 0, 0);
    assert_int_equal(w->acks.due, 100 * MS);
}

TEST(gaps_hasten_no_ack_where_they_are_not_to) {
    struct world *w = *state;
    tltcp__acks_on_frequency(&w->acks, 1, 64, 10 * MS, true);
    take(w, 0, 0);
    take(w, 2, 1 * MS);
    take(w, 3, 1 * MS);
    assert_int_equal(w->acks.due, 10 * MS);
}

TEST(long_acks_are_fewer_where_gaps_hasten_none) {
    struct world *w = *state;
    tltcp__ack a;
    tltcp__acks_on_frequency(&w->acks, 1, 64, 10 * MS, true);
    for (uint64_t pn = 0; pn <= 22; pn += 2) { /* 11 gaps */
        take(w, pn, 0);
    }
    (void)put(w, 10 * MS, 200, &a);
    take(w, 24, 10 * MS);
    assert_int_equal(w->acks.due, 30 * MS);
}

TEST(an_ack_has_the_time_of_arrival_of_its_largest_packet) {
    struct world *w = *state;
    tltcp__ack a;
    take(w, 0, 3 * MS);
    (void)put(w, 5 * MS, 200, &a);
    assert_false(a.has_time);
    w->acks.times = true;
    for (uint64_t pn = 1; pn < 9; pn++) {
        take(w, pn, 7 * MS);
    }
    (void)put(w, 9 * MS, 200, &a);
    assert_true(a.has_time);
    assert_int_equal(a.came_us, 7000);
    assert_int_equal(a.delay_us, 2000);
}

TEST(a_request_that_was_overtaken_by_a_newer_one_is_ignored) {
    struct world *w = *state;
    tltcp__acks_on_frequency(&w->acks, 9, 8, 10 * MS, false);
    tltcp__acks_on_frequency(&w->acks, 7, 2, 25 * MS, false);
    assert_int_equal(w->acks.every, 8);
    tltcp__acks_on_frequency(&w->acks, 10, 2, 25 * MS, false);
    assert_int_equal(w->acks.every, 2);
}

TEST(a_request_of_another_length_or_for_no_packets_is_an_error) {
    struct world *w = *state;
    static const uint8_t body[6] = {0, 8, 0, 10, 0, 0};
    static const uint8_t none[4] = {0, 0, 0, 10};
    tltcp__chunk k = {.body = body, .len = 4};
    assert_int_equal(tltcp__acks_on_request(&w->acks, 1, &k), 0);
    assert_int_equal(w->acks.every, 8);
    assert_int_equal(w->acks.delay, 10 * MS);
    for (k.len = 0; k.len <= 6; k.len += 2) {
        assert_int_equal(tltcp__acks_on_request(&w->acks, 2, &k),
                         k.len == 4 ? 0 : TLTCP_ERR_PROTOCOL);
    }
    k = (tltcp__chunk){.body = none, .len = 4};
    assert_int_equal(tltcp__acks_on_request(&w->acks, 3, &k),
                     TLTCP_ERR_PROTOCOL);
}

TEST(a_congestion_mark_makes_an_ack_due_and_is_counted) {
    struct world *w = *state;
    tltcp__ack a;
    assert_int_equal(tltcp__acks_on_packet(&w->acks, 0, true, 3, 0), 0);
    assert_true(tltcp__acks_due(&w->acks, 0)); /* though it is the first */
    assert_int_equal(tltcp__acks_on_packet(&w->acks, 1, true, 2, 0), 0);
    assert_int_equal(tltcp__acks_on_packet(&w->acks, 2, true, 1, 0), 0);
    (void)put(w, 0, 200, &a);
    assert_true(a.has_ecn && a.ect0 == 1 && a.ect1 == 1 && a.ce == 1);
}

TEST(packets_that_want_no_ack_get_none_by_themselves) {
    struct world *w = *state;
    for (uint64_t pn = 0; pn < 10; pn++) {
        assert_int_equal(tltcp__acks_on_packet(&w->acks, pn, false, 0, 0), 0);
    }
    assert_false(tltcp__acks_due(&w->acks, TLTCP_TIME_NEVER));
    assert_int_equal(w->acks.due, TLTCP_TIME_NEVER);
}

TEST(an_ack_names_exactly_the_received_packets) {
    struct world *w = *state;
    bool seen[PACKETS] = {false};
    tltcp__ack a;
    cmn__rng g;
    uint64_t newest = 0;
    cmn__rng_seed(&g, 11);
    for (int i = 0; i < 3000; i++) {
        uint64_t pn = newest + cmn__rng_below(&g, 4);
        pn = pn > 20 ? pn - cmn__rng_below(&g, 20) : pn;
        if (pn < PACKETS && !tltcp__acks_seen(&w->acks, pn)) {
            take(w, pn, (tltcp_time)i);
            seen[pn] = true;
            newest = pn > newest ? pn : newest;
        }
        assert_int_equal(put(w, (tltcp_time)i, 1200, &a), newest + 1);
        for (uint64_t k = 0; k < PACKETS; k++) {
            assert_true(!w->acked[k] || seen[k]);
        }
        for (uint64_t k = newest > 30 ? newest - 30 : 0; k <= newest; k++) {
            assert_int_equal(w->acked[k], seen[k]);
        }
    }
}

TEST(acknowledged_reports_are_not_repeated) {
    struct world *w = *state;
    tltcp__ack a;
    uint64_t upto;
    for (uint64_t pn = 0; pn < 40; pn += 2) {
        take(w, pn, 0);
    }
    upto = put(w, 0, 1200, &a);
    assert_true(w->acked[2]);
    tltcp__acks_on_acked(&w->acks, upto);
    take(w, 40, 0);
    (void)put(w, 0, 1200, &a);
    assert_true(w->acked[40] && w->acked[38]);
    assert_false(w->acked[2]);
    assert_true(tltcp__acks_seen(&w->acks, 1)); /* too late to be counted */
}

TEST(memory_is_bounded_whatever_the_holes) {
    struct world *w = *state;
    for (uint64_t pn = 0; pn < 2000000; pn += 2) {
        take(w, pn, 0);
    }
    assert_true(w->alloc.live < 16384);
    assert_true(tltcp__acks_seen(&w->acks, 1999998));
    assert_false(tltcp__acks_seen(&w->acks, 1999999));
    assert_true(tltcp__acks_seen(&w->acks, 3)); /* forgotten: taken as seen */
}

TEST(packets_of_any_number_are_taken_in) {
    struct world *w = *state;
    cmn__rng g;
    cmn__rng_seed(&g, 12);
    for (int i = 0; i < 100000; i++) {
        uint64_t pn = 5000 + cmn__rng_below(&g, UINT64_C(1) << 30);
        if (!tltcp__acks_seen(&w->acks, pn)) {
            take(w, pn, (tltcp_time)i);
            assert_true(tltcp__acks_seen(&w->acks, pn));
        }
    }
}

TEST(a_small_packet_carries_fewer_ranges_or_no_ack) {
    struct world *w = *state;
    tltcp__ack a;
    for (uint64_t pn = 0; pn < 40; pn += 2) {
        take(w, pn, 0);
    }
    assert_int_equal(put(w, 0, TLTCP__ACK_LEN - 1, &a), 0);
    assert_true(put(w, 0, TLTCP__ACK_LEN + TLTCP__ACK_ECN_LEN + 8, &a) > 0);
    assert_true(w->acked[38] && w->acked[36]);
    assert_false(w->acked[34]);
}

TEST(without_memory_a_packet_counts_as_not_received) {
    struct world *w = *state;
    w->alloc.fail_at = 1;
    assert_int_equal(tltcp__acks_on_packet(&w->acks, 3, true, 0, 0),
                     TLTCP_ERR_NOMEM);
    assert_false(tltcp__acks_seen(&w->acks, 3));
    take(w, 3, 0);
    assert_true(tltcp__acks_seen(&w->acks, 3));
}

int main(void) {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(every_second_packet_or_the_delay_makes_an_ack_due),
        T(a_hole_makes_an_ack_due_at_once),
        T(packets_after_a_hole_are_acknowledged_at_once_where_acks_are_rare),
        T(the_peer_cannot_ask_for_a_longer_delay_than_announced),
        T(a_peer_that_gets_times_of_arrival_can_ask_for_a_tenth_of_a_second),
        T(gaps_hasten_no_ack_where_they_are_not_to),
        T(long_acks_are_fewer_where_gaps_hasten_none),
        T(an_ack_has_the_time_of_arrival_of_its_largest_packet),
        T(a_request_that_was_overtaken_by_a_newer_one_is_ignored),
        T(a_request_of_another_length_or_for_no_packets_is_an_error),
        T(a_congestion_mark_makes_an_ack_due_and_is_counted),
        T(packets_that_want_no_ack_get_none_by_themselves),
        T(an_ack_names_exactly_the_received_packets),
        T(acknowledged_reports_are_not_repeated),
        T(memory_is_bounded_whatever_the_holes),
        T(packets_of_any_number_are_taken_in),
        T(a_small_packet_carries_fewer_ranges_or_no_ack),
        T(without_memory_a_packet_counts_as_not_received),
    };
    return cmocka_run_group_tests_name("acks", tests, NULL, NULL);
}
