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

TEST(a_node_that_finds_no_memory_says_so) {
    saratoga_node_config c;
    saratoga_node *node;
    char why[SARATOGA_NODE_TEXT];
    int callocs = 0;

    saratoga_node_config_init(&c);
    c.host = "127.0.0.1";
    do {
        int rv;

        has_failed = false;
        callocs_left = callocs++;
        rv = saratoga_node_open(&node, &c, why);
        callocs_left = -1;
        assert_int_equal(rv, has_failed ? SARATOGA_ERR_NOMEM : 0);
        assert_true((why[0] != '\0') == has_failed);
        saratoga_node_close(node);
    } while (has_failed);
    assert_in_range(callocs, 3, 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            every_transfer_is_reported_although_memory_is_short, pair_set_up,
            pair_tear_down),
        cmocka_unit_test(a_node_that_finds_no_memory_says_so)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
