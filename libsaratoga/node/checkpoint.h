/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_CHECKPOINT_H
#define LIBSARATOGA_NODE_CHECKPOINT_H

#include "libsaratoga/node/state.h"

/* The map beside a partial file: what a later transfer need not request. */

/* Encodes the ranges held now; false: not worth a map. */
bool saratoga__checkpoint_draw(saratoga__file *f);
/* Syncs the bytes and then the map to disk; blocks. Returns 0 or UV_E... */
int saratoga__checkpoint_save(saratoga__file *f);
/* Saves when it is due. */
void saratoga__checkpoint_tick(saratoga__file *f, uint64_t now);

#endif /* LIBSARATOGA_NODE_CHECKPOINT_H */
