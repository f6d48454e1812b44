/* SPDX-License-Identifier: MPL-2.0 */
/* Answers requests of peers. */
#include "libsaratoga/node/server.h"

#include <stdio.h>
#include <string.h>

#include "libsaratoga/node/errors.h"
#include "libsaratoga/node/listing.h"
#include "libsaratoga/node/multicast.h"
#include "libsaratoga/node/rate_share.h"
#include "libsaratoga/node/receive_file.h"
#include "libsaratoga/node/routes.h"
#include "libsaratoga/node/send_file.h"
#include "libsaratoga/node/strangers.h"
#include "libsaratoga/node/stream.h"
#include "libsaratoga/node/takeover.h"
#include "libsaratoga/node/transfer.h"

static void refuse(saratoga__file *f, unsigned status) {
    (void)saratoga_transfer_refuse(f->u->engine, f->handle, status,
                                   saratoga__now());
    saratoga__wake(f->u);
}

static bool gone(saratoga__file *f) {
    if (saratoga__has_ended(f)) { /* while a thread was working */
        saratoga__file_check(f);
    }
    return saratoga__has_ended(f);
}

/* --- Sending ------------------------------------------------------------- */

/* A pipe can be read by one transfer only. */
static bool is_taken(const saratoga__file *f) {
    bool taken = false;

    for (const saratoga__file *g = f->u->files; g != NULL; g = g->next) {
        taken = taken || (g != f && g->input.polled && saratoga__is_stream(f) &&
                          strcmp(g->local.name, f->local.name) == 0);
    }
    return taken;
}

static void go_on(saratoga__file *f) {
    if (saratoga__is_stream(f) && saratoga__stream_watch(f) == 0) {
        saratoga__stream_go_on(f);
    } else if (saratoga__is_stream(f)) {
        (void)saratoga_transfer_cancel(f->u->engine, f->handle,
                                       SARATOGA_CANNOT_SEND, saratoga__now());
    } else if (f->send.source.digest_later) {
        saratoga__source_digest_later(f);
    }
}

static void give(saratoga__file *f) {
    saratoga_answer a;
    int rv;

    if (gone(f)) {
        return;
    }
    if (f->work.status != 0) {
        refuse(f, saratoga__status_of(f->work.status, SARATOGA_CANNOT_SEND));
        return;
    }
    if (is_taken(f)) {
        refuse(f, SARATOGA_IN_USE);
        return;
    }
    saratoga_answer_init(&a);
    a.source = &f->send.source;
    a.user = f;
    if (saratoga__answer_group(f, &a)) {
        return;
    }
    rv = saratoga_transfer_accept(f->u->engine, f->handle, &a, saratoga__now());
    saratoga__share_rate(f->u);
    if (rv == 0) {
        go_on(f);
    } else if (rv != SARATOGA_ERR_TOO_LONG) {
        refuse(f, SARATOGA_CANNOT_SEND);
    }
    saratoga__wake(f->u);
}

static int server_open_source(saratoga__file *f) {
    int rv = f->local.name[0] == '\0' ? saratoga__source_pick(f) : 0;

    if (rv == 0 && f->request == SARATOGA_TAKE) { /* it could not succeed */
        rv = saratoga__root_may_unlink(f->local.root, f->local.name);
    }
    if (rv == 0) {
        rv = saratoga__source_open(f);
    }
    if (rv == UV_EACCES && f->u->config.streams && f->request == SARATOGA_GET) {
        rv = saratoga__stream_open(f);
    }
    return rv;
}

/* Whether the peer's copy has the same size and time. */
static bool is_held(const saratoga__file *f) {
    const saratoga_entry *here = &f->send.source.entry;
    const saratoga_entry *there = &f->recv.partial.entry;

    return f->recv.updates && there->size == here->size &&
           there->mtime == here->mtime;
}

static void source_opened(saratoga__file *f, int status) {
    f->work.status = status;
    f->send.source.unchanged = f->work.status == 0 && is_held(f);
    if (f->work.status != 0 || saratoga__has_ended(f) ||
        saratoga__is_stream(f)) {
        give(f);
    } else {
        saratoga__source_digest(f, give);
    }
}

static int list(saratoga__file *f) {
    int rv = saratoga__source_list(f, f->peer.descriptor);

    if (rv == 0) {
        saratoga__source_digest_memory(f);
    }
    return rv;
}

static void listed(saratoga__file *f, int status) {
    f->work.status = status;
    give(f);
}

/* --- Receiving ----------------------------------------------------------- */

static void server_take(saratoga__file *f, int status) {
    saratoga_answer a;

    f->work.status = status;

    if (gone(f)) {
        return;
    }
    if (status == UV_EBUSY && saratoga__takeover_wait(f)) {
        return;
    }
    if (f->work.status != 0) {
        refuse(f, saratoga__status_of(f->work.status, SARATOGA_CANNOT_RECEIVE));
        return;
    }
    saratoga_answer_init(&a);
    a.partial = f->recv.resumable ? &f->recv.partial : NULL;
    a.user = f;
    if (saratoga_transfer_accept(f->u->engine, f->handle, &a,
                                 saratoga__now()) != 0) {
        refuse(f, SARATOGA_CANNOT_RECEIVE);
    }
    saratoga__wake(f->u);
}

/* --- Deleting ------------------------------------------------------------ */

static int unlink_file(saratoga__file *f) {
    return saratoga__root_unlink(f->local.root, f->local.name);
}

static void unlinked(saratoga__file *f, int status) {
    if (gone(f)) {
        return;
    }
    if (status != 0 && status != UV_ENOENT && status != UV_ENOTDIR) {
        refuse(f, saratoga__status_of(status, SARATOGA_DID_NOT_DELETE));
        return;
    }
    (void)saratoga_transfer_accept(f->u->engine, f->handle, NULL,
                                   saratoga__now());
    saratoga__wake(f->u);
}

