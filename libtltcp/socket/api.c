/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "libtltcp/socket/sock.h"
#include "libtltcp/socket/stats.h"

/* What an application asks a socket about itself. */

/* --- Descriptors --------------------------------------------------------- */

static int open_flag(tltcp__event_fd *flag, bool raised) {
    int rv = 0;

    if (flag->fd < 0) {
        rv = tltcp__event_fd_open(flag);
        tltcp__event_fd_set(flag, raised);
    }
    return rv == 0 ? flag->fd : TLTCP_ERR_IO;
}

int tltcp_fd(const tltcp_socket *s) {
    tltcp_socket *own = (tltcp_socket *)s; /* made on demand */
    int fd;

    if (s == NULL) {
        return TLTCP_ERR_INVAL;
    }
    uv_mutex_lock(&own->r->mx);
    fd = open_flag(&own->read_flag, tltcp__is_readable(own));
    uv_mutex_unlock(&own->r->mx);
    return fd;
}

int tltcp_writable_fd(const tltcp_socket *s) {
    tltcp_socket *own = (tltcp_socket *)s;
    int fd;

    if (s == NULL || s->listener) {
        return TLTCP_ERR_INVAL;
    }
    uv_mutex_lock(&own->r->mx);
    fd = open_flag(&own->write_flag, tltcp__is_writable(own));
    uv_mutex_unlock(&own->r->mx);
    return fd;
}

int tltcp_event_fd(const tltcp_socket *s) {
    tltcp_socket *own = (tltcp_socket *)s;
    int fd;

    if (s == NULL || s->listener) {
        return TLTCP_ERR_INVAL;
    }
    uv_mutex_lock(&own->r->mx);
    fd = open_flag(&own->event_flag, tltcp__has_news(own));
    uv_mutex_unlock(&own->r->mx);
    return fd;
}

/* --- Events -------------------------------------------------------------- */

static void give_fate(tltcp_socket *s, tltcp_event *ev) {
    const struct tltcp__fate *f = cmn__ring_at(&s->fates, s->fates.head);

    ev->type = TLTCP_EVENT_FATE;
    ev->section = f->section;
    ev->tag = f->tag;
    ev->bytes = f->bytes;
    ev->acked = f->acked;
    ev->written = f->written;
    ev->deadline = f->deadline;
    ev->now = f->now;
    ev->fate = f->fate;
    ev->cause = f->cause;
    ev->section_class = f->section_class;
    ev->stream = f->stream;
    cmn__ring_pop(&s->fates);
    if (cmn__ring_len(&s->fates) == 0) {
        cmn__ring_trim(&s->fates);
    }
}

static void give_end(tltcp_socket *s, tltcp_event *ev) {
    s->news.closed = false;
    s->end_taken = true;
    ev->type = TLTCP_EVENT_CLOSED;
    ev->error = s->error;
    ev->code = s->code;
    memcpy(ev->reason, s->reason, sizeof(ev->reason));
}

/* Connected first, the end last. */
static void api_give(tltcp_socket *s, tltcp_event *ev) {
    memset(ev, 0, sizeof(*ev));
    ev->now = s->news.now;
    if (s->news.connected) {
        s->news.connected = false;
        ev->type = TLTCP_EVENT_CONNECTED;
    } else if (cmn__ring_len(&s->fates) > 0) {
        give_fate(s, ev);
    } else if (s->news.moved) {
        s->news.moved = false;
        ev->type = TLTCP_EVENT_PATH;
    } else if (s->news.rated) {
        s->news.rated = false;
        ev->type = TLTCP_EVENT_RATE;
        ev->bytes = s->news.rate;
    } else {
        give_end(s, ev);
    }
}

int tltcp_next_event(tltcp_socket *s, tltcp_event *ev, int timeout_ms) {
    tltcp_time until = tltcp__until(timeout_ms);
    int rv = TLTCP_ERR_AGAIN;

    if (s == NULL || ev == NULL || s->listener) {
        return TLTCP_ERR_INVAL;
    }
    uv_mutex_lock(&s->r->mx);
    while (!tltcp__has_news(s) && !s->end_taken &&
           tltcp__wait(s, &s->changed, &s->watchers, until)) {
    }
    if (tltcp__has_news(s)) {
        api_give(s, ev);
        tltcp__notify(s);
        rv = 1;
    } else if (s->end_taken) {
        rv = TLTCP_ERR_CLOSED;
    }
    uv_mutex_unlock(&s->r->mx);
    return rv;
}

