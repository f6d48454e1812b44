/* SPDX-License-Identifier: MPL-2.0 */
/* Opens and closes live senders and receivers. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libtltcp/live/live_impl.h"
#include "libtltcp/live/options.h"

/* ---- Beginning and end ---- */

/* Runs on the listener's thread.  An accepted caller may still fail the
 * handshake. */
static bool live_on_caller(void *user, const tltcp_caller *caller,
                           char *reason) {
    tltcp_live *l = user;
    const char *wanted = tltcp_live_options_config(l->options)->stream_id;
    const char *no = NULL;
    if (wanted && strcmp(wanted, caller->stream_id) != 0) {
        no = "no stream of that name here";
    } else if (l->direction == TLTCP_LIVE_RECEIVE && atomic_load(&l->busy)) {
        no = TLTCP_LIVE_BUSY;
    }
    if (no) {
        (void)snprintf(reason, TLTCP_REASON_MAX + 1, "%s", no);
    }
    return no == NULL;
}

static bool live_init_cond(pthread_cond_t *c) {
    pthread_condattr_t a;
    bool ok = pthread_condattr_init(&a) == 0;
    if (ok) {
#ifndef __APPLE__
        (void)pthread_condattr_setclock(&a, LIVE_CLOCK);
#endif
        ok = pthread_cond_init(c, &a) == 0;
        (void)pthread_condattr_destroy(&a);
    }
    return ok;
}

static bool live_init_wake(tltcp_live *l) {
    if (pipe(l->wake) != 0) {
        return false;
    }
    for (int i = 0; i < 2; i++) {
        (void)fcntl(l->wake[i], F_SETFD, FD_CLOEXEC);
        (void)fcntl(l->wake[i], F_SETFL, O_NONBLOCK);
    }
    return true;
}

static tltcp_live *live_new(int direction) {
    tltcp_live *l = calloc(1, sizeof(*l));
    if (l == NULL) {
        return NULL;
    }
    l->direction = direction;
    l->wake[0] = l->wake[1] = -1;
    tltcp_live_stats_init(&l->departed);
    (void)pthread_mutex_init(&l->lock, NULL);
    (void)pthread_mutex_init(&l->events.lock, NULL);
    if (!live_init_cond(&l->changed) || !live_init_cond(&l->events.changed) ||
        !live_init_wake(l)) {
        free(l);
        return NULL;
    }
    return l;
}

static void live_free(tltcp_live *l) {
    tltcp_live_event ev;
    tltcp_live_event_init(&ev);
    tltcp_live_link_free(l->link);
    while (tltcp_live_next_event(l, &ev, 0) == 1) {
    }
    (void)close(l->wake[0]);
    (void)close(l->wake[1]);
    (void)pthread_cond_destroy(&l->changed);
    (void)pthread_cond_destroy(&l->events.changed);
    (void)pthread_mutex_destroy(&l->lock);
    (void)pthread_mutex_destroy(&l->events.lock);
    tltcp_live_options_free(l->options);
    free(l);
}

/* From the link, without the lock.  Store the error before posting the event.
 */
static void live_on_link_event(void *user, const tltcp_live_event *ev) {
    tltcp_live *l = user;
    if (ev->final) {
        (void)pthread_mutex_lock(&l->lock);
        l->out.error = ev->error;
        (void)pthread_mutex_unlock(&l->lock);
    }
    if (ev->type == TLTCP_LIVE_EVENT_CONNECTED &&
        l->direction == TLTCP_LIVE_SEND) {
        l->out.connected = *ev; /* posted once frames are sent to it */
    } else {
        tltcp__live_post(l, ev);
    }
}

static int live_start(tltcp_live *l, char *why) {
    static const uint8_t *const nobody[] = {NULL};
    tltcp_config config = *tltcp_live_options_config(l->options);
    int rc;
    if (config.listener.on_caller == NULL) {
        if (config.identity.secret && !config.identity.callers) {
            config.identity.callers = nobody;
        }
        config.listener.on_caller = live_on_caller;
        config.user = l;
    }
    rc = tltcp_live_link_new(&l->link, tltcp__live_settings(l), &config,
                             live_on_link_event, l);
    if (rc == 0 && l->direction == TLTCP_LIVE_SEND) {
        rc = tltcp__live_output_start(l, NULL);
    }
    if (rc < 0) {
        (void)tltcp__live_say(why, "%s", tltcp_strerror(rc));
    }
    return rc;
}

static bool live_is_direction(int direction) {
    return direction == TLTCP_LIVE_SEND || direction == TLTCP_LIVE_RECEIVE;
}

int tltcp_live_open(tltcp_live **out, int direction, tltcp_live_options *o,
                    char *why) {
    tltcp_live *l;
    int rc;
    if (why) {
        why[0] = '\0';
    }
    if (out == NULL || o == NULL || !live_is_direction(direction)) {
        return tltcp__live_say(why, "a direction and options are needed");
    }
    *out = NULL;
    rc = tltcp_live_options_check(o, why);
    if (rc < 0) {
        return rc;
    }
    l = live_new(direction);
    if (l == NULL) {
        (void)tltcp__live_say(why, "%s", tltcp_strerror(TLTCP_ERR_NOMEM));
        return TLTCP_ERR_NOMEM;
    }
    l->options = o;
    rc = live_start(l, why);
    if (rc < 0) {
        l->options = NULL;
        live_free(l);
        return rc;
    }
    *out = l;
    return 0;
}

static void live_stop(tltcp_live *l, int linger_ms) {
    if (l->direction == TLTCP_LIVE_SEND) {
        tltcp__live_output_stop(l, linger_ms);
    } else {
        tltcp__live_input_stop(l, linger_ms);
    }
    live_free(l);
}

int tltcp_live_open_socket(tltcp_live **out, int direction, tltcp_socket *s,
                           tltcp_live_options *o) {
    tltcp_live *l = NULL;
    bool good = out && s && live_is_direction(direction);
    int rc = good ? TLTCP_ERR_NOMEM : TLTCP_ERR_INVAL;
    if (out) {
        *out = NULL;
    }
    o = o ? o : tltcp_live_options_new();
    if (o && good) {
        l = live_new(direction);
    }
    if (l == NULL) {
        tltcp_live_options_free(o);
        (void)tltcp_close(s, 0);
        return rc;
    }
    l->options = o;
    tltcp_live_options_settings(o)->listens = false;
    tltcp_live_options_settings(o)->reconnect = false;
    rc = direction == TLTCP_LIVE_SEND ? tltcp__live_output_start(l, s)
                                      : tltcp__live_input_start(l, s);
    if (rc < 0) {
        live_stop(l, 0);
        return rc;
    }
    *out = l;
    return 0;
}

void tltcp_live_close(tltcp_live *l, int linger_ms) {
    if (l) {
        live_stop(l, linger_ms);
    }
}

void tltcp_live_abort(tltcp_live *l, const char *reason) {
    if (l) {
        tltcp__live_input_abort(l, reason);
        live_stop(l, 0);
    }
}

int tltcp_live_local_address(tltcp_live *l, struct sockaddr *sa,
                             socklen_t *len) {
    tltcp_socket *s = l->link ? tltcp_live_link_listener(l->link) : NULL;
    return s ? tltcp_local_address(s, sa, len) : TLTCP_ERR_INVAL;
}
