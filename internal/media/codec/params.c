/* SPDX-License-Identifier: MPL-2.0 */
/* Collects parameter sets and puts them in front of key frames. */
#include "internal/media/codec/params.h"

#include <string.h>

#include "internal/media/codec/nal.h"

/* What follows a start code. */
enum part {
    PART_OTHER,
    PART_FIRST, /* begins a new set of headers */
    PART_MORE,  /* belongs to that set */
    PART_DELIMITER,
    PART_PICTURE
};

static enum part part_h264(unsigned type) {
    return type == 7 || type == 15   ? PART_FIRST
           : type == 8 || type == 13 ? PART_MORE
           : type == 9               ? PART_DELIMITER
           : type != 0 && type <= 5  ? PART_PICTURE
                                     : PART_OTHER;
}

static enum part part_h265(unsigned type) {
    return type == 32 || type == 33 ? PART_FIRST
           : type == 34             ? PART_MORE
           : type == 35             ? PART_DELIMITER
           : type < 32              ? PART_PICTURE
                                    : PART_OTHER;
}

/* Extensions follow the sequence header until a group or a picture. */
static enum part part_mpeg12(unsigned code) {
    return code == 0xb3                ? PART_FIRST
           : code == 0xb5              ? PART_MORE
           : code == 0 || code == 0xb8 ? PART_PICTURE
                                       : PART_OTHER;
}

/* Sequence, visual object, video object, video object layer. */
static enum part part_mpeg4(unsigned code) {
    return code == 0xb0 || code <= 0x2f   ? PART_FIRST
           : code == 0xb5                 ? PART_MORE
           : code == 0xb3 || code == 0xb6 ? PART_PICTURE
                                          : PART_OTHER;
}

static enum part part_of(const media_scanner *s, const media_nal *nal) {
    switch (s->codec) {
    case MEDIA_CODEC_H264:
        return part_h264(nal->data[0] & 0x1f);
    case MEDIA_CODEC_H265:
        return part_h265(nal->data[0] >> 1 & 0x3f);
    case MEDIA_CODEC_MPEG12:
        return part_mpeg12(nal->data[0]);
    default:
        return part_mpeg4(nal->data[0]);
    }
}

static bool has_start_codes(const media_scanner *s) {
    return !s->nal_length &&
           (s->codec == MEDIA_CODEC_H264 || s->codec == MEDIA_CODEC_H265 ||
            s->codec == MEDIA_CODEC_MPEG12 || s->codec == MEDIA_CODEC_MPEG4);
}

static bool contains(const media_params *p, const media_nal *nal) {
    for (size_t at = 0; at + nal->len <= p->len; at++) {
        if (memcmp(p->data + at, nal->data, nal->len) == 0) {
            return true;
        }
    }
    return false;
}

static void params_append(media_params *p, const media_nal *nal) {
    static const uint8_t code[] = {0, 0, 0, 1};

    if (contains(p, nal)) {
        return;
    }
    if (p->len + sizeof(code) + nal->len > sizeof(p->data)) {
        p->too_long = true;
        return;
    }
    memcpy(p->data + p->len, code, sizeof(code));
    memcpy(p->data + p->len + sizeof(code), nal->data, nal->len);
    p->len += sizeof(code) + nal->len;
}

static void params_take(media_params *p, const media_nal *nal, enum part part) {
    if (part == PART_FIRST && p->old) {
        *p = (media_params){.len = 0};
    }
    params_append(p, nal);
    if (p->too_long) {
        p->len = 0;
    }
}

bool media__params_take(media_params *p, const media_scanner *s,
                        const void *data, size_t len) {
    bool found = false;
    media_nal_iter it;
    media_nal nal;

    if (!has_start_codes(s)) {
        return true;
    }
    media__nal_begin(&it, data, len, 0);
    while (media__nal_next(&it, &nal)) {
        enum part part = part_of(s, &nal);
        if (part == PART_PICTURE) {
            p->old = true;
            break;
        }
        if (part == PART_FIRST || (part == PART_MORE && p->len)) {
            params_take(p, &nal, part);
        }
        found = found || part == PART_FIRST;
    }
    return found;
}

size_t media__params_place(const media_scanner *s, const void *data,
                           size_t len) {
    media_nal_iter it;
    media_nal nal;

    media__nal_begin(&it, data, len, 0);
    if (!media__nal_next(&it, &nal) || part_of(s, &nal) != PART_DELIMITER) {
        return 0;
    }
    return (size_t)(it.at - (const uint8_t *)data);
}
