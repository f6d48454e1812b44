/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_WORK_QUEUE_H
#define LIBSARATOGA_WORK_QUEUE_H

#include <saratoga/event.h>

#include "internal/common/mem.h"

/* Work on files, queued for the application or issued to it. An item belongs to
 * the engine: its buffer stays until the application reports the result, even
 * when its session is gone. */

enum saratoga__work_state {
    SARATOGA__WORK_HELD,   /* being filled, or done and kept for its buffer */
    SARATOGA__WORK_QUEUED, /* not yet handed out */
    SARATOGA__WORK_ISSUED  /* handed out */
};

typedef struct saratoga__work_item {
    uint64_t id;
    saratoga_handle handle;
    struct saratoga__work_item *next; /* queued, or spare */
    enum saratoga__work_state state;
    bool abandoned; /* its session is gone */
    uint32_t type;
    uint32_t checksum;
    uint64_t offset;
    uint64_t length;
    size_t len;
    uint8_t *buf;
    size_t cap;
    uint8_t digest[SARATOGA_CHECKSUM_MAX];
} saratoga__work_item;

typedef struct saratoga__work_queue {
    const cmn__mem *mem;
    saratoga__work_item **slot;
    uint32_t n_slots;
    uint32_t free_hint;
    uint64_t serial;
    saratoga__work_item *first; /* queue */
    saratoga__work_item *last;
    saratoga__work_item *spare; /* queue with buffers, not in use */
    uint32_t spares;
    bool unseen; /* queued since the last saratoga_engine_next_work() */
} saratoga__work_queue;

void saratoga__work_queue_init(saratoga__work_queue *j, const cmn__mem *mem);
/* Frees everything, including issued items. */
void saratoga__work_queue_free(saratoga__work_queue *j);
/* A held item with a buffer of at least cap bytes (0: none), or NULL. */
saratoga__work_item *saratoga__work_queue_new(saratoga__work_queue *j,
                                              saratoga_handle handle,
                                              uint32_t type, size_t cap);
void saratoga__work_queue_submit(saratoga__work_queue *j,
                                 saratoga__work_item *work);
/* Its session no longer needs it. */
void saratoga__work_queue_drop(saratoga__work_queue *j,
                               saratoga__work_item *work);
/* The next one for the caller, or NULL. */
saratoga__work_item *saratoga__work_queue_issue(saratoga__work_queue *j);
/* The issued item of that id, now held, or NULL. */
saratoga__work_item *saratoga__work_queue_finish(saratoga__work_queue *j,
                                                 uint64_t id);

#endif /* LIBSARATOGA_WORK_QUEUE_H */
