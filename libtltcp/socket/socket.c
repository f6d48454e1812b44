/* SPDX-License-Identifier: MPL-2.0 */
/* Makes and frees socket handles. */
#include "libtltcp/socket/socket.h"

#include <stdlib.h>

#include "libtltcp/socket/stretch.h"
#include "libtltcp/socket/tcp_link.h"
#include "libtltcp/socket/trace.h"

static void socket_link_in(tltcp_socket *s) {
    s->next = s->port->all;
    if (s->next != NULL) {
        s->next->prev = s;
    }
    s->port->all = s;
}

static void socket_unlink(tltcp_socket *s) {
    if (s->next != NULL) {
        s->next->prev = s->prev;
    }
    if (s->prev != NULL) {
        s->prev->next = s->next;
    } else {
        s->port->all = s->next;
    }
}

tltcp_socket *tltcp__socket_new(struct tltcp__port *port, tltcp_conn *conn) {
    tltcp_socket *s = calloc(1, sizeof(*s));

    if (s == NULL) {
        return NULL;
    }
    s->port = port;
    s->conn = conn;
    s->read_fd.fd = -1;
    s->write_fd.fd = -1;
    s->signal_fd.fd = -1;
    s->timer = CMN__HEAP_NONE;
    s->armed = TLTCP_TIME_NEVER;
    s->write_want = 1;
    if (conn != NULL) {
        tltcp_conn_set_user(conn, s);
        socket_link_in(s);
    }
    return s;
}

void tltcp__socket_free(tltcp_socket *s) {
    tltcp__event_fd_close(&s->read_fd);
    tltcp__event_fd_close(&s->write_fd);
    tltcp__event_fd_close(&s->signal_fd);
    net__routes_free(&s->routes);
    free(s->reason);
    free(s);
}

void tltcp__socket_end(tltcp_socket *s) {
    struct tltcp__port *port = s->port;

    if (s->timer != CMN__HEAP_NONE) {
        cmn__heap_remove(&port->io->timers, s->timer);
    }
    tltcp__stretch_forget(s);
    tltcp__link_drop(s);
    tltcp_conn_free(tltcp__engine(s));
    s->conn = NULL;
    port->current = NULL;
    socket_unlink(s);
    tltcp__trace_close(s);
}
