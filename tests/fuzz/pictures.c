/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/fuzz/pictures.h"

#include <string.h>

#include <tltcp/types.h>

#include "internal/media/codec/framing.h"
#include "internal/media/stream/deadline.h"

#define PICTURES_MAX 300
#define SLICES_MAX 4

void put_choice(struct pictures *r, struct bits *b) {
    put(b, 1, script_below(&r->in, 2));
}

void put_exception(struct pictures *r, struct bits *b) {
    put(b, 1, script_below(&r->in, 16) == 15);
}

uint64_t pick_number(struct pictures *r, uint64_t below) {
    bool wild = script_below(&r->in, 64) == 63;

    return wild ? script_number(&r->in, 4) : script_below(&r->in, below);
}

void put_number(struct pictures *r, struct bits *b, uint64_t below) {
    put_ue(b, pick_number(r, below));
}

void put_numbers(struct pictures *r, struct bits *b, unsigned n) {
    while (n--) {
        put_number(r, b, 3);
    }
}

static void put_anything(struct pictures *r, struct bits *b) {
    size_t n = 1 + (size_t)script_below(&r->in, 24);

    for (size_t i = 0; i < n; i++) {
        put(b, 8, script_number(&r->in, 1));
    }
}

/* ---- what is made of them ---- */

static void check_frame(struct pictures *r, const media_frame *f) {
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

static void send(struct pictures *r, const media_frame *f) {
    media_timed_frame timed = {.frame = *f,
                               .due = MEDIA_NEVER,
                               .deadline = MEDIA_NEVER,
                               .number = (uint32_t)r->sections};
    uint32_t depends;

    if (!media__gate_takes(&r->gate, &timed)) {
        return;
    }
    if (script_below(&r->in, 32) == 30) { /* there is no room for it */
        media__gate_leave_out(&r->gate, &timed);
        return;
    }
    depends = media__chain_add(&r->chain, &timed, r->sections);
    FUZZ_CHECK(depends == TL_DEPENDS_NONE || depends <= r->sections);
    r->sections++;
    if (script_below(&r->in, 32) == 31) { /* another connection begins */
        memset(&r->chain, 0, sizeof(r->chain));
        media__gate_join(&r->gate, 0);
    }
}

static void take(struct pictures *r, const uint8_t *made, size_t len) {
    uint8_t *unit = malloc(len); /* whose end sanitizers watch */
    media_frame f;

    FUZZ_CHECK(unit != NULL);
    memcpy(unit, made, len);
    media__scanner_classify(&r->scanner, unit, len, 0, &f);
    check_frame(r, &f);
    send(r, &f);
    free(unit);
}

typedef void (*put_unit)(struct pictures *r, struct bits *b);

static size_t make(struct pictures *r, put_unit how, uint8_t *to) {
    struct bits b;

    memset(&b, 0, sizeof(b));
    how(r, &b);
    return finish(&b, to);
}

void pictures_play(const struct pictures_codec *codec, const uint8_t *in,
                   size_t size) {
    struct pictures r = {.in = {in, in + size}};
    uint8_t made[SLICES_MAX * UNIT_MAX];

    media__scanner_init(&r.scanner, codec->name, MEDIA_TYPE_VIDEO, NULL, 0);
    for (int i = 0; script_left(&r.in) && i < PICTURES_MAX; i++) {
        uint64_t what = i < 2 ? (uint64_t)i : script_below(&r.in, 24);
        put_unit how = what == 0   ? codec->put_sps
                       : what == 1 ? codec->put_pps
                       : what == 2 ? put_anything
                                   : codec->put_slice;
        size_t len = make(&r, how, made);
        for (int n = 1; n < SLICES_MAX && script_below(&r.in, 16) == 15; n++) {
            len += make(&r, codec->put_slice, made + len);
        }
        take(&r, made, len);
        codec->check(&r);
    }
}
