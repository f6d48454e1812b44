/* SPDX-License-Identifier: MPL-2.0 */
/* Datagrams from the UDP socket to the engines. */
#include "libtltcp/socket/input.h"

#include <string.h>

#include <tltcp/burst.h>

#include "libtltcp/socket/address.h"
#include "libtltcp/socket/admit.h"
#include "libtltcp/socket/attempt.h"
#include "libtltcp/socket/output.h"
#include "libtltcp/socket/schedule.h"
#include "libtltcp/socket/stretch.h"
#include "libtltcp/socket/trace.h"

/* Bursts of a full read, with GRO. */
#define READ_MAX 16

/* Bytes of the datagram there. */
static size_t input_len(const net__burst *b, size_t at) {
    size_t left = b->len - at;

    return left < b->segment ? left : b->segment;
}

/* Passes the datagrams from `at` on, of which all or the first ones are the
 * connection's. Returns the bytes that it took. */
static size_t input_burst(const struct tltcp__port *port, tltcp_conn *conn,
                          const tltcp_pktinfo *info, const net__burst *b,
                          size_t at, tltcp_time now) {
    /* NOLINTNEXTLINE(misc-redundant-expression) */
    _Static_assert(NET__BURST_MAX == TLTCP_ROOM_BYTES, "a burst fills a room");

    /* rooms come from malloc() */
    return b->room != NULL && port->config.allocator.realloc == NULL
               ? tltcp_conn_recv_lent(conn, info, b->room, at, b->len - at,
                                      b->segment, now)
               : tltcp_conn_recv_burst(conn, info, b->data + at, b->len - at,
                                       b->segment, now);
}

static void input_to_caller(struct tltcp__port *port, const net__burst *b,
                            tltcp_time now) {
    tltcp_socket *s = port->all;
    tltcp_pktinfo info = {.path = 1, .ecn = b->ecn};

    if (s == NULL || s->over || s->reliable) {
        return;
    }
    port->calling->heard = now;
    port->calling->answered = true;
    for (size_t at = 0; at < b->len;) {
        size_t len = input_len(b, at);

        (void)tltcp_conn_recv(tltcp__engine(s), &info, b->data + at, len, now);
        at += len;
        at += input_burst(port, s->conn, &info, b, at, now);
    }
    tltcp__stretch(s);
    tltcp__schedule(s);
}

/* Bursts of one peer follow each other: the newest tokens are cached. */
static tltcp_pktinfo input_info(struct tltcp__port *port,
                                const net__route *route, uint32_t ecn) {
    /* If padding differs, a token is only made again. */
    /* NOLINTNEXTLINE */
    if (memcmp(&port->last_route, route, sizeof(*route)) != 0) {
        port->last_route = *route;
        port->last =
            (tltcp_pktinfo){.path = net__route_token(port->key, route),
                            .network = net__route_network(port->key, route),
                            .block56 = net__route_block(port->key, route, 56),
                            .block48 = net__route_block(port->key, route, 48)};
    }
    port->last.ecn = ecn;
    return port->last;
}

static void input_reply(struct tltcp__port *port, const net__route *route,
                        const tltcp_dispatch *d) {
    uint8_t *room = net__udp_room(port->udp);

    if (room == NULL) {
        (void)tltcp__output_flush_port(port);
        room = net__udp_room(port->udp);
    }
    if (room != NULL) { /* else blocked: the caller asks again */
        memcpy(room, d->reply, d->reply_len);
        net__udp_put(port->udp, route, 0, d->reply_len, d->reply_len);
        tltcp__flush_later(port);
    }
}

static void input_taken(tltcp_socket *s, uint64_t token,
                        const net__route *route) {
    if (s == NULL) {
        return;
    }
    if (s->routes.first.token != token) {
        net__routes_add(&s->routes, token, route, tltcp_conn_path(s->conn));
    }
    tltcp__schedule(s);
}

static void input_to_listener(struct tltcp__port *port, const net__burst *b) {
    tltcp_pktinfo info = input_info(port, b->route, b->ecn);
    tltcp_dispatch d;
    tltcp_time now = tltcp_now();

    for (size_t at = 0; at < b->len;) {
        size_t len = input_len(b, at);
        tltcp_socket *s = NULL;
        int verdict;

        port->current = NULL; /* not known yet */
        verdict = tltcp_endpoint_recv(port->listening->endpoint, &info,
                                      b->data + at, len, &d, now);
        at += len;
        if (verdict == TLTCP_TAKEN) {
            at += input_burst(port, d.conn, &info, b, at, now);
            s = tltcp_conn_user(d.conn);
            input_taken(s, info.path, b->route);
        } else if (verdict == TLTCP_CALLER) {
            s = tltcp__admit(port, d.conn, info.path, b->route);
            now = tltcp_now(); /* the mutex was released for a while */
        } else if (verdict == TLTCP_REPLY) {
            tltcp__note_reply(port, &d, &b->route->remote);
            input_reply(port, b->route, &d);
        }
        tltcp__tracer_adopt(port->tracer, s);
    }
}

static void input_count(struct tltcp__port *port, size_t len) {
    struct tltcp__io_thread *io = port->io;

    if (port->window != io->window) {
        port->window = io->window;
        port->window_in = 0;
    }
    io->bulk_in += port->roomy ? len : 0;
    port->window_in += len;
    if (port->window_in > io->window_in) {
        io->window_in = port->window_in;
    }
}

static void input_on_bursts(void *owner, const net__burst *in, size_t count) {
    struct tltcp__port *port = owner;

    uv_mutex_lock(&port->io->mx);
    port->io->full_reads += count >= READ_MAX ? 1 : 0;
    for (size_t i = 0; i < count; i++) {
        input_count(port, in[i].len);
        if (port->calling != NULL) {
            input_to_caller(port, &in[i], tltcp_now());
        } else {
            input_to_listener(port, &in[i]);
        }
    }
    uv_mutex_unlock(&port->io->mx);
}

static void input_on_writable(void *owner) {
    struct tltcp__port *port = owner;

    uv_mutex_lock(&port->io->mx);
    port->blocked = false;
    tltcp__unblock(port); /* the end of this turn serves waiting connections */
    uv_mutex_unlock(&port->io->mx);
}

static void input_on_error(void *owner, int status) {
    struct tltcp__port *port = owner;

    uv_mutex_lock(&port->io->mx);
    if (port->calling != NULL) {
        tltcp__attempt_on_error(port, status);
        if (port->all != NULL) {
            tltcp__schedule(port->all);
        }
    }
    uv_mutex_unlock(&port->io->mx);
}

const net__udp_ops tltcp__input_ops = {.on_bursts = input_on_bursts,
                                       .on_writable = input_on_writable,
                                       .on_error = input_on_error};
