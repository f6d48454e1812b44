/* SPDX-License-Identifier: MPL-2.0 */
/* The queue of events for the application. */
#include "libsaratoga/node/event_queue.h"

#include <stdlib.h>

/* Queued events above which those without room of their own, beacons and served
 * transfers, are dropped. */
#define MANY 1024u

struct saratoga__event {
    struct saratoga__event *next;
    uint8_t *memory; /* of a record */
    saratoga_node_event ev;
};

struct saratoga__event *saratoga__event_new(void) {
    return calloc(1, sizeof(struct saratoga__event));
}

void saratoga__event_add(saratoga_node *u, struct saratoga__event *room,
                         const saratoga_node_event *ev, uint8_t *memory) {
    struct saratoga__event *e = room;

    if (e == NULL && u->events.count < MANY) {
        e = saratoga__event_new();
    }
    if (e == NULL) {
        free(memory);
        return;
    }
    e->ev = *ev;
    e->memory = memory;
    *(u->events.last != NULL ? &u->events.last->next : &u->events.first) = e;
    u->events.last = e;
    u->events.count++;
    if (u->events.notify != NULL) {
        u->events.notify(u->events.notify_user);
    }
    if (saratoga__loop_is_own(&u->loop)) {
        uv_stop(u->loop.uv);
    }
}

int saratoga_node_next_event(saratoga_node *u, saratoga_node_event *ev) {
    struct saratoga__event *e = u->events.first;

    if (e == NULL) {
        return 0;
    }
    u->events.first = e->next;
    u->events.last = u->events.first != NULL ? u->events.last : NULL;
    u->events.count--;
    free(u->events.record);
    u->events.record = e->memory;
    *ev = e->ev;
    free(e);
    return 1;
}

void saratoga__events_free(saratoga_node *u) {
    saratoga_node_event ev;

    while (saratoga_node_next_event(u, &ev) == 1) {
    }
    free(u->events.record);
    u->events.record = NULL;
}

void saratoga_node_on_events(saratoga_node *u, void (*fn)(void *user),
                             void *user) {
    u->events.notify = fn;
    u->events.notify_user = user;
}
