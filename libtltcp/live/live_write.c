/* SPDX-License-Identifier: MPL-2.0 */
/* The sending side of ::tltcp_live: a thread that serves the connections, and
 * the calls that write. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "internal/common/sized.h"
#include "libtltcp/live/live_impl.h"

#define NS_PER_MS UINT64_C(1000000)
#define FOR_EVER UINT64_MAX

/* ---- The thread ---- */

static void live_post_rate(tltcp_live *l, const tltcp_live_event *ev) {
    tltcp_live_event best = *ev;
    for (size_t i = 0; i < l->out.senders; i++) {
        tltcp_stats st;
        tltcp_stats_init(&st);
        (void)tltcp_get_stats(tltcp_live_sender_socket(l->out.sender[i]), &st);
        if (st.estimated_bps > best.estimated_bps) {
            best.estimated_bps = st.estimated_bps;
        }
        if (st.target_bps > best.target_bps) {
            best.target_bps = st.target_bps;
        }
    }
    if (best.estimated_bps != l->out.estimated_bps ||
        best.target_bps != l->out.target_bps) {
        l->out.estimated_bps = best.estimated_bps;
        l->out.target_bps = best.target_bps;
        tltcp__live_post(l, &best);
    }
}

/* Requires the lock. The end of a connection is reported when it is removed. */
static void live_on_sender_event(void *user, const tltcp_live_event *ev) {
    tltcp_live *l = user;
    if (ev->type == TLTCP_LIVE_EVENT_RATE) {
        live_post_rate(l, ev);
    } else if (ev->type == TLTCP_LIVE_EVENT_DISCONNECTED) {
        tltcp_live_event reported = *ev;
        reported.final = !tltcp__live_settings(l)->listens &&
                         (!tltcp__live_settings(l)->reconnect ||
                          (l->out.finished && ev->error == 0));
        tltcp__live_post(l, &reported);
    } else {
        tltcp__live_post(l, ev);
    }
}

static unsigned live_stream_count(const tltcp_live *l) {
    unsigned n = 0;
    for (size_t i = 0; i < LIVE_STREAMS; i++) {
        n += l->out.stream[i] != NULL;
    }
    return n;
}

/* Sends a new connection its descriptions and headers. */
static void live_greet(tltcp_live *l, tltcp_live_sender *sender) {
    tltcp_live_event ev = {.type = TLTCP_LIVE_EVENT_KEY_WANTED,
                           .now = tltcp_now()};
    unsigned count = live_stream_count(l);
    for (size_t i = 0; i < LIVE_STREAMS; i++) {
        tltcp_live_section *s =
            l->out.stream[i]
                ? tltcp_live_stream_describe(l->out.stream[i], count)
                : NULL;
        if (s) {
            (void)tltcp_live_sender_push(sender, s);
            tltcp_live_section_unref(s);
        }
    }
    if (l->out.begun) {
        tltcp_live_sender_join(sender);
        tltcp__live_post(l, &ev);
    }
}

static bool live_add_sender(tltcp_live *l, tltcp_socket *socket) {
    tltcp_live_sender **grown = realloc(
        l->out.sender, (l->out.senders + 1) * sizeof(tltcp_live_sender *));
    tltcp_live_sender *s = NULL;
    if (grown) {
        l->out.sender = grown;
        s = tltcp_live_sender_new(socket, tltcp__live_settings(l),
                                  live_on_sender_event, l);
    } else {
        (void)tltcp_close(socket, 0);
    }
    if (s) {
        l->out.sender[l->out.senders++] = s;
        l->connections++;
        if (l->out.connected.type == TLTCP_LIVE_EVENT_CONNECTED) {
            tltcp__live_post(l, &l->out.connected);
        }
        live_greet(l, s);
    }
    return s != NULL;
}

static void live_remove_sender(tltcp_live *l, size_t index) {
    tltcp_live_sender *s = l->out.sender[index];
    char reason[TLTCP_REASON_MAX + 1] = "";
    int error = tltcp_socket_error(tltcp_live_sender_socket(s), reason);
    l->out.sender[index] = l->out.sender[--l->out.senders];
    tltcp__live_keep_last(l, tltcp_live_sender_socket(s));
    (void)tltcp_live_sender_close(s, 0);
    tltcp_live_sender_add_stats(s, &l->departed);
    l->departed.queued_sections = l->departed.queued_bytes = 0;
    tltcp_live_sender_free(s);
    if (!tltcp__live_settings(l)->listens) {
        bool again = l->link && tltcp_live_link_lost(l->link, error, reason);
        if (!again || (l->out.finished && error == 0)) {
            l->out.error = error ? error : TLTCP_ERR_CLOSED;
        }
    }
}

