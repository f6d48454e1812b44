/* SPDX-License-Identifier: MPL-2.0 */
#ifndef DRIVERS_UV_UDP_H
#define DRIVERS_UV_UDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#if defined(_WIN32)
#include <ws2tcpip.h>
#else
#include <netinet/in.h>
#endif

/*
 * One UDP socket on a libuv loop, in batches, for any protocol.
 *
 * On Linux: recvmmsg() and sendmmsg() with UDP_GRO and UDP_SEGMENT; elsewhere,
 * and on demand, plain uv_udp.  Packets never get fragmented on the way.  What
 * the kernel does not take at once is kept and sent when it does: that is not a
 * loss.  All calls belong to the loop's thread.
 */

typedef union drv__addr {
    struct sockaddr sa;
    struct sockaddr_in in4;
    struct sockaddr_in6 in6;
} drv__addr;

/* Between which addresses a datagram travels. */
typedef struct drv__route {
    drv__addr remote;
    struct in6_addr local; /* IPv4 is mapped; all zero: up to the kernel */
} drv__route;

/* Datagrams of one route, back to back: each `segment` bytes, the last perhaps
 * fewer. */
typedef struct drv__burst {
    const drv__route *route;
    const uint8_t *data;
    size_t len;
    size_t segment;
    uint32_t ecn; /* 0 to 3, as in the IP header; out: DSCP above it */
} drv__burst;

typedef struct drv__udp drv__udp;

/* What the owner of a socket hears, always on the loop's thread. */
typedef struct drv__udp_ops {
    void (*on_bursts)(void *owner, const drv__burst *in, size_t count);
    void (*on_writable)(void *owner); /* after "blocked" */
    void (*on_error)(void *owner,
                     int status); /* UV_E...; a passing condition */
} drv__udp_ops;

typedef struct drv__udp_options {
    const drv__addr *bind; /* NULL: any address and port of `family` */
    int family;            /* of sockets without `bind` */
    bool plain;            /* portable I/O only */
    bool shared;           /* beside others that are, on the same port */
    bool no_offload;       /* no UDP_SEGMENT, no UDP_GRO */
    bool lite;             /* UDP-Lite (RFC 3828); only on Linux, implies
                              no_offload */
    size_t max_datagram;   /* longest one to receive */
    size_t buffer;         /* SO_RCVBUF and SO_SNDBUF wanted */
    const drv__udp_ops *ops;
    void *owner;
} drv__udp_options;

/* Longest burst that drv__udp_put() takes; more than any UDP payload holds. */
#define DRV__BURST_MAX ((size_t)65536)

/* Opens, binds and starts receiving.  Returns 0 or UV_E... */
int drv__udp_open(drv__udp **u, uv_loop_t *loop, const drv__udp_options *o);
/* From now on talks to `to` alone and hears of its refusals; may be repeated,
 * which also picks the local address anew. */
int drv__udp_connect(drv__udp *u, const drv__addr *to);
int drv__udp_local(const drv__udp *u, drv__addr *a);
/* From now on others that are may use the same port; those that are not are
 * refused still. */
void drv__udp_share(drv__udp *u);
/* The system's descriptor, for tests and tuning; -1 when there is none. */
int drv__udp_fileno(const drv__udp *u);
/* Datagrams that the system refused as too long for its link. */
uint64_t drv__udp_too_big(const drv__udp *u);
/* UDP-Lite: the checksum of what is put from now on covers the first `bytes` of
 * each payload; 0: all. */
void drv__udp_cover(drv__udp *u, size_t bytes);
/* Stops, and frees when the loop has let go of the handles. */
void drv__udp_close(drv__udp *u);

/* DRV__BURST_MAX bytes to write the next burst into; NULL: flush first, or
 * blocked. */
uint8_t *drv__udp_room(drv__udp *u);
/* Queues what was written to drv__udp_room().  `route` is copied; NULL on a
 * connected socket. */
void drv__udp_put(drv__udp *u, const drv__route *route, uint32_t ecn,
                  size_t len, size_t segment);
/* Sends what is queued.  False: blocked, on_writable follows. */
bool drv__udp_flush(drv__udp *u);
bool drv__udp_blocked(const drv__udp *u);

socklen_t drv__addr_len(const drv__addr *a);
uint16_t drv__addr_port(const drv__addr *a);
/* The address as 16 bytes, IPv4 mapped. */
void drv__addr_ip(const drv__addr *a, struct in6_addr *ip);
/* Turns an IPv4 address into a mapped one, for IPv6 sockets. */
void drv__addr_map(drv__addr *a);
/* And back, for the eyes of applications. */
void drv__addr_unmap(drv__addr *a);

#endif /* DRIVERS_UV_UDP_H */
