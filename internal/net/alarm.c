/* SPDX-License-Identifier: MPL-2.0 */
#include "internal/net/alarm.h"

#if defined(__linux__)

#include <errno.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define S UINT64_C(1000000000)

static void program(net__alarm *a, uint64_t at) {
    struct itimerspec when;

    memset(&when, 0, sizeof(when));
    if (at != NET__NEVER) {
        at = at > 0 ? at : 1; /* 0 would disarm */
        when.it_value.tv_sec = (time_t)(at / S);
        when.it_value.tv_nsec = (long)(at % S);
    }
    a->at = at;
    (void)timerfd_settime(a->fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static void alarm_on_poll(uv_poll_t *handle, int status, int events) {
    net__alarm *a = handle->data;

    (void)status;
    (void)events;
    /* Setting it anew also makes it unreadable: no read() needed. */
    program(a, NET__NEVER);
    a->ring(a->owner);
}

int net__alarm_init(net__alarm *a, uv_loop_t *loop, void (*ring)(void *),
                    void *owner) {
    int rv;

    a->ring = ring;
    a->owner = owner;
    a->at = NET__NEVER;
    a->fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (a->fd < 0) {
        return uv_translate_sys_error(errno);
    }
    rv = uv_poll_init(loop, &a->handle, a->fd);
    if (rv != 0) {
        (void)close(a->fd);
        return rv;
    }
    a->handle.data = a;
    return uv_poll_start(&a->handle, UV_READABLE, alarm_on_poll);
}

void net__alarm_close(net__alarm *a) {
    (void)uv_poll_stop(&a->handle);
    (void)close(a->fd);
    uv_close((uv_handle_t *)&a->handle, NULL);
}

#else

static void on_timer(uv_timer_t *handle) {
    net__alarm *a = handle->data;

    a->at = NET__NEVER;
    a->ring(a->owner);
}

static void program(net__alarm *a, uint64_t at) {
    uint64_t now = uv_hrtime();
    uint64_t ms = at <= now ? 0 : (at - now + 999999) / 1000000;

    a->at = at;
    uv_update_time(a->handle.loop);
    (void)uv_timer_start(&a->handle, on_timer, ms, 0);
}

int net__alarm_init(net__alarm *a, uv_loop_t *loop, void (*ring)(void *),
                    void *owner) {
    a->ring = ring;
    a->owner = owner;
    a->at = NET__NEVER;
    a->fd = -1;
    a->handle.data = a;
    return uv_timer_init(loop, &a->handle);
}

void net__alarm_close(net__alarm *a) {
    uv_close((uv_handle_t *)&a->handle, NULL);
}

#endif

void net__alarm_set(net__alarm *a, uint64_t at) {
    if (at < a->at) {
        program(a, at);
    }
}
