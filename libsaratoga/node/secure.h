/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_SECURE_H
#define LIBSARATOGA_NODE_SECURE_H

#include <saratoga/node.h>

#include "internal/net/route.h"

/* Carries a node's datagrams in sealed ones (secure/carrier.h) if it has a
 * passphrase or key. A node without one refuses secured calls. */

/* The carried protocol: Saratoga version 1. */
#define SARATOGA__SECURE_VERSION UINT32_C(0x53410002)

/* Creates the carrier from the keys of the config, and reserves room for the
 * sealing overhead. 0, or UV_E... with a message. */
int saratoga__secure_open(saratoga_node *u, char *why);
void saratoga__secure_close(saratoga_node *u);
bool saratoga__is_secured(const saratoga_node *u);
/* Why nothing can be sent to that address, or NULL. */
const char *saratoga__secure_objection(const saratoga_node *u,
                                       const net__addr *to,
                                       const saratoga_options *o);

/* Processes a datagram; false: it is a plain one for the engine. */
bool saratoga__secure_take(saratoga_node *u, const net__route *r,
                           const uint8_t *data, size_t len, uint64_t now);
/* Buffer of *room bytes where the engine writes data to be sealed. */
uint8_t *saratoga__secure_scratch(saratoga_node *u, size_t *room);
/* Seals what the engine wrote and queues it. */
void saratoga__secure_put(saratoga_node *u, const saratoga_pktinfo *to,
                          size_t len, size_t segment, uint64_t now);
/* Queues the carrier's own datagrams. False: the socket is full. */
bool saratoga__secure_send(saratoga_node *u, uint64_t now);
uint64_t saratoga__secure_timeout(const saratoga_node *u);
void saratoga__secure_on_timeout(saratoga_node *u, uint64_t now);
/* Ends transfers with peers that refused the call. */
void saratoga__secure_end_rejected(saratoga_node *u);
/* Has the keys that calls wait for made by a thread of the pool. */
void saratoga__secure_stretch(saratoga_node *u);
/* Ends every session and notifies the peers. */
void saratoga__secure_terminate(saratoga_node *u);
/* Callers with a wrong or missing key so far. */
uint64_t saratoga__secure_rejected(const saratoga_node *u);
void saratoga__secure_get_stats(const saratoga_node *u,
                                saratoga_engine_stats *st);

#endif /* LIBSARATOGA_NODE_SECURE_H */
