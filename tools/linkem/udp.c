/* SPDX-License-Identifier: MPL-2.0 */
/* Datagrams with their ECN codepoint, in and out of sockets. */
#include "tools/linkem/udp.h"

#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <string.h>

#define BUFFER (4 << 20)

#ifndef UDP_GRO
#define UDP_GRO 104
#endif

static void message_init(struct udp_message *m, void *data, size_t len) {
    memset(m, 0, sizeof(*m));
    m->iov.iov_base = data;
    m->iov.iov_len = len;
    m->hdr.msg_iov = &m->iov;
    m->hdr.msg_iovlen = 1;
}

/* Control data of a type; NULL: none. */
static const void *find_control(struct udp_message *m, int level, int type) {
    struct cmsghdr *c = CMSG_FIRSTHDR(&m->hdr);
    while (c && (c->cmsg_level != level || c->cmsg_type != type)) {
        c = CMSG_NXTHDR(&m->hdr, c);
    }
    return c ? CMSG_DATA(c) : NULL;
}

uint32_t udp_ecn(struct udp_message *m) {
    const void *four = find_control(m, IPPROTO_IP, IP_TOS);
    const void *six = find_control(m, IPPROTO_IPV6, IPV6_TCLASS);
    int tos = 0;
    if (four) {
        tos = *(const uint8_t *)four;
    } else if (six) {
        memcpy(&tos, six, sizeof(tos));
    }
    return (uint32_t)tos & 3U;
}

size_t udp_segment(struct udp_message *m, size_t len) {
    const void *control = find_control(m, IPPROTO_UDP, UDP_GRO);
    int size = 0;
    if (control) {
        memcpy(&size, control, sizeof(size));
    }
    return size > 0 && (size_t)size < len ? (size_t)size : len;
}

static void udp_set_ecn(struct udp_message *m, int family, uint32_t ecn) {
    struct cmsghdr *c;
    int tos = (int)ecn;
    if (ecn == 0) {
        return;
    }
    m->hdr.msg_control = m->control;
    m->hdr.msg_controllen = CMSG_SPACE(sizeof(tos));
    c = CMSG_FIRSTHDR(&m->hdr);
    c->cmsg_level = family == AF_INET6 ? IPPROTO_IPV6 : IPPROTO_IP;
    c->cmsg_type = family == AF_INET6 ? IPV6_TCLASS : IP_TOS;
    c->cmsg_len = CMSG_LEN(sizeof(tos));
    memcpy(CMSG_DATA(c), &tos, sizeof(tos));
}

int udp_socket(int family) {
    int fd = socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int on = 1;
    int size = BUFFER;
    if (fd < 0) {
        return fd;
    }
    /* a buffer beyond the system's limit is optional */
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) != 0) {
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
    }
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
    (void)setsockopt(fd, IPPROTO_UDP, UDP_GRO, &on, sizeof(on));
    if (family == AF_INET6) {
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, &on, sizeof(on));
    } else {
        (void)setsockopt(fd, IPPROTO_IP, IP_RECVTOS, &on, sizeof(on));
    }
    return fd;
}

ssize_t udp_receive(int fd, struct udp_message *m, void *buffer,
                    struct address *from) {
    ssize_t n;
    message_init(m, buffer, UDP_DATAGRAM_MAX);
    m->hdr.msg_control = m->control;
    m->hdr.msg_controllen = sizeof(m->control);
    m->hdr.msg_name = &from->sa;
    m->hdr.msg_namelen = sizeof(from->sa);
    n = recvmsg(fd, &m->hdr, MSG_DONTWAIT);
    from->len = m->hdr.msg_namelen;
    return n;
}

bool udp_send(int fd, const struct address *to, bool named,
              const struct sim_packet *p) {
    struct udp_message m;
    message_init(&m, (void *)p->data, p->len);
    if (named) {
        m.hdr.msg_name = (void *)&to->sa;
        m.hdr.msg_namelen = to->len;
    }
    udp_set_ecn(&m, to->sa.ss_family, p->ecn);
    return sendmsg(fd, &m.hdr, MSG_DONTWAIT) >= 0;
}
