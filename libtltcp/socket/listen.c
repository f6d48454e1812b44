/* SPDX-License-Identifier: MPL-2.0 */
/* tltcp_listen() and tltcp_accept(). */
#include "libtltcp/socket/listen.h"

#include <tltcp/endpoint_group.h>

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

static void listen_lock(void *arg) {
    uv_mutex_lock(arg);
}

static void listen_unlock(void *arg) {
    uv_mutex_unlock(arg);
}

static int listen_make_endpoints(struct tltcp__listener *l,
                                 const tltcp_config *own) {
    uint8_t seed[TLTCP_SEED_LEN];
    tltcp_endpoint *endpoints[TLTCP_THREADS_MAX];
    void *users[TLTCP_THREADS_MAX];
    const tltcp_endpoint_group group = {.count = l->count,
                                        .users = users,
                                        .lock = listen_lock,
                                        .unlock = listen_unlock,
                                        .arg = &l->limits};
    tltcp_config inner = *own;
    int rv = tltcp__port_engine(l->ports[0], &inner, seed);

    for (unsigned i = 0; i < l->count; i++) {
        users[i] = l->ports[i];
    }
    if (rv == 0) {
        rv = tltcp_endpoint_new_group(endpoints, &group, &inner, seed,
                                      tltcp_now());
    }
    for (unsigned i = 0; rv == 0 && i < l->count; i++) {
        l->ports[i]->listening->endpoint = endpoints[i];
    }
    sec__wipe(seed, sizeof(seed));
    return rv;
}

static int listen_make(struct tltcp__listener *l, const tltcp_config *own) {
    int rv = 0;

    for (unsigned i = 0; rv == 0 && i < l->count; i++) {
        rv = tltcp__tracer_new(&l->ports[i]->tracer, l->ports[i], own);
    }
    if (rv == 0) {
        rv = listen_make_endpoints(l, own);
    }
    if (rv != 0) {
        return rv;
    }
    l->handle = tltcp__socket_new(l->ports[0], NULL);
    if (l->handle == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    l->handle->listener = true;
    return 0;
}

static void listen_undo(struct tltcp__listener *l) {
    if (l->handle != NULL) {
        tltcp__socket_free(l->handle);
    }
    tltcp__port_release(l->ports[0]);
}

int tltcp_listen(tltcp_socket **s, const char *host, const char *service,
                 const tltcp_config *c) {
    struct tltcp__listener *l = NULL;
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
        rv = tltcp__port_new_listener(&l, &own);
    }
    if (rv != 0) {
        return rv;
    }
    rv = listen_make(l, &own);
    if (rv == 0) {
        rv = listen_open(l->ports[0], host, service);
    }
    if (rv != 0) {
        listen_undo(l);
        return rv;
    }
    *s = l->handle;
    return 0;
}

int tltcp_accept(tltcp_socket *listener, tltcp_socket **s, int timeout_ms) {
    tltcp_time until = tltcp__until(timeout_ms);
    struct tltcp__listener *l;
    tltcp_socket *caller;

    if (listener == NULL || s == NULL || !listener->listener) {
        return TLTCP_ERR_INVAL;
    }
    l = listener->port->listening->listener;
    uv_mutex_lock(&l->mx);
    while (l->first == NULL &&
           tltcp__wait(listener, &listener->readers, until)) {
    }
    caller = tltcp__accept_take(l);
    tltcp__notify(listener);
    uv_mutex_unlock(&l->mx);
    if (caller == NULL) {
        return TLTCP_ERR_AGAIN;
    }
    uv_mutex_lock(tltcp__mutex(caller));
    caller->owned = true;
    uv_mutex_unlock(tltcp__mutex(caller));
    *s = caller;
    return 0;
}

/* Afterwards on_caller has returned on every thread and is not called again. */
static void listen_stop_asking(struct tltcp__listener *l, tltcp_socket *s) {
    uv_mutex_lock(&l->mx);
    l->handle = NULL;
    l->closing = s;
    while (l->asking > 0) {
        (void)tltcp__wait(s, &s->readers, TLTCP_TIME_NEVER);
    }
    l->closing = NULL;
    uv_mutex_unlock(&l->mx);
}

/* Ends the connections that the application has not taken. */
static void listen_refuse(struct tltcp__port *port) {
    uv_mutex_lock(&port->io->mx);
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
}

void tltcp__listener_close(tltcp_socket *s) {
    struct tltcp__port *port = s->port;
    struct tltcp__listener *l = port->listening->listener;

    listen_stop_asking(l, s);
    for (unsigned i = 0; i < l->count; i++) {
        listen_refuse(l->ports[i]);
    }
    tltcp__socket_free(s);
    tltcp__port_release(port);
}
