/* SPDX-License-Identifier: MPL-2.0 */
/* Finds the picture that covers all references of a picture. */
#include "internal/media/codec/refs.h"

/* How often the trunk must bypass a branch before branches are recognised. */
#define PASSED_MIN 4

static media_ref *at(media_refs *r, uint32_t ordinal) {
    return &r->recent[ordinal % MEDIA_REFS_RECENT];
}

static const media_ref *peek(const media_refs *r, uint32_t ordinal) {
    return &r->recent[ordinal % MEDIA_REFS_RECENT];
}

static bool is_there(const media_refs *r, uint32_t ordinal) {
    return ordinal >= r->first && ordinal <= r->count &&
           r->count - ordinal < MEDIA_REFS_RECENT;
}

void media__refs_restart(media_refs *r) {
    r->first = r->count + 1;
}

int32_t media__refs_order(int32_t base, unsigned bits, int32_t low) {
    int32_t range = (int32_t)1 << bits;
    int32_t base_low = base & (range - 1);
    int32_t high = base - base_low;

    if (low < base_low && base_low - low >= range / 2) {
        high = high <= INT32_MAX / 2 ? high + range : high;
    } else if (low > base_low && low - base_low > range / 2) {
        high = high >= INT32_MIN / 2 ? high - range : high;
    }
    return high + low;
}

uint32_t media__refs_find(const media_refs *r, int32_t order) {
    for (uint32_t i = r->count; i && is_there(r, i); i--) {
        if (peek(r, i)->order == order) {
            return i;
        }
    }
    return 0;
}

/* Whether one picture leads to another along references. */
static bool leads_to(const media_refs *r, uint32_t from, uint32_t to) {
    while (from > to && is_there(r, from)) {
        from = peek(r, from)->parent;
    }
    return from == to && to;
}

/* 0: no single picture covers all references. */
static uint32_t parent_of(const media_refs *r, const media_refs_picture *p) {
    uint32_t newest = 0;

    for (unsigned i = 0; i < p->count; i++) {
        newest = p->to[i] > newest ? p->to[i] : newest;
    }
    for (unsigned i = 0; i < p->count; i++) {
        if (!leads_to(r, newest, p->to[i])) {
            return 0;
        }
    }
    return p->known ? newest : 0;
}

/* The trunk consists of the pictures of the lowest layer displayed after all
 * earlier ones; they refer to each other, directly or through pictures in
 * between.
 */
static bool is_trunk(const media_refs *r, const media_refs_picture *p,
                     const media_frame *f) {
    return p->key || (p->reference && !f->temporal_id && p->order > r->highest);
}

static void note_trunk(media_refs *r, const media_refs_picture *p,
                       uint32_t parent) {
    bool passes = p->key || (parent && peek(r, parent)->trunk);

    if (!passes) {
        r->passed = 0;
    } else if (!p->key && r->newest > r->trunk && r->passed < PASSED_MIN) {
        r->passed++;
    }
    r->trunk = r->count;
    r->highest = p->order;
}

void media__refs_add(media_refs *r, const media_refs_picture *p,
                     media_frame *f) {
    uint32_t parent = p->key ? 0 : parent_of(r, p);
    bool trunk = is_trunk(r, p, f);

    r->count++;
    *at(r, r->count) =
        (media_ref){.order = p->order,
                    .parent = parent || p->key ? parent : r->newest,
                    .trunk = trunk};
    f->ordinal = r->count;
    f->parent = parent ? r->count - parent : 0;
    f->branch = p->reference && !trunk && r->passed == PASSED_MIN;
    if (trunk) {
        note_trunk(r, p, parent);
    }
    r->newest = p->reference ? r->count : r->newest;
}
