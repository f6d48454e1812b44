/* SPDX-License-Identifier: MPL-2.0 */
#include "internal/common/pqueue.h"
#include "internal/common/rng.h"
#include "tests/support/cmocka.h"

#define ENTRIES 1000u

/* Few keys, so that ranks decide. */
TEST(entries_leave_by_key_and_then_by_rank) {
    cmn__pqueue q = {0};
    bool left[ENTRIES] = {false};
    cmn__pqueue_entry before = {0};
    cmn__rng g;
    cmn__rng_seed(&g, 1);
    for (uint64_t i = 0; i < ENTRIES; i++) {
        cmn__pqueue_entry e = {cmn__rng_below(&g, 20), ENTRIES - i, &left[i]};
        assert_true(cmn__pqueue_add(&q, e));
    }
    assert_int_equal(q.count, ENTRIES);
    while (q.count > 0) {
        cmn__pqueue_entry e = cmn__pqueue_take(&q);
        bool *has_left = e.item;
        assert_true(cmn__pqueue_is_before(&before, &e));
        assert_false(*has_left);
        *has_left = true;
        before = e;
    }
    for (unsigned i = 0; i < ENTRIES; i++) {
        assert_true(left[i]);
    }
    cmn__pqueue_free(&q);
}

TEST(the_first_stays_first_while_entries_come_and_go) {
    cmn__pqueue q = {0};
    cmn__rng g;
    cmn__rng_seed(&g, 2);
    for (uint64_t i = 0; i < 10000; i++) {
        uint64_t low = UINT64_MAX;
        if (q.count > 0 && cmn__rng_below(&g, 100) < 45) {
            (void)cmn__pqueue_take(&q);
        } else {
            cmn__pqueue_entry e = {cmn__rng_below(&g, 1 << 20), i, NULL};
            assert_true(cmn__pqueue_add(&q, e));
        }
        for (size_t k = 0; k < q.count; k++) {
            low = q.at[k].key < low ? q.at[k].key : low;
        }
        assert_true(q.count == 0 || q.at[0].key == low);
    }
    cmn__pqueue_free(&q);
    assert_int_equal(q.count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_leave_by_key_and_then_by_rank),
        cmocka_unit_test(the_first_stays_first_while_entries_come_and_go),
    };
    return cmocka_run_group_tests_name("pqueue", tests, NULL, NULL);
}
