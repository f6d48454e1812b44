/* SPDX-License-Identifier: MPL-2.0 */
#ifndef DRIVERS_UV_ALARM_H
#define DRIVERS_UV_ALARM_H

#include <stdint.h>

#include <uv.h>

/* One timer of a loop.  libuv's own count milliseconds; on Linux this one is a
 * timerfd and wakes within tens of microseconds. */

#define NET__NEVER UINT64_MAX

typedef struct net__alarm {
    void (*ring)(void *owner);
    void *owner;
    uint64_t at; /* when it will ring, by uv_hrtime() */
    int fd;
#if defined(__linux__)
    uv_poll_t handle;
#else
    uv_timer_t handle;
#endif
} net__alarm;

/* How exactly it wakes, in microseconds. */
#if defined(__linux__)
#define NET__ALARM_GRAIN_US 250u
#else
#define NET__ALARM_GRAIN_US 1000u
#endif

/* Returns 0 or UV_E... */
int net__alarm_init(net__alarm *a, uv_loop_t *loop, void (*ring)(void *),
                    void *owner);
/* It may ring early: one that is set later again and again, as those of a busy
 * connection, then costs nothing. */
void net__alarm_set(net__alarm *a, uint64_t at);
void net__alarm_close(net__alarm *a);

#endif /* DRIVERS_UV_ALARM_H */