static void live_take_connections(tltcp_live *l, tltcp_time *when) {
    tltcp_socket *socket;
    int rc = l->link ? 1 : 0;
    while (rc == 1 && l->out.error == 0) {
        /* A name lookup may block. */
        (void)pthread_mutex_unlock(&l->lock);
        rc = tltcp_live_link_run(l->link, &socket, when);
        (void)pthread_mutex_lock(&l->lock);
        if (rc == 1) {
            if (!live_add_sender(l, socket) &&
                !tltcp__live_settings(l)->listens) {
                (void)tltcp_live_link_lost(l->link, TLTCP_ERR_NOMEM, "");
            }
        } else if (rc < 0) {
            l->out.error = rc;
        }
    }
}

static tltcp_time live_service(tltcp_live *l) {
    tltcp_time when = TLTCP_TIME_NEVER;
    live_take_connections(l, &when);
    for (size_t i = l->out.senders; i-- > 0;) {
        tltcp_time at = tltcp_live_sender_run(l->out.sender[i]);
        if (tltcp_live_sender_is_closed(l->out.sender[i])) {
            live_remove_sender(l, i);
            when = 0;
        } else if (at < when) {
            when = at;
        }
    }
    (void)pthread_cond_broadcast(&l->changed);
    return when;
}

static nfds_t live_add_fds(struct pollfd *fds, nfds_t n, const int *fd,
                           int count) {
    for (int i = 0; i < count; i++) {
        fds[n++] = (struct pollfd){.fd = fd[i], .events = POLLIN};
    }
    return n;
}

/* Requires the lock, which is released meanwhile. */
static void live_poll_all(tltcp_live *l, tltcp_time when) {
    size_t most = 1 + (size_t)TLTCP_LIVE_FDS * (l->out.senders + 1);
    struct pollfd *fds = calloc(most, sizeof(*fds));
    int fd[TLTCP_LIVE_FDS];
    nfds_t n = 0;
    if (fds) {
        fds[n++] = (struct pollfd){.fd = l->wake[0], .events = POLLIN};
        n = live_add_fds(fds, n, fd,
                         l->link ? tltcp_live_link_fds(l->link, fd) : 0);
        for (size_t i = 0; i < l->out.senders; i++) {
            n = live_add_fds(fds, n, fd,
                             tltcp_live_sender_fds(l->out.sender[i], fd));
        }
    } else {
        when = tltcp__live_soon(when);
    }
    (void)pthread_mutex_unlock(&l->lock);
    tltcp__live_poll(fds, n, when);
    tltcp__live_woken(l);
    (void)pthread_mutex_lock(&l->lock);
    free(fds);
}

static void *live_run(void *user) {
    tltcp_live *l = user;
    (void)pthread_mutex_lock(&l->lock);
    while (!l->out.stopping) {
        tltcp_time when = live_service(l);
        if (!l->out.stopping) {
            live_poll_all(l, when);
        }
    }
    (void)pthread_mutex_unlock(&l->lock);
    return NULL;
}

int tltcp__live_output_start(tltcp_live *l, tltcp_socket *socket) {
    sigset_t all;
    sigset_t before;
    if (socket && !live_add_sender(l, socket)) {
        return TLTCP_ERR_NOMEM;
    }
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    l->out.running = pthread_create(&l->out.thread, NULL, live_run, l) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return l->out.running ? 0 : TLTCP_ERR_NOMEM;
}

/* Starts closing all connections before waiting for any. */
static void live_close_senders(tltcp_live *l, int linger_ms) {
    tltcp_time end =
        tltcp_now() + (linger_ms > 0 ? (uint64_t)linger_ms : 0) * NS_PER_MS;
    for (size_t i = 0; i < l->out.senders; i++) {
        (void)tltcp_live_sender_run(l->out.sender[i]);
        (void)tltcp_shutdown(tltcp_live_sender_socket(l->out.sender[i]));
    }
    for (size_t i = 0; i < l->out.senders; i++) {
        tltcp_time now = tltcp_now();
        int left = now < end ? (int)((end - now) / NS_PER_MS) : 0;
        (void)tltcp_live_sender_close(l->out.sender[i],
                                      linger_ms < 0 ? linger_ms : left);
        tltcp_live_sender_free(l->out.sender[i]);
    }
    free(l->out.sender);
}

