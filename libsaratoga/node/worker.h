/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_WORKER_H
#define LIBSARATOGA_NODE_WORKER_H

#include "libsaratoga/node/state.h"

/* The engine's work on files: blocks read, written and digested, and the
 * commit. */

/* Starts work of the engine. */
void saratoga__work_start(saratoga_node *u, const saratoga_work *w);
/* Starts the work that waits for the file to be open, or fails it with
 * UV_E... */
void saratoga__work_release(saratoga__file *f, int status);

/* Callbacks of the node's completions: in a thread, and on the loop. */
void saratoga__worker_run(saratoga__op *op);
void saratoga__worker_done(saratoga__op *op);

/* Limit of data received into memory, that is, directory records. */
#define SARATOGA__MEMORY_MAX ((size_t)16 * 1024 * 1024)

#endif /* LIBSARATOGA_NODE_WORKER_H */
