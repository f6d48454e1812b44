/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_SEND_FILE_H
#define LIBSARATOGA_NODE_SEND_FILE_H

#include "libsaratoga/node/state.h"

/* Sent files and their checksums. */

/* Part of a job. Blocks. Returns 0 or UV_E... */
int saratoga__source_open(saratoga__file *f);
/* Whether the file has changed; blocks. */
bool saratoga__source_changed(const saratoga__file *f);
/* Looks up, computes or defers (source.digest_later) the checksum of a file;
 * then calls `then`, with work.status. */
void saratoga__source_digest(saratoga__file *f,
                             void (*then)(saratoga__file *f));
/* Computes a deferred checksum while the file is read, and passes it to the
 * engine. */
void saratoga__source_digest_later(saratoga__file *f);
/* A block that ends at `end` was read. */
void saratoga__source_read(saratoga__file *f, uint64_t end);
/* Advances the checksum if the reads are slower. */
void saratoga__source_tick(saratoga__file *f);
/* The peer has proven its address: the checksum may be computed. */
void saratoga__source_proven(saratoga__file *f);
/* Computes the checksum of data in memory; blocks. */
void saratoga__source_digest_memory(saratoga__file *f);

#endif /* LIBSARATOGA_NODE_SEND_FILE_H */
