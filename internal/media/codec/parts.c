/* SPDX-License-Identifier: MPL-2.0 */
/* Classifies frames that arrive in parts. */
#include "internal/media/codec/parts.h"

#include "internal/media/codec/framing.h"
#include "internal/media/codec/h26x.h"
#include "internal/media/codec/nal.h"

void media__parts_begin(media_parts *p) {
    *p = (media_parts){.frames = p->frames + 1};
}

/* A recovery point may be a separate part before the slices. */
static void apply_recovery(const media_parts *p, media_frame *f) {
    if (!p->recovery || f->key) {
        return;
    }
    f->key = p->recovery_cnt == 0 && f->picture == MEDIA_PICTURE_I;
    f->recovery = !f->key;
    f->recovery_cnt = p->recovery_cnt;
    if (f->key) {
        f->frame_class = MEDIA_CLASS_KEY;
    }
}

static bool go_on(const media_parts *p, media_frame *f) {
    *f = p->frame;
    f->continues = true;
    f->recovery = false;
    return true;
}

bool media__parts_conclude(media_parts *p, bool found, bool slice,
                           media_frame *f) {
    if (p->open) {
        return go_on(p, f);
    }
    if (found && media__is_picture(f->frame_class)) {
        apply_recovery(p, f);
        p->frame = *f;
        p->open = true;
        return true;
    }
    if (f->recovery) {
        p->recovery = true;
        p->recovery_cnt = f->recovery_cnt;
        f->recovery = false;
    }
    if (slice && !found) { /* part of a frame whose beginning was missed */
        f->frame_class = MEDIA_CLASS_REFERENCE;
        return true;
    }
    return found;
}

/* Whether an H.264 access unit begins with this NAL unit when slices precede it
 * (7.4.1.2.3): units that only precede slices, and the slice with the first
 * macroblock. */
static bool begins_h264(const media_nal *nal) {
    unsigned type = nal->data[0] & 0x1f;

    if (type == 1 || type == 2 || type == 5) {
        return nal->len > 1 && nal->data[1] & 0x80;
    }
    return (type >= 6 && type <= 9) || (type >= 14 && type <= 18);
}

/* Likewise for H.265 (7.4.2.4.4). */
static bool begins_h265(const media_nal *nal) {
    unsigned type = nal->data[0] >> 1 & 0x3f;

    if (type < 32) {
        return nal->len > 2 && nal->data[2] & 0x80;
    }
    return type <= 35 || type == 39 || (type >= 41 && type <= 44) ||
           (type >= 48 && type <= 55);
}

bool media__units_classify(media_scanner *s, const void *data, size_t len,
                           media_frame *f) {
    bool h265 = s->codec == MEDIA_CODEC_H265;
    media_nal_iter it;
    media_nal nal;

    media__nal_begin(&it, data, len, s->nal_length);
    bool begins = media__nal_next(&it, &nal) &&
                  (h265 ? begins_h265(&nal) : begins_h264(&nal));
    if (!s->parts.frames || (s->parts.open && begins)) {
        media__parts_begin(&s->parts);
    }
    bool found = h265 ? media__h265_classify(s, data, len, f)
                      : media__h264_classify(s, data, len, f);
    if (!media__parts_conclude(&s->parts, found, false, f)) {
        f->frame_class = MEDIA_CLASS_HEADER;
    }
    return true;
}
