/* SPDX-License-Identifier: MPL-2.0 */
/* Opens TCP sockets. */
#include "libtltcp/tcp/stream_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include <unistd.h>

int tltcp__stream_prepare(int fd) {
    int flags = fcntl(fd, F_GETFL);

    return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0 ||
                   fcntl(fd, F_SETFD, FD_CLOEXEC) != 0
               ? uv_translate_sys_error(errno)
               : 0;
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
    int fd = socket(family, SOCK_STREAM, IPPROTO_TCP);
    int rv;

    if (fd < 0) {
        return uv_translate_sys_error(errno);
    }
    rv = tltcp__stream_prepare(fd);
    if (rv == 0 && bind != NULL) {
        rv = stream_bind(fd, bind);
    }
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
