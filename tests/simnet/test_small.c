/* SPDX-License-Identifier: MPL-2.0 */
/* Streams over links that are too small for them, or only just large enough. */
#include "tests/simnet/oracle.h"
#include "tests/simnet/small.h"

#define SEEDS 3

static struct small play_small(int kind, double part, uint64_t latency) {
    struct small s = small_play(kind, part, latency, SEEDS);
    print_message("%s over %.2f of its rate, %u ms: used %.2f, at worst %.2f, "
                  "bound %.2f; seen %.2f, bound %.2f\n",
                  small_name(kind), part, (unsigned)(latency / MS), s.used,
                  s.worst, s.bound, s.seen, s.seen_bound);
    return s;
}

/* A late frame of a chain leaves no time for the next key frame. */
TEST(a_chain_is_cut_before_it_costs_the_next_key) {
    struct small s = play_small(SMALL_CHAIN, 0.85, 400 * MS);
    assert_true(s.used >= 0.9 * s.bound);
    assert_true(s.late <= 0.2);
    s = play_small(SMALL_CHAIN, 0.95, 400 * MS);
    assert_true(s.used >= 0.9 * s.bound);
}

TEST(a_pyramid_uses_a_link_that_is_too_small) {
    struct small s = play_small(SMALL_PYRAMID, 0.75, 400 * MS);
    assert_true(s.used >= 0.95 * s.bound);
    s = play_small(SMALL_PYRAMID, 0.75, 200 * MS);
    assert_true(s.used >= 0.8 * s.bound);
}

TEST(the_bound_is_what_a_small_clip_can_show) {
    static struct clip c;
    c = (struct clip){.count = 4, .latency = 2 * CLIP_INTERVAL};
    for (uint32_t i = 0; i < 4; i++) {
        c.bytes[i] = 1000;
        c.cls[i] = i == 0 ? TL_CLASS_KEY : TL_CLASS_REFERENCE;
        c.parent[i] = i == 0 ? 0 : i - 1;
    }
    /* twice the interval each: the second takes until 160 of 120 ms */
    assert_float_equal(oracle_most(&c, 1000 / 80e-3, false), 1, 0);
    assert_float_equal(oracle_most(&c, 1000 / 40e-3, false), 4, 0);
    assert_float_equal(oracle_most(&c, 1000 / 40e-3, true), 4000, 0);
    /* if they refer to the key alone, one more can be skipped for another */
    for (uint32_t i = 1; i < 4; i++) {
        c.cls[i] = TL_CLASS_DISPOSABLE;
        c.parent[i] = 0;
    }
    assert_float_equal(oracle_most(&c, 1000 / 80e-3, false), 2, 0);
}

/* A key frame of 100 kB takes longer than the latency.  Symbols of repair for
 * the small pictures behind it, which are late whatever comes of them, must not
 * make the link look half as large as it is. */
TEST(a_late_key_does_not_cost_all_that_follows_it) {
    struct small s = play_small(SMALL_SCREEN, 1.2, 400 * MS);
    assert_true(s.seen >= 0.35);
    assert_true(s.freeze <= 8 * SEC);
}

TEST(a_link_that_holds_a_chain_carries_all_of_it) {
    assert_true(play_small(SMALL_CHAIN, 1.2, 200 * MS).seen >= 0.99);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_is_cut_before_it_costs_the_next_key),
        cmocka_unit_test(a_pyramid_uses_a_link_that_is_too_small),
        cmocka_unit_test(the_bound_is_what_a_small_clip_can_show),
        cmocka_unit_test(a_late_key_does_not_cost_all_that_follows_it),
        cmocka_unit_test(a_link_that_holds_a_chain_carries_all_of_it),
    };
    return cmocka_run_group_tests_name("small", tests, NULL, NULL);
}
