/* SPDX-License-Identifier: MPL-2.0 */
/* Reads ahead data to be sent. */
#include "libsaratoga/engine/source.h"

#include <string.h>

int saratoga__source_init(saratoga__source *s, saratoga__work_queue *queue,
                          saratoga_handle handle, const saratoga_options *o,
                          size_t payload, uint64_t size) {
    *s = (saratoga__source){
        .queue = queue, .handle = handle, .payload = payload, .size = size};
    s->block_len = o->block < payload ? payload : o->block - o->block % payload;
    s->block = cmn__alloc(queue->mem, o->blocks * sizeof(*s->block));
    s->n_blocks = s->block != NULL ? o->blocks : 0;
    return s->block != NULL ? 0 : SARATOGA_ERR_NOMEM;
}

void saratoga__source_free(saratoga__source *s) {
    for (uint32_t i = 0; i < s->n_blocks; i++) {
        if (s->block[i].work != NULL) {
            saratoga__work_queue_drop(s->queue, s->block[i].work);
        }
    }
    if (s->queue != NULL) {
        cmn__free(s->queue->mem, s->block);
    }
    *s = (saratoga__source){0};
}

static uint64_t block_end(const saratoga__work_item *work) {
    return work->offset + work->length;
}

static bool holds(const saratoga__block *b, uint64_t offset) {
    return b->work != NULL && offset >= b->work->offset &&
           offset < block_end(b->work);
}

/* The block that holds an offset, or NULL. */
static saratoga__block *source_find(saratoga__source *s, uint64_t offset) {
    for (uint32_t i = 0; i < s->n_blocks; i++) {
        uint32_t at = s->newest + i;
        at = at < s->n_blocks ? at : at - s->n_blocks;
        if (holds(&s->block[at], offset)) {
            return &s->block[at];
        }
    }
    return NULL;
}

static void release_block(saratoga__source *s, saratoga__block *b) {
    saratoga__work_queue_drop(s->queue, b->work);
    *b = (saratoga__block){0};
}

static void release_unneeded(saratoga__source *s, const cmn__ranges *todo) {
    for (uint32_t i = 0; i < s->n_blocks; i++) {
        saratoga__block *b = &s->block[i];
        cmn__range r;
        if (b->work != NULL && b->ready &&
            (!cmn__ranges_next(todo, b->work->offset, &r) ||
             r.start >= block_end(b->work))) {
            release_block(s, b);
        }
    }
}

/* A free block; otherwise the one needed last, if it lies above `below`. */
static saratoga__block *find_room(saratoga__source *s, uint64_t below) {
    saratoga__block *last = NULL;
    for (uint32_t i = 0; i < s->n_blocks; i++) {
        saratoga__block *b = &s->block[i];
        if (b->work == NULL) {
            return b;
        }
        if (b->ready && b->work->offset > below &&
            (last == NULL || b->work->offset > last->work->offset)) {
            last = b;
        }
    }
    if (last != NULL) {
        release_block(s, last);
    }
    return last;
}

/* The end of a read from r.start: the last byte to be sent within a block's
 * length. */
static uint64_t read_end(const saratoga__source *s, const cmn__ranges *todo,
                         cmn__range r, bool ahead) {
    uint64_t most = ahead ? s->block_len : s->payload;
    uint64_t limit = s->size - r.start > most ? r.start + most : s->size;
    uint64_t end = r.start;
    if (s->aligned && limit < s->size && limit - limit % s->payload > r.start) {
        limit -= limit % s->payload;
    }
    while (r.start < limit) {
        end = r.end < limit ? r.end : limit;
        if (r.end >= limit || !cmn__ranges_next(todo, r.end, &r)) {
            break;
        }
    }
    return end;
}

static bool read_from(saratoga__source *s, saratoga__block *b, uint64_t start,
                      uint64_t end) {
    size_t len = (size_t)(end - start);
    saratoga__work_item *work =
        saratoga__work_queue_new(s->queue, s->handle, SARATOGA_WORK_READ,
                                 len > s->block_len / 2 ? s->block_len : len);
    if (work == NULL) {
        return false;
    }
    work->offset = start;
    work->len = len;
    work->length = len;
    *b = (saratoga__block){.work = work};
    saratoga__work_queue_submit(s->queue, work);
    return true;
}

/* Whether a block holds only part of the next packet and must be read again
 * because no second block is available for the rest. */
static bool is_too_short(const saratoga__source *s, const saratoga__block *b,
                         const cmn__ranges *todo, cmn__range next, bool ahead) {
    uint64_t end;
    if ((s->n_blocks > 1 && ahead) || !b->ready ||
        block_end(b->work) >= next.end) {
        return false;
    }
    end = read_end(s, todo, next, ahead);
    return block_end(b->work) < (end < next.end ? end : next.end);
}

/* Only data needed next may evict data needed later. */
static saratoga__block *block_for(saratoga__source *s, const cmn__ranges *todo,
                                  cmn__range r, uint64_t need, bool ahead) {
    saratoga__block *b = source_find(s, r.start);
    uint64_t below = r.start < need ? r.start : UINT64_MAX;
    if (b != NULL && r.start < need &&
        is_too_short(s, b, todo, (cmn__range){r.start, need}, ahead)) {
        release_block(s, b);
        b = NULL;
    }
    if (b == NULL) {
        b = find_room(s, ahead ? below : 0);
        if (b != NULL &&
            !read_from(s, b, r.start, read_end(s, todo, r, ahead))) {
            b = NULL;
        }
    }
    return b;
}

void saratoga__source_plan(saratoga__source *s, const cmn__ranges *todo,
                           bool ahead) {
    uint64_t at = 0;
    uint64_t need = 0; /* the end of the next packet */
    cmn__range r;
    uint32_t tries = ahead || s->n_blocks < 2 ? s->n_blocks : 2;
    release_unneeded(s, todo);
    while (tries-- > 0 && cmn__ranges_next(todo, at, &r)) {
        saratoga__block *b;
        r.start = r.start > at ? r.start : at;
        if (need == 0) {
            need = r.end - r.start > s->payload ? r.start + s->payload : r.end;
        }
        b = block_for(s, todo, r, need, ahead);
        if (b == NULL) {
            return;
        }
        at = block_end(b->work);
    }
}

bool saratoga__source_copy(saratoga__source *s, uint64_t offset, void *out,
                           size_t len) {
    uint8_t *to = out;
    while (len > 0) {
        saratoga__block *b = source_find(s, offset);
        uint64_t n;
        if (b == NULL || !b->ready) {
            return false;
        }
        n = block_end(b->work) - offset;
        n = n < len ? n : len;
        memcpy(to, b->work->buf + (offset - b->work->offset), (size_t)n);
        s->newest = (uint32_t)(b - s->block);
        to += n;
        offset += n;
        len -= (size_t)n;
    }
    return true;
}

int saratoga__source_on_read(saratoga__source *s, saratoga__work_item *work,
                             int64_t result) {
    for (uint32_t i = 0; i < s->n_blocks; i++) {
        saratoga__block *b = &s->block[i];
        if (b->work != work) {
            continue;
        }
        b->ready = true;
        if (result < 0) {
            return (int)result;
        }
        return (uint64_t)result == work->len ? 0 : SARATOGA_ERR_CHANGED;
    }
    saratoga__work_queue_drop(s->queue, work);
    return 0;
}
