/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_RING_H
#define COMMON_RING_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "internal/common/mem.h"

/* A FIFO of equal records with growing numbers [head, tail). It grows by
 * doubling and moves records only then. */
typedef struct cmn__ring {
    const cmn__mem *mem;
    uint8_t *buf;
    uint32_t elem; /* bytes of a record */
    uint32_t cap;  /* records, a power of two or 0 */
    uint64_t head;
    uint64_t tail;
} cmn__ring;

void cmn__ring_init(cmn__ring *r, const cmn__mem *mem, size_t elem,
                    uint64_t first);
void cmn__ring_free(cmn__ring *r);
/* Frees memory when empty. */
void cmn__ring_trim(cmn__ring *r);
/* Makes room for more records.  Returns 0, or -1 without memory. */
int cmn__ring_grow(cmn__ring *r);
/* A new zeroed record numbered tail, or NULL without memory. */
void *cmn__ring_push(cmn__ring *r);

/* The record numbered i, which must lie in [head, tail). */
static inline void *cmn__ring_at(const cmn__ring *r, uint64_t i) {
    assert(i - r->head < r->tail - r->head);
    return r->buf + (size_t)(i & (r->cap - 1)) * r->elem;
}

static inline size_t cmn__ring_len(const cmn__ring *r) {
    return (size_t)(r->tail - r->head);
}

/* A new record numbered tail, with any content, or NULL without memory. */
static inline void *cmn__ring_push_raw(cmn__ring *r) {
    if (cmn__ring_len(r) == r->cap && cmn__ring_grow(r) != 0) {
        return NULL;
    }
    return cmn__ring_at(r, r->tail++);
}

static inline void cmn__ring_pop(cmn__ring *r) {
    assert(r->head != r->tail);
    r->head++;
}

/* A window of a byte stream, addressed by stream offset. */
typedef struct cmn__bytes {
    const cmn__mem *mem;
    uint8_t *buf;
    size_t cap; /* a power of two or 0 */
} cmn__bytes;

void cmn__bytes_init(cmn__bytes *b, const cmn__mem *mem);
void cmn__bytes_free(cmn__bytes *b);
/* Makes room for [base, end) and keeps the bytes stored in [base, used).
 * Returns 0, or -1 without memory (unchanged). */
int cmn__bytes_reserve(cmn__bytes *b, uint64_t base, uint64_t used,
                       uint64_t end);
void cmn__bytes_put(cmn__bytes *b, uint64_t at, const void *data, size_t len);
/* Prefetches bytes that will be needed soon. */
void cmn__bytes_fetch(const cmn__bytes *b, uint64_t at, size_t len);
void cmn__bytes_get(const cmn__bytes *b, uint64_t at, void *data, size_t len);
/* Where len bytes from `at` lie; NULL: not in one piece. */
uint8_t *cmn__bytes_at(const cmn__bytes *b, uint64_t at, size_t len);

#endif /* COMMON_RING_H */
