/* SPDX-License-Identifier: MPL-2.0 */
/* A set of disjoint ranges, kept sorted in blocks. */
#include "internal/common/ranges.h"

#include <assert.h>
#include <string.h>

#define BLOCK_MAX 64u
#define BLOCK_FIRST 1u /* most sets have no other range */

struct cmn__range_block {
    cmn__range *at;
    uint32_t len;
    uint32_t cap;
};

typedef struct cmn__range_block block;

/* A position: range i of block b; b == n_blocks: after the last. */
typedef struct place {
    uint32_t b;
    uint32_t i;
} place;

void cmn__ranges_init(cmn__ranges *r, const cmn__mem *mem, uint32_t max) {
    *r = (cmn__ranges){.mem = mem, .max = max};
}

void cmn__ranges_free(cmn__ranges *r) {
    for (uint32_t b = 0; b < r->n_blocks + r->spare; b++) {
        cmn__free(r->mem, r->block[b].at);
    }
    cmn__free(r->mem, r->block);
    cmn__ranges_init(r, r->mem, r->max);
}

void cmn__ranges_clear(cmn__ranges *r) {
    for (uint32_t b = 0; b < r->n_blocks; b++) {
        r->block[b].len = 0;
    }
    r->spare += r->n_blocks;
    r->n_blocks = 0;
    r->count = 0;
    r->total = 0;
}

void cmn__ranges_trim(cmn__ranges *r) {
    if (r->count == 0) {
        cmn__ranges_free(r);
    }
}

/* Whether what stands at x or above begins with the last range, or is nothing:
 * sets grow at their end. */
static bool find_last(const cmn__ranges *r, uint64_t x, place *p) {
    const block *k;
    *p = (place){r->n_blocks, 0};
    if (r->n_blocks == 0) {
        return true;
    }
    k = &r->block[r->n_blocks - 1];
    if (k->at[k->len - 1].end < x) {
        return true;
    }
    *p = (place){r->n_blocks - 1, k->len - 1};
    return k->at[k->len - 1].start <= x || r->count == 1;
}

static uint64_t top(const cmn__ranges *r, uint32_t b) {
    return r->block[b].at[r->block[b].len - 1].end;
}

/* The first block whose top is x or above. */
static uint32_t find_block(const cmn__ranges *r, uint64_t x) {
    uint32_t lo = 0;
    uint32_t hi = r->n_blocks;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (top(r, mid) >= x) {
            hi = mid;
        } else {
            lo = mid + 1;
        }
    }
    return lo;
}

static uint32_t find_in_block(const block *k, uint64_t x) {
    uint32_t lo = 0;
    uint32_t hi = k->len;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (k->at[mid].end >= x) {
            hi = mid;
        } else {
            lo = mid + 1;
        }
    }
    return lo;
}

/* The first range that ends at x or above. */
static place find(const cmn__ranges *r, uint64_t x) {
    place p;
    if (find_last(r, x, &p)) {
        return p;
    }
    p.b = find_block(r, x);
    p.i = p.b < r->n_blocks ? find_in_block(&r->block[p.b], x) : 0;
    return p;
}

static cmn__range *at(const cmn__ranges *r, place p) {
    return p.b < r->n_blocks ? &r->block[p.b].at[p.i] : NULL;
}

static place after(const cmn__ranges *r, place p) {
    if (p.i + 1 < r->block[p.b].len) {
        return (place){p.b, p.i + 1};
    }
    return (place){p.b + 1, 0};
}

/* Opens an empty block at position b. */
static int open_block(cmn__ranges *r, uint32_t b) {
    block fresh = {NULL, 0, 0};
    if (r->spare > 0) {
        fresh = r->block[r->n_blocks + r->spare - 1];
        r->spare--;
    } else if (r->n_blocks == r->cap_blocks) {
        uint32_t cap = r->cap_blocks == 0 ? 1 : 2 * r->cap_blocks;
        block *wide = cmn__resize(r->mem, r->block, cap * sizeof(block));
        if (wide == NULL) {
            return CMN__RANGES_NOMEM;
        }
        r->block = wide;
        r->cap_blocks = cap;
    }
    memmove(&r->block[b + 1], &r->block[b],
            (r->n_blocks + r->spare - b) * sizeof(block));
    r->block[b] = fresh;
    r->n_blocks++;
    return 0;
}

/* Moves the emptied block b to the spares. */
static void close_block(cmn__ranges *r, uint32_t b) {
    block empty = r->block[b];
    uint32_t behind = r->n_blocks + r->spare - b - 1;
    memmove(&r->block[b], &r->block[b + 1], behind * sizeof(block));
    r->block[b + behind] = empty;
    r->n_blocks--;
    r->spare++;
}

