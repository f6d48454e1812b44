/* SPDX-License-Identifier: MPL-2.0 */
/* Orders the sections of each stream. */
#include "internal/media/stream/sequence.h"

#include <stdlib.h>
#include <string.h>

#include "internal/media/codec/framing.h"

#define STREAMS 256

/* A settled part of the byte stream after an unsettled one. */
struct island {
    uint64_t start;
    uint64_t end;
};

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

/* Both arrays are in stream order. */
struct media_sequence {
    uint64_t floor; /* everything before it is settled */
    struct island *islands;
    size_t island_count, island_room;
    struct held *held;
    size_t held_count, held_room;
    struct stream streams[STREAMS];
};

media_sequence *media__sequence_new(void) {
    return calloc(1, sizeof(media_sequence));
}

void media__sequence_clear(media_sequence *q) {
    for (size_t i = 0; i < q->held_count; i++) {
        free(q->held[i].section.data);
    }
    q->floor = 0;
    q->island_count = q->held_count = 0;
    memset(q->streams, 0, sizeof(q->streams));
}

void media__sequence_free(media_sequence *q) {
    if (q) {
        media__sequence_clear(q);
        free(q->islands);
        free(q->held);
        free(q);
    }
}

/* Makes room for one more; NULL: out of memory, nothing changed. */
static void *grow(void *array, size_t count, size_t *room, size_t size) {
    size_t wanted = *room ? 2 * *room : 16;

    if (count < *room) {
        return array;
    }
    void *grown = realloc(array, wanted * size);
    if (grown) {
        *room = wanted;
    }
    return grown;
}

/* Merges parts that touch the floor or each other. */
static void join(media_sequence *q) {
    size_t kept = 0;

    for (size_t i = 0; i < q->island_count; i++) {
        struct island x = q->islands[i];
        if (x.start <= q->floor) {
            q->floor = x.end > q->floor ? x.end : q->floor;
        } else if (kept && x.start <= q->islands[kept - 1].end) {
            if (x.end > q->islands[kept - 1].end) {
                q->islands[kept - 1].end = x.end;
            }
        } else {
            q->islands[kept++] = x;
        }
    }
    q->island_count = kept;
}

bool media__sequence_cover(media_sequence *q, uint64_t seq, uint64_t len) {
    size_t at = q->island_count;
    struct island *islands =
        grow(q->islands, q->island_count, &q->island_room, sizeof(*islands));

    if (!islands) {
        return false;
    }
    q->islands = islands;
    while (at && islands[at - 1].start > seq) {
        at--;
    }
    memmove(islands + at + 1, islands + at,
            (q->island_count - at) * sizeof(*islands));
    islands[at] = (struct island){seq, seq + len};
    q->island_count++;
    join(q);
    return true;
}

bool media__sequence_push(media_sequence *q, const media_section *section) {
    size_t at = q->held_count;
    struct held *held =
        grow(q->held, q->held_count, &q->held_room, sizeof(*held));
    struct held h = {.section = *section};
    size_t payload;

    if (!held) {
        return false;
    }
    q->held = held;
    h.framed = section->begins &&
               media__header_parse(&h.header, section->data, section->len,
                                   &payload) == MEDIA_OK;
    while (at && held[at - 1].section.number > section->number) {
        at--;
    }
    memmove(held + at + 1, held + at, (q->held_count - at) * sizeof(*held));
    held[at] = h;
    q->held_count++;
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

static bool may_go(const media_sequence *q, const struct held *h, bool all) {
    return all || h->section.seq <= q->floor;
}

bool media__sequence_next(media_sequence *q, bool all, media_section *section) {
    bool waits[STREAMS] = {false};
    bool all_wait = false;
    size_t i;

    for (i = 0; i < q->held_count; i++) {
        const struct held *h = &q->held[i];
        if (may_go(q, h, all) ||
            (!all_wait && !waits[h->header.stream] && is_next(q, h))) {
            break;
        }
        waits[h->header.stream] = true;
        all_wait = all_wait || !h->framed;
    }
    if (i == q->held_count) {
        return false;
    }
    note_given(q, &q->held[i]);
    *section = q->held[i].section;
    memmove(q->held + i, q->held + i + 1,
            (--q->held_count - i) * sizeof(*q->held));
    return true;
}
