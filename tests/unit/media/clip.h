/* SPDX-License-Identifier: MPL-2.0 */
/* A made-up clip: GOPs of I, P and B frames whose sizes vary, in coding order,
 * and a link of constant rate that carries it. */
#ifndef TESTS_UNIT_MEDIA_CLIP_H
#define TESTS_UNIT_MEDIA_CLIP_H

#include <stdint.h>
#include <string.h>

#include "media/framing.h"
#include "media/scan.h"

#define CLIP_FRAME_NS INT64_C(40000000)
#define CLIP_MAX 750

struct clip_frame {
    media_frame frame;
    int64_t dts;
    int64_t pts;
    size_t bytes;
};

struct clip {
    size_t count;
    struct clip_frame frames[CLIP_MAX];
};

static inline uint32_t clip_random(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

static inline void clip_frame_set(struct clip *c, char type, int64_t shown,
                                  uint32_t *random) {
    static const struct {
        char type;
        uint8_t frame_class;
        uint8_t picture;
        size_t bytes;
    } kinds[] = {{'I', MEDIA_CLASS_KEY, MEDIA_PICTURE_I, 42500},
                 {'P', MEDIA_CLASS_REFERENCE, MEDIA_PICTURE_P, 17500},
                 {'B', MEDIA_CLASS_DISPOSABLE, MEDIA_PICTURE_B, 11250}};
    struct clip_frame *f = &c->frames[c->count];

    memset(f, 0, sizeof(*f));
    for (size_t i = 0; i < 3; i++) {
        if (kinds[i].type != type) {
            continue;
        }
        f->frame.frame_class = kinds[i].frame_class;
        f->frame.picture = kinds[i].picture;
        f->bytes = kinds[i].bytes / 2 +
                   kinds[i].bytes * (clip_random(random) % 1000) / 1000;
    }
    f->frame.key = f->frame.closed_gop = type == 'I';
    f->frame.tsn = -1;
    f->dts = (int64_t)c->count * CLIP_FRAME_NS;
    f->pts = (shown + 1) * CLIP_FRAME_NS; /* one frame of reordering */
    c->count++;
}

/* 25 frames/s, closed GOPs of 50 frames, I BB P BB P ... P, 2.8 Mbit/s. */
static inline void clip_make(struct clip *c, uint32_t seed) {
    c->count = 0;
    for (int64_t gop = 0; gop + 50 <= CLIP_MAX; gop += 50) {
        clip_frame_set(c, 'I', gop, &seed);
        for (int64_t i = 1; i < 50; i += 3) {
            int64_t p = i + 2 < 50 ? i + 2 : 49;
            clip_frame_set(c, 'P', gop + p, &seed);
            for (int64_t b = i; b < p; b++) {
                clip_frame_set(c, 'B', gop + b, &seed);
            }
        }
    }
}

#endif /* TESTS_UNIT_MEDIA_CLIP_H */
