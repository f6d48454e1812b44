/* SPDX-License-Identifier: MPL-2.0 */
/* Sparse storage: pages by number, between two moving ends. */
#include "internal/common/pages.h"

#include <assert.h>
#include <string.h>

#define GROUP 64u        /* pages */
#define SPARES_MAX 1024u /* pages kept for reuse */
#define SPARE_GROUPS_MAX (SPARES_MAX / GROUP)

struct cmn__page_group {
    void *page[GROUP];
};

void cmn__pages_init(cmn__pages *p, const cmn__mem *mem, size_t size,
                     bool zeroed) {
    *p = (cmn__pages){.mem = mem, .size = size, .zeroed = zeroed};
}

static struct cmn__page_group **pages_group(const cmn__pages *p, uint64_t n) {
    return &p->group[(size_t)(n / GROUP) & (p->cap - 1)];
}

static inline void *pages_find(const cmn__pages *p, uint64_t n) {
    const struct cmn__page_group *g;
    if (n < p->first || n >= p->end) {
        return NULL;
    }
    g = *pages_group(p, n);
    return g != NULL ? g->page[n % GROUP] : NULL;
}

/* Makes room in the table for the group of page n. */
static int pages_widen(cmn__pages *p, uint64_t n) {
    cmn__pages wide = *p;
    uint64_t span = n / GROUP - p->first / GROUP + 1;
    if (span <= p->cap) {
        return 0;
    }
    wide.cap = p->cap > 0 ? p->cap : 1;
    while (wide.cap < span) {
        wide.cap *= 2;
    }
    wide.group =
        cmn__alloc(p->mem, wide.cap * sizeof(struct cmn__page_group *));
    if (wide.group == NULL) {
        return -1;
    }
    for (uint64_t i = p->first / GROUP; p->cap > 0 && i * GROUP < p->end; i++) {
        *pages_group(&wide, i * GROUP) = *pages_group(p, i * GROUP);
    }
    wide.bytes += (wide.cap - p->cap) * sizeof(struct cmn__page_group *);
    cmn__free(p->mem, p->group);
    *p = wide;
    return 0;
}

/* The first bytes of a spare page point to the next one. */
static void *pages_spare(cmn__pages *p) {
    void *page = p->spare;
    if (page != NULL) {
        memcpy(&p->spare, page, sizeof(p->spare));
        p->spares--;
    }
    return page;
}

static void *pages_new(cmn__pages *p) {
    void *page = pages_spare(p);
    if (page == NULL) {
        page = cmn__resize(p->mem, NULL, p->size);
        p->bytes += page != NULL ? p->size : 0;
    }
    if (page != NULL && p->zeroed) {
        memset(page, 0, p->size);
    }
    return page;
}

static void pages_give_back(cmn__pages *p, void *page) {
    if (p->spares < SPARES_MAX) {
        memcpy(page, &p->spare, sizeof(p->spare));
        p->spare = page;
        p->spares++;
        return;
    }
    cmn__free(p->mem, page);
    p->bytes -= p->size;
}

/* The first page of a spare group is the next such group. */
static struct cmn__page_group *pages_spare_group(cmn__pages *p) {
    struct cmn__page_group *g = p->spare_group;
    if (g != NULL) {
        p->spare_group = g->page[0];
        g->page[0] = NULL;
        p->spare_groups--;
    }
    return g;
}

static struct cmn__page_group *pages_new_group(cmn__pages *p) {
    struct cmn__page_group *g = pages_spare_group(p);
    if (g == NULL) {
        g = cmn__alloc(p->mem, sizeof(*g));
        p->bytes += g != NULL ? sizeof(*g) : 0;
    }
    return g;
}

static void pages_give_back_group(cmn__pages *p, struct cmn__page_group *g) {
    if (p->spare_groups < SPARE_GROUPS_MAX) {
        g->page[0] = p->spare_group;
        p->spare_group = g;
        p->spare_groups++;
        return;
    }
    cmn__free(p->mem, g);
    p->bytes -= sizeof(*g);
}

