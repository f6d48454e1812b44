/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_MULTIMAP_H
#define LIBSARATOGA_MULTIMAP_H

#include "internal/common/mem.h"

#include <stdint.h>

struct saratoga__session;

/* Multimap from 64-bit keys to sessions: O(1) look-up, newest first. Keys must
 * not be predictable to an attacker who wants collisions. No function can fail:
 * without memory, chains just grow. */
typedef struct saratoga__link {
    struct saratoga__link *next;
    struct saratoga__link **at; /* the pointer to this link; NULL: not in an
                                   index */
    struct saratoga__session *session;
    uint64_t key;
} saratoga__link;

#define SARATOGA__MULTIMAP_FIRST 16u

typedef struct saratoga__multimap {
    const cmn__mem *mem;
    saratoga__link *few[SARATOGA__MULTIMAP_FIRST]; /* the first buckets */
    saratoga__link **bucket;
    uint32_t buckets; /* a power of two */
    uint32_t count;
} saratoga__multimap;

/* An index must not be moved. */
void saratoga__multimap_init(saratoga__multimap *x, const cmn__mem *mem);
void saratoga__multimap_free(saratoga__multimap *x);
void saratoga__multimap_put(saratoga__multimap *x, saratoga__link *l,
                            struct saratoga__session *s, uint64_t key);
void saratoga__multimap_remove(saratoga__multimap *x, saratoga__link *l);
/* The first link with a key, and the next one; NULL: none. */
saratoga__link *saratoga__multimap_first(const saratoga__multimap *x,
                                         uint64_t key);
saratoga__link *saratoga__multimap_next(const saratoga__link *l);

#endif /* LIBSARATOGA_MULTIMAP_H */
