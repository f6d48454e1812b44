/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NET_TIMER_H
#define NET_TIMER_H

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

/* One timer of a loop. libuv's timers have millisecond resolution; on Linux
 * this one is a timerfd and expires within tens of microseconds. */

#define NET__NEVER UINT64_MAX

typedef struct net__timer {
    void (*on_expiry)(void *owner);
    void *owner;
    _Atomic uint64_t at; /* next expiry, by uv_hrtime() */
    int fd;
#if defined(__linux__)
    uv_poll_t handle;
#else
    uv_timer_t handle;
#endif
} net__timer;

/* Accuracy of a wake-up in microseconds. */
#if defined(__linux__)
#define NET__TIMER_GRANULARITY_US 250u
#else
#define NET__TIMER_GRANULARITY_US 1000u
#endif

/* Returns 0 or UV_E... */
int net__timer_init(net__timer *t, uv_loop_t *loop, void (*on_expiry)(void *),
                    void *owner);
/* Expires at `at` or earlier: a later time than the current one is ignored, so
 * a busy connection can postpone its timer without a system call. */
void net__timer_set(net__timer *t, uint64_t at);
/* The same from another thread, while nobody else sets the timer. The loop
 * calls on_expiry, or wakes before. False: not possible on this system. */
bool net__timer_set_remotely(net__timer *t, uint64_t at);
void net__timer_close(net__timer *t);

#endif /* NET_TIMER_H */
