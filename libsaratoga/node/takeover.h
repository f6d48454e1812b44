/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_TAKEOVER_H
#define LIBSARATOGA_NODE_TAKEOVER_H

#include "libsaratoga/node/state.h"

/*
 * A client that died during a put leaves the file locked until the transfer
 * times out. When the same host puts it again, the dead transfer is ended.
 */

/* Whether another transfer of the same host writes that file, so that `f` must
 * wait for it. */
bool saratoga__takeover_wait(saratoga__file *f);
/* Tracks activity and ends a silent transfer that another waits for. Returns
 * true when `f` no longer waits: it may open the file, or find that it is still
 * in use. */
bool saratoga__takeover_tick(saratoga__file *f, uint64_t now);

#endif /* LIBSARATOGA_NODE_TAKEOVER_H */
