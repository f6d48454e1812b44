/* SPDX-License-Identifier: MPL-2.0 */
/* The UDP sockets of a node. */
#include "libsaratoga/node/sockets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libsaratoga/node/address.h"
#include "libsaratoga/node/errors.h"

/* Kernel buffer: a tenth of a second at 300 Mbit/s. */
#define BUFFER ((size_t)4 * 1024 * 1024)

static void socket_on_bursts(void *owner, const net__burst *in, size_t count) {
    saratoga_node *u = owner;

    u->net.deliver(u, in, count, 0);
}

static void on_lite(void *owner, const net__burst *in, size_t count) {
    saratoga_node *u = owner;

    u->net.deliver(u, in, count, SARATOGA_PKT_LITE);
}

static void socket_on_writable(void *owner) {
    saratoga__wake((saratoga_node *)owner);
}

/* Hosts come and go with satellite passes: timers decide, not ICMP errors. */
static void socket_on_error(void *owner, int status) {
    (void)owner;
    (void)status;
}

static const net__udp_ops udp_ops = {.on_bursts = socket_on_bursts,
                                     .on_writable = socket_on_writable,
                                     .on_error = socket_on_error};
static const net__udp_ops lite_ops = {.on_bursts = on_lite,
                                      .on_writable = socket_on_writable,
                                      .on_error = socket_on_error};

void saratoga__sockets_flush(saratoga_node *u) {
    (void)net__udp_flush(u->net.udp);
    if (u->net.lite != NULL) {
        (void)net__udp_flush(u->net.lite);
    }
}

uint8_t *saratoga__socket_room(saratoga_node *u) {
    uint8_t *room = net__udp_room(u->net.udp);

    if (room == NULL && net__udp_flush(u->net.udp)) {
        room = net__udp_room(u->net.udp);
    }
    return room;
}

void saratoga__map_for_socket(const saratoga_node *u, net__addr *a) {
    net__addr own;

    if (net__udp_local(u->net.udp, &own) == 0 && own.sa.sa_family == AF_INET6) {
        net__addr_map(a);
    }
}

/* --- Opening ------------------------------------------------------------- */

net__udp_options saratoga__socket_options(saratoga_node *u, const net__addr *at,
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
    net__udp_options o = saratoga__socket_options(u, at, &udp_ops);

    o.plain = u->config.plain_udp;
    return net__udp_open(&u->net.udp, u->loop.uv, &o);
}

/* Opens UDP-Lite on the port of the other socket. A system without UDP-Lite
 * sends everything by UDP, and does not advertise UDP-Lite. */
static void open_lite(saratoga_node *u) {
    net__addr at = {0};
    net__udp_options o = saratoga__socket_options(u, &at, &lite_ops);

    if (!u->engine_config.lite && !u->options.lite) {
        return;
    }
    o.lite = true;
    if (net__udp_local(u->net.udp, &at) != 0 ||
        net__udp_open(&u->net.lite, u->loop.uv, &o) != 0) {
        u->net.lite = NULL;
        u->engine_config.lite = false;
    }
}

static int open_any(saratoga_node *u, const char *service) {
    net__addr at;
    int rv = saratoga__resolve("::", service, true, &at);

    if (rv == 0) {
        rv = open_at(u, &at);
    }
    /* No IPv6 on this machine. */
    if (rv == UV_EAFNOSUPPORT || rv == UV_EADDRNOTAVAIL ||
        rv == UV_EAI_NONAME) {
        rv = saratoga__resolve("0.0.0.0", service, true, &at);
        if (rv == 0) {
            rv = open_at(u, &at);
        }
    }
    return rv;
}

int saratoga__sockets_open(saratoga_node *u, char *why) {
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
    return 0;
}

void saratoga__sockets_close(saratoga_node *u) {
    if (u->net.udp != NULL) {
        net__udp_close(u->net.udp);
    }
    u->net.udp = NULL;
    if (u->net.lite != NULL) {
        net__udp_close(u->net.lite);
    }
    u->net.lite = NULL;
    free(u->routes.entry);
    u->routes.entry = NULL;
}
