/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_SERVER_H
#define LIBSARATOGA_NODE_SERVER_H

#include "libsaratoga/node/state.h"

/* Begins or refuses what a peer asks for. */
void saratoga__serve_request(saratoga_node *u, const saratoga_event *ev);

/* The peer of a transfer has proven its address. */
void saratoga__server_proven(saratoga__file *f);
/* Goes on with puts that wait for a dead one of the same host, and with
 * strangers that have waited for long. */
void saratoga__server_tick(saratoga__file *f, uint64_t now);

#endif /* LIBSARATOGA_NODE_SERVER_H */
