/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "libtltcp/socket/sock.h"
#include "libtltcp/socket/trace.h"

static void feed_caller(struct tltcp__reactor *r, const net__burst *b,
                        tltcp_time now) {
    tltcp_socket *s = r->all;
    tltcp_pktinfo info = {.path = 1, .ecn = b->ecn};

    if (s == NULL || s->over) {
        return;
    }
    r->calling->heard = now;
    for (size_t at = 0; at < b->len; at += b->segment) {
        size_t left = b->len - at;

        (void)tltcp_conn_recv(tltcp__engine(s), &info, b->data + at,
                              left < b->segment ? left : b->segment, now);
    }
    tltcp__mark(s);
}

/* Bursts of one peer follow each other: the newest tokens are remembered. */
static tltcp_pktinfo info_of(struct tltcp__reactor *r, const net__route *route,
                             uint32_t ecn) {
    /* Where padding differs a token is made once more, that is all. */
    /* NOLINTNEXTLINE */
    if (memcmp(&r->last_route, route, sizeof(*route)) != 0) {
        r->last_route = *route;
        r->last_token = net__route_token(r->key, route);
        r->last_network = net__route_network(r->key, route);
    }
    return (tltcp_pktinfo){
        .path = r->last_token, .ecn = ecn, .network = r->last_network};
}

static void reply(struct tltcp__reactor *r, const net__route *route,
                  const tltcp_dispatch *d) {
    uint8_t *room = net__udp_room(r->udp);

    if (room == NULL) {
        uv_mutex_unlock(&r->mx);
        (void)net__udp_flush(r->udp);
        uv_mutex_lock(&r->mx);
        room = net__udp_room(r->udp);
    }
    if (room != NULL) { /* else blocked: the caller asks again */
        memcpy(room, d->reply, d->reply_len);
        net__udp_put(r->udp, route, 0, d->reply_len, d->reply_len);
    }
}

static void taken(tltcp_conn *conn, uint64_t token, const net__route *route) {
    tltcp_socket *s = tltcp_conn_user(conn);

    if (s == NULL) {
        return;
    }
    if (s->routes.token[0] != token) {
        net__routes_add(&s->routes, token, route, tltcp_conn_path(conn));
    }
    tltcp__mark(s);
}

static void feed_listener(struct tltcp__reactor *r, const net__burst *b) {
    tltcp_pktinfo info = info_of(r, b->route, b->ecn);
    tltcp_dispatch d;
    tltcp_time now = tltcp_now();

    for (size_t at = 0; at < b->len; at += b->segment) {
        size_t left = b->len - at;
        size_t len = left < b->segment ? left : b->segment;
        int verdict;

        r->current = NULL; /* not known yet */
        verdict = tltcp_endpoint_recv(r->listening->endpoint, &info,
                                      b->data + at, len, &d, now);
        if (verdict == TLTCP_TAKEN) {
            taken(d.conn, info.path, b->route);
        } else if (verdict == TLTCP_CALLER) {
            tltcp__listening_caller(r, d.conn, info.path, b->route);
            now = tltcp_now(); /* mx was free for a while */
        } else if (verdict == TLTCP_REPLY) {
            reply(r, b->route, &d);
        }
        if (r->tracer != NULL && verdict != TLTCP_DROPPED &&
            verdict != TLTCP_REPLY) {
            tltcp__tracer_adopt(r->tracer, tltcp_conn_user(d.conn));
        }
    }
}

static void on_bursts(void *owner, const net__burst *in, size_t count) {
    struct tltcp__reactor *r = owner;

    uv_mutex_lock(&r->mx);
    for (size_t i = 0; i < count; i++) {
        if (r->calling != NULL) {
            feed_caller(r, &in[i], tltcp_now());
        } else {
            feed_listener(r, &in[i]);
        }
    }
    uv_mutex_unlock(&r->mx);
}

static void on_writable(void *owner) {
    (void)owner; /* the end of this turn pumps those who wait */
}

static void on_error(void *owner, int status) {
    struct tltcp__reactor *r = owner;

    if (r->calling != NULL) {
        tltcp__calling_on_error(r, status);
    }
}

const net__udp_ops tltcp__udp_ops = {
    .on_bursts = on_bursts, .on_writable = on_writable, .on_error = on_error};
