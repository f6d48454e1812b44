/* SPDX-License-Identifier: MPL-2.0 */
/* Resolves and prints addresses. */
#include "libsaratoga/node/address.h"

#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include <saratoga/node.h>
#include <uv.h>

int saratoga__resolve(const char *host, const char *service, bool passive,
                      net__addr *a) {
    struct addrinfo hints;
    struct addrinfo *found = NULL;

    memset(&hints, 0, sizeof(hints));
    hints.ai_socktype = SOCK_DGRAM;
    hints.ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0);
    if (getaddrinfo(host, service, &hints, &found) != 0) {
        return UV_EAI_NONAME;
    }
    memset(a, 0, sizeof(*a));
    if (found->ai_addrlen <= sizeof(*a)) {
        memcpy(a, found->ai_addr, found->ai_addrlen);
    }
    freeaddrinfo(found);
    return a->sa.sa_family == AF_INET || a->sa.sa_family == AF_INET6
               ? 0
               : UV_EAFNOSUPPORT;
}

void saratoga__address_text(const net__addr *a, char *text) {
    net__addr shown = *a;
    char ip[64] = "?";

    net__addr_unmap(&shown);
    if (shown.sa.sa_family == AF_INET6) {
        (void)uv_ip6_name(&shown.in6, ip, sizeof(ip));
        (void)snprintf(text, SARATOGA_NODE_ADDRESS, "[%s]:%u", ip,
                       (unsigned)net__addr_port(&shown));
    } else {
        (void)uv_ip4_name(&shown.in4, ip, sizeof(ip));
        (void)snprintf(text, SARATOGA_NODE_ADDRESS, "%s:%u", ip,
                       (unsigned)net__addr_port(&shown));
    }
}

bool saratoga__ip_is_multicast(const struct in6_addr *ip) {
    return IN6_IS_ADDR_MULTICAST(ip) ||
           (IN6_IS_ADDR_V4MAPPED(ip) && (ip->s6_addr[12] & 0xf0u) == 0xe0u);
}

bool saratoga__is_multicast(const net__addr *a) {
    struct in6_addr ip;

    net__addr_ip(a, &ip);
    return saratoga__ip_is_multicast(&ip);
}

bool saratoga__address_equal(const net__addr *a, const net__addr *b) {
    struct in6_addr x;
    struct in6_addr y;

    net__addr_ip(a, &x);
    net__addr_ip(b, &y);
    return IN6_ARE_ADDR_EQUAL(&x, &y) && net__addr_port(a) == net__addr_port(b);
}
