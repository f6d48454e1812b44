/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Transfers in which everything was decided by lot.  Arguments: the first seed
 * and how many.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "tests/simnet/world.h"

static uint64_t first_seed = 1;
static uint64_t seeds = 50;

static void
what_comes_out_is_what_went_in_whatever_the_network_does(void **state) {
    uint64_t failed = 0;
    (void)state;
    for (uint64_t i = 0; i < seeds; i++) {
        struct plan p;
        plan_random(&p, first_seed + i);
        failed += !play(&p, NULL);
    }
    assert_int_equal(failed, 0);
}

TEST(the_same_seed_gives_the_same_trace) {
    for (uint64_t i = 0; i < seeds; i += 10) {
        struct plan p;
        uint64_t once = 0;
        uint64_t again = 1;
        uint64_t other = 0;
        plan_random(&p, first_seed + i);
        assert_true(play(&p, &once));
        assert_true(play(&p, &again));
        assert_int_equal(again, once);
        plan_random(&p, first_seed + i + 1);
        assert_true(play(&p, &other));
        assert_int_not_equal(other, once);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            what_comes_out_is_what_went_in_whatever_the_network_does),
        cmocka_unit_test(the_same_seed_gives_the_same_trace),
    };
    if (argc > 2) {
        first_seed = strtoull(argv[1], NULL, 10);
        seeds = strtoull(argv[2], NULL, 10);
    }
    return cmocka_run_group_tests_name("random", tests, NULL, NULL);
}
