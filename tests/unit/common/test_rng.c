/* SPDX-License-Identifier: MPL-2.0 */
#include "internal/common/mem.h"
#include "internal/common/rng.h"
#include "tests/support/cmocka.h"

TEST(a_seed_names_the_sequence) {
    cmn__rng a;
    cmn__rng b;
    cmn__rng c;
    int same = 0;
    cmn__rng_seed(&a, 1);
    cmn__rng_seed(&b, 1);
    cmn__rng_seed(&c, 2);
    for (int i = 0; i < 1000; i++) {
        uint64_t x = cmn__rng_next(&a);
        assert_int_equal(x, cmn__rng_next(&b));
        same += x == cmn__rng_next(&c);
    }
    assert_int_equal(same, 0);
}

TEST(xoshiro256starstar_gives_the_published_numbers) {
    /* State 1, 2, 3, 4: the test vector that other implementations use. */
    static const uint64_t expected[] = {
        UINT64_C(11520),
        UINT64_C(0),
        UINT64_C(1509978240),
        UINT64_C(1215971899390074240),
    };
    cmn__rng g = {{1, 2, 3, 4}};
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        assert_int_equal(cmn__rng_next(&g), expected[i]);
    }
}

TEST(numbers_below_a_bound_are_even) {
    unsigned seen[7] = {0};
    cmn__rng g;
    cmn__rng_seed(&g, 5);
    for (int i = 0; i < 70000; i++) {
        uint64_t x = cmn__rng_below(&g, 7);
        assert_true(x < 7);
        seen[x]++;
    }
    for (int i = 0; i < 7; i++) { /* mean 10000, standard deviation 93 */
        assert_in_range(seen[i], 9500, 10500);
    }
    assert_int_equal(cmn__rng_below(&g, 1), 0);
}

TEST(the_unit_interval_is_filled_and_never_reaches_one) {
    double sum = 0;
    cmn__rng g;
    cmn__rng_seed(&g, 6);
    for (int i = 0; i < 100000; i++) {
        double x = cmn__rng_unit(&g);
        assert_true(x >= 0 && x < 1);
        sum += x;
    }
    assert_true(sum > 49500 && sum < 50500);
}

TEST(fresh_memory_is_zeroed_and_resized_memory_kept) {
    cmn__mem m = cmn__mem_default();
    unsigned char *p = cmn__alloc(&m, 100);
    assert_non_null(p);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(p[i], 0);
        p[i] = (unsigned char)i;
    }
    p = cmn__resize(&m, p, 10000);
    assert_non_null(p);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(p[i], i);
    }
    cmn__free(&m, p);
    cmn__free(&m, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_seed_names_the_sequence),
        cmocka_unit_test(xoshiro256starstar_gives_the_published_numbers),
        cmocka_unit_test(numbers_below_a_bound_are_even),
        cmocka_unit_test(the_unit_interval_is_filled_and_never_reaches_one),
        cmocka_unit_test(fresh_memory_is_zeroed_and_resized_memory_kept),
    };
    return cmocka_run_group_tests_name("rng", tests, NULL, NULL);
}
