/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_SERVER_H
#define LIBSARATOGA_NODE_SERVER_H

#include "libsaratoga/node/state.h"

/* Begins or refuses a requested transfer. */
void saratoga__serve_request(saratoga_node *u, const saratoga_event *ev);

/* The peer of a transfer has proven its address. */
void saratoga__server_proven(saratoga__file *f);
/* Continues puts that wait for a dead one of the same host, and unproven peers
 * that have waited long enough. */
void saratoga__server_tick(saratoga__file *f, uint64_t now);

#endif /* LIBSARATOGA_NODE_SERVER_H */
