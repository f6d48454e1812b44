/* SPDX-License-Identifier: MPL-2.0 */
#include "libsaratoga/node/node_impl.h"

#include <stdio.h>
#include <string.h>

#if !defined(_WIN32)
#include <arpa/inet.h>
#endif

/* Groups: who belongs to them, what came to them, and how one who only sends to
 * one hears what its members miss. */

#define STATUS 4u /* type of a packet */
#define TYPE_MASK 0x1Fu

static bool is_multicast(const struct in6_addr *ip) {
    return IN6_IS_ADDR_MULTICAST(ip) ||
           (IN6_IS_ADDR_V4MAPPED(ip) && (ip->s6_addr[12] & 0xf0u) == 0xe0u);
}

bool saratoga__is_group(const net__addr *a) {
    struct in6_addr ip;

    net__addr_ip(a, &ip);
    return is_multicast(&ip);
}

bool saratoga__group_of(const saratoga_node *u, const net__route *r,
                        net__route *group) {
    net__addr own;

    if (!is_multicast(&r->local) ||
        net__udp_local(u->ear != NULL ? u->ear : u->udp, &own) != 0) {
        return false;
    }
    *group = *r; /* the scope is that of the sender */
    memset(&group->local, 0, sizeof(group->local));
    if (r->remote.sa.sa_family == AF_INET6) {
        group->remote.in6.sin6_addr = r->local;
    } else {
        memcpy(&group->remote.in4.sin_addr, &r->local.s6_addr[12],
               sizeof(group->remote.in4.sin_addr));
    }
    /* The same place in both kinds of address. */
    group->remote.in4.sin_port = htons(net__addr_port(&own));
    return true;
}

static void join(int fd, const struct in_addr *four,
                 const struct in6_addr *six) {
#if !defined(_WIN32)
    struct ip_mreq a;
    struct ipv6_mreq b;

    memset(&a, 0, sizeof(a));
    memset(&b, 0, sizeof(b));
    if (four != NULL) {
        a.imr_multiaddr = *four;
        (void)setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &a, sizeof(a));
    }
    if (six != NULL) {
        b.ipv6mr_multiaddr = *six;
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_JOIN_GROUP, &b, sizeof(b));
    }
#else
    (void)fd;
    (void)four;
    (void)six;
#endif
}

/* Without a route for groups there is nothing to hear.  Another that has our
 * port is told so when it binds; once that is done, ears may be put beside. */
void saratoga__groups_join(saratoga_node *u) {
    int fd = net__udp_fileno(u->udp);
    struct in_addr four;
    struct in6_addr six;

    if (inet_pton(AF_INET, SARATOGA_GROUP_IPV4, &four) == 1 &&
        inet_pton(AF_INET6, SARATOGA_GROUP_IPV6, &six) == 1) {
        join(fd, &four, &six);
    }
    net__udp_share(u->udp);
}

/* --- The ear ------------------------------------------------------------- */

/* Answers leave by the other socket, which may know other addresses. */
static void multicast_take(saratoga_node *u, const net__burst *in) {
    net__burst b = *in;
    net__route r = *in->route;
    net__addr own;

    if (net__udp_local(u->udp, &own) == 0 && own.sa.sa_family == AF_INET6) {
        net__addr_map(&r.remote);
    }
    b.route = &r;
    saratoga__net_take(u, &b, 1, SARATOGA_PKT_MULTICAST);
}

/* Our own DATA come back, too: what members say is STATUS. */
static void multicast_on_bursts(void *owner, const net__burst *in,
                                size_t count) {
    saratoga_node *u = owner;

    for (size_t i = 0; i < count; i++) {
        if (in[i].len > 0 &&
            (u->ear_takes_all || (in[i].data[0] & TYPE_MASK) == STATUS)) {
            multicast_take(u, &in[i]);
        }
    }
}

static void multicast_on_writable(void *owner) {
    (void)owner; /* it only hears */
}

