/* SPDX-License-Identifier: MPL-2.0 */
/* A timer of a loop: a timerfd on Linux, uv_timer elsewhere. */
#include "internal/net/timer.h"

#if defined(__linux__)

#include <errno.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define S UINT64_C(1000000000)

static void timer_program(net__timer *t, uint64_t at) {
    struct itimerspec when;

    memset(&when, 0, sizeof(when));
    if (at != NET__NEVER) {
        at = at > 0 ? at : 1; /* 0 would disarm */
        when.it_value.tv_sec = (time_t)(at / S);
        when.it_value.tv_nsec = (long)(at % S);
    }
    t->at = at;
    (void)timerfd_settime(t->fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static void timer_on_poll(uv_poll_t *handle, int status, int events) {
    net__timer *t = handle->data;

    (void)status;
    (void)events;
    if (t->at == NET__NEVER) { /* not set again since it expired */
        timer_program(t, NET__NEVER);
        t->at = NET__NEVER; /* again: another thread may have set it meanwhile.
                               The loop sets it before it sleeps. */
        return;
    }
    t->at = NET__NEVER; /* setting it again makes it unreadable, so no read() is
                           needed */
    t->on_expiry(t->owner);
}

int net__timer_init(net__timer *t, uv_loop_t *loop, void (*on_expiry)(void *),
                    void *owner) {
    int rv;

    t->on_expiry = on_expiry;
    t->owner = owner;
    t->at = NET__NEVER;
    t->fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (t->fd < 0) {
        return uv_translate_sys_error(errno);
    }
    rv = uv_poll_init(loop, &t->handle, t->fd);
    if (rv != 0) {
        (void)close(t->fd);
        return rv;
    }
    t->handle.data = t;
    return uv_poll_start(&t->handle, UV_READABLE, timer_on_poll);
}

void net__timer_close(net__timer *t) {
    /* Close the handle first: uv_close() removes the descriptor's number from
     * the loop, and another thread may get that number as soon as it is
     * free. */
    uv_close((uv_handle_t *)&t->handle, NULL);
    (void)close(t->fd);
}

#else

static void timer_on_expiry(uv_timer_t *handle) {
    net__timer *t = handle->data;

    t->at = NET__NEVER;
    t->on_expiry(t->owner);
}

static void timer_program(net__timer *t, uint64_t at) {
    uint64_t now = uv_hrtime();
    uint64_t ms = at <= now ? 0 : (at - now + 999999) / 1000000;

    t->at = at;
    uv_update_time(t->handle.loop);
    (void)uv_timer_start(&t->handle, timer_on_expiry, ms, 0);
}

int net__timer_init(net__timer *t, uv_loop_t *loop, void (*on_expiry)(void *),
                    void *owner) {
    t->on_expiry = on_expiry;
    t->owner = owner;
    t->at = NET__NEVER;
    t->fd = -1;
    t->handle.data = t;
    return uv_timer_init(loop, &t->handle);
}

void net__timer_close(net__timer *t) {
    uv_close((uv_handle_t *)&t->handle, NULL);
}

#endif

void net__timer_set(net__timer *t, uint64_t at) {
    if (at < t->at) {
        timer_program(t, at);
    }
}

bool net__timer_set_remotely(net__timer *t, uint64_t at) {
#if defined(__linux__)
    net__timer_set(t, at); /* the loop need not wake for that */
    return true;
#else
    (void)t;
    (void)at;
    return false;
#endif
}
