/* SPDX-License-Identifier: MPL-2.0 */
#include "internal/common/ranges.h"
#include "internal/common/rng.h"
#include "tests/support/alloc.h"
#include "tests/support/cmocka.h"

#define WORLD 4096u /* numbers that the model knows */

struct model {
    bool has[WORLD];
};

struct world {
    struct test_alloc alloc;
    cmn__mem mem;
    cmn__ranges set;
};

static int setup(void **state) {
    static struct world w;
    memset(&w, 0, sizeof(w));
    w.mem = (cmn__mem){test_alloc_realloc, &w.alloc};
    cmn__ranges_init(&w.set, &w.mem, UINT32_MAX);
    *state = &w;
    return 0;
}

static int teardown(void **state) {
    struct world *w = *state;
    cmn__ranges_free(&w->set);
    return w->alloc.blocks == 0 ? 0 : -1;
}

static uint64_t model_set(struct model *m, uint64_t start, uint64_t end,
                          bool value) {
    uint64_t changed = 0;
    for (uint64_t i = start; i < end; i++) {
        changed += m->has[i] != value;
        m->has[i] = value;
    }
    return changed;
}

/* Walks the whole set and the whole model side by side. */
static void assert_same(const cmn__ranges *r, const struct model *m) {
    uint32_t count = 0;
    uint64_t total = 0;
    for (uint64_t i = 0; i < WORLD;) {
        cmn__range x = {0, 0};
        uint64_t start = i;
        while (start < WORLD && !m->has[start]) {
            start++;
        }
        i = start;
        while (i < WORLD && m->has[i]) {
            i++;
        }
        if (start == WORLD) {
            assert_false(cmn__ranges_next(r, WORLD - 1, &x));
            break;
        }
        assert_true(cmn__ranges_next(r, start, &x));
        assert_true(x.start == start && x.end == i);
        count++;
        total += i - start;
    }
    assert_int_equal(r->count, count);
    assert_int_equal(r->total, total);
}

/* The answer does not depend on the hint. */
static void assert_nearby(const cmn__ranges *r, uint64_t x,
                          const cmn__range *want) {
    static cmn__ranges_hint kept; /* from other calls, and other sets */
    cmn__ranges_hint fresh = {0, 0};
    cmn__range a = {0, 0};
    cmn__range b = {0, 0};
    assert_int_equal(cmn__ranges_near(r, &kept, x, &a), want != NULL);
    assert_int_equal(cmn__ranges_near(r, &fresh, x, &b), want != NULL);
    if (want != NULL) {
        assert_true(a.start == want->start && a.end == want->end);
        assert_true(b.start == want->start && b.end == want->end);
    }
}

static void assert_neighbours(const cmn__ranges *r, const struct model *m,
                              uint64_t x) {
    cmn__range y = {0, 0};
    uint64_t i = x;
    assert_int_equal(cmn__ranges_has(r, x), m->has[x]);
    while (i < WORLD && !m->has[i]) {
        i++;
    }
    assert_int_equal(cmn__ranges_next(r, x, &y), i < WORLD);
    assert_true(i == WORLD || (y.start <= i && y.end > i));
    assert_nearby(r, x, i < WORLD ? &y : NULL);
    for (i = x; i > 0 && !m->has[i - 1]; i--) {
    }
    assert_int_equal(cmn__ranges_prev(r, x, &y), i > 0);
    assert_true(i == 0 || (y.start <= i - 1 && y.end >= i));
}

static void step(struct world *w, struct model *m, cmn__rng *g) {
    uint64_t start = cmn__rng_below(g, WORLD);
    uint64_t len = cmn__rng_below(g, cmn__rng_below(g, 16) == 0 ? 800 : 6);
    uint64_t end = start + len < WORLD ? start + len : WORLD;
    uint64_t changed = 77;
    if (cmn__rng_below(g, 2) == 0) {
        assert_int_equal(cmn__ranges_add(&w->set, start, end, &changed), 0);
        assert_int_equal(changed, model_set(m, start, end, true));
    } else {
        assert_int_equal(cmn__ranges_sub(&w->set, start, end, &changed), 0);
        assert_int_equal(changed, model_set(m, start, end, false));
    }
}

TEST(agrees_with_a_bitmap_over_200000_random_steps) {
    struct world *w = *state;
    struct model m = {{false}};
    cmn__rng g;
    cmn__rng_seed(&g, 2000);
    for (int i = 0; i < 200000; i++) {
        step(w, &m, &g);
        assert_neighbours(&w->set, &m, cmn__rng_below(&g, WORLD));
        if (i % 97 == 0) {
            assert_same(&w->set, &m);
        }
        if (i % 20011 == 0) {
            cmn__ranges_clear(&w->set);
            memset(&m, 0, sizeof(m));
        }
    }
    assert_same(&w->set, &m);
}

