/* SPDX-License-Identifier: MPL-2.0 */
#include <stdlib.h>
#include <string.h>

#include "internal/secure/secret.h"
#include "libtltcp/socket/options.h"
#include "libtltcp/socket/sock.h"
#include "libtltcp/socket/stats.h"
#include "libtltcp/socket/trace.h"

/* Callers that the application has not taken; beyond it they are refused. */
#define BACKLOG 4096u

/* --- On the I/O thread --------------------------------------------------- */

static const char *refusal(const struct tltcp__reactor *r) {
    const struct tltcp__listening *l = r->listening;

    if (l->handle == NULL) {
        return "the listener was closed";
    }
    if (l->pending >= BACKLOG) {
        return "too many callers are waiting";
    }
    return NULL;
}

/* Asks the application, which must not find mx held. */
static bool asked(tltcp_socket *s, const net__route *route, char *reason) {
    struct tltcp__reactor *r = s->r;
    net__addr from = route->remote;
    tltcp_caller caller = {.stream_id = tltcp_conn_stream_id(s->conn)};
    bool yes;

    if (r->config.on_caller == NULL) {
        return true;
    }
    net__addr_unmap(&from);
    caller.address = &from;
    caller.address_len = net__addr_len(&from);
    uv_mutex_unlock(&r->mx);
    yes = r->config.on_caller(r->config.user, &caller, reason);
    uv_mutex_lock(&r->mx);
    reason[TLTCP_REASON_MAX] = '\0';
    return yes;
}

static void let_in(tltcp_socket *s) {
    struct tltcp__listening *l = s->r->listening;

    if (tltcp_conn_accept(tltcp__engine(s), tltcp_now()) != 0) {
        return; /* the listener was closed while the application thought */
    }
    s->pending = true;
    l->pending++;
    (void)tltcp__trace_open(s); /* a full disk stops no connection */
}

void tltcp__listening_caller(struct tltcp__reactor *r, tltcp_conn *conn,
                             uint64_t token, const net__route *route) {
    char reason[TLTCP_REASON_MAX + 1] = "";
    tltcp_socket *s = tltcp__socket_new(r, conn);
    const char *no;

    if (s == NULL) {
        tltcp_conn_free(conn);
        return;
    }
    net__routes_add(&s->routes, token, route, 0);
    tltcp__mark(s);
    no = refusal(r);
    if (no == NULL && !asked(s, route, reason)) {
        no = reason;
    }
    if (no == NULL) {
        let_in(s);
    } else {
        (void)tltcp_conn_refuse(tltcp__engine(s), no, tltcp_now());
    }
}

void tltcp__listening_connected(tltcp_socket *s) {
    struct tltcp__listening *l = s->r->listening;

    if (!s->pending || l->handle == NULL) {
        return;
    }
    s->queued = true;
    s->next_caller = NULL;
    if (l->first == NULL) {
        l->first = s;
    } else {
        l->last->next_caller = s;
    }
    l->last = s;
    tltcp__notify(l->handle);
}

static void unqueue(struct tltcp__listening *l, tltcp_socket *s) {
    tltcp_socket *before = NULL;

    for (tltcp_socket *i = l->first; i != s; i = i->next_caller) {
        before = i;
    }
    if (before == NULL) {
        l->first = s->next_caller;
    } else {
        before->next_caller = s->next_caller;
    }
    if (l->last == s) {
        l->last = before;
    }
    s->queued = false;
}

void tltcp__listening_drop(tltcp_socket *s) {
    struct tltcp__listening *l = s->r->listening;

    if (s->queued) {
        unqueue(l, s);
        if (l->handle != NULL) {
            tltcp__notify(l->handle);
        }
    }
    if (s->pending) {
        s->pending = false;
        l->pending--;
    }
}

void tltcp__listening_forget(tltcp_socket *s) {
    struct tltcp__listening *l = s->r->listening;
    tltcp_stats st;

    tltcp__listening_drop(s);
    tltcp_stats_init(&st);
    if (tltcp_conn_get_stats(tltcp__engine(s), &st, tltcp_now()) == 0) {
        tltcp__stats_add(&l->past, &st);
    }
}

