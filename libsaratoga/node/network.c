/* SPDX-License-Identifier: MPL-2.0 */
/* Datagrams between sockets, seals and engine. */
#include "libsaratoga/node/network.h"

#include <string.h>

#include "libsaratoga/node/multicast.h"
#include "libsaratoga/node/routes.h"
#include "libsaratoga/node/secure.h"
#include "libsaratoga/node/sockets.h"

/* Bursts per turn of the loop. */
#define BURSTS 32

/* --- Receiving ----------------------------------------------------------- */

/* Finds the sender, and the group if the datagram was sent to one; the answer
 * then leaves from one of our own addresses. */
static void find_origin(saratoga_node *u, const net__route *r,
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

static void note_rejected(saratoga_node *u, const net__route *from) {
    uint64_t rejected =
        saratoga_engine_rejected(u->engine) + saratoga__secure_rejected(u);

    if (rejected != u->rejected) {
        u->rejected = rejected;
        u->rejected_from = from->remote;
    }
}

void saratoga__datagrams_take(saratoga_node *u, const net__burst *in,
                              size_t count, uint32_t flags) {
    saratoga_time now = saratoga__now();

    for (size_t i = 0; i < count; i++) {
        const net__burst *b = &in[i];
        saratoga_pktinfo from;

        memset(&from, 0, sizeof(from));
        if (!saratoga__is_secured(u)) {
            find_origin(u, b->route, &from);
            from.flags |= flags;
        }
        for (size_t at = 0; at < b->len; at += b->segment) {
            size_t left = b->len - at;
            size_t len = left < b->segment ? left : b->segment;

            if (!saratoga__secure_take(u, b->route, b->data + at, len, now)) {
                saratoga_engine_recv(u->engine, &from, b->data + at, len, now);
            }
        }
        note_rejected(u, b->route);
    }
    saratoga__wake(u);
}

/* --- Sending ------------------------------------------------------------- */

/* Sends by UDP-Lite what may use it. If that socket is full, the data is lost
 * and repaired like any loss. */
static bool put_lite(saratoga_node *u, const net__route *r,
                     const saratoga_pktinfo *to, const uint8_t *data,
                     size_t len, size_t segment) {
    uint8_t *room;

    if (u->net.lite == NULL || (to->flags & SARATOGA_PKT_LITE) == 0) {
        return false;
    }
    net__udp_cover(u->net.lite, to->coverage);
    room = net__udp_room(u->net.lite);
    if (room == NULL && net__udp_flush(u->net.lite)) {
        room = net__udp_room(u->net.lite);
    }
    if (room != NULL) {
        memcpy(room, data, len);
        net__udp_put(u->net.lite, r, 0, len, segment);
    }
    return true;
}

/* Sends one burst as the engine wrote it. */
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
        net__udp_put(u->net.udp, &fixed, 0, len, segment);
    }
}

/* False: nothing left, or the socket is full and on_writable follows. */
static bool send_burst(saratoga_node *u, saratoga_time now) {
    bool secured = saratoga__is_secured(u);
    uint8_t *room = saratoga__socket_room(u);
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
    len = saratoga_engine_send(u->engine, &to, room, cap, &segment, now);
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

bool saratoga__datagrams_send(saratoga_node *u) {
    saratoga_time now = saratoga__now();
    bool more = saratoga__secure_send(u, now);

    for (unsigned i = 0; i < BURSTS && more; i++) {
        more = send_burst(u, now);
    }
    (void)saratoga__secure_send(u, now); /* handshakes in progress */
    saratoga__sockets_flush(u);
    return more;
}
