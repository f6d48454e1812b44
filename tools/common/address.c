/* SPDX-License-Identifier: MPL-2.0 */
/* HOST:PORT and [HOST]:PORT as text, and socket addresses as text. */
#include "tools/common/address.h"

#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "internal/settings/units.h"

static const char *set(char *out, size_t size, const char *from, size_t len) {
    if (len >= size) {
        return "the host name is too long";
    }
    memcpy(out, from, len);
    out[len] = '\0';
    return NULL;
}

static const char *check_port(const char *port) {
    uint64_t n;
    if (*port == '\0') {
        return "the port is missing; write HOST:PORT";
    }
    if (units_count(port, 0, 65535, &n) != NULL) {
        return "the port must be a number from 0 to 65535";
    }
    return NULL;
}

/* The zone of a link-local address may be escaped (RFC 6874). Where nothing
 * follows %25, the zone is 25. */
static void unescape_zone(char *host) {
    char *zone = strstr(host, "%25");
    if (zone && zone[3] != '\0') {
        memmove(zone + 1, zone + 3, strlen(zone + 3) + 1);
    }
}

const char *address_split(const char *text, struct hostport *hp) {
    const char *host = text;
    const char *colon = strrchr(text, ':');
    size_t len;
    const char *why;
    if (!colon) {
        return "the port is missing; write HOST:PORT";
    }
    len = (size_t)(colon - text);
    if (text[0] == '[') {
        if (len < 2 || text[len - 1] != ']') {
            return "an IPv6 address is written as [ADDRESS]:PORT";
        }
        host++;
        len -= 2;
    } else if (memchr(text, ':', len)) {
        return "an IPv6 address is written as [ADDRESS]:PORT";
    }
    why = check_port(colon + 1);
    if (why) {
        return why;
    }
    (void)snprintf(hp->port, sizeof(hp->port), "%s", colon + 1);
    why = set(hp->host, sizeof(hp->host), host, len);
    if (!why) {
        unescape_zone(hp->host);
    }
    return why;
}

const char *address_resolve(const struct hostport *hp, bool passive,
                            struct address *a) {
    struct addrinfo hints = {.ai_family = AF_UNSPEC,
                             .ai_socktype = SOCK_DGRAM,
                             .ai_flags = AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    bool any = hp->host[0] == '\0' || strcmp(hp->host, "*") == 0;
    int rc;
    if (any && !passive) {
        return "the host is missing; write HOST:PORT";
    }
    if (any) {
        hints.ai_flags |= AI_PASSIVE;
    }
    rc = getaddrinfo(any ? NULL : hp->host, hp->port, &hints, &found);
    if (rc != 0) {
        return gai_strerror(rc);
    }
    memset(a, 0, sizeof(*a));
    memcpy(&a->sa, found->ai_addr, found->ai_addrlen);
    a->len = found->ai_addrlen;
    freeaddrinfo(found);
    return NULL;
}

void address_text(const struct address *a, char *text) {
    char host[56];
    char port[8];
    if (getnameinfo((const struct sockaddr *)&a->sa, a->len, host, sizeof(host),
                    port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        (void)snprintf(text, ADDRESS_TEXT_MAX, "?");
        return;
    }
    (void)snprintf(text, ADDRESS_TEXT_MAX,
                   a->sa.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host,
                   port);
}

bool address_equal(const struct address *a, const struct address *b) {
    if (a->sa.ss_family != b->sa.ss_family) {
        return false;
    }
    if (a->sa.ss_family == AF_INET) {
        const struct sockaddr_in *x = (const struct sockaddr_in *)&a->sa;
        const struct sockaddr_in *y = (const struct sockaddr_in *)&b->sa;
        return x->sin_port == y->sin_port &&
               x->sin_addr.s_addr == y->sin_addr.s_addr;
    }
    const struct sockaddr_in6 *x = (const struct sockaddr_in6 *)&a->sa;
    const struct sockaddr_in6 *y = (const struct sockaddr_in6 *)&b->sa;
    return x->sin6_port == y->sin6_port &&
           x->sin6_scope_id == y->sin6_scope_id &&
           memcmp(&x->sin6_addr, &y->sin6_addr, sizeof(x->sin6_addr)) == 0;
}
