/* SPDX-License-Identifier: MPL-2.0 */
#include "libsaratoga/engine/jobs.h"

#include <string.h>

#define SPARES_MAX 16
#define SLOTS_FIRST 16
#define SLOT_BITS 24 /* of an id; the rest is a serial number */
#define SLOT_MASK ((UINT64_C(1) << SLOT_BITS) - 1)

void saratoga__jobs_init(saratoga__jobs *j, const cmn__mem *mem) {
    *j = (saratoga__jobs){.mem = mem};
}

static void jobs_release(saratoga__jobs *j, saratoga__job *job) {
    cmn__free(j->mem, job->buf);
    cmn__free(j->mem, job);
}

void saratoga__jobs_free(saratoga__jobs *j) {
    for (uint32_t i = 0; i < j->n_slots; i++) {
        if (j->slot[i] != NULL) {
            jobs_release(j, j->slot[i]);
        }
    }
    while (j->spare != NULL) {
        saratoga__job *next = j->spare->next;
        jobs_release(j, j->spare);
        j->spare = next;
    }
    cmn__free(j->mem, j->slot);
    saratoga__jobs_init(j, j->mem);
}

static bool grow(saratoga__jobs *j) {
    uint32_t n = j->n_slots == 0 ? SLOTS_FIRST : 2 * j->n_slots;
    saratoga__job **wide;
    if (n > SLOT_MASK) {
        return false;
    }
    wide = cmn__resize(j->mem, j->slot, n * sizeof(saratoga__job *));
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

static bool find_slot(saratoga__jobs *j, uint32_t *slot) {
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
static saratoga__job *jobs_make(saratoga__jobs *j, size_t cap) {
    saratoga__job **at = &j->spare;
    saratoga__job *job;
    while (*at != NULL && ((*at)->cap < cap || (*at)->cap > 2 * cap)) {
        at = &(*at)->next;
    }
    if (*at != NULL) {
        job = *at;
        *at = job->next;
        j->spares--;
        return job;
    }
    job = cmn__alloc(j->mem, sizeof(*job));
    if (job == NULL) {
        return NULL;
    }
    if (cap > 0) {
        job->buf = cmn__resize(j->mem, NULL, cap);
        job->cap = cap;
    }
    if (cap > 0 && job->buf == NULL) {
        jobs_release(j, job);
        return NULL;
    }
    return job;
}

saratoga__job *saratoga__jobs_new(saratoga__jobs *j, saratoga_handle handle,
                                  uint32_t type, size_t cap) {
    uint32_t slot = 0;
    saratoga__job *job;
    if (!find_slot(j, &slot)) {
        return NULL;
    }
    job = jobs_make(j, cap);
    if (job == NULL) {
        return NULL;
    }
    job->id = ++j->serial << SLOT_BITS | slot;
    job->handle = handle;
    job->next = NULL;
    job->state = SARATOGA__JOB_HELD;
    job->orphan = false;
    job->type = type;
    job->checksum = SARATOGA_NONE;
    job->offset = 0;
    job->length = 0;
    job->len = 0;
    j->slot[slot] = job;
    return job;
}

void saratoga__jobs_submit(saratoga__jobs *j, saratoga__job *job) {
    job->state = SARATOGA__JOB_QUEUED;
    j->unseen = true;
    job->next = NULL;
    if (j->first == NULL) {
        j->first = job;
    } else {
        j->last->next = job;
    }
    j->last = job;
}

static void discard(saratoga__jobs *j, saratoga__job *job) {
    j->slot[job->id & SLOT_MASK] = NULL;
    if (job->cap > 0 && j->spares < SPARES_MAX) {
        job->next = j->spare;
        j->spare = job;
        j->spares++;
    } else {
        jobs_release(j, job);
    }
}

void saratoga__jobs_drop(saratoga__jobs *j, saratoga__job *job) {
    if (job->state == SARATOGA__JOB_HELD) {
        discard(j, job);
    } else {
        job->orphan = true;
    }
}

saratoga__job *saratoga__jobs_issue(saratoga__jobs *j) {
    j->unseen = false;
    while (j->first != NULL) {
        saratoga__job *job = j->first;
        j->first = job->next;
        job->next = NULL;
        if (!job->orphan) {
            job->state = SARATOGA__JOB_ISSUED;
            return job;
        }
        discard(j, job);
    }
    return NULL;
}

saratoga__job *saratoga__jobs_finish(saratoga__jobs *j, uint64_t id) {
    uint32_t slot = (uint32_t)(id & SLOT_MASK);
    saratoga__job *job = slot < j->n_slots ? j->slot[slot] : NULL;
    if (job == NULL || job->id != id || job->state != SARATOGA__JOB_ISSUED) {
        return NULL;
    }
    job->state = SARATOGA__JOB_HELD;
    return job;
}
