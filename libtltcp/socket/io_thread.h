/* SPDX-License-Identifier: MPL-2.0 */
#ifndef DRIVERS_UV_REACTOR_H
#define DRIVERS_UV_REACTOR_H

#include <tltcp/conn.h>
#include <tltcp/socket.h>

#include "internal/common/heap.h"
#include "internal/net/route.h"
#include "internal/net/timer.h"
#include "internal/net/udp.h"

/*
 * A UDP socket, the thread that serves it, and the connections on it: one
 * reactor for a listener and all that it accepted, one for every caller.  There
 * is nothing that the whole process shares.
 *
 * The I/O thread feeds what arrives to the engines and marks those connections
 * dirty; so do the applications' calls and the timers.  At the end of each turn
 * of the loop every dirty connection is pumped once: events out, datagrams out,
 * timer in.
 *
 * One mutex guards the engines of a reactor: they share the endpoint's tables,
 * a batch is fed under one lock, and one thread does the I/O anyway.  It is
 * never held during a system call that sends, nor while the application is
 * called (on_caller, on_trace).
 */

struct tltcp__tracer;

/* What a listener has and a caller has not. */
struct tltcp__listening {
    tltcp_endpoint *endpoint;
    tltcp_socket *handle; /* NULL: tltcp_close() was called */
    tltcp_socket *first;  /* callers that wait for tltcp_accept() */
    tltcp_socket *last;
    unsigned pending; /* callers not yet taken by the application */
    tltcp_stats past; /* sums over those that are gone */
};

/* What a caller has and a listener has not. */
struct tltcp__calling {
    net__addr *to; /* addresses to try */
    size_t count;
    size_t at;
    tltcp_time each; /* how long to try each */
    tltcp_time next; /* when to try the next one */
    tltcp_time heard;
    tltcp_time sent;
    tltcp_time repicked; /* when the local address was chosen */
    uint8_t *hello;      /* what was sent last, for the next address */
    size_t hello_len;
    bool refused;    /* I/O thread: an ICMP message said so */
    bool unroutable; /* I/O thread: sending failed for want of a route */
};

struct tltcp__reactor {
    uv_loop_t loop;
    uv_thread_t thread;
    uv_async_t wake;
    uv_check_t turn; /* end of a turn of the loop */
    uv_idle_t again; /* keeps the loop from sleeping */
    net__timer alarm;
    net__udp *udp;
    uint8_t key[NET__KEY_LEN];
    tltcp_config config; /* strings are not kept in it */
    bool running;

    uv_mutex_t mx; /* for all that follows */
    tltcp_socket *all;
    tltcp_socket *dirty; /* FIFO */
    tltcp_socket *dirty_last;
    tltcp_socket *current; /* whose engine runs */
    cmn__mem mem;
    cmn__heap timers;
    unsigned users;   /* handles of applications */
    unsigned leaving; /* connections with tltcp_socket::release */
    bool pumping;     /* the I/O thread will look at `dirty` without a wake */
    bool stopping;
    struct tltcp__listening *listening;
    struct tltcp__calling *calling;
    struct tltcp__tracer *tracer; /* NULL: nobody wants a trace */

    /* The I/O thread's alone: the route of the newest burst. */
    net__route last_route;
    uint64_t last_token;
    uint64_t last_network;
};

/* Makes the loop and the socket; nothing runs yet. */
int tltcp__reactor_new(struct tltcp__reactor **out, const tltcp_config *c,
                       const net__addr *bind, int family);
/* Starts the I/O thread. */
int tltcp__reactor_start(struct tltcp__reactor *r);
/* What an engine of it is made with, beside the application's configuration. */
int tltcp__reactor_engine(struct tltcp__reactor *r, tltcp_config *inner,
                          uint8_t seed[TLTCP_SEED_LEN]);
/* One handle less; with the last one the thread ends and all is freed. */
void tltcp__reactor_release(struct tltcp__reactor *r);

/* Marks a connection as one to pump; wakes the I/O thread.  Under mx. */
void tltcp__kick(tltcp_socket *s);
/* The same from the I/O thread. */
void tltcp__mark(tltcp_socket *s);

/* The application, or the listener, gives a connection back: it is freed once
 * its last words are sent.  Under mx. */
void tltcp__let_go(tltcp_socket *s);

/* The next dirty one, or NULL. */
tltcp_socket *tltcp__next_dirty(struct tltcp__reactor *r);

/* pump.c: pumps every dirty connection once.  Takes mx.  True: some are left.
 */
bool tltcp__pump(struct tltcp__reactor *r);

/* feed.c: what the UDP socket calls. */
extern const net__udp_ops tltcp__udp_ops;

/* caller.c: a caller's addresses, on the I/O thread, under mx. */
void tltcp__calling_on_error(struct tltcp__reactor *r, int status);
void tltcp__calling_turn(struct tltcp__reactor *r);
void tltcp__calling_sent(struct tltcp__reactor *r, const uint8_t *data,
                         size_t len);

/* listener.c: on the I/O thread, under mx; may let go of it for on_caller. */
void tltcp__listening_caller(struct tltcp__reactor *r, tltcp_conn *conn,
                             uint64_t token, const net__route *route);
/* A caller may be accepted now. */
void tltcp__listening_connected(tltcp_socket *s);
/* It need not be accepted any more. */
void tltcp__listening_drop(tltcp_socket *s);
/* A connection is about to be freed. */
void tltcp__listening_forget(tltcp_socket *s);

#endif /* DRIVERS_UV_REACTOR_H */
