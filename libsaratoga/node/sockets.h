/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_SOCKETS_H
#define LIBSARATOGA_NODE_SOCKETS_H

#include "libsaratoga/node/state.h"

/* The sockets of a node. Received datagrams go to net.deliver, which must be
 * set before. */

/* Returns 0, or UV_E... with a message. */
int saratoga__sockets_open(saratoga_node *u, char *why);
void saratoga__sockets_close(saratoga_node *u);
/* Common options of a node's sockets. */
net__udp_options saratoga__socket_options(saratoga_node *u, const net__addr *at,
                                          const net__udp_ops *ops);
/* Room for a burst, or NULL if the socket is full. */
uint8_t *saratoga__socket_room(saratoga_node *u);
void saratoga__sockets_flush(saratoga_node *u);
/* Maps an address to IPv6 if the socket needs it. */
void saratoga__map_for_socket(const saratoga_node *u, net__addr *a);

#endif /* LIBSARATOGA_NODE_SOCKETS_H */
