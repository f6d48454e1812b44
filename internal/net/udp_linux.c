/* SPDX-License-Identifier: MPL-2.0 */
/* UDP on Linux: opens, receives with recvmmsg() and UDP_GRO. */
#include "internal/net/udp_linux.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal/net/udp_linux_send.h"

/* Calls of recvmmsg() per turn of the loop. */
#define ROUNDS 4
/* Bytes of one call from which on each slot has its own memory, so that their
 * user may keep some. Sockets with little traffic have one block, most of which
 * is never touched. */
#define MUCH ((size_t)128 * 1024)
/* Slots are spaced so that equal offsets do not share cache sets. */
#define SLOT_ALIGN 64u

/* Watches for readability, and for writability while blocked. */
static void linux_watch(struct net__udp_linux *f);

/* --- Receiving ----------------------------------------------------------- */

static void linux_take_control(struct net__udp_linux *f, unsigned i,
                               net__burst *b) {
    struct msghdr *m = &f->in[i].msg_hdr;

    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c != NULL;
         c = CMSG_NXTHDR(m, c)) {
        const uint8_t *data = CMSG_DATA(c);
        int value = 0;

        if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS) {
            b->ecn = data[0] & 3u;
        } else if (c->cmsg_level == IPPROTO_IPV6 &&
                   c->cmsg_type == IPV6_TCLASS) {
            memcpy(&value, data, sizeof(value));
            b->ecn = (uint32_t)value & 3u;
        } else if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_GRO) {
            memcpy(&value, data, sizeof(value));
            b->segment = value > 0 ? (size_t)value : b->len;
        } else if (c->cmsg_level == IPPROTO_IPV6 &&
                   c->cmsg_type == IPV6_PKTINFO) {
            memcpy(&f->in_route[i].local, data, sizeof(struct in6_addr));
        } else if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
            struct in_pktinfo four;
            net__addr a = {.in4 = {.sin_family = AF_INET}};

            memcpy(&four, data, sizeof(four));
            a.in4.sin_addr = four.ipi_addr;
            net__addr_ip(&a, &f->in_route[i].local);
        }
    }
}

/* Gives each slot its own memory; without memory all stays as it is. */
static void linux_separate(struct net__udp_linux *f) {
    void *own[LINUX__IN];
    unsigned n = 0;

    while (n < f->slots && (own[n] = malloc(f->slot)) != NULL) {
        n++;
    }
    if (n < f->slots) {
        while (n > 0) {
            free(own[--n]);
        }
        return;
    }
    for (unsigned i = 0; i < f->slots; i++) {
        f->in_iov[i].iov_base = own[i];
    }
    free(f->room);
    f->room = NULL;
}

static void linux_deliver(struct net__udp_linux *f, unsigned count) {
    size_t n = 0;
    size_t bytes = 0;

    for (unsigned i = 0; i < count; i++) {
        net__burst *b = &f->bursts[n];
        size_t len = f->in[i].msg_len;

        if (len == 0 || (f->in[i].msg_hdr.msg_flags & MSG_TRUNC) != 0) {
            continue; /* empty, or longer than the buffer */
        }
        memset(&f->in_route[i].local, 0, sizeof(f->in_route[i].local));
        *b = (net__burst){.route = &f->in_route[i],
                          .data = f->in_iov[i].iov_base,
                          .len = len,
                          .segment = len,
                          .room =
                              f->room == NULL ? &f->in_iov[i].iov_base : NULL};
        linux_take_control(f, i, b);
        bytes += len;
        n++;
    }
    if (n > 0) {
        f->base.ops.on_bursts(f->base.owner, f->bursts, n);
    }
    if (bytes >= MUCH && f->gro && f->room != NULL) {
        linux_separate(f);
    }
}

static int linux_receive(struct net__udp_linux *f) {
    for (unsigned i = 0; i < f->slots; i++) {
        f->in[i].msg_hdr.msg_namelen = sizeof(f->in_route[i].remote);
        f->in[i].msg_hdr.msg_controllen = sizeof(f->in_control[i]);
    }
    return recvmmsg(f->fd, f->in, f->slots, MSG_DONTWAIT, NULL);
}

