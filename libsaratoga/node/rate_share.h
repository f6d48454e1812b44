/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_RATE_SHARE_H
#define LIBSARATOGA_NODE_RATE_SHARE_H

#include "libsaratoga/node/state.h"

/* Divides the node's rate among the transfers that share it. */
void saratoga__share_rate(saratoga_node *u);
/* The same, at a limited frequency. */
void saratoga__share_rate_when_due(saratoga_node *u);

#endif /* LIBSARATOGA_NODE_RATE_SHARE_H */
