/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_EARLY_H
#define LIBSARATOGA_EARLY_H

#include <saratoga/types.h>

#include "libsaratoga/engine/env.h"

/* DATA that come before the driver has said where to put them: who sends one
 * way sends them but once.  All sessions share the room for them. */

#define SARATOGA__EARLY_MAX ((size_t)1 << 20)

typedef struct saratoga__early {
    uint8_t *bytes; /* packets, each behind its length in two bytes */
    size_t len;
    size_t cap;
} saratoga__early;

/* Keeps a packet, or counts that it found no room. */
void saratoga__early_keep(saratoga__early *e, saratoga__env *env,
                          const uint8_t *packet, size_t len);
void saratoga__early_free(saratoga__early *e, saratoga__env *env);
/* The packet at *at, which moves on to the next: below e->len there is one. */
const uint8_t *saratoga__early_at(const saratoga__early *e, size_t *at,
                                  size_t *len);

#endif /* LIBSARATOGA_EARLY_H */
