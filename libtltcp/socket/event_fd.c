/* SPDX-License-Identifier: MPL-2.0 */
/* A condition as a descriptor for poll(). */
#include "libtltcp/socket/event_fd.h"

#include <stdint.h>

#include <uv.h>

#if defined(__linux__)
#include <errno.h>
#include <sys/eventfd.h>
#endif
#if !defined(_WIN32)
#include <unistd.h>
#endif

#if defined(__linux__)

int tltcp__event_fd_open(tltcp__event_fd *f) {
    f->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    f->raised = false;
    return f->fd >= 0 ? 0 : uv_translate_sys_error(errno);
}

void tltcp__event_fd_close(tltcp__event_fd *f) {
    if (f->fd >= 0) {
        (void)close(f->fd);
    }
    f->fd = -1;
}

static void event_fd_raise(const tltcp__event_fd *f) {
    uint64_t one = 1;

    (void)!write(f->fd, &one, sizeof(one));
}

static void event_fd_lower(const tltcp__event_fd *f) {
    uint64_t count;

    (void)!read(f->fd, &count, sizeof(count));
}

#else

/* A pair of sockets: the only kind of descriptor that can be polled everywhere.
 */
int tltcp__event_fd_open(tltcp__event_fd *f) {
    uv_os_sock_t pair[2];
    int rv =
        uv_socketpair(SOCK_STREAM, 0, pair, UV_NONBLOCK_PIPE, UV_NONBLOCK_PIPE);

    f->raised = false;
    f->fd = rv == 0 ? (int)pair[0] : -1;
    f->other = rv == 0 ? (int)pair[1] : -1;
    return rv;
}

static void event_fd_close_end(int fd) {
#if defined(_WIN32)
    (void)closesocket((SOCKET)fd);
#else
    (void)close(fd);
#endif
}

void tltcp__event_fd_close(tltcp__event_fd *f) {
    if (f->fd >= 0) {
        event_fd_close_end(f->fd);
        event_fd_close_end(f->other);
    }
    f->fd = -1;
}

static void event_fd_raise(const tltcp__event_fd *f) {
    (void)send((uv_os_sock_t)f->other, "", 1, 0);
}

static void event_fd_lower(const tltcp__event_fd *f) {
    char byte;

    (void)recv((uv_os_sock_t)f->fd, &byte, 1, 0);
}

#endif

void tltcp__event_fd_set(tltcp__event_fd *f, bool raised) {
    if (f->fd < 0 || f->raised == raised) {
        return;
    }
    f->raised = raised;
    if (raised) {
        event_fd_raise(f);
    } else {
        event_fd_lower(f);
    }
}
