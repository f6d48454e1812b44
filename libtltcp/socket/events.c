/* SPDX-License-Identifier: MPL-2.0 */
/* tltcp_next_event(), and waiting for a connection. */
#include "libtltcp/socket/events.h"

#include <stdlib.h>
#include <string.h>

#include "libtltcp/socket/accept_queue.h"
#include "libtltcp/socket/clock.h"
#include "libtltcp/socket/readiness.h"

/* --- In: from the engine ------------------------------------------------- */

static void events_on_connected(tltcp_socket *s) {
    s->connected = true;
    s->pending.connected = true;
    if (s->port->listening != NULL) {
        tltcp__accept_push(s);
    }
}

static void events_keep_reason(tltcp_socket *s, const char *reason) {
    size_t size = strlen(reason) + 1;
    char *kept = size > 1 ? malloc(size) : NULL;

    if (kept != NULL) {
        memcpy(kept, reason, size);
        free(s->reason);
        s->reason = kept;
    }
}

static void events_copy_reason(const tltcp_socket *s, char *reason) {
    memset(reason, 0, TLTCP_REASON_MAX + 1);
    if (s->reason != NULL) { /* no longer than an event's */
        memcpy(reason, s->reason, strlen(s->reason));
    }
}

static void events_on_closed(tltcp_socket *s, const tltcp_event *ev) {
    s->closed = true;
    s->pending.closed = true;
    s->error = ev->error;
    s->code = ev->code;
    events_keep_reason(s, ev->reason);
    if (s->port->listening != NULL) {
        tltcp__accept_on_closed(s, ev->error);
    }
}

static void events_take(tltcp_socket *s, const tltcp_event *ev) {
    s->pending.now = ev->now;
    switch (ev->type) {
    case TLTCP_EVENT_CONNECTED:
        events_on_connected(s);
        break;
    case TLTCP_EVENT_CLOSED:
        events_on_closed(s, ev);
        break;
    case TLTCP_EVENT_PATH:
        s->pending.moved = true;
        break;
    case TLTCP_EVENT_RATE:
        s->pending.rated = true;
        s->pending.estimated_bps = ev->estimated_bps;
        s->pending.target_bps = ev->target_bps;
        break;
    default:
        break;
    }
}

void tltcp__take_events(tltcp_socket *s) {
    tltcp_event ev;

    while (tltcp_conn_next_signal(tltcp__engine(s), &ev) > 0) {
        events_take(s, &ev);
    }
}

/* --- Out: to the application --------------------------------------------- */

static void events_give_end(tltcp_socket *s, tltcp_event *ev) {
    s->pending.closed = false;
    s->end_taken = true;
    ev->type = TLTCP_EVENT_CLOSED;
    ev->error = s->error;
    ev->code = s->code;
    events_copy_reason(s, ev->reason);
}

/* Connected first, the end last. */
static void events_give(tltcp_socket *s, tltcp_event *ev) {
    tltcp__take_events(s); /* so that a fate is the engine's next event */
    memset(ev, 0, sizeof(*ev));
    ev->now = s->pending.now;
    if (s->pending.connected) {
        s->pending.connected = false;
        ev->type = TLTCP_EVENT_CONNECTED;
    } else if (tltcp_conn_fates(s->conn) > 0) {
        (void)tltcp_conn_next_event(tltcp__engine(s), ev);
    } else if (s->pending.moved) {
        s->pending.moved = false;
        ev->type = TLTCP_EVENT_PATH;
    } else if (s->pending.rated) {
        s->pending.rated = false;
        ev->type = TLTCP_EVENT_RATE;
        ev->estimated_bps = s->pending.estimated_bps;
        ev->target_bps = s->pending.target_bps;
    } else {
        events_give_end(s, ev);
    }
}

int tltcp_next_event(tltcp_socket *s, tltcp_event *ev, int timeout_ms) {
    tltcp_time until = tltcp__until(timeout_ms);
    int rv = TLTCP_ERR_AGAIN;

    if (s == NULL || ev == NULL || s->listener) {
        return TLTCP_ERR_INVAL;
    }
    uv_mutex_lock(tltcp__mutex(s));
    while (!tltcp__has_signals(s) && !s->end_taken &&
           tltcp__wait(s, &s->watchers, until)) {
    }
    if (tltcp__has_signals(s)) {
        events_give(s, ev);
        tltcp__notify(s);
        rv = 1;
    } else if (s->end_taken) {
        rv = TLTCP_ERR_CLOSED;
    }
    uv_mutex_unlock(tltcp__mutex(s));
    return rv;
}

int tltcp_wait_connected(tltcp_socket *s, int timeout_ms) {
    tltcp_time until = tltcp__until(timeout_ms);
    int rv = TLTCP_ERR_AGAIN;

    if (s == NULL || s->listener) {
        return TLTCP_ERR_INVAL;
    }
    uv_mutex_lock(tltcp__mutex(s));
    while (!s->connected && !s->closed && tltcp__wait(s, &s->watchers, until)) {
    }
    if (s->connected) {
        rv = 0;
    } else if (s->closed) {
        rv = s->error != 0 ? s->error : TLTCP_ERR_CLOSED;
    }
    uv_mutex_unlock(tltcp__mutex(s));
    return rv;
}

int tltcp_socket_error(const tltcp_socket *s, char *reason) {
    int rv;

    if (s == NULL || s->listener) {
        return TLTCP_ERR_INVAL;
    }
    uv_mutex_lock(tltcp__mutex(s));
    rv = s->error;
    if (reason != NULL) {
        events_copy_reason(s, reason);
    }
    uv_mutex_unlock(tltcp__mutex(s));
    return rv;
}
