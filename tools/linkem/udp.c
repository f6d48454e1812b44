/* SPDX-License-Identifier: MPL-2.0 */
/* Datagrams with their ECN codepoint, in and out of sockets. */
#include "tools/linkem/udp.h"

#include <netinet/in.h>
#include <netinet/ip.h>
#include <string.h>

#define BUFFER (4 << 20)

static void message_init(struct udp_message *m, void *data, size_t len) {
    memset(m, 0, sizeof(*m));
    m->iov.iov_base = data;
    m->iov.iov_len = len;
    m->hdr.msg_iov = &m->iov;
    m->hdr.msg_iovlen = 1;
}

uint32_t udp_ecn(struct udp_message *m) {
    struct cmsghdr *c = CMSG_FIRSTHDR(&m->hdr);
    int tos = 0;
    if (c && c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS) {
        tos = *(const uint8_t *)CMSG_DATA(c);
    } else if (c && c->cmsg_level == IPPROTO_IPV6 &&
               c->cmsg_type == IPV6_TCLASS) {
        memcpy(&tos, CMSG_DATA(c), sizeof(tos));
    }
    return (uint32_t)tos & 3U;
}

static void udp_set_ecn(struct udp_message *m, int family, uint32_t ecn) {
    struct cmsghdr *c;
    int tos = (int)ecn;
    if (ecn == 0) {
        return;
    }
    m->hdr.msg_control = m->control;
    m->hdr.msg_controllen = sizeof(m->control);
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
