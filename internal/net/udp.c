/* SPDX-License-Identifier: MPL-2.0 */
/* UDP sockets: the common part of all implementations, and the send queue. */
#include "internal/net/udp_impl.h"

#include <stdlib.h>
#include <string.h>

static bool is_wildcard(const net__addr *a) {
    struct in6_addr ip;
    static const uint8_t zero[4];

    net__addr_ip(a, &ip);
    return IN6_IS_ADDR_UNSPECIFIED(&ip) ||
           (IN6_IS_ADDR_V4MAPPED(&ip) && memcmp(&ip.s6_addr[12], zero, 4) == 0);
}

/* As in <linux/udp.h> and <netinet/udplite.h>, which not all systems have. */
#define UDPLITE_HEADER 8
#define UDPLITE_SEND_CSCOV 10

void net__udp_cover(net__udp *u, size_t bytes) {
    int fd = net__udp_fileno(u);
    int cover = bytes > 0 ? (int)bytes + UDPLITE_HEADER : 0;

    if (bytes == u->cover) {
        return;
    }
    if (u->count > u->first) { /* with their own coverage */
        (void)net__udp_flush(u);
    }
    u->cover = bytes;
    (void)setsockopt(fd, UDP__LITE, UDPLITE_SEND_CSCOV, (const void *)&cover,
                     sizeof(cover));
}

int net__udp_init(net__udp *u, const struct net__udp_impl *impl,
                  uv_loop_t *loop, const net__udp_options *o) {
    u->impl = impl;
    u->ops = *o->ops;
    u->owner = o->owner;
    u->loop = loop;
    u->max_datagram = o->max_datagram;
    u->family = o->bind != NULL ? o->bind->sa.sa_family : o->family;
    u->wildcard = o->bind != NULL && is_wildcard(o->bind);
    u->fixed = o->bind != NULL && !u->wildcard;
    u->arena = malloc(UDP__ARENA);
    return u->arena != NULL ? 0 : UV_ENOMEM;
}

void net__udp_free(net__udp *u) {
    free(u->arena);
    free(u);
}

static void set_int(int fd, int level, int name, int value) {
    (void)setsockopt(fd, level, name, (const void *)&value, sizeof(value));
}

static void set_buffer(int fd, int force, int name, size_t buffer) {
    int want = (int)buffer;

    /* Exceeds the system's limit only with privileges; otherwise up to it. */
    if (force < 0 || setsockopt(fd, SOL_SOCKET, force, (const void *)&want,
                                sizeof(want)) != 0) {
        set_int(fd, SOL_SOCKET, name, want);
    }
}

size_t net__udp_buffer(const net__udp *u) {
    int bytes = 0;
    socklen_t len = sizeof(bytes);

    return getsockopt(net__udp_fileno(u), SOL_SOCKET, SO_RCVBUF, (void *)&bytes,
                      &len) == 0 &&
                   bytes > 0
               ? (size_t)bytes
               : 0;
}

void net__udp_tune(int fd, int family, size_t buffer) {
    int force_in = -1;
    int force_out = -1;

#if defined(SO_RCVBUFFORCE)
    force_in = SO_RCVBUFFORCE;
    force_out = SO_SNDBUFFORCE;
#endif
    set_buffer(fd, force_in, SO_RCVBUF, buffer);
    set_buffer(fd, force_out, SO_SNDBUF, buffer);
#if defined(IP_MTU_DISCOVER) && defined(IP_PMTUDISC_PROBE)
    set_int(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
#elif defined(IP_DONTFRAG)
    set_int(fd, IPPROTO_IP, IP_DONTFRAG, 1);
#elif defined(IP_DONTFRAGMENT)
    set_int(fd, IPPROTO_IP, IP_DONTFRAGMENT, 1);
#endif
    if (family == AF_INET6) {
#if defined(IPV6_MTU_DISCOVER) && defined(IPV6_PMTUDISC_PROBE)
        set_int(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE);
#elif defined(IPV6_DONTFRAG)
        set_int(fd, IPPROTO_IPV6, IPV6_DONTFRAG, 1);
#endif
    }
}

int net__udp_connect(net__udp *u, const net__addr *to) {
    int rv = u->impl->connect(u, to);

    u->connected = u->connected || rv == 0;
    return rv;
}

int net__udp_local(const net__udp *u, net__addr *a) {
    return u->impl->local(u, a);
}

void net__udp_share(net__udp *u) {
    int on = 1;

    (void)setsockopt(net__udp_fileno(u), SOL_SOCKET, SO_REUSEADDR,
                     (const char *)&on, sizeof(on));
}

uint64_t net__udp_too_big(const net__udp *u) {
    return u->too_big;
}

int net__udp_fileno(const net__udp *u) {
    return u->impl->fileno(u);
}

void net__udp_close(net__udp *u) {
    u->impl->close(u);
}

uint8_t *net__udp_room(net__udp *u) {
    if (u->blocked || u->count == UDP__QUEUE ||
        UDP__ARENA - u->used < NET__BURST_MAX) {
        return NULL;
    }
    return u->arena + u->used;
}

/* Whether a datagram joins the entry: another datagram of the same kind to the
 * same peer, such as an answer in a batch, which the kernel sends in one
 * call. */
static bool joins(const struct net__udp_entry *e, const net__route *route,
                  uint32_t ecn, size_t len, size_t segment) {
    if (len != segment || segment != e->segment || ecn != e->ecn ||
        e->left % segment != 0 || e->routed != (route != NULL)) {
        return false;
    }
    /* Differing padding only causes two entries. */
    /* NOLINTNEXTLINE */
    return route == NULL || memcmp(&e->route, route, sizeof(*route)) == 0;
}

void net__udp_put(net__udp *u, const net__route *route, uint32_t ecn,
                  size_t len, size_t segment) {
    struct net__udp_entry *e = &u->queue[u->count];

    if (u->count > u->first && joins(e - 1, route, ecn, len, segment)) {
        e[-1].left += len;
        u->used += len;
        return;
    }
    u->count++;
    e->at = u->used;
    e->left = len;
    e->segment = segment;
    e->ecn = ecn;
    e->routed = route != NULL;
    if (route != NULL) {
        e->route = *route;
    }
    u->used += len;
}

static void udp_empty(net__udp *u) {
    u->first = 0;
    u->count = 0;
    u->used = 0;
}

bool net__udp_flush(net__udp *u) {
    int error = u->error;

    u->error = 0;
    if (error != 0) {
        u->ops.on_error(u->owner, error);
    }
    if (u->blocked) {
        return false;
    }
    if (u->first < u->count && !u->impl->flush(u)) {
        u->blocked = true;
        return false;
    }
    udp_empty(u);
    return true;
}

bool net__udp_sends_remotely(const net__udp *u) {
    return u->impl->flush_remotely != NULL;
}

bool net__udp_flush_remotely(net__udp *u) {
    if (!u->impl->flush_remotely(u)) {
        return false;
    }
    udp_empty(u);
    return u->error == 0;
}

bool net__udp_blocked(const net__udp *u) {
    return u->blocked;
}
