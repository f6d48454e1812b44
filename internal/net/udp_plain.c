/* SPDX-License-Identifier: MPL-2.0 */
/* uv_udp, for systems without the faster calls.  It reports neither ECN
 * codepoints nor the local address of a datagram. */
#include "internal/net/udp_plain.h"

#include <stdlib.h>
#include <string.h>

#include "internal/net/udp_impl.h"

struct plain {
    net__udp base;
    uv_udp_t udp;
    uv_timer_t again;      /* starts reading again */
    uv_udp_send_t waiting; /* the datagram that the kernel did not accept */
    bool closed;
    unsigned handles; /* that the loop has not closed */
    uint8_t *room;
};

static void plain_on_alloc(uv_handle_t *handle, size_t suggested,
                           uv_buf_t *buf) {
    struct plain *p = handle->data;

    (void)suggested;
    *buf = uv_buf_init((char *)p->room, (unsigned)NET__BURST_MAX);
}

static void plain_on_recv(uv_udp_t *udp, ssize_t n, const uv_buf_t *buf,
                          const struct sockaddr *from, unsigned flags);

static void plain_on_again(uv_timer_t *again) {
    struct plain *p = again->data;

    (void)uv_udp_recv_start(&p->udp, plain_on_alloc, plain_on_recv);
}

/* After an error libuv stops reading on Windows. One that an ICMP message
 * caused, which anybody may forge, says nothing about later datagrams. Reading
 * starts again after this callback: where the next receive fails at once, libuv
 * 1.44 would queue a request twice, and never close the handle. */
static void plain_read_on(struct plain *p, int error) {
    if (error == UV_ECONNREFUSED || error == UV_EHOSTUNREACH ||
        error == UV_ENETUNREACH) {
        (void)uv_timer_start(&p->again, plain_on_again, 0, 0);
    }
}

static void plain_on_recv(uv_udp_t *udp, ssize_t n, const uv_buf_t *buf,
                          const struct sockaddr *from, unsigned flags) {
    struct plain *p = udp->data;
    net__route route;
    net__burst b = {.route = &route, .data = (const uint8_t *)buf->base};

    if (n < 0) {
        plain_read_on(p, (int)n);
        p->base.ops.on_error(p->base.owner, (int)n);
        return;
    }
    if (n == 0 || from == NULL || (flags & UV_UDP_PARTIAL) != 0) {
        return;
    }
    memset(&route, 0, sizeof(route));
    memcpy(&route.remote, from,
           from->sa_family == AF_INET6 ? sizeof(route.remote.in6)
                                       : sizeof(route.remote.in4));
    b.len = (size_t)n;
    b.segment = b.len;
    p->base.ops.on_bursts(p->base.owner, &b, 1);
}

static const struct sockaddr *plain_target(const struct net__udp_entry *e) {
    return e->routed ? &e->route.remote.sa : NULL;
}

static uv_buf_t plain_datagram(const struct plain *p) {
    const struct net__udp_entry *e = &p->base.queue[p->base.first];

    return uv_buf_init((char *)p->base.arena + e->at,
                       (unsigned)net__udp_datagram(e));
}

static void plain_drop(struct plain *p, int status) {
    net__udp_advance(&p->base,
                     net__udp_datagram(&p->base.queue[p->base.first]));
    if (status == UV_EMSGSIZE) {
        p->base.too_big++;
    } else if (status != 0) {
        p->base.ops.on_error(p->base.owner, status);
    }
}

static void plain_on_sent(uv_udp_send_t *request, int status) {
    struct plain *p = request->data;

    if (p->closed) {
        return;
    }
    p->base.blocked = false;
    plain_drop(p, status);
    if (net__udp_flush(&p->base)) {
        p->base.ops.on_writable(p->base.owner);
    }
}

