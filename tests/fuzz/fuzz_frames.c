/* SPDX-License-Identifier: MPL-2.0 */
/* Datagrams in a byte stream: wherever the stream is cut, the same datagrams
 * come out, and frames give back what was framed. */
#include <string.h>

#include "libtltcp/tcp/frames.h"
#include "tests/fuzz/script.h"

#define LONGEST 300u
#define STREAM 8192u

/* What came out of a stream. */
struct outcome {
    uint64_t sum; /* of lengths and bytes, in order */
    unsigned count;
    bool bad;
};

static void note(struct outcome *o, const uint8_t *dgram, size_t len) {
    FUZZ_CHECK(len >= TLTCP__FRAME_MIN && len <= LONGEST);
    o->count++;
    o->sum = o->sum * 31 + len;
    for (size_t i = 0; i < len; i++) {
        o->sum = o->sum * 31 + dgram[i];
    }
}

static void feed(tltcp__deframer *d, const uint8_t *in, size_t len,
                 struct outcome *o) {
    const uint8_t *dgram;
    size_t n;
    int rc = TLTCP__DEFRAMED_NONE;

    tltcp__deframer_put(d, in, len);
    while (!o->bad && (rc = tltcp__deframer_next(d, &dgram, &n)) > 0) {
        note(o, dgram, n);
    }
    o->bad |= rc < 0;
    FUZZ_CHECK(o->bad || d->left == 0);
}

/* Feeds a stream in pieces of these sizes; 0: whole. */
static struct outcome parse(const uint8_t *stream, size_t len, bool preface,
                            struct script cuts, size_t most) {
    struct outcome o = {0};
    tltcp__deframer d;
    uint8_t piece[STREAM]; /* must not be read after it was taken */

    tltcp__deframer_init(&d, LONGEST, preface);
    for (size_t at = 0; at < len && !o.bad;) {
        size_t n = most > 0 ? 1 + (size_t)script_below(&cuts, most) : len;

        n = n < len - at ? n : len - at;
        memcpy(piece, stream + at, n);
        feed(&d, piece, n, &o);
        memset(piece, 0xee, n);
        at += n;
    }
    tltcp__deframer_free(&d);
    return o;
}

/* Frames of datagrams as the input says; returns the length. */
static size_t frames(struct script *in, uint8_t *stream, struct outcome *o) {
    uint8_t burst[4 * LONGEST];
    size_t len = TLTCP__PREFACE_LEN;

    memcpy(stream, tltcp__preface, TLTCP__PREFACE_LEN);
    while (script_left(in) && len + 5 * LONGEST < STREAM) {
        size_t segment =
            TLTCP__FRAME_MIN + script_below(in, LONGEST + 1 - TLTCP__FRAME_MIN);
        size_t n = segment * (1 + script_below(in, 4));

        for (size_t i = 0; i < n; i++) {
            burst[i] = (uint8_t)(i * 7 + len);
        }
        for (size_t at = 0; at < n; at += segment) {
            note(o, burst + at, segment);
        }
        FUZZ_CHECK(tltcp__frames_size(n, segment) ==
                   n + n / segment * TLTCP__FRAME_HEAD);
        len += tltcp__frames_put(stream + len, burst, n, segment);
    }
    return len;
}

static void expect_same(const struct outcome *a, const struct outcome *b) {
    FUZZ_CHECK(a->bad == b->bad && a->count == b->count && a->sum == b->sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct script in = {data, data + size};
    uint8_t stream[STREAM];
    bool honest = script_below(&in, 2) == 1;
    size_t most = 1 + (size_t)script_below(&in, 600);
    const struct script cuts = in;
    struct outcome expected = {0};
    struct outcome whole;
    struct outcome cut;
    size_t len;

    if (honest) {
        len = frames(&in, stream, &expected);
    } else {
        len =
            (size_t)(in.end - in.p) < STREAM ? (size_t)(in.end - in.p) : STREAM;
        memcpy(stream, in.p, len);
    }
    whole = parse(stream, len, honest, cuts, 0);
    cut = parse(stream, len, honest, cuts, most);
    expect_same(&whole, &cut);
    if (honest) {
        expect_same(&whole, &expected);
    }
    return 0;
}
