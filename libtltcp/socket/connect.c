/* SPDX-License-Identifier: MPL-2.0 */
/* tltcp_connect(). */
#include <stdlib.h>

#include "internal/secure/secret.h"
#include "libtltcp/socket/attempt.h"
#include "libtltcp/socket/clock.h"
#include "libtltcp/socket/close.h"
#include "libtltcp/socket/io_thread.h"
#include "libtltcp/socket/local.h"
#include "libtltcp/socket/options.h"
#include "libtltcp/socket/port.h"
#include "libtltcp/socket/schedule.h"
#include "libtltcp/socket/socket.h"
#include "libtltcp/socket/tcp_call.h"
#include "libtltcp/socket/trace.h"

/* Without an answer over UDP for this time, TCP is tried, too. */
#define TCP_AFTER (1500 * TLTCP_MS)

/* One socket serves addresses of both families if there are both. */
static int connect_family(const net__addr *list, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (list[i].sa.sa_family == AF_INET6) {
            return AF_INET6;
        }
    }
    return AF_INET;
}

/* Chooses the local address to call from, of the wanted family if there is one;
 * addresses that it cannot reach are skipped when connecting. */
static int connect_choose_local(net__addr *local, bool *chosen,
                                const tltcp_config *own, int family) {
    const char *service = own->io.local_service;
    net__addr *list = NULL;
    size_t count = 0;
    size_t at = 0;
    int rv;

    *chosen = own->io.local_host != NULL || service != NULL;
    if (!*chosen) {
        return 0;
    }
    rv = tltcp__options_resolve(&list, &count, own->io.local_host,
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

static int connect_open_family(struct tltcp__port *port,
                               const tltcp_config *own, int family) {
    struct tltcp__calling *c = port->calling;
    int rv = connect_choose_local(&c->local, &c->local_chosen, own, family);

    return rv != 0 ? rv
                   : tltcp__port_open(port, c->local_chosen ? &c->local : NULL,
                                      family);
}

/* Keeps only the addresses that need no IPv6; returns their number. */
static size_t connect_keep_ipv4(net__addr *list, size_t count) {
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        if (list[i].sa.sa_family == AF_INET) {
            list[n++] = list[i];
        }
    }
    return n;
}

/* Falls back to the IPv4 addresses of the list where there is no IPv6. */
static int connect_open(struct tltcp__port *port, const tltcp_config *own) {
    struct tltcp__calling *c = port->calling;
    int family = connect_family(c->to, c->count);
    int rv = connect_open_family(port, own, family);

    if (rv == TLTCP_ERR_ADDRESS && family == AF_INET6) {
        c->count = connect_keep_ipv4(c->to, c->count);
        rv = c->count > 0 ? connect_open_family(port, own, AF_INET) : rv;
    }
    if (rv == 0) {
        c->each = own->connect_timeout_ms * TLTCP_MS / c->count;
    }
    if (own->io.transport == TLTCP_TRANSPORT_AUTO) {
        tltcp_time half = own->connect_timeout_ms * TLTCP_MS / 2;

        c->tcp_after = c->heard + (half < TCP_AFTER ? half : TCP_AFTER);
    }
    return rv;
}

static int connect_resolve(struct tltcp__port *port, const char *host,
                           const char *service) {
    struct tltcp__calling *c = calloc(1, sizeof(*c));
    int rv;

    if (c == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    port->calling = c;
    rv = tltcp__options_resolve(&c->to, &c->count, host, service, false);
    c->heard = tltcp_now();
    c->repicked = c->heard;
    c->next = TLTCP_TIME_NEVER;
    c->tcp_after = TLTCP_TIME_NEVER;
    if (rv == 0 && c->count > 1) {
        c->hello = malloc(TLTCP__HELLO_MAX);
    }
    return rv;
}

static int connect_make(struct tltcp__port *port, const tltcp_config *own,
                        tltcp_socket **s) {
    uint8_t seed[TLTCP_SEED_LEN];
    tltcp_config inner = *own;
    tltcp_conn *conn;
    int rv = tltcp__port_engine(port, &inner, seed);

    if (rv == 0) {
        rv = tltcp_conn_new(&conn, &inner, seed, 1, tltcp_now());
    }
    sec__wipe(seed, sizeof(seed));
    if (rv != 0) {
        return rv;
    }
    tltcp_conn_defer_keys(conn);
    *s = tltcp__socket_new(port, conn);
    if (*s == NULL) {
        tltcp_conn_free(conn);
        return TLTCP_ERR_NOMEM;
    }
    rv = tltcp__trace_open(*s);
    if (rv == 0) {
        tltcp__tracer_adopt(port->tracer, *s);
        (*s)->owned = true;
    }
    return rv;
}

struct connect_begin {
    tltcp_socket *s;
    int status;
};

/* The call goes to the loopback interface only if its own address is there. */
static void connect_say_local(tltcp_socket *s) {
    net__addr own;

    if (net__udp_local(s->port->udp, &own) == 0) {
        tltcp__say_local(s, &own);
    }
}

static void connect_do_begin(void *arg) {
    struct connect_begin *begin = arg;
    tltcp_socket *s = begin->s;

    uv_mutex_lock(tltcp__mutex(s));
    if (s->port->udp != NULL) {
        begin->status = tltcp__attempt_first(s->port);
        connect_say_local(s);
    } else {
        tltcp__tcp_call(s);
    }
    if (begin->status == 0) {
        tltcp__schedule(s);
    }
    uv_mutex_unlock(tltcp__mutex(s));
}

/* Starts calling; the I/O thread continues. */
static int connect_begin(tltcp_socket **s, struct tltcp__port *port,
                         const char *host, const char *service,
                         const tltcp_config *own) {
    struct connect_begin begin;
    int rv = connect_resolve(port, host, service);

    if (rv == 0) {
        rv = tltcp__tracer_new(&port->tracer, port, own);
    }
    if (rv == 0) {
        rv = connect_make(port, own, s);
    }
    if (rv == 0) {
        rv = connect_open(port, own);
    }
    if (rv != 0) {
        return rv;
    }
    begin = (struct connect_begin){.s = *s};
    tltcp__io_thread_run(port->io, connect_do_begin, &begin);
    return tltcp__error_of(begin.status);
}

static int connect_call(tltcp_socket **s, const char *host, const char *service,
                        const tltcp_config *own) {
    struct tltcp__port *port;
    int rv = tltcp__port_new(&port, own);

    if (rv == 0) {
        rv = connect_begin(s, port, host, service, own);
        if (rv != 0) {
            tltcp__port_release(port);
        }
    }
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
        rv = connect_call(&made, host, service, &own);
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
