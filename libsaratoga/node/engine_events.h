/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_ENGINE_EVENTS_H
#define LIBSARATOGA_NODE_ENGINE_EVENTS_H

#include "libsaratoga/node/state.h"

void saratoga__on_event(saratoga_node *u, const saratoga_event *ev);

#endif /* LIBSARATOGA_NODE_ENGINE_EVENTS_H */