void tltcp__live_output_stop(tltcp_live *l, int linger_ms) {
    if (l->out.running) {
        (void)pthread_mutex_lock(&l->lock);
        l->out.stopping = true;
        (void)pthread_mutex_unlock(&l->lock);
        tltcp__live_wake(l);
        (void)pthread_join(l->out.thread, NULL);
    }
    live_close_senders(l, linger_ms);
    for (size_t i = 0; i < LIVE_STREAMS; i++) {
        tltcp_live_stream_free(l->out.stream[i]);
    }
}

/* ---- Writing; requires the lock ---- */

static void live_push_all(void *user, tltcp_live_section *section) {
    tltcp_live *l = user;
    for (size_t i = 0; i < l->out.senders; i++) {
        (void)tltcp_live_sender_push(l->out.sender[i], section);
    }
}

static tltcp_live_stream *live_stream_at(tltcp_live *l, unsigned number) {
    const tltcp_live_settings *s = tltcp__live_settings(l);
    if (l->out.stream[number] == NULL) {
        l->out.stream[number] = tltcp_live_stream_new(number, live_push_all, l);
        if (l->out.stream[number]) {
            tltcp_live_stream_set_deadlines(l->out.stream[number],
                                            (int)s->deadline_mode,
                                            s->latency_ms, s->grace_ms, 1);
        }
    }
    return l->out.stream[number];
}

static bool live_all_have_room(const tltcp_live *l, size_t bytes) {
    for (size_t i = 0; i < l->out.senders; i++) {
        if (!tltcp_live_sender_has_room(l->out.sender[i], bytes)) {
            return false;
        }
    }
    return true;
}

static bool live_all_idle(const tltcp_live *l) {
    for (size_t i = 0; i < l->out.senders; i++) {
        if (!tltcp_live_sender_is_idle(l->out.sender[i])) {
            return false;
        }
    }
    return true;
}

static uint64_t live_patience(const tltcp_live *l, int timeout_ms) {
    const tltcp_live_settings *s = tltcp__live_settings(l);
    if (timeout_ms >= 0) {
        return (uint64_t)timeout_ms;
    }
    return s->deadline_mode == TLTCP_LIVE_DEADLINE_NONE ? FOR_EVER
                                                        : s->latency_ms;
}

/* Waits for room, or (`bytes` 0) until all fates are known. */
static int live_wait(tltcp_live *l, size_t bytes, uint64_t patience) {
    struct timespec end =
        tltcp__live_until(patience == FOR_EVER ? 0 : patience);
    int rc = 0;
    while (rc == 0 && !atomic_load(&l->interrupted) && l->out.error == 0 &&
           !(bytes ? live_all_have_room(l, bytes) : live_all_idle(l))) {
        rc = patience == FOR_EVER
                 ? pthread_cond_wait(&l->changed, &l->lock)
                 : pthread_cond_timedwait(&l->changed, &l->lock, &end);
    }
    if (atomic_load(&l->interrupted)) {
        return TLTCP_ERR_ABORTED;
    }
    return l->out.error ? l->out.error : rc ? TLTCP_ERR_AGAIN : 0;
}

int tltcp_live_set_format(tltcp_live *l, unsigned stream,
                          const tltcp_live_format *f) {
    tltcp_live_format full;
    const tltcp_live_settings *set = tltcp__live_settings(l);
    tltcp_live_stream *s;
    tltcp_live_section *config = NULL;
    int rc = TLTCP_ERR_NOMEM;
    if (l->direction != TLTCP_LIVE_SEND || stream >= LIVE_STREAMS ||
        !cmn__sized_is_set(f)) {
        return TLTCP_ERR_INVAL;
    }
    tltcp_live_format_init(&full);
    cmn__sized_take(&full, sizeof(full), f);
    (void)pthread_mutex_lock(&l->lock);
    s = live_stream_at(l, stream);
    if (s && tltcp_live_stream_set_format(s, &full) == 0) {
        tltcp_live_stream_set_deadlines(s, (int)set->deadline_mode,
                                        set->latency_ms, set->grace_ms, 1);
        config = tltcp_live_stream_describe(
            s, full.streams ? full.streams : live_stream_count(l));
    }
    if (config) {
        live_push_all(l, config);
        tltcp_live_section_unref(config);
        rc = 0;
    }
    (void)pthread_mutex_unlock(&l->lock);
    tltcp__live_wake(l);
    return rc;
}

