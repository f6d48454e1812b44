/* SPDX-License-Identifier: MPL-2.0 */
/* Parameter sets and slice headers of H.264, sections 7.3.2 and 7.3.3. */
#include <string.h>

#include "internal/media/codec/h264.h"

#define LIST_MAX 32
#define REFS_MAX 16

static bool is_high(unsigned profile) {
    static const uint8_t high[] = {100, 110, 122, 244, 44,  83, 86,
                                   118, 128, 138, 139, 134, 135};

    return memchr(high, (int)profile, sizeof(high)) != NULL;
}

static void h264_params_skip_scaling_list(media_bits *b, unsigned size) {
    int32_t last = 8;
    int32_t next = 8;

    for (unsigned i = 0; i < size && next && !b->bad; i++) {
        next = (last + media__bits_se(b) % 256 + 256) % 256;
        last = next ? next : last;
    }
}

static void skip_scaling(media_bits *b, unsigned lists) {
    for (unsigned i = 0; i < lists; i++) {
        if (media__bits_get(b, 1)) {
            h264_params_skip_scaling_list(b, i < 6 ? 16 : 64);
        }
    }
}

static void h264_params_read_format(media_bits *b, unsigned profile,
                                    media_h264_sps *sps) {
    uint32_t chroma = 1;

    if (is_high(profile)) {
        chroma = media__bits_upto(b, 3);
        sps->separate_planes = chroma == 3 && media__bits_get(b, 1);
        media__bits_ue(b); /* bit depths */
        media__bits_ue(b);
        media__bits_get(b, 1); /* qpprime_y_zero_transform_bypass_flag */
        if (media__bits_get(b, 1)) {
            skip_scaling(b, chroma == 3 ? 12 : 8);
        }
    }
    sps->chroma = chroma && !sps->separate_planes;
}

/* Type 1 is not supported. */
static void read_order(media_bits *b, media_h264_sps *sps) {
    sps->order_type = (uint8_t)media__bits_upto(b, 2);
    if (sps->order_type == 0) {
        sps->order_bits = (uint8_t)(media__bits_upto(b, 12) + 4);
    }
    b->bad = b->bad || sps->order_type == 1;
}

static void read_sps(media_h264 *h, const media_nal *nal) {
    media_h264_sps *sps = &h->sps;
    media_bits b;

    memset(sps, 0, sizeof(*sps));
    media__bits_begin(&b, nal, 1);
    unsigned profile = media__bits_get(&b, 8);
    media__bits_get(&b, 16); /* constraints, level */
    sps->id = (uint8_t)media__bits_upto(&b, 31);
    h264_params_read_format(&b, profile, sps);
    sps->frame_bits = (uint8_t)(media__bits_upto(&b, 12) + 4);
    read_order(&b, sps);
    sps->refs_max = (uint8_t)media__bits_upto(&b, REFS_MAX);
    media__bits_get(&b, 1); /* gaps_in_frame_num_value_allowed_flag */
    media__bits_ue(&b);     /* width, height */
    media__bits_ue(&b);
    sps->frames_only = media__bits_get(&b, 1);
    sps->known = !b.bad;
}

static void read_pps(media_h264 *h, const media_nal *nal) {
    media_h264_pps pps = {.known = false};
    media_bits b;

    media__bits_begin(&b, nal, 1);
    uint32_t number =
        media__bits_upto(&b, sizeof(h->pps) / sizeof(h->pps[0]) - 1);
    pps.sps = (uint8_t)media__bits_upto(&b, 31);
    media__bits_get(&b, 1); /* entropy_coding_mode_flag */
    pps.two_orders = media__bits_get(&b, 1);
    media__bits_upto(&b, 0); /* only one slice group */
    pps.active[0] = (uint8_t)(media__bits_upto(&b, LIST_MAX - 1) + 1);
    pps.active[1] = (uint8_t)(media__bits_upto(&b, LIST_MAX - 1) + 1);
    pps.weighted = media__bits_get(&b, 1);
    pps.bipred = (uint8_t)media__bits_get(&b, 2);
    media__bits_ue(&b); /* quantizers */
    media__bits_ue(&b);
    media__bits_ue(&b);
    media__bits_get(&b, 2); /* deblocking, constrained intra prediction */
    pps.redundant = media__bits_get(&b, 1);
    pps.known = !b.bad;
    h->pps[number] = pps;
}

bool media__h264_read_params(media_h264 *h, const media_nal *nal) {
    unsigned type = nal->data[0] & 0x1f;

    if (type == MEDIA_H264_SPS) {
        read_sps(h, nal);
    } else if (type == MEDIA_H264_PPS) {
        read_pps(h, nal);
    }
    return type == MEDIA_H264_SPS || type == MEDIA_H264_PPS;
}