static void multicast_on_error(void *owner, int status) {
    (void)owner;
    (void)status;
}

static const net__udp_ops ear_ops = {.on_bursts = multicast_on_bursts,
                                     .on_writable = multicast_on_writable,
                                     .on_error = multicast_on_error};

static bool is_same(const net__addr *a, const net__addr *b) {
    struct in6_addr x;
    struct in6_addr y;

    net__addr_ip(a, &x);
    net__addr_ip(b, &y);
    return IN6_ARE_ADDR_EQUAL(&x, &y) && net__addr_port(a) == net__addr_port(b);
}

int saratoga__ear_open(saratoga_node *u, const net__addr *group, bool all) {
    net__addr at = *group;
    net__udp_options o = saratoga__net_options(u, &at, &ear_ops);
    int rv;

    net__addr_unmap(&at);
    if (u->ear != NULL) {
        u->ear_takes_all |= all;
        return is_same(&at, &u->ear_at) ? 0 : UV_EBUSY;
    }
    u->ear_takes_all = all;
    u->ear_at = at;
    o.shared = true;
    rv = net__udp_open(&u->ear, u->loop, &o);
    if (rv != 0) {
        u->ear = NULL;
        return rv;
    }
    join(net__udp_fileno(u->ear),
         at.sa.sa_family == AF_INET ? &at.in4.sin_addr : NULL,
         at.sa.sa_family == AF_INET6 ? &at.in6.sin6_addr : NULL);
    return 0;
}

void saratoga__ear_close(saratoga_node *u) {
    if (u->ear != NULL) {
        net__udp_close(u->ear);
    }
    u->ear = NULL;
}

/* --- Gets that are answered to a group ----------------------------------- */

/* Blocks for the sake of a name; before anything runs. */
int saratoga__group_open(saratoga_node *u, char *why) {
    const char *host = u->config.group;
    const char *service = u->config.group_service;
    net__route *to = &u->group_route;
    net__addr own;
    int rv;

    if (host == NULL) {
        return 0;
    }
    rv = saratoga__resolve(host, service != NULL ? service : "7542", false,
                           &to->remote);
    if (rv == 0 && !saratoga__is_group(&to->remote)) {
        (void)snprintf(why, SARATOGA_NODE_TEXT,
                       "%s is no group: a multicast address is wanted", host);
        return UV_EINVAL;
    }
    if (rv == 0) {
        net__udp_share(u->udp);
        rv = saratoga__ear_open(u, &to->remote, false);
    }
    if (rv != 0) {
        (void)snprintf(why, SARATOGA_NODE_TEXT, "%s: %s", host,
                       saratoga__error_text(rv));
        return rv;
    }
    if (net__udp_local(u->udp, &own) == 0 && own.sa.sa_family == AF_INET6) {
        net__addr_map(&to->remote);
    }
    saratoga__pktinfo(u, to, &u->group);
    return 0;
}

/* The one that brings the same to the group already. */
static const saratoga__file *under_way(const saratoga__file *f) {
    const saratoga__file *found = NULL;

    for (const saratoga__file *g = f->u->files; g != NULL; g = g->next) {
        if (g != f && g->to_group && !g->ended &&
            strcmp(g->path, f->path) == 0 && g->st.st_ino == f->st.st_ino &&
            g->st.st_dev == f->st.st_dev && !saratoga__source_changed(g)) {
            found = g;
        }
    }
    return found;
}

bool saratoga__group_give(saratoga__file *f, saratoga_answer *a) {
    const saratoga__file *other;

    if (f->u->group.path == 0 || f->request != SARATOGA_GET ||
        saratoga__is_stream(f) || f->source.unchanged) {
        return false;
    }
    other = under_way(f);
    if (other != NULL &&
        saratoga_transfer_join(f->u->node, f->handle, other->handle,
                               saratoga__now()) == 0) {
        f->result.joined = true;
        saratoga__kick(f->u);
        return true;
    }
    a->group = f->u->group;
    f->to_group = true;
    return false;
}
