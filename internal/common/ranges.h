/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_RANGES_H
#define COMMON_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "internal/common/mem.h"

/* [start, end), start < end. */
typedef struct cmn__range {
    uint64_t start;
    uint64_t end;
} cmn__range;

struct cmn__range_block; /* a few dozen sorted ranges */

/* A set of numbers as ranges: sorted, disjoint, merged if adjacent.
 *
 * Two levels: an array of blocks, each a short sorted array. An operation moves
 * at most one block and the array of blocks, and a search is two binary
 * searches.  Memory freed by one operation is kept for the next. */
typedef struct cmn__ranges {
    const cmn__mem *mem;
    struct cmn__range_block *block; /* n_blocks of them, none empty */
    uint32_t n_blocks;
    uint32_t cap_blocks;
    uint32_t spare; /* empty allocated blocks after the n_blocks */
    uint32_t max;   /* maximum ranges */
    uint32_t count; /* ranges held */
    uint64_t total; /* numbers held */
} cmn__ranges;

#define CMN__RANGES_NOMEM (-1)
#define CMN__RANGES_FULL (-2)

void cmn__ranges_init(cmn__ranges *r, const cmn__mem *mem, uint32_t max);
void cmn__ranges_free(cmn__ranges *r);
/* Removes all ranges, keeps the memory. */
void cmn__ranges_clear(cmn__ranges *r);
/* Gives memory back when empty. */
void cmn__ranges_trim(cmn__ranges *r);

/* Adds [start, end) and stores the number of new elements in *added, unless
 * NULL. On CMN__RANGES_NOMEM or CMN__RANGES_FULL, the set is unchanged. */
int cmn__ranges_add(cmn__ranges *r, uint64_t start, uint64_t end,
                    uint64_t *added);
/* Removes [start, end). Fails only if it must split a range. */
int cmn__ranges_sub(cmn__ranges *r, uint64_t start, uint64_t end,
                    uint64_t *removed);
bool cmn__ranges_has(const cmn__ranges *r, uint64_t x);
/* The lowest range that ends above x. */
bool cmn__ranges_next(const cmn__ranges *r, uint64_t x, cmn__range *out);
/* The same, fast for iteration: the hint stores where the last search ended. It
 * is initially zero and serves one set. */
typedef struct cmn__ranges_hint {
    uint32_t block;
    uint32_t at;
} cmn__ranges_hint;
bool cmn__ranges_near(const cmn__ranges *r, cmn__ranges_hint *hint, uint64_t x,
                      cmn__range *out);
/* The highest range that starts below x. */
bool cmn__ranges_prev(const cmn__ranges *r, uint64_t x, cmn__range *out);

#endif /* COMMON_RANGES_H */
