/* SPDX-License-Identifier: MPL-2.0 */
#include "internal/common/ring.h"
#include "internal/common/rng.h"
#include "tests/unit/common/counted.h"

TEST(records_keep_their_numbers_while_the_ring_grows) {
    struct counted *w = *state;
    const uint64_t first = UINT64_MAX - 1000; /* numbers may wrap */
    cmn__ring r;
    cmn__rng g;
    uint64_t *p;
    cmn__rng_seed(&g, 1);
    cmn__ring_init(&r, &w->mem, sizeof(uint64_t), first);
    for (int i = 0; i < 20000; i++) {
        if (cmn__ring_len(&r) == 0 || cmn__rng_below(&g, 100) < 52) {
            uint64_t number = r.tail;
            p = cmn__ring_push(&r);
            assert_non_null(p);
            assert_int_equal(*p, 0);
            *p = number * 3;
        } else {
            cmn__ring_pop(&r);
        }
        for (uint64_t k = r.head; k != r.tail; k += 1 + (r.tail - k) / 3) {
            p = cmn__ring_at(&r, k);
            assert_int_equal(*p, k * 3);
        }
    }
    cmn__ring_free(&r);
    assert_int_equal(w->alloc.live, 0);
}

TEST(a_steady_ring_asks_for_no_memory) {
    struct counted *w = *state;
    cmn__ring r;
    uint64_t calls;
    cmn__ring_init(&r, &w->mem, 24, 0);
    for (int i = 0; i < 100; i++) {
        assert_non_null(cmn__ring_push(&r));
    }
    calls = w->alloc.calls;
    for (int i = 0; i < 10000; i++) {
        cmn__ring_pop(&r);
        assert_non_null(cmn__ring_push(&r));
    }
    assert_int_equal(w->alloc.calls, calls);
    cmn__ring_free(&r);
}

TEST(without_memory_the_ring_stays_as_it_was) {
    struct counted *w = *state;
    cmn__ring r;
    uint32_t *p;
    cmn__ring_init(&r, &w->mem, sizeof(*p), 10);
    for (uint32_t i = 0; i < 4; i++) {
        p = cmn__ring_push(&r);
        assert_non_null(p);
        *p = i;
    }
    w->alloc.fail_at = w->alloc.calls + 1;
    assert_null(cmn__ring_push(&r));
    assert_int_equal(cmn__ring_len(&r), 4);
    for (uint32_t i = 0; i < 4; i++) {
        p = cmn__ring_at(&r, 10 + i);
        assert_int_equal(*p, i);
    }
    cmn__ring_free(&r);
}

TEST(trimming_an_empty_ring_gives_its_memory_back) {
    struct counted *w = *state;
    cmn__ring r;
    cmn__ring_init(&r, &w->mem, 8, 0);
    assert_non_null(cmn__ring_push(&r));
    cmn__ring_trim(&r);
    assert_int_equal(w->alloc.blocks, 1); /* not empty: nothing happens */
    cmn__ring_pop(&r);
    cmn__ring_trim(&r);
    assert_int_equal(w->alloc.blocks, 0);
    assert_non_null(cmn__ring_push(&r));
    cmn__ring_free(&r);
}

static uint8_t at(uint64_t place) {
    return (uint8_t)(place * 31 + (place >> 8));
}

static void put(cmn__bytes *b, uint64_t place, size_t len) {
    uint8_t buf[4096];
    for (size_t i = 0; i < len; i++) {
        buf[i] = at(place + i);
    }
    cmn__bytes_put(b, place, buf, len);
}

static void assert_bytes(const cmn__bytes *b, uint64_t place, size_t len) {
    uint8_t buf[4096];
    while (len > 0) {
        size_t n = len < sizeof(buf) ? len : sizeof(buf);
        size_t wrong = 0;
        cmn__bytes_get(b, place, buf, n);
        for (size_t i = 0; i < n; i++) {
            wrong += buf[i] != at(place + i);
        }
        assert_int_equal(wrong, 0);
        place += n;
        len -= n;
    }
}

static void
a_window_of_bytes_keeps_what_is_in_use_while_it_grows(void **state) {
    struct counted *w = *state;
    cmn__bytes b;
    cmn__rng g;
    uint64_t base = 123456;
    uint64_t used = base;
    cmn__rng_seed(&g, 9);
    cmn__bytes_init(&b, &w->mem);
    for (int i = 0; i < 1000; i++) {
        size_t len = 1 + (size_t)cmn__rng_below(&g, 4000);
        assert_int_equal(cmn__bytes_reserve(&b, base, used, used + len), 0);
        put(&b, used, len);
        used += len;
        base += cmn__rng_below(&g, i < 500 ? 3000 : 6000);
        base = base < used ? base : used;
        assert_bytes(&b, base, (size_t)(used - base));
    }
    w->alloc.fail_at = w->alloc.calls + 1;
    assert_int_equal(cmn__bytes_reserve(&b, base, used, base + (1 << 28)), -1);
    assert_bytes(&b, base, (size_t)(used - base));
    cmn__bytes_free(&b);
}

int main(void) {
#define T(f) cmocka_unit_test_setup_teardown(f, counted_setup, counted_teardown)
    const struct CMUnitTest tests[] = {
        T(records_keep_their_numbers_while_the_ring_grows),
        T(a_steady_ring_asks_for_no_memory),
        T(without_memory_the_ring_stays_as_it_was),
        T(trimming_an_empty_ring_gives_its_memory_back),
        T(a_window_of_bytes_keeps_what_is_in_use_while_it_grows),
    };
    return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
