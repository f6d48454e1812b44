/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Temporal units of AV1 whose sequence and frame headers are written field by
 * field, as sections 5.5 and 5.9 of its specification have them.  What is read
 * of them is what was written; and of units that were damaged nothing that
 * cannot be.
 */
#include <string.h>

#include "internal/media/codec/frame.h"
#include "tests/fuzz/script.h"
#include "tests/support/bits.h"

#define UNITS_MAX 200
#define FRAMES_MAX 4
#define UNIT_ROOM 4096

enum { SEQUENCE_HEADER = 1, DELIMITER = 2, FRAME_HEADER = 3, FRAME = 6 };
enum { KEY, INTER, INTRA_ONLY, SWITCH };

/* What the frames need of the newest sequence header. */
struct sequence {
    bool reduced;
    bool equal_interval;
    bool decoder_model;
    unsigned time_bits;
    unsigned id_bits;
    unsigned order_bits;
    unsigned screen;     /* 0, 1, or 2: each frame says */
    unsigned integer_mv; /* likewise */
};

/* What a unit is. */
struct truth {
    unsigned frames;
    bool key;
    bool intra;
    bool stored;
};

struct maker {
    struct script in;
    struct sequence seq;
    uint8_t unit[UNIT_ROOM];
    size_t len;
};

static unsigned flip(struct maker *m) {
    return (unsigned)script_below(&m->in, 2);
}

static unsigned seldom(struct maker *m) {
    return script_below(&m->in, 8) == 7;
}

static unsigned put_flag(struct bits *b, unsigned value) {
    put(b, 1, value);
    return value;
}

static unsigned put_any(struct maker *m, struct bits *b, unsigned n) {
    unsigned value = (unsigned)script_number(&m->in, (int)(n + 7) / 8);

    value &= n < 32 ? (1u << n) - 1 : UINT32_MAX;
    put(b, n, value);
    return value;
}

/* --- OBUs ---------------------------------------------------------------- */

static void add_obu(struct maker *m, unsigned type, const struct bits *b) {
    size_t size = (b->count + 7) / 8;
    unsigned extended = seldom(m);
    uint8_t *p = m->unit + m->len;

    if (m->len + size + 8 > sizeof(m->unit)) {
        return;
    }
    *p++ = (uint8_t)(type << 3 | extended << 2 | 2u);
    if (extended) {
        *p++ = (uint8_t)(script_below(&m->in, 8) << 5);
    }
    *p++ = (uint8_t)((size & 0x7f) | (size > 127 ? 0x80 : 0));
    if (size > 127) {
        *p++ = (uint8_t)(size >> 7);
    }
    memcpy(p, b->data, size);
    m->len = (size_t)(p - m->unit) + size;
}

/* --- Sequence headers: 5.5 ----------------------------------------------- */

/* Returns the bits of a decoder buffer delay. */
static unsigned put_timing(struct maker *m, struct bits *b) {
    unsigned delay;
    unsigned time;

    (void)put_any(m, b, 32);
    (void)put_any(m, b, 32);
    m->seq.equal_interval = put_flag(b, flip(m));
    if (m->seq.equal_interval) {
        put_ue(b, script_below(&m->in, 300)); /* uvlc() */
    }
    m->seq.decoder_model = put_flag(b, flip(m));
    if (!m->seq.decoder_model) {
        return 0;
    }
    delay = put_any(m, b, 5) + 1;
    (void)put_any(m, b, 32);
    (void)put_any(m, b, 5);
    time = put_any(m, b, 5) + 1;
    m->seq.time_bits = m->seq.equal_interval ? 0 : time;
    return delay;
}

static void put_operating_points(struct maker *m, struct bits *b,
                                 unsigned delay) {
    unsigned display = put_flag(b, seldom(m));
    unsigned points = (unsigned)script_below(&m->in, 4);

    put(b, 5, points);
    for (unsigned i = 0; i <= points; i++) {
        (void)put_any(m, b, 12);
        if (put_any(m, b, 5) > 7) {
            (void)put_any(m, b, 1);
        }
        if (m->seq.decoder_model && put_flag(b, flip(m))) {
            (void)put_any(m, b, delay);
            (void)put_any(m, b, delay);
            (void)put_any(m, b, 1);
        }
        if (display && put_flag(b, flip(m))) {
            (void)put_any(m, b, 4);
        }
    }
}

static void put_size(struct maker *m, struct bits *b) {
    unsigned width = put_any(m, b, 4) + 1;
    unsigned height = put_any(m, b, 4) + 1;
    unsigned delta;

    (void)put_any(m, b, width);
    (void)put_any(m, b, height);
    if (!m->seq.reduced && put_flag(b, seldom(m))) {
        delta = put_any(m, b, 4) + 2;
        m->seq.id_bits = delta + put_any(m, b, 3) + 1;
    }
}

static void put_screen(struct maker *m, struct bits *b) {
    m->seq.screen = put_flag(b, flip(m)) ? 2 : put_flag(b, flip(m));
    if (m->seq.screen > 0) {
        m->seq.integer_mv = put_flag(b, flip(m)) ? 2 : put_flag(b, flip(m));
    }
}

static void put_tools(struct maker *m, struct bits *b) {
    unsigned order;

    (void)put_any(m, b, 3);
    m->seq.screen = 2;
    m->seq.integer_mv = 2;
    if (m->seq.reduced) {
        return;
    }
    (void)put_any(m, b, 4);
    order = put_flag(b, !seldom(m));
    if (order) {
        (void)put_any(m, b, 2);
    }
    put_screen(m, b);
    m->seq.order_bits = order ? put_any(m, b, 3) + 1 : 0;
}

