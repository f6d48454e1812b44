/* SPDX-License-Identifier: MPL-2.0 */
/* Work on files that the application does for the engine. */
#include "libsaratoga/engine/work_queue.h"

#include <string.h>

#define SPARES_MAX 16
#define SLOTS_FIRST 16
#define SLOT_BITS 24 /* of an id; the rest is a serial number */
#define SLOT_MASK ((UINT64_C(1) << SLOT_BITS) - 1)

void saratoga__work_queue_init(saratoga__work_queue *j, const cmn__mem *mem) {
    *j = (saratoga__work_queue){.mem = mem};
}

static void work_queue_free_one(saratoga__work_queue *j,
                                saratoga__work_item *work) {
    cmn__free(j->mem, work->buf);
    cmn__free(j->mem, work);
}

void saratoga__work_queue_free(saratoga__work_queue *j) {
    for (uint32_t i = 0; i < j->n_slots; i++) {
        if (j->slot[i] != NULL) {
            work_queue_free_one(j, j->slot[i]);
        }
    }
    while (j->spare != NULL) {
        saratoga__work_item *next = j->spare->next;
        work_queue_free_one(j, j->spare);
        j->spare = next;
    }
    cmn__free(j->mem, j->slot);
    saratoga__work_queue_init(j, j->mem);
}

static bool grow(saratoga__work_queue *j) {
    uint32_t n = j->n_slots == 0 ? SLOTS_FIRST : 2 * j->n_slots;
    saratoga__work_item **wide;
    if (n > SLOT_MASK) {
        return false;
    }
    wide = cmn__resize(j->mem, j->slot, n * sizeof(saratoga__work_item *));
    if (wide == NULL) {
        return false;
    }
    for (uint32_t i = j->n_slots; i < n; i++) {
        wide[i] = NULL;
    }
    j->slot = wide;
    j->free_hint = j->n_slots;
    j->n_slots = n;
    return true;
}

static bool find_slot(saratoga__work_queue *j, uint32_t *slot) {
    for (uint32_t i = 0; i < j->n_slots; i++) {
        uint32_t at = (j->free_hint + i) & (j->n_slots - 1);
        if (j->slot[at] == NULL) {
            *slot = at;
            j->free_hint = at + 1;
            return true;
        }
    }
    if (!grow(j)) {
        return false;
    }
    *slot = j->free_hint++;
    return true;
}

/* A spare of the right size, or a new one. */
static saratoga__work_item *work_queue_make(saratoga__work_queue *j,
                                            size_t cap) {
    saratoga__work_item **at = &j->spare;
    saratoga__work_item *work;
    while (*at != NULL && ((*at)->cap < cap || (*at)->cap > 2 * cap)) {
        at = &(*at)->next;
    }
    if (*at != NULL) {
        work = *at;
        *at = work->next;
        j->spares--;
        return work;
    }
    work = cmn__alloc(j->mem, sizeof(*work));
    if (work == NULL) {
        return NULL;
    }
    if (cap > 0) {
        work->buf = cmn__resize(j->mem, NULL, cap);
        work->cap = cap;
    }
    if (cap > 0 && work->buf == NULL) {
        work_queue_free_one(j, work);
        return NULL;
    }
    return work;
}

saratoga__work_item *saratoga__work_queue_new(saratoga__work_queue *j,
                                              saratoga_handle handle,
                                              uint32_t type, size_t cap) {
    uint32_t slot = 0;
    saratoga__work_item *work;
    if (!find_slot(j, &slot)) {
        return NULL;
    }
    work = work_queue_make(j, cap);
    if (work == NULL) {
        return NULL;
    }
    work->id = ++j->serial << SLOT_BITS | slot;
    work->handle = handle;
    work->next = NULL;
    work->state = SARATOGA__WORK_HELD;
    work->abandoned = false;
    work->type = type;
    work->checksum = SARATOGA_NONE;
    work->offset = 0;
    work->length = 0;
    work->len = 0;
    j->slot[slot] = work;
    return work;
}

void saratoga__work_queue_submit(saratoga__work_queue *j,
                                 saratoga__work_item *work) {
    work->state = SARATOGA__WORK_QUEUED;
    j->unseen = true;
    work->next = NULL;
    if (j->first == NULL) {
        j->first = work;
    } else {
        j->last->next = work;
    }
    j->last = work;
}

static void discard(saratoga__work_queue *j, saratoga__work_item *work) {
    j->slot[work->id & SLOT_MASK] = NULL;
    if (work->cap > 0 && j->spares < SPARES_MAX) {
        work->next = j->spare;
        j->spare = work;
        j->spares++;
    } else {
        work_queue_free_one(j, work);
    }
}

void saratoga__work_queue_drop(saratoga__work_queue *j,
                               saratoga__work_item *work) {
    if (work->state == SARATOGA__WORK_HELD) {
        discard(j, work);
    } else {
        work->abandoned = true;
    }
}

saratoga__work_item *saratoga__work_queue_issue(saratoga__work_queue *j) {
    j->unseen = false;
    while (j->first != NULL) {
        saratoga__work_item *work = j->first;
        j->first = work->next;
        work->next = NULL;
        if (!work->abandoned) {
            work->state = SARATOGA__WORK_ISSUED;
            return work;
        }
        discard(j, work);
    }
    return NULL;
}

saratoga__work_item *saratoga__work_queue_finish(saratoga__work_queue *j,
                                                 uint64_t id) {
    uint32_t slot = (uint32_t)(id & SLOT_MASK);
    saratoga__work_item *work = slot < j->n_slots ? j->slot[slot] : NULL;
    if (work == NULL || work->id != id ||
        work->state != SARATOGA__WORK_ISSUED) {
        return NULL;
    }
    work->state = SARATOGA__WORK_HELD;
    return work;
}
