/* SPDX-License-Identifier: MPL-2.0 */
/* Addresses and stream ID of a socket. */
#include "libtltcp/socket/address.h"

#include <string.h>

#include "libtltcp/socket/tcp_link.h"
#include "libtltcp/tcp/acceptor.h"

const uint8_t *tltcp_identity(const tltcp_socket *s) {
    return s == NULL || s->listener ? NULL : tltcp_conn_identity(s->conn);
}

const char *tltcp_stream_id(const tltcp_socket *s) {
    return s == NULL || s->listener ? "" : tltcp_conn_stream_id(s->conn);
}

static int address_give(net__addr *a, struct sockaddr *sa, socklen_t *len) {
    net__addr_unmap(a);
    if (*len < net__addr_len(a)) {
        return TLTCP_ERR_INVAL;
    }
    *len = net__addr_len(a);
    memcpy(sa, a, *len);
    return 0;
}

static int address_local(const tltcp_socket *s, net__addr *a) {
    const struct tltcp__port *port = s->port;

    if (!s->listener && s->link != NULL && s->reliable) {
        return tltcp__pipe_local(s->link->pipe, a);
    }
    if (port->udp != NULL) {
        return net__udp_local(port->udp, a);
    }
    return port->listening != NULL
               ? tltcp__acceptor_local(port->listening->acceptor, a)
               : UV_ENOTCONN;
}

void tltcp__note_reply(struct tltcp__port *port, const tltcp_dispatch *d,
                       const net__addr *to) {
    if (d->rejected) {
        port->listening->rejected = *to;
        port->listening->rejected_at = tltcp_now();
    }
}

/* The newest of all ports. Returns 0: none yet. */
static tltcp_time address_rejected(const struct tltcp__listener *l,
                                   net__addr *a) {
    tltcp_time newest = 0;

    for (unsigned i = 0; i < l->count; i++) {
        struct tltcp__port *port = l->ports[i];

        uv_mutex_lock(&port->io->mx);
        if (port->listening->rejected_at > newest) {
            newest = port->listening->rejected_at;
            *a = port->listening->rejected;
        }
        uv_mutex_unlock(&port->io->mx);
    }
    return newest;
}

int tltcp_rejected_address(const tltcp_socket *s, struct sockaddr *sa,
                           socklen_t *len) {
    net__addr a;

    if (s == NULL || sa == NULL || len == NULL || !s->listener) {
        return TLTCP_ERR_INVAL;
    }
    return address_rejected(s->port->listening->listener, &a) != 0
               ? address_give(&a, sa, len)
               : TLTCP_ERR_STATE;
}

int tltcp_local_address(const tltcp_socket *s, struct sockaddr *sa,
                        socklen_t *len) {
    net__addr a;
    int rv;

    if (s == NULL || sa == NULL || len == NULL) {
        return TLTCP_ERR_INVAL;
    }
    uv_mutex_lock(tltcp__mutex(s));
    rv = address_local(s, &a);
    uv_mutex_unlock(tltcp__mutex(s));
    return rv == 0 ? address_give(&a, sa, len) : TLTCP_ERR_IO;
}

static void address_of_peer(tltcp_socket *s, net__addr *a) {
    const struct tltcp__calling *c = s->port->calling;
    const net__route *route;

    memset(a, 0, sizeof(*a));
    if (s->link != NULL && s->reliable) {
        *a = s->link->route.remote;
        return;
    }
    if (c != NULL) {
        *a = c->to[c->at];
        return;
    }
    route = net__routes_find(&s->routes, tltcp_conn_path(s->conn));
    if (route != NULL) {
        *a = route->remote;
    }
}

int tltcp_peer_address(const tltcp_socket *s, struct sockaddr *sa,
                       socklen_t *len) {
    tltcp_socket *own = (tltcp_socket *)s;
    net__addr a;

    if (s == NULL || sa == NULL || len == NULL || s->listener) {
        return TLTCP_ERR_INVAL;
    }
    uv_mutex_lock(tltcp__mutex(s));
    address_of_peer(own, &a);
    uv_mutex_unlock(tltcp__mutex(s));
    return address_give(&a, sa, len);
}
