/* SPDX-License-Identifier: MPL-2.0 */
/* A caller's attempts to connect, address by address. */
#include "libtltcp/socket/attempt.h"

#include <string.h>

#include "libtltcp/socket/schedule.h"
#include "libtltcp/socket/tcp_call.h"

/* After this much silence the local address may be stale. */
#define STALE (2 * TLTCP_S)
/* An ICMP message that a port is closed may be forged. It is believed if
 * another arrives after this time and there was no answer ... */
#define REFUSAL_SURE TLTCP_S
/* ... but the next address, if there is one, need not wait as long (RFC 8305,
 * section 5). */
#define NEXT_ADDRESS (250 * TLTCP_MS)
/* Time between two attempts to restore a route. */
#define REROUTE (100 * TLTCP_MS)

void tltcp__attempt_on_error(struct tltcp__port *port, int status) {
    if (status == UV_ECONNREFUSED) {
        port->calling->refused = true;
    } else if (status != UV_ENOBUFS && status != UV_ENOMEM) {
        port->calling->unroutable = true;
    }
}

void tltcp__attempt_on_sent(struct tltcp__port *port, const uint8_t *data,
                            size_t len) {
    struct tltcp__calling *c = port->calling;

    c->sent = tltcp_now();
    if (c->hello != NULL && len <= TLTCP__HELLO_MAX) {
        memcpy(c->hello, data, len);
        c->hello_len = len;
    }
}

static void attempt_say_hello_again(struct tltcp__port *port) {
    uint8_t *room = net__udp_room(port->udp);

    if (room != NULL && port->calling->hello_len > 0) {
        memcpy(room, port->calling->hello, port->calling->hello_len);
        net__udp_put(port->udp, NULL, 0, port->calling->hello_len,
                     port->calling->hello_len);
        tltcp__flush_later(port);
    }
}

static void attempt_set_next(struct tltcp__calling *c) {
    c->refused_since = 0;
    c->next = c->at + 1 < c->count ? tltcp_now() + c->each : TLTCP_TIME_NEVER;
}

int tltcp__attempt_first(struct tltcp__port *port) {
    struct tltcp__calling *c = port->calling;
    int rv = UV_EADDRNOTAVAIL;

    for (c->at = 0; c->at < c->count; c->at++) {
        if (net__addr_port(&c->to[c->at]) == 0) {
            continue;
        }
        rv = net__udp_connect(port->udp, &c->to[c->at]);
        if (rv == 0) {
            attempt_set_next(c);
            return 0;
        }
    }
    return rv;
}

/* Proceeds to the next reachable address. */
static void attempt_next(struct tltcp__port *port) {
    struct tltcp__calling *c = port->calling;

    while (c->at + 1 < c->count) {
        c->at++;
        if (net__udp_connect(port->udp, &c->to[c->at]) == 0) {
            attempt_set_next(c);
            attempt_say_hello_again(port);
            return;
        }
    }
    c->next = TLTCP_TIME_NEVER;
}

static void attempt_on_refusal(tltcp_socket *s, tltcp_time now) {
    struct tltcp__calling *c = s->port->calling;

    if (c->refused_since == 0) {
        c->refused_since = now;
    }
    if (c->at + 1 < c->count) {
        c->next = c->next < now + NEXT_ADDRESS ? c->next : now + NEXT_ADDRESS;
    } else if (c->tcp_after != TLTCP_TIME_NEVER) {
        tltcp__tcp_call(s); /* no need to wait longer */
    } else if (now - c->refused_since >= REFUSAL_SURE && s->link == NULL) {
        tltcp_conn_abort(tltcp__engine(s), TLTCP_ERR_REFUSED,
                         "no process listens at that port", now);
    }
}

static void attempt_connecting(tltcp_socket *s, tltcp_time now) {
    struct tltcp__calling *c = s->port->calling;

    if (c->answered) {
        c->tcp_after = TLTCP_TIME_NEVER; /* UDP works */
    } else if (now >= c->tcp_after) {
        tltcp__tcp_call(s);
    }
    if (c->refused) {
        attempt_on_refusal(s, now);
    }
    if (c->unroutable || now >= c->next) {
        attempt_next(s->port);
    }
    c->refused = false;
    c->unroutable = false; /* of the last address: a route may still appear */
}

static void attempt_local(struct tltcp__port *port, net__addr *a) {
    memset(a, 0, sizeof(*a));
    (void)net__udp_local(port->udp, a);
}

/* Whether the local address is still that one. */
static bool attempt_is_local(struct tltcp__port *port, const net__addr *a) {
    net__addr now;
    struct in6_addr ip[2];

    attempt_local(port, &now);
    net__addr_ip(&now, &ip[0]);
    net__addr_ip(a, &ip[1]);
    return net__addr_port(&now) == net__addr_port(a) &&
           memcmp(&ip[0], &ip[1], sizeof(ip[0])) == 0;
}

/* A connected socket keeps its initial local address; when that is gone,
 * connecting it again picks one that works. */
static void attempt_keep_route(tltcp_socket *s, tltcp_time now) {
    struct tltcp__port *port = s->port;
    struct tltcp__calling *c = port->calling;
    bool stale = c->sent > c->heard && now - c->heard > STALE &&
                 now - c->repicked > STALE;

    if (stale || (c->unroutable && now - c->repicked > REROUTE)) {
        net__addr before;

        c->repicked = now;
        attempt_local(port, &before);
        c->unroutable = net__udp_connect(port->udp, &c->to[c->at]) != 0;
        if (!c->unroutable && !attempt_is_local(port, &before)) {
            (void)tltcp_conn_migrate(tltcp__engine(s));
        }
    }
}

void tltcp__attempt_turn(tltcp_socket *s) {
    struct tltcp__calling *c = s->port->calling;
    tltcp_time now = tltcp_now();

    if (s->closed || s->reliable || s->port->udp == NULL) {
        return;
    }
    if (!s->connected) {
        attempt_connecting(s, now);
        return;
    }
    tltcp__tcp_call_stop(s);
    c->refused = false; /* could be forged: silence decides */
    c->next = TLTCP_TIME_NEVER;
    attempt_keep_route(s, now);
}
