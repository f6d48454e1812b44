/* SPDX-License-Identifier: MPL-2.0 */
/* Splits byte streams into NAL units and reads bits from them. */
#include "internal/media/codec/nal.h"

#include <string.h>

/* The first 00 00 01 at or after `p`, or `end`. */
static const uint8_t *find_start_code(const uint8_t *p, const uint8_t *end) {
    while (end - p >= 3) {
        const uint8_t *one = memchr(p + 2, 1, (size_t)(end - p - 2));
        if (!one) {
            break;
        }
        if (one[-1] == 0 && one[-2] == 0) {
            return one - 2;
        }
        p = one - 1;
    }
    return end;
}

void media__nal_begin(media_nal_iter *it, const void *data, size_t len,
                      unsigned nal_length) {
    it->at = data;
    it->end = len ? it->at + len : it->at;
    it->nal_length = nal_length;
    if (len && !nal_length) {
        it->at = find_start_code(it->at, it->end);
    }
}

static bool next_by_start_code(media_nal_iter *it, media_nal *nal) {
    while (it->end - it->at > 3) {
        const uint8_t *start = it->at + 3;
        const uint8_t *next = find_start_code(start, it->end);
        it->at = next;
        while (next > start && next[-1] == 0) {
            next--; /* trailing zeros do not belong to the unit */
        }
        if (next > start) {
            *nal = (media_nal){start, (size_t)(next - start)};
            return true;
        }
    }
    return false;
}

static bool next_by_length(media_nal_iter *it, media_nal *nal) {
    while ((size_t)(it->end - it->at) > it->nal_length) {
        size_t len = 0;
        for (unsigned i = 0; i < it->nal_length; i++) {
            len = len << 8 | it->at[i];
        }
        it->at += it->nal_length;
        if (len > (size_t)(it->end - it->at)) {
            len = (size_t)(it->end - it->at);
        }
        *nal = (media_nal){it->at, len};
        it->at += len;
        if (len) {
            return true;
        }
    }
    return false;
}

bool media__nal_next(media_nal_iter *it, media_nal *nal) {
    return it->nal_length ? next_by_length(it, nal)
                          : next_by_start_code(it, nal);
}

void media__bits_begin(media_bits *b, const media_nal *nal, size_t skip) {
    memset(b, 0, sizeof(*b));
    b->end = nal->data + nal->len;
    b->at = nal->data + (skip < nal->len ? skip : nal->len);
}

void media__bits_begin_raw(media_bits *b, const uint8_t *data, size_t len) {
    memset(b, 0, sizeof(*b));
    b->at = data;
    b->end = data + len;
    b->raw = true;
}

static void load_byte(media_bits *b) {
    if (!b->raw && b->zeros >= 2 && b->at < b->end && *b->at == 3) {
        b->at++;
        b->zeros = 0;
    }
    b->bad = b->bad || b->at == b->end;
    b->cur = b->at < b->end ? *b->at++ : 0;
    b->zeros = b->cur ? 0 : b->zeros + 1;
    b->have = 8;
}

uint32_t media__bits_get(media_bits *b, unsigned n) {
    uint32_t v = 0;

    while (n--) {
        if (!b->have) {
            load_byte(b);
        }
        b->have--;
        v = v << 1 | (b->cur >> b->have & 1u);
    }
    return v;
}

uint32_t media__bits_ue(media_bits *b) {
    unsigned zeros = 0;

    while (!b->bad && !media__bits_get(b, 1)) {
        if (++zeros == 32) {
            b->bad = true;
            return UINT32_MAX;
        }
    }
    return (uint32_t)((UINT64_C(1) << zeros) - 1 + media__bits_get(b, zeros));
}

int32_t media__bits_se(media_bits *b) {
    uint32_t code = media__bits_ue(b);

    return code & 1 ? (int32_t)(code / 2 + 1) : -(int32_t)(code / 2);
}

uint32_t media__bits_upto(media_bits *b, uint32_t most) {
    uint32_t v = media__bits_ue(b);

    b->bad = b->bad || v > most;
    return v < most ? v : most;
}
