/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_FINISH_H
#define LIBSARATOGA_NODE_FINISH_H

#include "libsaratoga/node/state.h"

/* Settles the end of each transfer that saratoga__file_check() named, once no
 * thread works on it: keeps or removes what came, reports, frees. */
void saratoga__finish_all(saratoga_node *u);

#endif /* LIBSARATOGA_NODE_FINISH_H */
