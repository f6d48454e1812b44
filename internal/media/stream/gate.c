/* SPDX-License-Identifier: MPL-2.0 */
/* Holds back frames that a receiver could not decode. */
#include "internal/media/stream/gate.h"

#include <string.h>

#include <tltcp/types.h>

#include "internal/media/codec/framing.h"
#include "internal/media/stream/chain.h"

/* Longest wait for a frame where decoding can begin. */
#define WAIT_NS INT64_C(10000000000)

void media__gate_join(media_gate *g, int64_t now) {
    memset(g, 0, sizeof(*g));
    g->wait_until = now + WAIT_NS;
}

static bool begins(const media_timed_frame *timed) {
    return (timed->frame.key && !timed->frame.continues) ||
           timed->frame.recovery;
}

/* Whether its headers or its application name a missing frame. */
static bool refers_to_missing(const media_gate *g,
                              const media_timed_frame *timed) {
    bool stated = timed->depends && timed->depends != TL_DEPENDS_NONE;

    for (unsigned i = 0; i < MEDIA_GATE_MISSING; i++) {
        if (!g->missing[i].known) {
            continue;
        }
        if ((stated &&
             g->missing[i].number == timed->number - timed->depends) ||
            (timed->frame.parent &&
             g->missing[i].ordinal ==
                 timed->frame.ordinal - timed->frame.parent)) {
            return true;
        }
    }
    return false;
}

static bool must_wait(media_gate *g, const media_timed_frame *timed) {
    if (begins(timed) || timed->arrival >= g->wait_until) {
        g->wait_until = 0;
    }
    if (begins(timed) && timed->frame.closed_gop) {
        memset(g->missing, 0, sizeof(g->missing));
    }
    return g->wait_until && timed->frame.temporal_id >= g->layer;
}

/* Records it, for its other parts and its dependents. */
static void note_missing(media_gate *g, const media_timed_frame *timed) {
    unsigned at = g->next++ % MEDIA_GATE_MISSING;

    g->cut = true;
    g->missing[at].known = true;
    g->missing[at].number = timed->number;
    g->missing[at].ordinal = timed->frame.ordinal;
}

bool media__gate_takes(media_gate *g, const media_timed_frame *timed) {
    if (!media__is_picture(timed->frame.frame_class)) {
        /* dependents of unknown frames are not dropped */
        if (timed->frame.frame_class != MEDIA_CLASS_HEADER) {
            g->wait_until = 0;
        }
        return true;
    }
    if (!timed->frame.continues) {
        g->cut = false;
    }
    if (g->cut || must_wait(g, timed) || refers_to_missing(g, timed)) {
        note_missing(g, timed);
        return false;
    }
    return true;
}

void media__gate_leave_out(media_gate *g, const media_timed_frame *timed) {
    unsigned c = media__chain_class(&timed->frame);

    if (!media__is_picture(timed->frame.frame_class)) {
        return;
    }
    note_missing(g, timed);
    if (c == MEDIA_CLASS_KEY || c == MEDIA_CLASS_REFERENCE) {
        g->layer = g->wait_until && g->layer < timed->frame.temporal_id
                       ? g->layer
                       : timed->frame.temporal_id;
        g->wait_until = timed->arrival + WAIT_NS;
    }
}
