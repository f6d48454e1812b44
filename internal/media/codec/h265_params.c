/* SPDX-License-Identifier: MPL-2.0 */
/* Parameter sets of H.265, sections 7.3.2 to 7.3.4 and 7.3.7. */
#include <string.h>

#include "internal/media/codec/h265.h"

#define LAYERS_MAX 7
#define PROFILE_BITS 88u
#define LEVEL_BITS 8u
#define ORDER_BITS_MAX 16
#define LONG_TERMS_MAX 32
#define SETS_MAX 64
#define SET_MAX 16
#define DISTANCE_MAX 0x7fff
#define TILES_MAX 64
#define LIST_DEFAULT_MAX 15

/* se(v) has the same length as ue(v). */
static void skip_numbers(media_bits *b, unsigned count) {
    while (count--) {
        media__bits_ue(b);
    }
}

static void skip_bits(media_bits *b, unsigned count) {
    while (count--) {
        media__bits_get(b, 1);
    }
}

static void skip_levels(media_bits *b, unsigned sub_layers) {
    bool profile[LAYERS_MAX + 1] = {false};
    bool level[LAYERS_MAX + 1] = {false};

    skip_bits(b, PROFILE_BITS + LEVEL_BITS);
    for (unsigned i = 0; sub_layers && i <= LAYERS_MAX; i++) {
        profile[i] = media__bits_get(b, 1);
        level[i] = media__bits_get(b, 1);
    }
    for (unsigned i = 0; i < sub_layers; i++) {
        skip_bits(b, (profile[i] ? PROFILE_BITS : 0) +
                         (level[i] ? LEVEL_BITS : 0));
    }
}

static void h265_params_skip_scaling_list(media_bits *b) {
    for (unsigned size = 0; size < 4; size++) {
        unsigned matrices = size == 3 ? 2 : 6;
        unsigned numbers = size == 0 ? 16 : size == 1 ? 64 : 65;
        for (unsigned i = 0; i < matrices && !b->bad; i++) {
            skip_numbers(b, media__bits_get(b, 1) ? numbers : 1);
        }
    }
}

static void h265_params_add(media_bits *b, media_h265_set *set, int distance,
                            bool used) {
    unsigned n = (unsigned)set->before + set->after;

    if (n >= SET_MAX || distance > DISTANCE_MAX || distance < -DISTANCE_MAX) {
        b->bad = true;
        return;
    }
    set->delta[n] = (int16_t)distance;
    set->used |= (uint16_t)(used << n);
    if (distance < 0) {
        set->before++;
    } else {
        set->after++;
    }
}

/* State for deriving a set from another. */
struct shifted {
    const media_h265_set *from;
    int shift;
    bool used[SET_MAX + 1];
    bool taken[SET_MAX + 1];
};

/* Adds the pictures on one side of this picture; the last entry is the shifted
 * picture itself. */
static void h265_params_take(media_bits *b, const struct shifted *s, unsigned i,
                             int side, media_h265_set *out) {
    unsigned n = (unsigned)s->from->before + s->from->after;
    int distance = s->shift + (i < n ? s->from->delta[i] : 0);

    if (distance * side > 0 && s->taken[i]) {
        h265_params_add(b, out, distance, s->used[i]);
    }
}

/* Equations 7-61 and 7-62: each half begins with the nearest picture, first
 * those from the other side. */
static void derive(media_bits *b, const media_h265_set *from, int shift,
                   media_h265_set *out) {
    unsigned n = (unsigned)from->before + from->after;
    unsigned split = from->before;
    struct shifted s = {.from = from, .shift = shift};

    for (unsigned i = 0; i <= n; i++) {
        s.used[i] = media__bits_get(b, 1);
        s.taken[i] = s.used[i] || media__bits_get(b, 1);
    }
    for (unsigned i = n; i-- > split;) {
        h265_params_take(b, &s, i, -1, out);
    }
    h265_params_take(b, &s, n, -1, out);
    for (unsigned i = 0; i < split; i++) {
        h265_params_take(b, &s, i, -1, out);
    }
    for (unsigned i = split; i-- > 0;) {
        h265_params_take(b, &s, i, 1, out);
    }
    h265_params_take(b, &s, n, 1, out);
    for (unsigned i = split; i < n; i++) {
        h265_params_take(b, &s, i, 1, out);
    }
}

static void list(media_bits *b, media_h265_set *out) {
    uint32_t before = media__bits_upto(b, SET_MAX);
    uint32_t after = media__bits_upto(b, SET_MAX);
    int distance = 0;

    for (uint32_t i = 0; i < before + after && !b->bad; i++) {
        int step = (int)media__bits_upto(b, DISTANCE_MAX) + 1;
        distance = i == before ? 0 : distance;
        distance += i < before ? -step : step;
        h265_params_add(b, out, distance, media__bits_get(b, 1));
    }
}

void media__h265_read_set(media_bits *b, const media_h265_sps *sps,
                          unsigned index, bool in_slice, media_h265_set *out) {
    bool derived = index && media__bits_get(b, 1);

    memset(out, 0, sizeof(*out));
    if (!derived) {
        list(b, out);
        return;
    }
    uint32_t back = in_slice ? media__bits_upto(b, index - 1) + 1 : 1;
    bool minus = media__bits_get(b, 1);
    int shift = (int)media__bits_upto(b, DISTANCE_MAX) + 1;
    derive(b, &sps->set[index - back], minus ? -shift : shift, out);
}

