/* SPDX-License-Identifier: MPL-2.0 */
/* The queue of connections that wait for their turn. */
#include "libtltcp/socket/schedule.h"

/* An application that serves many writes a picture to one after the other. A
 * thread that woke for the first would compete with it for the mutex. */
#define GATHER TLTCP_MS

static void schedule_append(tltcp_socket **first, tltcp_socket **last,
                            tltcp_socket *s) {
    s->next_scheduled = NULL;
    if (*first == NULL) {
        *first = s;
    } else {
        (*last)->next_scheduled = s;
    }
    *last = s;
}

void tltcp__schedule(tltcp_socket *s) {
    struct tltcp__port *port = s->port;

    if (s->scheduled) {
        return;
    }
    s->scheduled = true;
    if (port->blocked && !s->release && !s->reliable) {
        schedule_append(&port->waiting, &port->last_waiting, s);
    } else {
        schedule_append(&port->io->scheduled, &port->io->last_scheduled, s);
    }
}

void tltcp__wake(tltcp_socket *s) {
    struct tltcp__io_thread *io = s->port->io;

    tltcp__schedule(s);
    if (!io->pumping) {
        io->pumping = true; /* once for all that is scheduled until its turn */
        if (!io->gathers ||
            !net__timer_set_remotely(&io->timer, tltcp_now() + GATHER)) {
            (void)uv_async_send(&io->wake);
        }
    }
}

tltcp_socket *tltcp__next_scheduled(struct tltcp__io_thread *io) {
    tltcp_socket *s = io->scheduled;

    if (s != NULL) {
        io->scheduled = s->next_scheduled;
        s->next_scheduled = NULL;
        s->scheduled = false;
    }
    return s;
}

void tltcp__unschedule(tltcp_socket *s) {
    struct tltcp__io_thread *io = s->port->io;
    tltcp_socket *before = NULL;
    tltcp_socket *at = io->scheduled;

    while (at != NULL && at != s) {
        before = at;
        at = at->next_scheduled;
    }
    if (at == NULL) {
        return; /* not scheduled, or waiting */
    }
    if (before == NULL) {
        io->scheduled = s->next_scheduled;
    } else {
        before->next_scheduled = s->next_scheduled;
    }
    if (io->last_scheduled == s) {
        io->last_scheduled = before;
    }
}

void tltcp__unblock(struct tltcp__port *port) {
    struct tltcp__io_thread *io = port->io;

    if (port->waiting == NULL) {
        return;
    }
    if (io->scheduled == NULL) {
        io->scheduled = port->waiting;
    } else {
        io->last_scheduled->next_scheduled = port->waiting;
    }
    io->last_scheduled = port->last_waiting;
    port->waiting = NULL;
}

void tltcp__release(tltcp_socket *s) {
    s->release = true;
    tltcp__unblock(s->port); /* it may be waiting */
    tltcp__wake(s);
}

void tltcp__flush_later(struct tltcp__port *port) {
    if (!port->unflushed) {
        port->unflushed = true;
        port->next_unflushed = port->io->unflushed;
        port->io->unflushed = port;
    }
}