static void linux_read(struct net__udp_linux *f) {
    for (int round = 0; round < ROUNDS; round++) {
        int n = linux_receive(f);

        if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK &&
            errno != EINTR) {
            net__udp_linux_report(f, errno);
        }
        if (n > 0) {
            linux_deliver(f, (unsigned)n);
        }
        if (n < (int)f->slots || f->fd < 0) {
            break; /* empty, or closed by the owner */
        }
    }
}

static void linux_on_poll(uv_poll_t *poll, int status, int events) {
    struct net__udp_linux *f = poll->data;

    if (status < 0 || (events & UV_READABLE) != 0) {
        linux_read(f); /* reading reports the error, such as a refusal */
    }
    if (status < 0) {
        linux_watch(f); /* libuv stops at errors */
    }
    if (f->base.blocked && (events & UV_WRITABLE) != 0) {
        f->base.blocked = false;
        if (net__udp_flush(&f->base)) {
            f->base.ops.on_writable(f->base.owner);
        }
        linux_watch(f);
    }
}

static void linux_watch(struct net__udp_linux *f) {
    int events = UV_READABLE | (f->base.blocked ? UV_WRITABLE : 0);

    if (f->fd >= 0) {
        (void)uv_poll_start(&f->poll, events, linux_on_poll);
    }
}

static bool linux_flush(net__udp *u) {
    struct net__udp_linux *f = (struct net__udp_linux *)u;
    bool done = net__udp_linux_send(f, false);

    if (!done) {
        u->blocked = true;
        linux_watch(f);
    }
    return done;
}

static bool linux_flush_remotely(net__udp *u) {
    return net__udp_linux_send((struct net__udp_linux *)u, true);
}

static int linux_room_new(struct net__udp_linux *f) {
    f->slots = f->gro ? LINUX__IN_GRO : LINUX__IN;
    f->slot = f->gro ? NET__BURST_MAX
                     : (f->base.max_datagram / SLOT_ALIGN + 2) * SLOT_ALIGN;
    f->room = malloc(f->slots * f->slot);
    if (f->room == NULL) {
        f->slots = 0;
        return UV_ENOMEM;
    }
    for (unsigned i = 0; i < f->slots; i++) {
        struct msghdr *m = &f->in[i].msg_hdr;

        f->in_iov[i].iov_base = f->room + i * f->slot;
        f->in_iov[i].iov_len = f->slot;
        m->msg_iov = &f->in_iov[i];
        m->msg_iovlen = 1;
        m->msg_name = &f->in_route[i].remote;
        m->msg_control = f->in_control[i].bytes;
    }
    return 0;
}

/* --- Opening and closing ------------------------------------------------- */

static bool linux_enable(int fd, int level, int name) {
    int on = 1;

    return setsockopt(fd, level, name, &on, sizeof(on)) == 0;
}

static void linux_set_up(struct net__udp_linux *f, const net__udp_options *o) {
    bool offload = !o->no_offload && !o->lite;
    int zero = 0;

    net__udp_tune(f->fd, f->base.family, o->buffer);
    (void)linux_enable(f->fd, IPPROTO_IP, IP_RECVTOS);
    if (f->base.family == AF_INET6) {
        (void)linux_enable(f->fd, IPPROTO_IPV6, IPV6_RECVTCLASS);
    }
    if (f->base.wildcard && f->base.family == AF_INET6) {
        (void)linux_enable(f->fd, IPPROTO_IPV6, IPV6_RECVPKTINFO);
    } else if (f->base.wildcard) {
        (void)linux_enable(f->fd, IPPROTO_IP, IP_PKTINFO);
    }
    f->gro = offload && linux_enable(f->fd, IPPROTO_UDP, UDP_GRO);
    f->gso = offload && setsockopt(f->fd, IPPROTO_UDP, UDP_SEGMENT, &zero,
                                   sizeof(zero)) == 0;
}

