/* SPDX-License-Identifier: MPL-2.0 */
#include <stdlib.h>
#include <string.h>

#include "internal/secure/secret.h"
#include "libtltcp/socket/options.h"
#include "libtltcp/socket/sock.h"
#include "libtltcp/socket/trace.h"

/* The longest handshake datagram that is worth keeping. */
#define HELLO_MAX ((size_t)2048)
/* Silence after which the local address may have gone stale. */
#define STALE (2 * TLTCP_S)
/* Between two attempts to get a route back. */
#define REROUTE (100 * TLTCP_MS)

/* --- On the I/O thread --------------------------------------------------- */

void tltcp__calling_on_error(struct tltcp__reactor *r, int status) {
    if (status == UV_ECONNREFUSED) {
        r->calling->refused = true;
    } else if (status != UV_ENOBUFS && status != UV_ENOMEM) {
        r->calling->unroutable = true;
    }
}

void tltcp__calling_sent(struct tltcp__reactor *r, const uint8_t *data,
                         size_t len) {
    struct tltcp__calling *c = r->calling;

    c->sent = tltcp_now();
    if (c->hello != NULL && len <= HELLO_MAX) {
        memcpy(c->hello, data, len);
        c->hello_len = len;
    }
}

static void say_hello_again(struct tltcp__reactor *r) {
    uint8_t *room = net__udp_room(r->udp);

    if (room != NULL && r->calling->hello_len > 0) {
        memcpy(room, r->calling->hello, r->calling->hello_len);
        net__udp_put(r->udp, NULL, 0, r->calling->hello_len,
                     r->calling->hello_len);
    }
}

static void set_next(struct tltcp__calling *c) {
    c->next = c->at + 1 < c->count ? tltcp_now() + c->each : TLTCP_TIME_NEVER;
}

/* On to the next address that can be reached at all. */
static bool try_next(struct tltcp__reactor *r) {
    struct tltcp__calling *c = r->calling;

    while (c->at + 1 < c->count) {
        c->at++;
        if (net__udp_connect(r->udp, &c->to[c->at]) == 0) {
            set_next(c);
            say_hello_again(r);
            return true;
        }
    }
    c->next = TLTCP_TIME_NEVER;
    return false;
}

static void connecting(tltcp_socket *s, struct tltcp__calling *c,
                       tltcp_time now) {
    bool refused = c->refused;
    bool next = refused || c->unroutable || now >= c->next;

    c->refused = false;
    c->unroutable = false; /* of the last one: there may be a route yet */
    if (next && !try_next(s->r) && refused) {
        tltcp_conn_abort(tltcp__engine(s), TLTCP_ERR_REFUSED,
                         "nobody listens at that port", now);
        tltcp__mark(s);
    }
}

/* A connected socket keeps the local address that it began with; when that is
 * gone, connecting it anew picks one that works. */
static void keep_route(struct tltcp__reactor *r, tltcp_time now) {
    struct tltcp__calling *c = r->calling;
    bool stale = c->sent > c->heard && now - c->heard > STALE &&
                 now - c->repicked > STALE;

    if (stale || (c->unroutable && now - c->repicked > REROUTE)) {
        c->repicked = now;
        c->unroutable = net__udp_connect(r->udp, &c->to[c->at]) != 0;
    }
}

void tltcp__calling_turn(struct tltcp__reactor *r) {
    tltcp_socket *s = r->all;
    tltcp_time now = tltcp_now();

    if (s == NULL || s->closed) {
        return;
    }
    if (!s->connected) {
        connecting(s, r->calling, now);
        return;
    }
    r->calling->refused = false; /* could be forged: silence decides */
    r->calling->next = TLTCP_TIME_NEVER;
    keep_route(r, now);
}

/* --- On the application's threads ---------------------------------------- */

/* One socket for addresses of both families, when there are both. */
static int family_of(const net__addr *list, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (list[i].sa.sa_family == AF_INET6) {
            return AF_INET6;
        }
    }
    return AF_INET;
}

/* The local address to call from, of the wanted family when there is one; what
 * cannot be reached from it is passed over when it comes to connecting. */
static int choose_local(net__addr *local, bool *chosen, const tltcp_config *own,
                        int family) {
    const char *service = own->local_service;
    net__addr *list = NULL;
    size_t count = 0;
    size_t at = 0;
    int rv;

    *chosen = own->local_host != NULL || service != NULL;
    if (!*chosen) {
        return 0;
    }
    rv = tltcp__options_resolve(&list, &count, own->local_host,
                                service != NULL ? service : "0", true);
    if (rv != 0) {
        return rv;
    }
    while (at + 1 < count && list[at].sa.sa_family != family) {
        at++;
    }
    *local = list[at];
    free(list);
    return 0;
}

static int open_family(struct tltcp__reactor **r, const tltcp_config *own,
                       int family) {
    net__addr local;
    bool chosen;
    int rv = choose_local(&local, &chosen, own, family);

    return rv != 0 ? rv
                   : tltcp__reactor_new(r, own, chosen ? &local : NULL, family);
}

/* Leaves only those that need no IPv6; returns how many. */
static size_t keep_ipv4(net__addr *list, size_t count) {
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        if (list[i].sa.sa_family == AF_INET) {
            list[n++] = list[i];
        }
    }
    return n;
}

