/* SPDX-License-Identifier: MPL-2.0 */
#include "internal/media/stream/chain.h"

#include <string.h>

#include <tltcp/types.h>

#include "internal/media/stream/deadline.h"

static bool is_leading(const media_chain *c, const media_item *item) {
    bool before = item->due != MEDIA_NEVER && c->key_due != MEDIA_NEVER &&
                  item->due < c->key_due;

    return c->key && !c->key_closed && (item->frame.leading || before);
}

/* The newest that a frame of this layer may refer to. */
static uint64_t newest(const media_chain *c, unsigned layer) {
    uint64_t found = 0;

    for (unsigned i = 0; i <= layer; i++) {
        found = c->references[i] > found ? c->references[i] : found;
    }
    return found;
}

static void add_key(media_chain *c, const media_item *item, uint64_t section) {
    c->before_key = newest(c, MEDIA_LAYERS - 1);
    memset(c->references, 0, sizeof(c->references));
    c->leading = 0;
    c->key = c->references[0] = section + 1;
    c->key_due = item->due;
    c->key_closed = item->frame.closed_gop;
}

static uint32_t distance(uint64_t section, uint64_t to) {
    uint64_t back = section + 1 - to;

    return to && back < TL_DEPENDS_NONE ? (uint32_t)back : 0;
}

/* What a reference or a disposable frame refers to; notes a reference. */
static uint64_t refer(media_chain *c, const media_item *item, bool reference,
                      uint64_t section) {
    unsigned layer = item->frame.temporal_id % MEDIA_LAYERS;
    uint64_t to;

    if (is_leading(c, item)) {
        to = c->leading ? c->leading : c->before_key;
        c->leading = reference ? section + 1 : c->leading;
    } else {
        to = newest(c, layer);
        c->references[layer] = reference ? section + 1 : c->references[layer];
    }
    return to;
}

/* Before joining, before they were counted, or left out: 0. */
static uint64_t recent(const media_chain *c, uint32_t number) {
    unsigned at = number % MEDIA_CHAIN_RECENT;

    return c->numbers[at] == number ? c->recent[at] : 0;
}

/* The picture that it refers to, where its headers say so. */
static uint64_t read_parent(const media_chain *c, const media_item *item) {
    uint32_t ordinal = item->frame.ordinal - item->frame.parent;
    unsigned at = ordinal % MEDIA_CHAIN_RECENT;

    return item->frame.parent && c->pictures[at].ordinal == ordinal &&
                   c->pictures[at].stream == item->stream &&
                   c->pictures[at].section >= c->key
               ? c->pictures[at].section
               : 0;
}

static void note(media_chain *c, const media_item *item, uint64_t section) {
    unsigned at = item->number % MEDIA_CHAIN_RECENT;
    unsigned picture = item->frame.ordinal % MEDIA_CHAIN_RECENT;

    if (item->frame.ordinal) {
        c->pictures[picture].section = section + 1;
        c->pictures[picture].ordinal = item->frame.ordinal;
        c->pictures[picture].stream = item->stream;
    }
    c->last =
        media__is_picture(item->frame.frame_class) ? section + 1 : c->last;
    c->recent[at] = section + 1;
    c->numbers[at] = item->number;
}

/* What a picture refers to by what it is, unless its headers say it. */
static uint32_t implied(media_chain *c, const media_item *item,
                        uint64_t section) {
    bool key = item->frame.frame_class == MEDIA_CLASS_KEY;
    uint64_t to;

    if (key && !item->frame.continues) {
        add_key(c, item, section);
        return TL_DEPENDS_NONE;
    }
    to = refer(c, item, key || item->frame.frame_class == MEDIA_CLASS_REFERENCE,
               section);
    if (item->frame.continues) {
        to = c->last;
    } else if (read_parent(c, item)) {
        to = read_parent(c, item);
    }
    return item->frame.recovery ? TL_DEPENDS_NONE : distance(section, to);
}

uint32_t media__chain_add(media_chain *c, const media_item *item,
                          uint64_t section) {
    uint32_t depends = media__is_picture(item->frame.frame_class)
                           ? implied(c, item, section)
                           : 0;
    uint64_t told = 0;

    if (item->depends == TL_DEPENDS_NONE) {
        depends = TL_DEPENDS_NONE;
    } else if (item->depends && item->depends < MEDIA_CHAIN_RECENT) {
        told = recent(c, item->number - item->depends);
    }
    if (item->frame.frame_class != MEDIA_CLASS_HEADER) {
        note(c, item, section);
    }
    return told ? distance(section, told) : depends;
}

unsigned media__chain_class(const media_frame *frame) {
    return frame->branch ? MEDIA_CLASS_DISPOSABLE : frame->frame_class;
}

bool media__chain_misses(const media_chain *c, unsigned frame_class,
                         uint64_t section) {
    bool needed =
        frame_class == MEDIA_CLASS_KEY || frame_class == MEDIA_CLASS_REFERENCE;

    return needed && section + 1 >= c->key;
}
