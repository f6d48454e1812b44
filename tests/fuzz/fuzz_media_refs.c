/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Streams of H.265 whose parameter sets and slice headers have their fields in
 * place but anything in them: sets of references go back and forth, are derived
 * from each other, and name pictures that there are not.  What is read of them
 * stays within bounds, and a connection is told nothing that cannot be.
 */
#include <string.h>

#include <tltcp/types.h>

#include "media/chain.h"
#include "media/deadline.h"
#include "media/frame.h"
#include "media/framing.h"
#include "media/gate.h"
#include "media/h265.h"
#include "tests/fuzz/script.h"
#include "tests/support/bits.h"

#define SETS 6
#define PARAMETERS 3 /* picture parameter sets in use */
#define PICTURES_MAX 300

struct run {
    struct script in;
    media_scanner scanner;
    media_chain chain;
    media_gate gate;
    uint32_t order;
    uint32_t ordinal; /* of the newest picture that had one */
    uint64_t sections;
};

static void put_choice(struct run *r, struct bits *b) {
    put(b, 1, script_below(&r->in, 2));
}

/* Seldom anything at all. */
static void put_number(struct run *r, struct bits *b, uint64_t below) {
    bool wild = script_below(&r->in, 64) == 63;

    put_ue(b, wild ? script_number(&r->in, 4) : script_below(&r->in, below));
}

static void put_numbers(struct run *r, struct bits *b, unsigned n) {
    while (n--) {
        put_number(r, b, 3);
    }
}

static void begin(struct bits *b, unsigned type, unsigned layer) {
    memset(b, 0, sizeof(*b));
    put(b, 16, type << 9 | (layer + 1));
}

/* ---- units ---- */

static void put_own_set(struct run *r, struct bits *b) {
    uint64_t before = script_below(&r->in, 5);
    uint64_t after = script_below(&r->in, 4);

    put_ue(b, before);
    put_ue(b, after);
    for (uint64_t i = 0; i < before + after; i++) {
        put_number(r, b, 3);
        put_choice(r, b);
    }
}

static void put_set(struct run *r, struct bits *b, unsigned index,
                    bool in_slice) {
    bool derived = index && script_below(&r->in, 2);

    put(b, index ? 1 : 0, derived);
    if (!derived) {
        put_own_set(r, b);
        return;
    }
    if (in_slice) {
        put_number(r, b, index);
    }
    put_choice(r, b);
    put_number(r, b, 3);
    put(b, 24, script_number(&r->in, 3)); /* used, or taken at least */
}

static void put_sps(struct run *r, struct bits *b) {
    uint64_t layers = script_below(&r->in, 8) == 7 ? 2 : 0;
    unsigned sets = (unsigned)script_below(&r->in, SETS + 1);

    begin(b, MEDIA_H265_SPS, 0);
    put(b, 8, layers << 1);
    put(b, 32, 0);
    put(b, 32, 0);
    put(b, 32, 0);              /* profile and level */
    put(b, layers ? 16 : 0, 0); /* none of layers */
    put_number(r, b, 2);        /* its number */
    put_number(r, b, 2);        /* chroma */
    put_numbers(r, b, 2);       /* size */
    put(b, 1, 0);               /* no window */
    put_numbers(r, b, 2);       /* depths */
    put_number(r, b, 5);        /* bits of an order */
    put(b, 1, 0);
    put_numbers(r, b, 3 + 6);               /* buffers, blocks */
    put(b, 1, 0);                           /* no scaling lists */
    put(b, 3, script_below(&r->in, 8) & 6); /* tools, no PCM */
    put_ue(b, sets);
    for (unsigned i = 0; i < sets; i++) {
        put_set(r, b, i, false);
    }
    put(b, 1, script_below(&r->in, 8) == 7); /* long terms */
    put_choice(r, b);
}

static void put_pps(struct run *r, struct bits *b) {
    begin(b, MEDIA_H265_PPS, 0);
    put_number(r, b, PARAMETERS);
    put_number(r, b, 2);
    put(b, 7, script_below(&r->in, 16) == 15 ? script_number(&r->in, 1) : 0);
    put_numbers(r, b, 2); /* active pictures */
    put_number(r, b, 3);
    put(b, 3, 0);
    put_numbers(r, b, 2);
    put(b, 11, script_below(&r->in, 16) == 15 ? script_number(&r->in, 2) : 0);
    put_choice(r, b);
}

static unsigned slice_type(struct run *r) {
    static const unsigned types[] = {1,
                                     1,
                                     1,
                                     1,
                                     0,
                                     0,
                                     0,
                                     MEDIA_H265_IDR_W_RADL,
                                     MEDIA_H265_CRA,
                                     MEDIA_H265_RASL_N,
                                     MEDIA_H265_RASL_R,
                                     MEDIA_H265_BLA_W_LP};
    uint64_t i = script_below(&r->in, sizeof(types) / sizeof(types[0]) + 1);

    return i < sizeof(types) / sizeof(types[0])
               ? types[i]
               : (unsigned)script_below(&r->in, 32);
}

