/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_RECEIVE_FILE_H
#define LIBSARATOGA_NODE_RECEIVE_FILE_H

#include "libsaratoga/node/state.h"

/* Received files. */

/* Part of a job: opens a partial file, or the file itself if the received data
 * is to be compared with it. Blocks. Returns 0 or UV_E... */
int saratoga__sink_open(saratoga__file *f);
/* The peer has described the file. */
void saratoga__sink_metadata(saratoga__file *f, const saratoga_event *ev);

/* Takes from the quota's account what a transfer that has ended did not bring.
 */
void saratoga__sink_settle_quota(saratoga__file *f);

#endif /* LIBSARATOGA_NODE_RECEIVE_FILE_H */
