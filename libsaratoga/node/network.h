/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_NETWORK_H
#define LIBSARATOGA_NODE_NETWORK_H

#include "libsaratoga/node/state.h"

/* Passes datagrams between the sockets, the carrier of sealed ones and the
 * engine. */

/* Passes datagrams to the engine. */
void saratoga__datagrams_take(saratoga_node *u, const net__burst *in,
                              size_t count, uint32_t flags);
/* Sends what the engine has; true: there is more, later. */
bool saratoga__datagrams_send(saratoga_node *u);

#endif /* LIBSARATOGA_NODE_NETWORK_H */
