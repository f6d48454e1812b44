/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_STREAM_H
#define LIBSARATOGA_NODE_STREAM_H

#include "libsaratoga/node/state.h"

/* Streams: what comes out of a pipe is sent, what is received may go into
 * one. */

/* A job's part: as the protocol describes it.  Returns 0 or UV_E... */
int saratoga__stream_describe(saratoga__file *f);
/* A job's part: a named pipe that a peer may get.  Blocks.  Returns 0 or
 * UV_E... */
int saratoga__stream_open(saratoga__file *f);
/* Then: has the loop poll it. */
int saratoga__stream_watch(saratoga__file *f);
/* Polls no longer; false: not yet, the file is checked again then. */
bool saratoga__stream_unwatch(saratoga__file *f);
/* Into a pipe, in a thread.  Returns 0 or UV_E... */
int64_t saratoga__stream_write(saratoga__file *f, const saratoga_work *w);
/* Hands on what was read and reads more, unless that is under way. */
void saratoga__stream_go_on(saratoga__file *f);

#endif /* LIBSARATOGA_NODE_STREAM_H */
