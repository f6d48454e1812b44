/* SPDX-License-Identifier: MPL-2.0 */
/* Things ordered by time. */
#include "sim/heap.h"

bool sim_heap_push(struct sim_heap *h, uint64_t time, void *item) {
    cmn__pqueue_entry e = {time, h->order, item};
    if (!cmn__pqueue_add(&h->entries, e)) {
        return false;
    }
    h->order++;
    return true;
}

uint64_t sim_heap_time(const struct sim_heap *h) {
    return h->entries.count != 0 ? h->entries.at[0].key : SIM_NEVER;
}

void *sim_heap_pop(struct sim_heap *h) {
    return h->entries.count != 0 ? cmn__pqueue_take(&h->entries).item : NULL;
}

void sim_heap_free(struct sim_heap *h) {
    cmn__pqueue_free(&h->entries);
    h->order = 0;
}
