/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_SOCKET_EVENT_FD_H
#define TLTCP_SOCKET_EVENT_FD_H

#include <stdbool.h>

/* A condition as a descriptor: readable while raised, for poll(), libuv and
 * GLib. Costs a system call only when the condition changes. */
typedef struct tltcp__event_fd {
    int fd; /* to poll; -1: not open */
#if !defined(__linux__)
    int other; /* the writing end: there is no eventfd */
#endif
    bool raised;
} tltcp__event_fd;

/* Returns 0 or UV_E... */
int tltcp__event_fd_open(tltcp__event_fd *f);
void tltcp__event_fd_close(tltcp__event_fd *f);
/* Does nothing while it is not open. */
void tltcp__event_fd_set(tltcp__event_fd *f, bool raised);

#endif /* TLTCP_SOCKET_EVENT_FD_H */
