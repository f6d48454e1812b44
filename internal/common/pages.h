/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_PAGES_H
#define COMMON_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "internal/common/mem.h"

/* Pages of equal size by numbers that move upwards.  A page exists once it is
 * taken, so that what lies far apart costs little; ring.h is for what lies
 * together. */

struct cmn__page_group; /* the pages of some numbers in a row */

typedef struct cmn__pages {
    const cmn__mem *mem;
    struct cmn__page_group **group; /* by number, modulo cap; or NULL */
    void *spare; /* pages for the next numbers taken, in a chain */
    struct cmn__page_group *spare_group; /* likewise */
    size_t spares;                       /* how many there are */
    size_t spare_groups;
    size_t size;    /* bytes of a page */
    size_t cap;     /* groups, a power of two or 0 */
    size_t bytes;   /* memory held in all */
    uint64_t first; /* there is no page below */
    uint64_t end;   /* nor from here on */
    bool zeroed;    /* a page taken for the first time is all zero */
} cmn__pages;

void cmn__pages_init(cmn__pages *p, const cmn__mem *mem, size_t size,
                     bool zeroed);
/* Gives all memory back; numbers may begin anywhere again, but are cheap only
 * above the one that cmn__pages_drop() names next. */
void cmn__pages_free(cmn__pages *p);
/* Page n, which must not lie below `first`, made when needed; NULL without
 * memory. */
void *cmn__pages_take(cmn__pages *p, uint64_t n);
/* Page n, or NULL. */
void *cmn__pages_at(const cmn__pages *p, uint64_t n);
/* Gives back the pages below n. */
void cmn__pages_drop(cmn__pages *p, uint64_t n);

/* Pages as a window of a byte stream, addressed by place in the stream: their
 * size is CMN__PAGE_BYTES. */
#define CMN__PAGE_BYTES ((size_t)4096)
/* Makes room for [start, end).  Returns 0, or -1 without memory. */
int cmn__pages_reserve(cmn__pages *p, uint64_t start, uint64_t end);
/* Copies to and from places with room. */
void cmn__pages_put(cmn__pages *p, uint64_t at, const void *data, size_t len);
void cmn__pages_get(const cmn__pages *p, uint64_t at, void *data, size_t len);

#endif /* COMMON_PAGES_H */
