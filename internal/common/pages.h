/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_PAGES_H
#define COMMON_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "internal/common/mem.h"

/* Pages of equal size, with numbers that only grow. A page exists once it is
 * taken, so sparse data costs little; ring.h is for contiguous data. */

struct cmn__page_group; /* the pages of some consecutive numbers */

typedef struct cmn__pages {
    const cmn__mem *mem;
    struct cmn__page_group **group;      /* by number, modulo cap; or NULL */
    void *spare;                         /* free pages for reuse, in a chain */
    struct cmn__page_group *spare_group; /* likewise */
    size_t size;                         /* bytes of a page */
    size_t cap;                          /* groups, a power of two or 0 */
    size_t bytes;                        /* total memory held */
    uint64_t first;                      /* no page below */
    uint64_t end;                        /* no page from here on */
    uint16_t spares;                     /* number of spare pages */
    uint8_t spare_groups;
    bool zeroed; /* a newly taken page is zeroed */
} cmn__pages;

void cmn__pages_init(cmn__pages *p, const cmn__mem *mem, size_t size,
                     bool zeroed);
/* Frees all memory; numbers may begin anywhere again, but are cheap only above
 * the next argument of cmn__pages_drop(). */
void cmn__pages_free(cmn__pages *p);
/* Page n, which must not be below `first`, created when needed; NULL without
 * memory. */
void *cmn__pages_take(cmn__pages *p, uint64_t n);
/* Page n, or NULL. */
void *cmn__pages_at(const cmn__pages *p, uint64_t n);
/* Whether taking the pages `first` to `last` may need memory beyond that held
 * already, and not counting a longer table. */
bool cmn__pages_need_memory(const cmn__pages *p, uint64_t first, uint64_t last);
/* Frees the pages below n. */
void cmn__pages_drop(cmn__pages *p, uint64_t n);

/* Pages as a window of a byte stream, addressed by stream offset: their size is
 * CMN__PAGE_BYTES. */
#define CMN__PAGE_BYTES ((size_t)4096)
/* Makes room for [start, end).  Returns 0, or -1 without memory. */
int cmn__pages_reserve(cmn__pages *p, uint64_t start, uint64_t end);
/* Copy to and from reserved offsets. */
void cmn__pages_put(cmn__pages *p, uint64_t at, const void *data, size_t len);
void cmn__pages_get(const cmn__pages *p, uint64_t at, void *data, size_t len);

#endif /* COMMON_PAGES_H */
