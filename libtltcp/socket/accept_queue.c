/* SPDX-License-Identifier: MPL-2.0 */
/* The queue of callers that wait for tltcp_accept(). */
#include "libtltcp/socket/accept_queue.h"

#include "libtltcp/socket/readiness.h"

void tltcp__accept_expect(tltcp_socket *s) {
    s->unaccepted = true;
    s->port->listening->unaccepted++;
}

void tltcp__accept_push(tltcp_socket *s) {
    struct tltcp__listening *l = s->port->listening;

    if (!s->unaccepted || l->handle == NULL) {
        return;
    }
    s->queued = true;
    s->next_caller = NULL;
    if (l->first == NULL) {
        l->first = s;
    } else {
        l->last->next_caller = s;
    }
    l->last = s;
    tltcp__notify(l->handle);
}

static void accept_unlink(struct tltcp__listening *l, tltcp_socket *s) {
    tltcp_socket *before = NULL;

    for (tltcp_socket *i = l->first; i != s; i = i->next_caller) {
        before = i;
    }
    if (before == NULL) {
        l->first = s->next_caller;
    } else {
        before->next_caller = s->next_caller;
    }
    if (l->last == s) {
        l->last = before;
    }
    s->queued = false;
}

void tltcp__accept_drop(tltcp_socket *s) {
    struct tltcp__listening *l = s->port->listening;

    if (s->queued) {
        accept_unlink(l, s);
        if (l->handle != NULL) {
            tltcp__notify(l->handle);
        }
    }
    if (s->unaccepted) {
        s->unaccepted = false;
        l->unaccepted--;
    }
}
