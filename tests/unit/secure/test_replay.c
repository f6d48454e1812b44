/* SPDX-License-Identifier: MPL-2.0 */
#include <stdlib.h>

#include "internal/common/rng.h"
#include "internal/secure/replay.h"
#include "tests/support/cmocka.h"

TEST(each_number_is_accepted_once) {
    sec__replay w = {0};
    assert_true(sec__replay_fresh(&w, 0));
    assert_true(sec__replay_mark(&w, 0));
    assert_false(sec__replay_fresh(&w, 0));
    assert_true(sec__replay_mark(&w, 5));
    assert_true(sec__replay_fresh(&w, 3));
    assert_false(sec__replay_mark(&w, 3)); /* not the highest */
    assert_false(sec__replay_fresh(&w, 3));
    assert_false(sec__replay_fresh(&w, 5));
}

TEST(what_is_too_old_to_tell_is_refused) {
    sec__replay w = {0};
    (void)sec__replay_mark(&w, 10 * SEC__REPLAY_BITS);
    assert_true(
        sec__replay_fresh(&w, 9 * SEC__REPLAY_BITS + 65)); /* within it */
    assert_false(sec__replay_fresh(&w, 9 * SEC__REPLAY_BITS));
    assert_false(sec__replay_fresh(&w, 0));
}

/* Against a list of all that was seen. */
TEST(it_agrees_with_a_list) {
    enum { NUMBERS = 200000 };
    uint8_t *seen = calloc(NUMBERS, 1);
    sec__replay w = {0};
    cmn__rng rng;
    uint64_t top = 0;
    assert_non_null(seen);
    cmn__rng_seed(&rng, 7);
    while (top + 20000 < NUMBERS) {
        uint64_t jump = cmn__rng_below(&rng, 50) == 0 ? 12000 : 6;
        uint64_t from = top > 9000 ? top - 9000 : 0;
        uint64_t pn = cmn__rng_below(&rng, 3) == 0
                          ? top + cmn__rng_below(&rng, jump)
                          : from + cmn__rng_below(&rng, top - from + 1);
        bool fresh = sec__replay_fresh(&w, pn);
        if (seen[pn]) {
            assert_false(fresh);
        } else if (pn + SEC__REPLAY_BITS - 64 > top) {
            assert_true(fresh);
        }
        if (fresh) {
            assert_int_equal(sec__replay_mark(&w, pn), pn >= top);
            seen[pn] = 1;
            top = pn + 1 > top ? pn + 1 : top;
        }
    }
    free(seen);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_number_is_accepted_once),
        cmocka_unit_test(what_is_too_old_to_tell_is_refused),
        cmocka_unit_test(it_agrees_with_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
