/* SPDX-License-Identifier: MPL-2.0 */
/* Makes and frees socket handles. */
#include "libtltcp/socket/socket.h"

#include <stdlib.h>

static int socket_init_conds(tltcp_socket *s) {
    if (uv_cond_init(&s->readable) != 0) {
        return UV_ENOMEM;
    }
    if (uv_cond_init(&s->writable) != 0) {
        uv_cond_destroy(&s->readable);
        return UV_ENOMEM;
    }
    if (uv_cond_init(&s->changed) != 0) {
        uv_cond_destroy(&s->readable);
        uv_cond_destroy(&s->writable);
        return UV_ENOMEM;
    }
    return 0;
}

static void socket_link_in(tltcp_socket *s) {
    s->next = s->port->all;
    if (s->next != NULL) {
        s->next->prev = s;
    }
    s->port->all = s;
}

void tltcp__socket_unlink(tltcp_socket *s) {
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

    if (s == NULL || socket_init_conds(s) != 0) {
        free(s);
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
    uv_cond_destroy(&s->readable);
    uv_cond_destroy(&s->writable);
    uv_cond_destroy(&s->changed);
    free(s->reason);
    free(s);
}
