/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_RECEIVE_FILE_H
#define LIBSARATOGA_NODE_RECEIVE_FILE_H

#include "libsaratoga/node/state.h"

/* Files that are received. */

/* A job's part: opens a partial file, or the file itself when what comes is to
 * be compared with it.  Blocks.  Returns 0 or UV_E... */
int saratoga__sink_open(saratoga__file *f);
/* The peer has described the file. */
void saratoga__sink_metadata(saratoga__file *f, const saratoga_event *ev);

#endif /* LIBSARATOGA_NODE_RECEIVE_FILE_H */
