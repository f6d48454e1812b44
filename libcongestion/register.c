/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Controllers that the program registers.
 *
 * This table is the library's only global state. It only grows: a slot changes
 * from NULL to a table once and never again, so readers need no lock and the
 * result of cong_find() stays valid.
 */
#include <congestion/congestion.h>

#include "libcongestion/internal.h"

#include <stdatomic.h>
#include <string.h>

static _Atomic(const struct cong_ops *) slots[CONG_REGISTER_MAX];

static bool register_complete(const struct cong_ops *ops) {
    return ops != NULL && ops->name != NULL && ops->name[0] != '\0' &&
           ops->size >= sizeof(struct cong) && ops->init != NULL &&
           ops->ack != NULL && ops->event != NULL;
}

int cong_register(const struct cong_ops *ops) {
    if (!register_complete(ops)) {
        return -1;
    }
    if (cong__find_builtin(ops->name) != NULL) {
        return -2;
    }
    /* Slots fill from the front, so two threads with the same name compete for
     * one slot. */
    for (size_t i = 0; i < CONG_REGISTER_MAX; i++) {
        const struct cong_ops *held = NULL;
        if (atomic_compare_exchange_strong(&slots[i], &held, ops) ||
            held == ops) {
            return 0;
        }
        if (strcmp(held->name, ops->name) == 0) {
            return -2;
        }
    }
    return -3;
}

const struct cong_ops *cong_find(const char *name) {
    if (name == NULL) {
        return NULL;
    }
    const struct cong_ops *ops = cong__find_builtin(name);
    for (size_t i = 0; ops == NULL && i < CONG_REGISTER_MAX; i++) {
        const struct cong_ops *held = atomic_load(&slots[i]);
        if (held == NULL) {
            break;
        }
        if (strcmp(held->name, name) == 0) {
            ops = held;
        }
    }
    return ops;
}
