/* SPDX-License-Identifier: MPL-2.0 */
/* Keeps the driver's buffers instead of copying what they hold. */
#include "libtltcp/engine/lent.h"

#include <string.h>

/* Rooms for exchange that are kept for a while. */
#define SPARES_MAX 16u

/* Data of consecutive datagrams: `each` bytes in each but the last. */
struct lent_extent {
    uint64_t start, end; /* stream offsets */
    const uint8_t *data; /* of the first datagram */
    size_t each;
    size_t stride;
    void *room; /* freed with this extent, or NULL */
};

tltcp__lent *tltcp__lent_new(const cmn__mem *mem) {
    tltcp__lent *l = cmn__alloc(mem, sizeof(*l));
    if (l != NULL) {
        l->mem = mem;
        cmn__ring_init(&l->extents, mem, sizeof(struct lent_extent), 0);
    }
    return l;
}

static struct lent_extent *lent_at(const tltcp__lent *l, uint64_t i) {
    return cmn__ring_at(&l->extents, i);
}

/* The first bytes of a spare room point to the next one. */
static void lent_release(tltcp__lent *l, void *room) {
    if (l->spares >= SPARES_MAX) {
        cmn__free(l->mem, room);
        l->rooms--;
        return;
    }
    memcpy(room, &l->spare, sizeof(l->spare));
    l->spare = room;
    l->spares++;
}

static void *lent_spare(tltcp__lent *l) {
    void *room = l->spare;
    if (room != NULL) {
        memcpy(&l->spare, room, sizeof(l->spare));
        l->spares--;
    }
    return room;
}

void tltcp__lent_free(tltcp__lent *l) {
    void *room;
    if (l == NULL) {
        return;
    }
    tltcp__lent_drop(l, UINT64_MAX);
    while ((room = lent_spare(l)) != NULL) {
        cmn__free(l->mem, room);
    }
    cmn__ring_free(&l->extents);
    cmn__free(l->mem, l);
}

void tltcp__lent_begin(tltcp__lent *l, size_t stride) {
    l->open = true;
    l->stride = stride;
    l->first = l->extents.tail;
    l->bytes = 0;
    l->next = NULL;
}

/* Whether data is that of the next datagram of an extent. */
static bool lent_goes_on(const tltcp__lent *l, const struct lent_extent *x,
                         uint64_t at, const uint8_t *data, size_t len) {
    return data == l->next && at == x->end && len <= x->each;
}

bool tltcp__lent_put(tltcp__lent *l, uint64_t at, const uint8_t *data,
                     size_t len) {
    struct lent_extent *x = NULL;
    if (l->next != NULL) {
        x = lent_at(l, l->extents.tail - 1);
    }
    if (x == NULL || !lent_goes_on(l, x, at, data, len)) {
        x = cmn__ring_push_raw(&l->extents);
        if (x == NULL) {
            return false;
        }
        *x = (struct lent_extent){
            .start = at, .data = data, .each = len, .stride = l->stride};
    }
    x->end = at + len;
    l->bytes += len;
    l->next = len == x->each ? data + l->stride : NULL;
    return true;
}

void *tltcp__lent_keep(tltcp__lent *l, void *room, size_t least) {
    void *other;
    l->open = false;
    l->next = NULL;
    if (l->bytes == 0 || l->bytes < least) {
        return NULL;
    }
    other = lent_spare(l);
    if (other == NULL) {
        other = cmn__resize(l->mem, NULL, TLTCP_ROOM_BYTES);
        l->rooms += other != NULL ? 1 : 0;
    }
    if (other != NULL) {
        lent_at(l, l->extents.tail - 1)->room = room;
    }
    return other;
}

int tltcp__lent_undo(tltcp__lent *l,
                     int (*store)(void *user, uint64_t at, const uint8_t *data,
                                  size_t len),
                     void *user) {
    int rv = 0;
    for (uint64_t i = l->first; i < l->extents.tail; i++) {
        const struct lent_extent *x = lent_at(l, i);
        const uint8_t *data = x->data;
        for (uint64_t at = x->start; rv == 0 && at < x->end; at += x->each) {
            size_t left = (size_t)(x->end - at);
            rv = store(user, at, data, left < x->each ? left : x->each);
            data += x->stride;
        }
    }
    l->extents.tail = l->first;
    return rv;
}

/* The extent with the byte at a stream offset, or the first one behind it, or
 * NULL. Readers want the first ones. */
static const struct lent_extent *lent_find(const tltcp__lent *l, uint64_t at) {
    for (uint64_t i = l->extents.head; i < l->extents.tail; i++) {
        const struct lent_extent *x = lent_at(l, i);
        if (at < x->end) {
            return x;
        }
    }
    return NULL;
}

static void lent_copy(const struct lent_extent *x, uint64_t at, uint8_t *to,
                      size_t len) {
    size_t skip = (size_t)(at - x->start);
    const uint8_t *data = x->data + skip / x->each * x->stride;
    size_t offset = skip % x->each;
    while (len > 0) {
        size_t n = x->each - offset < len ? x->each - offset : len;
        memcpy(to, data + offset, n);
        data += x->stride;
        offset = 0;
        to += n;
        len -= n;
    }
}

bool tltcp__lent_get(const tltcp__lent *l, uint64_t at, uint8_t *to,
                     size_t *len) {
    const struct lent_extent *x = l != NULL ? lent_find(l, at) : NULL;
    bool here = x != NULL && x->start <= at;
    uint64_t until = x == NULL ? UINT64_MAX : here ? x->end : x->start;
    if (until - at < *len) {
        *len = (size_t)(until - at);
    }
    if (here) {
        lent_copy(x, at, to, *len);
    }
    return here;
}

void tltcp__lent_drop(tltcp__lent *l, uint64_t floor) {
    while (cmn__ring_len(&l->extents) > 0) {
        const struct lent_extent *x = lent_at(l, l->extents.head);
        if (x->end > floor) {
            break;
        }
        if (x->room != NULL) {
            lent_release(l, x->room);
        }
        cmn__ring_pop(&l->extents);
    }
}

size_t tltcp__lent_held(const tltcp__lent *l) {
    return sizeof(*l) + l->rooms * TLTCP_ROOM_BYTES +
           (size_t)l->extents.cap * l->extents.elem;
}
