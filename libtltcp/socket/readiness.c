/* SPDX-License-Identifier: MPL-2.0 */
/* Readable, writable, signalled: conditions, waiting, descriptors. */
#include "libtltcp/socket/readiness.h"

#include "libtltcp/socket/schedule.h"

static bool readiness_readable(const tltcp_socket *s) {
    if (s->listener) {
        return s->port->listening->listener->first != NULL;
    }
    return s->end_reported || s->gap || s->closed ||
           tltcp_conn_section_ready(s->conn);
}

static bool readiness_writable(const tltcp_socket *s) {
    return s->finished || s->closed ||
           (s->connected && tltcp_conn_writable(s->conn) >= s->write_want);
}

bool tltcp__has_signals(const tltcp_socket *s) {
    return s->pending.connected || s->pending.moved || s->pending.rated ||
           s->pending.closed || tltcp_conn_fates(s->conn) > 0;
}

void tltcp__notify(tltcp_socket *s) {
    bool readable = readiness_readable(s);
    bool writable;
    bool signals;

    if (readable && s->readers > 0) {
        uv_cond_signal(&s->readable);
    }
    tltcp__event_fd_set(&s->read_fd, readable);
    if (s->listener) {
        return;
    }
    writable = readiness_writable(s);
    if (writable && s->writers > 0) {
        uv_cond_signal(&s->writable);
    }
    tltcp__event_fd_set(&s->write_fd, writable);
    signals = tltcp__has_signals(s);
    if (s->watchers > 0 && (signals || s->closed || s->over)) {
        uv_cond_broadcast(&s->changed);
    }
    tltcp__event_fd_set(&s->signal_fd, signals);
}

void tltcp__after_call(tltcp_socket *s) {
    tltcp__notify(s);
    if (!s->scheduled && !s->over && tltcp_conn_timeout(s->conn) < s->armed) {
        tltcp__wake(s);
    }
}

bool tltcp__wait(tltcp_socket *s, uv_cond_t *on, unsigned *count,
                 tltcp_time until) {
    tltcp_time now = tltcp_now();
    bool in_time = true;

    if (now >= until) {
        return false;
    }
    ++*count;
    if (until == TLTCP_TIME_NEVER) {
        uv_cond_wait(on, tltcp__mutex(s));
    } else {
        in_time = uv_cond_timedwait(on, tltcp__mutex(s), until - now) == 0;
    }
    --*count;
    return in_time;
}

/* --- Descriptors --------------------------------------------------------- */

static int readiness_open(tltcp__event_fd *fd, bool raised) {
    int rv = 0;

    if (fd->fd < 0) {
        rv = tltcp__event_fd_open(fd);
        tltcp__event_fd_set(fd, raised);
    }
    return rv == 0 ? fd->fd : TLTCP_ERR_IO;
}

int tltcp_fd(const tltcp_socket *s) {
    tltcp_socket *own = (tltcp_socket *)s; /* made on demand */
    int fd;

    if (s == NULL) {
        return TLTCP_ERR_INVAL;
    }
    uv_mutex_lock(tltcp__mutex(s));
    fd = readiness_open(&own->read_fd, readiness_readable(own));
    uv_mutex_unlock(tltcp__mutex(s));
    return fd;
}

int tltcp_writable_fd(const tltcp_socket *s) {
    tltcp_socket *own = (tltcp_socket *)s;
    int fd;

    if (s == NULL || s->listener) {
        return TLTCP_ERR_INVAL;
    }
    uv_mutex_lock(tltcp__mutex(s));
    fd = readiness_open(&own->write_fd, readiness_writable(own));
    uv_mutex_unlock(tltcp__mutex(s));
    return fd;
}

int tltcp_event_fd(const tltcp_socket *s) {
    tltcp_socket *own = (tltcp_socket *)s;
    int fd;

    if (s == NULL || s->listener) {
        return TLTCP_ERR_INVAL;
    }
    uv_mutex_lock(tltcp__mutex(s));
    fd = readiness_open(&own->signal_fd, tltcp__has_signals(own));
    uv_mutex_unlock(tltcp__mutex(s));
    return fd;
}
