/* SPDX-License-Identifier: MPL-2.0 */
/* Finds what each frame of an elementary stream depends on. */
#include "internal/media/stream/chain.h"

#include <string.h>

#include <tltcp/types.h>

#include "internal/media/stream/deadline.h"

static bool is_leading(const media_chain *c, const media_timed_frame *timed) {
    bool before = timed->due != MEDIA_NEVER && c->key_due != MEDIA_NEVER &&
                  timed->due < c->key_due;

    return c->key && !c->key_closed && (timed->frame.leading || before);
}

/* The newest section that a frame of this layer may refer to. */
static uint64_t newest(const media_chain *c, unsigned layer) {
    uint64_t found = 0;

    for (unsigned i = 0; i <= layer; i++) {
        found = c->references[i] > found ? c->references[i] : found;
    }
    return found;
}

static void add_key(media_chain *c, const media_timed_frame *timed,
                    uint64_t section) {
    c->before_key = newest(c, MEDIA_LAYERS - 1);
    memset(c->references, 0, sizeof(c->references));
    c->leading = 0;
    c->key = c->references[0] = section + 1;
    c->key_due = timed->due;
    c->key_closed = timed->frame.closed_gop;
}

static uint32_t distance(uint64_t section, uint64_t to) {
    uint64_t back = section + 1 - to;

    return to && back < TL_DEPENDS_NONE ? (uint32_t)back : 0;
}

/* The reference of a reference or disposable frame; records references. */
static uint64_t refer(media_chain *c, const media_timed_frame *timed,
                      bool reference, uint64_t section) {
    unsigned layer = timed->frame.temporal_id % MEDIA_LAYERS;
    uint64_t to;

    if (is_leading(c, timed)) {
        to = c->leading ? c->leading : c->before_key;
        c->leading = reference ? section + 1 : c->leading;
    } else {
        to = newest(c, layer);
        c->references[layer] = reference ? section + 1 : c->references[layer];
    }
    return to;
}

/* 0: before the connection joined, before counting began, or dropped. */
static uint64_t recent(const media_chain *c, uint32_t number) {
    unsigned at = number % MEDIA_CHAIN_RECENT;

    return c->numbers[at] == number ? c->recent[at] : 0;
}

/* The picture it refers to, if known from its headers. */
static uint64_t read_parent(const media_chain *c,
                            const media_timed_frame *timed) {
    uint32_t ordinal = timed->frame.ordinal - timed->frame.parent;
    unsigned at = ordinal % MEDIA_CHAIN_RECENT;

    return timed->frame.parent && c->pictures[at].ordinal == ordinal &&
                   c->pictures[at].stream == timed->stream &&
                   c->pictures[at].section >= c->key
               ? c->pictures[at].section
               : 0;
}

static void note(media_chain *c, const media_timed_frame *timed,
                 uint64_t section) {
    unsigned at = timed->number % MEDIA_CHAIN_RECENT;
    unsigned picture = timed->frame.ordinal % MEDIA_CHAIN_RECENT;

    if (timed->frame.ordinal) {
        c->pictures[picture].section = section + 1;
        c->pictures[picture].ordinal = timed->frame.ordinal;
        c->pictures[picture].stream = timed->stream;
    }
    c->last =
        media__is_picture(timed->frame.frame_class) ? section + 1 : c->last;
    c->recent[at] = section + 1;
    c->numbers[at] = timed->number;
}

/* The reference of a picture implied by its class, unless known from its
 * headers. */
static uint32_t implied(media_chain *c, const media_timed_frame *timed,
                        uint64_t section) {
    bool key = timed->frame.frame_class == MEDIA_CLASS_KEY;
    uint64_t to;

    if (key && !timed->frame.continues) {
        add_key(c, timed, section);
        return TL_DEPENDS_NONE;
    }
    to = refer(c, timed,
               key || timed->frame.frame_class == MEDIA_CLASS_REFERENCE,
               section);
    if (timed->frame.continues) {
        to = c->last;
    } else if (read_parent(c, timed)) {
        to = read_parent(c, timed);
    }
    return timed->frame.recovery ? TL_DEPENDS_NONE : distance(section, to);
}

uint32_t media__chain_add(media_chain *c, const media_timed_frame *timed,
                          uint64_t section) {
    uint32_t depends = media__is_picture(timed->frame.frame_class)
                           ? implied(c, timed, section)
                           : 0;
    uint64_t stated = 0;

    if (timed->depends == TL_DEPENDS_NONE) {
        depends = TL_DEPENDS_NONE;
    } else if (timed->depends && timed->depends < MEDIA_CHAIN_RECENT) {
        stated = recent(c, timed->number - timed->depends);
    }
    if (timed->frame.frame_class != MEDIA_CLASS_HEADER) {
        note(c, timed, section);
    }
    return stated ? distance(section, stated) : depends;
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
