/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_SEND_FILE_H
#define LIBSARATOGA_NODE_SEND_FILE_H

#include "libsaratoga/node/state.h"

/* Files that are sent, and their checksums. */

/* A job's part.  Blocks.  Returns 0 or UV_E... */
int saratoga__source_open(saratoga__file *f);
/* Whether it is not what it was; blocks. */
bool saratoga__source_changed(const saratoga__file *f);
/* Looks up or computes the checksum of a file, or puts it off
 * (source.digest_later); then calls `then`, with work.status. */
void saratoga__source_digest(saratoga__file *f,
                             void (*then)(saratoga__file *f));
/* Computes what was put off while the file is read, and hands it to the
 * engine. */
void saratoga__source_digest_later(saratoga__file *f);
/* A block was read that ends there. */
void saratoga__source_read(saratoga__file *f, uint64_t end);
/* Goes ahead with the checksum when the reads are slower than it. */
void saratoga__source_tick(saratoga__file *f);
/* The peer has proven its address: the checksum may be computed. */
void saratoga__source_proven(saratoga__file *f);
/* The checksum of what is in memory; blocks. */
void saratoga__source_digest_memory(saratoga__file *f);

#endif /* LIBSARATOGA_NODE_SEND_FILE_H */
