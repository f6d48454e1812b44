/* SPDX-License-Identifier: MPL-2.0 */
/* FIFOs of records (cmn__ring) and of bytes (cmn__bytes). */
#include "internal/common/ring.h"

#include <assert.h>
#include <string.h>

#define RING_FIRST 4 /* records */
#define BYTES_FIRST ((size_t)4096)
#define CACHE_LINE 64u

void cmn__ring_init(cmn__ring *r, const cmn__mem *mem, size_t elem,
                    uint64_t first) {
    *r = (cmn__ring){
        .mem = mem, .elem = (uint32_t)elem, .head = first, .tail = first};
}

void cmn__ring_free(cmn__ring *r) {
    cmn__free(r->mem, r->buf);
    r->buf = NULL;
    r->cap = 0;
    r->head = r->tail;
}

void cmn__ring_trim(cmn__ring *r) {
    if (r->head == r->tail) {
        cmn__ring_free(r);
    }
}

int cmn__ring_grow(cmn__ring *r) {
    cmn__ring wide = *r;
    wide.cap = r->cap == 0 ? RING_FIRST : 2 * r->cap;
    wide.buf = cmn__resize(r->mem, NULL, (size_t)wide.cap * r->elem);
    if (wide.buf == NULL) {
        return -1;
    }
    for (uint64_t i = r->head; i != r->tail; i++) {
        memcpy(cmn__ring_at(&wide, i), cmn__ring_at(r, i), r->elem);
    }
    cmn__free(r->mem, r->buf);
    *r = wide;
    return 0;
}

void *cmn__ring_push(cmn__ring *r) {
    void *at = cmn__ring_push_raw(r);
    if (at != NULL) {
        memset(at, 0, r->elem);
    }
    return at;
}

void cmn__bytes_init(cmn__bytes *b, const cmn__mem *mem) {
    *b = (cmn__bytes){.mem = mem};
}

void cmn__bytes_free(cmn__bytes *b) {
    cmn__free(b->mem, b->buf);
    b->buf = NULL;
    b->cap = 0;
}

/* Contiguous bytes from `at`. */
static size_t straight(const cmn__bytes *b, uint64_t at, size_t len) {
    size_t room = b->cap - (size_t)(at & (b->cap - 1));
    return len < room ? len : room;
}

void cmn__bytes_put(cmn__bytes *b, uint64_t at, const void *data, size_t len) {
    size_t n = straight(b, at, len);
    memcpy(b->buf + (at & (b->cap - 1)), data, n);
    if (n < len) {
        memcpy(b->buf, (const uint8_t *)data + n, len - n);
    }
}

void cmn__bytes_get(const cmn__bytes *b, uint64_t at, void *data, size_t len) {
    size_t n = straight(b, at, len);
    memcpy(data, b->buf + (at & (b->cap - 1)), n);
    if (n < len) {
        memcpy((uint8_t *)data + n, b->buf, len - n);
    }
}

uint8_t *cmn__bytes_at(const cmn__bytes *b, uint64_t at, size_t len) {
    return straight(b, at, len) == len ? b->buf + (at & (b->cap - 1)) : NULL;
}

static inline void fetch(const uint8_t *p, size_t len) {
#if defined(__GNUC__)
    for (const uint8_t *end = p + len; p < end; p += CACHE_LINE) {
        __builtin_prefetch(p);
    }
#else
    (void)p;
    (void)len;
#endif
}

void cmn__bytes_fetch(const cmn__bytes *b, uint64_t at, size_t len) {
    size_t n = straight(b, at, len);
    fetch(b->buf + (at & (b->cap - 1)), n);
    fetch(b->buf, len - n);
}

int cmn__bytes_reserve(cmn__bytes *b, uint64_t base, uint64_t used,
                       uint64_t end) {
    cmn__bytes wide = *b;
    assert(used - base <= b->cap);
    if (end - base <= b->cap) {
        return 0;
    }
    while (wide.cap < end - base) {
        wide.cap = wide.cap == 0 ? BYTES_FIRST : 2 * wide.cap;
    }
    wide.buf = cmn__resize(b->mem, NULL, wide.cap);
    if (wide.buf == NULL) {
        return -1;
    }
    while (base < used) {
        size_t n = straight(b, base, (size_t)(used - base));
        cmn__bytes_put(&wide, base, b->buf + (base & (b->cap - 1)), n);
        base += n;
    }
    cmn__free(b->mem, b->buf);
    *b = wide;
    return 0;
}
