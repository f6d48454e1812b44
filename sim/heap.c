/* SPDX-License-Identifier: MPL-2.0 */
/* Things ordered by time. */
#include "sim/heap.h"

#include <stdlib.h>

static bool heap_before(const struct sim_heap_entry *a,
                        const struct sim_heap_entry *b) {
    return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static bool heap_grow(struct sim_heap *h) {
    size_t cap = h->cap != 0 ? h->cap * 2 : 16;
    struct sim_heap_entry *e = realloc(h->entries, cap * sizeof(*e));
    if (e == NULL) {
        return false;
    }
    h->entries = e;
    h->cap = cap;
    return true;
}

bool sim_heap_push(struct sim_heap *h, uint64_t time, void *item) {
    struct sim_heap_entry e = {time, h->order, item};
    size_t i = h->count;
    if (h->count == h->cap && !heap_grow(h)) {
        return false;
    }
    h->order++;
    h->count++;
    while (i > 0 && heap_before(&e, &h->entries[(i - 1) / 2])) {
        h->entries[i] = h->entries[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    h->entries[i] = e;
    return true;
}

uint64_t sim_heap_time(const struct sim_heap *h) {
    return h->count != 0 ? h->entries[0].time : SIM_NEVER;
}

void *sim_heap_pop(struct sim_heap *h) {
    struct sim_heap_entry last;
    void *item;
    size_t i = 0;
    if (h->count == 0) {
        return NULL;
    }
    item = h->entries[0].item;
    last = h->entries[--h->count];
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= h->count) {
            break;
        }
        if (child + 1 < h->count &&
            heap_before(&h->entries[child + 1], &h->entries[child])) {
            child++;
        }
        if (!heap_before(&h->entries[child], &last)) {
            break;
        }
        h->entries[i] = h->entries[child];
        i = child;
    }
    h->entries[i] = last;
    return item;
}

void sim_heap_free(struct sim_heap *h) {
    free(h->entries);
    *h = (struct sim_heap){0};
}
