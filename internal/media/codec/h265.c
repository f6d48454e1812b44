/* SPDX-License-Identifier: MPL-2.0 */
/* H.265: classifies access units by their slice headers. */
#include <string.h>

#include "internal/media/codec/framing.h"
#include "internal/media/codec/h264.h"
#include "internal/media/codec/h265.h"
#include "internal/media/codec/h26x.h"

/* A sub-layer non-reference picture is not needed by its own layer, but may be
 * needed by higher ones. */
static bool is_disposable(const media_scanner *s, unsigned type, unsigned tid) {
    return type < MEDIA_H265_LAST_SUBLAYER && type % 2 == 0 &&
           tid >= s->h265.max_tid;
}

static unsigned picture_of(const media_h265_slice *slice) {
    return !slice->pps        ? MEDIA_PICTURE_OTHER
           : slice->type == 0 ? MEDIA_PICTURE_B
           : slice->type == 1 ? MEDIA_PICTURE_P
                              : MEDIA_PICTURE_I;
}

static void h265_read_slice(media_scanner *s, const media_nal *nal,
                            media_h265_slice *slice, media_frame *f) {
    unsigned type = media__h265_type(nal);
    unsigned tid = nal->len > 1 ? nal->data[1] & 7u : 1;

    media__h265_read_slice(&s->h265, nal, slice);
    tid -= tid ? 1 : 0;
    s->h265.max_tid = tid > s->h265.max_tid ? (uint8_t)tid : s->h265.max_tid;
    f->temporal_id = (uint8_t)tid;
    f->picture = (uint8_t)picture_of(slice);
    f->key = type >= MEDIA_H265_BLA_W_LP && type <= MEDIA_H265_IRAP_LAST;
    f->closed_gop =
        type == MEDIA_H265_IDR_N_LP || type == MEDIA_H265_IDR_W_RADL;
    f->broken_link = type >= MEDIA_H265_BLA_W_LP && type <= MEDIA_H265_BLA_N_LP;
    f->leading = type == MEDIA_H265_RASL_N || type == MEDIA_H265_RASL_R;
    f->frame_class = f->key                        ? MEDIA_CLASS_KEY
                     : is_disposable(s, type, tid) ? MEDIA_CLASS_DISPOSABLE
                                                   : MEDIA_CLASS_REFERENCE;
    f->recovery = f->recovery && !f->key;
    if (f->key && f->picture == MEDIA_PICTURE_OTHER) {
        f->picture = MEDIA_PICTURE_I;
    }
}

/* Whether a NAL unit belongs to the base layer; other layers have separate
 * parameter set ids. */
static bool is_base(const media_nal *nal) {
    return !(nal->data[0] & 1) && (nal->len < 2 || nal->data[1] < 8);
}

static void read_params(media_scanner *s, const media_nal *nal) {
    unsigned type = media__h265_type(nal);

    if (type == MEDIA_H265_SPS && is_base(nal)) {
        media__h265_read_sps(&s->h265, nal);
    } else if (type == MEDIA_H265_PPS && is_base(nal)) {
        media__h265_read_pps(&s->h265, nal);
    }
}

bool media__h265_classify(media_scanner *s, const void *data, size_t len,
                          media_frame *f) {
    unsigned slices = 0;
    bool params = false;
    bool ends = false;
    media_h265_slice first;
    media_nal_iter it;
    media_nal nal;

    media__nal_begin(&it, data, len, s->nal_length);
    while (media__nal_next(&it, &nal)) {
        unsigned type = media__h265_type(&nal);
        if (type > MEDIA_H265_IRAP_LAST) {
            read_params(s, &nal);
        }
        if (type == MEDIA_H265_SEI_PREFIX && !slices && !f->recovery) {
            media__sei_read(&nal, 2, f);
        }
        params = params || (type >= MEDIA_H265_VPS && type <= MEDIA_H265_PPS);
        if (type <= MEDIA_H265_IRAP_LAST && !slices) {
            h265_read_slice(s, &nal, &first, f);
        }
        slices += type <= MEDIA_H265_IRAP_LAST;
        ends = ends || type == MEDIA_H265_EOS || type == MEDIA_H265_EOB;
    }
    if (slices) {
        bool single = slices == 1 && s->form == MEDIA_FORM_WHOLE;
        media__h265_refer(s, &first, single, f);
    } else if (params) {
        f->frame_class = MEDIA_CLASS_HEADER;
    }
    s->h265.counting = s->h265.counting && !ends;
    return slices || params;
}

/* Reads NAL units with two-byte lengths; returns where they end. */
static size_t read_units(media_scanner *s, const uint8_t *p, size_t len,
                         size_t at, unsigned units) {
    for (; units && len - at >= 2; units--) {
        size_t size = (size_t)p[at] << 8 | p[at + 1];
        at += 2;
        if (size > len - at) {
            return len;
        }
        media_nal nal = {p + at, size};
        if (size > 2 && s->codec == MEDIA_CODEC_H265) {
            read_params(s, &nal);
        } else if (size > 2) {
            (void)media__h264_read_params(&s->h264, &nal);
        }
        at += size;
    }
    return at;
}

/* hvcC, ISO/IEC 14496-15 8.3.3.1: 22 bytes, then arrays of NAL units. */
static void read_hvcc(media_scanner *s, const uint8_t *p, size_t len) {
    s->nal_length = (uint8_t)((p[21] & 3) + 1);
    size_t at = 23;
    for (unsigned arrays = p[22]; arrays && len - at >= 3; arrays--) {
        unsigned units = (unsigned)p[at + 1] << 8 | p[at + 2];
        at = read_units(s, p, len, at + 3, units);
    }
}

/* avcC, 5.3.3.1: sequence parameter sets, then picture parameter sets. */
static void read_avcc(media_scanner *s, const uint8_t *p, size_t len) {
    s->nal_length = (uint8_t)((p[4] & 3) + 1);
    size_t at = read_units(s, p, len, 6, p[5] & 0x1f);
    if (at < len) {
        read_units(s, p, len, at + 1, p[at]);
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
        } else if (s->codec == MEDIA_CODEC_H264) {
            media__h264_classify(s, data, len, &unused);
        }
    } else if (s->codec == MEDIA_CODEC_H264 && len >= 7) {
        read_avcc(s, data, len);
    } else if (s->codec == MEDIA_CODEC_H265 && len >= 23) {
        read_hvcc(s, data, len);
    }
}
