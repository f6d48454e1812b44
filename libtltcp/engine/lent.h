/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_LENT_H
#define LIBTLTCP_LENT_H

#include <stdbool.h>
#include <stdint.h>

#include <tltcp/burst.h>

#include "internal/common/ring.h"

/* Received bytes that stay where the driver received them until they are read.
 *
 * The driver lends a room, a buffer with a burst of datagrams. Their data is
 * noted as extents. If the data fills half of the room or more, this module
 * keeps the room and gives the driver another one. So the rooms with data take
 * at most twice the bytes of the data. A few spare rooms are kept as well. */

/* Least data for which a room is kept. */
#define TLTCP__LENT_MIN (TLTCP_ROOM_BYTES / 2)

typedef struct tltcp__lent {
    const cmn__mem *mem;
    cmn__ring extents; /* in the order of the stream */
    void *spare;       /* rooms for exchange, in a chain */
    size_t spares;     /* their number */
    size_t rooms;      /* all that are held */

    /* The burst in progress. */
    bool open;
    size_t stride;       /* from one datagram to the next */
    uint64_t first;      /* number of its first extent */
    size_t bytes;        /* of its extents */
    const uint8_t *next; /* where data of the newest extent would go on */
} tltcp__lent;

/* NULL without memory. */
tltcp__lent *tltcp__lent_new(const cmn__mem *mem);
void tltcp__lent_free(tltcp__lent *l);

/* A burst begins. */
void tltcp__lent_begin(tltcp__lent *l, size_t stride);
/* Notes data from stream offset `at` on, the highest until now. False without
 * memory. */
bool tltcp__lent_put(tltcp__lent *l, uint64_t at, const uint8_t *data,
                     size_t len);
/* Ends the burst, and keeps its room if it has at least so many bytes. Returns
 * another room for it, or NULL: it is not kept, and tltcp__lent_undo() must
 * follow. */
void *tltcp__lent_keep(tltcp__lent *l, void *room, size_t least);
/* Calls `store` with each piece of the burst in order, until it fails, and
 * forgets them all. Returns 0 or what `store` did. */
int tltcp__lent_undo(tltcp__lent *l,
                     int (*store)(void *user, uint64_t at, const uint8_t *data,
                                  size_t len),
                     void *user);

/* Copies at most *len bytes from `at` on, and reduces *len to what was copied.
 * False: those before *len are elsewhere. `l` may be NULL. */
bool tltcp__lent_get(const tltcp__lent *l, uint64_t at, uint8_t *to,
                     size_t *len);
/* Forgets the bytes below `floor`. */
void tltcp__lent_drop(tltcp__lent *l, uint64_t floor);
/* Memory held. */
size_t tltcp__lent_held(const tltcp__lent *l);

#endif /* LIBTLTCP_LENT_H */
