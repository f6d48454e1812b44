/* SPDX-License-Identifier: MPL-2.0 */
/* A caller's connection over TCP. */
#include "libtltcp/socket/tcp_call.h"

#include <stdlib.h>

#include "libtltcp/socket/clock.h"
#include "libtltcp/socket/schedule.h"
#include "libtltcp/socket/stretch.h"
#include "libtltcp/socket/tcp_link.h"

/* A caller has one peer. Over UDP the token is another one. */
#define TCP_PATH 2

/* --- Callbacks of the pipe ----------------------------------------------- */

static void call_take(struct tltcp__link *l, const uint8_t *dgram, size_t len) {
    tltcp_socket *s = l->s;

    l->port->io->window_bytes += len;
    if (s->reliable && !s->over) {
        l->port->calling->heard = tltcp_now();
        (void)tltcp_conn_recv(tltcp__engine(s), &l->info, dgram, len,
                              l->port->calling->heard);
    }
}

static void call_on_end(void *link, int status);

static void call_on_input(void *link) {
    struct tltcp__link *l = link;
    uv_mutex_t *mx = &l->port->io->mx;
    const uint8_t *dgram;
    size_t len;
    int rc;

    uv_mutex_lock(mx);
    while ((rc = tltcp__pipe_next(l->pipe, &dgram, &len)) > 0) {
        call_take(l, dgram, len);
    }
    tltcp__stretch(l->s);
    tltcp__schedule(l->s);
    uv_mutex_unlock(mx);
    if (rc < 0) {
        call_on_end(l, rc == TLTCP__DEFRAMED_BAD ? UV_EPROTO : UV_ENOMEM);
    }
}

/* UDP may have been faster in the meantime. */
static void call_on_open(void *link) {
    struct tltcp__link *l = link;
    tltcp_socket *s = l->s;
    struct tltcp__calling *c = l->port->calling;
    uv_mutex_t *mx = &l->port->io->mx;

    uv_mutex_lock(mx);
    tltcp__pipe_limit(l->pipe, 0); /* the connect timeout remains */
    if (!s->connected && !s->closed && !c->answered &&
        tltcp_conn_set_reliable(tltcp__engine(s), TCP_PATH, tltcp_now()) == 0) {
        s->reliable = true;
        c->next = TLTCP_TIME_NEVER;
        c->at = c->tcp_at - 1; /* of the peer, also when the link is gone */
    } else {
        tltcp__link_drop(s);
    }
    tltcp__schedule(s);
    uv_mutex_unlock(mx);
}

static const char *call_failure(int status) {
    switch (status) {
    case UV_ECONNREFUSED:
        return "no process listens at that TCP port";
    case UV_EPROTO:
        return "what listens at that TCP port does not speak TLTCP";
    case UV_EOF:
    case UV_ECONNRESET:
        return "the peer closed the TCP connection without an answer";
    case UV_ETIMEDOUT:
        return "no answer over TCP";
    case UV_ENETUNREACH:
    case UV_EHOSTUNREACH:
        return "no route to that address";
    default:
        return "the TCP connection failed";
    }
}

/* A route may appear, so its lack is no worse than silence. */
static int call_error(int status) {
    switch (status) {
    case UV_EOF:
    case UV_ECONNRESET:
    case UV_EPROTO:
        return TLTCP_ERR_REFUSED;
    case UV_ENETUNREACH:
    case UV_EHOSTUNREACH:
        return TLTCP_ERR_TIMEOUT;
    default:
        return tltcp__error_of(status);
    }
}

static void call_next(tltcp_socket *s, int status);

static void call_lose(tltcp_socket *s, int status) {
    int error = TLTCP_ERR_ABORTED;
    const char *reason = "the TCP connection was lost";

    if (!s->connected) {
        reason = call_failure(status);
        error = call_error(status);
    }
    tltcp_conn_lost(tltcp__engine(s), error, reason, tltcp_now());
}

static void call_on_end(void *link, int status) {
    struct tltcp__link *l = link;
    tltcp_socket *s = l->s;
    uv_mutex_t *mx = &l->port->io->mx;

    uv_mutex_lock(mx);
    tltcp__link_drop(s);
    if (s->reliable) {
        call_lose(s, status);
    } else {
        call_next(s, status);
    }
    tltcp__schedule(s);
    uv_mutex_unlock(mx);
}

static const tltcp__pipe_ops call_ops = {.on_open = call_on_open,
                                         .on_input = call_on_input,
                                         .on_writable = tltcp__link_on_writable,
                                         .on_end = call_on_end};

/* --- Attempts ------------------------------------------------------------ */

/* The local address to call from, if one was chosen. */
static const net__addr *call_local(const struct tltcp__port *port,
                                   const net__addr *to, net__addr *local) {
    if (!port->calling->local_chosen) {
        return NULL;
    }
    *local = port->calling->local;
    if (local->sa.sa_family == AF_INET && to->sa.sa_family == AF_INET6) {
        net__addr_map(local);
    }
    return local->sa.sa_family == to->sa.sa_family ? local : NULL;
}

static int call_address(tltcp_socket *s, const net__addr *to) {
    struct tltcp__port *port = s->port;
    struct tltcp__calling *c = port->calling;
    struct tltcp__link *l = calloc(1, sizeof(*l));
    const tltcp__pipe_options o = {.max_datagram =
                                       port->config.packets.max_datagram,
                                   .dscp = (unsigned)port->config.io.dscp,
                                   .ops = &call_ops,
                                   .owner = l};
    net__addr local;
    int rv;

    if (l == NULL) {
        return UV_ENOMEM;
    }
    l->port = port;
    l->s = s;
    l->route.remote = *to;
    l->info.path = TCP_PATH;
    rv = tltcp__pipe_connect(&l->pipe, &port->io->loop, to,
                             call_local(port, to, &local), &o);
    if (rv != 0) {
        free(l);
        return rv;
    }
    tltcp__pipe_limit(l->pipe, 1 + c->each / TLTCP_MS);
    s->link = l;
    return 0;
}

/* Without UDP there is nothing else to try. */
static void call_give_up(tltcp_socket *s, int status) {
    if (s->port->udp == NULL) {
        call_lose(s, status);
    }
}

/* Proceeds to the next address; `status`: why. */
static void call_next(tltcp_socket *s, int status) {
    struct tltcp__calling *c = s->port->calling;

    while (c->tcp_at < c->count) {
        const net__addr *to = &c->to[c->tcp_at++];

        if (net__addr_port(to) == 0) {
            continue;
        }
        status = call_address(s, to);
        if (status == 0) {
            return;
        }
    }
    call_give_up(s, status);
}

void tltcp__tcp_call(tltcp_socket *s) {
    s->port->calling->tcp_after = TLTCP_TIME_NEVER;
    call_next(s, UV_EADDRNOTAVAIL);
}

void tltcp__tcp_call_stop(tltcp_socket *s) {
    s->port->calling->tcp_after = TLTCP_TIME_NEVER;
    if (s->link != NULL && !s->reliable) {
        tltcp__link_drop(s);
    }
}
