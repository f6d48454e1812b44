/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_SOCKET_STATE_H
#define TLTCP_SOCKET_STATE_H

#include <tltcp/conn.h>
#include <tltcp/socket.h>

#include "internal/common/heap.h"
#include "internal/net/route.h"
#include "internal/net/timer.h"
#include "internal/net/udp.h"
#include "libtltcp/socket/crowd.h"
#include "libtltcp/socket/event_fd.h"

/*
 * The parts of the socket API:
 *
 *   I/O thread   a libuv loop with its thread, and the mutex of all below
 *   port         a UDP socket on it: a listener's, or that of one caller;
 *                and its TCP sockets, if wanted
 *   link         a TCP connection that carries one connection instead
 *   socket       a listener, or a connection with its engine
 *   listener     ports that share an address, each on an I/O thread, and the
 *                queue of their callers
 *
 * A listener has its own I/O threads, which also serve the connections that it
 * accepts: each those that came over its port. Callers share I/O threads.
 *
 * The I/O thread passes input to the engines and schedules their connections;
 * application calls and timers also schedule connections.  At the end of each
 * turn of the loop every scheduled connection has its turn: events out,
 * datagrams out, timer in.
 *
 * The I/O thread releases the mutex while it sends. An application's thread
 * keeps it while it sends from within tltcp_send(). No thread holds it while
 * the application is called (on_caller, on_trace). Mutexes are taken in this
 * order: tltcp__listener::calls, that of one I/O thread, tltcp__listener::mx,
 * tltcp__listener::limits.
 */

struct tltcp__trace;
struct tltcp__tracer;
struct tltcp__port;
struct tltcp__link;

#define TLTCP__MACHINE_LEN 16

/* A function to run on the I/O thread. */
struct tltcp__task {
    void (*run)(void *arg);
    void *arg;
    bool done;
    struct tltcp__task *next;
};

struct tltcp__io_thread {
    uv_loop_t loop;
    uv_thread_t thread;
    uv_async_t wake;
    uv_check_t turn; /* end of a turn of the loop */
    uv_idle_t again; /* keeps the loop from sleeping */
    net__timer timer;
    uv_pid_t pid; /* of the process that it runs in */

    /* Under the mutex of the shared threads. */
    unsigned users;
    bool own; /* not shared */
    struct tltcp__io_thread *next;

    uv_mutex_t mx; /* protects all that follows, ports and sockets */
    uv_cond_t task_done;
    struct tltcp__task *tasks;
    struct tltcp__task *last_task;
    struct tltcp__port *ports;
    struct tltcp__port *unflushed; /* ports with datagrams to send */
    tltcp_socket *scheduled;       /* FIFO */
    tltcp_socket *last_scheduled;
    cmn__mem mem;
    cmn__heap timers;
    bool machine_known;
    uint8_t machine[TLTCP__MACHINE_LEN]; /* a key that only processes of this
                                            machine know */
    bool pumping; /* will check `scheduled` without being woken again */
    bool stopping;
    bool few;     /* live connections: what the application writes leaves from
                     its own thread */
    bool gathers; /* many live connections: what the application writes waits
                     for what it writes next */
    uint32_t window;       /* number of the present window, a few turns long */
    uint32_t window_conns; /* connections that had a turn in it */
    uint32_t recent_conns; /* connections that have turns, of some windows */
    uint64_t window_in;    /* bytes that the busiest UDP socket received */
    uint64_t window_bytes; /* all sent, and received over TCP */
    unsigned full_reads;   /* since the last turn; more may have arrived */
    size_t bulk_in;        /* bytes since the last turn from ports with a large
                              buffer in the kernel */

    /* Used only by the I/O thread. */
    tltcp_time window_since;
    tltcp_time idle_since; /* end of the last turn */
    bool crowd;    /* in the last window many or live connections had few bytes
                      each */
    unsigned rush; /* turns in quick succession after which it waits */
    unsigned rushed;     /* such turns until now */
    tltcp_time patience; /* how long it waits if no timer expires */
    tltcp_time bulk_nap; /* how long it sleeps after a turn with bulk data */
};

struct tltcp__listener {
    struct tltcp__port *ports[TLTCP_THREADS_MAX];
    unsigned count;    /* of ports */
    uv_mutex_t limits; /* tltcp_endpoint_group::lock */
    uv_mutex_t calls;  /* held while the application is called */

    uv_mutex_t mx;        /* protects all that follows */
    unsigned users;       /* handles of applications */
    tltcp_socket *handle; /* NULL: tltcp_close() was called */
    tltcp_socket *first;  /* callers that wait for tltcp_accept() */
    tltcp_socket *last;
    unsigned unaccepted;   /* callers that the application has not taken */
    unsigned asking;       /* threads that call on_caller */
    tltcp_socket *closing; /* the handle, while tltcp_close() waits for them */
};

/* State of a listener's port. Only the first has TCP connections. */
struct tltcp__listening {
    struct tltcp__listener *listener;
    tltcp_endpoint *endpoint;
    struct tltcp__acceptor *acceptor; /* of TCP connections; NULL: none */
    struct tltcp__crowd crowd;        /* TCP connections without a socket */
    uint64_t next_link;               /* number of the next TCP connection */
    tltcp_stats past;                 /* sums over ended connections */
    net__addr rejected;               /* newest caller without the right key */
    tltcp_time rejected_at;           /* 0: none yet */
};