/* Reads the fields from the set id to the bit depths. */
static void h265_params_read_format(media_bits *b, media_h265_sps *sps) {
    sps->id = (uint8_t)media__bits_upto(b, 15);
    uint32_t chroma = media__bits_upto(b, 3);
    sps->separate_planes = chroma == 3 && media__bits_get(b, 1);
    sps->chroma = chroma && !sps->separate_planes;
    skip_numbers(b, 2); /* width, height */
    if (media__bits_get(b, 1)) {
        skip_numbers(b, 4); /* conformance window */
    }
    skip_numbers(b, 2); /* bit depths */
}

/* Reads the fields between the order count size and the sets. */
static void read_coding(media_bits *b, media_h265_sps *sps,
                        unsigned sub_layers) {
    skip_numbers(b, media__bits_get(b, 1) ? 3 * (sub_layers + 1) : 3);
    skip_numbers(b, 6); /* sizes and depths of blocks */
    bool scaling = media__bits_get(b, 1);
    scaling = scaling && media__bits_get(b, 1); /* separate lists */
    if (scaling) {
        h265_params_skip_scaling_list(b);
    }
    media__bits_get(b, 1); /* amp_enabled_flag */
    sps->offset = media__bits_get(b, 1);
    if (media__bits_get(b, 1)) { /* pcm_enabled_flag */
        media__bits_get(b, 8);
        skip_numbers(b, 2);
        media__bits_get(b, 1);
    }
}

static void read_long_terms(media_bits *b, media_h265_sps *sps) {
    sps->long_term = media__bits_get(b, 1);
    sps->long_terms =
        sps->long_term ? (uint8_t)media__bits_upto(b, LONG_TERMS_MAX) : 0;
    for (unsigned i = 0; i < sps->long_terms; i++) {
        skip_bits(b, sps->order_bits + 1u);
    }
}

void media__h265_read_sps(media_h265 *h, const media_nal *nal) {
    media_h265_sps *sps = &h->sps;
    media_bits b;

    memset(sps, 0, sizeof(*sps));
    media__bits_begin(&b, nal, 2);
    media__bits_get(&b, 4);
    unsigned sub_layers = media__bits_get(&b, 3);
    media__bits_get(&b, 1);
    skip_levels(&b, sub_layers);
    h265_params_read_format(&b, sps);
    sps->order_bits = (uint8_t)(media__bits_upto(&b, ORDER_BITS_MAX - 4) + 4);
    read_coding(&b, sps, sub_layers);
    uint32_t sets = media__bits_upto(&b, SETS_MAX);
    for (; sps->set_count < sets && !b.bad; sps->set_count++) {
        media__h265_read_set(&b, sps, sps->set_count, false,
                             &sps->set[sps->set_count]);
    }
    read_long_terms(&b, sps);
    sps->temporal_mvp = media__bits_get(&b, 1);
    sps->known = !b.bad;
}

static void skip_tiles(media_bits *b) {
    uint32_t borders = media__bits_upto(b, TILES_MAX);

    borders += media__bits_upto(b, TILES_MAX);
    if (!media__bits_get(b, 1)) {
        skip_numbers(b, borders);
    }
    media__bits_get(b, 1); /* loop_filter_across_tiles_enabled_flag */
}

/* Skips the fields between the active picture counts and the deblocking
 * filter. */
static void skip_tools(media_bits *b) {
    media__bits_ue(b);     /* init_qp_minus26 */
    media__bits_get(b, 2); /* constrained intra prediction, skipping */
    if (media__bits_get(b, 1)) {
        media__bits_ue(b); /* diff_cu_qp_delta_depth */
    }
    skip_numbers(b, 2);    /* offsets of chroma */
    media__bits_get(b, 4); /* slice-level offsets, weights, bypass */
    bool tiles = media__bits_get(b, 1);
    media__bits_get(b, 1); /* entropy_coding_sync_enabled_flag */
    if (tiles) {
        skip_tiles(b);
    }
    media__bits_get(b, 1); /* filter across slices */
}

static void skip_deblocking(media_bits *b) {
    if (!media__bits_get(b, 1)) {
        return;
    }
    media__bits_get(b, 1); /* deblocking_filter_override_enabled_flag */
    if (!media__bits_get(b, 1)) {
        skip_numbers(b, 2);
    }
}

void media__h265_read_pps(media_h265 *h, const media_nal *nal) {
    media_h265_pps pps = {.known = false};
    media_bits b;

    media__bits_begin(&b, nal, 2);
    uint32_t number =
        media__bits_upto(&b, sizeof(h->pps) / sizeof(h->pps[0]) - 1);
    pps.sps = (uint8_t)media__bits_upto(&b, 15);
    media__bits_get(&b, 1); /* dependent_slice_segments_enabled_flag */
    pps.output_flag = media__bits_get(&b, 1);
    pps.extra_bits = (uint8_t)media__bits_get(&b, 3);
    if (b.bad) {
        return;
    }
    media__bits_get(&b, 2); /* signs, cabac_init_present_flag */
    pps.active[0] = (uint8_t)(media__bits_upto(&b, LIST_DEFAULT_MAX - 1) + 1);
    pps.active[1] = (uint8_t)(media__bits_upto(&b, LIST_DEFAULT_MAX - 1) + 1);
    skip_tools(&b);
    skip_deblocking(&b);
    if (media__bits_get(&b, 1)) {
        h265_params_skip_scaling_list(&b);
    }
    pps.reorders = media__bits_get(&b, 1);
    pps.known = !b.bad;
    h->pps[number] = pps;
}
