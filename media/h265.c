/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "media/framing.h"
#include "media/h26x.h"
#include "media/nal.h"

/* nal_unit_type, H.265 table 7-1 */
enum {
    NAL_RASL_N = 8,
    NAL_RADL_N = 6,
    NAL_RASL_R = 9,
    NAL_LAST_SUBLAYER = 15, /* up to here even types are non-reference */
    NAL_BLA_W_LP = 16,
    NAL_BLA_N_LP = 18,
    NAL_IDR_W_RADL = 19,
    NAL_IDR_N_LP = 20,
    NAL_CRA = 21,
    NAL_IRAP_LAST = 23,
    NAL_VPS = 32,
    NAL_SPS = 33,
    NAL_PPS = 34,
    NAL_SEI_PREFIX = 39
};

static unsigned nal_type(const media_nal *nal) {
    return nal->data[0] >> 1 & 0x3f;
}

static void read_pps(media_scanner *s, const media_nal *nal) {
    media_bits b;

    media__bits_begin(&b, nal, 2);
    uint32_t pps = media__bits_ue(&b);
    media__bits_ue(&b);     /* pps_seq_parameter_set_id */
    media__bits_get(&b, 2); /* dependent slices, output flag */
    uint32_t extra = media__bits_get(&b, 3);
    if (!b.bad && pps < sizeof(s->extra_bits)) {
        s->extra_bits[pps] = (uint8_t)extra;
    }
}

/* Only the first slice segment of a picture is read. */
static unsigned picture_type(const media_scanner *s, const media_nal *nal) {
    media_bits b;

    media__bits_begin(&b, nal, 2);
    bool first = media__bits_get(&b, 1);
    if (nal_type(nal) >= NAL_BLA_W_LP) {
        media__bits_get(&b, 1); /* no_output_of_prior_pics_flag */
    }
    uint32_t pps = media__bits_ue(&b);
    if (!first || b.bad || pps >= sizeof(s->extra_bits)) {
        return MEDIA_PICTURE_OTHER;
    }
    media__bits_get(&b, s->extra_bits[pps]);
    uint32_t type = media__bits_ue(&b);
    if (b.bad || type > 2) {
        return MEDIA_PICTURE_OTHER;
    }
    return type == 0   ? MEDIA_PICTURE_B
           : type == 1 ? MEDIA_PICTURE_P
                       : MEDIA_PICTURE_I;
}

/* A sub-layer non-reference picture is not needed by its own layer, but may be
 * by higher ones. */
static bool is_disposable(const media_scanner *s, unsigned type, unsigned tid) {
    return type < NAL_LAST_SUBLAYER && type % 2 == 0 && tid >= s->max_tid;
}

static void read_slice(media_scanner *s, const media_nal *nal, media_frame *f) {
    unsigned type = nal_type(nal);
    unsigned tid = nal->len > 1 ? nal->data[1] & 7u : 1;

    tid -= tid ? 1 : 0;
    s->max_tid = tid > s->max_tid ? (uint8_t)tid : s->max_tid;
    f->temporal_id = (uint8_t)tid;
    f->picture = (uint8_t)picture_type(s, nal);
    f->key = type >= NAL_BLA_W_LP && type <= NAL_IRAP_LAST;
    f->closed_gop = type == NAL_IDR_N_LP || type == NAL_IDR_W_RADL;
    f->broken_link = type >= NAL_BLA_W_LP && type <= NAL_BLA_N_LP;
    f->leading = type == NAL_RASL_N || type == NAL_RASL_R;
    f->frame_class = f->key                        ? MEDIA_CLASS_KEY
                     : is_disposable(s, type, tid) ? MEDIA_CLASS_DISPOSABLE
                                                   : MEDIA_CLASS_REFERENCE;
    f->recovery = f->recovery && !f->key;
    if (f->key && f->picture == MEDIA_PICTURE_OTHER) {
        f->picture = MEDIA_PICTURE_I;
    }
}

bool media__h265_classify(media_scanner *s, const void *data, size_t len,
                          media_frame *f) {
    bool slice = false;
    bool params = false;
    media_nal_iter it;
    media_nal nal;

    media__nal_begin(&it, data, len, s->nal_length);
    while (media__nal_next(&it, &nal)) {
        unsigned type = nal_type(&nal);
        if (type == NAL_PPS) {
            read_pps(s, &nal);
        }
        if (type == NAL_SEI_PREFIX && !slice && !f->recovery) {
            media__sei_read(&nal, 2, f);
        }
        params = params || (type >= NAL_VPS && type <= NAL_PPS);
        if (type <= NAL_IRAP_LAST && !slice) {
            read_slice(s, &nal, f);
            slice = true;
        }
    }
    if (!slice && params) {
        f->frame_class = MEDIA_CLASS_HEADER;
    }
    return slice || params;
}

/* hvcC, ISO/IEC 14496-15 8.3.3.1: 22 bytes, then arrays of NAL units. */
static void read_hvcc(media_scanner *s, const uint8_t *p, size_t len) {
    s->nal_length = (uint8_t)((p[21] & 3) + 1);
    size_t at = 23;
    for (unsigned arrays = p[22]; arrays && len - at >= 3; arrays--) {
        unsigned units = (unsigned)p[at + 1] << 8 | p[at + 2];
        at += 3;
        for (; units && len - at >= 2; units--) {
            size_t size = (size_t)p[at] << 8 | p[at + 1];
            at += 2;
            if (size > len - at) {
                return;
            }
            media_nal nal = {p + at, size};
            if (size > 2 && nal_type(&nal) == NAL_PPS) {
                read_pps(s, &nal);
            }
            at += size;
        }
    }
}

void media__h26x_extradata(media_scanner *s, const uint8_t *data, size_t len) {
    bool start_codes =
        len >= 3 && !data[0] && !data[1] && (data[2] <= 1 || len < 7);
    media_frame unused;

    if (start_codes) {
        memset(&unused, 0, sizeof(unused));
        if (s->codec == MEDIA_CODEC_H265) {
            media__h265_classify(s, data, len, &unused);
        }
    } else if (s->codec == MEDIA_CODEC_H264 && len >= 7) {
        s->nal_length = (uint8_t)((data[4] & 3) + 1);
    } else if (s->codec == MEDIA_CODEC_H265 && len >= 23) {
        read_hvcc(s, data, len);
    }
}
