/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file sim/heap.h
 * @brief Items ordered by time; equal times leave in order of insertion.
 */
#ifndef SIM_HEAP_H
#define SIM_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "internal/common/pqueue.h"

/** As a time: never. */
#define SIM_NEVER UINT64_MAX

/** @brief A heap; zeroed is empty. */
struct sim_heap {
    cmn__pqueue entries; /**< keys are times */
    uint64_t order;      /**< rank of the next entry */
};

/**
 * @brief Inserts an item.
 * @param h     heap
 * @param time  its time, ns
 * @param item  the caller's
 * @return false: out of memory; nothing changed
 */
bool sim_heap_push(struct sim_heap *h, uint64_t time, void *item);
/** @brief Time of the first item. @param h  heap @return ns, or SIM_NEVER */
uint64_t sim_heap_time(const struct sim_heap *h);
/** @brief Removes the first item. @param h  heap @return it, or NULL */
void *sim_heap_pop(struct sim_heap *h);
/** @brief Frees the heap, not the items. @param h  heap */
void sim_heap_free(struct sim_heap *h);

#endif /* SIM_HEAP_H */
