/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_STREAM_H
#define LIBSARATOGA_NODE_STREAM_H

#include "libsaratoga/node/state.h"

/* Streams: sends data from a pipe, and writes received data to one. */

/* Part of a job: describes the stream for the protocol.  Returns 0 or
 * UV_E... */
int saratoga__stream_describe(saratoga__file *f);
/* Part of a job: opens a named pipe that a peer may get. Blocks. Returns 0 or
 * UV_E... */
int saratoga__stream_open(saratoga__file *f);
/* Afterwards: makes the loop poll it. */
int saratoga__stream_watch(saratoga__file *f);
/* Stops polling; false: not yet, the file will be checked again. */
bool saratoga__stream_unwatch(saratoga__file *f);
/* Writes to a pipe, in a thread. Returns 0 or UV_E... */
int64_t saratoga__stream_write(saratoga__file *f, const saratoga_work *w);
/* Passes on the data read and reads more, unless that is in progress. */
void saratoga__stream_go_on(saratoga__file *f);

#endif /* LIBSARATOGA_NODE_STREAM_H */
