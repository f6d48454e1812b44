/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/support/alloc.h"

#include <stdlib.h>
#include <string.h>

/* In front of each block, aligned for any type. */
union header {
    size_t size;
    max_align_t align;
};

static void release(struct test_alloc *a, void *ptr) {
    union header *h = ptr;
    if (ptr != NULL) {
        h--;
        a->live -= h->size;
        a->blocks--;
        free(h);
    }
}

/* Always moves, which exposes pointers kept across a resize. */
static void *obtain(struct test_alloc *a, void *old, size_t size) {
    union header *h = malloc(sizeof(*h) + size);
    size_t keep = old != NULL ? ((union header *)old - 1)->size : 0;
    if (h == NULL) {
        return NULL;
    }
    h->size = size;
    memset(h + 1, 0xa5, size); /* new memory must not be zero by chance */
    if (keep != 0) {
        memcpy(h + 1, old, keep < size ? keep : size);
    }
    release(a, old);
    a->live += size;
    a->blocks++;
    if (a->live > a->peak) {
        a->peak = a->live;
    }
    return h + 1;
}

void *test_alloc_realloc(void *user, void *ptr, size_t size) {
    struct test_alloc *a = user;
    if (size == 0) {
        release(a, ptr);
        return NULL;
    }
    a->calls++;
    if (a->calls == a->fail_at ||
        (a->fail_from != 0 && a->calls >= a->fail_from) ||
        (a->limit != 0 && a->live + size > a->limit)) {
        return NULL;
    }
    return obtain(a, ptr, size);
}
