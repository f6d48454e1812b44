/* SPDX-License-Identifier: MPL-2.0 */
/* Multicast groups: joining, receiving, and how a sender to a group receives
 * its members' reports. */
#include "libsaratoga/node/multicast.h"

#include <stdio.h>
#include <string.h>

#include "libsaratoga/node/address.h"
#include "libsaratoga/node/errors.h"
#include "libsaratoga/node/routes.h"
#include "libsaratoga/node/send_file.h"
#include "libsaratoga/node/sockets.h"
#include "libsaratoga/node/transfer.h"

#if !defined(_WIN32)
#include <arpa/inet.h>
#endif

#define STATUS 4u /* type of a packet */
#define TYPE_MASK 0x1Fu

bool saratoga__group_of(const saratoga_node *u, const net__route *r,
                        net__route *group) {
    net__addr own;

    if (!saratoga__ip_is_multicast(&r->local) ||
        net__udp_local(u->net.multicast != NULL ? u->net.multicast : u->net.udp,
                       &own) != 0) {
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
    /* The port is at the same offset in both kinds of address. */
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

/* Without a multicast route there is nothing to receive. A process that already
 * has our port makes the bind fail; after the bind, further sockets may share
 * the port. */
void saratoga__join_groups(saratoga_node *u) {
    int fd = net__udp_fileno(u->net.udp);
    struct in_addr four;
    struct in6_addr six;

    if (inet_pton(AF_INET, SARATOGA_GROUP_IPV4, &four) == 1 &&
        inet_pton(AF_INET6, SARATOGA_GROUP_IPV6, &six) == 1) {
        join(fd, &four, &six);
    }
    net__udp_share(u->net.udp);
}

/* --- The multicast socket ------------------------------------------------ */

/* Answers leave by the other socket, which may have other addresses. */
static void multicast_deliver(saratoga_node *u, const net__burst *in) {
    net__burst b = *in;
    net__route r = *in->route;

    saratoga__map_for_socket(u, &r.remote);
    b.route = &r;
    u->net.deliver(u, &b, 1, SARATOGA_PKT_MULTICAST);
}

/* Our own DATA is looped back, too; members send STATUS. */
static void multicast_on_bursts(void *owner, const net__burst *in,
                                size_t count) {
    saratoga_node *u = owner;

    for (size_t i = 0; i < count; i++) {
        if (in[i].len > 0 &&
            (u->net.multicast_all || (in[i].data[0] & TYPE_MASK) == STATUS)) {
            multicast_deliver(u, &in[i]);
        }
    }
}

static void multicast_on_writable(void *owner) {
    (void)owner; /* it only receives */
}

static void multicast_on_error(void *owner, int status) {
    (void)owner;
    (void)status;
}

static const net__udp_ops multicast_ops = {.on_bursts = multicast_on_bursts,
                                           .on_writable = multicast_on_writable,
                                           .on_error = multicast_on_error};

int saratoga__multicast_open(saratoga_node *u, const net__addr *group,
                             bool all) {
    net__addr at = *group;
    net__udp_options o = saratoga__socket_options(u, &at, &multicast_ops);
    int rv;

    net__addr_unmap(&at);
    if (u->net.multicast != NULL) {
        u->net.multicast_all |= all;
        return saratoga__address_equal(&at, &u->net.multicast_at)
                   ? 0
                   : SARATOGA__IN_GROUP;
    }
    u->net.multicast_all = all;
    u->net.multicast_at = at;
    o.shared = true;
    rv = net__udp_open(&u->net.multicast, u->loop.uv, &o);
    if (rv != 0) {
        u->net.multicast = NULL;
        return rv;
    }
    join(net__udp_fileno(u->net.multicast),
         at.sa.sa_family == AF_INET ? &at.in4.sin_addr : NULL,
         at.sa.sa_family == AF_INET6 ? &at.in6.sin6_addr : NULL);
    return 0;
}

void saratoga__multicast_close(saratoga_node *u) {
    if (u->net.multicast != NULL) {
        net__udp_close(u->net.multicast);
    }
    u->net.multicast = NULL;
}

/* --- Gets that are answered to a group ----------------------------------- */

/* Blocks for name resolution, before anything runs. */
int saratoga__answer_group_open(saratoga_node *u, char *why) {
    const char *host = u->config.group;
    const char *service = u->config.group_service;
    net__route *to = &u->routes.group;
    int rv;

    if (host == NULL) {
        return 0;
    }
    rv = saratoga__resolve(host, service != NULL ? service : "7542", false,
                           &to->remote);
    if (rv == 0 && !saratoga__is_multicast(&to->remote)) {
        rv = SARATOGA__NO_GROUP;
    }
    if (rv == 0) {
        net__udp_share(u->net.udp);
        rv = saratoga__multicast_open(u, &to->remote, false);
    }
    if (rv != 0) {
        (void)snprintf(why, SARATOGA_NODE_TEXT, "%s: %s", host,
                       saratoga__error_text(rv));
        return rv;
    }
    saratoga__map_for_socket(u, &to->remote);
    saratoga__pktinfo(u, to, &u->routes.group_info);
    return 0;
}

/* The transfer that already sends the same file to the group. */
static const saratoga__file *under_way(const saratoga__file *f) {
    const saratoga__file *found = NULL;

    for (const saratoga__file *g = f->u->files; g != NULL; g = g->next) {
        if (g != f && g->group.addressed && !saratoga__has_ended(g) &&
            strcmp(g->path, f->path) == 0 &&
            g->local.st.st_ino == f->local.st.st_ino &&
            g->local.st.st_dev == f->local.st.st_dev &&
            !saratoga__source_changed(g)) {
            found = g;
        }
    }
    return found;
}

bool saratoga__answer_group(saratoga__file *f, saratoga_answer *a) {
    const saratoga__file *other;

    if (f->u->routes.group_info.path == 0 || f->request != SARATOGA_GET ||
        saratoga__is_stream(f) || f->send.source.unchanged) {
        return false;
    }
    other = under_way(f);
    if (other != NULL &&
        saratoga_transfer_join(f->u->engine, f->handle, other->handle,
                               saratoga__now()) == 0) {
        f->result.joined = true;
        saratoga__wake(f->u);
        return true;
    }
    a->group = f->u->routes.group_info;
    f->group.addressed = true;
    return false;
}
