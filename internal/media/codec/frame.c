/* SPDX-License-Identifier: MPL-2.0 */
/* Classifies frames: dispatches by codec; MPEG-1, MPEG-2 and MPEG-4. */
#include "internal/media/codec/frame.h"

#include <string.h>

#include "internal/media/codec/av1.h"
#include "internal/media/codec/h26x.h"
#include "internal/media/codec/nal.h"
#include "internal/media/codec/parts.h"
#include "internal/media/codec/rtp.h"
#include "internal/media/codec/vpx.h"

/* First byte after 00 00 01 */
enum {
    MPEG_PICTURE = 0x00,
    MPEG_SEQUENCE = 0xb3,
    MPEG_GROUP = 0xb8,
    MPEG4_VOL_FIRST = 0x20,
    MPEG4_VOL_LAST = 0x2f,
    MPEG4_VOS = 0xb0,
    MPEG4_VOP = 0xb6
};

static unsigned codec_by_name(const char *name) {
    static const struct {
        const char *name;
        unsigned codec;
    } table[] = {
        {"mpeg1video", MEDIA_CODEC_MPEG12}, {"mpeg2video", MEDIA_CODEC_MPEG12},
        {"mpeg4", MEDIA_CODEC_MPEG4},       {"h264", MEDIA_CODEC_H264},
        {"hevc", MEDIA_CODEC_H265},         {"h265", MEDIA_CODEC_H265},
        {"vp8", MEDIA_CODEC_VP8},           {"vp9", MEDIA_CODEC_VP9},
        {"av1", MEDIA_CODEC_AV1},
    };

    for (size_t i = 0; name && i < sizeof(table) / sizeof(table[0]); i++) {
        if (strcmp(name, table[i].name) == 0) {
            return table[i].codec;
        }
    }
    return MEDIA_CODEC_UNKNOWN;
}

void media__scanner_init(media_scanner *s, const char *codec_name, int type,
                         const void *extradata, size_t len) {
    memset(s, 0, sizeof(*s));
    s->codec = (uint8_t)codec_by_name(codec_name);
    s->type = (uint8_t)type;
    if (extradata && len && s->codec == MEDIA_CODEC_AV1) {
        media__av1_extradata(s, extradata, len);
    } else if (extradata && len) {
        media__h26x_extradata(s, extradata, len);
    }
}

static void set_picture(media_frame *f, unsigned coding_type) {
    f->picture = coding_type <= MEDIA_PICTURE_B ? (uint8_t)coding_type
                                                : MEDIA_PICTURE_OTHER;
    f->key = coding_type == MEDIA_PICTURE_I;
    f->frame_class = f->key                          ? MEDIA_CLASS_KEY
                     : f->picture == MEDIA_PICTURE_B ? MEDIA_CLASS_DISPOSABLE
                                                     : MEDIA_CLASS_REFERENCE;
}

/* ISO/IEC 11172-2 2.4.2, 13818-2 6.2: the first picture header decides; the
 * second field of a frame follows it. */
static bool classify_mpeg12(const void *data, size_t len, media_frame *f) {
    bool headers = false;
    media_nal_iter it;
    media_nal nal;

    media__nal_begin(&it, data, len, 0);
    while (media__nal_next(&it, &nal)) {
        const uint8_t *p = nal.data;
        headers = headers || p[0] == MPEG_SEQUENCE || p[0] == MPEG_GROUP;
        if (p[0] == MPEG_GROUP && nal.len >= 5) {
            f->closed_gop = p[4] & 0x40;
            f->broken_link = p[4] & 0x20;
        }
        if (p[0] == MPEG_PICTURE && nal.len >= 3) {
            f->tsn = p[1] << 2 | p[2] >> 6;
            set_picture(f, p[2] >> 3 & 7u);
            return true;
        }
    }
    if (headers) {
        f->frame_class = MEDIA_CLASS_HEADER;
    }
    return headers;
}

