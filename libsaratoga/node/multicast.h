/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_MULTICAST_H
#define LIBSARATOGA_NODE_MULTICAST_H

#include "libsaratoga/node/state.h"

/* The group that a datagram was sent to, as a destination; false: none. */
bool saratoga__group_of(const saratoga_node *u, const net__route *r,
                        net__route *group);
/* Joins the groups of the protocol on the node's own socket. */
void saratoga__join_groups(saratoga_node *u);
/* Opens a socket that receives the reports of the members of a group that this
 * node sends to; `all`: also the data sent to them. Returns 0 or UV_E...;
 * UV_EBUSY: another group is joined. */
int saratoga__multicast_open(saratoga_node *u, const net__addr *group,
                             bool all);
void saratoga__multicast_close(saratoga_node *u);
/* Opens the group to which gets are answered, if configured. Returns 0 or
 * UV_E... with a message. */
int saratoga__answer_group_open(saratoga_node *u, char *why);
/* Answers a get to the group; false: answer the requester itself. */
bool saratoga__answer_group(saratoga__file *f, saratoga_answer *a);

#endif /* LIBSARATOGA_NODE_MULTICAST_H */
