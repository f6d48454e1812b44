/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_MULTICAST_H
#define LIBSARATOGA_NODE_MULTICAST_H

#include "libsaratoga/node/state.h"

/* The group that a datagram came to, as a place to send to; false: to none. */
bool saratoga__group_of(const saratoga_node *u, const net__route *r,
                        net__route *group);
/* Hears the groups of the protocol on the node's own socket. */
void saratoga__join_groups(saratoga_node *u);
/* Opens a socket that hears what members of a group say that this node sends
 * to; `all`: and what is sent to them.  Returns 0 or UV_E...; UV_EBUSY: another
 * group is heard. */
int saratoga__multicast_open(saratoga_node *u, const net__addr *group,
                             bool all);
void saratoga__multicast_close(saratoga_node *u);
/* The group to which gets are answered, if there is one.  Returns 0 or UV_E...,
 * with a sentence. */
int saratoga__answer_group_open(saratoga_node *u, char *why);
/* Answers a get to the group; false: the requester is answered. */
bool saratoga__answer_group(saratoga__file *f, saratoga_answer *a);

#endif /* LIBSARATOGA_NODE_MULTICAST_H */
