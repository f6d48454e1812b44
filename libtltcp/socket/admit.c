/* SPDX-License-Identifier: MPL-2.0 */
/* Asks the application about a new caller, then accepts or refuses. */
#include "libtltcp/socket/admit.h"

#include "libtltcp/socket/accept_queue.h"
#include "libtltcp/socket/local.h"
#include "libtltcp/socket/schedule.h"
#include "libtltcp/socket/socket.h"
#include "libtltcp/socket/trace.h"

/* Asks the application with the mutex released; one thread at a time. */
static bool admit_ask(tltcp_socket *s, const net__route *route, char *reason) {
    struct tltcp__port *port = s->port;
    struct tltcp__listener *l = port->listening->listener;
    net__addr from = route->remote;
    tltcp_caller caller = {.stream_id = tltcp_conn_stream_id(s->conn),
                           .secret = tltcp_conn_secret(s->conn),
                           .identity = tltcp_conn_identity(s->conn)};
    bool yes;

    if (port->config.listener.on_caller == NULL || !tltcp__accept_ask(l)) {
        return true; /* or the listener was closed meanwhile */
    }
    net__addr_unmap(&from);
    caller.address = &from;
    caller.address_len = net__addr_len(&from);
    uv_mutex_unlock(&port->io->mx);
    uv_mutex_lock(&l->calls);
    yes = port->config.listener.on_caller(port->config.user, &caller, reason);
    uv_mutex_unlock(&l->calls);
    uv_mutex_lock(&port->io->mx);
    tltcp__accept_asked(l);
    reason[TLTCP_REASON_MAX] = '\0';
    return yes;
}

static void admit_accept(tltcp_socket *s, const net__route *route) {
    tltcp__say_local(s, &route->remote);
    if (tltcp_conn_accept(tltcp__engine(s), tltcp_now()) != 0) {
        return; /* it has ended meanwhile */
    }
    tltcp__accept_expect(s);
    (void)tltcp__trace_open(s); /* a full disk does not stop a connection */
}

tltcp_socket *tltcp__admit(struct tltcp__port *port, tltcp_conn *conn,
                           uint64_t token, const net__route *route) {
    char reason[TLTCP_REASON_MAX + 1] = "";
    struct tltcp__listener *l = port->listening->listener;
    tltcp_socket *s = tltcp__socket_new(port, conn);
    const char *refusal;

    if (s == NULL) {
        tltcp_conn_free(conn);
        return NULL;
    }
    net__routes_add(&s->routes, token, route, 0);
    tltcp__schedule(s);
    refusal = tltcp__accept_refusal(l);
    if (refusal == NULL) {
        refusal =
            admit_ask(s, route, reason) ? tltcp__accept_refusal(l) : reason;
    }
    if (refusal == NULL) {
        admit_accept(s, route);
    } else {
        (void)tltcp_conn_refuse(tltcp__engine(s), refusal, tltcp_now());
    }
    return s;
}
