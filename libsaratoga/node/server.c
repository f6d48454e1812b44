/* SPDX-License-Identifier: MPL-2.0 */
#include "libsaratoga/node/node_impl.h"

#include <stdio.h>
#include <string.h>

/* Requests of peers: what they may, and how it begins. */

static void refuse(saratoga__file *f, unsigned status) {
    (void)saratoga_transfer_refuse(f->u->node, f->handle, status,
                                   saratoga__now());
    saratoga__kick(f->u);
}

static bool gone(saratoga__file *f) {
    if (f->ended) { /* while a thread was at it */
        saratoga__file_settle(f);
    }
    return f->ended;
}

/* --- Giving -------------------------------------------------------------- */

/* What comes out of a pipe cannot go to two. */
static bool is_taken(const saratoga__file *f) {
    bool taken = false;

    for (const saratoga__file *g = f->u->files; g != NULL; g = g->next) {
        taken = taken || (g != f && g->watched && saratoga__is_stream(f) &&
                          strcmp(g->name, f->name) == 0);
    }
    return taken;
}

static void go_on(saratoga__file *f) {
    if (saratoga__is_stream(f) && saratoga__stream_watch(f) == 0) {
        saratoga__stream_go_on(f);
    } else if (saratoga__is_stream(f)) {
        (void)saratoga_transfer_cancel(f->u->node, f->handle,
                                       SARATOGA_CANNOT_SEND, saratoga__now());
    } else if (f->source.digest_later) {
        saratoga__source_sum_later(f);
    }
}

static void give(saratoga__file *f) {
    saratoga_answer a;
    int rv;

    if (gone(f)) {
        return;
    }
    if (f->status != 0) {
        refuse(f, saratoga__status_of(f->status, SARATOGA_CANNOT_SEND));
        return;
    }
    if (is_taken(f)) {
        refuse(f, SARATOGA_IN_USE);
        return;
    }
    saratoga_answer_init(&a);
    a.source = &f->source;
    a.user = f;
    if (saratoga__group_give(f, &a)) {
        return;
    }
    rv = saratoga_transfer_accept(f->u->node, f->handle, &a, saratoga__now());
    saratoga__share_rate(f->u);
    if (rv == 0) {
        go_on(f);
    } else if (rv != SARATOGA_ERR_TOO_LONG) {
        refuse(f, SARATOGA_CANNOT_SEND);
    }
    saratoga__kick(f->u);
}

static void server_open_source(saratoga__file *f) {
    f->status = f->name[0] == '\0' ? saratoga__source_pick(f) : 0;
    if (f->status == 0) {
        f->status = saratoga__source_open(f);
    }
    if (f->status == UV_EACCES && f->u->config.streams &&
        f->request == SARATOGA_GET) {
        f->status = saratoga__stream_open(f);
    }
}

/* Whether the copy that the peer told of is the same, as far as sizes and times
 * tell. */
static bool is_held(const saratoga__file *f) {
    const saratoga_entry *here = &f->source.entry;
    const saratoga_entry *there = &f->partial.entry;

    return f->updates && there->size == here->size &&
           there->mtime == here->mtime;
}

static void source_open(saratoga__file *f) {
    f->source.unchanged = f->status == 0 && is_held(f);
    if (f->status != 0 || f->ended || saratoga__is_stream(f)) {
        give(f);
    } else {
        saratoga__source_sum(f, give);
    }
}

static void list(saratoga__file *f) {
    f->status = saratoga__source_list(f, f->widest);
    if (f->status == 0) {
        saratoga__source_sum_memory(f);
    }
}

/* --- Taking -------------------------------------------------------------- */

static void server_take(saratoga__file *f) {
    saratoga_answer a;

    if (gone(f)) {
        return;
    }
    if (f->status != 0) {
        refuse(f, saratoga__status_of(f->status, SARATOGA_CANNOT_RECEIVE));
        return;
    }
    saratoga_answer_init(&a);
    a.partial = f->resumable ? &f->partial : NULL;
    a.user = f;
    if (saratoga_transfer_accept(f->u->node, f->handle, &a, saratoga__now()) !=
        0) {
        refuse(f, SARATOGA_CANNOT_RECEIVE);
    }
    saratoga__kick(f->u);
}

static void open_part(saratoga__file *f) {
    f->status = saratoga__sink_open(f);
}

