/* SPDX-License-Identifier: MPL-2.0 */
#include "internal/common/pages.h"
#include "internal/common/rng.h"
#include "tests/unit/common/counted.h"

TEST(pages_keep_their_contents_while_the_window_moves) {
    enum { SPAN = 3000 };
    struct counted *w = *state;
    static uint64_t model[SPAN]; /* by number modulo SPAN; 0: no page */
    cmn__pages p;
    cmn__rng g;
    uint64_t base = 0;
    memset(model, 0, sizeof(model));
    cmn__rng_seed(&g, 1);
    cmn__pages_init(&p, &w->mem, sizeof(uint64_t), true);
    for (int i = 0; i < 50000; i++) {
        uint64_t n = base + cmn__rng_below(&g, SPAN);
        uint64_t *page = cmn__pages_take(&p, n);
        assert_non_null(page);
        assert_true(*page == model[n % SPAN]);
        *page = n + 1;
        model[n % SPAN] = n + 1;
        if (cmn__rng_below(&g, 10) == 0) {
            uint64_t to = base + cmn__rng_below(&g, i % 100 == 0 ? SPAN : 40);
            for (; base < to; base++) {
                model[base % SPAN] = 0;
            }
            cmn__pages_drop(&p, to);
        }
        n = base + cmn__rng_below(&g, SPAN);
        page = cmn__pages_at(&p, n);
        assert_true((page != NULL ? *page : 0) == model[n % SPAN]);
        assert_int_equal(p.bytes, w->alloc.live);
    }
    cmn__pages_free(&p);
    assert_int_equal(w->alloc.live, 0);
}

TEST(a_page_far_away_costs_little) {
    struct counted *w = *state;
    cmn__pages p;
    cmn__pages_init(&p, &w->mem, CMN__PAGE_BYTES, false);
    assert_non_null(cmn__pages_take(&p, 2000)); /* 4 MB away */
    assert_true(w->alloc.live < 2 * CMN__PAGE_BYTES);
    assert_null(cmn__pages_at(&p, 1999));
    assert_null(cmn__pages_at(&p, 2001));
    cmn__pages_free(&p);
    assert_null(cmn__pages_at(&p, 2000));
}

TEST(a_stream_in_order_asks_for_memory_now_and_then) {
    struct counted *w = *state;
    cmn__pages p;
    cmn__pages_init(&p, &w->mem, CMN__PAGE_BYTES, false);
    for (uint64_t n = 0; n < 6400; n++) {
        assert_non_null(cmn__pages_take(&p, n));
        cmn__pages_drop(&p, n);
    }
    assert_true(w->alloc.calls < 400);
    assert_true(w->alloc.peak < 4 * CMN__PAGE_BYTES);
    cmn__pages_free(&p);
}

TEST(bytes_come_back_as_they_were_put) {
    struct counted *w = *state;
    static uint8_t in[9000];
    static uint8_t out[9000];
    cmn__pages p;
    cmn__pages_init(&p, &w->mem, CMN__PAGE_BYTES, false);
    for (size_t i = 0; i < sizeof(in); i++) {
        in[i] = (uint8_t)(i * 7 + i / 256);
    }
    for (uint64_t at = 0; at < 100000; at += 3333) {
        assert_int_equal(cmn__pages_reserve(&p, at, at + sizeof(in)), 0);
        cmn__pages_put(&p, at, in, sizeof(in));
        memset(out, 0, sizeof(out));
        cmn__pages_get(&p, at, out, sizeof(out));
        assert_memory_equal(in, out, sizeof(in));
        cmn__pages_drop(&p, at / CMN__PAGE_BYTES);
    }
    cmn__pages_free(&p);
}

/* Takes pages and checks the answer given before. */
static void take_pages(const struct counted *w, cmn__pages *p, uint64_t first,
                       uint64_t last, bool expected) {
    uint64_t calls = w->alloc.calls;
    assert_true(cmn__pages_need_memory(p, first, last) == expected);
    assert_int_equal(cmn__pages_reserve(p, first * CMN__PAGE_BYTES,
                                        (last + 1) * CMN__PAGE_BYTES),
                     0);
    assert_true((w->alloc.calls > calls) == expected);
}

TEST(pages_need_memory_until_enough_were_used_before) {
    struct counted *w = *state;
    cmn__pages p;
    cmn__pages_init(&p, &w->mem, CMN__PAGE_BYTES, false);
    take_pages(w, &p, 0, 1, true);
    take_pages(w, &p, 0, 1, false);
    take_pages(w, &p, 1, 2, true);
    take_pages(w, &p, 64, 127, true);
    cmn__pages_drop(&p, 128); /* 67 spare pages and their groups */
    take_pages(w, &p, 128, 130, false);
    take_pages(w, &p, 192, 192 + 63, false);
    cmn__pages_drop(&p, 193); /* 4 */
    take_pages(w, &p, 256, 259, false);
    take_pages(w, &p, 260, 260, true);
    cmn__pages_free(&p);
}

TEST(out_of_memory_leaves_entries_intact) {
    struct counted *w = *state;
    cmn__pages p;
    cmn__pages_init(&p, &w->mem, CMN__PAGE_BYTES, false);
    assert_int_equal(cmn__pages_reserve(&p, 0, 1), 0);
    cmn__pages_put(&p, 0, "x", 1);
    for (uint64_t fail = 1; fail <= 3; fail++) {
        w->alloc.fail_at = w->alloc.calls + fail;
        assert_int_equal(cmn__pages_reserve(&p, 1000000, 1000001), -1);
        w->alloc.fail_at = 0;
        assert_memory_equal(cmn__pages_at(&p, 0), "x", 1);
        cmn__pages_free(&p);
        assert_int_equal(w->alloc.live, 0);
        assert_int_equal(cmn__pages_reserve(&p, 0, 1), 0);
        cmn__pages_put(&p, 0, "x", 1);
    }
    cmn__pages_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            pages_keep_their_contents_while_the_window_moves, counted_setup,
            counted_teardown),
        cmocka_unit_test_setup_teardown(a_page_far_away_costs_little,
                                        counted_setup, counted_teardown),
        cmocka_unit_test_setup_teardown(
            a_stream_in_order_asks_for_memory_now_and_then, counted_setup,
            counted_teardown),
        cmocka_unit_test_setup_teardown(bytes_come_back_as_they_were_put,
                                        counted_setup, counted_teardown),
        cmocka_unit_test_setup_teardown(
            pages_need_memory_until_enough_were_used_before, counted_setup,
            counted_teardown),
        cmocka_unit_test_setup_teardown(out_of_memory_leaves_entries_intact,
                                        counted_setup, counted_teardown),
    };
    return cmocka_run_group_tests_name("pages", tests, NULL, NULL);
}
