/* SPDX-License-Identifier: MPL-2.0 */
/* Sections of any streams, kinds and numbers, each once but in any order, with
 * gaps and without: all come out, plain ones and those of one stream that have
 * arrived in the order of the connection stay in it. */
#include <string.h>

#include "internal/media/codec/framing.h"
#include "internal/media/stream/sequence.h"
#include "tests/fuzz/script.h"

#define COUNT 64
#define LEN (uint64_t)(2 * MEDIA_HEADER_LEN)

struct run {
    struct script in;
    media_sequence *q;
    bool came[COUNT]; /* or will never come */
    bool pushed[COUNT];
    bool given[COUNT];
};

static void push(struct run *r, uint64_t n) {
    media_header h = {.kind = (uint8_t)(1 + script_below(&r->in, 3)),
                      .stream = (uint8_t)script_below(&r->in, 3),
                      .frame_class = (uint8_t)script_below(&r->in, 6),
                      .generation = (uint32_t)script_below(&r->in, 2),
                      .number = (uint32_t)script_below(&r->in, COUNT),
                      .length = MEDIA_HEADER_LEN,
                      .pts = MEDIA_TIME_NONE,
                      .dts = MEDIA_TIME_NONE,
                      .duration = MEDIA_TIME_NONE};
    media_section s = {.number = n, .seq = n * LEN, .len = (size_t)LEN};

    s.data = calloc(1, s.len);
    FUZZ_CHECK(s.data);
    s.begins = script_below(&r->in, 8) != 0;
    s.complete = s.begins && script_below(&r->in, 8) != 0;
    if (script_below(&r->in, 8)) {
        media__header_write(&h, s.data);
    }
    FUZZ_CHECK(media__sequence_push(r->q, &s));
    r->pushed[n] = true;
}

static void take(struct run *r, bool all) {
    media_section s;

    while (media__sequence_next(r->q, all, &s)) {
        FUZZ_CHECK(s.number < COUNT && r->pushed[s.number]);
        FUZZ_CHECK(!r->given[s.number]);
        r->given[s.number] = true;
        free(s.data);
    }
}

/* A section without outstanding predecessors does not wait. */
static void check(const struct run *r) {
    for (uint64_t n = 0; n < COUNT && r->came[n]; n++) {
        FUZZ_CHECK(!r->pushed[n] || r->given[n]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *in, size_t size) {
    struct run r = {.in = {in, in + size}, .q = media__sequence_new()};

    FUZZ_CHECK(r.q);
    while (script_left(&r.in)) {
        uint64_t n = script_below(&r.in, COUNT);
        if (r.came[n]) {
            continue;
        }
        r.came[n] = true;
        FUZZ_CHECK(media__sequence_cover(r.q, n * LEN, LEN));
        if (script_below(&r.in, 4)) { /* else a gap */
            push(&r, n);
        }
        take(&r, false);
        check(&r);
    }
    take(&r, script_below(&r.in, 2) == 0);
    media__sequence_free(r.q);
    return 0;
}
