/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_INDEX_H
#define LIBSARATOGA_INDEX_H

#include "internal/common/mem.h"

#include <stdint.h>

struct saratoga__session;

/* Sessions by keys of 64 bits, which several may share: found in O(1), the
 * newest first.  The keys must be hard to choose for who might want them to
 * collide.  Nothing in here can fail: without memory chains just grow. */
typedef struct saratoga__link {
    struct saratoga__link *next;
    struct saratoga__link **at; /* what points here; NULL: it is in no index */
    struct saratoga__session *session;
    uint64_t key;
} saratoga__link;

#define SARATOGA__INDEX_FIRST 16u

typedef struct saratoga__index {
    const cmn__mem *mem;
    saratoga__link *few[SARATOGA__INDEX_FIRST]; /* the first buckets */
    saratoga__link **bucket;
    uint32_t buckets; /* a power of two */
    uint32_t count;
} saratoga__index;

/* An index stays where it is. */
void saratoga__index_init(saratoga__index *x, const cmn__mem *mem);
void saratoga__index_free(saratoga__index *x);
void saratoga__index_put(saratoga__index *x, saratoga__link *l,
                         struct saratoga__session *s, uint64_t key);
void saratoga__index_remove(saratoga__index *x, saratoga__link *l);
/* The first with a key, and the one behind another; NULL: none. */
saratoga__link *saratoga__index_first(const saratoga__index *x, uint64_t key);
saratoga__link *saratoga__index_next(const saratoga__link *l);

#endif /* LIBSARATOGA_INDEX_H */
