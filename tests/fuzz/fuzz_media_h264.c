/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Streams of H.264 whose parameter sets and slice headers have their fields in
 * place but anything in them: frame numbers have gaps, lists of references are
 * reordered and pictures marked or forgotten that there are not.  What is read
 * of them stays within bounds, and a connection is told nothing that cannot be.
 */
#include "internal/media/codec/h264.h"
#include "tests/fuzz/pictures.h"

#define PARAMETERS 3 /* picture parameter sets in use */

static void begin(struct bits *b, unsigned type, unsigned ref_idc) {
    put(b, 8, ref_idc << 5 | type);
}

/* ---- parameter sets ---- */

/* 7.3.2.1.1.1; ends at once, or soon. */
static void put_scaling(struct pictures *r, struct bits *b, unsigned lists) {
    for (unsigned i = 0; i < lists; i++) {
        bool own = script_below(&r->in, 4) == 3;
        unsigned left = own ? i < 6 ? 16 : 64 : 0;
        int64_t next = 8;

        put(b, 1, own);
        for (; left && next; left--) {
            int64_t step = (int64_t)pick_number(r, 17) - 8;
            put_se(b, step);
            next = ((next + step) % 256 + 256) % 256;
        }
    }
}

static void put_format(struct pictures *r, struct bits *b) {
    uint64_t chroma = pick_number(r, 4);
    bool lists = script_below(&r->in, 4) == 3;

    put_ue(b, chroma);
    if (chroma == 3) {
        put_choice(r, b);
    }
    put_numbers(r, b, 2); /* depths */
    put(b, 1, 0);
    put(b, 1, lists);
    if (lists) {
        put_scaling(r, b, chroma == 3 ? 12 : 8);
    }
}

/* Type 1, in cycles, too, which is not understood. */
static void put_order_type(struct pictures *r, struct bits *b) {
    uint64_t cycle = script_below(&r->in, 8) == 7;
    uint64_t type = cycle ? 1 : 2 * script_below(&r->in, 2);

    put_ue(b, type);
    if (type == 0) {
        put_number(r, b, 5); /* bits of an order */
    } else if (type == 1) {
        put_choice(r, b);
        put_numbers(r, b, 2);
        cycle = script_below(&r->in, 4);
        put_ue(b, cycle);
        put_numbers(r, b, (unsigned)cycle);
    }
}

static void put_sps(struct pictures *r, struct bits *b) {
    static const uint8_t profiles[] = {66, 77, 100, 244};
    uint8_t profile = profiles[script_below(&r->in, sizeof(profiles))];

    begin(b, MEDIA_H264_SPS, 3);
    put(b, 8, profile);
    put(b, 16, 0);       /* constraints, level */
    put_number(r, b, 2); /* its number */
    if (profile >= 100) {
        put_format(r, b);
    }
    put_number(r, b, 4); /* bits of a frame's number */
    put_order_type(r, b);
    put_number(r, b, 6); /* references */
    put_choice(r, b);    /* gaps are allowed */
    put_numbers(r, b, 2);
    put(b, 1, script_below(&r->in, 8) != 7); /* frames only */
}

static void put_pps(struct pictures *r, struct bits *b) {
    begin(b, MEDIA_H264_PPS, 3);
    put_number(r, b, PARAMETERS);
    put_number(r, b, 2);
    put(b, 1, 0);
    put_choice(r, b); /* two orders */
    put_ue(b, script_below(&r->in, 16) == 15);
    put_numbers(r, b, 2);               /* active pictures */
    put(b, 3, script_below(&r->in, 8)); /* weights */
    put_numbers(r, b, 3);
    put(b, 2, 0);
    put_exception(r, b); /* pictures once more */
}

/* ---- slices: where the decoder would look for its fields, as far as it has
 * been told ---- */

static unsigned slice_type(struct pictures *r) {
    static const unsigned types[] = {MEDIA_H264_SLICE, MEDIA_H264_SLICE,
                                     MEDIA_H264_SLICE, MEDIA_H264_SLICE,
                                     MEDIA_H264_SLICE, MEDIA_H264_SLICE,
                                     MEDIA_H264_IDR,   MEDIA_H264_PARTITION_A};
    uint64_t i = script_below(&r->in, 64);

    return i < 63 ? types[i % 8] : (unsigned)script_below(&r->in, 32);
}

/* Up to the kind that ends them. */
static void put_commands(struct pictures *r, struct bits *b, unsigned kinds,
                         unsigned end, const uint8_t *operands) {
    uint64_t left = script_below(&r->in, 32) == 31 ? 80 : 4;

    for (; left && script_below(&r->in, 3); left--) {
        uint64_t kind = script_below(&r->in, kinds);
        if (kind == end) {
            break;
        }
        put_ue(b, kind);
        for (unsigned i = 0; i < operands[kind]; i++) {
            put_number(r, b, 6);
        }
    }
    put_ue(b, end);
}