/* Small sets need little room; sets of several blocks fill their blocks. */
static uint32_t wider(const cmn__ranges *r, const block *k) {
    if (r->n_blocks > 1) {
        return BLOCK_MAX;
    }
    return k->cap == 0 ? BLOCK_FIRST : 4 * k->cap;
}

static int widen_block(cmn__ranges *r, block *k) {
    uint32_t cap = wider(r, k);
    cmn__range *wide = cmn__resize(r->mem, k->at, cap * sizeof(*wide));
    if (wide == NULL) {
        return CMN__RANGES_NOMEM;
    }
    k->at = wide;
    k->cap = cap;
    return 0;
}

/* Splits the full block b: its upper half becomes a new block. */
static int split_block(cmn__ranges *r, uint32_t b) {
    block *k;
    int rv = open_block(r, b + 1);
    while (rv == 0 && r->block[b + 1].cap < BLOCK_MAX) {
        rv = widen_block(r, &r->block[b + 1]);
    }
    if (rv != 0) {
        if (b + 1 < r->n_blocks && r->block[b + 1].len == 0) {
            close_block(r, b + 1);
        }
        return rv;
    }
    k = &r->block[b];
    memcpy(k[1].at, &k->at[BLOCK_MAX / 2], BLOCK_MAX / 2 * sizeof(*k->at));
    k[1].len = BLOCK_MAX / 2;
    k->len = BLOCK_MAX / 2;
    return 0;
}

/* Makes room for one more range in a block at or before p; p is corrected. */
static int make_room(cmn__ranges *r, place *p) {
    int rv = 0;
    if (p->i == 0 && p->b > 0) { /* an append fills the previous block */
        p->b--;
        p->i = r->block[p->b].len;
    }
    if (r->n_blocks == 0) {
        rv = open_block(r, 0);
    }
    if (rv == 0 && r->block[p->b].len == BLOCK_MAX) {
        if (p->i == BLOCK_MAX && p->b + 1 == r->n_blocks) {
            rv = open_block(r, ++p->b); /* growing at the end: keeps blocks
                                           full */
            p->i = 0;
        } else {
            rv = split_block(r, p->b);
            if (rv == 0 && p->i > BLOCK_MAX / 2) {
                p->b++;
                p->i -= BLOCK_MAX / 2;
            }
        }
    }
    if (rv == 0 && r->block[p->b].len == r->block[p->b].cap) {
        rv = widen_block(r, &r->block[p->b]);
    }
    if (rv != 0 && p->b < r->n_blocks && r->block[p->b].len == 0) {
        close_block(r, p->b);
    }
    return rv;
}

static int insert(cmn__ranges *r, place p, cmn__range x) {
    block *k;
    int rv = r->count < r->max ? make_room(r, &p) : CMN__RANGES_FULL;
    if (rv != 0) {
        return rv;
    }
    k = &r->block[p.b];
    assert(k->at != NULL);
    memmove(&k->at[p.i + 1], &k->at[p.i], (k->len - p.i) * sizeof(x));
    k->at[p.i] = x;
    k->len++;
    r->count++;
    r->total += x.end - x.start;
    return 0;
}

static void erase(cmn__ranges *r, place p) {
    block *k = &r->block[p.b];
    r->total -= k->at[p.i].end - k->at[p.i].start;
    r->count--;
    k->len--;
    memmove(&k->at[p.i], &k->at[p.i + 1], (k->len - p.i) * sizeof(*k->at));
    if (k->len == 0) {
        close_block(r, p.b);
    }
}

/* Position p after the range there was erased. */
static place ranges_settle(const cmn__ranges *r, place p) {
    if (p.b < r->n_blocks && p.i >= r->block[p.b].len) {
        return (place){p.b + 1, 0};
    }
    return p;
}

/* Extends the range at p to end, merging those it meets. */
static void extend(cmn__ranges *r, place p, uint64_t end) {
    cmn__range *x = at(r, p);
    place q = after(r, p);
    const cmn__range *y = at(r, q);
    uint64_t old = x->end;
    while (y != NULL && y->start <= end) {
        end = y->end > end ? y->end : end;
        erase(r, q);
        q = ranges_settle(r, q);
        y = at(r, q);
    }
    x = at(r, p);
    x->end = end > old ? end : old;
    r->total += x->end - old;
}

