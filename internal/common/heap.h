/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_HEAP_H
#define COMMON_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#include "internal/common/mem.h"

/* Slot of an item that is in no heap. */
#define CMN__HEAP_NONE UINT32_MAX

typedef struct cmn__heap_item {
    uint64_t key; /* the lowest comes first */
    uint64_t id;  /* the owner's; breaks ties */
} cmn__heap_item;

/* A binary heap whose items can be removed.  The owner keeps each item's slot,
 * which `moved` reports. */
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
/* Takes out the item at slot; its owner hears of CMN__HEAP_NONE. */
void cmn__heap_remove(cmn__heap *h, uint32_t slot);
/* Gives the item at slot another key. */
void cmn__heap_update(cmn__heap *h, uint32_t slot, uint64_t key);
bool cmn__heap_first(const cmn__heap *h, cmn__heap_item *out);

#endif /* COMMON_HEAP_H */
