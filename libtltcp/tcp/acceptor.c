/* SPDX-License-Identifier: MPL-2.0 */
/* A listening TCP socket. */
#include "libtltcp/tcp/acceptor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include "libtltcp/tcp/stream_socket.h"

#define BACKLOG 4096
#define ACCEPTS 32 /* per wake-up, so that connections have their turn */
/* Without descriptors or memory, connections wait for this long, */
#define PAUSE_MS 100
/* or for this long, if others have just yielded theirs. */
#define SHORT_PAUSE_MS 2

struct tltcp__acceptor {
    uv_poll_t poll;
    uv_timer_t pause;
    int fd;
    unsigned handles; /* of libuv, not yet closed */
    bool closed;
    const tltcp__acceptor_ops *ops;
    void *owner;
};

static void acceptor_on_poll(uv_poll_t *poll, int status, int events);

static void acceptor_start(tltcp__acceptor *a) {
    (void)uv_poll_start(&a->poll, UV_READABLE, acceptor_on_poll);
}

static void acceptor_on_pause(uv_timer_t *timer) {
    acceptor_start(timer->data);
}

static void acceptor_give(tltcp__acceptor *a, int fd, const net__addr *from) {
    net__route route;
    net__addr local;

    memset(&route, 0, sizeof(route));
    if (tltcp__stream_local(fd, &local) != 0) {
        (void)close(fd);
        return;
    }
    route.remote = *from;
    net__addr_ip(&local, &route.local);
    a->ops->on_connection(a->owner, fd, &route);
}

static void acceptor_wait(tltcp__acceptor *a) {
    uint64_t pause = a->ops->on_scarce(a->owner) ? SHORT_PAUSE_MS : PAUSE_MS;

    (void)uv_poll_stop(&a->poll);
    (void)uv_timer_start(&a->pause, acceptor_on_pause, pause, 0);
}

static void acceptor_on_poll(uv_poll_t *poll, int status, int events) {
    tltcp__acceptor *a = poll->data;

    (void)status; /* as accept() says */
    (void)events;
    for (int i = 0; i < ACCEPTS && !a->closed; i++) {
        net__addr from;
        int fd = tltcp__stream_accept(a->fd, &from);

        if (fd >= 0) {
            acceptor_give(a, fd, &from);
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            return;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            acceptor_wait(a);
            return;
        }
    }
}

static int acceptor_new(tltcp__acceptor **out, uv_loop_t *loop, int fd) {
    tltcp__acceptor *a = calloc(1, sizeof(*a));
    int rv = a != NULL ? uv_poll_init(loop, &a->poll, fd) : UV_ENOMEM;

    if (rv != 0) {
        free(a);
        return rv;
    }
    (void)uv_timer_init(loop, &a->pause);
    a->handles = 2;
    a->poll.data = a;
    a->pause.data = a;
    a->fd = fd;
    *out = a;
    return 0;
}

int tltcp__acceptor_open(tltcp__acceptor **out, uv_loop_t *loop,
                         const net__addr *bind, const tltcp__acceptor_ops *ops,
                         void *owner) {
    tltcp__acceptor *a = NULL;
    int fd = -1;
    int rv = tltcp__stream_open(&fd, bind->sa.sa_family, bind);

    if (rv != 0) {
        return rv;
    }
    rv = listen(fd, BACKLOG) == 0 ? 0 : uv_translate_sys_error(errno);
    if (rv == 0) {
        rv = acceptor_new(&a, loop, fd);
    }
    if (rv != 0) {
        (void)close(fd);
        return rv;
    }
    a->ops = ops;
    a->owner = owner;
    acceptor_start(a);
    *out = a;
    return 0;
}

int tltcp__acceptor_local(const tltcp__acceptor *a, net__addr *local) {
    return tltcp__stream_local(a->fd, local);
}

static void acceptor_on_handle_closed(uv_handle_t *handle) {
    tltcp__acceptor *a = handle->data;

    if (--a->handles == 0) {
        (void)close(a->fd);
        free(a);
    }
}

void tltcp__acceptor_close(tltcp__acceptor *a) {
    a->closed = true;
    uv_close((uv_handle_t *)&a->poll, acceptor_on_handle_closed);
    uv_close((uv_handle_t *)&a->pause, acceptor_on_handle_closed);
}
