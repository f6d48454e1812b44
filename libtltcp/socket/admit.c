/* SPDX-License-Identifier: MPL-2.0 */
/* Asks the application about a new caller, then accepts or refuses. */
#include "libtltcp/socket/admit.h"

#include "libtltcp/socket/accept_queue.h"
#include "libtltcp/socket/schedule.h"
#include "libtltcp/socket/socket.h"
#include "libtltcp/socket/trace.h"

/* Limit on callers that the application has not taken; further ones are
 * refused. */
#define BACKLOG 4096u

static const char *admit_refusal(const struct tltcp__port *port) {
    const struct tltcp__listening *l = port->listening;

    if (l->handle == NULL) {
        return "the listener was closed";
    }
    if (l->unaccepted >= BACKLOG) {
        return "too many callers are waiting";
    }
    return NULL;
}

/* Asks the application with the mutex released. */
static bool admit_ask(tltcp_socket *s, const net__route *route, char *reason) {
    struct tltcp__port *port = s->port;
    net__addr from = route->remote;
    tltcp_caller caller = {.stream_id = tltcp_conn_stream_id(s->conn),
                           .secret = tltcp_conn_secret(s->conn),
                           .identity = tltcp_conn_identity(s->conn)};
    bool yes;

    if (port->config.listener.on_caller == NULL) {
        return true;
    }
    net__addr_unmap(&from);
    caller.address = &from;
    caller.address_len = net__addr_len(&from);
    port->listening->asking = true;
    uv_mutex_unlock(&port->io->mx);
    yes = port->config.listener.on_caller(port->config.user, &caller, reason);
    uv_mutex_lock(&port->io->mx);
    port->listening->asking = false;
    if (port->listening->closing != NULL) {
        uv_cond_broadcast(&port->listening->closing->readable);
    }
    reason[TLTCP_REASON_MAX] = '\0';
    return yes;
}

static void admit_accept(tltcp_socket *s) {
    if (tltcp_conn_accept(tltcp__engine(s), tltcp_now()) != 0) {
        return; /* it has ended meanwhile */
    }
    tltcp__accept_expect(s);
    (void)tltcp__trace_open(s); /* a full disk does not stop a connection */
}

tltcp_socket *tltcp__admit(struct tltcp__port *port, tltcp_conn *conn,
                           uint64_t token, const net__route *route) {
    char reason[TLTCP_REASON_MAX + 1] = "";
    tltcp_socket *s = tltcp__socket_new(port, conn);
    const char *refusal;

    if (s == NULL) {
        tltcp_conn_free(conn);
        return NULL;
    }
    net__routes_add(&s->routes, token, route, 0);
    tltcp__schedule(s);
    refusal = admit_refusal(port);
    if (refusal == NULL) {
        refusal = admit_ask(s, route, reason) ? admit_refusal(port) : reason;
    }
    if (refusal == NULL) {
        admit_accept(s);
    } else {
        (void)tltcp_conn_refuse(tltcp__engine(s), refusal, tltcp_now());
    }
    return s;
}
