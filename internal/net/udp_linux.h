/* SPDX-License-Identifier: MPL-2.0 */
#ifndef DRIVERS_UV_UDP_LINUX_H
#define DRIVERS_UV_UDP_LINUX_H

#include <netinet/udp.h>
#include <sys/socket.h>

#include "internal/net/udp_impl.h"

/* What the two halves of the Linux path share. */

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

#define FAST__OUT 64u     /* messages of one sendmmsg() */
#define FAST__IN 64u      /* messages of one recvmmsg() without GRO */
#define FAST__IN_GRO 16u  /* with GRO, 64 KiB each */
#define FAST__CONTROL 128 /* bytes of control data of a message */

/* Aligned as cmsghdr wants it. */
union net__udp_control {
    size_t align;
    uint8_t bytes[FAST__CONTROL];
};

struct net__udp_fast {
    net__udp base;
    uv_poll_t poll;
    int fd;
    bool gso;
    bool gro;
    bool split;           /* the first entry goes out without UDP_SEGMENT */
    bool marked;          /* the socket's own codepoint was set */
    bool mapped;          /* connected to an IPv4 peer through an IPv6 socket */
    uint32_t ecn;         /* that codepoint */
    unsigned gso_refused; /* times in a row */

    unsigned slots;
    size_t slot; /* bytes of each */
    uint8_t *room;
    struct mmsghdr in[FAST__IN];
    struct iovec in_iov[FAST__IN];
    union net__udp_control in_control[FAST__IN];
    net__route in_route[FAST__IN];
    net__burst bursts[FAST__IN];

    struct mmsghdr out[FAST__OUT];
    struct iovec out_iov[FAST__OUT];
    union net__udp_control out_control[FAST__OUT];
};

bool net__udp_fast_flush(net__udp *u);
/* Asks for readability, and for writability while blocked. */
void net__udp_fast_watch(struct net__udp_fast *f);
void net__udp_fast_report(struct net__udp_fast *f, int error);

#endif /* DRIVERS_UV_UDP_LINUX_H */
