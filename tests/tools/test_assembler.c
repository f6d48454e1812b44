/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "tests/support/cmocka.h"
#include "tools/assembler.h"

#define START TL_SECTION_START
#define END TL_SECTION_END

/* Feeds a piece that must be taken at once. */
static int feed(struct assembler *a, uint32_t kind, uint32_t flags,
                uint64_t section, const char *text) {
    struct tltcp_segment s = {.kind = kind, .flags = flags, .section = section};
    bool taken = false;
    int result = (int)assembler_piece(a, &s, kind == TL_DATA ? text : NULL,
                                      strlen(text), &taken);
    assert_true(taken);
    return result;
}

static void expect(const struct assembler *a, const char *text) {
    assert_int_equal(a->len, strlen(text));
    assert_memory_equal(a->data, text, strlen(text));
}

static int setup(void **state) {
    static struct assembler a;
    assembler_init(&a, 100);
    *state = &a;
    return 0;
}

static int teardown(void **state) {
    assembler_free(*state);
    return 0;
}

static void pieces_become_one_section(void **state) {
    struct assembler *a = *state;
    assert_int_equal(feed(a, TL_DATA, START, 0, "ab"), ASSEMBLER_MORE);
    assert_int_equal(feed(a, TL_DATA, 0, 0, "cd"), ASSEMBLER_MORE);
    assert_int_equal(feed(a, TL_DATA, END, 0, "e"), ASSEMBLER_WHOLE);
    expect(a, "abcde");
    assert_int_equal(feed(a, TL_DATA, START | END, 1, "x"), ASSEMBLER_WHOLE);
    expect(a, "x");
    assert_int_equal(assembler_end(a), ASSEMBLER_MORE);
}

static void a_gap_inside_leaves_the_beginning(void **state) {
    struct assembler *a = *state;
    (void)feed(a, TL_DATA, START, 0, "ab");
    assert_int_equal(feed(a, TL_GAP, 0, 0, "??"), ASSEMBLER_MORE);
    assert_int_equal(feed(a, TL_DATA, END, 0, "ef"), ASSEMBLER_CUT);
    expect(a, "ab");
}

static void a_gap_at_the_end_cuts_at_once(void **state) {
    struct assembler *a = *state;
    (void)feed(a, TL_DATA, START, 0, "ab");
    assert_int_equal(feed(a, TL_GAP, END, 0, "??"), ASSEMBLER_CUT);
    expect(a, "ab");
    assert_int_equal(assembler_end(a), ASSEMBLER_MORE);
}

static void a_gap_at_the_beginning_leaves_nothing(void **state) {
    struct assembler *a = *state;
    assert_int_equal(feed(a, TL_GAP, START, 0, "??"), ASSEMBLER_MORE);
    assert_int_equal(feed(a, TL_DATA, END, 0, "cd"), ASSEMBLER_CUT);
    expect(a, "");
}

static void whole_sections_that_are_missing_are_no_cut_ones(void **state) {
    struct assembler *a = *state;
    assert_int_equal(feed(a, TL_GAP, START | END, 0, "????"), ASSEMBLER_MORE);
    assert_int_equal(feed(a, TL_DATA, START | END, 3, "x"), ASSEMBLER_WHOLE);
}

static void a_gap_over_several_sections_closes_the_open_one(void **state) {
    struct assembler *a = *state;
    struct tltcp_segment s = {.kind = TL_DATA, .flags = END, .section = 2};
    bool taken = true;
    (void)feed(a, TL_DATA, START, 0, "ab");
    assert_int_equal(feed(a, TL_GAP, 0, 0, "??????"), ASSEMBLER_MORE);
    /* section 2 goes on behind the gap: first section 0 is reported */
    assert_int_equal(assembler_piece(a, &s, "yz", 2, &taken), ASSEMBLER_CUT);
    assert_false(taken);
    expect(a, "ab");
    assert_int_equal(assembler_piece(a, &s, "yz", 2, &taken), ASSEMBLER_CUT);
    assert_true(taken);
    expect(a, "");
}

static void an_unfinished_section_is_cut_by_the_end(void **state) {
    struct assembler *a = *state;
    (void)feed(a, TL_DATA, START, 0, "ab");
    assert_int_equal(assembler_end(a), ASSEMBLER_CUT);
    expect(a, "ab");
    assert_int_equal(assembler_end(a), ASSEMBLER_MORE);
}

static void a_section_that_is_too_large_takes_no_memory(void **state) {
    struct assembler *a = *state;
    char text[61];
    memset(text, 'x', sizeof(text) - 1);
    text[60] = '\0';
    assert_int_equal(feed(a, TL_DATA, START, 0, text), ASSEMBLER_MORE);
    assert_int_equal(feed(a, TL_DATA, 0, 0, text), ASSEMBLER_TOO_BIG);
    assert_int_equal(feed(a, TL_DATA, 0, 0, text), ASSEMBLER_MORE);
    assert_int_equal(feed(a, TL_DATA, END, 0, text), ASSEMBLER_CUT);
    assert_int_equal(feed(a, TL_DATA, START | END, 1, "x"), ASSEMBLER_WHOLE);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(pieces_become_one_section),
        T(a_gap_inside_leaves_the_beginning),
        T(a_gap_at_the_end_cuts_at_once),
        T(a_gap_at_the_beginning_leaves_nothing),
        T(whole_sections_that_are_missing_are_no_cut_ones),
        T(a_gap_over_several_sections_closes_the_open_one),
        T(an_unfinished_section_is_cut_by_the_end),
        T(a_section_that_is_too_large_takes_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
