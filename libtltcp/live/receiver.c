/* SPDX-License-Identifier: MPL-2.0 */
/* Assembles received pieces into sections for a reader. */
#include <stdlib.h>

#include "internal/media/stream/assemble.h"
#include "internal/media/stream/sequence.h"
#include "libtltcp/live/section.h"

#define PIECE_BYTES ((size_t)64 << 10)
/* Largest section that is assembled. */
#define SECTION_MAX ((size_t)64 << 20)

/* A gap to report. */
struct live_gap {
    uint64_t seq;
    uint64_t len;
    uint64_t section;
};

struct tltcp_live_receiver {
    tltcp_socket *socket;
    media_assembly assembly;
    media_sequence *sequence;
    struct live_gap gap;
    int ended; /* result of the connection; 1: it goes on */
    tltcp_live_stats stats;
    uint8_t piece[PIECE_BYTES];
};

tltcp_live_receiver *tltcp_live_receiver_new(tltcp_socket *socket) {
    tltcp_live_receiver *r = malloc(sizeof(*r));
    if (r == NULL) {
        return NULL;
    }
    r->socket = socket;
    r->gap = (struct live_gap){0};
    r->ended = 1;
    tltcp_live_stats_init(&r->stats);
    media__assembly_init(&r->assembly, SECTION_MAX);
    r->sequence = media__sequence_new();
    if (r->sequence == NULL) {
        free(r);
        return NULL;
    }
    return r;
}

void tltcp_live_receiver_free(tltcp_live_receiver *r) {
    if (r) {
        media__assembly_clear(&r->assembly);
        media__sequence_free(r->sequence);
        free(r);
    }
}

static void live_note_gap(tltcp_live_receiver *r, const tltcp_piece *piece) {
    r->gap = (struct live_gap){piece->seq, piece->len, piece->section};
    r->stats.gaps++;
    r->stats.gap_bytes += piece->len;
}

static bool live_on_piece(tltcp_live_receiver *r, const tltcp_piece *piece) {
    media_section ended[2];
    int n = media__assembly_add(&r->assembly, piece, ended);
    bool ok =
        media__sequence_cover(r->sequence, piece->seq, piece->len) && n >= 0;
    for (int i = 0; i < n; i++) {
        if (!media__sequence_push(r->sequence, &ended[i])) {
            free(ended[i].data);
            ok = false;
        }
    }
    if (piece->kind == TL_GAP) {
        live_note_gap(r, piece);
    }
    return ok;
}

static bool live_take_section(tltcp_live_receiver *r,
                              tltcp_live_received *out) {
    media_section s;
    if (!media__sequence_next(r->sequence, r->ended <= 0, &s)) {
        return false;
    }
    *out = (tltcp_live_received){.number = s.number,
                                 .seq = s.seq,
                                 .data = s.data,
                                 .len = s.len,
                                 .missing = s.missing,
                                 .complete = s.complete,
                                 .begins = s.begins,
                                 .meta = s.meta};
    r->stats.sections_complete += s.complete;
    r->stats.sections_cut += !s.complete;
    r->stats.bytes_received += s.complete ? s.len : 0;
    return true;
}

/* Gaps precede the sections that they release. */
static bool live_take_gap(tltcp_live_receiver *r, tltcp_live_received *out) {
    if (r->gap.len == 0) {
        return false;
    }
    *out = (tltcp_live_received){
        .number = r->gap.section, .seq = r->gap.seq, .len = (size_t)r->gap.len};
    r->gap.len = 0;
    return true;
}

/* Nothing more will arrive, so nothing has to wait any longer. */
static bool live_finish_assembly(tltcp_live_receiver *r) {
    media_section rest;
    if (media__assembly_end(&r->assembly, &rest) == 1 &&
        !media__sequence_push(r->sequence, &rest)) {
        free(rest.data);
        return false;
    }
    return true;
}

int tltcp_live_receiver_next(tltcp_live_receiver *r, tltcp_live_received *out,
                             int flags) {
    ssize_t n;
    while (!live_take_gap(r, out) && !live_take_section(r, out)) {
        if (r->ended <= 0) {
            return r->ended;
        }
        tltcp_piece piece = {.data = r->piece, .len = sizeof(r->piece)};
        size_t count = 1;
        n = tltcp_recv(r->socket, &piece, &count, flags);
        if (n == TLTCP_ERR_AGAIN) {
            return (int)n;
        }
        r->ended = n > 0 ? 1 : (int)n;
        if (!(n > 0 ? live_on_piece(r, &piece) : live_finish_assembly(r))) {
            return TLTCP_ERR_NOMEM;
        }
    }
    return 1;
}

void tltcp_live_receiver_add_stats(const tltcp_live_receiver *r,
                                   tltcp_live_stats *st) {
    tltcp__live_stats_add(st, &r->stats);
}