uint64_t tltcp_live_lateness(tltcp_live *l, size_t bytes, tltcp_time deadline) {
    uint64_t least = UINT64_MAX;
    (void)pthread_mutex_lock(&l->lock);
    for (size_t i = 0; least > 0 && i < l->out.senders; i++) {
        uint64_t late =
            tltcp_live_sender_lateness(l->out.sender[i], bytes, deadline);
        least = late < least ? late : least;
    }
    (void)pthread_mutex_unlock(&l->lock);
    return least == UINT64_MAX ? 0 : least;
}

int tltcp_live_write(tltcp_live *l, const tltcp_live_frame *f, int timeout_ms) {
    int rc;
    int room;
    if (l->direction != TLTCP_LIVE_SEND || !cmn__sized_is_set(f) ||
        f->stream >= LIVE_STREAMS || (f->data == NULL && f->len > 0)) {
        return TLTCP_ERR_INVAL;
    }
    (void)pthread_mutex_lock(&l->lock);
    if (l->out.stream[f->stream] == NULL) {
        (void)pthread_mutex_unlock(&l->lock);
        return TLTCP_ERR_INVAL;
    }
    room =
        live_wait(l, f->len + MEDIA_HEADER_LEN, live_patience(l, timeout_ms));
    rc = room;
    if (room == 0 || room == TLTCP_ERR_AGAIN) {
        l->out.begun = true;
        rc = tltcp_live_stream_write(l->out.stream[f->stream], f);
        rc = rc < 0 ? rc : room;
    }
    (void)pthread_mutex_unlock(&l->lock);
    tltcp__live_wake(l);
    return rc;
}

int tltcp_live_write_ts(tltcp_live *l, const void *data, size_t len,
                        int timeout_ms) {
    tltcp_live_stream *s;
    int rc;
    int room;
    if (l->direction != TLTCP_LIVE_SEND || (data == NULL && len > 0)) {
        return TLTCP_ERR_INVAL;
    }
    (void)pthread_mutex_lock(&l->lock);
    room = live_wait(l, len + MEDIA_HEADER_LEN, live_patience(l, timeout_ms));
    rc = room;
    if (room == 0 || room == TLTCP_ERR_AGAIN) {
        s = live_stream_at(l, 0);
        rc = s ? tltcp_live_stream_write_ts(s, data, len, tltcp_now())
               : TLTCP_ERR_NOMEM;
        rc = rc < 0 ? rc : room;
        l->out.begun = true;
    }
    (void)pthread_mutex_unlock(&l->lock);
    tltcp__live_wake(l);
    return rc;
}

int tltcp_live_wait_room(tltcp_live *l, size_t len, int timeout_ms) {
    int rc;
    if (l->direction != TLTCP_LIVE_SEND) {
        return TLTCP_ERR_INVAL;
    }
    (void)pthread_mutex_lock(&l->lock);
    rc = live_wait(l, len + MEDIA_HEADER_LEN,
                   timeout_ms < 0 ? FOR_EVER : (uint64_t)timeout_ms);
    (void)pthread_mutex_unlock(&l->lock);
    return rc;
}

static void live_end_streams(tltcp_live *l) {
    for (size_t i = 0; i < LIVE_STREAMS; i++) {
        tltcp_live_stream *s = l->out.stream[i];
        tltcp_live_section *end;
        if (s == NULL) {
            continue;
        }
        (void)tltcp_live_stream_flush(s, NULL);
        end =
            tltcp_live_stream_mark(s, TLTCP_LIVE_MARK_END, TLTCP_LIVE_TIME_NONE,
                                   TLTCP_LIVE_TIME_NONE, NULL, 0);
        if (end) {
            live_push_all(l, end);
            tltcp_live_section_unref(end);
        }
    }
}

int tltcp_live_finish(tltcp_live *l, int timeout_ms) {
    bool was_over;
    int rc;
    if (l->direction != TLTCP_LIVE_SEND) {
        return TLTCP_ERR_INVAL;
    }
    (void)pthread_mutex_lock(&l->lock);
    was_over = l->out.error != 0;
    if (!l->out.finished) {
        l->out.finished = true;
        live_end_streams(l);
    }
    tltcp__live_wake(l);
    rc = live_wait(l, 0, timeout_ms < 0 ? FOR_EVER : (uint64_t)timeout_ms);
    if (rc == TLTCP_ERR_CLOSED && !was_over) {
        rc = 0; /* orderly, after the end */
    }
    (void)pthread_mutex_unlock(&l->lock);
    return rc == TLTCP_ERR_AGAIN ? TLTCP_ERR_TIMEOUT : rc;
}
