/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_STRANGERS_H
#define LIBSARATOGA_NODE_STRANGERS_H

#include "libsaratoga/node/state.h"

/* Peers that have not proven that they receive at their address: their requests
 * may be forged.  What they ask for begins at once where it costs no more than
 * opening a file; of the rest a few a second, whoever asks.  The others are
 * challenged and wait. */

/* Whether a request is to wait; if so its peer has been challenged. */
bool saratoga__stranger_waits(saratoga__file *f);
/* Whether one that waits begins now, proven or not: not all peers know
 * challenges. */
bool saratoga__stranger_tick(saratoga__file *f, uint64_t now);
/* Whether a checksum of `size` bytes may be computed for a stranger now. */
bool saratoga__stranger_may_hash(saratoga_node *u, uint64_t size);

#endif /* LIBSARATOGA_NODE_STRANGERS_H */
