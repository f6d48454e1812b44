/* SPDX-License-Identifier: MPL-2.0 */
/* A hash table from keys to several sessions each. */
#include "libsaratoga/engine/multimap.h"

void saratoga__multimap_init(saratoga__multimap *x, const cmn__mem *mem) {
    *x = (saratoga__multimap){.mem = mem, .buckets = SARATOGA__MULTIMAP_FIRST};
    x->bucket = x->few;
}

void saratoga__multimap_free(saratoga__multimap *x) {
    if (x->bucket != x->few) {
        cmn__free(x->mem, x->bucket);
    }
}

static void multimap_link(saratoga__multimap *x, saratoga__link *l) {
    saratoga__link **at = &x->bucket[l->key & (x->buckets - 1)];
    l->next = *at;
    l->at = at;
    if (l->next != NULL) {
        l->next->at = &l->next;
    }
    *at = l;
}

static void multimap_grow(saratoga__multimap *x) {
    saratoga__multimap wide = *x;
    wide.buckets = 2 * x->buckets;
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): pointers are wanted */
    wide.bucket = cmn__alloc(x->mem, wide.buckets * sizeof(*wide.bucket));
    if (wide.bucket == NULL) {
        return;
    }
    for (uint32_t i = 0; i < x->buckets; i++) {
        while (x->bucket[i] != NULL) {
            saratoga__link *l = x->bucket[i];
            x->bucket[i] = l->next;
            multimap_link(&wide, l);
        }
    }
    saratoga__multimap_free(x);
    x->bucket = wide.bucket;
    x->buckets = wide.buckets;
}

void saratoga__multimap_put(saratoga__multimap *x, saratoga__link *l,
                            struct saratoga__session *s, uint64_t key) {
    if (x->count >= x->buckets) {
        multimap_grow(x);
    }
    l->session = s;
    l->key = key;
    multimap_link(x, l);
    x->count++;
}

void saratoga__multimap_remove(saratoga__multimap *x, saratoga__link *l) {
    if (l->at == NULL) {
        return;
    }
    *l->at = l->next;
    if (l->next != NULL) {
        l->next->at = l->at;
    }
    l->at = NULL;
    x->count--;
}

static saratoga__link *with_key(saratoga__link *l, uint64_t key) {
    while (l != NULL && l->key != key) {
        l = l->next;
    }
    return l;
}

saratoga__link *saratoga__multimap_first(const saratoga__multimap *x,
                                         uint64_t key) {
    return with_key(x->bucket[key & (x->buckets - 1)], key);
}

saratoga__link *saratoga__multimap_next(const saratoga__link *l) {
    return with_key(l->next, l->key);
}
