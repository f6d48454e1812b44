/* SPDX-License-Identifier: MPL-2.0 */
/* UDP on Linux: sends with sendmmsg() and UDP_SEGMENT. */
#include "internal/net/udp_linux_send.h"

#include <errno.h>
#include <string.h>

/* Kernels before 6.9 refuse more segments than this. */
#define GSO_SEGMENTS 64u
/* The longest UDP payload over IPv4. */
#define GSO_BYTES 65507u
/* Refused bursts in a row after which the path is assumed not to support it. */
#define GSO_PATIENCE 16u

static void send_add_control(struct msghdr *m, int level, int type,
                             const void *data, size_t len) {
    struct cmsghdr *c = (struct cmsghdr *)(void *)((uint8_t *)m->msg_control +
                                                   m->msg_controllen);

    c->cmsg_level = level;
    c->cmsg_type = type;
    c->cmsg_len = (socklen_t)CMSG_LEN(len);
    memcpy(CMSG_DATA(c), data, len);
    m->msg_controllen += (socklen_t)CMSG_SPACE(len);
}

static bool to_ipv4(const struct net__udp_linux *f,
                    const struct net__udp_entry *e) {
    if (f->base.family == AF_INET || !e->routed) {
        return f->base.family == AF_INET || f->mapped;
    }
    return IN6_IS_ADDR_V4MAPPED(&e->route.remote.in6.sin6_addr);
}

/* Codepoints rarely differ: the socket's default follows the first burst, so
 * most messages need no control data. */
static void send_codepoint(struct net__udp_linux *f, struct msghdr *m,
                           const struct net__udp_entry *e) {
    int tos = (int)e->ecn;

    if (!f->marked && e->ecn != f->ecn) {
        (void)setsockopt(f->fd, IPPROTO_IP, IP_TOS, &tos, sizeof(tos));
        if (f->base.family == AF_INET6) {
            (void)setsockopt(f->fd, IPPROTO_IPV6, IPV6_TCLASS, &tos,
                             sizeof(tos));
        }
        f->marked = true;
        f->ecn = e->ecn;
    }
    if (e->ecn == f->ecn) {
        return;
    }
    if (to_ipv4(f, e)) {
        send_add_control(m, IPPROTO_IP, IP_TOS, &tos, sizeof(tos));
    } else {
        send_add_control(m, IPPROTO_IPV6, IPV6_TCLASS, &tos, sizeof(tos));
    }
}

/* Answers leave from the address that received the call. */
static void send_address(struct net__udp_linux *f, struct msghdr *m,
                         struct net__udp_entry *e) {
    struct in6_pktinfo six;
    struct in_pktinfo four;

    if (!e->routed) {
        return;
    }
    m->msg_name = &e->route.remote;
    m->msg_namelen = net__addr_len(&e->route.remote);
    if (IN6_IS_ADDR_UNSPECIFIED(&e->route.local)) {
        return;
    }
    if (f->base.family == AF_INET6) {
        memset(&six, 0, sizeof(six));
        six.ipi6_addr = e->route.local;
        send_add_control(m, IPPROTO_IPV6, IPV6_PKTINFO, &six, sizeof(six));
        return;
    }
    memset(&four, 0, sizeof(four));
    memcpy(&four.ipi_spec_dst, &e->route.local.s6_addr[12], 4);
    send_add_control(m, IPPROTO_IP, IP_PKTINFO, &four, sizeof(four));
}

static size_t send_chunk(const struct net__udp_linux *f,
                         const struct net__udp_entry *e, size_t left,
                         bool split) {
    size_t most = e->segment;
    size_t segments = GSO_BYTES / e->segment;

    if (f->gso && !split && segments > 1) {
        most *= segments < GSO_SEGMENTS ? segments : GSO_SEGMENTS;
    }
    return left < most ? left : most;
}

static void send_message(struct net__udp_linux *f, unsigned n,
                         struct net__udp_entry *e, size_t at, size_t len) {
    struct msghdr *m = &f->out[n].msg_hdr;
    uint16_t segment = (uint16_t)e->segment;

    f->out_iov[n].iov_base = f->base.arena + at;
    f->out_iov[n].iov_len = len;
    memset(m, 0, sizeof(*m));
    m->msg_iov = &f->out_iov[n];
    m->msg_iovlen = 1;
    m->msg_control = f->out_control[n].bytes;
    send_address(f, m, e);
    send_codepoint(f, m, e);
    if (len > e->segment) {
        send_add_control(m, IPPROTO_UDP, UDP_SEGMENT, &segment,
                         sizeof(segment));
    }
    if (m->msg_controllen == 0) {
        m->msg_control = NULL;
    }
}

/* Builds messages for as much of the queue as one call sends. */
static unsigned send_build(struct net__udp_linux *f) {
    unsigned n = 0;

    for (unsigned i = f->base.first; i < f->base.count; i++) {
        struct net__udp_entry *e = &f->base.queue[i];
        bool split = f->split && i == f->base.first;

        for (size_t done = 0; done < e->left; n++) {
            size_t len = send_chunk(f, e, e->left - done, split);

            if (n == LINUX__OUT) {
                return n;
            }
            send_message(f, n, e, e->at + done, len);
            done += len;
        }
    }
    return n;
}

static void send_done(struct net__udp_linux *f, unsigned messages) {
    unsigned before = f->base.first;

    for (unsigned i = 0; i < messages; i++) {
        if (f->out_iov[i].iov_len > f->base.queue[f->base.first].segment) {
            f->gso_refused = 0;
        }
        net__udp_advance(&f->base, f->out_iov[i].iov_len);
    }
    if (f->base.first != before) {
        f->split = false;
    }
}

/* The kernel refused a burst: tries datagram by datagram. */
static bool segmentation_refused(struct net__udp_linux *f, int error) {
    const struct net__udp_entry *e = &f->base.queue[f->base.first];

    if (f->out_iov[0].iov_len <= e->segment ||
        (error != EIO && error != EINVAL && error != EOPNOTSUPP &&
         error != EMSGSIZE)) {
        return false;
    }
    f->split = true;
    f->gso_refused++;
    if (error == EIO || error == EOPNOTSUPP || f->gso_refused > GSO_PATIENCE) {
        f->gso = false;
    }
    return true;
}

static void send_report(struct net__udp_linux *f, int error, bool remote) {
    if (remote) {
        f->base.error = uv_translate_sys_error(error);
    } else {
        net__udp_linux_report(f, error);
    }
}

/* Whether to go on after a failed call. */
static bool send_recover(struct net__udp_linux *f, int error, bool remote) {
    if (error == EAGAIN || error == EWOULDBLOCK) {
        return false;
    }
    if (error == EINTR || segmentation_refused(f, error)) {
        return true;
    }
    /* Caused by an earlier datagram; this one is still queued. */
    if (error == ECONNREFUSED) {
        send_report(f, error, remote);
        return true;
    }
    /* A single one fails, too: segmentation was not the cause. */
    if (f->split) {
        f->gso_refused = 0;
    }
    send_done(f, 1); /* drop it, as the network might */
    if (error == EMSGSIZE) {
        f->base.too_big++;
    } else {
        send_report(f, error, remote);
    }
    return true;
}

bool net__udp_linux_send(struct net__udp_linux *f, bool remote) {
    const net__udp *u = &f->base;

    while (u->first < u->count) {
        unsigned n = send_build(f);
        int rv = sendmmsg(f->fd, f->out, n, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (rv > 0) {
            send_done(f, (unsigned)rv);
        } else if (!send_recover(f, errno, remote)) {
            return false;
        }
    }
    return true;
}
