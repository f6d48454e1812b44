/* SPDX-License-Identifier: MPL-2.0 */
/* Open addressing, linear probing. */
#include "internal/common/tally.h"

#define CAP_FIRST 16u

void cmn__tally_init(cmn__tally *t, const cmn__mem *mem) {
    *t = (cmn__tally){.mem = *mem};
}

void cmn__tally_free(cmn__tally *t) {
    cmn__free(&t->mem, t->entry);
    cmn__tally_init(t, &t->mem);
}

static struct cmn__tally_entry *slot(const cmn__tally *t, uint64_t key) {
    size_t i = (size_t)key & (t->cap - 1);
    while (t->entry[i].key != 0 && t->entry[i].key != key) {
        i = (i + 1) & (t->cap - 1);
    }
    return &t->entry[i];
}

uint64_t cmn__tally_get(const cmn__tally *t, uint64_t key) {
    return t->cap > 0 ? slot(t, key)->count : 0;
}

uint64_t *cmn__tally_more(const cmn__tally *t, uint64_t key) {
    struct cmn__tally_entry *e = t->cap > 0 ? slot(t, key) : NULL;
    return e != NULL && e->key != 0 ? e->more : NULL;
}

static int widen(cmn__tally *t) {
    cmn__tally wide = *t;
    wide.cap = t->cap > 0 ? 2 * t->cap : CAP_FIRST;
    wide.entry = cmn__alloc(&t->mem, wide.cap * sizeof(*wide.entry));
    if (wide.entry == NULL) {
        return -1;
    }
    for (size_t i = 0; i < t->cap; i++) {
        if (t->entry[i].key != 0) {
            *slot(&wide, t->entry[i].key) = t->entry[i];
        }
    }
    cmn__free(&t->mem, t->entry);
    *t = wide;
    return 0;
}

int cmn__tally_up(cmn__tally *t, uint64_t key) {
    struct cmn__tally_entry *e;
    if (2 * (t->len + 1) > t->cap && widen(t) != 0) {
        return -1;
    }
    e = slot(t, key);
    t->len += e->key == 0;
    e->key = key;
    e->count++;
    return 0;
}

void cmn__tally_down(cmn__tally *t, uint64_t key) {
    struct cmn__tally_entry *e = slot(t, key);
    size_t i = (size_t)(e - t->entry);
    if (e->key == 0 || --e->count > 0) {
        return;
    }
    *e = (struct cmn__tally_entry){0};
    t->len--;
    /* Later entries may have been displaced by this one: reinsert them. */
    for (i = (i + 1) & (t->cap - 1); t->entry[i].key != 0;
         i = (i + 1) & (t->cap - 1)) {
        struct cmn__tally_entry moved = t->entry[i];
        t->entry[i] = (struct cmn__tally_entry){0};
        *slot(t, moved.key) = moved;
    }
}
