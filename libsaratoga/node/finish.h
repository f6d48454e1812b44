/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_FINISH_H
#define LIBSARATOGA_NODE_FINISH_H

#include "libsaratoga/node/state.h"

/* Finishes each transfer passed to saratoga__file_check() once no thread works
 * on it: keeps or removes received data, reports, frees. */
void saratoga__finish_all(saratoga_node *u);

#endif /* LIBSARATOGA_NODE_FINISH_H */
