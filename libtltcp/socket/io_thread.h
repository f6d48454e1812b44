/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_SOCKET_IO_THREAD_H
#define TLTCP_SOCKET_IO_THREAD_H

#include "libtltcp/socket/state.h"

/* I/O threads: listeners have one each, callers share some. */

/* Provides an unshared thread (`own`), or a shared one. Returns 0 or a negative
 * tltcp_error. */
int tltcp__io_thread_acquire(struct tltcp__io_thread **out, bool own);
/* Releases it; the thread ends with its last user. */
void tltcp__io_thread_release(struct tltcp__io_thread *io);
/* False: it runs in the parent of this process, which has a copy of it. */
bool tltcp__io_thread_is_here(const struct tltcp__io_thread *io);
/* Runs a function on the thread, without the mutex, and waits for it. */
void tltcp__io_thread_run(struct tltcp__io_thread *io, void (*run)(void *arg),
                          void *arg);

#endif /* TLTCP_SOCKET_IO_THREAD_H */