/* Longest handshake datagram that is kept. */
#define TLTCP__HELLO_MAX ((size_t)2048)

/* State of a caller. */
struct tltcp__calling {
    net__addr *to; /* addresses to try */
    size_t count;
    size_t at;
    tltcp_time each; /* time limit for each */
    tltcp_time next; /* when to try the next */
    tltcp_time heard;
    tltcp_time sent;
    tltcp_time repicked; /* when the local address was chosen */
    uint8_t *hello;      /* last datagram sent, for the next address */
    size_t hello_len;
    struct tltcp__stretching *stretching; /* derivation of a key, or NULL */
    tltcp_time refused_since; /* by the present address; 0: not refused */
    tltcp_time tcp_after;     /* tries TCP then; NEVER: does not, or does */
    size_t tcp_at;            /* address that TCP tries */
    net__addr local;          /* to call from */
    bool local_chosen;        /* by the application */
    bool answered;            /* something came over UDP */
    bool refused;             /* by an ICMP message */
    bool unroutable;          /* sending failed: no route */
};

struct tltcp__port {
    struct tltcp__io_thread *io;
    net__udp *udp; /* NULL: TCP only */
    uint8_t key[NET__KEY_LEN];
    tltcp_config config; /* without its strings */
    cmn__mem mem;

    struct tltcp__port *next; /* all ports of the I/O thread */
    struct tltcp__port *prev;
    struct tltcp__port *next_unflushed;
    bool unflushed;        /* in the list of unflushed ports */
    bool blocked;          /* the kernel accepts no more */
    bool flushing;         /* the I/O thread sends, without the mutex */
    bool roomy;            /* its receive buffer outlasts a nap */
    bool started;          /* in the list of all ports */
    tltcp_socket *waiting; /* FIFO: scheduled once the kernel accepts more */
    tltcp_socket *last_waiting;

    tltcp_socket *all;
    tltcp_socket *current; /* its engine is running */
    struct tltcp__listening *listening;
    struct tltcp__calling *calling;
    struct tltcp__tracer *tracer; /* NULL: no trace is wanted */

    uint32_t window; /* the last with input, and bytes received in it */
    uint64_t window_in;

    /* The route of the newest burst. */
    net__route last_route;
    tltcp_pktinfo last; /* and its tokens */
};

/* Events for tltcp_next_event(). Fates remain in the engine. */
struct tltcp__signals {
    bool connected;
    bool moved;
    bool rated;
    bool closed; /* reported last */
    uint64_t estimated_bps;
    uint64_t target_bps;
    tltcp_time now;
};

/* A thread of the application that waits, in the order of arrival. Most sockets
 * have none: its condition is on its stack. */
struct tltcp__waiter {
    struct tltcp__waiter *next;
    uv_cond_t condition;
    bool woken;
};

struct tltcp_socket {
    struct tltcp__port *port;
    struct tltcp__waiter *readers; /* recvmsg, accept */
    tltcp__event_fd read_fd;
    bool listener; /* then only the fields before `conn` are used */

    tltcp_conn *conn;
    struct tltcp__waiter *writers;
    struct tltcp__waiter *watchers; /* connected, closed, released; events */
    tltcp__event_fd write_fd;
    tltcp__event_fd signal_fd;

    tltcp_socket *next; /* all connections of the port */
    tltcp_socket *prev;
    tltcp_socket *next_scheduled; /* or waiting */
    tltcp_socket *next_caller;    /* accept queue */
    tltcp_socket *prev_caller;

    /* Its life. */
    bool connected; /* the handshake is done */
    bool finished;  /* after tltcp_shutdown() */
    bool closed;    /* the engine said so; see `error` */
    bool over;      /* nothing more will be sent */
    bool owned;     /* an application has it */
    bool release;   /* the application gave it back */
    bool gone;      /* the I/O thread is done with it */
    bool reliable;  /* over TCP; remains when the link is lost */

    /* Under tltcp__listener::mx. */
    bool unaccepted; /* counted in tltcp__listener::unaccepted */
    bool queued;     /* in the accept queue */
    bool accepted;   /* tltcp_accept() took it */

    /* What the application has been given, and is owed. */
    bool gap;          /* recvmsg owes TLTCP_ERR_GAP */
    bool end_reported; /* recvmsg gave the end or the failure */
    bool end_taken;    /* TLTCP_EVENT_CLOSED was taken */

    /* Its turns on the I/O thread. */
    bool scheduled;    /* or waiting */
    uint32_t window;   /* that of its last turn */
    uint32_t timer;    /* slot in the heap of timers */
    tltcp_time armed;  /* its key */
    size_t write_want; /* free space that makes it writable */
    net__routes routes;
    struct tltcp__link *link; /* its TCP connection, or an attempt; or NULL */

    struct tltcp__signals pending;
    int error; /* once closed */
    uint32_t code;
    char *reason;               /* NULL: none, or no memory for it */
    struct tltcp__trace *trace; /* its qlog file, or NULL */
};

/* The mutex of a socket. */
static inline uv_mutex_t *tltcp__mutex(const tltcp_socket *s) {
    return s->listener ? &s->port->listening->listener->mx : &s->port->io->mx;
}

/* Returns the engine; its trace events from now on belong to this
 * connection. */
static inline tltcp_conn *tltcp__engine(tltcp_socket *s) {
    s->port->current = s;
    return s->conn;
}

#endif /* TLTCP_SOCKET_STATE_H */
