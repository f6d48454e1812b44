/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_STRANGERS_H
#define LIBSARATOGA_NODE_STRANGERS_H

#include "libsaratoga/node/state.h"

/* Peers that have not proven their address: their requests may be forged. A
 * request begins at once if it costs no more than opening a file; of the
 * others, a few per second begin for all peers together. The rest are
 * challenged and wait. */

/* Whether a request must wait; if so, its peer has been challenged. */
bool saratoga__stranger_waits(saratoga__file *f);
/* Whether a waiting request begins now, proven or not: not all peers support
 * challenges. */
bool saratoga__stranger_tick(saratoga__file *f, uint64_t now);
/* Whether a checksum of `size` bytes may be computed for an unproven peer
 * now. */
bool saratoga__stranger_may_hash(saratoga_node *u, uint64_t size);

#endif /* LIBSARATOGA_NODE_STRANGERS_H */
