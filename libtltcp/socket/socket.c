/* SPDX-License-Identifier: MPL-2.0 */
#include <stdlib.h>
#include <string.h>

#include "libtltcp/socket/sock.h"

/* Fates that nobody takes: beyond this many the oldest go. */
#define FATES_MAX 65536u

tltcp_time tltcp_now(void) {
    return uv_hrtime();
}

tltcp_time tltcp__until(int timeout_ms) {
    return timeout_ms < 0 ? TLTCP_TIME_NEVER
                          : tltcp_now() + (tltcp_time)timeout_ms * TLTCP_MS;
}

int tltcp__error_of(int status) {
    switch (status) {
    case 0:
        return 0;
    case UV_ENOMEM:
        return TLTCP_ERR_NOMEM;
    case UV_EADDRINUSE:
        return TLTCP_ERR_IN_USE;
    case UV_ECONNREFUSED:
        return TLTCP_ERR_REFUSED;
    case UV_EADDRNOTAVAIL:
    case UV_EAFNOSUPPORT:
    case UV_ENETUNREACH:
    case UV_EHOSTUNREACH:
    case UV_EINVAL:
        return TLTCP_ERR_ADDRESS;
    default:
        return TLTCP_ERR_IO;
    }
}

/* --- Life ---------------------------------------------------------------- */

static int init_conds(tltcp_socket *s) {
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
    s->next = s->r->all;
    if (s->next != NULL) {
        s->next->prev = s;
    }
    s->r->all = s;
}

void tltcp__socket_unlink(tltcp_socket *s) {
    if (s->next != NULL) {
        s->next->prev = s->prev;
    }
    if (s->prev != NULL) {
        s->prev->next = s->next;
    } else {
        s->r->all = s->next;
    }
}

tltcp_socket *tltcp__socket_new(struct tltcp__reactor *r, tltcp_conn *conn) {
    tltcp_socket *s = calloc(1, sizeof(*s));

    if (s == NULL || init_conds(s) != 0) {
        free(s);
        return NULL;
    }
    s->r = r;
    s->conn = conn;
    s->read_flag.fd = -1;
    s->write_flag.fd = -1;
    s->event_flag.fd = -1;
    s->timer = CMN__HEAP_NONE;
    s->armed = TLTCP_TIME_NEVER;
    s->write_want = 1;
    cmn__ring_init(&s->fates, &r->mem, sizeof(struct tltcp__fate), 0);
    if (conn != NULL) {
        tltcp_conn_set_user(conn, s);
        socket_link_in(s);
    }
    return s;
}

void tltcp__socket_free(tltcp_socket *s) {
    tltcp__event_fd_close(&s->read_flag);
    tltcp__event_fd_close(&s->write_flag);
    tltcp__event_fd_close(&s->event_flag);
    cmn__ring_free(&s->fates);
    uv_cond_destroy(&s->readable);
    uv_cond_destroy(&s->writable);
    uv_cond_destroy(&s->changed);
    free(s);
}

/* --- Events -------------------------------------------------------------- */

static void keep_fate(tltcp_socket *s, const tltcp_event *ev) {
    struct tltcp__fate *f;

    if (cmn__ring_len(&s->fates) == FATES_MAX) {
        cmn__ring_pop(&s->fates);
    }
    f = cmn__ring_push(&s->fates);
    if (f == NULL) {
        return; /* the counters still tell */
    }
    *f = (struct tltcp__fate){.section = ev->section,
                              .tag = ev->tag,
                              .bytes = ev->bytes,
                              .acked = ev->acked,
                              .written = ev->written,
                              .deadline = ev->deadline,
                              .now = ev->now,
                              .fate = ev->fate,
                              .cause = ev->cause,
                              .section_class = ev->section_class,
                              .stream = ev->stream};
}

static void on_connected(tltcp_socket *s) {
    s->connected = true;
    s->news.connected = true;
    if (s->r->listening != NULL) {
        tltcp__listening_connected(s);
    }
}

static void on_closed(tltcp_socket *s, const tltcp_event *ev) {
    s->closed = true;
    s->news.closed = true;
    s->error = ev->error;
    s->code = ev->code;
    memcpy(s->reason, ev->reason, sizeof(s->reason));
    if (s->r->listening != NULL && (!s->queued || ev->error != 0)) {
        tltcp__listening_drop(s); /* nobody need accept a corpse */
    }
}

static void take(tltcp_socket *s, const tltcp_event *ev) {
    s->news.now = ev->now;
    switch (ev->type) {
    case TLTCP_EVENT_CONNECTED:
        on_connected(s);
        break;
    case TLTCP_EVENT_FATE:
        keep_fate(s, ev);
        break;
    case TLTCP_EVENT_CLOSED:
        on_closed(s, ev);
        break;
    case TLTCP_EVENT_PATH:
        s->news.moved = true;
        break;
    case TLTCP_EVENT_RATE:
        s->news.rated = true;
        s->news.rate = ev->bytes;
        break;
    default:
        break;
    }
}

void tltcp__take_events(tltcp_socket *s) {
    tltcp_event ev;

    while (tltcp_conn_next_event(tltcp__engine(s), &ev) > 0) {
        take(s, &ev);
    }
}

/* --- Telling the application --------------------------------------------- */

bool tltcp__is_readable(const tltcp_socket *s) {
    if (s->listener) {
        return s->r->listening->first != NULL;
    }
    return s->told || s->gap || s->closed || tltcp_conn_readable(s->conn);
}

bool tltcp__is_writable(const tltcp_socket *s) {
    return s->finished || s->closed ||
           (s->connected && tltcp_conn_writable(s->conn) >= s->write_want);
}

bool tltcp__has_news(const tltcp_socket *s) {
    return s->news.connected || s->news.moved || s->news.rated ||
           s->news.closed || cmn__ring_len(&s->fates) > 0;
}

void tltcp__notify(tltcp_socket *s) {
    bool readable = tltcp__is_readable(s);
    bool writable;
    bool news;

    if (readable && s->readers > 0) {
        uv_cond_signal(&s->readable);
    }
    tltcp__event_fd_set(&s->read_flag, readable);
    if (s->listener) {
        return;
    }
    writable = tltcp__is_writable(s);
    if (writable && s->writers > 0) {
        uv_cond_signal(&s->writable);
    }
    tltcp__event_fd_set(&s->write_flag, writable);
    news = tltcp__has_news(s);
    if (s->watchers > 0 && (news || s->closed || s->over)) {
        uv_cond_broadcast(&s->changed);
    }
    tltcp__event_fd_set(&s->event_flag, news);
}

void tltcp__after_call(tltcp_socket *s) {
    tltcp__notify(s);
    if (!s->dirty && !s->over && tltcp_conn_timeout(s->conn) < s->armed) {
        tltcp__kick(s);
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
        uv_cond_wait(on, &s->r->mx);
    } else {
        in_time = uv_cond_timedwait(on, &s->r->mx, until - now) == 0;
    }
    --*count;
    return in_time;
}
