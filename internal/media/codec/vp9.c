/* SPDX-License-Identifier: MPL-2.0 */
/* VP9: classifies frames by their uncompressed headers. */
#include "internal/media/codec/nal.h"
#include "internal/media/codec/vpx.h"

#define FRAME_MARKER 2
#define CS_RGB 7
#define REFS_PER_FRAME 3

/* Properties of a frame; a superframe combines those of its frames. */
struct frame {
    bool key;
    bool intra;
    bool stored; /* as a reference, or its probabilities */
};

static void skip_size(media_bits *b) {
    media__bits_get(b, 32);
}

static void skip_render_size(media_bits *b) {
    if (media__bits_get(b, 1)) {
        skip_size(b);
    }
}

static void skip_size_with_refs(media_bits *b) {
    bool found = false;

    for (int i = 0; i < REFS_PER_FRAME && !found; i++) {
        found = media__bits_get(b, 1);
    }
    if (!found) {
        skip_size(b);
    }
    skip_render_size(b);
}

static void skip_color(media_bits *b, unsigned profile) {
    if (profile >= 2) {
        media__bits_get(b, 1);
    }
    bool rgb = media__bits_get(b, 3) == CS_RGB;
    if (!rgb) {
        media__bits_get(b, 1);
    }
    if (profile & 1) {
        media__bits_get(b, rgb ? 1 : 3);
    }
}

static unsigned read_profile(media_bits *b) {
    unsigned profile = media__bits_get(b, 1);

    profile |= media__bits_get(b, 1) << 1;
    if (profile == 3) {
        media__bits_get(b, 1);
    }
    return profile;
}

/* uncompressed_header() after frame_type, up to refresh_frame_context. */
static void read_inter(media_bits *b, unsigned profile, struct frame *f) {
    bool shown = media__bits_get(b, 1);
    bool resilient = media__bits_get(b, 1);

    f->intra = !shown && media__bits_get(b, 1);
    if (!resilient) {
        media__bits_get(b, 2); /* reset_frame_context */
    }
    if (f->intra) {
        media__bits_get(b, 24); /* frame_sync_code */
        if (profile) {
            skip_color(b, profile);
        }
    }
    f->stored = media__bits_get(b, 8);
    if (f->intra) {
        skip_size(b);
        skip_render_size(b);
    } else {
        media__bits_get(b, REFS_PER_FRAME * 4);
        skip_size_with_refs(b);
        media__bits_get(b, 1); /* allow_high_precision_mv */
        if (!media__bits_get(b, 1)) {
            media__bits_get(b, 2); /* raw_interpolation_filter */
        }
    }
    f->stored = f->stored || (!resilient && media__bits_get(b, 1)) || b->bad;
}

static bool vp9_read_frame(const uint8_t *data, size_t len, struct frame *f) {
    media_bits b;

    *f = (struct frame){.stored = false};
    media__bits_begin_raw(&b, data, len);
    if (media__bits_get(&b, 2) != FRAME_MARKER) {
        return false;
    }
    unsigned profile = read_profile(&b);
    if (media__bits_get(&b, 1)) {
        return !b.bad; /* show_existing_frame */
    }
    f->key = !media__bits_get(&b, 1) && !b.bad;
    f->stored = true;
    if (!f->key) {
        read_inter(&b, profile, f);
    }
    return true;
}

/* Annex B: the index at the end, whose marker is repeated at its beginning.
 * Returns the bytes per size; 0: not a superframe. */
static unsigned find_index(const uint8_t *p, size_t len, unsigned *frames,
                           const uint8_t **sizes) {
    unsigned marker = len ? p[len - 1] : 0;
    unsigned bytes = (marker >> 3 & 3u) + 1;

    *frames = (marker & 7u) + 1;
    size_t index = 2 + (size_t)bytes * *frames;
    if ((marker & 0xe0) != 0xc0 || len < index || p[len - index] != marker) {
        return 0;
    }
    *sizes = p + len - index + 1;
    return bytes;
}

static size_t read_size(const uint8_t *p, unsigned bytes) {
    size_t size = 0;

    while (bytes--) {
        size = size << 8 | p[bytes];
    }
    return size;
}

static void set(media_frame *f, const struct frame *sum) {
    media__set_predicted(f, sum->key, sum->intra, sum->stored);
}

bool media__vp9_classify(const void *data, size_t len, media_frame *f) {
    const uint8_t *p = data;
    const uint8_t *sizes = NULL;
    unsigned frames = 1;
    unsigned bytes = find_index(p, len, &frames, &sizes);
    struct frame sum = {.stored = false};
    struct frame one;

    if (!bytes) {
        bool known = vp9_read_frame(p, len, &sum);
        set(f, &sum);
        return known;
    }
    for (unsigned i = 0; i < frames && p < sizes; i++) {
        size_t size = read_size(sizes + (size_t)i * bytes, bytes);
        size_t left = (size_t)(sizes - 1 - p);
        size = size < left ? size : left;
        if (!size || !vp9_read_frame(p, size, &one)) {
            return false;
        }
        /* Layers above a key frame are predicted from it. */
        sum.key = i ? sum.key : one.key;
        sum.intra = i ? sum.intra && one.intra : one.intra;
        sum.stored = sum.stored || one.stored;
        p += size;
    }
    set(f, &sum);
    return true;
}