/* Reads up to the terminating kind; `operands` by kind. */
static void read_commands(media_bits *b, uint32_t end, const uint8_t *operands,
                          uint32_t kinds, media_h264_commands *out) {
    while (!b->bad) {
        media_h264_command c = {.kind = media__bits_ue(b)};
        if (c.kind == end) {
            return;
        }
        if (c.kind >= kinds || out->count == MEDIA_H264_COMMANDS) {
            b->bad = true;
            return;
        }
        c.number = operands[c.kind] > 0 ? media__bits_ue(b) : 0;
        c.index = operands[c.kind] > 1 ? media__bits_ue(b) : 0;
        out->list[out->count++] = c;
    }
}

static void read_lists(media_bits *b, const media_h264_pps *pps,
                       media_h264_slice *out) {
    static const uint8_t operands[] = {1, 1, 1};
    unsigned lists = out->type == 1 ? 2 : 1;

    if (out->type == 1) {
        media__bits_get(b, 1); /* direct_spatial_mv_pred_flag */
    }
    bool own = media__bits_get(b, 1);
    for (unsigned i = 0; i < lists; i++) {
        out->active[i] =
            own ? media__bits_upto(b, LIST_MAX - 1) + 1 : pps->active[i];
    }
    for (unsigned i = 0; i < lists; i++) {
        if (media__bits_get(b, 1)) {
            read_commands(b, 3, operands, 3, &out->lists[i]);
        }
    }
}

static void skip_weights(media_bits *b, const media_h264_sps *sps,
                         const media_h264_slice *slice) {
    unsigned all = slice->active[0] + slice->active[1];

    media__bits_ue(b); /* denominators */
    if (sps->chroma) {
        media__bits_ue(b);
    }
    for (unsigned i = 0; i < all && !b->bad; i++) {
        unsigned numbers = media__bits_get(b, 1) ? 2 : 0;
        for (; numbers; numbers--) {
            media__bits_ue(b);
        }
        numbers = sps->chroma && media__bits_get(b, 1) ? 4 : 0;
        for (; numbers; numbers--) {
            media__bits_ue(b);
        }
    }
}

static void read_marking(media_bits *b, media_h264_slice *out) {
    static const uint8_t operands[] = {0, 1, 1, 2, 1, 0, 1};

    if (out->idr) {
        media__bits_get(b, 1); /* no_output_of_prior_pics_flag */
        out->long_term = media__bits_get(b, 1);
        return;
    }
    out->adaptive = media__bits_get(b, 1);
    if (out->adaptive) {
        read_commands(b, 0, operands, sizeof(operands), &out->marking);
    }
}

static void read_order_count(media_bits *b, const media_h264_sps *sps,
                             const media_h264_pps *pps, media_h264_slice *out) {
    if (sps->order_type == 0) {
        out->order_low = (int32_t)media__bits_get(b, sps->order_bits);
        int32_t more = pps->two_orders ? media__bits_se(b) : 0;
        out->order_more = more < 0 ? more : 0;
        b->bad = b->bad || more < INT16_MIN;
    }
}

/* Reads the fields after the parameter set id. */
static void read_rest(media_bits *b, const media_h264 *h,
                      const media_h264_pps *pps, media_h264_slice *out) {
    const media_h264_sps *sps = &h->sps;

    media__bits_get(b, sps->separate_planes ? 2 : 0);
    out->frame = (int32_t)media__bits_get(b, sps->frame_bits);
    if (!sps->frames_only && media__bits_get(b, 1)) {
        b->bad = true; /* a field */
    }
    if (out->idr) {
        media__bits_ue(b); /* idr_pic_id */
    }
    read_order_count(b, sps, pps, out);
    if (pps->redundant && media__bits_ue(b)) {
        b->bad = true; /* a redundant picture */
    }
    bool bi = out->type == 1;
    bool inter = out->type % 3 == 0 || bi;
    if (inter) {
        read_lists(b, pps, out);
    }
    if (inter && (bi ? pps->bipred == 1 : pps->weighted)) {
        skip_weights(b, sps, out);
    }
    if (out->reference) {
        read_marking(b, out);
    }
}

bool media__h264_read_slice(const media_h264 *h, const media_nal *nal,
                            media_h264_slice *out) {
    media_bits b;

    memset(out, 0, sizeof(*out));
    out->idr = (nal->data[0] & 0x1f) == MEDIA_H264_IDR;
    out->reference = nal->data[0] & 0x60;
    media__bits_begin(&b, nal, 1);
    out->first = media__bits_ue(&b) == 0 && !b.bad;
    uint32_t type = media__bits_upto(&b, 9);
    uint32_t pps = media__bits_upto(&b, sizeof(h->pps) / sizeof(h->pps[0]) - 1);
    out->type = type % 5;
    if (b.bad || !h->sps.known || !h->pps[pps].known ||
        h->pps[pps].sps != h->sps.id) {
        return false;
    }
    read_rest(&b, h, &h->pps[pps], out);
    return !b.bad;
}
