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

/* Converts between the processor's byte order and that of the wire. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define CMN__WIRE(bits, v) __builtin_bswap##bits(v)
#else
#define CMN__WIRE(bits, v) (v)
#endif

static inline void cmn__get_copy(cmn__reader *r, void *to, size_t n) {
    const uint8_t *p = cmn__get_bytes(r, n);
    if (p != NULL) {
        memcpy(to, p, n);
    }
}

static inline uint8_t cmn__get8(cmn__reader *r) {
    uint8_t v = 0;
    cmn__get_copy(r, &v, sizeof(v));
    return v;
}

static inline uint16_t cmn__get16(cmn__reader *r) {
    uint16_t v = 0;
    cmn__get_copy(r, &v, sizeof(v));
    return CMN__WIRE(16, v);
}

static inline uint32_t cmn__get32(cmn__reader *r) {
    uint32_t v = 0;
    cmn__get_copy(r, &v, sizeof(v));
    return CMN__WIRE(32, v);
}

static inline uint64_t cmn__get64(cmn__reader *r) {
    uint64_t v = 0;
    cmn__get_copy(r, &v, sizeof(v));
    return CMN__WIRE(64, v);
}

static inline cmn__writer cmn__writer_of(void *data, size_t len) {
    uint8_t *p = data;
    return (cmn__writer){p, len != 0 ? p + len : p, false};
}

static inline size_t cmn__writer_left(const cmn__writer *w) {
    return (size_t)(w->end - w->p);
}

static inline void cmn__put_bytes(cmn__writer *w, const void *data, size_t n) {
    if (w->bad || cmn__writer_left(w) < n) {
        w->bad = true;
    } else if (n > 0) {
        memcpy(w->p, data, n);
        w->p += n;
    }
}

static inline void cmn__put8(cmn__writer *w, uint8_t v) {
    cmn__put_bytes(w, &v, 1);
}

static inline void cmn__put16(cmn__writer *w, uint16_t v) {
    uint16_t wire = CMN__WIRE(16, v);
    cmn__put_bytes(w, &wire, sizeof(wire));
}

static inline void cmn__put32(cmn__writer *w, uint32_t v) {
    uint32_t wire = CMN__WIRE(32, v);
    cmn__put_bytes(w, &wire, sizeof(wire));
}

static inline void cmn__put64(cmn__writer *w, uint64_t v) {
    uint64_t wire = CMN__WIRE(64, v);
    cmn__put_bytes(w, &wire, sizeof(wire));
}

/* The 64-bit number nearest to `expected` whose low 32 bits are `low`. */
static inline uint64_t cmn__widen(uint32_t low, uint64_t expected) {
    int32_t d = (int32_t)(low - (uint32_t)expected);
    if (d < 0 && expected < (uint64_t)(-(int64_t)d)) {
        return expected + (uint64_t)((int64_t)d + ((int64_t)1 << 32));
    }
    return expected + (uint64_t)(int64_t)d;
}

#endif /* COMMON_WIRE_H */
