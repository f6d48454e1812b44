/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_PRE_ACCEPT_H
#define LIBSARATOGA_PRE_ACCEPT_H

#include <saratoga/types.h>

#include "libsaratoga/engine/context.h"

/* Buffers DATA that arrive before the application accepts the transfer: a
 * one-way sender sends them only once. All sessions share the room. */

#define SARATOGA__PRE_ACCEPT_MAX ((size_t)1 << 20)

typedef struct saratoga__pre_accept {
    uint8_t *bytes; /* packets, each preceded by its length in two bytes */
    size_t len;
    size_t cap;
} saratoga__pre_accept;

/* Keeps a packet, or counts it as dropped if there is no room. */
void saratoga__pre_accept_keep(saratoga__pre_accept *e, saratoga__context *ctx,
                               const uint8_t *packet, size_t len);
void saratoga__pre_accept_free(saratoga__pre_accept *e, saratoga__context *ctx);
/* The packet at *at; advances *at to the next packet, which exists while *at is
 * below len. */
const uint8_t *saratoga__pre_accept_at(const saratoga__pre_accept *e,
                                       size_t *at, size_t *len);

#endif /* LIBSARATOGA_PRE_ACCEPT_H */
