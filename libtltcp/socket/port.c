/* SPDX-License-Identifier: MPL-2.0 */
/* Opens and closes ports: a UDP socket with its connections. */
#include "libtltcp/socket/port.h"

#include <stdlib.h>

#include "libtltcp/socket/clock.h"
#include "libtltcp/socket/event_loop.h"
#include "libtltcp/socket/input.h"
#include "libtltcp/socket/io_thread.h"
#include "libtltcp/socket/schedule.h"
#include "libtltcp/socket/socket.h"
#include "libtltcp/socket/stretch.h"
#include "libtltcp/socket/trace.h"

/* Room in the kernel for bursts while the thread is not scheduled. */
#define UDP_BUFFER ((size_t)8 * 1024 * 1024)

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
    port->config.io.local_host = NULL;
    port->config.io.local_service = NULL;
}

int tltcp__port_new(struct tltcp__port **out, const tltcp_config *c,
                    bool listener) {
    struct tltcp__port *port = calloc(1, sizeof(*port));
    int rv;

    if (port == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    port_keep_config(port, c);
    port->mem = cmn__mem_default();
    port->users = 1;
    rv = tltcp__error_of(
        uv_random(NULL, NULL, port->key, sizeof(port->key), 0, NULL));
    if (rv == 0) {
        rv = tltcp__io_thread_acquire(&port->io, listener || c->io.own_thread);
    }
    if (rv != 0) {
        free(port);
        return rv;
    }
    *out = port;
    return 0;
}

/* --- On the I/O thread --------------------------------------------------- */

struct opening {
    struct tltcp__port *port;
    const net__addr *bind;
    int family;
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

static void port_do_open(void *arg) {
    struct opening *opening = arg;
    struct tltcp__port *port = opening->port;
    const tltcp_config *c = &port->config;
    net__udp_options o = {.bind = opening->bind,
                          .family = opening->family,
                          .plain = !c->io.batches,
                          .no_offload = !c->io.offload,
                          .max_datagram = c->packets.max_datagram,
                          .buffer = UDP_BUFFER,
                          .ops = &tltcp__input_ops,
                          .owner = port};

    opening->status = net__udp_open(&port->udp, &port->io->loop, &o);
    if (opening->status == 0) {
        port_link_in(port);
    }
}

int tltcp__port_open(struct tltcp__port *port, const net__addr *bind,
                     int family) {
    struct opening opening = {.port = port, .bind = bind, .family = family};

    tltcp__io_thread_run(port->io, port_do_open, &opening);
    return tltcp__error_of(opening.status);
}

static void port_free_connections(struct tltcp__port *port) {
    while (port->all != NULL) {
        tltcp_socket *s = port->all;

        if (s->timer != CMN__HEAP_NONE) {
            cmn__heap_remove(&port->io->timers, s->timer);
        }
        tltcp__unschedule(s);
        tltcp__stretch_forget(s);
        tltcp_conn_free(s->conn);
        s->conn = NULL;
        tltcp__socket_unlink(s);
        tltcp__socket_free(s);
    }
}

static void port_do_close(void *arg) {
    struct tltcp__port *port = arg;

    if (port->started) {
        bool more = tltcp__loop_turn(port->io); /* it also flushes output */

        while (more && port->listening != NULL) { /* refuses the rest */
            more = tltcp__loop_turn(port->io);
        }
        net__udp_close(port->udp);
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

static void port_free(struct tltcp__port *port) {
    if (port->listening != NULL) {
        tltcp_endpoint_free(port->listening->endpoint);
        free(port->listening);
    }
    if (port->calling != NULL) {
        free(port->calling->to);
        free(port->calling->hello);
        free(port->calling);
    }
    tltcp__tracer_free(port->tracer);
    free(port);
}

void tltcp__port_release(struct tltcp__port *port) {
    struct tltcp__io_thread *io = port->io;
    bool last;

    uv_mutex_lock(&io->mx);
    last = --port->users == 0;
    uv_mutex_unlock(&io->mx);
    if (last) {
        tltcp__io_thread_run(io, port_do_close, port);
        port_free(port);
        tltcp__io_thread_release(io);
    }
}
