/* SPDX-License-Identifier: MPL-2.0 */
#include "internal/net/route.h"

#include <stdlib.h>
#include <string.h>

uint64_t net__route_token(const uint8_t *key, const net__route *r) {
    struct {
        struct in6_addr remote;
        struct in6_addr local;
        uint32_t scope;
        uint32_t port;
    } flat = {.local = r->local};
    uint64_t token;

    net__addr_ip(&r->remote, &flat.remote);
    flat.port = net__addr_port(&r->remote);
    if (r->remote.sa.sa_family == AF_INET6) {
        flat.scope = r->remote.in6.sin6_scope_id;
    }
    token = net__siphash(key, &flat, sizeof(flat));
    return token != 0 ? token : 1;
}

uint64_t net__route_network(const uint8_t *key, const net__route *r) {
    struct in6_addr ip;
    uint64_t token;

    net__addr_ip(&r->remote, &ip);
    token = net__siphash(key, &ip, IN6_IS_ADDR_V4MAPPED(&ip) ? 16 : 8);
    return token != 0 ? token : 1;
}

const net__route *net__routes_find(const net__routes *t, uint64_t token) {
    for (unsigned i = 0; i < NET__ROUTES; i++) {
        if (t->token[i] == token) {
            return &t->route[i];
        }
    }
    return NULL;
}

void net__routes_add(net__routes *t, uint64_t token, const net__route *r,
                     uint64_t keep) {
    if (net__routes_find(t, token) != NULL) {
        return;
    }
    if (t->token[t->next] == keep) {
        t->next = (t->next + 1) % NET__ROUTES;
    }
    t->token[t->next] = token;
    t->route[t->next] = *r;
    t->next = (t->next + 1) % NET__ROUTES;
}
