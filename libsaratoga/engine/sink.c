/* SPDX-License-Identifier: MPL-2.0 */
/* Passes received bytes on for writing. */
#include "libsaratoga/engine/sink.h"

#include <string.h>

#define DIGEST_STEP ((uint64_t)1 << 20)
#define DIGEST_MAX ((uint64_t)8 << 20)

void saratoga__sink_init(saratoga__sink *s, saratoga__work_queue *queue,
                         saratoga_handle handle, uint32_t limit,
                         size_t block_len, uint32_t max_holes) {
    *s = (saratoga__sink){.queue = queue,
                          .handle = handle,
                          .limit = limit,
                          .block_len = block_len};
    cmn__ranges_init(&s->held, queue->mem, max_holes + 1);
}

static void sink_drop(saratoga__sink *s, saratoga__work_item **work) {
    if (*work != NULL) {
        saratoga__work_queue_drop(s->queue, *work);
        *work = NULL;
    }
}

void saratoga__sink_free(saratoga__sink *s) {
    if (s->queue != NULL) {
        sink_drop(s, &s->open);
        sink_drop(s, &s->order);
        cmn__ranges_free(&s->held);
    }
    *s = (saratoga__sink){0};
}

static bool continues(const saratoga__sink *s, uint64_t offset, size_t len) {
    return s->open != NULL && s->open->state != SARATOGA__WORK_ISSUED &&
           s->open->offset + s->open->len == offset &&
           s->open->len + len <= s->open->cap;
}

bool saratoga__sink_has_room(const saratoga__sink *s, uint64_t offset,
                             size_t len) {
    bool extra = s->open != NULL && s->open->state == SARATOGA__WORK_HELD;
    uint32_t used = s->writing + (extra ? 1u : 0u);
    return continues(s, offset, len) || used < s->limit + 1;
}

/* The item can grow until the caller takes it. */
static void sink_submit(saratoga__sink *s) {
    if (s->open != NULL && s->open->state == SARATOGA__WORK_HELD) {
        s->writing++;
        saratoga__work_queue_submit(s->queue, s->open);
    }
}

void saratoga__sink_flush(saratoga__sink *s) {
    sink_submit(s);
    s->open = NULL;
}

bool saratoga__sink_put(saratoga__sink *s, uint64_t offset, const void *data,
                        size_t len) {
    if (!continues(s, offset, len)) {
        saratoga__sink_flush(s);
        s->open =
            saratoga__work_queue_new(s->queue, s->handle, SARATOGA_WORK_WRITE,
                                     len > s->block_len ? len : s->block_len);
        if (s->open == NULL) {
            return false;
        }
        s->open->offset = offset;
    }
    memcpy(s->open->buf + s->open->len, data, len);
    s->open->len += len;
    if (s->writing == 0) {
        sink_submit(s);
    }
    return true;
}

static bool order(saratoga__sink *s, uint32_t type, uint64_t offset,
                  uint64_t length, uint32_t checksum) {
    saratoga__work_item *work =
        saratoga__work_queue_new(s->queue, s->handle, type, 0);
    if (work == NULL) {
        return false;
    }
    work->offset = offset;
    work->length = length;
    work->checksum = checksum;
    s->order = work;
    saratoga__work_queue_submit(s->queue, work);
    return true;
}

static void discard_open(saratoga__sink *s) {
    if (s->open != NULL && s->open->state == SARATOGA__WORK_QUEUED) {
        s->writing--;
    }
    if (s->open != NULL && s->open->state != SARATOGA__WORK_ISSUED) {
        sink_drop(s, &s->open);
    }
    s->open = NULL;
}

bool saratoga__sink_truncate(saratoga__sink *s) {
    discard_open(s);
    sink_drop(s, &s->order);
    cmn__ranges_clear(&s->held);
    s->digested = 0;
    return order(s, SARATOGA_WORK_TRUNCATE, 0, 0, SARATOGA_NONE);
}

/* Contiguous bytes held from the start. */
static uint64_t prefix(const saratoga__sink *s) {
    cmn__range r;
    return cmn__ranges_next(&s->held, 0, &r) && r.start == 0 ? r.end : 0;
}

void saratoga__sink_digest(saratoga__sink *s, uint32_t checksum, bool all) {
    uint64_t ready = prefix(s) - s->digested;
    if (s->order != NULL || checksum == SARATOGA_NONE || ready == 0 ||
        (!all && ready < DIGEST_STEP)) {
        return;
    }
    ready = ready < DIGEST_MAX ? ready : DIGEST_MAX;
    (void)order(s, SARATOGA_WORK_DIGEST, s->digested, ready, checksum);
}

bool saratoga__sink_is_whole(const saratoga__sink *s, uint64_t size) {
    return prefix(s) >= size;
}

bool saratoga__sink_commit(saratoga__sink *s, uint32_t checksum,
                           const uint8_t *digest, uint64_t size) {
    if (!order(s, SARATOGA_WORK_COMMIT, 0, size, checksum)) {
        return false;
    }
    memcpy(s->order->digest, digest, SARATOGA_CHECKSUM_MAX);
    return true;
}

static int on_written(saratoga__sink *s, const saratoga__work_item *work,
                      int64_t result) {
    s->writing--;
    s->open = s->open != work ? s->open : NULL;
    if (result < 0) {
        return (int)result;
    }
    if (cmn__ranges_add(&s->held, work->offset, work->offset + work->len,
                        NULL) != 0) {
        return SARATOGA_ERR_NOMEM;
    }
    if (s->writing == 0) {
        sink_submit(s);
    }
    return 0;
}

int saratoga__sink_on_done(saratoga__sink *s, saratoga__work_item *work,
                           int64_t result) {
    int rv = result < 0 ? (int)result : 0;
    if (work->type == SARATOGA_WORK_WRITE) {
        rv = on_written(s, work, result);
    } else if (work == s->order) {
        s->order = NULL;
        if (work->type == SARATOGA_WORK_DIGEST && rv == 0) {
            s->digested += work->length;
        }
        s->committed |= work->type == SARATOGA_WORK_COMMIT && rv == 0;
    }
    saratoga__work_queue_drop(s->queue, work);
    return rv;
}