void *cmn__pages_take(cmn__pages *p, uint64_t n) {
    struct cmn__page_group **g;
    void **page;
    assert(n >= p->first);
    if (pages_widen(p, n) != 0) {
        return NULL;
    }
    g = pages_group(p, n);
    if (*g == NULL) {
        *g = pages_new_group(p);
    }
    if (*g == NULL) {
        return NULL;
    }
    p->end = n >= p->end ? n + 1 : p->end;
    page = &(*g)->page[n % GROUP];
    if (*page == NULL) {
        *page = pages_new(p);
    }
    return *page;
}

void *cmn__pages_at(const cmn__pages *p, uint64_t n) {
    return pages_find(p, n);
}

bool cmn__pages_need_memory(const cmn__pages *p, uint64_t first,
                            uint64_t last) {
    if (p->spares > last - first && p->spare_groups > 0) {
        return false;
    }
    while (first <= last && pages_find(p, first) != NULL) {
        first++;
    }
    return first <= last;
}

/* Drops the pages of one group below n, and the group once it is empty. */
static void pages_drop_group(cmn__pages *p, uint64_t n) {
    struct cmn__page_group **g = pages_group(p, p->first);
    uint64_t next = (p->first / GROUP + 1) * GROUP;
    uint64_t stop = n < next ? n : next;
    for (; *g != NULL && p->first < stop; p->first++) {
        void **page = &(*g)->page[p->first % GROUP];
        if (*page != NULL) {
            pages_give_back(p, *page);
            *page = NULL;
        }
    }
    p->first = stop;
    if (*g != NULL && stop == next) { /* the group is empty */
        pages_give_back_group(p, *g);
        *g = NULL;
    }
}

void cmn__pages_drop(cmn__pages *p, uint64_t n) {
    /* the group of `first` may exist, empty, after `end` is reached */
    while (p->cap > 0 && p->first < n && p->first / GROUP * GROUP < p->end) {
        pages_drop_group(p, n);
    }
    p->first = p->first < n ? n : p->first;
    p->end = p->end < p->first ? p->first : p->end;
}

void cmn__pages_free(cmn__pages *p) {
    void *page;
    cmn__pages_drop(p, p->end);
    if (p->cap > 0) { /* drop() keeps the last group for later pages */
        cmn__free(p->mem, *pages_group(p, p->first));
    }
    while ((page = pages_spare(p)) != NULL) {
        cmn__free(p->mem, page);
    }
    while ((page = pages_spare_group(p)) != NULL) {
        cmn__free(p->mem, page);
    }
    cmn__free(p->mem, p->group);
    cmn__pages_init(p, p->mem, p->size, p->zeroed);
}

int cmn__pages_reserve(cmn__pages *p, uint64_t start, uint64_t end) {
    uint64_t stop = (end + CMN__PAGE_BYTES - 1) / CMN__PAGE_BYTES;
    for (uint64_t n = start / CMN__PAGE_BYTES; n < stop; n++) {
        if (pages_find(p, n) == NULL && cmn__pages_take(p, n) == NULL) {
            return -1;
        }
    }
    return 0;
}

/* How many of len bytes from `at` lie in one page, which is *page. */
static size_t pages_straight(const cmn__pages *p, uint64_t at, size_t len,
                             uint8_t **page) {
    size_t offset = (size_t)at & (p->size - 1);
    size_t room = p->size - offset;
    *page = (uint8_t *)pages_find(p, at / CMN__PAGE_BYTES) + offset;
    return len < room ? len : room;
}

void cmn__pages_put(cmn__pages *p, uint64_t at, const void *data, size_t len) {
    const uint8_t *from = data;
    while (len > 0) {
        uint8_t *page;
        size_t n = pages_straight(p, at, len, &page);
        memcpy(page, from, n);
        at += n;
        from += n;
        len -= n;
    }
}

void cmn__pages_get(const cmn__pages *p, uint64_t at, void *data, size_t len) {
    uint8_t *to = data;
    while (len > 0) {
        uint8_t *page;
        size_t n = pages_straight(p, at, len, &page);
        memcpy(to, page, n);
        at += n;
        to += n;
        len -= n;
    }
}
