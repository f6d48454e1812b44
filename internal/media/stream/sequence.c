/* SPDX-License-Identifier: MPL-2.0 */
/* Orders the sections of each stream. */
#include "internal/media/stream/sequence.h"

#include <stdlib.h>
#include <string.h>

#include "internal/common/pqueue.h"
#include "internal/media/codec/framing.h"

#define STREAMS 256
/* The queue of sections that are not media; those of the streams follow. */
#define UNFRAMED 0
#define QUEUES (1 + STREAMS)

struct held {
    media_section section;
    media_header header;
    bool framed; /* header is valid */
};

struct stream {
    bool started;        /* next is valid */
    uint32_t next;       /* number of the next frame */
    uint32_t generation; /* generation of the last description delivered */
};

/* Any number of sections may wait, in any order, so all of it is in heaps. */
struct media_sequence {
    uint64_t floor;             /* everything before it is settled */
    cmn__pqueue islands;        /* settled parts after it: starts and ends */
    cmn__pqueue queues[QUEUES]; /* sections by number, then by arrival */
    size_t used;                /* all queues from here on are empty */
    uint64_t arrivals;
    struct stream streams[STREAMS];
};

media_sequence *media__sequence_new(void) {
    return calloc(1, sizeof(media_sequence));
}

void media__sequence_clear(media_sequence *q) {
    for (size_t i = 0; i < QUEUES; i++) {
        cmn__pqueue *h = &q->queues[i];
        while (h->count) {
            struct held *held = h->at[--h->count].item;
            free(held->section.data);
            free(held);
        }
    }
    q->floor = 0;
    q->islands.count = 0;
    memset(q->streams, 0, sizeof(q->streams));
}

void media__sequence_free(media_sequence *q) {
    if (q) {
        media__sequence_clear(q);
        for (size_t i = 0; i < QUEUES; i++) {
            cmn__pqueue_free(&q->queues[i]);
        }
        cmn__pqueue_free(&q->islands);
        free(q);
    }
}

bool media__sequence_cover(media_sequence *q, uint64_t seq, uint64_t len) {
    cmn__pqueue *islands = &q->islands;

    if (seq > q->floor) {
        return cmn__pqueue_add(
            islands, (cmn__pqueue_entry){.key = seq, .rank = seq + len});
    }
    q->floor = seq + len > q->floor ? seq + len : q->floor;
    while (islands->count && islands->at[0].key <= q->floor) {
        cmn__pqueue_entry x = cmn__pqueue_take(islands);
        q->floor = x.rank > q->floor ? x.rank : q->floor;
    }
    return true;
}

bool media__sequence_push(media_sequence *q, const media_section *section) {
    struct held *h = malloc(sizeof(*h));
    cmn__pqueue_entry e = {
        .key = section->number, .rank = q->arrivals++, .item = h};
    size_t payload;
    size_t at;

    if (!h) {
        return false;
    }
    *h = (struct held){.section = *section};
    h->framed = section->begins &&
                media__header_parse(&h->header, section->data, section->len,
                                    &payload) == MEDIA_OK;
    at = h->framed ? 1u + h->header.stream : UNFRAMED;
    if (!cmn__pqueue_add(&q->queues[at], e)) {
        free(h);
        return false;
    }
    q->used = at < q->used ? q->used : at + 1;
    return true;
}

/* Whether it is the next of its stream, regardless of others. */
static bool is_next(const media_sequence *q, const struct held *h) {
    const struct stream *s = &q->streams[h->header.stream];

    return h->framed && h->section.complete &&
           h->header.kind != MEDIA_KIND_CONFIG && s->started &&
           h->header.number == s->next && h->header.generation == s->generation;
}

/* Stream headers after a description have no numbers, so missing ones cannot be
 * detected. */
static void note_given(media_sequence *q, const struct held *h) {
    struct stream *s = &q->streams[h->header.stream];

    if (!h->framed) {
        return;
    }
    if (h->header.kind == MEDIA_KIND_CONFIG) {
        s->generation = h->header.generation;
        s->started = false;
    } else if (h->header.kind == MEDIA_KIND_FRAME &&
               h->header.frame_class != MEDIA_CLASS_HEADER) {
        s->started = true;
        s->next = h->header.number + 1;
    }
}

/* Whether the first of a queue need not wait. One that is not media may be of
 * any stream. */
static bool may_go(const media_sequence *q, const cmn__pqueue_entry *e,
                   bool all) {
    const cmn__pqueue *unframed = &q->queues[UNFRAMED];
    const struct held *h = e->item;

    return all || h->section.seq <= q->floor ||
           (is_next(q, h) &&
            (!unframed->count || cmn__pqueue_is_before(e, &unframed->at[0])));
}

bool media__sequence_next(media_sequence *q, bool all, media_section *section) {
    cmn__pqueue *best = NULL;
    struct held *held;

    for (size_t i = 0; i < q->used; i++) {
        cmn__pqueue *h = &q->queues[i];
        if (h->count &&
            (!best || cmn__pqueue_is_before(&h->at[0], &best->at[0])) &&
            may_go(q, &h->at[0], all)) {
            best = h;
        }
    }
    if (!best) {
        return false;
    }
    held = cmn__pqueue_take(best).item;
    note_given(q, held);
    *section = held->section;
    free(held);
    return true;
}
