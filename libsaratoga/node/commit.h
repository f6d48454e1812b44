/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_COMMIT_H
#define LIBSARATOGA_NODE_COMMIT_H

#include "libsaratoga/node/state.h"

/* The last step of receiving a file, in a thread. The peer learns that the file
 * is complete, and may delete its copy, only after this has returned 0: the
 * checksum matches, and the file and its name are on disk. */

/* The checksum from the beginning to `end`.  Returns 0 or UV_E... */
int64_t saratoga__digest_to(saratoga__file *f, uint32_t type, uint64_t end);
/* Returns 0, UV_E... or SARATOGA__... */
int64_t saratoga__commit(saratoga__file *f, const saratoga_work *w);

#endif /* LIBSARATOGA_NODE_COMMIT_H */
