/* SPDX-License-Identifier: MPL-2.0 */
/* Streams of NAL units whose fields are in place but hold anything, and what is
 * made of them: for targets of one codec each. */
#ifndef TESTS_FUZZ_PICTURES_H
#define TESTS_FUZZ_PICTURES_H

#include "internal/media/codec/frame.h"
#include "internal/media/stream/chain.h"
#include "internal/media/stream/gate.h"
#include "tests/fuzz/script.h"
#include "tests/support/bits.h"

struct pictures {
    struct script in;
    media_scanner scanner;
    media_chain chain;
    media_gate gate;
    uint32_t ordinal; /* of the newest picture that had one */
    uint64_t sections;
    uint32_t order; /* the codec's own: of the newest slice */
    uint32_t frame; /* likewise */
};

/* Each writes a unit, its header too, or checks what is known. */
struct pictures_codec {
    const char *name;
    void (*put_sps)(struct pictures *r, struct bits *b);
    void (*put_pps)(struct pictures *r, struct bits *b);
    void (*put_slice)(struct pictures *r, struct bits *b);
    void (*check)(const struct pictures *r);
};

void put_choice(struct pictures *r, struct bits *b);
/* Seldom a one. */
void put_exception(struct pictures *r, struct bits *b);
/* Below a bound; seldom anything at all. */
uint64_t pick_number(struct pictures *r, uint64_t below);
void put_number(struct pictures *r, struct bits *b, uint64_t below);
void put_numbers(struct pictures *r, struct bits *b, unsigned n);

/* Plays a stream, picture by picture, as far as the input goes. */
void pictures_play(const struct pictures_codec *codec, const uint8_t *in,
                   size_t size);

#endif /* TESTS_FUZZ_PICTURES_H */
