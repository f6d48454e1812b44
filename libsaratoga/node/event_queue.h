/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_EVENT_QUEUE_H
#define LIBSARATOGA_NODE_EVENT_QUEUE_H

#include "libsaratoga/node/state.h"

/* Events for the application. */

/* Room for an event that must not get lost; NULL: out of memory. */
struct saratoga__event *saratoga__event_new(void);
/* Queues an event in `room`, or, if that is NULL, in new memory while there is
 * some. Takes ownership of `room` and `memory`. */
void saratoga__event_add(saratoga_node *u, struct saratoga__event *room,
                         const saratoga_node_event *ev, uint8_t *memory);
void saratoga__events_free(saratoga_node *u);

#endif /* LIBSARATOGA_NODE_EVENT_QUEUE_H */