/* Where the decoder would look for its fields, as far as it has been told. */
static void put_slice(struct run *r, struct bits *b) {
    const media_h265_sps *sps = &r->scanner.h265.sps;
    unsigned type = slice_type(r);
    unsigned width = 0;

    begin(b, type, (unsigned)script_below(&r->in, 16) / 13);
    put(b, 1, script_below(&r->in, 16) != 15); /* first of the picture */
    put(b, type >= MEDIA_H265_BLA_W_LP ? 1 : 0, 0);
    put_number(r, b, PARAMETERS);
    put_number(r, b, 3); /* B, P, I */
    r->order += 1 + (uint32_t)script_below(&r->in, 4);
    put(b, sps->order_bits, r->order - (uint32_t)script_below(&r->in, 6));
    put(b, 1, sps->set_count > 0);
    while (sps->set_count && 1u << width < sps->set_count) {
        width++;
    }
    if (sps->set_count) {
        put(b, width, script_number(&r->in, 1));
    } else {
        put_set(r, b, sps->set_count, true);
    }
    put(b, 32, script_number(&r->in, 4)); /* long terms, active pictures */
}

static void put_anything(struct run *r, struct bits *b) {
    size_t n = 1 + (size_t)script_below(&r->in, 24);

    memset(b, 0, sizeof(*b));
    for (size_t i = 0; i < n; i++) {
        put(b, 8, script_number(&r->in, 1));
    }
}

/* ---- what is made of them ---- */

static void check_set(const media_h265_set *set) {
    unsigned n = (unsigned)set->before + set->after;

    FUZZ_CHECK(n <= sizeof(set->delta) / sizeof(set->delta[0]));
    FUZZ_CHECK(set->used >> n == 0);
    for (unsigned i = 0; i < n; i++) {
        FUZZ_CHECK(i < set->before ? set->delta[i] < 0 : set->delta[i] > 0);
    }
}

static void check_frame(struct run *r, const media_frame *f) {
    const media_h265_sps *sps = &r->scanner.h265.sps;

    for (unsigned i = 0; sps->known && i < sps->set_count; i++) {
        check_set(&sps->set[i]);
    }
    FUZZ_CHECK(f->frame_class < MEDIA_CLASS_COUNT);
    FUZZ_CHECK(f->picture < MEDIA_PICTURE_COUNT);
    if (f->ordinal) {
        FUZZ_CHECK(f->ordinal == r->ordinal + 1);
        r->ordinal = f->ordinal;
    }
    FUZZ_CHECK(f->parent < (f->ordinal ? f->ordinal : 1));
    FUZZ_CHECK(f->parent < MEDIA_REFS_RECENT);
    FUZZ_CHECK(!f->key || (!f->parent && !f->branch));
    FUZZ_CHECK(!f->branch || f->frame_class == MEDIA_CLASS_REFERENCE);
}

static void send(struct run *r, const media_frame *f) {
    media_item item = {.frame = *f,
                       .due = MEDIA_NEVER,
                       .deadline = MEDIA_NEVER,
                       .number = (uint32_t)r->sections};
    uint32_t depends;

    if (!media__gate_takes(&r->gate, &item)) {
        return;
    }
    if (script_below(&r->in, 32) == 30) { /* there is no room for it */
        media__gate_leave_out(&r->gate, &item);
        return;
    }
    depends = media__chain_add(&r->chain, &item, r->sections);
    FUZZ_CHECK(depends == TL_DEPENDS_NONE || depends <= r->sections);
    r->sections++;
    if (script_below(&r->in, 32) == 31) { /* another connection begins */
        memset(&r->chain, 0, sizeof(r->chain));
        media__gate_join(&r->gate, 0);
    }
}

static void take(struct run *r, struct bits *b) {
    uint8_t made[UNIT_MAX];
    size_t len = finish(b, made);
    uint8_t *unit = malloc(len); /* whose end sanitizers watch */
    media_frame f;

    FUZZ_CHECK(unit != NULL);
    memcpy(unit, made, len);
    media__scanner_classify(&r->scanner, unit, len, 0, &f);
    check_frame(r, &f);
    send(r, &f);
    free(unit);
}

int LLVMFuzzerTestOneInput(const uint8_t *in, size_t size) {
    struct run r = {.in = {in, in + size}};
    struct bits b;

    media__scanner_init(&r.scanner, "hevc", 0, NULL, 0);
    for (int i = 0; script_left(&r.in) && i < PICTURES_MAX; i++) {
        uint64_t what = i < 2 ? (uint64_t)i : script_below(&r.in, 24);
        if (what == 0) {
            put_sps(&r, &b);
        } else if (what == 1) {
            put_pps(&r, &b);
        } else if (what == 2) {
            put_anything(&r, &b);
        } else {
            put_slice(&r, &b);
        }
        take(&r, &b);
    }
    return 0;
}
