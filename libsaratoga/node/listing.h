/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_LISTING_H
#define LIBSARATOGA_NODE_LISTING_H

#include "libsaratoga/node/state.h"

/* A job's parts; both block and return 0 or UV_E... */

/* The directory record of a folder or a file, into memory. */
int saratoga__source_list(saratoga__file *f, uint32_t widest);
/* The oldest file, for a peer that asks for any. */
int saratoga__source_pick(saratoga__file *f);

#endif /* LIBSARATOGA_NODE_LISTING_H */
