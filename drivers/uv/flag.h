/* SPDX-License-Identifier: MPL-2.0 */
#ifndef DRIVERS_UV_FLAG_H
#define DRIVERS_UV_FLAG_H

#include <stdbool.h>

/* A condition as a descriptor: readable while raised, as poll(), libuv and GLib
 * want it.  Costs a system call only when the condition changes. */
typedef struct drv__flag {
    int fd;    /* to poll; -1: not open */
    int other; /* the writing end, where there is no eventfd */
    bool raised;
} drv__flag;

/* Returns 0 or UV_E... */
int drv__flag_open(drv__flag *f);
void drv__flag_close(drv__flag *f);
/* Nothing happens while it is not open. */
void drv__flag_set(drv__flag *f, bool raised);

#endif /* DRIVERS_UV_FLAG_H */
