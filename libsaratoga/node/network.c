/* SPDX-License-Identifier: MPL-2.0 */
#include "libsaratoga/node/node_impl.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the kernel holds for us: a tenth of a second at 300 Mbit/s. */
#define BUFFER ((size_t)4 * 1024 * 1024)
/* Bursts before the rest of the loop has its turn. */
#define BURSTS 32

/* --- Addresses ----------------------------------------------------------- */

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

/* --- Tokens -------------------------------------------------------------- */

/* The address, and with_port also the port, as a number that is never 0. */
static uint64_t token(const saratoga_node *u, const net__addr *a,
                      bool with_port) {
    struct {
        struct in6_addr ip;
        uint32_t scope;
        uint32_t port;
    } who;

    memset(&who, 0, sizeof(who));
    net__addr_ip(a, &who.ip);
    who.scope =
        a->sa.sa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&a->in6.sin6_addr)
            ? a->in6.sin6_scope_id
            : 0;
    who.port = with_port ? net__addr_port(a) : UINT32_MAX;
    return net__siphash(u->routes.key, &who, sizeof(who)) | 1u;
}

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
    info->host = token(u, &r->remote, false);
    info->path = token(u, &r->remote, true);
    info->flags =
        saratoga__is_group(&r->remote) ? (uint32_t)SARATOGA_PKT_MULTICAST : 0;
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
        if (f->path_token == path) {
            return &f->peer;
        }
    }
    return NULL;
}

/* A flood of other addresses may have pushed a route out: the files know
 * theirs. */
const net__route *saratoga__route_of(saratoga_node *u,
                                     const saratoga_pktinfo *to) {
    const struct saratoga__route_entry *e = slot(u, to->path);

    if (e->path == to->path) {
        return &e->route;
    }
    if (to->path == u->engine.beacon_to.path) {
        return &u->beacon_route;
    }
    if (to->path == u->group.path) {
        return &u->group_route;
    }
    for (const saratoga__file *f = u->files; f != NULL; f = f->next) {
        if (f->host == to->host) {
            return &f->peer;
        }
    }
    return NULL;
}

/* --- Receiving ----------------------------------------------------------- */

/* Who sent it; and to which group, if it came to one: answers to that come from
 * an address of ours. */
static void tell_origin(saratoga_node *u, const net__route *r,
                        saratoga_pktinfo *from) {
    net__route back = *r;
    net__route group;
    saratoga_pktinfo to;

    if (!saratoga__group_of(u, r, &group)) {
        saratoga__pktinfo(u, r, from);
        return;
    }
    saratoga__pktinfo(u, &group, &to);
    memset(&back.local, 0, sizeof(back.local));
    saratoga__pktinfo(u, &back, from);
    from->group = to.path;
    from->flags |= SARATOGA_PKT_MULTICAST;
}

void saratoga__net_take(saratoga_node *u, const net__burst *in, size_t count,
                        uint32_t flags) {
    saratoga_time now = saratoga__now();

    for (size_t i = 0; i < count; i++) {
        const net__burst *b = &in[i];
        saratoga_pktinfo from;

        memset(&from, 0, sizeof(from));
        if (!saratoga__is_secured(u)) {
            tell_origin(u, b->route, &from);
            from.flags |= flags;
        }
        for (size_t at = 0; at < b->len; at += b->segment) {
            size_t left = b->len - at;
            size_t len = left < b->segment ? left : b->segment;

            if (!saratoga__secure_take(u, b->route, b->data + at, len, now)) {
                saratoga_engine_recv(u->node, &from, b->data + at, len, now);
            }
        }
    }
    saratoga__kick(u);
}

static void network_on_bursts(void *owner, const net__burst *in, size_t count) {
    saratoga__net_take(owner, in, count, 0);
}

static void on_lite(void *owner, const net__burst *in, size_t count) {
    saratoga__net_take(owner, in, count, SARATOGA_PKT_LITE);
}

static void network_on_writable(void *owner) {
    saratoga__kick(owner);
}

/* Refusals of a peer's host come and go with passes: the timers tell. */
static void network_on_error(void *owner, int status) {
    (void)owner;
    (void)status;
}

static const net__udp_ops udp_ops = {.on_bursts = network_on_bursts,
                                     .on_writable = network_on_writable,
                                     .on_error = network_on_error};
static const net__udp_ops lite_ops = {.on_bursts = on_lite,
                                      .on_writable = network_on_writable,
                                      .on_error = network_on_error};

/* --- Sending ------------------------------------------------------------- */

/* By UDP-Lite what may go by it.  Should its socket be full it is lost, and
 * repaired like any loss: those who tolerate errors seldom mind. */
static bool put_lite(saratoga_node *u, const net__route *r,
                     const saratoga_pktinfo *to, const uint8_t *data,
                     size_t len, size_t segment) {
    uint8_t *room;

    if (u->lite == NULL || (to->flags & SARATOGA_PKT_LITE) == 0) {
        return false;
    }
    net__udp_cover(u->lite, to->coverage);
    room = net__udp_room(u->lite);
    if (room == NULL && net__udp_flush(u->lite)) {
        room = net__udp_room(u->lite);
    }
    if (room != NULL) {
        memcpy(room, data, len);
        net__udp_put(u->lite, r, 0, len, segment);
    }
    return true;
}

