/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NET_UDP_LINUX_TYPES_H
#define NET_UDP_LINUX_TYPES_H

#include <netinet/udp.h>
#include <sys/socket.h>

#include "internal/net/udp_impl.h"

/* A socket of the Linux implementation. */

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

#define LINUX__OUT 64u     /* messages of one sendmmsg() */
#define LINUX__IN 64u      /* messages of one recvmmsg() without GRO */
#define LINUX__IN_GRO 16u  /* with GRO, 64 KiB each */
#define LINUX__CONTROL 128 /* bytes of control data of a message */

/* Aligned as cmsghdr requires. */
union net__udp_control {
    size_t align;
    uint8_t bytes[LINUX__CONTROL];
};

struct net__udp_linux {
    net__udp base;
    uv_poll_t poll;
    int fd;
    bool gso;
    bool gro;
    bool split;           /* send the first entry without UDP_SEGMENT */
    bool marked;          /* the socket's default codepoint was set */
    bool mapped;          /* connected to an IPv4 peer through an IPv6 socket */
    uint32_t ecn;         /* that codepoint */
    unsigned gso_refused; /* times in a row */

    unsigned slots;
    size_t slot;   /* bytes of each */
    uint8_t *room; /* all slots; NULL: each has its own memory */
    struct mmsghdr in[LINUX__IN];
    struct iovec in_iov[LINUX__IN];
    union net__udp_control in_control[LINUX__IN];
    net__route in_route[LINUX__IN];
    net__burst bursts[LINUX__IN];

    struct mmsghdr out[LINUX__OUT];
    struct iovec out_iov[LINUX__OUT];
    union net__udp_control out_control[LINUX__OUT];
};

static inline void net__udp_linux_report(struct net__udp_linux *f, int error) {
    f->base.ops.on_error(f->base.owner, uv_translate_sys_error(error));
}

#endif /* NET_UDP_LINUX_TYPES_H */
