/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_HEAP_H
#define COMMON_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#include "internal/common/mem.h"

/* Slot of an item that is not in a heap. */
#define CMN__HEAP_NONE UINT32_MAX

typedef struct cmn__heap_item {
    uint64_t key; /* lowest first */
    uint64_t id;  /* set by the owner; breaks ties */
} cmn__heap_item;

/* A binary heap whose items can be removed. `moved` reports each item's slot,
 * which the owner stores. */
typedef struct cmn__heap {
    const cmn__mem *mem;
    cmn__heap_item *item;
    uint32_t len;
    uint32_t cap;
    void (*moved)(void *owner, uint64_t id, uint32_t slot);
    void *owner;
} cmn__heap;

void cmn__heap_init(cmn__heap *h, const cmn__mem *mem,
                    void (*moved)(void *, uint64_t, uint32_t), void *owner);
void cmn__heap_free(cmn__heap *h);
/* Returns 0, or -1 without memory. */
int cmn__heap_add(cmn__heap *h, uint64_t key, uint64_t id);
/* Removes the item at slot; its owner is notified with CMN__HEAP_NONE. */
void cmn__heap_remove(cmn__heap *h, uint32_t slot);
/* Changes the key of the item at slot. */
void cmn__heap_update(cmn__heap *h, uint32_t slot, uint64_t key);
bool cmn__heap_first(const cmn__heap *h, cmn__heap_item *out);

#endif /* COMMON_HEAP_H */