static bool plain_flush(net__udp *u) {
    struct plain *p = (struct plain *)u;

    while (u->first < u->count) {
        const struct net__udp_entry *e = &u->queue[u->first];
        uv_buf_t buf = plain_datagram(p);
        int rv = uv_udp_try_send(&p->udp, &buf, 1, plain_target(e));

        /* libuv waits for writability only while a datagram is queued. */
        if (rv == UV_EAGAIN) {
            p->waiting.data = p;
            rv = uv_udp_send(&p->waiting, &p->udp, &buf, 1, plain_target(e),
                             plain_on_sent);
            if (rv == 0) {
                return false;
            }
        }
        plain_drop(p, rv < 0 ? rv : 0);
    }
    return true;
}

static int plain_connect(net__udp *u, const net__addr *to) {
    struct plain *p = (struct plain *)u;
    net__addr peer = *to;

    if (u->connected) {
        (void)uv_udp_connect(&p->udp, NULL);
    }
    if (u->family == AF_INET6) {
        net__addr_map(&peer);
    }
    return uv_udp_connect(&p->udp, &peer.sa);
}

static int plain_local(const net__udp *u, net__addr *a) {
    const struct plain *p = (const struct plain *)u;
    int len = sizeof(*a);

    memset(a, 0, sizeof(*a));
    return uv_udp_getsockname(&p->udp, &a->sa, &len);
}

static int plain_fileno(const net__udp *u) {
    const struct plain *p = (const struct plain *)u;
    uv_os_fd_t fd;

    if (uv_fileno((const uv_handle_t *)&p->udp, &fd) != 0) {
        return -1;
    }
    return (int)(intptr_t)fd; /* on Windows a handle, of 32 bits in use */
}

static void plain_on_closed(uv_handle_t *handle) {
    struct plain *p = handle->data;

    if (--p->handles == 0) {
        free(p->room);
        net__udp_free(&p->base);
    }
}

static void plain_close(net__udp *u) {
    struct plain *p = (struct plain *)u;

    p->closed = true;
    uv_close((uv_handle_t *)&p->udp, plain_on_closed);
    uv_close((uv_handle_t *)&p->again, plain_on_closed);
}

static const struct net__udp_impl plain_impl = {.connect = plain_connect,
                                                .local = plain_local,
                                                .fileno = plain_fileno,
                                                .flush = plain_flush,
                                                .close = plain_close};

static int plain_start(struct plain *p, const net__udp_options *o) {
    net__addr any;
    int rv;

    /* By default, libuv binds to IPv4 on Windows for every family. */
    memset(&any, 0, sizeof(any));
    any.sa.sa_family = p->base.family == AF_INET6 ? AF_INET6 : AF_INET;
    rv = uv_udp_bind(&p->udp, o->bind != NULL ? &o->bind->sa : &any.sa,
                     o->shared ? UV_UDP_REUSEADDR : 0);
    if (rv == 0) {
        int fd = plain_fileno(&p->base);
        if (fd >= 0) {
            net__udp_tune(fd, p->base.family, o->buffer);
        }
        rv = uv_udp_recv_start(&p->udp, plain_on_alloc, plain_on_recv);
    }
    return rv;
}

int net__udp_plain_open(net__udp **u, uv_loop_t *loop,
                        const net__udp_options *o) {
    struct plain *p = calloc(1, sizeof(*p));
    int family = o->bind != NULL ? o->bind->sa.sa_family : o->family;
    int rv;

    if (p == NULL) {
        return UV_ENOMEM;
    }
    p->room = malloc(NET__BURST_MAX);
    rv = net__udp_init(&p->base, &plain_impl, loop, o);
    if (rv == 0 && p->room == NULL) {
        rv = UV_ENOMEM;
    }
    if (rv == 0) {
        rv = uv_udp_init_ex(loop, &p->udp, (unsigned)family);
    }
    if (rv != 0) {
        free(p->room);
        net__udp_free(&p->base);
        return rv;
    }
    (void)uv_timer_init(loop, &p->again); /* cannot fail */
    p->handles = 2;
    p->udp.data = p;
    p->again.data = p;
    rv = plain_start(p, o);
    if (rv != 0) {
        plain_close(&p->base);
        return rv;
    }
    *u = &p->base;
    return 0;
}