static void put_lists(struct pictures *r, struct bits *b, bool bi,
                      uint64_t *active) {
    static const uint8_t operands[] = {1, 1, 1};

    if (bi) {
        put_choice(r, b);
    }
    bool own = script_below(&r->in, 2);
    put(b, 1, own);
    for (unsigned i = 0; i < 1u + bi; i++) {
        if (own) {
            active[i] = 1 + pick_number(r, 4);
            put_ue(b, active[i] - 1);
        }
    }
    for (unsigned i = 0; i < 1u + bi; i++) {
        bool named = script_below(&r->in, 2);
        put(b, 1, named);
        if (named) {
            put_commands(r, b, 3, 3, operands);
        }
    }
}

static void put_weights(struct pictures *r, struct bits *b, uint64_t all) {
    bool chroma = r->scanner.h264.sps.chroma;

    put_numbers(r, b, 1u + chroma);
    for (; all && b->count < 8 * sizeof(b->data); all--) {
        bool given = script_below(&r->in, 4) == 3;
        put(b, 1, given);
        put_numbers(r, b, given ? 2 : 0);
        if (chroma) {
            put(b, 1, given);
            put_numbers(r, b, given ? 4 : 0);
        }
    }
}

static void put_marking(struct pictures *r, struct bits *b, bool idr) {
    static const uint8_t operands[] = {0, 1, 1, 2, 1, 0, 1};
    bool commands = script_below(&r->in, 3) == 2;

    if (idr) {
        put(b, 1, 0);
        put_exception(r, b); /* long-term */
        return;
    }
    put(b, 1, commands);
    if (commands) {
        put_commands(r, b, sizeof(operands), 0, operands);
    }
}

/* Numbers go on by one after a reference; seldom with a gap. */
static void put_frame_number(struct pictures *r, struct bits *b, bool idr,
                             bool reference) {
    bool gap = script_below(&r->in, 32) == 31;

    r->frame = idr ? 0 : r->frame + (gap ? 1 + (uint32_t)pick_number(r, 4) : 0);
    put(b, r->scanner.h264.sps.frame_bits, r->frame);
    r->frame += reference;
}

static void put_order(struct pictures *r, struct bits *b,
                      const media_h264_pps *pps) {
    const media_h264_sps *sps = &r->scanner.h264.sps;

    r->order += 1 + (uint32_t)script_below(&r->in, 4);
    if (sps->order_type == 0) {
        put(b, sps->order_bits, r->order - (uint32_t)script_below(&r->in, 6));
        if (pps->two_orders) {
            put_se(b, (int64_t)pick_number(r, 5) - 2);
        }
    }
}

static void put_slice(struct pictures *r, struct bits *b) {
    const media_h264 *h = &r->scanner.h264;
    unsigned nal = slice_type(r);
    bool idr = nal == MEDIA_H264_IDR;
    bool reference = idr || script_below(&r->in, 4) != 3;
    uint64_t type = script_below(&r->in, idr ? 16 : 3) % 3; /* P, B, I */
    uint64_t number = script_below(&r->in, 32) == 31
                          ? pick_number(r, 64)
                          : script_below(&r->in, PARAMETERS);
    const media_h264_pps *pps = &h->pps[number % 64];
    uint64_t active[2] = {pps->active[0], type == 1 ? pps->active[1] : 0};

    begin(b, nal, reference);
    put_ue(b, script_below(&r->in, 16) == 15); /* first of the picture */
    put_ue(b, type + 5 * script_below(&r->in, 2));
    put_ue(b, number);
    put(b, h->sps.separate_planes ? 2 : 0, 0);
    put_frame_number(r, b, idr, reference);
    if (!h->sps.frames_only) {
        put_exception(r, b); /* a field */
    }
    if (idr) {
        put_number(r, b, 3);
    }
    put_order(r, b, pps);
    if (pps->redundant) {
        put_ue(b, script_below(&r->in, 16) == 15);
    }
    if (type < 2) {
        put_lists(r, b, type == 1, active);
    }
    if (type == 1 ? pps->bipred == 1 : type == 0 && pps->weighted) {
        put_weights(r, b, active[0] + active[1]);
    }
    if (reference) {
        put_marking(r, b, idr);
    }
}

/* ---- what is known of them ---- */

static void check_refs(const media_h264 *h, uint32_t newest) {
    FUZZ_CHECK(h->count <= sizeof(h->refs) / sizeof(h->refs[0]));
    for (unsigned i = 0; i < h->count; i++) {
        const media_h264_ref *a = &h->refs[i];
        FUZZ_CHECK(a->ordinal >= 1 && a->ordinal <= newest);
        for (unsigned k = 0; k < i; k++) {
            const media_h264_ref *b = &h->refs[k];
            FUZZ_CHECK(a->ordinal != b->ordinal);
            FUZZ_CHECK(!a->long_term || !b->long_term || a->frame != b->frame);
        }
    }
}

static void check(const struct pictures *r) {
    const media_h264 *h = &r->scanner.h264;

    if (h->sps.known) {
        FUZZ_CHECK(h->sps.frame_bits >= 4 && h->sps.frame_bits <= 16);
        FUZZ_CHECK(h->sps.order_type != 1 && h->sps.order_bits <= 16);
    }
    check_refs(h, r->ordinal);
}

int LLVMFuzzerTestOneInput(const uint8_t *in, size_t size) {
    static const struct pictures_codec h264 = {"h264", put_sps, put_pps,
                                               put_slice, check};

    pictures_play(&h264, in, size);
    return 0;
}
