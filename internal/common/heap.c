/* SPDX-License-Identifier: MPL-2.0 */
/* A binary heap of timers whose items store their slots. */
#include "internal/common/heap.h"

#include <assert.h>

#define HEAP_FIRST 8u

void cmn__heap_init(cmn__heap *h, const cmn__mem *mem,
                    void (*moved)(void *, uint64_t, uint32_t), void *owner) {
    *h = (cmn__heap){.mem = mem, .moved = moved, .owner = owner};
}

void cmn__heap_free(cmn__heap *h) {
    cmn__free(h->mem, h->item);
    cmn__heap_init(h, h->mem, h->moved, h->owner);
}

static bool before(const cmn__heap_item *a, const cmn__heap_item *b) {
    return a->key < b->key || (a->key == b->key && a->id < b->id);
}

static void place(cmn__heap *h, uint32_t slot, cmn__heap_item x) {
    h->item[slot] = x;
    h->moved(h->owner, x.id, slot);
}

static void rise(cmn__heap *h, uint32_t slot, cmn__heap_item x) {
    while (slot > 0 && before(&x, &h->item[(slot - 1) / 2])) {
        place(h, slot, h->item[(slot - 1) / 2]);
        slot = (slot - 1) / 2;
    }
    place(h, slot, x);
}

static void sink(cmn__heap *h, uint32_t slot, cmn__heap_item x) {
    for (uint32_t kid = 2 * slot + 1; kid < h->len; kid = 2 * slot + 1) {
        if (kid + 1 < h->len && before(&h->item[kid + 1], &h->item[kid])) {
            kid++;
        }
        if (!before(&h->item[kid], &x)) {
            break;
        }
        place(h, slot, h->item[kid]);
        slot = kid;
    }
    place(h, slot, x);
}

static void heap_settle(cmn__heap *h, uint32_t slot, cmn__heap_item x) {
    if (slot > 0 && before(&x, &h->item[(slot - 1) / 2])) {
        rise(h, slot, x);
    } else {
        sink(h, slot, x);
    }
}

int cmn__heap_add(cmn__heap *h, uint64_t key, uint64_t id) {
    if (h->len == h->cap) {
        uint32_t cap = h->cap == 0 ? HEAP_FIRST : 2 * h->cap;
        cmn__heap_item *wide =
            cmn__resize(h->mem, h->item, cap * sizeof(*wide));
        if (wide == NULL) {
            return -1;
        }
        h->item = wide;
        h->cap = cap;
    }
    rise(h, h->len++, (cmn__heap_item){key, id});
    return 0;
}

void cmn__heap_remove(cmn__heap *h, uint32_t slot) {
    cmn__heap_item last;
    assert(slot < h->len);
    last = h->item[--h->len];
    h->moved(h->owner, h->item[slot].id, CMN__HEAP_NONE);
    if (slot < h->len) {
        heap_settle(h, slot, last);
    }
}

void cmn__heap_update(cmn__heap *h, uint32_t slot, uint64_t key) {
    assert(slot < h->len);
    heap_settle(h, slot, (cmn__heap_item){key, h->item[slot].id});
}

bool cmn__heap_first(const cmn__heap *h, cmn__heap_item *out) {
    if (h->len > 0) {
        *out = h->item[0];
    }
    return h->len > 0;
}
