/* SPDX-License-Identifier: MPL-2.0 */
/* tltcp_listen() and tltcp_accept(). */
#include "libtltcp/socket/listen.h"

#include <stdlib.h>

#include "internal/secure/secret.h"
#include "libtltcp/socket/accept_queue.h"
#include "libtltcp/socket/clock.h"
#include "libtltcp/socket/options.h"
#include "libtltcp/socket/port.h"
#include "libtltcp/socket/readiness.h"
#include "libtltcp/socket/schedule.h"
#include "libtltcp/socket/socket.h"
#include "libtltcp/socket/trace.h"

static int listen_open(struct tltcp__port *port, const char *host,
                       const char *service) {
    net__addr *list = NULL;
    size_t count = 0;
    int rv = tltcp__options_resolve(&list, &count, host, service, true);

    for (size_t i = 0; i < count; i++) {
        rv = tltcp__port_open(port, &list[i], 0);
        /* The machine has no IPv6, or only one address of the name is local. */
        if (rv != TLTCP_ERR_ADDRESS) {
            break;
        }
    }
    free(list);
    return count == 0 && rv == 0 ? TLTCP_ERR_ADDRESS : rv;
}

static int listen_make_endpoint(struct tltcp__port *port,
                                const tltcp_config *own) {
    uint8_t seed[TLTCP_SEED_LEN];
    tltcp_config inner = *own;
    int rv = tltcp__port_engine(port, &inner, seed);

    if (rv == 0) {
        rv = tltcp_endpoint_new(&port->listening->endpoint, &inner, seed,
                                tltcp_now());
    }
    sec__wipe(seed, sizeof(seed));
    return rv;
}

static int listen_make(struct tltcp__port *port, const tltcp_config *own) {
    int rv;

    port->listening = calloc(1, sizeof(*port->listening));
    if (port->listening == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    tltcp__crowd_init(&port->listening->crowd);
    rv = tltcp__tracer_new(&port->tracer, port, own);
    if (rv == 0) {
        rv = listen_make_endpoint(port, own);
    }
    if (rv != 0) {
        return rv;
    }
    port->listening->handle = tltcp__socket_new(port, NULL);
    if (port->listening->handle == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    port->listening->handle->listener = true;
    return 0;
}

static void listen_undo(struct tltcp__port *port) {
    if (port->listening != NULL && port->listening->handle != NULL) {
        tltcp__socket_free(port->listening->handle);
    }
    tltcp__port_release(port);
}

int tltcp_listen(tltcp_socket **s, const char *host, const char *service,
                 const tltcp_config *c) {
    struct tltcp__port *port = NULL;
    tltcp_config own;
    int rv;

    if (s == NULL || service == NULL || tltcp__options_copy(&own, c) != 0) {
        return TLTCP_ERR_INVAL;
    }
    rv = tltcp_config_check(&own, NULL);
    if (rv == 0 && own.identity.secret != NULL &&
        own.identity.callers == NULL && own.listener.on_caller == NULL) {
        rv = TLTCP_ERR_INVAL; /* who else would decide? */
    }
    if (rv == 0) {
        rv = tltcp__port_new(&port, &own, true);
    }
    if (rv != 0) {
        return rv;
    }
    rv = listen_make(port, &own);
    if (rv == 0) {
        rv = listen_open(port, host, service);
    }
    if (rv != 0) {
        listen_undo(port);
        return rv;
    }
    *s = port->listening->handle;
    return 0;
}

int tltcp_accept(tltcp_socket *listener, tltcp_socket **s, int timeout_ms) {
    tltcp_time until = tltcp__until(timeout_ms);
    struct tltcp__listening *l;
    tltcp_socket *caller;

    if (listener == NULL || s == NULL || !listener->listener) {
        return TLTCP_ERR_INVAL;
    }
    l = listener->port->listening;
    uv_mutex_lock(tltcp__mutex(listener));
    while (l->first == NULL && tltcp__wait(listener, &listener->readable,
                                           &listener->readers, until)) {
    }
    caller = l->first;
    if (caller != NULL) {
        tltcp__accept_drop(caller);
        caller->owned = true;
        listener->port->users++;
    }
    tltcp__notify(listener);
    uv_mutex_unlock(tltcp__mutex(listener));
    if (caller == NULL) {
        return TLTCP_ERR_AGAIN;
    }
    *s = caller;
    return 0;
}

/* Afterwards on_caller has returned and is not called again. */
static void listen_stop_asking(tltcp_socket *s) {
    struct tltcp__listening *l = s->port->listening;

    l->handle = NULL;
    l->closing = s;
    while (l->asking) {
        uv_cond_wait(&s->readable, tltcp__mutex(s));
    }
    l->closing = NULL;
}

void tltcp__listener_close(tltcp_socket *s) {
    struct tltcp__port *port = s->port;

    uv_mutex_lock(&port->io->mx);
    listen_stop_asking(s);
    for (tltcp_socket *i = port->all; i != NULL; i = i->next) {
        if (!i->owned && !i->closed) {
            tltcp_conn_abort(tltcp__engine(i), TLTCP_ERR_REFUSED,
                             "the listener was closed", tltcp_now());
        }
        if (!i->owned) {
            tltcp__release(i);
        }
    }
    uv_mutex_unlock(&port->io->mx);
    tltcp__socket_free(s);
    tltcp__port_release(port);
}
