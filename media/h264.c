/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "media/framing.h"
#include "media/h26x.h"
#include "media/nal.h"

/* nal_unit_type, H.264 table 7-1 */
enum {
    NAL_SLICE = 1,
    NAL_PARTITION_A = 2,
    NAL_IDR = 5,
    NAL_SEI = 6,
    NAL_SPS = 7,
    NAL_PPS = 8
};

/* What the NAL units of one access unit add up to. */
struct sum {
    bool slice;
    bool idr;
    bool referenced;
    bool params;
    bool inter; /* a slice that is not intra */
    bool b;     /* a B slice */
};

static void read_slice(const media_nal *nal, struct sum *sum) {
    media_bits b;

    media__bits_begin(&b, nal, 1);
    media__bits_ue(&b); /* first_mb_in_slice */
    uint32_t type = media__bits_ue(&b);
    sum->slice = true;
    sum->idr = sum->idr || (nal->data[0] & 0x1f) == NAL_IDR;
    sum->referenced = sum->referenced || (nal->data[0] & 0x60);
    if (b.bad || type > 9) {
        return;
    }
    sum->inter = sum->inter || (type % 5 != 2 && type % 5 != 4);
    sum->b = sum->b || type % 5 == 1;
}

static void read_nal(const media_nal *nal, struct sum *sum, media_frame *f) {
    switch (nal->data[0] & 0x1f) {
    case NAL_SLICE:
    case NAL_PARTITION_A:
    case NAL_IDR:
        read_slice(nal, sum);
        break;
    case NAL_SEI:
        if (!f->recovery) {
            media__sei_read(nal, 1, f);
        }
        break;
    case NAL_SPS:
    case NAL_PPS:
        sum->params = true;
        break;
    default:
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
        read_nal(&nal, &sum, f);
    }
    if (sum.slice) {
        conclude(&sum, f);
    } else if (sum.params) {
        f->frame_class = MEDIA_CLASS_HEADER;
    }
    return sum.slice || sum.params;
}
