/* SPDX-License-Identifier: MPL-2.0 */
/* tltcp_close(), tltcp_reject(), tltcp_abort() and tltcp_shutdown(). */
#include "libtltcp/socket/close.h"

#include "libtltcp/socket/clock.h"
#include "libtltcp/socket/io_thread.h"
#include "libtltcp/socket/listen.h"
#include "libtltcp/socket/port.h"
#include "libtltcp/socket/readiness.h"
#include "libtltcp/socket/schedule.h"
#include "libtltcp/socket/socket.h"

/* Time for the engine's own end of lingering to reach us. */
#define GRACE (100 * TLTCP_MS)

/* Returns a connection to the I/O thread, which sends the remaining data and
 * frees it. Requires the mutex. */
static void close_give_back(tltcp_socket *s) {
    tltcp__release(s);
    while (!s->gone) {
        (void)tltcp__wait(s, &s->watchers, TLTCP_TIME_NEVER);
    }
}

static void close_free(tltcp_socket *s) {
    struct tltcp__port *port = s->port;

    tltcp__socket_free(s);
    tltcp__port_release(port);
}

static void close_abort(tltcp_socket *s, int error, const char *reason) {
    uv_mutex_lock(tltcp__mutex(s));
    if (!s->closed) {
        tltcp_conn_abort(tltcp__engine(s), error, reason, tltcp_now());
    }
    close_give_back(s);
    uv_mutex_unlock(tltcp__mutex(s));
    close_free(s);
}

void tltcp__abandon(tltcp_socket *s) {
    close_abort(s, TLTCP_ERR_ABORTED, NULL);
}

/* A child after fork() has a copy of the socket, but nothing that would serve
 * it. Its locks may be held for ever. */
static bool close_is_of_parent(const tltcp_socket *s) {
    return s != NULL && !tltcp__io_thread_is_here(s->port->io);
}

static int close_with(tltcp_socket *s, int error, const char *reason) {
    if (s != NULL && s->listener) {
        return TLTCP_ERR_INVAL;
    }
    if (close_is_of_parent(s)) {
        return TLTCP_ERR_STATE;
    }
    if (s != NULL) {
        close_abort(s, error, reason);
    }
    return 0;
}

int tltcp_reject(tltcp_socket *s, const char *reason) {
    return close_with(s, TLTCP_ERR_REFUSED, reason);
}

int tltcp_abort(tltcp_socket *s, const char *reason) {
    return close_with(s, TLTCP_ERR_ABORTED, reason);
}

/* Whether the fate of some section is unknown. */
static bool close_has_undelivered(tltcp_socket *s) {
    tltcp_stats st;

    tltcp_stats_init(&st);
    (void)tltcp_conn_get_stats(tltcp__engine(s), &st, tltcp_now());
    return st.sections_delivered + st.sections_partial + st.sections_expired <
           st.sections_offered;
}

/* Waits for the orderly end. Returns the result of tltcp_close(). */
static int close_drain(tltcp_socket *s, tltcp_time until) {
    tltcp_time patience =
        until == TLTCP_TIME_NEVER ? TLTCP_TIME_NEVER : until + GRACE;

    tltcp_conn_close(tltcp__engine(s), until, tltcp_now());
    tltcp__wake(s);
    while (!s->over && tltcp__wait(s, &s->watchers, patience)) {
    }
    if (s->closed && s->error == 0) {
        return 0;
    }
    return close_has_undelivered(s) || !s->closed ? TLTCP_ERR_TIMEOUT : 0;
}

/* Returns 0 if every section has its fate, else an error. May linger. */
static int close_end(tltcp_socket *s, int linger_ms) {
    bool undelivered = close_has_undelivered(s);

    if (s->closed) {
        return undelivered ? TLTCP_ERR_CLOSED : 0;
    }
    if (linger_ms == 0) {
        tltcp_conn_abort(tltcp__engine(s), TLTCP_ERR_ABORTED, NULL,
                         tltcp_now());
        return undelivered ? TLTCP_ERR_TIMEOUT : 0;
    }
    return close_drain(s, tltcp__until(linger_ms));
}

int tltcp_close(tltcp_socket *s, int linger_ms) {
    int rv;

    if (s == NULL) {
        return 0;
    }
    if (close_is_of_parent(s)) {
        return TLTCP_ERR_STATE;
    }
    if (s->listener) {
        tltcp__listener_close(s);
        return 0;
    }
    uv_mutex_lock(tltcp__mutex(s));
    rv = close_end(s, linger_ms);
    if (!s->over && !s->closed && linger_ms != 0) {
        tltcp_conn_abort(tltcp__engine(s), TLTCP_ERR_ABORTED, NULL,
                         tltcp_now());
    }
    close_give_back(s);
    uv_mutex_unlock(tltcp__mutex(s));
    close_free(s);
    return rv;
}

int tltcp_shutdown(tltcp_socket *s) {
    if (s == NULL || s->listener) {
        return TLTCP_ERR_INVAL;
    }
    uv_mutex_lock(tltcp__mutex(s));
    if (!s->finished) {
        s->finished = true;
        tltcp_conn_finish(tltcp__engine(s), tltcp_now());
        tltcp__after_call(s);
    }
    uv_mutex_unlock(tltcp__mutex(s));
    return 0;
}
