/* SPDX-License-Identifier: MPL-2.0 */
/* Opens TCP sockets. */
#include "libtltcp/tcp/stream_socket.h"

#include <errno.h>
#if !defined(SOCK_CLOEXEC)
#include <fcntl.h>
#endif
#include <string.h>

#include <unistd.h>

#if defined(SOCK_CLOEXEC)

/* At once: another thread may start a program at any time. */
static int stream_socket(int family) {
    return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
                  IPPROTO_TCP);
}

static int stream_accept(int fd, struct sockaddr *from, socklen_t *len) {
    return accept4(fd, from, len, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

#else

/* Returns fd. After an error, closes it, sets errno and returns -1. */
static int stream_prepare(int fd) {
    int flags = fd >= 0 ? fcntl(fd, F_GETFL) : -1;
    int error;

    if (flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0 &&
        fcntl(fd, F_SETFD, FD_CLOEXEC) == 0) {
        return fd;
    }
    error = errno;
    if (fd >= 0) {
        (void)close(fd);
    }
    errno = error;
    return -1;
}

static int stream_socket(int family) {
    return stream_prepare(socket(family, SOCK_STREAM, IPPROTO_TCP));
}

static int stream_accept(int fd, struct sockaddr *from, socklen_t *len) {
    return stream_prepare(accept(fd, from, len));
}

#endif

int tltcp__stream_accept(int fd, net__addr *from) {
    socklen_t len = sizeof(*from);

    memset(from, 0, sizeof(*from));
    return stream_accept(fd, &from->sa, &len);
}

/* IPv6 sockets serve IPv4 as well, as those of UDP do. */
static int stream_bind(int fd, const net__addr *bind_to) {
    int on = 1;
    int off = 0;

    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind_to->sa.sa_family == AF_INET6) {
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    }
    return bind(fd, &bind_to->sa, net__addr_len(bind_to)) == 0
               ? 0
               : uv_translate_sys_error(errno);
}

int tltcp__stream_open(int *out, int family, const net__addr *bind) {
    int fd = stream_socket(family);
    int rv;

    if (fd < 0) {
        return uv_translate_sys_error(errno);
    }
    rv = bind != NULL ? stream_bind(fd, bind) : 0;
    if (rv != 0) {
        (void)close(fd);
        return rv;
    }
    *out = fd;
    return 0;
}

int tltcp__stream_local(int fd, net__addr *a) {
    socklen_t len = sizeof(*a);

    memset(a, 0, sizeof(*a));
    return getsockname(fd, &a->sa, &len) == 0 ? 0
                                              : uv_translate_sys_error(errno);
}
