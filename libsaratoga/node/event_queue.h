/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_EVENT_QUEUE_H
#define LIBSARATOGA_NODE_EVENT_QUEUE_H

#include "libsaratoga/node/state.h"

/* Events for the application. */

/* Queues an event; takes ownership of `memory`. */
void saratoga__event_add(saratoga_node *u, const saratoga_node_event *ev,
                         uint8_t *memory);
void saratoga__events_free(saratoga_node *u);

#endif /* LIBSARATOGA_NODE_EVENT_QUEUE_H */