/* For what can be reached of the list, where there is no IPv6. */
static int open_reactor(struct tltcp__reactor **r, const tltcp_config *own,
                        net__addr *list, size_t *count) {
    int family = family_of(list, *count);
    int rv = open_family(r, own, family);

    if (rv == TLTCP_ERR_ADDRESS && family == AF_INET6) {
        *count = keep_ipv4(list, *count);
        rv = *count > 0 ? open_family(r, own, AF_INET) : rv;
    }
    return rv;
}

static int connect_first(struct tltcp__reactor *r) {
    struct tltcp__calling *c = r->calling;
    int rv = UV_EADDRNOTAVAIL;

    for (c->at = 0; c->at < c->count; c->at++) {
        if (net__addr_port(&c->to[c->at]) == 0) {
            continue;
        }
        rv = net__udp_connect(r->udp, &c->to[c->at]);
        if (rv == 0) {
            set_next(c);
            return 0;
        }
    }
    return tltcp__error_of(rv);
}

static int make_calling(struct tltcp__reactor *r, const tltcp_config *own,
                        net__addr *list, size_t count) {
    struct tltcp__calling *c = calloc(1, sizeof(*c));

    if (c == NULL) {
        free(list);
        return TLTCP_ERR_NOMEM;
    }
    r->calling = c;
    c->to = list;
    c->count = count;
    c->each = own->connect_timeout_ms * TLTCP_MS / count;
    c->heard = tltcp_now();
    c->repicked = c->heard;
    if (count > 1) {
        c->hello = malloc(HELLO_MAX);
    }
    return connect_first(r);
}

static int make_connection(struct tltcp__reactor *r, const tltcp_config *own,
                           tltcp_socket **s) {
    uint8_t seed[TLTCP_SEED_LEN];
    tltcp_config inner = *own;
    tltcp_conn *conn;
    int rv = tltcp__reactor_engine(r, &inner, seed);

    if (rv == 0) {
        rv = tltcp_conn_new(&conn, &inner, seed, 1, tltcp_now());
    }
    sec__wipe(seed, sizeof(seed));
    if (rv != 0) {
        return rv;
    }
    *s = tltcp__socket_new(r, conn);
    if (*s == NULL) {
        tltcp_conn_free(conn);
        return TLTCP_ERR_NOMEM;
    }
    rv = tltcp__trace_open(*s);
    if (rv != 0) {
        return rv;
    }
    tltcp__tracer_adopt(r->tracer, *s);
    (*s)->owned = true;
    tltcp__mark(*s);
    return 0;
}

/* Begins to call; the I/O thread goes on with it. */
static int call(tltcp_socket **s, const char *host, const char *service,
                const tltcp_config *own) {
    struct tltcp__reactor *r = NULL;
    net__addr *list = NULL;
    size_t count = 0;
    int rv = tltcp__options_resolve(&list, &count, host, service, false);

    if (rv != 0) {
        return rv;
    }
    rv = open_reactor(&r, own, list, &count);
    if (rv != 0) {
        free(list);
        return rv;
    }
    rv = make_calling(r, own, list, count);
    if (rv == 0) {
        rv = tltcp__tracer_new(&r->tracer, r, own);
    }
    if (rv == 0) {
        rv = make_connection(r, own, s);
    }
    if (rv == 0) {
        rv = tltcp__reactor_start(r);
    }
    if (rv != 0) {
        tltcp__reactor_release(r);
    }
    return rv;
}

int tltcp_wait_connected(tltcp_socket *s, int timeout_ms) {
    tltcp_time until = tltcp__until(timeout_ms);
    int rv = TLTCP_ERR_AGAIN;

    if (s == NULL || s->listener) {
        return TLTCP_ERR_INVAL;
    }
    uv_mutex_lock(&s->r->mx);
    while (!s->connected && !s->closed &&
           tltcp__wait(s, &s->changed, &s->watchers, until)) {
    }
    if (s->connected) {
        rv = 0;
    } else if (s->closed) {
        rv = s->error != 0 ? s->error : TLTCP_ERR_CLOSED;
    }
    uv_mutex_unlock(&s->r->mx);
    return rv;
}

int tltcp_connect(tltcp_socket **s, const char *host, const char *service,
                  const tltcp_config *c, int timeout_ms) {
    tltcp_socket *made = NULL;
    tltcp_config own;
    int rv;

    if (s == NULL || host == NULL || service == NULL ||
        tltcp__options_copy(&own, c) != 0) {
        return TLTCP_ERR_INVAL;
    }
    if (timeout_ms > 0) {
        own.connect_timeout_ms = (uint32_t)timeout_ms;
    }
    rv = tltcp_config_check(&own, NULL);
    if (rv == 0) {
        rv = call(&made, host, service, &own);
    }
    if (rv != 0) {
        return rv;
    }
    if (timeout_ms != 0) {
        rv = tltcp_wait_connected(made, timeout_ms);
    }
    if (rv != 0) {
        tltcp__abandon(made);
        return rv == TLTCP_ERR_AGAIN ? TLTCP_ERR_TIMEOUT : rv;
    }
    *s = made;
    return 0;
}
