/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TESTS_UNIT_COMMON_COUNTED_H
#define TESTS_UNIT_COMMON_COUNTED_H

#include "internal/common/mem.h"
#include "tests/support/alloc.h"
#include "tests/support/cmocka.h"

/* A test's memory: none may be left at its end. */
struct counted {
    struct test_alloc alloc;
    cmn__mem mem;
};

static inline int counted_setup(void **state) {
    static struct counted c;
    memset(&c, 0, sizeof(c));
    c.mem = (cmn__mem){test_alloc_realloc, &c.alloc};
    *state = &c;
    return 0;
}

static inline int counted_teardown(void **state) {
    const struct counted *c = *state;
    return c->alloc.blocks == 0 ? 0 : -1;
}

#endif /* TESTS_UNIT_COMMON_COUNTED_H */
