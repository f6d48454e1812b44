/* SPDX-License-Identifier: MPL-2.0 */
/* Keyed tokens of routes, and the routes of a connection. */
#include "internal/net/route.h"

#include <stdlib.h>
#include <string.h>

#include "internal/common/siphash.h"

/* The input of a token. It has no padding. */
struct route_place {
    struct in6_addr remote;
    struct in6_addr local;
    uint32_t scope; /* scope of a link-local remote address */
    uint32_t port;
};

#define ANY_PORT UINT32_MAX

static struct route_place route_remote(const net__addr *a) {
    struct route_place p = {.port = ANY_PORT};

    net__addr_ip(a, &p.remote);
    if (a->sa.sa_family == AF_INET6 &&
        IN6_IS_ADDR_LINKLOCAL(&a->in6.sin6_addr)) {
        p.scope = a->in6.sin6_scope_id;
    }
    return p;
}

static uint64_t route_hash(const uint8_t *key, const void *data, size_t len) {
    uint64_t token = cmn__siphash(key, data, len);

    return token != 0 ? token : 1;
}

uint64_t net__host_token(const uint8_t *key, const net__addr *a) {
    const struct route_place p = route_remote(a);

    return route_hash(key, &p, sizeof(p));
}

uint64_t net__addr_token(const uint8_t *key, const net__addr *a) {
    struct route_place p = route_remote(a);

    p.port = net__addr_port(a);
    return route_hash(key, &p, sizeof(p));
}

uint64_t net__route_token(const uint8_t *key, const net__route *r) {
    struct route_place p = route_remote(&r->remote);

    p.local = r->local;
    p.port = net__addr_port(&r->remote);
    return route_hash(key, &p, sizeof(p));
}

uint64_t net__route_network(const uint8_t *key, const net__route *r) {
    struct in6_addr ip;

    net__addr_ip(&r->remote, &ip);
    return route_hash(key, &ip, IN6_IS_ADDR_V4MAPPED(&ip) ? 16 : 8);
}

uint64_t net__route_block(const uint8_t *key, const net__route *r,
                          unsigned bits) {
    struct in6_addr ip;

    net__addr_ip(&r->remote, &ip);
    return IN6_IS_ADDR_V4MAPPED(&ip) ? 0 : route_hash(key, &ip, bits / 8);
}

struct net__more_routes {
    unsigned next; /* index of all for the next new one */
    net__known_route known[NET__ROUTES - 1];
};

/* NULL: there is no memory for it yet. */
static net__known_route *routes_at(const net__routes *t, unsigned i) {
    if (i == 0) {
        return (net__known_route *)&t->first;
    }
    return t->more != NULL ? &t->more->known[i - 1] : NULL;
}

const net__route *net__routes_find(const net__routes *t, uint64_t token) {
    for (unsigned i = 0; i < NET__ROUTES; i++) {
        const net__known_route *k = routes_at(t, i);

        if (k != NULL && k->token == token) {
            return &k->route;
        }
    }
    return NULL;
}

/* Where the next new one goes. */
static unsigned routes_after(unsigned i) {
    return (i + 1) % NET__ROUTES;
}

void net__routes_add(net__routes *t, uint64_t token, const net__route *r,
                     uint64_t keep) {
    const net__known_route added = {.token = token, .route = *r};
    struct net__more_routes *m = t->more;

    if (net__routes_find(t, token) != NULL) {
        return;
    }
    if (t->first.token == 0) {
        t->first = added;
        return;
    }
    if (m == NULL) {
        m = calloc(1, sizeof(*m));
        if (m == NULL) {
            return;
        }
        m->next = 1;
        t->more = m;
    }
    if (routes_at(t, m->next)->token == keep) {
        m->next = routes_after(m->next);
    }
    *routes_at(t, m->next) = added;
    m->next = routes_after(m->next);
}

void net__routes_free(net__routes *t) {
    free(t->more);
    t->more = NULL;
}