TEST(survives_running_out_of_memory_at_every_request) {
    struct world *w = *state;
    struct model m = {{false}};
    cmn__rng g;
    unsigned refused = 0;
    cmn__rng_seed(&g, 7);
    for (int i = 0; i < 20000; i++) {
        uint64_t start = cmn__rng_below(&g, WORLD - 8);
        uint64_t end = start + 1 + cmn__rng_below(&g, 3);
        bool add = cmn__rng_below(&g, 5) != 0;
        int rv;
        w->alloc.fail_at = i % 3 == 0 ? w->alloc.calls + 1 : 0;
        rv = add ? cmn__ranges_add(&w->set, start, end, NULL)
                 : cmn__ranges_sub(&w->set, start, end, NULL);
        if (rv == 0) {
            model_set(&m, start, end, add);
        } else {
            assert_int_equal(rv, CMN__RANGES_NOMEM);
            refused++;
        }
        if (i % 50 == 0 || rv != 0) {
            assert_same(&w->set, &m);
        }
        if (i % 1000 == 999) { /* memory must be asked for again */
            cmn__ranges_free(&w->set);
            memset(&m, 0, sizeof(m));
        }
    }
    assert_true(refused > 20);
}

TEST(holds_100000_ranges_and_gives_memory_back) {
    struct world *w = *state;
    cmn__range x;
    for (uint64_t i = 0; i < 100000; i++) { /* scattered */
        uint64_t at = (i * 7919) % 100000 * 10;
        assert_int_equal(cmn__ranges_add(&w->set, at, at + 5, NULL), 0);
    }
    assert_int_equal(w->set.count, 100000);
    assert_int_equal(w->set.total, 500000);
    for (uint64_t i = 0; i < 100000; i++) {
        assert_true(cmn__ranges_next(&w->set, i * 10, &x));
        assert_true(x.start == i * 10 && x.end == i * 10 + 5);
    }
    /* Blocks are at least half full: a few range sizes each. */
    assert_true(w->alloc.live < 100000 * sizeof(uint64_t[8]));
    for (uint64_t i = 0; i < 100000; i++) {
        uint64_t at = (i * 104729) % 100000 * 10;
        assert_int_equal(cmn__ranges_sub(&w->set, at, at + 5, NULL), 0);
    }
    assert_int_equal(w->set.count, 0);
    assert_int_equal(w->set.total, 0);
}

TEST(a_bounded_set_refuses_one_range_too_many_and_stays) {
    struct world *w = *state;
    uint64_t added = 1;
    cmn__ranges_free(&w->set);
    cmn__ranges_init(&w->set, &w->mem, 3);
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(cmn__ranges_add(&w->set, i * 10, i * 10 + 5, NULL), 0);
    }
    assert_int_equal(cmn__ranges_add(&w->set, 100, 101, &added),
                     CMN__RANGES_FULL);
    assert_int_equal(added, 0);
    assert_int_equal(cmn__ranges_sub(&w->set, 2, 3, NULL), CMN__RANGES_FULL);
    assert_int_equal(w->set.total, 15);
    assert_int_equal(cmn__ranges_add(&w->set, 5, 10, &added), 0); /* merges */
    assert_int_equal(added, 5);
    assert_int_equal(w->set.count, 2);
    assert_int_equal(cmn__ranges_sub(&w->set, 2, 3, NULL), 0);
}

TEST(reaches_the_highest_number) {
    struct world *w = *state;
    cmn__range x;
    assert_int_equal(cmn__ranges_add(&w->set, UINT64_MAX - 5, UINT64_MAX, NULL),
                     0);
    assert_int_equal(cmn__ranges_add(&w->set, 0, 1, NULL), 0);
    assert_true(cmn__ranges_next(&w->set, 1, &x));
    assert_true(x.start == UINT64_MAX - 5 && x.end == UINT64_MAX);
    assert_true(cmn__ranges_prev(&w->set, UINT64_MAX, &x));
    assert_true(x.start == UINT64_MAX - 5);
    assert_int_equal(cmn__ranges_sub(&w->set, 0, UINT64_MAX, NULL), 0);
    assert_int_equal(w->set.count, 0);
}

TEST(an_empty_range_changes_nothing) {
    struct world *w = *state;
    uint64_t n = 9;
    assert_int_equal(cmn__ranges_add(&w->set, 5, 5, &n), 0);
    assert_int_equal(n, 0);
    assert_int_equal(cmn__ranges_add(&w->set, 9, 4, &n), 0);
    assert_int_equal(w->set.count, 0);
    assert_int_equal(w->alloc.calls, 0);
}

TEST(steady_sliding_asks_for_no_memory) {
    struct world *w = *state;
    uint64_t calls = 0;
    for (uint64_t i = 0; i < 50000; i++) { /* 200 holes slide along */
        if (i == 1000) {
            calls = w->alloc.calls;
        }
        assert_int_equal(cmn__ranges_add(&w->set, i * 4, i * 4 + 2, NULL), 0);
        if (i >= 200) {
            assert_int_equal(cmn__ranges_sub(&w->set, 0, (i - 199) * 4, NULL),
                             0);
        }
    }
    assert_int_equal(w->alloc.calls, calls);
}

int main(void) {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(agrees_with_a_bitmap_over_200000_random_steps),
        T(survives_running_out_of_memory_at_every_request),
        T(holds_100000_ranges_and_gives_memory_back),
        T(a_bounded_set_refuses_one_range_too_many_and_stays),
        T(reaches_the_highest_number),
        T(an_empty_range_changes_nothing),
        T(steady_sliding_asks_for_no_memory),
    };
    return cmocka_run_group_tests_name("ranges", tests, NULL, NULL);
}
