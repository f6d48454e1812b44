/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_TAKEOVER_H
#define LIBSARATOGA_NODE_TAKEOVER_H

#include "libsaratoga/node/state.h"

/*
 * A client that died while it put a file has its name locked until the transfer
 * times out.  When the same host puts it again, the dead transfer makes way.
 */

/* Whether another transfer of the same host writes that file, so that `f` waits
 * for it. */
bool saratoga__takeover_wait(saratoga__file *f);
/* Notes what comes; ends a silent transfer that another waits for.  Returns
 * true when `f` waits no longer: it may open the file, or find that it is still
 * in use. */
bool saratoga__takeover_tick(saratoga__file *f, uint64_t now);

#endif /* LIBSARATOGA_NODE_TAKEOVER_H */
