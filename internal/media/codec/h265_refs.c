/* SPDX-License-Identifier: MPL-2.0 */
/* Reference pictures of an H.265 slice header: 7.3.6.1, 8.3.1, 8.3.2, 8.3.4. */
#include "internal/media/codec/framing.h"
#include "internal/media/codec/h265.h"

#define ACTIVE_MAX 16

static bool is_irap(unsigned nal) {
    return nal >= MEDIA_H265_BLA_W_LP && nal <= MEDIA_H265_IRAP_LAST;
}

static bool is_idr(unsigned nal) {
    return nal == MEDIA_H265_IDR_W_RADL || nal == MEDIA_H265_IDR_N_LP;
}

void media__h265_read_slice(const media_h265 *h, const media_nal *nal,
                            media_h265_slice *out) {
    media_bits *b = &out->bits;

    *out = (media_h265_slice){.nal = media__h265_type(nal), .type = UINT32_MAX};
    media__bits_begin(b, nal, 2);
    bool first = media__bits_get(b, 1);
    if (is_irap(out->nal)) {
        media__bits_get(b, 1); /* no_output_of_prior_pics_flag */
    }
    uint32_t pps = media__bits_ue(b);
    if (!first || b->bad || pps >= sizeof(h->pps) / sizeof(h->pps[0])) {
        return;
    }
    media__bits_get(b, h->pps[pps].extra_bits);
    out->type = media__bits_ue(b);
    out->pps = b->bad || out->type > 2 ? NULL : &h->pps[pps];
}

static unsigned bits_for(unsigned count) {
    unsigned bits = 0;

    while (1u << bits < count) {
        bits++;
    }
    return bits;
}

/* Whether the order count restarts. */
static bool begins_anew(const media_h265 *h, unsigned nal) {
    return is_irap(nal) && (!h->counting || nal < MEDIA_H265_CRA);
}

/* Records pictures that are the base of later order counts. */
static void note_order(media_h265 *h, unsigned nal, unsigned layer,
                       int32_t order) {
    bool leading = nal >= MEDIA_H265_RADL_N && nal <= MEDIA_H265_RASL_R;
    bool passed_over = nal < MEDIA_H265_LAST_SUBLAYER && nal % 2 == 0;

    if (!layer && !leading && !passed_over) {
        h->base_order = order;
    }
    h->counting = true;
}

static void read_set(media_bits *b, const media_h265_sps *sps,
                     media_h265_set *set) {
    if (!media__bits_get(b, 1)) {
        media__h265_read_set(b, sps, sps->set_count, true, set);
        return;
    }
    uint32_t index = media__bits_get(b, bits_for(sps->set_count));
    if (index < sps->set_count) {
        *set = sps->set[index];
    } else {
        b->bad = true;
    }
}

/* Whether there are long-term pictures, which may be any. */
static bool has_long_terms(media_bits *b, const media_h265_sps *sps) {
    uint32_t listed = sps->long_term && sps->long_terms ? media__bits_ue(b) : 0;
    uint32_t others = sps->long_term ? media__bits_ue(b) : 0;

    return listed || others;
}

/* Reads how many entries of each list a slice uses. */
static void read_active(const media_h265 *h, media_h265_slice *slice,
                        unsigned active[2]) {
    media_bits *b = &slice->bits;

    media__bits_get(b, h->sps.temporal_mvp);
    if (h->sps.offset) {
        media__bits_get(b, h->sps.chroma ? 2 : 1);
    }
    active[0] = slice->pps->active[0];
    active[1] = slice->pps->active[1];
    if (media__bits_get(b, 1)) {
        active[0] = media__bits_ue(b) + 1;
        active[1] = slice->type == 0 ? media__bits_ue(b) + 1 : 0;
    }
    active[1] = slice->type == 0 ? active[1] : 0;
    b->bad = b->bad || active[0] > ACTIVE_MAX || active[1] > ACTIVE_MAX;
}

/* The lists begin with earlier and with later pictures, respectively; NULL:
 * they may hold anything of the set. */
static void choose(const media_refs *r, const media_h265_set *set,
                   const unsigned *active, media_refs_picture *p) {
    unsigned n = (unsigned)set->before + set->after;
    unsigned place[2] = {0, 0};

    for (unsigned i = 0; i < n; i++) {
        place[0] += set->used >> i & 1;
        place[1] += i >= set->before && set->used >> i & 1;
    }
    unsigned all = place[0];
    unsigned after = place[1];
    place[0] = 0;
    for (unsigned i = 0; i < n; i++) {
        if (!(set->used >> i & 1)) {
            continue;
        }
        place[1] = place[0] < all - after ? place[0] + after
                                          : place[0] - (all - after);
        if (!active || place[0] < active[0] || place[1] < active[1]) {
            uint32_t to = media__refs_find(r, p->order + set->delta[i]);
            p->known = p->known && to;
            p->to[p->count++] = to;
        }
        place[0]++;
    }
}

/* Reads the fields after the order count. */
static void h265_refs_read_refs(const media_scanner *s, media_h265_slice *slice,
                                bool single, media_refs_picture *p) {
    const media_h265 *h = &s->h265;
    unsigned active[2];
    media_h265_set set;

    read_set(&slice->bits, &h->sps, &set);
    bool any = slice->bits.bad || has_long_terms(&slice->bits, &h->sps);
    bool lists = single && !slice->pps->reorders && slice->type < 2;
    if (!any && lists) {
        read_active(h, slice, active);
    }
    p->known = !any && !slice->bits.bad && slice->type < 2;
    if (p->known) {
        choose(&s->refs, &set, lists ? active : NULL, p);
    }
}

void media__h265_refer(media_scanner *s, const media_h265_slice *slice,
                       bool single, media_frame *f) {
    media_h265 *h = &s->h265;
    media_h265_slice at = *slice;
    media_refs_picture p = {.key = f->key};

    if (!at.pps || !at.pps->known || !h->sps.known ||
        h->sps.id != at.pps->sps) {
        return;
    }
    media__bits_get(&at.bits,
                    at.pps->output_flag + (h->sps.separate_planes ? 2u : 0u));
    uint32_t low =
        is_idr(at.nal) ? 0 : media__bits_get(&at.bits, h->sps.order_bits);
    p.order = (int32_t)low;
    p.reference = f->frame_class != MEDIA_CLASS_DISPOSABLE;
    if (begins_anew(h, at.nal)) {
        media__refs_restart(&s->refs);
    } else {
        p.order = media__refs_order(h->base_order, h->sps.order_bits, p.order);
    }
    if (!f->key && h->counting) {
        h265_refs_read_refs(s, &at, single, &p);
    }
    note_order(h, at.nal, f->temporal_id, p.order);
    media__refs_add(&s->refs, &p, f);
}