int tltcp_socket_error(const tltcp_socket *s, char *reason) {
    tltcp_socket *own = (tltcp_socket *)s;
    int rv;

    if (s == NULL || s->listener) {
        return TLTCP_ERR_INVAL;
    }
    uv_mutex_lock(&own->r->mx);
    rv = own->error;
    if (reason != NULL) {
        memcpy(reason, own->reason, sizeof(own->reason));
    }
    uv_mutex_unlock(&own->r->mx);
    return rv;
}

/* --- Numbers and names --------------------------------------------------- */

static void sum_up(tltcp_socket *listener, tltcp_stats *sum) {
    struct tltcp__reactor *r = listener->r;
    tltcp_stats one;

    *sum = r->listening->past;
    sum->struct_size = sizeof(*sum);
    (void)tltcp_endpoint_get_stats(r->listening->endpoint, sum);
    for (tltcp_socket *s = r->all; s != NULL; s = s->next) {
        tltcp_stats_init(&one);
        if (tltcp_conn_get_stats(tltcp__engine(s), &one, tltcp_now()) == 0) {
            tltcp__stats_add(sum, &one);
            sum->bytes_queued += one.bytes_queued;
            sum->bytes_unread += one.bytes_unread;
            sum->bytes_in_flight += one.bytes_in_flight;
        }
    }
    sum->now = tltcp_now();
    if (sum->packets_sent > 0) {
        sum->loss_rate = (double)sum->packets_lost / (double)sum->packets_sent;
    }
}

static int listener_stats(tltcp_socket *s, tltcp_stats *st) {
    tltcp_stats sum;
    size_t size = st->struct_size;

    if (size < sizeof(st->struct_size)) {
        return TLTCP_ERR_INVAL;
    }
    tltcp_stats_init(&sum);
    sum_up(s, &sum);
    memcpy(st, &sum, size < sizeof(sum) ? size : sizeof(sum));
    st->struct_size = size;
    return 0;
}

int tltcp_get_stats(const tltcp_socket *s, tltcp_stats *st) {
    tltcp_socket *own = (tltcp_socket *)s;
    int rv;

    if (s == NULL || st == NULL) {
        return TLTCP_ERR_INVAL;
    }
    uv_mutex_lock(&own->r->mx);
    rv = s->listener
             ? listener_stats(own, st)
             : tltcp_conn_get_stats(tltcp__engine(own), st, tltcp_now());
    uv_mutex_unlock(&own->r->mx);
    return rv;
}

const char *tltcp_stream_id(const tltcp_socket *s) {
    return s == NULL || s->listener ? "" : tltcp_conn_stream_id(s->conn);
}

static int give_address(net__addr *a, struct sockaddr *sa, socklen_t *len) {
    net__addr_unmap(a);
    if (*len < net__addr_len(a)) {
        return TLTCP_ERR_INVAL;
    }
    *len = net__addr_len(a);
    memcpy(sa, a, *len);
    return 0;
}

int tltcp_local_address(const tltcp_socket *s, struct sockaddr *sa,
                        socklen_t *len) {
    net__addr a;
    int rv;

    if (s == NULL || sa == NULL || len == NULL) {
        return TLTCP_ERR_INVAL;
    }
    rv = net__udp_local(s->r->udp, &a);
    return rv == 0 ? give_address(&a, sa, len) : TLTCP_ERR_IO;
}

static void peer_of(tltcp_socket *s, net__addr *a) {
    const struct tltcp__calling *c = s->r->calling;

    memset(a, 0, sizeof(*a));
    if (c != NULL) {
        *a = c->to[c->at];
        return;
    }
    for (unsigned i = 0; i < NET__ROUTES; i++) {
        if (s->routes.token[i] == tltcp_conn_path(s->conn)) {
            *a = s->routes.route[i].remote;
        }
    }
}

int tltcp_peer_address(const tltcp_socket *s, struct sockaddr *sa,
                       socklen_t *len) {
    tltcp_socket *own = (tltcp_socket *)s;
    net__addr a;

    if (s == NULL || sa == NULL || len == NULL || s->listener) {
        return TLTCP_ERR_INVAL;
    }
    uv_mutex_lock(&own->r->mx);
    peer_of(own, &a);
    uv_mutex_unlock(&own->r->mx);
    return give_address(&a, sa, len);
}
