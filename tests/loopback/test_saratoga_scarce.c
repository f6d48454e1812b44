/* SPDX-License-Identifier: MPL-2.0 */
/* Nodes while memory is short. */
#include <stdlib.h>

#include "tests/loopback/saratoga_pair.h"

/* How many callocs of the nodes succeed before one fails; -1: all do. */
static int callocs_left = -1;
static bool has_failed;

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *__wrap_calloc(size_t count, size_t size) {
    if (callocs_left >= 0 && callocs_left-- == 0) {
        has_failed = true;
        return NULL;
    }
    return __real_calloc(count, size);
}

TEST(every_transfer_is_reported_although_memory_is_short) {
    struct pair *p = *state;
    unsigned transfers = 0;
    char name[16];

    make_file(p->here, "f", FILE_LEN, 1);
    open_pair(p, false, 0);
    do {
        has_failed = false;
        (void)snprintf(name, sizeof(name), "f%u", transfers);
        (void)ask(p, SARATOGA_GET, "f", name);
        callocs_left = (int)transfers;
        wait_for(p, ++transfers);
        callocs_left = -1;
    } while (has_failed);
    assert_int_equal(p->last.error, 0);
    assert_in_range(transfers, 3, 100);
    expect_file(p->there, name, FILE_LEN, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(
        every_transfer_is_reported_although_memory_is_short, pair_set_up,
        pair_tear_down)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