/* --- On the application's threads ---------------------------------------- */

static int bind_first(struct tltcp__reactor **r, const tltcp_config *own,
                      const char *host, const char *service) {
    net__addr *list = NULL;
    size_t count = 0;
    int rv = tltcp__options_resolve(&list, &count, host, service, true);

    for (size_t i = 0; i < count; i++) {
        rv = tltcp__reactor_new(r, own, &list[i], 0);
        /* A machine without IPv6, or a name of which one address is ours. */
        if (rv != TLTCP_ERR_ADDRESS) {
            break;
        }
    }
    free(list);
    return count == 0 && rv == 0 ? TLTCP_ERR_ADDRESS : rv;
}

static int make_endpoint(struct tltcp__reactor *r, const tltcp_config *own) {
    uint8_t seed[TLTCP_SEED_LEN];
    tltcp_config inner = *own;
    int rv = tltcp__reactor_engine(r, &inner, seed);

    if (rv == 0) {
        rv = tltcp_endpoint_new(&r->listening->endpoint, &inner, seed,
                                tltcp_now());
    }
    sec__wipe(seed, sizeof(seed));
    return rv;
}

static int make_listener(struct tltcp__reactor *r, const tltcp_config *own) {
    int rv;

    r->listening = calloc(1, sizeof(*r->listening));
    if (r->listening == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    rv = tltcp__tracer_new(&r->tracer, r, own);
    if (rv == 0) {
        rv = make_endpoint(r, own);
    }
    if (rv != 0) {
        return rv;
    }
    r->listening->handle = tltcp__socket_new(r, NULL);
    if (r->listening->handle == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    r->listening->handle->listener = true;
    return tltcp__reactor_start(r);
}

int tltcp_listen(tltcp_socket **s, const char *host, const char *service,
                 const tltcp_config *c) {
    struct tltcp__reactor *r = NULL;
    tltcp_config own;
    int rv;

    if (s == NULL || service == NULL || tltcp__options_copy(&own, c) != 0) {
        return TLTCP_ERR_INVAL;
    }
    rv = tltcp_config_check(&own, NULL);
    if (rv == 0) {
        rv = bind_first(&r, &own, host, service);
    }
    if (rv != 0) {
        return rv;
    }
    rv = make_listener(r, &own);
    if (rv != 0) {
        if (r->listening != NULL && r->listening->handle != NULL) {
            tltcp__socket_free(r->listening->handle);
        }
        tltcp__reactor_release(r);
        return rv;
    }
    *s = r->listening->handle;
    return 0;
}

int tltcp_accept(tltcp_socket *listener, tltcp_socket **s, int timeout_ms) {
    tltcp_time until = tltcp__until(timeout_ms);
    struct tltcp__listening *l;
    tltcp_socket *caller;

    if (listener == NULL || s == NULL || !listener->listener) {
        return TLTCP_ERR_INVAL;
    }
    l = listener->r->listening;
    uv_mutex_lock(&listener->r->mx);
    while (l->first == NULL && tltcp__wait(listener, &listener->readable,
                                           &listener->readers, until)) {
    }
    caller = l->first;
    if (caller != NULL) {
        tltcp__listening_drop(caller);
        caller->owned = true;
        listener->r->users++;
    }
    tltcp__notify(listener);
    uv_mutex_unlock(&listener->r->mx);
    if (caller == NULL) {
        return TLTCP_ERR_AGAIN;
    }
    *s = caller;
    return 0;
}

void tltcp__listener_close(tltcp_socket *s) {
    struct tltcp__reactor *r = s->r;

    uv_mutex_lock(&r->mx);
    r->listening->handle = NULL;
    for (tltcp_socket *i = r->all; i != NULL; i = i->next) {
        if (!i->owned && !i->closed) {
            tltcp_conn_abort(tltcp__engine(i), TLTCP_ERR_REFUSED,
                             "the listener was closed", tltcp_now());
        }
        if (!i->owned) {
            tltcp__let_go(i);
        }
    }
    uv_mutex_unlock(&r->mx);
    tltcp__socket_free(s);
    tltcp__reactor_release(r);
}
