/* SPDX-License-Identifier: MPL-2.0 */
/* Opens and closes ports: a UDP socket with its connections. */
#include "libtltcp/socket/port.h"

#include <stdlib.h>
#include <string.h>

#include "internal/secure/packet.h"
#include "libtltcp/socket/clock.h"
#include "libtltcp/socket/event_loop.h"
#include "libtltcp/socket/input.h"
#include "libtltcp/socket/io_thread.h"
#include "libtltcp/socket/schedule.h"
#include "libtltcp/socket/socket.h"
#include "libtltcp/socket/tcp_accept.h"
#include "libtltcp/socket/trace.h"

/* Room in the kernel for bursts while the thread is not scheduled. */
#define UDP_BUFFER ((size_t)8 * 1024 * 1024)
/* Holds what comes while the I/O thread naps, at any rate. */
#define UDP_ROOMY ((size_t)4 * 1024 * 1024)

/* Ports that are tried until one is free for UDP and TCP. */
#define SAME_PORT_TRIES 16

static void port_keep_config(struct tltcp__port *port, const tltcp_config *c) {
    port->config = *c;
    port->config.congestion = NULL;
    port->config.recovery = NULL;
    port->config.passphrase = NULL;
    port->config.key = NULL;
    port->config.stream_id = NULL;
    port->config.qlog_dir = NULL;
    port->config.controller.values = NULL;
    port->config.controller.params = NULL;
    port->config.listener.more_passphrases = NULL;
    port->config.listener.more_keys = NULL;
    port->config.identity = (tltcp_identity_options){0};
    port->config.io.local_host = NULL;
    port->config.io.local_service = NULL;
}

