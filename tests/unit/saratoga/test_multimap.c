/* SPDX-License-Identifier: MPL-2.0 */
/* Sessions by keys that several may share. */
#include "libsaratoga/engine/multimap.h"
#include "tests/support/alloc.h"
#include "tests/support/cmocka.h"

#define MANY 1000u

static saratoga__link link[MANY];

/* Nothing of them is looked at. */
static struct saratoga__session *session(uint32_t i) {
    return (struct saratoga__session *)(void *)&link[i];
}

/* Three to a key, keys of neighbouring buckets and of the same ones. */
static uint64_t key_of(uint32_t i) {
    return (uint64_t)(i / 3) * 3 << i / 3 % 2 * 32;
}

static void fill(saratoga__multimap *x, const cmn__mem *mem) {
    saratoga__multimap_init(x, mem);
    for (uint32_t i = 0; i < MANY; i++) {
        link[i] = (saratoga__link){.at = NULL};
        saratoga__multimap_put(x, &link[i], session(i), key_of(i));
    }
}

static unsigned count(const saratoga__multimap *x, uint64_t key) {
    unsigned n = 0;
    for (saratoga__link *l = saratoga__multimap_first(x, key); l != NULL;
         l = saratoga__multimap_next(l)) {
        assert_true(l->key == key);
        n++;
    }
    return n;
}

static void check_all(struct test_alloc *a) {
    cmn__mem mem = {test_alloc_realloc, a};
    saratoga__multimap x;
    fill(&x, &mem);
    for (uint32_t i = 0; i + 3 <= MANY; i += 3) {
        assert_int_equal(count(&x, key_of(i)), 3);
        saratoga__multimap_remove(&x, &link[i + 1]);
        saratoga__multimap_remove(&x,
                                  &link[i + 1]); /* it is in none: nothing */
        assert_int_equal(count(&x, key_of(i)), 2);
        saratoga__multimap_remove(&x, &link[i]);
        assert_ptr_equal(saratoga__multimap_first(&x, key_of(i))->session,
                         session(i + 2));
        saratoga__multimap_remove(&x, &link[i + 2]);
        assert_null(saratoga__multimap_first(&x, key_of(i)));
    }
    saratoga__multimap_remove(&x, &link[MANY - 1]);
    assert_int_equal(x.count, 0);
    saratoga__multimap_free(&x);
    assert_int_equal(a->blocks, 0);
}

TEST(what_is_put_is_found_until_it_is_removed) {
    struct test_alloc a = {.calls = 0};
    check_all(&a);
    assert_true(a.calls > 0); /* it grew */
}

TEST(so_it_is_whenever_memory_runs_out) {
    for (uint64_t k = 1; k < 10; k++) {
        struct test_alloc once = {.fail_at = k};
        struct test_alloc for_good = {.fail_from = k};
        check_all(&once);
        check_all(&for_good);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_put_is_found_until_it_is_removed),
        cmocka_unit_test(so_it_is_whenever_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
