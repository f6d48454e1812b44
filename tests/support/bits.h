/* SPDX-License-Identifier: MPL-2.0 */
/* Parameter sets and slices that a test writes bit by bit. */
#ifndef TESTS_SUPPORT_BITS_H
#define TESTS_SUPPORT_BITS_H

#include <string.h>

#include "internal/media/codec/frame.h"

#define BITS_MAX 512 /* bytes; the excess is dropped */

struct bits {
    uint8_t data[BITS_MAX];
    size_t count;
};

static inline void put(struct bits *b, unsigned n, uint64_t v) {
    while (n-- && b->count < 8 * sizeof(b->data)) {
        uint8_t bit = (uint8_t)(v >> n & 1);
        b->data[b->count / 8] |= (uint8_t)(bit << (7 - b->count % 8));
        b->count++;
    }
}

static inline void put_ue(struct bits *b, uint64_t v) {
    unsigned n = 0;

    while ((v + 1) >> (n + 1)) {
        n++;
    }
    put(b, n, 0);
    put(b, n + 1, v + 1);
}

static inline void put_se(struct bits *b, int64_t v) {
    put_ue(b, v > 0 ? (uint64_t)v * 2 - 1 : (uint64_t)-v * 2);
}

static inline void put_list(struct bits *b, const char *digits) {
    for (; *digits; digits++) {
        put_ue(b, (uint32_t)(*digits - '0'));
    }
}

#define UNIT_MAX (3 + BITS_MAX * 3 / 2)

/* A whole unit, which ends in a one: at most UNIT_MAX bytes. */
static inline size_t finish(struct bits *b, uint8_t *out) {
    size_t n = 0;
    unsigned zeros = 0;

    put(b, 1, 1);
    out[n++] = 0;
    out[n++] = 0;
    out[n++] = 1;
    for (size_t i = 0; i < (b->count + 7) / 8; i++) {
        if (zeros == 2 && b->data[i] <= 3) {
            out[n++] = 3;
            zeros = 0;
        }
        out[n++] = b->data[i];
        zeros = b->data[i] ? 0 : zeros + 1;
    }
    return n;
}

struct stream {
    media_scanner scanner;
    uint8_t unit[4 * UNIT_MAX];
    size_t len;
};

static inline void add_unit(struct stream *s, struct bits *b) {
    s->len += finish(b, s->unit + s->len);
}

static inline media_frame scan(struct stream *s) {
    media_frame f;

    media__scanner_classify(&s->scanner, s->unit, s->len, 0, &f);
    s->len = 0;
    return f;
}

#endif /* TESTS_SUPPORT_BITS_H */
