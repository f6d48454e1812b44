/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Streams of H.265 whose parameter sets and slice headers have their fields in
 * place but anything in them: sets of references go back and forth, are derived
 * from each other, and name pictures that there are not.  What is read of them
 * stays within bounds, and a connection is told nothing that cannot be.
 */
#include "internal/media/codec/h265.h"
#include "tests/fuzz/pictures.h"

#define SETS 6
#define PARAMETERS 3 /* picture parameter sets in use */

static void begin(struct bits *b, unsigned type, unsigned layer) {
    put(b, 16, type << 9 | (layer + 1));
}

/* ---- units ---- */

static void put_own_set(struct pictures *r, struct bits *b) {
    uint64_t before = script_below(&r->in, 5);
    uint64_t after = script_below(&r->in, 4);

    put_ue(b, before);
    put_ue(b, after);
    for (uint64_t i = 0; i < before + after; i++) {
        put_number(r, b, 3);
        put_choice(r, b);
    }
}

static void put_set(struct pictures *r, struct bits *b, unsigned index,
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

static void put_sps(struct pictures *r, struct bits *b) {
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

static void put_pps(struct pictures *r, struct bits *b) {
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

static unsigned slice_type(struct pictures *r) {
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

/* The decoder's view of the fields, as far as it has been described. */
static void put_slice(struct pictures *r, struct bits *b) {
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

/* ---- what is made of them ---- */

static void check_set(const media_h265_set *set) {
    unsigned n = (unsigned)set->before + set->after;

    FUZZ_CHECK(n <= sizeof(set->delta) / sizeof(set->delta[0]));
    FUZZ_CHECK(set->used >> n == 0);
    for (unsigned i = 0; i < n; i++) {
        FUZZ_CHECK(i < set->before ? set->delta[i] < 0 : set->delta[i] > 0);
    }
}

static void check(const struct pictures *r) {
    const media_h265_sps *sps = &r->scanner.h265.sps;

    for (unsigned i = 0; sps->known && i < sps->set_count; i++) {
        check_set(&sps->set[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *in, size_t size) {
    static const struct pictures_codec h265 = {"hevc", put_sps, put_pps,
                                               put_slice, check};

    pictures_play(&h265, in, size);
    return 0;
}