static void add_sequence(struct maker *m) {
    struct bits b = {.count = 0};
    unsigned delay = 0;

    m->seq = (struct sequence){.reduced = seldom(m)};
    put(&b, 4, 0); /* profile, still picture */
    (void)put_flag(&b, m->seq.reduced);
    if (m->seq.reduced) {
        (void)put_any(m, &b, 5);
    } else {
        if (put_flag(&b, seldom(m))) {
            delay = put_timing(m, &b);
        }
        put_operating_points(m, &b, delay);
    }
    put_size(m, &b);
    put_tools(m, &b);
    put(&b, 32, 0); /* superresolution, colours, grain */
    add_obu(m, SEQUENCE_HEADER, &b);
}

/* --- Frame headers: 5.9.2 ------------------------------------------------ */

/* Behind error_resilient_mode.  Whether others may need the frame. */
static bool put_refresh(struct maker *m, struct bits *b, unsigned type,
                        bool resilient) {
    const struct sequence *s = &m->seq;
    bool intra = type == KEY || type == INTRA_ONLY;
    unsigned screen;

    (void)put_any(m, b, 1);
    screen = s->screen == 2 ? put_flag(b, flip(m)) : s->screen;
    if (screen && s->integer_mv == 2) {
        (void)put_any(m, b, 1);
    }
    (void)put_any(m, b, s->id_bits);
    if (type != SWITCH && !s->reduced) {
        (void)put_any(m, b, 1);
    }
    (void)put_any(m, b, s->order_bits);
    if (!intra && !resilient) {
        (void)put_any(m, b, 3);
    }
    if (s->decoder_model && put_flag(b, seldom(m))) {
        put(b, 32, 0);
        return true; /* is taken to be, for it is not read any further */
    }
    screen = script_below(&m->in, 3) == 0 ? 0 : put_any(m, b, 8);
    if (screen == 0 && b->count % 8 != 0) {
        put(b, 8, 0);
    }
    return screen != 0;
}

static void add_frame(struct maker *m, struct truth *t) {
    struct bits b = {.count = 0};
    unsigned type = (unsigned)script_below(&m->in, 4);
    bool shown = true;
    bool key;
    bool resilient = true;

    t->frames++;
    if (m->seq.reduced) {
        type = KEY;
    } else if (put_flag(&b, seldom(m))) {
        (void)put_any(m, &b, 3);
        put(&b, 64, 0);
        t->intra = false;
        add_obu(m, FRAME_HEADER, &b);
        return;
    } else {
        put(&b, 2, type);
        shown = put_flag(&b, !seldom(m));
        (void)put_any(m, &b, shown ? m->seq.time_bits : 1);
    }
    key = type == KEY && shown;
    t->key = t->key || (t->frames == 1 && key);
    t->intra = t->intra && (type == KEY || type == INTRA_ONLY);
    if (!key && type != SWITCH) {
        resilient = put_flag(&b, flip(m));
        t->stored = put_refresh(m, &b, type, resilient) || t->stored;
    } else {
        t->stored = true;
    }
    put(&b, 64, 0);
    add_obu(m, flip(m) ? FRAME : FRAME_HEADER, &b);
}

/* --- Units --------------------------------------------------------------- */

static struct truth make_unit(struct maker *m, bool first) {
    const struct bits nothing = {.count = 0};
    struct truth t = {.intra = true};

    m->len = 0;
    add_obu(m, DELIMITER, &nothing);
    if (first || seldom(m)) {
        add_sequence(m);
    }
    do {
        add_frame(m, &t);
    } while (t.frames < FRAMES_MAX && seldom(m));
    return t;
}

static void expect_true(const media_frame *f, const struct truth *t) {
    FUZZ_CHECK(f->key == t->key);
    FUZZ_CHECK((f->picture == MEDIA_PICTURE_I) == (t->key || t->intra));
    FUZZ_CHECK(f->frame_class == (t->key      ? MEDIA_CLASS_KEY
                                  : t->stored ? MEDIA_CLASS_REFERENCE
                                              : MEDIA_CLASS_DISPOSABLE));
}

/* Up to four bytes; false: nothing was changed. */
static bool damage(struct maker *m) {
    size_t n = script_below(&m->in, 8) == 7 ? 1 + script_below(&m->in, 4) : 0;

    for (size_t i = 0; i < n; i++) {
        m->unit[script_below(&m->in, m->len)] ^=
            (uint8_t)script_number(&m->in, 1);
    }
    if (n > 2) {
        m->len = 1 + script_below(&m->in, m->len);
    }
    return n > 0;
}

static void classify(media_scanner *s, const struct maker *m, media_frame *f) {
    uint8_t *unit = malloc(m->len); /* whose end sanitizers watch */

    FUZZ_CHECK(unit != NULL);
    memcpy(unit, m->unit, m->len);
    media__scanner_classify(s, unit, m->len, 0, f);
    free(unit);
    FUZZ_CHECK(f->frame_class < MEDIA_CLASS_COUNT);
    FUZZ_CHECK(f->picture < MEDIA_PICTURE_COUNT);
}

int LLVMFuzzerTestOneInput(const uint8_t *in, size_t size) {
    struct maker m = {.in = {in, in + size}};
    media_scanner s;
    media_frame f;

    media__scanner_init(&s, "av1", MEDIA_TYPE_VIDEO, NULL, 0);
    for (int i = 0; script_left(&m.in) && i < UNITS_MAX; i++) {
        media_scanner before = s;
        struct truth t = make_unit(&m, i == 0);

        classify(&s, &m, &f);
        expect_true(&f, &t);
        if (damage(&m)) {
            classify(&before, &m, &f);
        }
    }
    return 0;
}
