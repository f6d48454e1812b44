/* SPDX-License-Identifier: MPL-2.0 */
/* Helpers for IPv4 and IPv6 socket addresses. */
#include "internal/net/address.h"

#include <string.h>

socklen_t net__addr_len(const net__addr *a) {
    return a->sa.sa_family == AF_INET6 ? (socklen_t)sizeof(a->in6)
                                       : (socklen_t)sizeof(a->in4);
}

uint16_t net__addr_port(const net__addr *a) {
    return ntohs(a->sa.sa_family == AF_INET6 ? a->in6.sin6_port
                                             : a->in4.sin_port);
}

void net__addr_ip(const net__addr *a, struct in6_addr *ip) {
    if (a->sa.sa_family == AF_INET6) {
        *ip = a->in6.sin6_addr;
        return;
    }
    memset(ip, 0, sizeof(*ip));
    ip->s6_addr[10] = 0xff;
    ip->s6_addr[11] = 0xff;
    memcpy(&ip->s6_addr[12], &a->in4.sin_addr, 4);
}

bool net__addr_is_loopback(const net__addr *a) {
    struct in6_addr ip;

    net__addr_ip(a, &ip);
    return IN6_IS_ADDR_LOOPBACK(&ip) ||
           (IN6_IS_ADDR_V4MAPPED(&ip) && ip.s6_addr[12] == 127);
}

void net__addr_map(net__addr *a) {
    net__addr wide;

    if (a->sa.sa_family != AF_INET) {
        return;
    }
    memset(&wide, 0, sizeof(wide));
    wide.in6.sin6_family = AF_INET6;
    wide.in6.sin6_port = a->in4.sin_port;
    net__addr_ip(a, &wide.in6.sin6_addr);
    *a = wide;
}

void net__addr_unmap(net__addr *a) {
    net__addr narrow;

    if (a->sa.sa_family != AF_INET6 ||
        !IN6_IS_ADDR_V4MAPPED(&a->in6.sin6_addr)) {
        return;
    }
    memset(&narrow, 0, sizeof(narrow));
    narrow.in4.sin_family = AF_INET;
    narrow.in4.sin_port = a->in6.sin6_port;
    memcpy(&narrow.in4.sin_addr, &a->in6.sin6_addr.s6_addr[12], 4);
    *a = narrow;
}
