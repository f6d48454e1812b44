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

static void wake_first(struct tltcp__waiter **list) {
    struct tltcp__waiter *first = *list;

    if (first != NULL) {
        *list = first->next;
        first->woken = true;
        uv_cond_signal(&first->condition);
    }
}

void tltcp__wake_all(struct tltcp__waiter **list) {
    while (*list != NULL) {
        wake_first(list);
    }
}

void tltcp__notify(tltcp_socket *s) {
    bool readable = readiness_readable(s);
    bool writable;
    bool signals;

    if (readable) {
        wake_first(&s->readers);
    }
    tltcp__event_fd_set(&s->read_fd, readable);
    if (s->listener) {
        return;
    }
    writable = readiness_writable(s);
    if (writable) {
        wake_first(&s->writers);
    }
    tltcp__event_fd_set(&s->write_fd, writable);
    signals = tltcp__has_signals(s);
    if (signals || s->closed || s->over) {
        tltcp__wake_all(&s->watchers);
    }
    tltcp__event_fd_set(&s->signal_fd, signals);
}

void tltcp__after_call(tltcp_socket *s) {
    tltcp__notify(s);
    if (!s->scheduled && !s->over && tltcp_conn_timeout(s->conn) < s->armed) {
        tltcp__wake(s);
    }
}

static void wait_for(struct tltcp__waiter *own, uv_mutex_t *mutex,
                     tltcp_time until) {
    bool in_time = true;

    while (!own->woken && in_time) {
        tltcp_time now = tltcp_now();

        if (until == TLTCP_TIME_NEVER) {
            uv_cond_wait(&own->condition, mutex);
        } else {
            in_time = now < until && uv_cond_timedwait(&own->condition, mutex,
                                                       until - now) == 0;
        }
    }
}

bool tltcp__wait(tltcp_socket *s, struct tltcp__waiter **list,
                 tltcp_time until) {
    struct tltcp__waiter own = {.next = NULL};
    struct tltcp__waiter **at = list;

    if (tltcp_now() >= until || uv_cond_init(&own.condition) != 0) {
        return false;
    }
    while (*at != NULL) {
        at = &(*at)->next;
    }
    *at = &own;
    wait_for(&own, tltcp__mutex(s), until);
    for (at = list; !own.woken && *at != &own; at = &(*at)->next) {
    }
    if (!own.woken) {
        *at = own.next;
    }
    uv_cond_destroy(&own.condition);
    return own.woken;
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
