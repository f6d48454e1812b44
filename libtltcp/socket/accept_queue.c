/* SPDX-License-Identifier: MPL-2.0 */
/* The queue of callers that wait for tltcp_accept(). */
#include "libtltcp/socket/accept_queue.h"

#include "libtltcp/socket/readiness.h"

/* Limit on callers that the application has not taken; further ones are
 * refused. */
#define BACKLOG 4096u

static struct tltcp__listener *accept_lock(const tltcp_socket *s) {
    struct tltcp__listener *l = s->port->listening->listener;

    uv_mutex_lock(&l->mx);
    return l;
}

/* --- Before a caller is accepted ----------------------------------------- */

bool tltcp__accept_is_open(struct tltcp__listener *l) {
    bool open;

    uv_mutex_lock(&l->mx);
    open = l->handle != NULL;
    uv_mutex_unlock(&l->mx);
    return open;
}

static const char *accept_refusal(const struct tltcp__listener *l) {
    if (l->handle == NULL) {
        return "the listener was closed";
    }
    return l->unaccepted >= BACKLOG ? "too many callers are waiting" : NULL;
}

const char *tltcp__accept_refusal(struct tltcp__listener *l) {
    const char *why;

    uv_mutex_lock(&l->mx);
    why = accept_refusal(l);
    uv_mutex_unlock(&l->mx);
    return why;
}

bool tltcp__accept_ask(struct tltcp__listener *l) {
    bool open;

    uv_mutex_lock(&l->mx);
    open = l->handle != NULL;
    l->asking += open ? 1 : 0;
    uv_mutex_unlock(&l->mx);
    return open;
}

void tltcp__accept_asked(struct tltcp__listener *l) {
    uv_mutex_lock(&l->mx);
    l->asking--;
    if (l->closing != NULL) {
        tltcp__wake_all(&l->closing->readers);
    }
    uv_mutex_unlock(&l->mx);
}

/* --- The queue ----------------------------------------------------------- */

void tltcp__accept_expect(tltcp_socket *s) {
    struct tltcp__listener *l = accept_lock(s);

    s->unaccepted = true;
    l->unaccepted++;
    uv_mutex_unlock(&l->mx);
}

static void accept_append(struct tltcp__listener *l, tltcp_socket *s) {
    s->queued = true;
    s->next_caller = NULL;
    s->prev_caller = l->last;
    if (l->first == NULL) {
        l->first = s;
    } else {
        l->last->next_caller = s;
    }
    l->last = s;
    tltcp__notify(l->handle);
}

void tltcp__accept_push(tltcp_socket *s) {
    struct tltcp__listener *l = accept_lock(s);

    if (s->unaccepted && l->handle != NULL) {
        accept_append(l, s);
    }
    uv_mutex_unlock(&l->mx);
}

static void accept_unlink(struct tltcp__listener *l, tltcp_socket *s) {
    if (s->prev_caller == NULL) {
        l->first = s->next_caller;
    } else {
        s->prev_caller->next_caller = s->next_caller;
    }
    if (s->next_caller == NULL) {
        l->last = s->prev_caller;
    } else {
        s->next_caller->prev_caller = s->prev_caller;
    }
    s->queued = false;
}

static void accept_drop(struct tltcp__listener *l, tltcp_socket *s) {
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

void tltcp__accept_on_closed(tltcp_socket *s, int error) {
    struct tltcp__listener *l = accept_lock(s);

    if (!s->queued || error != 0) {
        accept_drop(l, s); /* there is nothing to accept */
    }
    uv_mutex_unlock(&l->mx);
}

void tltcp__accept_drop(tltcp_socket *s) {
    struct tltcp__listener *l = accept_lock(s);

    accept_drop(l, s);
    uv_mutex_unlock(&l->mx);
}

bool tltcp__accept_holds(const tltcp_socket *s) {
    struct tltcp__listener *l = accept_lock(s);
    bool holds = s->queued || s->accepted;

    uv_mutex_unlock(&l->mx);
    return holds;
}

tltcp_socket *tltcp__accept_take(struct tltcp__listener *l) {
    tltcp_socket *s = l->first;

    if (s != NULL) {
        s->accepted = true;
        accept_drop(l, s);
        l->users++;
    }
    return s;
}
