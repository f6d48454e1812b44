/* SPDX-License-Identifier: MPL-2.0 */
#include <stdlib.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "internal/media/stream/assemble.h"
#include "tests/support/cmocka.h"

#define START TL_SECTION_START
#define END TL_SECTION_END

struct world {
    media_assembly a;
    media_section out[2];
    int ended;
};

static int setup(void **state) {
    static struct world w;

    memset(&w, 0, sizeof(w));
    media__assembly_init(&w.a, 1000);
    *state = &w;
    return 0;
}

static int teardown(void **state) {
    struct world *w = *state;

    media__assembly_clear(&w->a);
    return 0;
}

static void add(struct world *w, uint32_t kind, uint64_t section,
                uint32_t flags, const char *data, size_t len) {
    tltcp_piece piece = {.kind = kind,
                         .flags = flags,
                         .section = section,
                         .data = (void *)(uintptr_t)data,
                         .len = len};

    w->ended = media__assembly_add(&w->a, &piece, w->out);
}

static void data(struct world *w, uint64_t section, uint32_t flags,
                 const char *text) {
    add(w, TL_DATA, section, flags, text, strlen(text));
}

static void gap(struct world *w, uint64_t section, uint32_t flags,
                size_t size) {
    add(w, TL_GAP, section, flags, NULL, size);
}

static void expect(struct world *w, int i, const char *bytes, size_t len,
                   bool complete) {
    assert_true(w->ended > i);
    assert_int_equal(w->out[i].len, len);
    assert_memory_equal(w->out[i].data, bytes, len);
    assert_int_equal(w->out[i].complete, complete);
    free(w->out[i].data);
}

TEST(a_section_of_one_piece_is_complete) {
    struct world *w = *state;

    data(w, 0, START | END, "frame");
    assert_int_equal(w->ended, 1);
    expect(w, 0, "frame", 5, true);
    assert_true(w->out[0].begins);
}

TEST(pieces_are_joined) {
    struct world *w = *state;

    data(w, 0, START, "fr");
    assert_int_equal(w->ended, 0);
    data(w, 0, 0, "am");
    data(w, 0, END, "e");
    expect(w, 0, "frame", 5, true);
}

TEST(a_hole_inside_keeps_its_place) {
    struct world *w = *state;

    data(w, 4, START, "ab");
    gap(w, 4, 0, 3);
    data(w, 4, END, "f");
    expect(w, 0, "ab\0\0\0f", 6, false);
    assert_int_equal(w->out[0].missing, 3);
    assert_int_equal(w->out[0].number, 4);
}

TEST(a_gap_at_the_end_ends_the_section) {
    struct world *w = *state;

    data(w, 0, START, "ab");
    gap(w, 0, END, 30);
    expect(w, 0, "ab", 2, false);
    assert_true(w->out[0].begins);
}

TEST(a_gap_into_the_next_sections_cuts_at_both_ends) {
    struct world *w = *state;

    data(w, 0, START, "ab");
    gap(w, 0, 0, 5000);
    assert_int_equal(w->ended, 0);
    data(w, 2, END, "z");
    assert_int_equal(w->ended, 2);
    expect(w, 0, "ab", 2, false);
    expect(w, 1, "z", 1, false);
    assert_false(w->out[1].begins);
}

TEST(a_restart_ends_open_sessions) {
    struct world *w = *state;

    data(w, 0, START, "ab");
    data(w, 1, START | END, "cd");
    assert_int_equal(w->ended, 2);
    expect(w, 0, "ab", 2, false);
    expect(w, 1, "cd", 2, true);
}

TEST(a_gap_between_sections_says_nothing) {
    struct world *w = *state;

    gap(w, 0, START | END, 100);
    assert_int_equal(w->ended, 0);
    data(w, 1, START | END, "cd");
    expect(w, 0, "cd", 2, true);
}

TEST(a_section_larger_than_allowed_is_cut) {
    struct world *w = *state;
    char bytes[600];

    memset(bytes, 'x', sizeof(bytes));
    add(w, TL_DATA, 0, START, bytes, sizeof(bytes));
    add(w, TL_DATA, 0, END, bytes, sizeof(bytes));
    assert_int_equal(w->out[0].len, 1000);
    assert_false(w->out[0].complete);
    free(w->out[0].data);
}

TEST(a_huge_gap_inside_takes_no_more_memory_than_allowed) {
    struct world *w = *state;

    data(w, 0, START, "a");
    gap(w, 0, 0, SIZE_MAX - 5);
    data(w, 0, END, "b");
    assert_int_equal(w->ended, 1);
    assert_int_equal(w->out[0].len, 1000);
    free(w->out[0].data);
}

/* A few bytes must not make zeros by the megabyte, again and again. */
TEST(a_gap_much_longer_than_the_rest_cuts_the_section) {
    struct world *w = *state;

    w->a.max_bytes = 100000000;
    data(w, 0, START, "a");
    gap(w, 0, 0, 50000);
    data(w, 0, 0, "b"); /* as long as it is short */
    gap(w, 0, 0, 50000);
    data(w, 0, END, "c");
    assert_int_equal(w->ended, 1);
    assert_int_equal(w->out[0].len, 50002);
    assert_false(w->out[0].complete);
    free(w->out[0].data);
    data(w, 1, START | END, "d");
    expect(w, 0, "d", 1, true);
}

TEST(the_end_of_the_stream_delivers_the_rest) {
    struct world *w = *state;

    assert_int_equal(media__assembly_end(&w->a, w->out), 0);
    data(w, 0, START, "ab");
    assert_int_equal(media__assembly_end(&w->a, w->out), 1);
    assert_int_equal(w->out[0].len, 2);
    assert_false(w->out[0].complete);
    free(w->out[0].data);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#if defined(__GLIBC__)
/* Thousands may wait for others. */
TEST(a_small_section_takes_little_memory) {
    struct world *w = *state;

    data(w, 1, START | END, "x");
    assert_int_equal(w->ended, 1);
    assert_true(malloc_usable_size(w->out[0].data) < 64);
    expect(w, 0, "x", 1, true);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        T(a_section_of_one_piece_is_complete),
        T(pieces_are_joined),
        T(a_hole_inside_keeps_its_place),
        T(a_gap_at_the_end_ends_the_section),
        T(a_gap_into_the_next_sections_cuts_at_both_ends),
#if defined(__GLIBC__)
        T(a_small_section_takes_little_memory),
#endif
        T(a_restart_ends_open_sessions),
        T(a_gap_between_sections_says_nothing),
        T(a_section_larger_than_allowed_is_cut),
        T(a_huge_gap_inside_takes_no_more_memory_than_allowed),
        T(a_gap_much_longer_than_the_rest_cuts_the_section),
        T(the_end_of_the_stream_delivers_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