static int port_new(struct tltcp__port **out, const tltcp_config *c,
                    bool own_thread) {
    struct tltcp__port *port = calloc(1, sizeof(*port));
    int rv;

    if (port == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    port_keep_config(port, c);
    port->mem = cmn__mem_default();
    rv = tltcp__error_of(
        uv_random(NULL, NULL, port->key, sizeof(port->key), 0, NULL));
    if (rv == 0) {
        rv = tltcp__io_thread_acquire(&port->io, own_thread);
    }
    if (rv != 0) {
        free(port);
        return rv;
    }
    *out = port;
    return 0;
}

int tltcp__port_new(struct tltcp__port **out, const tltcp_config *c) {
    return port_new(out, c, c->io.own_thread);
}

/* --- On the I/O thread --------------------------------------------------- */

/* Gives an address the port of another. */
static void port_set(net__addr *a, const net__addr *from) {
    uint16_t port = htons(net__addr_port(from));

    if (a->sa.sa_family == AF_INET6) {
        a->in6.sin6_port = port;
    } else {
        a->in4.sin_port = port;
    }
}

struct opening {
    struct tltcp__port *port;
    const net__addr *bind;
    int family;
    unsigned index; /* of a listener's port */
    int status;
};

static void port_link_in(struct tltcp__port *port) {
    struct tltcp__io_thread *io = port->io;

    uv_mutex_lock(&io->mx);
    port->started = true;
    port->next = io->ports;
    if (port->next != NULL) {
        port->next->prev = port;
    }
    io->ports = port;
    uv_mutex_unlock(&io->mx);
}

static void port_unlink(struct tltcp__port *port) {
    struct tltcp__io_thread *io = port->io;

    uv_mutex_lock(&io->mx);
    if (port->next != NULL) {
        port->next->prev = port->prev;
    }
    if (port->prev != NULL) {
        port->prev->next = port->next;
    } else {
        io->ports = port->next;
    }
    uv_mutex_unlock(&io->mx);
}

/* Listens for TCP connections at the port that UDP has. */
static int port_open_tcp(struct tltcp__port *port, const net__addr *bind) {
    net__addr at = *bind;
    net__addr local;
    int rv = port->udp != NULL ? net__udp_local(port->udp, &local) : 0;

    if (rv == 0 && port->udp != NULL) {
        port_set(&at, &local);
    }
    return rv == 0 ? tltcp__tcp_listen(port, &at) : rv;
}

static int port_open_udp(const struct opening *opening) {
    struct tltcp__port *port = opening->port;
    const tltcp_config *c = &port->config;
    net__udp_options o = {.bind = opening->bind,
                          .family = opening->family,
                          .plain = !c->io.batches,
                          .joins = opening->index > 0,
                          .no_offload = !c->io.offload,
                          .max_datagram = c->packets.max_datagram,
                          .buffer = UDP_BUFFER,
                          .ops = &tltcp__input_ops,
                          .owner = port};
    int rv = net__udp_open(&port->udp, &port->io->loop, &o);

    port->roomy = rv == 0 && net__udp_buffer(port->udp) >= UDP_ROOMY;
    return rv;
}

static void port_close_udp(struct tltcp__port *port) {
    if (port->udp != NULL) {
        net__udp_close(port->udp);
        port->udp = NULL;
    }
}

/* The kernel gives a datagram to the thread that has its connection. */
static int port_steer(struct tltcp__port *port, unsigned count) {
    const net__steering by = {.mask = (uint8_t)~SEC__PHASE,
                              .value = SEC__SHORT,
                              .at = SEC__SHORT_ID_LAST,
                              .count = count};

    return net__udp_steer(port->udp, &by);
}

static void port_close_tcp(struct tltcp__port *port) {
    uv_mutex_lock(&port->io->mx);
    tltcp__tcp_listen_close(port);
    uv_mutex_unlock(&port->io->mx);
}

static void port_do_join(void *arg);

/* Opens the listener's next port, on its thread, while this one waits: nothing
 * is read before all are open. */
static int port_open_next(const struct opening *opening) {
    struct tltcp__port *port = opening->port;
    const struct tltcp__listener *l = port->listening->listener;
    struct opening next = {.index = opening->index + 1};
    net__addr at = *opening->bind;
    net__addr local;

    if (next.index == l->count) {
        return l->count > 1 ? port_steer(port, l->count) : 0;
    }
    if (opening->index == 0) {
        next.status = net__udp_lead(port->udp);
    }
    if (next.status == 0) {
        next.status = net__udp_local(port->udp, &local);
    }
    if (next.status == 0) {
        port_set(&at, &local);
        next.port = l->ports[next.index];
        next.bind = &at;
        tltcp__io_thread_run(next.port->io, port_do_join, &next);
    }
    return next.status;
}

static void port_do_join(void *arg) {
    struct opening *opening = arg;

    opening->status = port_open_udp(opening);
    if (opening->status == 0) {
        opening->status = port_open_next(opening);
    }
    if (opening->status == 0) {
        port_link_in(opening->port);
    } else {
        port_close_udp(opening->port);
    }
}

static void port_try_open(struct opening *opening) {
    struct tltcp__port *port = opening->port;
    const tltcp_config *c = &port->config;
    bool listens = port->listening != NULL && opening->bind != NULL;

    if (c->io.transport != TLTCP_TRANSPORT_TCP) {
        opening->status = port_open_udp(opening);
    }
    if (opening->status == 0 && listens &&
        c->io.transport != TLTCP_TRANSPORT_UDP) {
        opening->status = port_open_tcp(port, opening->bind);
    }
    if (opening->status == 0 && listens && port->udp != NULL) {
        opening->status = port_open_next(opening);
    }
    if (opening->status == 0) {
        port_link_in(port);
        return;
    }
    port_close_udp(port);
    if (listens) {
        port_close_tcp(port);
    }
}

/* If the system chose the UDP port, the same TCP port may be taken. */
static void port_do_open(void *arg) {
    struct opening *opening = arg;
    bool any = opening->bind != NULL && net__addr_port(opening->bind) == 0;
    int tries = any ? SAME_PORT_TRIES : 1;

    do {
        opening->status = 0;
        port_try_open(opening);
    } while (opening->status == UV_EADDRINUSE && --tries > 0);
}

int tltcp__port_open(struct tltcp__port *port, const net__addr *bind,
                     int family) {
    struct opening opening = {.port = port, .bind = bind, .family = family};

    tltcp__io_thread_run(port->io, port_do_open, &opening);
    return tltcp__error_of(opening.status);
}

/* Shared threads have other ports, whose users schedule connections. */
static void port_free_connections(struct tltcp__port *port) {
    uv_mutex_lock(&port->io->mx);
    while (port->all != NULL) {
        tltcp_socket *s = port->all;

        tltcp__unschedule(s);
        tltcp__socket_end(s);
        tltcp__socket_free(s);
    }
    uv_mutex_unlock(&port->io->mx);
}

static void port_do_close(void *arg) {
    struct tltcp__port *port = arg;

    if (port->started) {
        bool more = tltcp__loop_turn(port->io); /* it also flushes output */

        while (more && port->listening != NULL) { /* refuses the rest */
            more = tltcp__loop_turn(port->io);
        }
        if (port->listening != NULL) {
            port_close_tcp(port);
        }
        port_close_udp(port);
        port_unlink(port);
    }
    port_free_connections(port);
}

/* --- On the application's threads ---------------------------------------- */

int tltcp__port_engine(struct tltcp__port *port, tltcp_config *inner,
                       uint8_t seed[TLTCP_SEED_LEN]) {
    if (port->tracer != NULL) {
        inner->on_trace = tltcp__tracer_take;
        inner->user = port;
    }
    return tltcp__error_of(
        uv_random(NULL, NULL, seed, TLTCP_SEED_LEN, 0, NULL));
}

/* The thread is released, too. */
static void port_free(struct tltcp__port *port) {
    struct tltcp__io_thread *io = port->io;

    if (port->listening != NULL) {
        tltcp_endpoint_free(port->listening->endpoint);
        tltcp__crowd_free(&port->listening->crowd);
    }
    if (port->calling != NULL) {
        free(port->calling->to);
        free(port->calling->hello);
        free(port->calling);
    }
    tltcp__tracer_free(port->tracer);
    free(port->listening);
    free(port);
    tltcp__io_thread_release(io);
}

/* --- Listeners ----------------------------------------------------------- */

static int listener_init_locks(struct tltcp__listener *l) {
    if (uv_mutex_init(&l->mx) != 0) {
        return TLTCP_ERR_NOMEM;
    }
    if (uv_mutex_init(&l->limits) != 0) {
        uv_mutex_destroy(&l->mx);
        return TLTCP_ERR_NOMEM;
    }
    if (uv_mutex_init(&l->calls) != 0) {
        uv_mutex_destroy(&l->limits);
        uv_mutex_destroy(&l->mx);
        return TLTCP_ERR_NOMEM;
    }
    return 0;
}

/* All ports know an address by the same token. */
static int listener_add_port(struct tltcp__listener *l, const tltcp_config *c) {
    struct tltcp__listening *g = calloc(1, sizeof(*g));
    struct tltcp__port *port = NULL;
    int rv = g != NULL ? port_new(&port, c, true) : TLTCP_ERR_NOMEM;

    if (rv != 0) {
        free(g);
        return rv;
    }
    g->listener = l;
    tltcp__crowd_init(&g->crowd);
    port->listening = g;
    l->ports[l->count] = port;
    if (l->count > 0) {
        memcpy(port->key, l->ports[0]->key, sizeof(port->key));
    }
    l->count++;
    return 0;
}

/* No socket of a group is closed before its last connection has ended: that
 * would change the numbers of the others. */
static void listener_close(struct tltcp__listener *l) {
    for (unsigned i = 0; i < l->count; i++) {
        tltcp__io_thread_run(l->ports[i]->io, port_do_close, l->ports[i]);
    }
    for (unsigned i = 0; i < l->count; i++) {
        port_free(l->ports[i]);
    }
    uv_mutex_destroy(&l->calls);
    uv_mutex_destroy(&l->limits);
    uv_mutex_destroy(&l->mx);
    free(l);
}

int tltcp__port_new_listener(struct tltcp__listener **out,
                             const tltcp_config *c) {
    struct tltcp__listener *l = calloc(1, sizeof(*l));
    int rv = l != NULL ? listener_init_locks(l) : TLTCP_ERR_NOMEM;

    if (rv != 0) {
        free(l);
        return rv;
    }
    l->users = 1;
    while (rv == 0 && l->count < c->io.threads) {
        rv = listener_add_port(l, c);
    }
    if (rv != 0) {
        listener_close(l);
        return rv;
    }
    *out = l;
    return 0;
}

static void listener_release(struct tltcp__listener *l) {
    bool last;

    uv_mutex_lock(&l->mx);
    last = --l->users == 0;
    uv_mutex_unlock(&l->mx);
    if (last) {
        listener_close(l);
    }
}

void tltcp__port_release(struct tltcp__port *port) {
    if (port->listening != NULL) {
        listener_release(port->listening->listener);
        return;
    }
    tltcp__io_thread_run(port->io, port_do_close, port);
    port_free(port);
}