/* --- Permissions --------------------------------------------------------- */

static bool gives(uint32_t request) {
    return request == SARATOGA_GET || request == SARATOGA_TAKE ||
           request == SARATOGA_GETDIR;
}

static bool allowed(const saratoga_node *u, uint32_t request) {
    if (!u->has_root) {
        return false;
    }
    switch (request) {
    case SARATOGA_GET:
    case SARATOGA_GETDIR:
        return u->config.may_read;
    case SARATOGA_TAKE:
        return u->config.may_read && u->config.may_delete;
    case SARATOGA_PUT:
    case SARATOGA_GIVE:
    case SARATOGA_BLIND_PUT:
        return u->config.may_write;
    case SARATOGA_DELETE:
        return u->config.may_delete;
    default:
        return false;
    }
}

static unsigned server_busy(const saratoga__file *f) {
    return gives(f->request) ? SARATOGA_CANNOT_SEND : SARATOGA_CANNOT_RECEIVE;
}

/* Whether one more host may be served. */
static bool has_place(saratoga__file *f) {
    saratoga_node *u = f->u;

    return f->peer.place.host != 0 ||
           saratoga__places_enter(&u->places, u->config.max_peers,
                                  u->routes.key, &f->peer.route.remote,
                                  &f->peer.place);
}

/* 0, or the status of the refusal. */
static unsigned server_judge(const saratoga__file *f) {
    if (f->request == SARATOGA_NOOP || f->request > SARATOGA_BLIND_PUT) {
        return SARATOGA_BAD_REQUEST;
    }
    if (!allowed(f->u, f->request)) {
        return SARATOGA_DENIED(SARATOGA_DENIED_REQUEST);
    }
    if (f->request == SARATOGA_DELETE &&
        saratoga__file_in_use(f->u, f->local.name)) {
        return SARATOGA_IN_USE;
    }
    return 0;
}

static void server_begin(saratoga__file *f) {
    switch (f->request) {
    case SARATOGA_GET:
    case SARATOGA_TAKE:
        saratoga__file_job(f, server_open_source, source_opened);
        break;
    case SARATOGA_GETDIR:
        saratoga__file_job(f, list, listed);
        break;
    case SARATOGA_DELETE:
        saratoga__file_job(f, unlink_file, unlinked);
        break;
    default:
        f->recv.resume = true;
        saratoga__file_job(f, saratoga__sink_open, server_take);
        break;
    }
}

/* Only proven peers take a place: otherwise forged requests could exclude all
 * others. */
static void server_admit(saratoga__file *f) {
    unsigned status = server_judge(f);

    f->peer.waits_from = 0;
    if (status == 0 && f->peer.proven && !has_place(f)) {
        status = server_busy(f);
    }
    if (status == 0) {
        server_begin(f);
    } else {
        refuse(f, status);
    }
}

static void server_start(saratoga__file *f) {
    unsigned status = server_judge(f);

    if (status != 0) {
        refuse(f, status);
    } else if (!saratoga__stranger_waits(f)) {
        server_admit(f);
    }
}

void saratoga__server_proven(saratoga__file *f) {
    f->peer.proven = true;
    if (saratoga__has_ended(f)) {
        return;
    }
    if (f->peer.waits_from != 0) {
        server_admit(f);
    } else if (!has_place(f)) {
        (void)saratoga_transfer_cancel(f->u->engine, f->handle, server_busy(f),
                                       saratoga__now());
    } else {
        saratoga__source_proven(f);
    }
}

void saratoga__server_tick(saratoga__file *f, uint64_t now) {
    if (saratoga__takeover_tick(f, now)) {
        saratoga__file_job(f, saratoga__sink_open, server_take);
    } else if (saratoga__stranger_tick(f, now)) {
        server_admit(f);
    }
}

static int server_name_it(saratoga__file *f, const saratoga_event *ev) {
    const char *path = ev->path != NULL ? ev->path : "";

    if (ev->request == SARATOGA_BLIND_PUT && ev->has_entry) {
        path = ev->entry.path;
    }
    (void)snprintf(f->path, sizeof(f->path), "%s", path);
    return saratoga__path_clean(path, f->local.name);
}

void saratoga__serve_request(saratoga_node *u, const saratoga_event *ev) {
    /* a new transfer would delay the closing of the node */
    saratoga__file *f = u->loop.closing ? NULL : saratoga__file_new(u);
    const net__route *r = saratoga__route_of(u, &ev->from);
    int rv;

    if (f == NULL || r == NULL) {
        (void)saratoga_transfer_refuse(u->engine, ev->handle,
                                       SARATOGA_UNSPECIFIED, saratoga__now());
        (void)saratoga_transfer_release(u->engine, ev->handle, saratoga__now());
        if (f != NULL) {
            saratoga__file_free(f);
        }
        return;
    }
    f->handle = ev->handle;
    f->request = ev->request;
    saratoga__peer_is_at(f, &ev->from, r);
    f->peer.proven = ev->proven;
    f->local.root = &u->root;
    f->recv.overwrite = u->config.overwrite;
    f->peer.descriptor = ev->descriptor;
    f->send.shares_rate = true;
    f->recv.updates = ev->has_entry && ev->request == SARATOGA_GET;
    f->recv.partial.entry = ev->entry;
    (void)saratoga_transfer_set_user(u->engine, ev->handle, f);
    rv = server_name_it(f, ev);
    if (rv != 0) {
        refuse(f, saratoga__status_of(rv, SARATOGA_NOT_FOUND));
    } else {
        server_start(f);
    }
}