/* ISO/IEC 14496-2 6.2.5: vop_coding_type is 0 to 3 for I, P, B, S. */
static bool classify_mpeg4(const void *data, size_t len, media_frame *f) {
    bool headers = false;
    media_nal_iter it;
    media_nal nal;

    media__nal_begin(&it, data, len, 0);
    while (media__nal_next(&it, &nal)) {
        unsigned code = nal.data[0];
        headers = headers || code == MPEG4_VOS ||
                  (code >= MPEG4_VOL_FIRST && code <= MPEG4_VOL_LAST);
        if (code == MPEG4_VOP && nal.len >= 2) {
            unsigned type = nal.data[1] >> 6;
            set_picture(f, type == 3 ? MEDIA_PICTURE_P : type + 1);
            return true;
        }
    }
    if (headers) {
        f->frame_class = MEDIA_CLASS_HEADER;
    }
    return headers;
}

static bool classify_bytes(media_scanner *s, const void *data, size_t len,
                           media_frame *f) {
    if (s->form == MEDIA_FORM_RTP) {
        return media__rtp_classify(s, data, len, f);
    }
    if (s->form == MEDIA_FORM_UNITS) {
        return media__units_classify(s, data, len, f);
    }
    switch (s->codec) {
    case MEDIA_CODEC_MPEG12:
        return classify_mpeg12(data, len, f);
    case MEDIA_CODEC_MPEG4:
        return classify_mpeg4(data, len, f);
    case MEDIA_CODEC_H264:
        return media__h264_classify(s, data, len, f);
    case MEDIA_CODEC_H265:
        return media__h265_classify(s, data, len, f);
    case MEDIA_CODEC_VP8:
        return media__vp8_classify(data, len, f);
    case MEDIA_CODEC_VP9:
        return media__vp9_classify(data, len, f);
    case MEDIA_CODEC_AV1:
        return media__av1_classify(s, data, len, f);
    default:
        return false;
    }
}

/* Without a known codec, only explicit flags count: demuxers without a parser
 * mark every frame as a key frame. */
static void classify_flags(const media_scanner *s, uint32_t flags,
                           media_frame *f) {
    bool delta = flags & MEDIA_FLAG_DELTA;

    if (s->type == MEDIA_TYPE_AUDIO) {
        f->frame_class = MEDIA_CLASS_AUDIO;
    } else if (flags & MEDIA_FLAG_DROPPABLE) {
        f->frame_class = MEDIA_CLASS_DISPOSABLE;
    } else if (flags & MEDIA_FLAG_HEADER && !(flags & MEDIA_FLAG_KEY)) {
        f->frame_class = MEDIA_CLASS_HEADER;
    } else if (s->type == MEDIA_TYPE_VIDEO && delta) {
        f->frame_class = MEDIA_CLASS_REFERENCE;
    } else if (flags & MEDIA_FLAG_KEY) {
        f->frame_class = MEDIA_CLASS_KEY;
        f->key = true;
    }
}

void media__scanner_classify(media_scanner *s, const void *data, size_t len,
                             uint32_t flags, media_frame *f) {
    memset(f, 0, sizeof(*f));
    f->tsn = -1;
    if (!len || !classify_bytes(s, data, len, f)) {
        classify_flags(s, flags, f);
    } else if (flags & MEDIA_FLAG_DROPPABLE &&
               f->frame_class == MEDIA_CLASS_REFERENCE) {
        f->frame_class = MEDIA_CLASS_DISPOSABLE;
    }
}

uint32_t media__frame_flags(const media_frame *f, uint32_t flags) {
    uint32_t count =
        f->recovery_cnt < UINT16_MAX ? f->recovery_cnt : UINT16_MAX;

    flags &= ~(uint32_t)MEDIA_FLAG_KEY;
    if (f->key && !f->continues) { /* decoding cannot begin with a later part */
        flags |= MEDIA_FLAG_KEY | (f->closed_gop ? MEDIA_FLAG_CLOSED : 0);
    }
    if (f->branch) {
        flags |= MEDIA_FLAG_BRANCH;
    }
    if (f->recovery) {
        flags |= MEDIA_FLAG_RECOVERY | count << MEDIA_RECOVERY_SHIFT;
    }
    return flags;
}
