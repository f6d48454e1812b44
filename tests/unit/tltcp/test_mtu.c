/* SPDX-License-Identifier: MPL-2.0 */
#include "libtltcp/engine/mtu.h"
#include "tests/support/cmocka.h"

/* A path that carries `pass` bytes; runs the search to its end.  Returns the
 * probes that it took. */
static unsigned search(tltcp__mtu *m, uint32_t pass, tltcp_time *now) {
    unsigned probes = 0;
    while (tltcp__mtu_due(m) <= *now) {
        uint32_t size = tltcp__mtu_start(m);
        assert_true(size > m->current && size <= m->limit);
        assert_int_equal(tltcp__mtu_due(m), TLTCP_TIME_NEVER);
        probes++;
        *now += TLTCP_MS;
        if (size <= pass) {
            tltcp__mtu_on_probe_acked(m, size, *now);
        } else {
            tltcp__mtu_on_probe_lost(m, size, *now);
        }
        assert_true(m->current <= pass);
        assert_true(probes < 100);
    }
    return probes;
}

static void
the_largest_size_is_found_with_one_probe_when_it_passes(void **state) {
    tltcp__mtu m;
    tltcp_time now = 0;
    (void)state;
    tltcp__mtu_init(&m, 1200, 1472, true);
    assert_int_equal(search(&m, 1472, &now), 1);
    assert_int_equal(m.current, 1472);
    assert_int_equal(tltcp__mtu_due(&m), TLTCP_TIME_NEVER);
}

TEST(any_size_is_found_to_within_a_few_bytes) {
    for (uint32_t pass = 1200; pass <= 9000; pass += 7) {
        tltcp__mtu m;
        tltcp_time now = 0;
        tltcp__mtu_init(&m, 1200, 9000, true);
        (void)search(&m, pass, &now);
        assert_true(m.current <= pass && m.current + 16 > pass);
    }
}

TEST(a_finished_search_is_taken_up_again_much_later) {
    tltcp__mtu m;
    tltcp_time now = 0;
    tltcp__mtu_init(&m, 1200, 1472, true);
    (void)search(&m, 1300, &now);
    assert_in_range(tltcp__mtu_due(&m), now + 500 * TLTCP_S,
                    now + 700 * TLTCP_S);
    now = tltcp__mtu_due(&m);
    assert_true(search(&m, 1472, &now) > 0);
    assert_int_equal(m.current, 1472);
}

TEST(a_single_lost_probe_decides_nothing) {
    tltcp__mtu m;
    uint32_t size;
    tltcp__mtu_init(&m, 1200, 1472, true);
    size = tltcp__mtu_start(&m);
    tltcp__mtu_on_probe_lost(&m, size, 5);
    assert_int_equal(tltcp__mtu_due(&m), 5);
    assert_int_equal(tltcp__mtu_start(&m), size);
    tltcp__mtu_on_probe_acked(&m, size, 6);
    assert_int_equal(m.current, 1472);
}

TEST(a_black_hole_leads_back_to_the_base) {
    tltcp__mtu m;
    tltcp_time now = 0;
    int lost = 0;
    tltcp__mtu_init(&m, 1200, 1472, true);
    (void)search(&m, 1472, &now);
    while (!tltcp__mtu_on_lost(&m, 1472, now)) {
        tltcp__mtu_on_acked(&m, 1200); /* small ones prove nothing */
        assert_true(++lost < 20);
    }
    assert_int_equal(m.current, 1200);
    assert_true(tltcp__mtu_due(&m) > now);
    assert_true(tltcp__mtu_due(&m) < TLTCP_TIME_NEVER);
}

TEST(silence_leads_back_to_the_base) {
    tltcp__mtu m;
    tltcp__mtu_init(&m, 1200, 1472, true);
    tltcp__mtu_on_probe_acked(&m, tltcp__mtu_start(&m), 0);
    assert_int_equal(m.current, 1472);
    assert_false(tltcp__mtu_on_silence(&m, 2, 1));
    assert_int_equal(m.current, 1472);
    assert_true(tltcp__mtu_on_silence(&m, 3, 2));
    assert_int_equal(m.current, 1200);
    assert_int_equal(tltcp__mtu_due(&m), 2); /* it may have been the link */
    assert_false(tltcp__mtu_on_silence(&m, 4, 3));
}

TEST(losses_among_deliveries_are_no_black_hole) {
    tltcp__mtu m;
    tltcp_time now = 0;
    tltcp__mtu_init(&m, 1200, 1472, true);
    (void)search(&m, 1472, &now);
    for (int i = 0; i < 100; i++) {
        for (int k = 0; k < 3; k++) {
            assert_false(tltcp__mtu_on_lost(&m, 1472, now));
        }
        tltcp__mtu_on_acked(&m, 1472);
    }
    for (int i = 0; i < 100; i++) {
        assert_false(tltcp__mtu_on_lost(&m, 1200, now));
    }
    assert_int_equal(m.current, 1472);
}

TEST(answers_to_forgotten_probes_change_nothing) {
    tltcp__mtu m;
    tltcp__mtu_init(&m, 1200, 1472, true);
    (void)tltcp__mtu_start(&m);
    tltcp__mtu_on_probe_acked(&m, 1400, 0);
    tltcp__mtu_on_probe_lost(&m, 1400, 0);
    assert_int_equal(m.current, 1200);
    assert_int_equal(m.tries, 0);
    tltcp__mtu_restart(&m, 9);
    tltcp__mtu_on_probe_acked(&m, 1472, 10);
    assert_int_equal(m.current, 1200);
    assert_int_equal(tltcp__mtu_due(&m), 9);
}

TEST(nothing_is_probed_when_switched_off) {
    tltcp__mtu m;
    tltcp__mtu_init(&m, 1200, 1472, false);
    assert_int_equal(tltcp__mtu_due(&m), TLTCP_TIME_NEVER);
    tltcp__mtu_restart(&m, 1);
    assert_int_equal(tltcp__mtu_due(&m), TLTCP_TIME_NEVER);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            the_largest_size_is_found_with_one_probe_when_it_passes),
        cmocka_unit_test(any_size_is_found_to_within_a_few_bytes),
        cmocka_unit_test(a_finished_search_is_taken_up_again_much_later),
        cmocka_unit_test(a_single_lost_probe_decides_nothing),
        cmocka_unit_test(a_black_hole_leads_back_to_the_base),
        cmocka_unit_test(silence_leads_back_to_the_base),
        cmocka_unit_test(losses_among_deliveries_are_no_black_hole),
        cmocka_unit_test(answers_to_forgotten_probes_change_nothing),
        cmocka_unit_test(nothing_is_probed_when_switched_off),
    };
    return cmocka_run_group_tests_name("mtu", tests, NULL, NULL);
}