/* Fast path for sets that are built in order. */
static bool append(cmn__ranges *r, uint64_t start, uint64_t end) {
    block *k = r->n_blocks > 0 ? &r->block[r->n_blocks - 1] : NULL;
    cmn__range *last;
    if (k == NULL || start >= end) {
        return false;
    }
    last = &k->at[k->len - 1];
    if (last->end == start) {
        last->end = end;
    } else if (last->end < start && k->len < k->cap && r->count < r->max) {
        k->at[k->len++] = (cmn__range){start, end};
        r->count++;
    } else {
        return false;
    }
    r->total += end - start;
    return true;
}

static int merge(cmn__ranges *r, uint64_t start, uint64_t end) {
    place p = find(r, start);
    cmn__range *x = at(r, p);
    if (start >= end) {
        return 0;
    }
    if (x == NULL || x->start > end) {
        return insert(r, p, (cmn__range){start, end});
    }
    if (start < x->start) {
        r->total += x->start - start;
        x->start = start;
    }
    if (end > x->end) {
        extend(r, p, end);
    }
    return 0;
}

int cmn__ranges_add(cmn__ranges *r, uint64_t start, uint64_t end,
                    uint64_t *added) {
    uint64_t before = r->total;
    int rv;
    if (append(r, start, end)) {
        if (added != NULL) {
            *added = end - start;
        }
        return 0;
    }
    rv = merge(r, start, end);
    if (added != NULL) {
        *added = r->total - before;
    }
    return rv;
}

/* The first range that ends above x. */
static place find_above(const cmn__ranges *r, uint64_t x) {
    return find(r, x == UINT64_MAX ? x : x + 1);
}

int cmn__ranges_sub(cmn__ranges *r, uint64_t start, uint64_t end,
                    uint64_t *removed) {
    uint64_t before = r->total;
    place p = find_above(r, start);
    cmn__range *x = at(r, p);
    int rv = 0;
    if (start < end && x != NULL && x->start < start && x->end > end) {
        uint64_t low = x->start; /* below the inserted range, unlike start +
                                    1 */
        rv = insert(r, after(r, p), (cmn__range){end, x->end});
        if (rv == 0) { /* the insertion may have moved it */
            x = at(r, find_above(r, low));
            r->total -= x->end - start;
            x->end = start;
        }
    } else if (start < end) {
        if (x != NULL && x->start < start) {
            r->total -= x->end - start;
            x->end = start;
            p = after(r, p);
        }
        for (x = at(r, p); x != NULL && x->end <= end; x = at(r, p)) {
            erase(r, p);
            p = ranges_settle(r, p);
        }
        if (x != NULL && x->start < end) {
            r->total -= end - x->start;
            x->start = end;
        }
    }
    if (removed != NULL) {
        *removed = before - r->total;
    }
    return rv;
}

bool cmn__ranges_next(const cmn__ranges *r, uint64_t x, cmn__range *out) {
    const cmn__range *y = r->count > 0 ? at(r, find_above(r, x)) : NULL;
    if (y != NULL) {
        *out = *y;
    }
    return y != NULL;
}

static bool is_first_to_reach(const cmn__ranges *r, place p, uint64_t x) {
    const cmn__range *k;
    if (p.b >= r->n_blocks || p.i >= r->block[p.b].len) {
        return false;
    }
    k = &r->block[p.b].at[p.i];
    if (k->end < x) {
        return false;
    }
    return p.i > 0 ? k[-1].end < x : p.b == 0 || top(r, p.b - 1) < x;
}

bool cmn__ranges_near(const cmn__ranges *r, cmn__ranges_hint *hint, uint64_t x,
                      cmn__range *out) {
    uint64_t end = x == UINT64_MAX ? x : x + 1;
    place p = {hint->block, hint->at};
    if (!is_first_to_reach(r, p, end)) {
        p = p.b < r->n_blocks ? after(r, p) : p;
        p = is_first_to_reach(r, p, end) ? p : find(r, end);
        *hint = (cmn__ranges_hint){p.b, p.i};
    }
    if (p.b >= r->n_blocks) {
        return false;
    }
    *out = r->block[p.b].at[p.i];
    return true;
}

bool cmn__ranges_has(const cmn__ranges *r, uint64_t x) {
    cmn__range y;
    return cmn__ranges_next(r, x, &y) && y.start <= x;
}

bool cmn__ranges_prev(const cmn__ranges *r, uint64_t x, cmn__range *out) {
    place p = find(r, x); /* every range before p ends, so starts, below x */
    const cmn__range *y = at(r, p);
    if (y == NULL || y->start >= x) {
        if (p.i > 0) {
            p.i--;
        } else if (p.b > 0) {
            p.b--;
            p.i = r->block[p.b].len - 1;
        } else {
            return false;
        }
        y = at(r, p);
    }
    *out = *y;
    return true;
}
