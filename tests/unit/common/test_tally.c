/* SPDX-License-Identifier: MPL-2.0 */
#include "internal/common/rng.h"
#include "internal/common/tally.h"
#include "tests/support/alloc.h"
#include "tests/support/cmocka.h"

TEST(a_tally_agrees_with_a_plain_array) {
    enum { KEYS = 200, STEPS = 50000 };
    struct test_alloc alloc = {0};
    const cmn__mem mem = {test_alloc_realloc, &alloc};
    unsigned plain[KEYS] = {0};
    cmn__tally t;
    uint64_t *more;
    cmn__rng g;
    cmn__rng_seed(&g, 1);
    cmn__tally_init(&t, &mem);
    assert_int_equal(cmn__tally_get(&t, 7), 0);
    for (int step = 0; step < STEPS; step++) {
        uint64_t i = cmn__rng_below(&g, KEYS);
        uint64_t key = 16 * i + 16; /* they collide */
        if (cmn__rng_below(&g, 2) == 0) {
            assert_int_equal(cmn__tally_up(&t, key), 0);
            plain[i]++;
        } else if (plain[i] > 0) {
            cmn__tally_down(&t, key);
            plain[i]--;
        }
        assert_int_equal(cmn__tally_get(&t, key), plain[i]);
        more = cmn__tally_more(&t, key);
        assert_int_equal(more != NULL, plain[i] > 0);
        if (more != NULL) {
            assert_int_equal(more[1], plain[i] == 1 && more[1] == 0 ? 0 : key);
            more[1] = key;
        }
    }
    for (uint64_t i = 0; i < KEYS; i++) {
        assert_int_equal(cmn__tally_get(&t, 16 * i + 16), plain[i]);
    }
    cmn__tally_free(&t);
    assert_int_equal(alloc.blocks, 0);
}

TEST(without_memory_nothing_is_counted) {
    struct test_alloc alloc = {.fail_from = 2};
    const cmn__mem mem = {test_alloc_realloc, &alloc};
    cmn__tally t;
    uint64_t key = 1;
    cmn__tally_init(&t, &mem);
    while (cmn__tally_up(&t, key) == 0) {
        key++;
    }
    assert_true(key > 1);
    assert_int_equal(cmn__tally_get(&t, key), 0);
    while (--key > 0) {
        assert_int_equal(cmn__tally_get(&t, key), 1);
    }
    cmn__tally_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tally_agrees_with_a_plain_array),
        cmocka_unit_test(without_memory_nothing_is_counted),
    };
    return cmocka_run_group_tests_name("tally", tests, NULL, NULL);
}
