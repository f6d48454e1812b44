/* SPDX-License-Identifier: MPL-2.0 */
#include "internal/common/pqueue.h"

#include <stdlib.h>

#define ROOM_FIRST 16

static bool pqueue_grow(cmn__pqueue *q) {
    size_t room = q->room > 0 ? 2 * q->room : ROOM_FIRST;
    cmn__pqueue_entry *at = realloc(q->at, room * sizeof(*at));
    if (at == NULL) {
        return false;
    }
    q->at = at;
    q->room = room;
    return true;
}

bool cmn__pqueue_add(cmn__pqueue *q, cmn__pqueue_entry e) {
    size_t i = q->count;
    if (i == q->room && !pqueue_grow(q)) {
        return false;
    }
    for (; i > 0 && cmn__pqueue_is_before(&e, &q->at[(i - 1) / 2]);
         i = (i - 1) / 2) {
        q->at[i] = q->at[(i - 1) / 2];
    }
    q->at[i] = e;
    q->count++;
    return true;
}

cmn__pqueue_entry cmn__pqueue_take(cmn__pqueue *q) {
    cmn__pqueue_entry first = q->at[0];
    cmn__pqueue_entry last = q->at[--q->count];
    size_t i = 0;
    size_t child = 1;
    while (child < q->count) {
        if (child + 1 < q->count &&
            cmn__pqueue_is_before(&q->at[child + 1], &q->at[child])) {
            child++;
        }
        if (!cmn__pqueue_is_before(&q->at[child], &last)) {
            break;
        }
        q->at[i] = q->at[child];
        i = child;
        child = 2 * i + 1;
    }
    q->at[i] = last;
    return first;
}

void cmn__pqueue_free(cmn__pqueue *q) {
    free(q->at);
    *q = (cmn__pqueue){0};
}