static int linux_open_socket(struct net__udp_linux *f,
                             const net__udp_options *o) {
    int zero = 0;

    f->fd = socket(f->base.family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
                   o->lite ? UDP__LITE : IPPROTO_UDP);
    if (f->fd < 0) {
        return uv_translate_sys_error(errno);
    }
    if (f->base.family == AF_INET6) {
        (void)setsockopt(f->fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
    }
    if (o->shared) {
        (void)linux_enable(f->fd, SOL_SOCKET, SO_REUSEADDR);
    }
    if (o->joins) {
        (void)linux_enable(f->fd, SOL_SOCKET, SO_REUSEPORT);
    }
    if (o->bind != NULL &&
        bind(f->fd, &o->bind->sa, net__addr_len(o->bind)) != 0) {
        return uv_translate_sys_error(errno);
    }
    linux_set_up(f, o);
    return 0;
}

/* Releases the local address, which may be gone, unless it was configured, but
 * keeps the port, for which a NAT may have a mapping. */
static void linux_disconnect(const struct net__udp_linux *f) {
    struct sockaddr none = {.sa_family = AF_UNSPEC};
    net__addr own = {.sa = {.sa_family = 0}};
    socklen_t len = sizeof(own);

    (void)getsockname(f->fd, &own.sa, &len);
    (void)connect(f->fd, &none, sizeof(none));
    if (f->base.fixed) {
        /* as it is */
    } else if (own.sa.sa_family == AF_INET6) {
        own.in6.sin6_addr = in6addr_any;
    } else {
        own.in4.sin_addr.s_addr = htonl(INADDR_ANY);
    }
    (void)bind(f->fd, &own.sa, net__addr_len(&own));
}

static int linux_connect(net__udp *u, const net__addr *to) {
    struct net__udp_linux *f = (struct net__udp_linux *)u;
    net__addr peer = *to;

    if (u->connected) {
        linux_disconnect(f);
    }
    if (u->family == AF_INET6) {
        net__addr_map(&peer);
    }
    if (connect(f->fd, &peer.sa, net__addr_len(&peer)) != 0) {
        return uv_translate_sys_error(errno);
    }
    f->mapped =
        u->family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&peer.in6.sin6_addr);
    return 0;
}

static int linux_local(const net__udp *u, net__addr *a) {
    const struct net__udp_linux *f = (const struct net__udp_linux *)u;
    socklen_t len = sizeof(*a);

    memset(a, 0, sizeof(*a));
    return getsockname(f->fd, &a->sa, &len) == 0
               ? 0
               : uv_translate_sys_error(errno);
}

static int linux_fileno(const net__udp *u) {
    return ((const struct net__udp_linux *)u)->fd;
}

static void linux_free(struct net__udp_linux *f) {
    if (f->fd >= 0) {
        (void)close(f->fd);
    }
    for (unsigned i = 0; f->room == NULL && i < f->slots; i++) {
        free(f->in_iov[i].iov_base);
    }
    free(f->room);
    net__udp_free(&f->base);
}

static void linux_on_closed(uv_handle_t *handle) {
    linux_free(handle->data);
}

static void linux_close(net__udp *u) {
    struct net__udp_linux *f = (struct net__udp_linux *)u;

    (void)uv_poll_stop(&f->poll);
    uv_close((uv_handle_t *)&f->poll, linux_on_closed);
    (void)close(f->fd); /* the port is free when the caller returns */
    f->fd = -1;
}

static const struct net__udp_impl linux_impl = {.connect = linux_connect,
                                                .local = linux_local,
                                                .fileno = linux_fileno,
                                                .flush = linux_flush,
                                                .flush_remotely =
                                                    linux_flush_remotely,
                                                .close = linux_close};

int net__udp_linux_open(net__udp **u, uv_loop_t *loop,
                        const net__udp_options *o) {
    struct net__udp_linux *f = calloc(1, sizeof(*f));
    int rv = UV_ENOMEM;

    if (f == NULL) {
        return rv;
    }
    f->fd = -1;
    rv = net__udp_init(&f->base, &linux_impl, loop, o);
    if (rv == 0) {
        rv = linux_open_socket(f, o);
    }
    if (rv == 0) {
        rv = linux_room_new(f);
    }
    if (rv == 0) {
        rv = uv_poll_init(loop, &f->poll, f->fd);
    }
    if (rv != 0) {
        linux_free(f);
        return rv;
    }
    f->poll.data = f;
    linux_watch(f);
    *u = &f->base;
    return 0;
}
