/* SPDX-License-Identifier: MPL-2.0 */
/* The sessions of an engine, by handle and by host, Id and role. */
#include "libsaratoga/engine/table.h"

#include <saratoga/types.h>

#define FREE UINT32_MAX
#define FIRST 16u
#define INDEX_BITS 24

void saratoga__table_init(saratoga__table *t, const cmn__mem *mem, uint32_t max,
                          uint64_t salt) {
    *t = (saratoga__table){.mem = mem, .max = max, .salt = salt};
    cmn__tally_init(&t->of_host, mem);
}

void saratoga__table_free(saratoga__table *t) {
    cmn__free(t->mem, t->session);
    cmn__free(t->mem, t->generation);
    cmn__free(t->mem, t->cell);
    cmn__tally_free(&t->of_host);
    *t = (saratoga__table){.mem = t->mem};
}

static bool same(const saratoga__key *a, const saratoga__key *b) {
    return a->host == b->host && a->id == b->id && a->sends == b->sends;
}

/* Salted: peers choose the Ids, and may choose among addresses. */
static uint64_t mixed_host(const saratoga__table *t, uint64_t host) {
    uint64_t x = host ^ t->salt;
    return (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
}

/* A key of the counters, where 0 means none. */
static uint64_t host_key(const saratoga__table *t, uint64_t host) {
    uint64_t x = mixed_host(t, host);
    x ^= x >> 32;
    return x != 0 ? x : 1;
}

static uint32_t table_bucket(const saratoga__table *t, const saratoga__key *k) {
    uint64_t x = mixed_host(t, k->host);
    x ^= (uint64_t)k->id << 1 | (k->sends ? 1 : 0);
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 32;
    return (uint32_t)x & (t->cells - 1);
}

static void table_put(saratoga__table *t, const saratoga__key *key,
                      uint32_t index) {
    uint32_t at = table_bucket(t, key);
    while (t->cell[at].index != FREE) {
        at = (at + 1) & (t->cells - 1);
    }
    t->used += t->cell[at].gone ? 0 : 1;
    t->cell[at] = (saratoga__cell){.key = *key, .index = index};
}

static bool table_rehash(saratoga__table *t, uint32_t cells) {
    saratoga__cell *old = t->cell;
    uint32_t n = t->cells;
    saratoga__cell *fresh = cmn__resize(t->mem, NULL, cells * sizeof(*fresh));
    if (fresh == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < cells; i++) {
        fresh[i] = (saratoga__cell){.index = FREE};
    }
    t->cell = fresh;
    t->cells = cells;
    t->used = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (old[i].index != FREE) {
            table_put(t, &old[i].key, old[i].index);
        }
    }
    cmn__free(t->mem, old);
    return true;
}

static bool table_grow(saratoga__table *t) {
    uint32_t cap = t->cap == 0 ? FIRST : 2 * t->cap;
    struct saratoga__session **s =
        /* NOLINTNEXTLINE(bugprone-sizeof-expression): pointers are wanted */
        cmn__resize(t->mem, t->session, cap * sizeof(*s));
    uint32_t *g;
    if (s == NULL) {
        return false;
    }
    t->session = s;
    g = cmn__resize(t->mem, t->generation, cap * sizeof(*g));
    if (g == NULL) {
        return false;
    }
    t->generation = g;
    for (uint32_t i = t->cap; i < cap; i++) {
        s[i] = NULL;
        g[i] = 1;
    }
    t->hint = t->cap;
    t->cap = cap;
    return true;
}

/* Makes room for one more cell. */
static bool make_room(saratoga__table *t) {
    return 2 * (t->used + 1) <= t->cells ||
           table_rehash(t, t->cells == 0             ? 4 * FIRST
                           : 4 * t->count > t->cells ? 2 * t->cells
                                                     : t->cells);
}

int saratoga__table_add(saratoga__table *t, struct saratoga__session *s,
                        const saratoga__key *key, uint32_t *index,
                        uint64_t *handle) {
    uint32_t at;
    if (t->count >= t->max) {
        return SARATOGA_ERR_LIMIT;
    }
    if ((t->count == t->cap && !table_grow(t)) || !make_room(t) ||
        cmn__tally_up(&t->of_host, host_key(t, key->host)) != 0) {
        return SARATOGA_ERR_NOMEM;
    }
    at = t->hint;
    while (t->session[at & (t->cap - 1)] != NULL) {
        at++;
    }
    at &= t->cap - 1;
    t->hint = at + 1;
    t->session[at] = s;
    t->count++;
    table_put(t, key, at);
    *index = at;
    *handle = (uint64_t)t->generation[at] << INDEX_BITS | at;
    return 0;
}

static saratoga__cell *table_find(const saratoga__table *t,
                                  const saratoga__key *key) {
    uint32_t at;
    if (t->cells == 0) {
        return NULL;
    }
    at = table_bucket(t, key);
    while (t->cell[at].index != FREE || t->cell[at].gone) {
        if (t->cell[at].index != FREE && same(&t->cell[at].key, key)) {
            return &t->cell[at];
        }
        at = (at + 1) & (t->cells - 1);
    }
    return NULL;
}

static void unlink_key(saratoga__table *t, uint32_t index,
                       const saratoga__key *key) {
    saratoga__cell *c = table_find(t, key);
    if (c != NULL && c->index == index) {
        c->index = FREE;
        c->gone = true;
    }
}

bool saratoga__table_rekey(saratoga__table *t, uint32_t index,
                           const saratoga__key *old, const saratoga__key *key) {
    if (!make_room(t) ||
        cmn__tally_up(&t->of_host, host_key(t, key->host)) != 0) {
        return false;
    }
    cmn__tally_down(&t->of_host, host_key(t, old->host));
    unlink_key(t, index, old);
    table_put(t, key, index);
    return true;
}

void saratoga__table_remove(saratoga__table *t, uint32_t index,
                            const saratoga__key *key) {
    unlink_key(t, index, key);
    cmn__tally_down(&t->of_host, host_key(t, key->host));
    t->session[index] = NULL;
    t->generation[index]++;
    t->count--;
}

struct saratoga__session *saratoga__table_by_handle(const saratoga__table *t,
                                                    uint64_t handle) {
    uint32_t index = (uint32_t)(handle & ((1u << INDEX_BITS) - 1));
    if (index >= t->cap || handle >> INDEX_BITS != t->generation[index]) {
        return NULL;
    }
    return t->session[index];
}

struct saratoga__session *saratoga__table_by_key(const saratoga__table *t,
                                                 const saratoga__key *key) {
    const saratoga__cell *c = table_find(t, key);
    return c != NULL ? t->session[c->index] : NULL;
}

void saratoga__table_discount(saratoga__table *t, uint64_t host) {
    cmn__tally_down(&t->of_host, host_key(t, host));
}

void saratoga__table_recount(saratoga__table *t, uint64_t host) {
    /* Without memory there is no entry, and the removal finds none. */
    (void)cmn__tally_up(&t->of_host, host_key(t, host));
}

uint64_t saratoga__table_of_host(const saratoga__table *t, uint64_t host) {
    return cmn__tally_get(&t->of_host, host_key(t, host));
}
