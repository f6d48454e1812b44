/* SPDX-License-Identifier: MPL-2.0 */
/* Reference pictures of an H.264 slice: 8.2.1, 8.2.4, 8.2.5. */
#include <string.h>

#include "internal/media/codec/h264.h"

#define ROOM (sizeof(((media_h264 *)0)->refs) / sizeof(media_h264_ref))

static int32_t range_of(unsigned bits) {
    return (int32_t)1 << bits;
}

/* 8.2.1.3; base_order is FrameNumOffset here. */
static int32_t order_by_frame(media_h264 *h, const media_h264_slice *slice) {
    if (slice->frame < h->frame && h->base_order < INT32_MAX / 4) {
        h->base_order += range_of(h->sps.frame_bits);
    }
    return 2 * (h->base_order + slice->frame) - !slice->reference;
}

/* Frames must not be missing: their replacements are not known. */
static bool follows(const media_h264 *h, const media_h264_slice *slice) {
    int32_t next = (h->ref_frame + 1) & (range_of(h->sps.frame_bits) - 1);

    return slice->frame == h->ref_frame || slice->frame == next;
}

bool media__h264_begin(media_scanner *s, const media_h264_slice *slice,
                       media_refs_picture *p) {
    media_h264 *h = &s->h264;

    if (slice->idr) {
        media__refs_restart(&s->refs);
        h->following = true;
        h->count = 0;
        h->base_order = h->frame = h->ref_frame = 0;
    }
    if (!h->following || !follows(h, slice)) {
        h->following = false;
        return false;
    }
    if (h->sps.order_type == 0) {
        p->order = media__refs_order(h->base_order, h->sps.order_bits,
                                     slice->order_low);
        h->base_order = slice->reference ? p->order : h->base_order;
        p->order += slice->order_more;
    } else {
        p->order = order_by_frame(h, slice);
    }
    p->known = true;
    return true;
}

/* ---- lists ---- */

/* Pictures with their sort keys. */
struct list {
    unsigned count;
    uint32_t ordinal[ROOM];
    int32_t rank[ROOM];
};

static void sort_in(struct list *l, uint32_t ordinal, int32_t rank) {
    unsigned at = l->count++;

    for (; at && l->rank[at - 1] > rank; at--) {
        l->ordinal[at] = l->ordinal[at - 1];
        l->rank[at] = l->rank[at - 1];
    }
    l->ordinal[at] = ordinal;
    l->rank[at] = rank;
}

/* PicNum of a frame, 8.2.4.1 */
static int32_t number_of(const media_h264 *h, const media_h264_ref *r,
                         int32_t frame) {
    return r->frame > frame ? r->frame - range_of(h->sps.frame_bits) : r->frame;
}

/* Long-term pictures come after all others. */
#define BEHIND (INT32_MAX / 2)

/* 8.2.4.2.1, 8.2.4.2.3: position from the front; list 1 begins with later
 * pictures. */
static int32_t rank_of(const media_h264 *h, const media_h264_ref *r,
                       const media_h264_slice *slice, int32_t order,
                       unsigned which) {
    if (r->long_term) {
        return BEHIND + r->frame;
    }
    if (slice->type != 1) {
        return -number_of(h, r, slice->frame);
    }
    int64_t apart = (int64_t)order - r->order;
    int64_t away = apart < 0 ? -apart : apart;
    bool first = which ? apart < 0 : apart > 0;
    int32_t rank = (int32_t)(away < BEHIND / 2 ? away : BEHIND / 2 - 1);
    return first ? rank : rank + BEHIND / 2;
}

static struct list list_of(const media_h264 *h, const media_h264_slice *slice,
                           int32_t order, unsigned which) {
    struct list l = {.count = 0};

    for (unsigned i = 0; i < h->count; i++) {
        const media_h264_ref *r = &h->refs[i];
        sort_in(&l, r->ordinal, rank_of(h, r, slice, order, which));
    }
    return l;
}

/* If both lists are the same, the second list swaps its first two entries. */
static void tell_apart(const struct list *first, struct list *second) {
    if (second->count > 1 && memcmp(first->ordinal, second->ordinal,
                                    second->count * sizeof(uint32_t)) == 0) {
        uint32_t other = second->ordinal[0];
        second->ordinal[0] = second->ordinal[1];
        second->ordinal[1] = other;
    }
}

static bool has(const media_refs_picture *p, uint32_t ordinal) {
    for (unsigned i = 0; i < p->count; i++) {
        if (p->to[i] == ordinal) {
            return true;
        }
    }
    return false;
}

static void h264_refs_add(media_refs_picture *p, uint32_t ordinal) {
    if (!ordinal || p->count == MEDIA_REFS_MAX) {
        p->known = false;
    } else if (!has(p, ordinal)) {
        p->to[p->count++] = ordinal;
    }
}

static uint32_t h264_refs_find(const media_h264 *h,
                               const media_h264_slice *slice, bool long_term,
                               int32_t number) {
    for (unsigned i = 0; i < h->count; i++) {
        const media_h264_ref *r = &h->refs[i];
        int32_t own = long_term ? r->frame : number_of(h, r, slice->frame);
        if (r->long_term == long_term && own == number) {
            return r->ordinal;
        }
    }
    return 0;
}