static void flush(saratoga_node *u) {
    (void)net__udp_flush(u->udp);
    if (u->lite != NULL) {
        (void)net__udp_flush(u->lite);
    }
}

uint8_t *saratoga__net_room(saratoga_node *u) {
    uint8_t *room = net__udp_room(u->udp);

    if (room == NULL && net__udp_flush(u->udp)) {
        room = net__udp_room(u->udp);
    }
    return room;
}

/* One burst as the engine wrote it. */
static void put_plain(saratoga_node *u, const saratoga_pktinfo *to,
                      const uint8_t *data, size_t len, size_t segment) {
    const net__route *r = saratoga__route_of(u, to);
    net__route fixed;

    if (r == NULL) {
        return;
    }
    fixed = *r;
    if ((to->flags & SARATOGA_PKT_WELL_KNOWN) != 0) {
        /* The same place in both kinds of address. */
        fixed.remote.in4.sin_port = htons(SARATOGA_PORT);
    }
    if (!put_lite(u, &fixed, to, data, len, segment)) {
        net__udp_put(u->udp, &fixed, 0, len, segment);
    }
}

/* False: nothing is left, or the socket is full and on_writable follows. */
static bool send_burst(saratoga_node *u, saratoga_time now) {
    bool secured = saratoga__is_secured(u);
    uint8_t *room = saratoga__net_room(u);
    size_t cap = NET__BURST_MAX;
    saratoga_pktinfo to;
    size_t segment = 0;
    size_t len;

    if (room == NULL) {
        return false;
    }
    if (secured) {
        room = saratoga__secure_scratch(u, &cap);
    }
    len = saratoga_engine_send(u->node, &to, room, cap, &segment, now);
    if (len == 0) {
        return false;
    }
    if (secured) {
        saratoga__secure_put(u, &to, len, segment, now);
    } else {
        put_plain(u, &to, room, len, segment);
    }
    return true;
}

bool saratoga__net_send(saratoga_node *u) {
    saratoga_time now = saratoga__now();
    bool more = saratoga__secure_send(u, now);

    for (unsigned i = 0; i < BURSTS && more; i++) {
        more = send_burst(u, now);
    }
    (void)saratoga__secure_send(u, now); /* calls that were begun */
    flush(u);
    return more;
}

/* --- Opening ------------------------------------------------------------- */

net__udp_options saratoga__net_options(saratoga_node *u, const net__addr *at,
                                       const net__udp_ops *ops) {
    net__udp_options o;

    memset(&o, 0, sizeof(o));
    o.bind = at;
    o.max_datagram = 65535;
    o.buffer = BUFFER;
    o.ops = ops;
    o.owner = u;
    return o;
}

static int open_at(saratoga_node *u, const net__addr *at) {
    net__udp_options o = saratoga__net_options(u, at, &udp_ops);

    o.plain = u->config.plain_udp;
    return net__udp_open(&u->udp, u->loop, &o);
}

/* On the port of the other socket.  A system without UDP-Lite sends all by UDP,
 * and tells nobody that it could take the other. */
static void open_lite(saratoga_node *u) {
    net__addr at;
    net__udp_options o = saratoga__net_options(u, &at, &lite_ops);

    if (!u->engine.lite && !u->options.lite) {
        return;
    }
    o.lite = true;
    if (net__udp_local(u->udp, &at) != 0 ||
        net__udp_open(&u->lite, u->loop, &o) != 0) {
        u->lite = NULL;
        u->engine.lite = false;
    }
}

static int open_any(saratoga_node *u, const char *service) {
    net__addr at;
    int rv = saratoga__resolve("::", service, true, &at);

    if (rv == 0) {
        rv = open_at(u, &at);
    }
    if (rv == UV_EAFNOSUPPORT || rv == UV_EADDRNOTAVAIL ||
        rv == UV_EAI_NONAME) { /* no IPv6 here */
        rv = saratoga__resolve("0.0.0.0", service, true, &at);
        if (rv == 0) {
            rv = open_at(u, &at);
        }
    }
    return rv;
}

int saratoga__net_open(saratoga_node *u, char *why) {
    const char *service = u->config.service != NULL ? u->config.service : "0";
    const char *host = u->config.host;
    net__addr at;
    int rv;

    u->routes.entry = calloc(SARATOGA__ROUTES, sizeof(*u->routes.entry));
    if (u->routes.entry == NULL) {
        return UV_ENOMEM;
    }
    if (host == NULL || *host == '\0') {
        rv = open_any(u, service);
    } else {
        rv = saratoga__resolve(host, service, true, &at);
        if (rv == 0) {
            rv = open_at(u, &at);
        }
    }
    if (rv != 0) {
        (void)snprintf(why, SARATOGA_NODE_TEXT,
                       "cannot listen on %s port %s: %s",
                       host != NULL ? host : "any address", service,
                       saratoga__error_text(rv));
        return rv;
    }
    open_lite(u);
    if (u->config.join) {
        saratoga__groups_join(u);
    }
    return 0;
}

void saratoga__net_close(saratoga_node *u) {
    saratoga__ear_close(u);
    if (u->udp != NULL) {
        net__udp_close(u->udp);
    }
    u->udp = NULL;
    if (u->lite != NULL) {
        net__udp_close(u->lite);
    }
    u->lite = NULL;
    free(u->routes.entry);
    u->routes.entry = NULL;
}
