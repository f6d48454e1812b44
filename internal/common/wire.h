/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_WIRE_H
#define COMMON_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Big-endian fields, bounds-checked.  A read past the end sets `bad` and
 * returns zero, so a parser checks once at the end. A write past the end sets
 * `bad` and writes nothing. */
typedef struct cmn__reader {
    const uint8_t *p;
    const uint8_t *end;
    bool bad;
} cmn__reader;

typedef struct cmn__writer {
    uint8_t *p;
    uint8_t *end;
    bool bad;
} cmn__writer;

static inline cmn__reader cmn__reader_of(const void *data, size_t len) {
    const uint8_t *p = data;
    return (cmn__reader){p, len != 0 ? p + len : p, false};
}

static inline size_t cmn__reader_left(const cmn__reader *r) {
    return (size_t)(r->end - r->p);
}

static inline uint64_t cmn__get(cmn__reader *r, size_t n) {
    uint64_t v = 0;
    if (r->bad || cmn__reader_left(r) < n) {
        r->bad = true;
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        v = v << 8 | r->p[i];
    }
    r->p += n;
    return v;
}

static inline uint8_t cmn__get8(cmn__reader *r) {
    return (uint8_t)cmn__get(r, 1);
}

static inline uint16_t cmn__get16(cmn__reader *r) {
    return (uint16_t)cmn__get(r, 2);
}

static inline uint32_t cmn__get32(cmn__reader *r) {
    return (uint32_t)cmn__get(r, 4);
}

static inline uint64_t cmn__get64(cmn__reader *r) {
    return cmn__get(r, 8);
}

/* The next n bytes in place, or NULL. */
static inline const uint8_t *cmn__get_bytes(cmn__reader *r, size_t n) {
    const uint8_t *p = r->p;
    if (r->bad || cmn__reader_left(r) < n) {
        r->bad = true;
        return NULL;
    }
    r->p += n;
    return p;
}

static inline cmn__writer cmn__writer_of(void *data, size_t len) {
    uint8_t *p = data;
    return (cmn__writer){p, len != 0 ? p + len : p, false};
}

static inline size_t cmn__writer_left(const cmn__writer *w) {
    return (size_t)(w->end - w->p);
}

static inline void cmn__put(cmn__writer *w, uint64_t v, size_t n) {
    if (w->bad || cmn__writer_left(w) < n) {
        w->bad = true;
        return;
    }
    for (size_t i = n; i > 0; i--) {
        w->p[i - 1] = (uint8_t)v;
        v >>= 8;
    }
    w->p += n;
}

static inline void cmn__put8(cmn__writer *w, uint8_t v) {
    cmn__put(w, v, 1);
}

static inline void cmn__put16(cmn__writer *w, uint16_t v) {
    cmn__put(w, v, 2);
}

static inline void cmn__put32(cmn__writer *w, uint32_t v) {
    cmn__put(w, v, 4);
}

static inline void cmn__put64(cmn__writer *w, uint64_t v) {
    cmn__put(w, v, 8);
}

static inline void cmn__put_bytes(cmn__writer *w, const void *data, size_t n) {
    if (w->bad || cmn__writer_left(w) < n) {
        w->bad = true;
    } else if (n > 0) {
        memcpy(w->p, data, n);
        w->p += n;
    }
}

/* The 64-bit number nearest to `near` whose low 32 bits are `low`. */
static inline uint64_t cmn__widen(uint32_t low, uint64_t near) {
    int32_t d = (int32_t)(low - (uint32_t)near);
    if (d < 0 && near < (uint64_t)(-(int64_t)d)) {
        return near + (uint64_t)((int64_t)d + ((int64_t)1 << 32));
    }
    return near + (uint64_t)(int64_t)d;
}

#endif /* COMMON_WIRE_H */