/* --- Deleting ------------------------------------------------------------ */

static void unlink_file(saratoga__file *f) {
    f->status = saratoga__root_unlink(f->root, f->name);
}

static void unlinked(saratoga__file *f) {
    if (gone(f)) {
        return;
    }
    if (f->status != 0 && f->status != UV_ENOENT && f->status != UV_ENOTDIR) {
        refuse(f, saratoga__status_of(f->status, SARATOGA_DID_NOT_DELETE));
        return;
    }
    f->status = 0;
    (void)saratoga_transfer_accept(f->u->node, f->handle, NULL,
                                   saratoga__now());
    saratoga__kick(f->u);
}

/* --- What is allowed ----------------------------------------------------- */

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

/* Whether one more host may be served beside those that are. */
static bool has_place(const saratoga_node *u, uint64_t host) {
    unsigned hosts = 1;

    for (const saratoga__file *f = u->files; f != NULL; f = f->next) {
        bool first = f->id == 0 && f->host != host;

        for (const saratoga__file *g = f->next; g != NULL && first;
             g = g->next) {
            first = g->id != 0 || g->host != f->host;
        }
        hosts += first ? 1u : 0;
    }
    return u->config.max_peers == 0 || hosts <= u->config.max_peers;
}

/* 0, or why not. */
static unsigned server_judge(const saratoga__file *f) {
    unsigned busy =
        gives(f->request) ? SARATOGA_CANNOT_SEND : SARATOGA_CANNOT_RECEIVE;

    if (f->request == SARATOGA_NOOP || f->request > SARATOGA_BLIND_PUT) {
        return SARATOGA_BAD_REQUEST;
    }
    if (!allowed(f->u, f->request)) {
        return SARATOGA_ACCESS_DENIED;
    }
    if (!has_place(f->u, f->host)) {
        return busy;
    }
    if (f->request == SARATOGA_DELETE && saratoga__file_in_use(f->u, f->name)) {
        return SARATOGA_IN_USE;
    }
    return 0;
}

static void server_begin(saratoga__file *f) {
    switch (f->request) {
    case SARATOGA_GET:
    case SARATOGA_TAKE:
        saratoga__file_job(f, server_open_source, source_open);
        break;
    case SARATOGA_GETDIR:
        saratoga__file_job(f, list, give);
        break;
    case SARATOGA_DELETE:
        saratoga__file_job(f, unlink_file, unlinked);
        break;
    default:
        f->resume = true;
        saratoga__file_job(f, open_part, server_take);
        break;
    }
}

static int server_name_it(saratoga__file *f, const saratoga_event *ev) {
    const char *path = ev->path != NULL ? ev->path : "";

    if (ev->request == SARATOGA_BLIND_PUT && ev->has_entry) {
        path = ev->entry.path;
    }
    (void)snprintf(f->path, sizeof(f->path), "%s", path);
    return saratoga__path_clean(path, f->name);
}

void saratoga__serve_request(saratoga_node *u, const saratoga_event *ev) {
    /* what comes to a node that closes would keep it for as long as a peer is
     * waited for */
    saratoga__file *f = u->closing ? NULL : saratoga__file_new(u);
    const net__route *r = saratoga__route_of(u, &ev->from);
    unsigned status;
    int rv;

    if (f == NULL || r == NULL) {
        (void)saratoga_transfer_refuse(u->node, ev->handle,
                                       SARATOGA_UNSPECIFIED, saratoga__now());
        (void)saratoga_transfer_release(u->node, ev->handle, saratoga__now());
        if (f != NULL) {
            saratoga__file_free(f);
        }
        return;
    }
    f->handle = ev->handle;
    f->request = ev->request;
    f->host = ev->from.host;
    f->peer = *r;
    f->root = &u->root;
    f->overwrite = u->config.overwrite;
    f->widest = ev->descriptor;
    f->shares_rate = true;
    f->updates = ev->has_entry && ev->request == SARATOGA_GET;
    f->partial.entry = ev->entry;
    (void)saratoga_transfer_set_user(u->node, ev->handle, f);
    rv = server_name_it(f, ev);
    status =
        rv != 0 ? saratoga__status_of(rv, SARATOGA_NOT_FOUND) : server_judge(f);
    if (status == 0) {
        server_begin(f);
    } else {
        refuse(f, status);
    }
}
