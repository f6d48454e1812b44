/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_ROUTES_H
#define LIBSARATOGA_NODE_ROUTES_H

#include "libsaratoga/node/state.h"

/* Addresses as the engine names them, by tokens, and back. */

/* What the engine calls a route, and that it will be meant by it. */
void saratoga__pktinfo(saratoga_node *u, const net__route *r,
                       saratoga_pktinfo *info);
/* The two halves of it. */
void saratoga__place(const saratoga_node *u, const net__route *r,
                     saratoga_pktinfo *info);
void saratoga__remember(saratoga_node *u, uint64_t path, const net__route *r);
/* Where a datagram came from or is to go; NULL: not known any more. */
const net__route *saratoga__route_of(saratoga_node *u,
                                     const saratoga_pktinfo *to);
const net__route *saratoga__route_of_path(saratoga_node *u, uint64_t path);

#endif /* LIBSARATOGA_NODE_ROUTES_H */
