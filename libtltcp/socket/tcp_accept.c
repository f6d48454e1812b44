/* SPDX-License-Identifier: MPL-2.0 */
/* A listener's TCP connections: from accept() to a socket, and their input. */
#include "libtltcp/socket/tcp_accept.h"

#include <stdlib.h>

#include <unistd.h>

#include "internal/common/siphash.h"
#include "libtltcp/socket/accept_queue.h"
#include "libtltcp/socket/address.h"
#include "libtltcp/socket/admit.h"
#include "libtltcp/socket/schedule.h"
#include "libtltcp/socket/tcp_link.h"
#include "libtltcp/socket/trace.h"
#include "libtltcp/tcp/acceptor.h"

/* A TCP connection whose peer has not called within this time is closed. */
#define CALL_MS 5000
/* Datagrams that a caller may send until it is admitted: it may be asked for a
 * token up to eight times, and repeat itself. */
#define CALLS_MAX 24u
/* Connections whose peers have not called yet; beyond, one of a crowd yields to
 * a new one. */
#define LINKS_MAX 1024u
/* Per address, if every caller needs a token: TCP proves the address, too. */
#define LINKS_PROVEN 64u
/* How many yield when there are no descriptors. */
#define YIELD 32u
/* The first byte of an INITIAL. */
#define FIRST_BYTE 0x58

/* --- Connections without a socket ---------------------------------------- */

static void incoming_abort(struct tltcp__link *l) {
    tltcp__crowd_remove(&l->port->listening->crowd, l);
    tltcp__link_abort(l);
}

static void incoming_yield(struct tltcp__link *l) {
    l->port->listening->past.callers_turned_away++;
    incoming_abort(l);
}

static void incoming_end(struct tltcp__link *l) {
    tltcp_socket *s = l->s;

    if (s == NULL && l->calls == 0) {
        incoming_abort(l); /* there was nothing to answer */
        return;
    }
    if (s == NULL) {
        tltcp__crowd_remove(&l->port->listening->crowd, l);
        tltcp__link_close(l);
        return;
    }
    tltcp__link_drop(s);
    tltcp_conn_lost(tltcp__engine(s), TLTCP_ERR_ABORTED,
                    "the TCP connection was lost", tltcp_now());
    tltcp__schedule(s);
}

/* --- Input --------------------------------------------------------------- */

static void incoming_bind(struct tltcp__link *l, tltcp_conn *conn) {
    struct tltcp__port *port = l->port;
    tltcp_socket *s;

    if (tltcp_conn_set_reliable(conn, l->info.path, tltcp_now()) != 0) {
        tltcp_conn_free(conn);
        return;
    }
    s = tltcp__admit(port, conn, l->info.path, &l->route);
    if (s == NULL) {
        return;
    }
    tltcp__crowd_remove(&port->listening->crowd, l);
    tltcp__pipe_limit(l->pipe, 0); /* the engine has limits of its own */
    s->reliable = true;
    s->link = l;
    l->s = s;
    tltcp__tracer_adopt(port->tracer, s);
}

/* From a peer that has no connection yet. False: it does not belong here. */
static bool incoming_call(struct tltcp__link *l, const uint8_t *dgram,
                          size_t len) {
    struct tltcp__port *port = l->port;
    tltcp_dispatch d;
    int verdict;

    if (dgram[0] != FIRST_BYTE || ++l->calls > CALLS_MAX) {
        return false;
    }
    port->current = NULL; /* not known yet */
    verdict = tltcp_endpoint_recv(port->listening->endpoint, &l->info, dgram,
                                  len, &d, tltcp_now());
    if (verdict == TLTCP_CALLER) {
        incoming_bind(l, d.conn);
    } else if (verdict == TLTCP_REPLY) {
        tltcp__note_reply(port, &d, &l->route.remote);
        return tltcp__link_reply(l, d.reply, d.reply_len);
    }
    return true;
}

/* Repeats of the first message are for the same connection; another call must
 * come over another TCP connection. */
static bool incoming_take(struct tltcp__link *l, const uint8_t *dgram,
                          size_t len) {
    tltcp_socket *s = l->s;

    l->port->io->window_bytes += len;
    if (s == NULL) {
        return incoming_call(l, dgram, len);
    }
    if (!s->over && dgram[0] != FIRST_BYTE) {
        (void)tltcp_conn_recv(tltcp__engine(s), &l->info, dgram, len,
                              tltcp_now());
        tltcp__schedule(s);
    }
    return true;
}

