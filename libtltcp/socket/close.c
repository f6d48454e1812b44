/* SPDX-License-Identifier: MPL-2.0 */
#include "libtltcp/socket/sock.h"

/* Time for the engine's own end of lingering to reach us. */
#define GRACE (100 * TLTCP_MS)

/* Hands a connection back to the I/O thread, which sends what is to be sent and
 * lets go of it.  Under mx. */
static void close_give_back(tltcp_socket *s) {
    tltcp__let_go(s);
    while (!s->gone) {
        (void)tltcp__wait(s, &s->changed, &s->watchers, TLTCP_TIME_NEVER);
    }
}

static void free_connection(tltcp_socket *s) {
    struct tltcp__reactor *r = s->r;

    tltcp__socket_free(s);
    tltcp__reactor_release(r);
}

static void abort_for(tltcp_socket *s, int error, const char *reason) {
    uv_mutex_lock(&s->r->mx);
    if (!s->closed) {
        tltcp_conn_abort(tltcp__engine(s), error, reason, tltcp_now());
    }
    close_give_back(s);
    uv_mutex_unlock(&s->r->mx);
    free_connection(s);
}

void tltcp__abandon(tltcp_socket *s) {
    abort_for(s, TLTCP_ERR_ABORTED, NULL);
}

int tltcp_reject(tltcp_socket *s, const char *reason) {
    if (s != NULL && s->listener) {
        return TLTCP_ERR_INVAL;
    }
    if (s != NULL) {
        abort_for(s, TLTCP_ERR_REFUSED, reason);
    }
    return 0;
}

/* Bytes of which nobody knows that they arrived. */
static bool has_undelivered(tltcp_socket *s) {
    tltcp_stats st;

    tltcp_stats_init(&st);
    (void)tltcp_conn_get_stats(tltcp__engine(s), &st, tltcp_now());
    return st.sections_delivered + st.sections_partial + st.sections_expired <
           st.sections_offered;
}

/* Waits for the orderly end.  Returns what tltcp_close() does. */
static int drain(tltcp_socket *s, tltcp_time until) {
    tltcp_time patience =
        until == TLTCP_TIME_NEVER ? TLTCP_TIME_NEVER : until + GRACE;

    tltcp_conn_close(tltcp__engine(s), until, tltcp_now());
    tltcp__kick(s);
    while (!s->over && tltcp__wait(s, &s->changed, &s->watchers, patience)) {
    }
    if (s->closed && s->error == 0) {
        return 0;
    }
    return has_undelivered(s) || !s->closed ? TLTCP_ERR_TIMEOUT : 0;
}

/* Whether all had ended before the application closed. */
static int end_of(tltcp_socket *s, int linger_ms) {
    bool undelivered = has_undelivered(s);

    if (s->closed) {
        return undelivered ? TLTCP_ERR_CLOSED : 0;
    }
    if (linger_ms == 0) {
        tltcp_conn_abort(tltcp__engine(s), TLTCP_ERR_ABORTED, NULL,
                         tltcp_now());
        return undelivered ? TLTCP_ERR_TIMEOUT : 0;
    }
    return drain(s, tltcp__until(linger_ms));
}

int tltcp_close(tltcp_socket *s, int linger_ms) {
    int rv;

    if (s == NULL) {
        return 0;
    }
    if (s->listener) {
        tltcp__listener_close(s);
        return 0;
    }
    uv_mutex_lock(&s->r->mx);
    rv = end_of(s, linger_ms);
    if (!s->over && !s->closed && linger_ms != 0) {
        tltcp_conn_abort(tltcp__engine(s), TLTCP_ERR_ABORTED, NULL,
                         tltcp_now());
    }
    close_give_back(s);
    uv_mutex_unlock(&s->r->mx);
    free_connection(s);
    return rv;
}

int tltcp_shutdown(tltcp_socket *s) {
    if (s == NULL || s->listener) {
        return TLTCP_ERR_INVAL;
    }
    uv_mutex_lock(&s->r->mx);
    if (!s->finished) {
        s->finished = true;
        tltcp_conn_finish(tltcp__engine(s), tltcp_now());
        tltcp__after_call(s);
    }
    uv_mutex_unlock(&s->r->mx);
    return 0;
}
