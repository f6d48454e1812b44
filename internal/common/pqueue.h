/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_PQUEUE_H
#define COMMON_PQUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The least comes first, by key, then by rank. */
typedef struct cmn__pqueue_entry {
    uint64_t key;
    uint64_t rank;
    void *item; /* the owner's */
} cmn__pqueue_entry;

/* A priority queue: a binary heap that only its first entry leaves. Zeroed is
 * empty. heap.h has one whose items can be removed and change their keys. */
typedef struct cmn__pqueue {
    cmn__pqueue_entry *at; /* the first one first, the others in any order */
    size_t count, room;
} cmn__pqueue;

static inline bool cmn__pqueue_is_before(const cmn__pqueue_entry *a,
                                         const cmn__pqueue_entry *b) {
    return a->key != b->key ? a->key < b->key : a->rank < b->rank;
}

/* False: out of memory, nothing changed. */
bool cmn__pqueue_add(cmn__pqueue *q, cmn__pqueue_entry e);
/* Removes and returns the first entry; there is one. */
cmn__pqueue_entry cmn__pqueue_take(cmn__pqueue *q);
/* Frees the queue, not the items. */
void cmn__pqueue_free(cmn__pqueue *q);

#endif /* COMMON_PQUEUE_H */
