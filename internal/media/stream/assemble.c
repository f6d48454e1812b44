/* SPDX-License-Identifier: MPL-2.0 */
/* Assembles sections from the pieces that a connection delivers. */
#include "internal/media/stream/assemble.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 4096
/* The zeros in a section: so many, and so many times the bytes received. */
#define ZEROS ((size_t)64 << 10)
#define ZEROS_TIMES 8

void media__assembly_init(media_assembly *a, size_t max_bytes) {
    memset(a, 0, sizeof(*a));
    a->max_bytes = max_bytes;
}

void media__assembly_clear(media_assembly *a) {
    free(a->section.data);
    media__assembly_init(a, a->max_bytes);
}

/* A section of one piece, which has no more, gets what it needs: many may
 * wait. */
static bool make_room(media_assembly *a, size_t len, bool whole) {
    size_t cap = a->cap ? a->cap : whole ? len : FIRST_ROOM;

    while (cap < len) {
        cap *= 2;
    }
    if (cap > a->cap) {
        uint8_t *grown = realloc(a->section.data, cap);
        if (!grown) {
            return false;
        }
        a->section.data = grown;
        a->cap = cap;
    }
    return true;
}

/* Whether so many more bytes that are missing would be too many. */
static bool is_too_hollow(const media_section *s, size_t more) {
    size_t received = s->len - s->missing;

    return s->missing + more > ZEROS + ZEROS_TIMES * received;
}

/* NULL data: a gap. */
static bool assemble_append(media_assembly *a, const void *data, size_t len,
                            bool whole) {
    media_section *s = &a->section;

    if (len > a->max_bytes - s->len) {
        len = a->max_bytes - s->len;
        s->complete = false;
    }
    a->hollow = a->hollow || (!data && is_too_hollow(s, len));
    if (!len || a->hollow) {
        return true;
    }
    if (!make_room(a, s->len + len, whole)) {
        return false;
    }
    if (data) {
        memcpy(s->data + s->len, data, len);
    } else {
        memset(s->data + s->len, 0, len);
    }
    s->len += len;
    s->missing += data ? 0 : len;
    return true;
}

static void assemble_begin(media_assembly *a, const tltcp_piece *piece) {
    a->open = true;
    a->section.number = piece->section;
    a->section.seq = piece->seq;
    a->section.begins =
        piece->kind == TL_DATA && piece->flags & TL_SECTION_START;
    a->section.complete = a->section.begins;
    a->section.meta = piece->meta;
}

static int assemble_finish(media_assembly *a, media_section *out) {
    if (!a->open) {
        return 0;
    }
    *out = a->section;
    a->section = (media_section){0};
    a->open = false;
    a->hollow = false;
    a->gap = 0;
    a->cap = 0;
    return 1;
}

int media__assembly_end(media_assembly *a, media_section *out) {
    a->section.complete = false;
    return assemble_finish(a, out);
}

/* A gap at the end of a section may extend into the next ones, so its size is
 * unknown until data of the same section follows. */
static int add_gap(media_assembly *a, const tltcp_piece *piece,
                   media_section *out) {
    bool inside = a->open && (piece->section == a->section.number ||
                              piece->section == TLTCP_SECTION_UNKNOWN);

    if (!a->open) {
        return 0;
    }
    a->section.complete = false;
    if (!inside || piece->flags & TL_SECTION_END) {
        return media__assembly_end(a, out);
    }
    a->gap = piece->len;
    return 0;
}

int media__assembly_add(media_assembly *a, const tltcp_piece *piece,
                        media_section *out) {
    int ended = 0;

    if (piece->kind == TL_GAP) {
        return add_gap(a, piece, out);
    }
    if (a->open && (piece->flags & TL_SECTION_START ||
                    piece->section != a->section.number)) {
        ended += media__assembly_end(a, out);
    }
    if (!a->open) {
        assemble_begin(a, piece);
    }
    if (!assemble_append(a, NULL, a->gap, false) ||
        !assemble_append(a, piece->data, piece->len,
                         (piece->flags & TL_SECTION_END) != 0)) {
        return -1;
    }
    a->gap = 0;
    if (piece->flags & TL_SECTION_END) {
        ended += assemble_finish(a, out + ended);
    }
    return ended;
}
