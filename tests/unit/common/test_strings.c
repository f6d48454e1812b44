/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "internal/common/strings.h"
#include "tests/support/alloc.h"
#include "tests/support/cmocka.h"

/* As in the options of the libraries. */
struct options {
    const char *congestion;
    const char *recovery;
    const char *const *names;
    const double *values;
};

static void *copy(struct options *o, struct test_alloc *a) {
    const cmn__mem mem = {test_alloc_realloc, a};

    return cmn__strings_copy(
        &mem, &(cmn__strings){.text = {&o->congestion, &o->recovery},
                              .names = &o->names,
                              .values = &o->values});
}

static void release(void *block, struct test_alloc *a) {
    const cmn__mem mem = {test_alloc_realloc, a};

    cmn__free(&mem, block);
    assert_int_equal(a->blocks, 0);
}

TEST(a_copy_outlives_what_was_copied) {
    char text[] = "cubic";
    char first[] = "beta";
    char second[] = "c";
    const char *names[] = {first, second, NULL};
    double values[] = {0.5, 0.25};
    struct options o = {.congestion = text, .names = names, .values = values};
    struct test_alloc a = {.limit = 1000};
    void *block = copy(&o, &a);

    assert_non_null(block);
    memset(text, 'x', sizeof(text));
    memset(first, 'x', sizeof(first));
    memset(second, 'x', sizeof(second));
    names[0] = NULL;
    values[0] = 0;
    values[1] = 0;
    assert_string_equal(o.congestion, "cubic");
    assert_null(o.recovery);
    assert_string_equal(o.names[0], "beta");
    assert_string_equal(o.names[1], "c");
    assert_null(o.names[2]);
    assert_true(o.values[0] == 0.5);
    assert_true(o.values[1] == 0.25);
    release(block, &a);
}

TEST(nothing_to_copy_is_no_error) {
    struct options o = {.congestion = NULL};
    struct test_alloc a = {.limit = 1000};
    void *block = copy(&o, &a);

    assert_non_null(block);
    assert_null(o.congestion);
    assert_null(o.names);
    assert_null(o.values);
    release(block, &a);
}

TEST(without_memory_nothing_changes) {
    static const char text[] = "cubic";
    struct options o = {.congestion = text};
    struct test_alloc a = {.limit = 1};

    assert_null(copy(&o, &a));
    assert_ptr_equal(o.congestion, text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_outlives_what_was_copied),
        cmocka_unit_test(nothing_to_copy_is_no_error),
        cmocka_unit_test(without_memory_nothing_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
