/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_ROUTES_H
#define LIBSARATOGA_NODE_ROUTES_H

#include "libsaratoga/node/state.h"

/* Translates addresses to the engine's tokens and back. */

/* Makes the engine's tokens for a route, and records the route. */
void saratoga__pktinfo(saratoga_node *u, const net__route *r,
                       saratoga_pktinfo *info);
/* The two tokens. */
void saratoga__place(const saratoga_node *u, const net__route *r,
                     saratoga_pktinfo *info);
void saratoga__remember(saratoga_node *u, uint64_t path, const net__route *r);
/* Sets the address of a transfer's peer: its tokens and its route. */
void saratoga__peer_is_at(saratoga__file *f, const saratoga_pktinfo *at,
                          const net__route *r);
/* The route of a datagram; NULL: no longer known. */
const net__route *saratoga__route_of(saratoga_node *u,
                                     const saratoga_pktinfo *to);
const net__route *saratoga__route_of_path(saratoga_node *u, uint64_t path);

#endif /* LIBSARATOGA_NODE_ROUTES_H */
