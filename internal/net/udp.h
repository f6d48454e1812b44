/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NET_UDP_H
#define NET_UDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "internal/net/address.h"

/*
 * One UDP socket on a libuv loop, with batches, for any protocol.
 *
 * On Linux: recvmmsg() and sendmmsg() with UDP_GRO and UDP_SEGMENT; elsewhere,
 * and on request, plain uv_udp. Packets are never fragmented in the network.
 * Datagrams that the kernel does not accept at once are queued and sent later,
 * not lost. Make all calls from the loop's thread.
 */

/* The addresses of a datagram. */
typedef struct net__route {
    net__addr remote;
    struct in6_addr local; /* IPv4 is mapped; all zero: chosen by the kernel */
} net__route;

/* Datagrams of one route, back to back: `segment` bytes each; the last may be
 * shorter. */
typedef struct net__burst {
    const net__route *route;
    const uint8_t *data;
    size_t len;
    size_t segment;
    uint32_t ecn; /* 0 to 3, as in the IP header; out: DSCP in the bits above */
    /* Where the buffer is kept, of NET__BURST_MAX bytes from malloc(): replace
     * it by another one to keep it. NULL: it must not be kept. */
    void **room;
} net__burst;

typedef struct net__udp net__udp;

/* Callbacks of a socket, on the loop's thread. */
typedef struct net__udp_ops {
    void (*on_bursts)(void *owner, const net__burst *in, size_t count);
    void (*on_writable)(void *owner); /* after "blocked" */
    void (*on_error)(void *owner,
                     int status); /* UV_E...; a transient condition */
} net__udp_ops;

typedef struct net__udp_options {
    const net__addr *bind; /* NULL: any address and port of `family` */
    int family;            /* of sockets without `bind` */
    bool plain;            /* portable I/O only */
    bool shared;           /* shares the port with other shared sockets */
    bool joins;            /* joins the group of a socket that is bound to the
                              same address, see net__udp_lead(); only on
                              Linux */
    bool no_offload;       /* no UDP_SEGMENT, no UDP_GRO */
    bool lite;             /* UDP-Lite (RFC 3828); only on Linux, implies
                              no_offload */
    size_t max_datagram;   /* longest one to receive */
    size_t buffer;         /* requested SO_RCVBUF and SO_SNDBUF */
    const net__udp_ops *ops;
    void *owner;
} net__udp_options;

/* Longest burst that net__udp_put() accepts; above any UDP payload. */
#define NET__BURST_MAX ((size_t)65536)

/* Opens, binds and starts receiving.  Returns 0 or UV_E... */
int net__udp_open(net__udp **u, uv_loop_t *loop, const net__udp_options *o);
/* Connects to `to`: sends and receives only there, and reports its refusals.
 * May be repeated, which also selects the local address again. */
int net__udp_connect(net__udp *u, const net__addr *to);
int net__udp_local(const net__udp *u, net__addr *a);
/* From now on, other shared sockets may use the same port; unshared ones are
 * still refused. */
void net__udp_share(net__udp *u);
/*
 * A group: sockets on one address, numbered in the order in which they joined.
 * Each datagram goes to one of them. One that leaves changes the numbers of
 * others.
 */

/* From now on, others of this user may join. Returns 0 or UV_E... */
int net__udp_lead(net__udp *u);
/* Datagrams whose first byte, masked, is `value` go to the socket whose number
 * is byte `at` modulo `count`; all others go by a hash of both addresses. */
typedef struct net__steering {
    uint8_t mask;
    uint8_t value;
    unsigned at;
    unsigned count;
} net__steering;
/* Sets that for the group of the socket. Returns 0 or UV_E... */
int net__udp_steer(net__udp *u, const net__steering *by);
/* The system's descriptor, for tests and tuning; -1: none. */
int net__udp_fileno(const net__udp *u);
/* Bytes that the system's receive buffer holds, as it counts them; 0: not
 * known. */
size_t net__udp_buffer(const net__udp *u);
/* Number of datagrams that the system refused as too long for its link. */
uint64_t net__udp_too_big(const net__udp *u);
/* UDP-Lite: from now on, checksums cover the first `bytes` of each payload; 0:
 * all. */
void net__udp_cover(net__udp *u, size_t bytes);
/* Stops, and frees when the loop has closed the handles. */
void net__udp_close(net__udp *u);

/* Buffer of NET__BURST_MAX bytes for the next burst; NULL: flush first, or
 * blocked. */
uint8_t *net__udp_room(net__udp *u);
/* Queues the data written to net__udp_room(). `route` is copied; NULL on a
 * connected socket. */
void net__udp_put(net__udp *u, const net__route *route, uint32_t ecn,
                  size_t len, size_t segment);
/* Sends queued data. False: blocked, on_writable follows. */
bool net__udp_flush(net__udp *u);
/* Whether another thread than the loop's may send, while no other one calls. */
bool net__udp_sends_remotely(const net__udp *u);
/* net__udp_flush() for that thread. False: the loop's thread has to flush what
 * is left, or to report an error; it is not blocked yet. */
bool net__udp_flush_remotely(net__udp *u);
bool net__udp_blocked(const net__udp *u);

#endif /* NET_UDP_H */
