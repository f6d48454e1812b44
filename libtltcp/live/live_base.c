/* SPDX-License-Identifier: MPL-2.0 */
/* Shared by reading, writing, opening and closing. */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "internal/common/sized.h"
#include "libtltcp/live/live_impl.h"

#define EVENTS_MAX 1024
#define NS_PER_MS UINT64_C(1000000)
#define POLL_MS_MAX 60000
#define SOON (5 * TLTCP_MS)

struct timespec tltcp__live_until(uint64_t ms) {
    struct timespec t;
    (void)clock_gettime(LIVE_CLOCK, &t);
    t.tv_sec += (time_t)(ms / 1000);
    t.tv_nsec += (long)(ms % 1000) * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

tltcp_time tltcp__live_soon(tltcp_time when) {
    tltcp_time soon = tltcp_now() + SOON;
    return soon < when ? soon : when;
}

/* -1: without end. */
static int live_poll_ms(tltcp_time until) {
    tltcp_time now = tltcp_now();
    uint64_t ms = until <= now ? 0 : (until - now) / NS_PER_MS + 1;
    if (until == TLTCP_TIME_NEVER) {
        return -1;
    }
    return ms < POLL_MS_MAX ? (int)ms : POLL_MS_MAX;
}

void tltcp__live_poll(struct pollfd *fds, nfds_t n, tltcp_time until) {
    for (nfds_t i = 0; i < n; i++) {
        if (fds[i].fd < 0) {
            until = tltcp__live_soon(until);
        }
    }
    (void)poll(fds, n, live_poll_ms(until));
}

const tltcp_live_settings *tltcp__live_settings(const tltcp_live *l) {
    return tltcp_live_options_settings(l->options);
}

void tltcp__live_keep_last(tltcp_live *l, const tltcp_socket *socket) {
    if (socket) {
        tltcp_stats_init(&l->last);
        l->has_last = tltcp_get_stats(socket, &l->last) == 0;
    }
}

/* ---- Events ---- */

static struct live_event *live_pop_event(struct live_events *e) {
    struct live_event *first = e->first;
    if (first) {
        e->first = first->next;
        e->last = e->first ? e->last : NULL;
        e->count--;
    }
    return first;
}

void tltcp__live_post(tltcp_live *l, const tltcp_live_event *ev) {
    struct live_events *e = &l->events;
    struct live_event *added = malloc(sizeof(*added));
    if (added == NULL) {
        return;
    }
    added->next = NULL;
    added->ev = *ev;
    added->ev.struct_size = sizeof(added->ev);
    (void)pthread_mutex_lock(&e->lock);
    if (e->last) {
        e->last->next = added;
    } else {
        e->first = added;
    }
    e->last = added;
    e->count++;
    if (e->count > EVENTS_MAX) {
        free(live_pop_event(e));
    }
    (void)pthread_cond_broadcast(&e->changed);
    (void)pthread_mutex_unlock(&e->lock);
}

int tltcp_live_next_event(tltcp_live *l, tltcp_live_event *ev, int timeout_ms) {
    struct live_events *e = &l->events;
    struct timespec end =
        tltcp__live_until(timeout_ms > 0 ? (uint64_t)timeout_ms : 0);
    struct live_event *first;
    int rc = 0;
    if (!cmn__sized_is_set(ev)) {
        return TLTCP_ERR_INVAL;
    }
    (void)pthread_mutex_lock(&e->lock);
    while (e->first == NULL && timeout_ms != 0 && rc == 0 &&
           !atomic_load(&l->interrupted)) {
        rc = timeout_ms < 0
                 ? pthread_cond_wait(&e->changed, &e->lock)
                 : pthread_cond_timedwait(&e->changed, &e->lock, &end);
    }
    first = live_pop_event(e);
    (void)pthread_mutex_unlock(&e->lock);
    if (first == NULL) {
        return atomic_load(&l->interrupted) ? TLTCP_ERR_ABORTED
                                            : TLTCP_ERR_AGAIN;
    }
    cmn__sized_give(ev, &first->ev, sizeof(first->ev));
    free(first);
    return 1;
}

void tltcp__live_wake(tltcp_live *l) {
    (void)!write(l->wake[1], "", 1);
}

void tltcp__live_woken(tltcp_live *l) {
    char bytes[64];
    while (read(l->wake[0], bytes, sizeof(bytes)) > 0) {
    }
}

void tltcp_live_interrupt(tltcp_live *l, bool on) {
    atomic_store(&l->interrupted, on);
    (void)pthread_mutex_lock(&l->events.lock);
    (void)pthread_cond_broadcast(&l->events.changed);
    (void)pthread_mutex_unlock(&l->events.lock);
    (void)pthread_mutex_lock(&l->lock);
    (void)pthread_cond_broadcast(&l->changed);
    (void)pthread_mutex_unlock(&l->lock);
    tltcp__live_wake(l);
}