static void incoming_on_input(void *link) {
    struct tltcp__link *l = link;
    uv_mutex_t *mx = &l->port->io->mx;
    const uint8_t *dgram;
    bool fine = true;
    size_t len;
    int rc = 1;

    uv_mutex_lock(mx);
    while (fine && (rc = tltcp__pipe_next(l->pipe, &dgram, &len)) > 0) {
        fine = incoming_take(l, dgram, len);
    }
    if (!fine || rc < 0) {
        incoming_end(l);
    }
    uv_mutex_unlock(mx);
}

static void incoming_on_end(void *link, int status) {
    struct tltcp__link *l = link;
    uv_mutex_t *mx = &l->port->io->mx;

    (void)status;
    uv_mutex_lock(mx);
    incoming_end(l);
    uv_mutex_unlock(mx);
}

static const tltcp__pipe_ops incoming_ops = {.on_input = incoming_on_input,
                                             .on_writable =
                                                 tltcp__link_on_writable,
                                             .on_end = incoming_on_end};

/* --- Listening ----------------------------------------------------------- */

/* A token that no UDP path and no other connection has. */
static uint64_t incoming_token(struct tltcp__port *port,
                               const net__route *route) {
    const uint64_t parts[] = {net__route_token(port->key, route),
                              ++port->listening->next_link};
    uint64_t token = cmn__siphash(port->key, parts, sizeof(parts));

    return token != 0 ? token : 1;
}

/* Others yield to the new one. */
static void incoming_make_room(struct tltcp__port *port,
                               const tltcp_pktinfo *from) {
    unsigned half_open = port->config.listener.max_half_open_per_address;
    unsigned each = half_open > 0 ? half_open : LINKS_PROVEN;
    struct tltcp__link *l =
        tltcp__crowd_yields(&port->listening->crowd, from, each, LINKS_MAX);

    if (l != NULL) {
        incoming_yield(l);
    }
}

static struct tltcp__link *incoming_new(struct tltcp__port *port,
                                        const net__route *route,
                                        const tltcp_pktinfo *info) {
    struct tltcp__link *l = calloc(1, sizeof(*l));

    if (l == NULL) {
        return NULL;
    }
    l->port = port;
    l->route = *route;
    l->info = *info;
    if (!tltcp__crowd_add(&port->listening->crowd, l)) {
        free(l);
        return NULL;
    }
    return l;
}

static void incoming_add(struct tltcp__port *port, int fd,
                         const net__route *route, const tltcp_pktinfo *info) {
    struct tltcp__link *l = incoming_new(port, route, info);
    const tltcp__pipe_options o = {.max_datagram =
                                       port->config.packets.max_datagram,
                                   .dscp = (unsigned)port->config.io.dscp,
                                   .ops = &incoming_ops,
                                   .owner = l};

    if (l == NULL) {
        (void)close(fd);
        return;
    }
    if (tltcp__pipe_adopt(&l->pipe, &port->io->loop, fd, &o) != 0) {
        tltcp__crowd_remove(&port->listening->crowd, l);
        free(l);
        return;
    }
    tltcp__pipe_limit(l->pipe, CALL_MS);
}

static void incoming_on_connection(void *owner, int fd,
                                   const net__route *route) {
    struct tltcp__port *port = owner;
    tltcp_pktinfo info = {.network = net__route_network(port->key, route),
                          .block56 = net__route_block(port->key, route, 56),
                          .block48 = net__route_block(port->key, route, 48)};

    uv_mutex_lock(&port->io->mx);
    info.path = incoming_token(port, route);
    if (tltcp__accept_is_open(port->listening->listener)) {
        incoming_make_room(port, &info);
        incoming_add(port, fd, route, &info);
    } else {
        (void)close(fd);
    }
    uv_mutex_unlock(&port->io->mx);
}

static bool incoming_on_scarce(void *owner) {
    struct tltcp__port *port = owner;
    const struct tltcp__crowd *c = &port->listening->crowd;
    bool any;

    uv_mutex_lock(&port->io->mx);
    any = c->count > 1; /* the newest may be about to call */
    for (unsigned i = 0; i < YIELD && c->count > 1; i++) {
        incoming_yield(tltcp__crowd_first(c));
    }
    uv_mutex_unlock(&port->io->mx);
    return any;
}

static const tltcp__acceptor_ops incoming_acceptor_ops = {
    .on_connection = incoming_on_connection, .on_scarce = incoming_on_scarce};

int tltcp__tcp_listen(struct tltcp__port *port, const net__addr *bind) {
    return tltcp__acceptor_open(&port->listening->acceptor, &port->io->loop,
                                bind, &incoming_acceptor_ops, port);
}

void tltcp__tcp_listen_close(struct tltcp__port *port) {
    struct tltcp__listening *g = port->listening;

    if (g->acceptor != NULL) {
        tltcp__acceptor_close(g->acceptor);
        g->acceptor = NULL;
    }
    while (g->crowd.oldest != NULL) {
        incoming_end(g->crowd.oldest);
    }
}
