/* SPDX-License-Identifier: MPL-2.0 */
#ifndef DRIVERS_UV_SARATOGA_SECURE_H
#define DRIVERS_UV_SARATOGA_SECURE_H

#include <saratoga/uv.h>

#include "drivers/uv/route.h"

/* A node's datagrams inside sealed ones (secure/carrier.h), when it has a
 * passphrase or key.  A node without refuses those who call it so. */

/* What is carried: Saratoga version 1. */
#define SARATOGA__SECURE_VERSION UINT32_C(0x53410001)

/* Makes the carrier; takes what the config says of keys, and leaves room for
 * what sealing adds.  0 or UV_E..., with a sentence. */
int saratoga__secure_open(saratoga_uv *u, char *why);
void saratoga__secure_close(saratoga_uv *u);
bool saratoga__is_secured(const saratoga_uv *u);
/* Why nothing can be sent to that address, or NULL. */
const char *saratoga__secure_objection(const saratoga_uv *u,
                                       const drv__addr *to,
                                       const saratoga_options *o);

/* Takes a datagram; false: it is a plain one for the engine. */
bool saratoga__secure_take(saratoga_uv *u, const drv__route *r,
                           const uint8_t *data, size_t len, uint64_t now);
/* Where the engine writes what is to be sealed: *room bytes. */
uint8_t *saratoga__secure_scratch(saratoga_uv *u, size_t *room);
/* Seals what the engine wrote and queues it. */
void saratoga__secure_put(saratoga_uv *u, const saratoga_pktinfo *to,
                          size_t len, size_t segment, uint64_t now);
/* Queues the carrier's own.  False: the socket is full. */
bool saratoga__secure_send(saratoga_uv *u, uint64_t now);
uint64_t saratoga__secure_timeout(const saratoga_uv *u);
void saratoga__secure_on_timeout(saratoga_uv *u, uint64_t now);
/* Ends transfers with peers that refused the call. */
void saratoga__secure_settle(saratoga_uv *u);
/* Every session ends, the peers are told. */
void saratoga__secure_farewell(saratoga_uv *u);
void saratoga__secure_get_stats(const saratoga_uv *u, saratoga_node_stats *st);

#endif /* DRIVERS_UV_SARATOGA_SECURE_H */
