/* SPDX-License-Identifier: MPL-2.0 */
/* Copies options and resolves names. */
#include "libtltcp/socket/options.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#if !defined(_WIN32)
#include <netdb.h>
#endif

#include "internal/common/sized.h"

/* Maximum number of addresses of one name that are tried. */
#define ADDRESSES_MAX 16u
#define PORT_MAX 65535u

int tltcp__options_copy(tltcp_config *own, const tltcp_config *c) {
    tltcp_config_init(own);
    if (c != NULL) {
        if (c->struct_size <
            offsetof(tltcp_config, congestion) + sizeof(char *)) {
            return TLTCP_ERR_INVAL; /* tltcp_config_init() was forgotten */
        }
        cmn__sized_take(own, sizeof(*own), c);
    }
    return 0;
}

/* getaddrinfo() takes 70000 for a port and binds to 4464. */
static bool port_is_possible(const char *service) {
    char *end;
    unsigned long port;

    if (!isdigit((unsigned char)service[0])) {
        return service[0] != '\0' && service[0] != '-' && service[0] != '+';
    }
    port = strtoul(service, &end, 10);
    return *end == '\0' && port <= PORT_MAX && end - service <= 5;
}

/* A connection has one peer, so groups and broadcast cannot be used. */
static bool is_of_one_host(const struct sockaddr *sa) {
    struct sockaddr_in in;
    struct sockaddr_in6 in6;

    if (sa->sa_family == AF_INET6) {
        memcpy(&in6, sa, sizeof(in6));
        return in6.sin6_addr.s6_addr[0] != 0xff;
    }
    memcpy(&in, sa, sizeof(in));
    return ntohl(in.sin_addr.s_addr) >> 28 != 0xe &&
           in.sin_addr.s_addr != INADDR_BROADCAST;
}

static size_t collect(net__addr *list, const struct addrinfo *all, int family) {
    size_t n = 0;

    for (const struct addrinfo *a = all; a != NULL && n < ADDRESSES_MAX;
         a = a->ai_next) {
        if ((a->ai_family == family ||
             (family == AF_UNSPEC &&
              (a->ai_family == AF_INET || a->ai_family == AF_INET6))) &&
            is_of_one_host(a->ai_addr)) {
            memset(&list[n], 0, sizeof(list[n]));
            memcpy(&list[n], a->ai_addr, (size_t)a->ai_addrlen);
            n++;
        }
    }
    return n;
}

static int fill(net__addr **out, size_t *count, const struct addrinfo *all,
                bool any) {
    net__addr *list = calloc((size_t)2 * ADDRESSES_MAX, sizeof(*list));
    size_t n;

    if (list == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    if (any) { /* an IPv6 socket also serves IPv4, so it comes first */
        n = collect(list, all, AF_INET6);
        n += collect(list + n, all, AF_INET);
    } else {
        n = collect(list, all, AF_UNSPEC);
    }
    if (n == 0) {
        free(list);
        return TLTCP_ERR_ADDRESS;
    }
    *out = list;
    *count = n;
    return 0;
}

int tltcp__options_resolve(net__addr **list, size_t *count, const char *host,
                           const char *service, bool passive) {
    struct addrinfo hints;
    struct addrinfo *all = NULL;
    int rv;

    /* To Windows, an empty name is this machine. */
    if (!port_is_possible(service) || (host != NULL && host[0] == '\0')) {
        return TLTCP_ERR_ADDRESS;
    }
    memset(&hints, 0, sizeof(hints));
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_DGRAM;
    hints.ai_flags = passive ? AI_PASSIVE : 0;
    rv = getaddrinfo(host, service, &hints, &all);
    if (rv != 0) {
        return rv == EAI_MEMORY ? TLTCP_ERR_NOMEM : TLTCP_ERR_ADDRESS;
    }
    rv = fill(list, count, all, passive && host == NULL);
    freeaddrinfo(all);
    return rv;
}
