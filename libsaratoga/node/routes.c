/* SPDX-License-Identifier: MPL-2.0 */
/* Tokens of addresses, and back. */
#include "libsaratoga/node/routes.h"

#include <string.h>

#include "libsaratoga/node/address.h"

static bool is_ipv6(const net__addr *a) {
    return a->sa.sa_family == AF_INET6 &&
           !IN6_IS_ADDR_V4MAPPED(&a->in6.sin6_addr);
}

static struct saratoga__route_entry *slot(saratoga_node *u, uint64_t path) {
    return &u->routes.entry[(path >> 8) & (SARATOGA__ROUTES - 1)];
}

void saratoga__place(const saratoga_node *u, const net__route *r,
                     saratoga_pktinfo *info) {
    memset(info, 0, sizeof(*info));
    info->host = net__host_token(u->routes.key, &r->remote);
    info->path = net__addr_token(u->routes.key, &r->remote);
    info->flags = saratoga__is_multicast(&r->remote)
                      ? (uint32_t)SARATOGA_PKT_MULTICAST
                      : 0;
    info->flags |= is_ipv6(&r->remote) ? (uint32_t)SARATOGA_PKT_IPV6 : 0;
}

void saratoga__remember(saratoga_node *u, uint64_t path, const net__route *r) {
    struct saratoga__route_entry *e = slot(u, path);

    e->path = path;
    e->route = *r;
}

void saratoga__pktinfo(saratoga_node *u, const net__route *r,
                       saratoga_pktinfo *info) {
    saratoga__place(u, r, info);
    saratoga__remember(u, info->path, r);
}

const net__route *saratoga__route_of_path(saratoga_node *u, uint64_t path) {
    const struct saratoga__route_entry *e = slot(u, path);

    if (e->path == path) {
        return &e->route;
    }
    for (const saratoga__file *f = u->files; f != NULL; f = f->next) {
        if (f->peer.path == path) {
            return &f->peer.route;
        }
    }
    return NULL;
}

void saratoga__peer_is_at(saratoga__file *f, const saratoga_pktinfo *at,
                          const net__route *r) {
    f->peer.host = at->host;
    f->peer.path = at->path;
    f->peer.route = *r;
}

/* The route of the transfer with this address. If none has it, that of the only
 * transfer with this host: a peer may have changed its port. Several clients
 * behind one NAT have the same host. */
static const net__route *route_of_transfer(const saratoga_node *u,
                                           const saratoga_pktinfo *to) {
    const saratoga__file *near = NULL;
    bool several = false;

    for (const saratoga__file *f = u->files; f != NULL; f = f->next) {
        if (f->peer.path == to->path) {
            return &f->peer.route;
        }
        if (f->peer.host == to->host) {
            several |= near != NULL && near->peer.path != f->peer.path;
            near = f;
        }
    }
    return near != NULL && !several ? &near->peer.route : NULL;
}

/* A flood of other addresses may have evicted a route: the transfers keep
 * theirs. */
const net__route *saratoga__route_of(saratoga_node *u,
                                     const saratoga_pktinfo *to) {
    const struct saratoga__route_entry *e = slot(u, to->path);

    if (e->path == to->path) {
        return &e->route;
    }
    if (to->path == u->engine_config.beacon_to.path) {
        return &u->routes.beacon;
    }
    if (to->path == u->routes.group_info.path) {
        return &u->routes.group;
    }
    return route_of_transfer(u, to);
}
