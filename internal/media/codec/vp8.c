/* SPDX-License-Identifier: MPL-2.0 */
/* VP8: classifies frames by their headers. */
#include "internal/media/codec/vpx.h"

#define FRAME_TAG 3
#define SEGMENTS 4
#define DELTAS 4
#define QUANT_DELTAS 5

/* The boolean decoder of RFC 6386, section 7; zeros after the end. */
struct bools {
    const uint8_t *at;
    const uint8_t *end;
    uint32_t value; /* two bytes */
    uint32_t range;
    unsigned shifted;
    bool bad;
};

static uint32_t next_byte(struct bools *b) {
    if (b->at == b->end) {
        b->bad = true;
        return 0;
    }
    return *b->at++;
}

static void bools_begin(struct bools *b, const uint8_t *data, size_t len) {
    *b = (struct bools){.at = data, .end = data + len, .range = 255};
    b->value = next_byte(b) << 8;
    b->value |= next_byte(b);
}

/* Everything read here has probability 1/2. */
static bool flag(struct bools *b) {
    uint32_t split = 1 + ((b->range - 1) * 128 >> 8);
    bool one = b->value >= split << 8;

    if (one) {
        b->range -= split;
        b->value -= split << 8;
    } else {
        b->range = split;
    }
    while (b->range < 128) {
        b->value <<= 1;
        b->range <<= 1;
        if (++b->shifted == 8) {
            b->shifted = 0;
            b->value |= next_byte(b);
        }
    }
    return one;
}

static uint32_t literal(struct bools *b, unsigned bits) {
    uint32_t v = 0;

    while (bits--) {
        v = v << 1 | flag(b);
    }
    return v;
}

/* Skips values that are each preceded by a presence flag. */
static void skip_optional(struct bools *b, unsigned count, unsigned bits) {
    while (count--) {
        if (flag(b)) {
            literal(b, bits);
        }
    }
}

/* Section 9.3; returns whether state persists. */
static bool read_segmentation(struct bools *b) {
    if (!flag(b)) {
        return false;
    }
    bool map = flag(b);
    bool data = flag(b);
    if (data) {
        flag(b); /* absolute or delta */
        skip_optional(b, SEGMENTS, 8);
        skip_optional(b, SEGMENTS, 7);
    }
    if (map) {
        skip_optional(b, SEGMENTS - 1, 8);
    }
    return map || data;
}

/* Section 9.6; returns whether state persists. */
static bool read_filter(struct bools *b) {
    literal(b, 1 + 6 + 3); /* type, level, sharpness */
    bool adjusted = flag(b);
    bool changed = adjusted && flag(b);
    if (changed) {
        skip_optional(b, 2 * DELTAS, 7);
    }
    return changed;
}

/* Section 9.7; returns whether a reference frame is stored. */
static bool read_references(struct bools *b) {
    bool golden = flag(b);
    bool alternate = flag(b);
    bool copied = !golden && literal(b, 2);

    copied = (!alternate && literal(b, 2)) || copied;
    literal(b, 2); /* sign biases */
    return golden || alternate || copied;
}

/* Section 19.2: whether the frame leaves persistent state. */
static bool leaves_traces(const uint8_t *data, size_t len) {
    struct bools b;

    bools_begin(&b, data, len);
    bool traces = read_segmentation(&b);
    traces = read_filter(&b) || traces;
    literal(&b, 2 + 7); /* partitions, base quantizer */
    skip_optional(&b, QUANT_DELTAS, 5);
    traces = read_references(&b) || traces;
    traces = flag(&b) || traces; /* refresh_entropy_probs */
    traces = flag(&b) || traces; /* refresh_last */
    return traces || b.bad;
}

bool media__vp8_classify(const void *data, size_t len, media_frame *f) {
    const uint8_t *p = data;

    if (len < FRAME_TAG) {
        return false;
    }
    bool key = !(p[0] & 1);
    media__set_predicted(f, key, key,
                         key || leaves_traces(p + FRAME_TAG, len - FRAME_TAG));
    return true;
}
