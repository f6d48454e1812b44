/* SPDX-License-Identifier: MPL-2.0 */
/* Datagrams in a byte stream, each behind its length. */
#include "libtltcp/tcp/frames.h"

#include <stdlib.h>
#include <string.h>

const uint8_t tltcp__preface[TLTCP__PREFACE_LEN] = {'T', 'L', 'T', 'C',
                                                    'P', 0,   0,   1};

size_t tltcp__frames_size(size_t len, size_t segment) {
    return segment > 0
               ? len + TLTCP__FRAME_HEAD * ((len + segment - 1) / segment)
               : 0;
}

size_t tltcp__frames_put(uint8_t *out, const uint8_t *burst, size_t len,
                         size_t segment) {
    uint8_t *at = out;

    while (len > 0 && segment > 0) {
        size_t n = len < segment ? len : segment;

        *at++ = (uint8_t)(n >> 8);
        *at++ = (uint8_t)n;
        memcpy(at, burst, n);
        at += n;
        burst += n;
        len -= n;
    }
    return (size_t)(at - out);
}

void tltcp__deframer_init(tltcp__deframer *d, size_t max, bool preface) {
    memset(d, 0, sizeof(*d));
    d->max = max;
    d->preface = preface ? TLTCP__PREFACE_LEN : 0;
}

void tltcp__deframer_free(tltcp__deframer *d) {
    free(d->kept);
    d->kept = NULL;
}

void tltcp__deframer_put(tltcp__deframer *d, const uint8_t *in, size_t len) {
    d->in = in;
    d->left = len;
}

static uint8_t deframer_byte(tltcp__deframer *d) {
    d->left--;
    return *d->in++;
}

/* False: it is not the preface. */
static bool deframer_take_preface(tltcp__deframer *d) {
    while (d->preface > 0 && d->left > 0) {
        uint8_t expected = tltcp__preface[TLTCP__PREFACE_LEN - d->preface];

        if (deframer_byte(d) != expected) {
            return false;
        }
        d->preface--;
    }
    return true;
}

/* Copies what has come of an incomplete datagram. */
static int deframer_keep(tltcp__deframer *d, const uint8_t **dgram,
                         size_t *len) {
    size_t n = d->kept_len - d->have;

    n = n < d->left ? n : d->left;
    if (n > 0) {
        memcpy(d->kept + d->have, d->in, n);
    }
    d->in += n;
    d->left -= n;
    d->have += n;
    if (d->have < d->kept_len) {
        return TLTCP__DEFRAMED_NONE;
    }
    *dgram = d->kept;
    *len = d->kept_len;
    d->kept_len = 0;
    return TLTCP__DEFRAMED_ONE;
}

static int deframer_begin(tltcp__deframer *d, size_t size,
                          const uint8_t **dgram, size_t *len) {
    d->n_head = 0;
    if (size < TLTCP__FRAME_MIN || size > d->max) {
        return TLTCP__DEFRAMED_BAD;
    }
    if (d->left >= size) { /* whole: no copy */
        *dgram = d->in;
        *len = size;
        d->in += size;
        d->left -= size;
        return TLTCP__DEFRAMED_ONE;
    }
    d->kept = malloc(size);
    if (d->kept == NULL) {
        return TLTCP__DEFRAMED_NOMEM;
    }
    d->kept_len = size;
    d->have = 0;
    return deframer_keep(d, dgram, len);
}

int tltcp__deframer_next(tltcp__deframer *d, const uint8_t **dgram,
                         size_t *len) {
    if (d->kept_len > 0) {
        return deframer_keep(d, dgram, len);
    }
    free(d->kept); /* the one returned before */
    d->kept = NULL;
    if (!deframer_take_preface(d)) {
        return TLTCP__DEFRAMED_BAD;
    }
    while (d->n_head < TLTCP__FRAME_HEAD && d->left > 0) {
        d->head[d->n_head++] = deframer_byte(d);
    }
    if (d->n_head < TLTCP__FRAME_HEAD) {
        return TLTCP__DEFRAMED_NONE;
    }
    return deframer_begin(d, (size_t)d->head[0] << 8 | d->head[1], dgram, len);
}
