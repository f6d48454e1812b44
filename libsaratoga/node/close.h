/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_CLOSE_H
#define LIBSARATOGA_NODE_CLOSE_H

#include "libsaratoga/node/state.h"

/* Continues closing when there is nothing left to wait for. */
void saratoga__close_step(saratoga_node *u);

#endif /* LIBSARATOGA_NODE_CLOSE_H */
