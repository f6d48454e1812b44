/* SPDX-License-Identifier: MPL-2.0 */
/* Streams without B frames over links that are too small for them, or only just
 * large enough. */
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
    assert_true(s.used >= 0.75 * s.bound);
    assert_true(s.late <= 0.3);
    s = play_small(SMALL_CHAIN, 0.95, 400 * MS);
    assert_true(s.used >= 0.8 * s.bound);
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
        cmocka_unit_test(a_late_key_does_not_cost_all_that_follows_it),
        cmocka_unit_test(a_link_that_holds_a_chain_carries_all_of_it),
    };
    return cmocka_run_group_tests_name("small", tests, NULL, NULL);
}
