/* SPDX-License-Identifier: MPL-2.0 */
#ifndef DRIVERS_UV_SOCK_H
#define DRIVERS_UV_SOCK_H

#include <tltcp/conn.h>
#include <tltcp/socket.h>

#include "internal/common/heap.h"
#include "internal/common/ring.h"
#include "internal/net/route.h"
#include "libtltcp/socket/event_fd.h"
#include "libtltcp/socket/io_thread.h"

/* A socket: a listener, or a connection with the engine inside. */

/* What the application learns, apart from the fates. */
struct tltcp__news {
    bool connected;
    bool moved;
    bool rated;
    bool closed; /* given last of all */
    uint64_t rate;
    tltcp_time now;
};

/* A fate as it waits, a fifth of a tltcp_event. */
struct tltcp__fate {
    uint64_t section;
    uint64_t tag;
    uint64_t bytes;
    uint64_t acked;
    tltcp_time written;
    tltcp_time deadline;
    tltcp_time now;
    uint32_t fate;
    uint32_t cause;
    uint32_t section_class;
    uint32_t stream;
};

/* Everything here belongs to reactor::mx. */
struct tltcp_socket {
    struct tltcp__reactor *r;
    bool listener; /* then only what stands before `conn` is in use */

    uv_cond_t readable; /* recvmsg, accept */
    unsigned readers;
    tltcp__event_fd read_flag;

    tltcp_conn *conn;
    uv_cond_t writable;
    uv_cond_t changed; /* connected, closed, released; events */
    unsigned writers;
    unsigned watchers;
    tltcp__event_fd write_flag;
    tltcp__event_fd event_flag;

    tltcp_socket *next; /* all connections of the reactor */
    tltcp_socket *prev;
    tltcp_socket *next_dirty;
    tltcp_socket *next_caller; /* accept queue */

    bool dirty;     /* in the list of those to pump */
    bool owned;     /* an application has it */
    bool release;   /* the application gave it back */
    bool gone;      /* the I/O thread is done with it */
    bool pending;   /* counted in tltcp__listening::pending */
    bool queued;    /* in the accept queue */
    bool connected; /* the handshake is done */
    bool closed;    /* the engine said so; `error` tells why */
    bool over;      /* nothing more will be sent */
    bool finished;  /* after tltcp_shutdown() */
    bool told;      /* recvmsg gave the end or the failure */
    bool gap;       /* recvmsg owes TLTCP_ERR_GAP */
    bool end_taken; /* TLTCP_EVENT_CLOSED was taken */

    uint32_t timer;    /* slot in the reactor's heap */
    tltcp_time armed;  /* its key */
    size_t write_want; /* room that makes it writable */
    net__routes routes;

    struct tltcp__news news;
    cmn__ring fates;
    int error; /* once closed */
    uint32_t code;
    char reason[TLTCP_REASON_MAX + 1];
    struct tltcp__trace *trace; /* its qlog file, or NULL */
};

/* The engine; what it traces from now on is this connection's. */
static inline tltcp_conn *tltcp__engine(tltcp_socket *s) {
    s->r->current = s;
    return s->conn;
}

/* Makes a socket; a connection takes over `conn`.  NULL without memory. */
tltcp_socket *tltcp__socket_new(struct tltcp__reactor *r, tltcp_conn *conn);
void tltcp__socket_free(tltcp_socket *s);
/* Takes a connection out of its reactor's list.  Under mx. */
void tltcp__socket_unlink(tltcp_socket *s);

/* What follows is called with reactor::mx held. */

/* Takes the engine's events. */
void tltcp__take_events(tltcp_socket *s);
/* Wakes and flags those for whom something changed. */
void tltcp__notify(tltcp_socket *s);
/* After a call into the engine from an application's thread. */
void tltcp__after_call(tltcp_socket *s);
bool tltcp__is_readable(const tltcp_socket *s);
bool tltcp__is_writable(const tltcp_socket *s);
bool tltcp__has_news(const tltcp_socket *s);
/* Waits for a condition, until `until`.  False: the time is up. */
bool tltcp__wait(tltcp_socket *s, uv_cond_t *on, unsigned *count,
                 tltcp_time until);

/* The part of tltcp_close() for listeners. */
void tltcp__listener_close(tltcp_socket *s);
/* Ends a connection at once, for good; the handle is gone after it. */
void tltcp__abandon(tltcp_socket *s);

/* Milliseconds of the API as a point in time. */
tltcp_time tltcp__until(int timeout_ms);
/* UV_E... as a tltcp_error. */
int tltcp__error_of(int status);

#endif /* DRIVERS_UV_SOCK_H */