/* 8.2.4.3: moves named pictures to the front. */
static void choose_named(const media_h264 *h, const media_h264_slice *slice,
                         unsigned which, media_refs_picture *p) {
    const media_h264_commands *named = &slice->lists[which];
    int32_t range = range_of(h->sps.frame_bits);
    int32_t number = slice->frame;

    for (unsigned i = 0; i < named->count; i++) {
        const media_h264_command *c = &named->list[i];
        if (c->number >= (uint32_t)range) {
            p->known = false;
            return;
        }
        if (c->kind == 2) {
            h264_refs_add(p,
                          h264_refs_find(h, slice, true, (int32_t)c->number));
            continue;
        }
        int32_t step = (int32_t)c->number + 1;
        number += c->kind ? step : -step;
        number -= number >= range ? range : 0;
        number += number < 0 ? range : 0;
        h264_refs_add(
            p, h264_refs_find(h, slice, false,
                              number > slice->frame ? number - range : number));
    }
}

void media__h264_choose(const media_scanner *s, const media_h264_slice *slice,
                        media_refs_picture *p) {
    const media_h264 *h = &s->h264;
    bool all = s->form != MEDIA_FORM_WHOLE; /* other slices are not visible */
    struct list first = list_of(h, slice, p->order, 0);

    for (unsigned which = 0; which < 2 && slice->active[which]; which++) {
        struct list l = list_of(h, slice, p->order, which);
        unsigned left = slice->active[which];
        if (which) {
            tell_apart(&first, &l);
        }
        media_refs_picture named = {.known = true};
        choose_named(h, slice, which, &named);
        p->known = p->known && named.known;
        for (unsigned i = 0; i < named.count; i++) {
            h264_refs_add(p, named.to[i]);
        }
        left -=
            slice->lists[which].count < left ? slice->lists[which].count : left;
        for (unsigned i = 0; i < l.count && (left || all); i++) {
            if (!has(&named, l.ordinal[i])) {
                h264_refs_add(p, l.ordinal[i]);
                left -= left > 0;
            }
        }
    }
}

/* ---- marking ---- */

static void forget(media_h264 *h, unsigned i) {
    h->count--;
    memmove(&h->refs[i], &h->refs[i + 1], (h->count - i) * sizeof(h->refs[0]));
}

static void forget_if(media_h264 *h, bool long_term, int32_t from, int32_t to,
                      int32_t frame) {
    for (unsigned i = h->count; i-- > 0;) {
        const media_h264_ref *r = &h->refs[i];
        int32_t own = long_term ? r->frame : number_of(h, r, frame);
        if (r->long_term == long_term && own >= from && own <= to) {
            forget(h, i);
        }
    }
}

/* 8.2.5.3 */
static void slide(media_h264 *h, int32_t frame) {
    unsigned oldest = h->count;

    for (unsigned i = 0; i < h->count; i++) {
        const media_h264_ref *r = &h->refs[i];
        if (!r->long_term &&
            (oldest == h->count ||
             number_of(h, r, frame) < number_of(h, &h->refs[oldest], frame))) {
            oldest = i;
        }
    }
    if (oldest < h->count &&
        h->count >= (h->sps.refs_max ? h->sps.refs_max : 1)) {
        forget(h, oldest);
    }
}

static void make_long_term(media_h264 *h, int32_t number, int32_t index,
                           int32_t frame) {
    forget_if(h, true, index, index, frame);
    for (unsigned i = 0; i < h->count; i++) {
        media_h264_ref *r = &h->refs[i];
        if (!r->long_term && number_of(h, r, frame) == number) {
            r->long_term = true;
            r->frame = index;
            return;
        }
    }
}

/* 8.2.5.4.  Returns whether the references of the next picture can be known. */
static bool obey(media_h264 *h, const media_h264_slice *slice,
                 const media_h264_command *c, media_h264_ref *own) {
    int32_t number = slice->frame - (int32_t)(c->number & 0xffff) - 1;
    int32_t index = (int32_t)(c->number & 0xffff);

    switch (c->kind) {
    case 1:
        forget_if(h, false, number, number, slice->frame);
        return true;
    case 2:
        forget_if(h, true, index, index, slice->frame);
        return true;
    case 3:
        make_long_term(h, number, (int32_t)(c->index & 0xffff), slice->frame);
        return true;
    case 4:
        forget_if(h, true, index, INT32_MAX, slice->frame);
        return true;
    case 6:
        own->long_term = true;
        own->frame = index;
        return true;
    default: /* 5 resets without an IDR picture */
        return false;
    }
}

static void mark(media_h264 *h, const media_h264_slice *slice,
                 media_h264_ref own) {
    if (slice->idr) {
        own.long_term = slice->long_term;
        own.frame = 0;
    } else if (!slice->adaptive) {
        slide(h, slice->frame);
    }
    for (unsigned i = 0; i < slice->marking.count; i++) {
        h->following =
            h->following && obey(h, slice, &slice->marking.list[i], &own);
    }
    if (own.long_term) {
        forget_if(h, true, own.frame, own.frame, slice->frame);
    }
    if (h->count < ROOM - 1) {
        h->refs[h->count++] = own;
    } else {
        h->following = false;
    }
}

void media__h264_end(media_scanner *s, const media_h264_slice *slice,
                     media_refs_picture *p, media_frame *f) {
    media_h264 *h = &s->h264;

    p->key = f->key;
    p->reference = slice->reference;
    p->known = p->known && p->count;
    media__refs_add(&s->refs, p, f);
    if (slice->reference) {
        mark(h, slice,
             (media_h264_ref){.ordinal = f->ordinal,
                              .frame = slice->frame,
                              .order = p->order});
        h->ref_frame = slice->frame;
    }
    h->frame = slice->frame;
}
