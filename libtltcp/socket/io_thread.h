/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_SOCKET_IO_THREAD_H
#define TLTCP_SOCKET_IO_THREAD_H

#include "libtltcp/socket/state.h"

/* I/O threads: listeners have one each, callers share some. */

/* Gives a thread of one's own, or one of those that are shared.  Returns 0 or
 * a negative tltcp_error. */
int tltcp__io_thread_acquire(struct tltcp__io_thread **out, bool own);
/* Gives it back; with its last user it ends. */
void tltcp__io_thread_release(struct tltcp__io_thread *io);
/* Runs a function on the thread, mutex free, and waits for it. */
void tltcp__io_thread_run(struct tltcp__io_thread *io, void (*run)(void *arg),
                          void *arg);

#endif /* TLTCP_SOCKET_IO_THREAD_H */
