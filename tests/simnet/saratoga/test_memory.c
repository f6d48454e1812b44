/* SPDX-License-Identifier: MPL-2.0 */
/* Complete transfers in which each allocation in turn fails. */
#include <inttypes.h>

#include "tests/simnet/saratoga/pass.h"
#include "tests/support/alloc.h"

/* How often memory was asked for when the request `at` failed, or all from it
 * on for 20 s; 0 for `at`: none. */
static uint64_t transfer(uint32_t type, uint64_t at, bool lasting) {
    const struct plan p = {4e6, 1e6, 100 * MSEC, 0.1, 0.1, 3};
    struct test_alloc a = {.calls = 0};
    saratoga_config c;
    struct world w;
    struct host *from;
    struct host *to;
    struct xfer *x;
    uint64_t before;
    saratoga_config_init(&c);
    c.allocator = (saratoga_allocator){test_alloc_realloc, &a};
    w = world_new(&p, &c, &c);
    before = a.calls;
    a.fail_at = lasting || at == 0 ? 0 : before + at;
    a.fail_from = lasting && at > 0 ? before + at : 0;
    from = type == SARATOGA_GET ? w.sat : w.ground;
    to = type == SARATOGA_GET ? w.ground : w.sat;
    (void)host_make_file(from, "f", 60000, 1);
    x = host_start(w.ground, w.sat, type, "f", NULL, NULL);
    if (x != NULL) {
        world_finish(&w, x, 20 * SEC);
        a.fail_from = 0;
        world_finish(&w, x, 200 * SEC);
        if (!x->done && a.calls >= before + at) {
            fail_msg("request %" PRIu64 ": the transfer does not end", at);
        }
        if (x->done && x->end.error == 0) {
            assert_true(
                host_same(host_find_file(from, "f"), host_find_file(to, "f")));
        }
    }
    world_free(&w);
    assert_int_equal(a.blocks, 0);
    return a.calls - before;
}

static void starve(bool lasting) {
    static const uint32_t types[] = {SARATOGA_GET, SARATOGA_PUT};
    for (int i = 0; i < 2; i++) {
        uint64_t all = transfer(types[i], 0, false);
        assert_true(all > 20);
        for (uint64_t at = 1; at <= all; at++) {
            (void)transfer(types[i], at, lasting);
        }
    }
}

TEST(any_single_request_may_fail) {
    starve(false);
}

TEST(transfers_outlive_a_time_without_memory) {
    starve(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_single_request_may_fail),
        cmocka_unit_test(transfers_outlive_a_time_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
