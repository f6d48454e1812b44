/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_SOCKETS_H
#define LIBSARATOGA_NODE_SOCKETS_H

#include "libsaratoga/node/state.h"

/* The sockets of a node.  What comes goes to net.deliver, which is set
 * before. */

/* Returns 0 or UV_E..., with a sentence. */
int saratoga__sockets_open(saratoga_node *u, char *why);
void saratoga__sockets_close(saratoga_node *u);
/* What sockets of a node have in common. */
net__udp_options saratoga__socket_options(saratoga_node *u, const net__addr *at,
                                          const net__udp_ops *ops);
/* Room for a burst, or NULL when the socket is full. */
uint8_t *saratoga__socket_room(saratoga_node *u);
void saratoga__sockets_flush(saratoga_node *u);
/* Whether an address must be mapped to IPv6 before it is sent to. */
void saratoga__map_for_socket(const saratoga_node *u, net__addr *a);

#endif /* LIBSARATOGA_NODE_SOCKETS_H */
