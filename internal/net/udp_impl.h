/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NET_UDP_IMPL_H
#define NET_UDP_IMPL_H

#include "internal/net/udp.h"

/* Shared by the UDP implementations and the interface in udp.c. */

/* Two full bursts: enough to make a system call worthwhile, and small enough to
 * stay in the cache. */
#define UDP__ARENA (2 * NET__BURST_MAX)
#define UDP__QUEUE 64u

/* A queued burst. */
struct net__udp_entry {
    net__route route;
    size_t at; /* offset of the rest in the arena */
    size_t left;
    size_t segment;
    uint32_t ecn;
    bool routed; /* route is set */
};

#define UDP__LITE 136 /* IP protocol number of UDP-Lite */

/* The functions of an implementation. */
struct net__udp_impl {
    int (*connect)(net__udp *u, const net__addr *to);
    int (*local)(const net__udp *u, net__addr *a);
    int (*fileno)(const net__udp *u);
    /* Sends entries [first, count); false: blocked. */
    bool (*flush)(net__udp *u);
    /* Likewise from another thread, without the loop and without callbacks.
     * NULL: not possible. */
    bool (*flush_remotely)(net__udp *u);
    void (*close)(net__udp *u);
};

struct net__udp {
    const struct net__udp_impl *impl;
    net__udp_ops ops;
    void *owner;
    uv_loop_t *loop;
    size_t max_datagram;
    int family;
    bool wildcard;  /* bound to all addresses: the local one must be set */
    bool fixed;     /* bound to one address, which must not change */
    bool connected; /* connected to one peer */
    bool blocked;
    int error;        /* UV_E..., to be reported by the loop's thread; or 0 */
    uint64_t too_big; /* datagrams refused by the system as too long */
    size_t cover;     /* UDP-Lite: payload bytes covered by the checksum; 0:
                         all */
    unsigned first;   /* first unsent entry */
    unsigned count;
    size_t used; /* bytes used of the arena */
    uint8_t *arena;
    struct net__udp_entry queue[UDP__QUEUE];
};

/* Initialises the common part. */
int net__udp_init(net__udp *u, const struct net__udp_impl *impl,
                  uv_loop_t *loop, const net__udp_options *o);
void net__udp_free(net__udp *u);

/* The first `bytes` of an entry were sent. */
static inline void net__udp_advance(net__udp *u, size_t bytes) {
    struct net__udp_entry *e = &u->queue[u->first];

    e->at += bytes;
    e->left -= bytes;
    if (e->left == 0) {
        u->first++;
    }
}

/* Bytes of the next datagram of an entry. */
static inline size_t net__udp_datagram(const struct net__udp_entry *e) {
    return e->left < e->segment ? e->left : e->segment;
}

/* Disables fragmentation and enlarges buffers, as far as the system supports
 * it. */
void net__udp_tune(int fd, int family, size_t buffer);

#endif /* NET_UDP_IMPL_H */
