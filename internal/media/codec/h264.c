/* SPDX-License-Identifier: MPL-2.0 */
/* H.264: classifies access units by their slice headers. */
#include <string.h>

#include "internal/media/codec/framing.h"
#include "internal/media/codec/h264.h"
#include "internal/media/codec/h26x.h"

/* Summary of the NAL units of an access unit. */
struct sum {
    bool slice;
    bool idr;
    bool referenced;
    bool params;
    bool inter;  /* a slice that is not intra */
    bool b;      /* a B slice */
    bool refers; /* its references are known so far */
    media_h264_slice last;
    media_refs_picture refs;
};

static void h264_read_slice(const media_nal *nal, struct sum *sum) {
    media_bits b;

    media__bits_begin(&b, nal, 1);
    media__bits_ue(&b); /* first_mb_in_slice */
    uint32_t type = media__bits_ue(&b);
    sum->slice = true;
    sum->idr = sum->idr || (nal->data[0] & 0x1f) == MEDIA_H264_IDR;
    sum->referenced = sum->referenced || (nal->data[0] & 0x60);
    if (b.bad || type > 9) {
        return;
    }
    sum->inter = sum->inter || (type % 5 != 2 && type % 5 != 4);
    sum->b = sum->b || type % 5 == 1;
}

/* Slices of one picture may have different references. */
static void h264_read_refs(media_scanner *s, const media_nal *nal,
                           struct sum *sum) {
    bool begins = !sum->slice;
    bool good = media__h264_read_slice(&s->h264, nal, &sum->last);

    if (begins && !sum->last.first) {
        return; /* continues a picture */
    }
    if (!good) {
        s->h264.following = sum->refers = false;
    } else if (begins) {
        sum->refers = media__h264_begin(s, &sum->last, &sum->refs);
    }
    if (sum->refers) {
        media__h264_choose(s, &sum->last, &sum->refs);
    }
}

static void read_nal(media_scanner *s, const media_nal *nal, struct sum *sum,
                     media_frame *f) {
    switch (nal->data[0] & 0x1f) {
    case MEDIA_H264_SLICE:
    case MEDIA_H264_PARTITION_A:
    case MEDIA_H264_IDR:
        h264_read_refs(s, nal, sum);
        h264_read_slice(nal, sum);
        break;
    case MEDIA_H264_SEI:
        if (!f->recovery) {
            media__sei_read(nal, 1, f);
        }
        break;
    default:
        sum->params = media__h264_read_params(&s->h264, nal) || sum->params;
        break;
    }
}

static void conclude(const struct sum *sum, media_frame *f) {
    f->picture = sum->b       ? MEDIA_PICTURE_B
                 : sum->inter ? MEDIA_PICTURE_P
                              : MEDIA_PICTURE_I;
    f->closed_gop = sum->idr;
    f->key = sum->idr || (f->recovery && !f->recovery_cnt && !sum->inter);
    f->recovery = f->recovery && !f->key;
    f->frame_class = f->key            ? MEDIA_CLASS_KEY
                     : sum->referenced ? MEDIA_CLASS_REFERENCE
                                       : MEDIA_CLASS_DISPOSABLE;
}

bool media__h264_classify(media_scanner *s, const void *data, size_t len,
                          media_frame *f) {
    struct sum sum;
    media_nal_iter it;
    media_nal nal;

    memset(&sum, 0, sizeof(sum));
    media__nal_begin(&it, data, len, s->nal_length);
    while (media__nal_next(&it, &nal)) {
        read_nal(s, &nal, &sum, f);
    }
    if (sum.slice) {
        conclude(&sum, f);
        if (sum.refers) {
            media__h264_end(s, &sum.last, &sum.refs, f);
        }
    } else if (sum.params) {
        f->frame_class = MEDIA_CLASS_HEADER;
    }
    return sum.slice || sum.params;
}
