/* SPDX-License-Identifier: MPL-2.0 */
/* Transfers that the application starts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal/common/sized.h"
#include "libsaratoga/node/address.h"
#include "libsaratoga/node/errors.h"
#include "libsaratoga/node/event_queue.h"
#include "libsaratoga/node/multicast.h"
#include "libsaratoga/node/options.h"
#include "libsaratoga/node/rate_share.h"
#include "libsaratoga/node/receive_file.h"
#include "libsaratoga/node/routes.h"
#include "libsaratoga/node/secure.h"
#include "libsaratoga/node/send_file.h"
#include "libsaratoga/node/sockets.h"
#include "libsaratoga/node/stream.h"
#include "libsaratoga/node/transfer.h"

#define SERVICE "7542"

static bool may_stream(uint32_t request) {
    return request == SARATOGA_PUT || request == SARATOGA_BLIND_PUT ||
           request == SARATOGA_GET;
}

static bool receives(uint32_t request) {
    return request == SARATOGA_GET || request == SARATOGA_TAKE;
}

/* --- In a thread --------------------------------------------------------- */

/* Describes the local copy, so that the peer can say whether its own
 * differs. */
static int describe_copy(saratoga__file *f) {
    bool plain = f->u->engine_config.time_y2k_plain;
    saratoga_entry *e = &f->recv.partial.entry;
    struct stat st;
    int fd = saratoga__root_read(f->local.root, f->local.name, &st);

    if (fd == UV_ENOENT) {
        return 0;
    }
    if (fd < 0) {
        return fd;
    }
    (void)close(fd);
    f->recv.ranges = malloc(sizeof(*f->recv.ranges));
    if (f->recv.ranges == NULL) {
        return UV_ENOMEM;
    }
    *f->recv.ranges = (saratoga_range){0, (uint64_t)st.st_size};
    f->recv.partial.ranges = f->recv.ranges;
    f->recv.partial.count = st.st_size > 0 ? 1 : 0;
    e->size = (uint64_t)st.st_size;
    e->mtime = saratoga_time_from_posix(st.st_mtim.tv_sec, plain);
    e->ctime = saratoga_time_from_posix(st.st_ctim.tv_sec, plain);
    memcpy(e->path, f->path, sizeof(e->path));
    f->recv.updates = true;
    return 0;
}

static int open_here(saratoga__file *f) {
    int rv;

    f->work.stage = f->local.folder;
    if (saratoga__is_stream(f)) {
        return saratoga__stream_describe(f);
    }
    rv = saratoga__root_open(&f->local.own_root, f->local.folder);
    if (rv != 0) {
        return rv;
    }
    f->local.root = &f->local.own_root;
    f->work.stage = f->local.name[0] != '\0' ? f->local.name : f->local.folder;
    if (saratoga__requester_sends(f->request)) {
        rv = f->request == SARATOGA_GIVE
                 ? saratoga__root_may_unlink(f->local.root, f->local.name)
                 : 0;
        return rv != 0 ? rv : saratoga__source_open(f);
    }
    if (f->local.name[0] == '\0' || f->output.fd >= 0) { /* named by METADATA */
        return 0;
    }
    rv = saratoga__sink_open(f);
    /* A partial file is not a copy. */
    f->options.update_check = f->options.update_check && !f->recv.resumable;
    if (rv == 0 && f->options.update_check) {
        rv = describe_copy(f);
    }
    return rv;
}

/* Finds the group to which the answer may go. */
static int find_group(saratoga__file *f) {
    int rv = 0;

    if (f->group.name[0] != '\0') {
        f->work.stage = f->group.name;
        rv = saratoga__resolve(f->group.name, f->group.service, false,
                               &f->group.address);
        rv = rv == 0 && !saratoga__is_multicast(&f->group.address)
                 ? SARATOGA__NO_GROUP
                 : rv;
        f->group.heard = rv == 0;
    } else if (f->request == SARATOGA_GET &&
               saratoga__is_multicast(&f->peer.route.remote)) {
        f->group.address = f->peer.route.remote;
        f->group.heard = true;
    }
    return rv;
}

static int prepare(saratoga__file *f) {
    int rv;

    f->work.stage = f->peer.name;
    rv = saratoga__resolve(f->peer.name, f->peer.service, false,
                           &f->peer.route.remote);
    if (rv == 0) {
        rv = find_group(f);
    }
    if (rv == 0 &&
        (saratoga__requester_sends(f->request) || receives(f->request))) {
        rv = open_here(f);
    }
    return rv;
}

/* --- On the loop --------------------------------------------------------- */

static const char *what(int error) {
    return error == SARATOGA_ERR_STATE ? "the same transfer is in progress"
                                       : saratoga_strerror(error);
}

/* Whether the file was cancelled while a job ran; then nothing else begins. */
static bool is_called_off(saratoga__file *f) {
    bool off = f->phase == SARATOGA__CANCELLED;

    if (off) {
        saratoga__file_fail(f, SARATOGA_ERR_CANCELLED, "%s",
                            saratoga_strerror(SARATOGA_ERR_CANCELLED));
    }
    return off;
}

/* Receives from the group, where members report their holes. */
static bool hears_group(saratoga__file *f) {
    int rv = 0;

    if (f->group.heard) {
        rv = saratoga__multicast_open(f->u, &f->group.address, true);
    } else if (f->options.multicast &&
               saratoga__is_multicast(&f->peer.route.remote)) {
        rv = saratoga__multicast_open(f->u, &f->peer.route.remote, false);
    }
    if (rv != 0) {
        saratoga__file_fail(
            f, saratoga__error_of(rv), "cannot join the group %s: %s",
            f->group.name[0] != '\0' ? f->group.name : f->peer.name,
            saratoga__error_text(rv));
    }
    return rv == 0;
}

static void fail_at_stage(saratoga__file *f) {
    bool below =
        f->work.stage == f->local.name && strcmp(f->local.folder, ".") != 0;

    saratoga__file_fail(f, saratoga__error_of(f->work.status), "%s%s%s: %s",
                        below ? f->local.folder : "", below ? "/" : "",
                        f->work.stage, saratoga__error_text(f->work.status));
}

static bool can_be_sealed(saratoga__file *f) {
    const net__addr *to =
        f->group.heard ? &f->group.address : &f->peer.route.remote;
    const char *objection =
        saratoga__is_secured(f->u)
            ? saratoga__secure_objection(f->u, to, &f->options)
            : NULL;

    if (objection != NULL) {
        saratoga__file_fail(f, SARATOGA_ERR_INVAL, "%s: %s", f->peer.name,
                            objection);
    }
    return objection == NULL;
}

static int ask(saratoga__file *f) {
    saratoga_request r;

    saratoga_request_init(&r);
    r.type = f->request;
    r.path = f->path;
    r.peer_name = f->peer.name;
    r.options = &f->options;
    r.source = saratoga__requester_sends(f->request) ? &f->send.source : NULL;
    r.partial = f->recv.resumable || f->recv.updates ? &f->recv.partial : NULL;
    r.user = f;
    saratoga__pktinfo(f->u, &f->peer.route, &r.to);
    saratoga__peer_is_at(f, &r.to, &f->peer.route);
    return saratoga_transfer_start(f->u->engine, &r, &f->handle,
                                   saratoga__now());
}

static void client_start(saratoga__file *f) {
    int rv;

    if (f->work.status != 0) {
        fail_at_stage(f);
        return;
    }
    if (is_called_off(f) || !hears_group(f) || !can_be_sealed(f)) {
        return;
    }
    rv = ask(f);
    if (rv != 0) {
        f->handle = 0;
        saratoga__file_fail(f, rv, "%s: %s", f->path, what(rv));
        return;
    }
    if (f->handle == 0) { /* a no-op is no transfer */
        f->phase = SARATOGA__ENDED;
        saratoga__file_check(f);
        return;
    }
    saratoga__share_rate(f->u);
    if (f->request == SARATOGA_BLIND_PUT) { /* needs no acceptance */
        saratoga__stream_go_on(f);
    }
    if (f->send.source.digest_later) {
        saratoga__source_digest_later(f);
    }
    saratoga__wake(f->u);
}

static void prepared(saratoga__file *f, int status) {
    f->work.status = status;
    if (is_called_off(f)) {
        return;
    }
    saratoga__map_for_socket(f->u, &f->peer.route.remote);
    if (f->work.status == 0 && saratoga__requester_sends(f->request) &&
        !saratoga__is_stream(f)) {
        saratoga__source_digest(f, client_start);
    } else {
        client_start(f);
    }
}

/* False: too long for the buffer. */
static bool copy(char *to, size_t room, const char *from) {
    size_t len = from != NULL ? strlen(from) : 0;

    if (len >= room) {
        return false;
    }
    if (len > 0) {
        memcpy(to, from, len);
    }
    to[len] = '\0';
    return true;
}

/* The local name of a file, if none was given. */
static const char *last_name(const char *path) {
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static int stream_fd(const saratoga_node_transfer *t) {
    return saratoga__requester_sends(t->type) ? t->input : t->output;
}

static int client_take(saratoga__file *f, const saratoga_node_transfer *t) {
    const char *file = t->file;

    if (t->host == NULL ||
        (saratoga__requester_sends(t->type) && file == NULL && !t->stream) ||
        (t->stream && (!may_stream(t->type) || stream_fd(t) < 0)) ||
        (t->group != NULL && t->type != SARATOGA_GET) ||
        (t->options != NULL && !cmn__sized_is_set(t->options))) {
        return SARATOGA_ERR_INVAL;
    }
    if (t->stream) {
        *(saratoga__requester_sends(t->type) ? &f->input.fd : &f->output.fd) =
            stream_fd(t);
    }
    if (!copy(f->group.name, sizeof(f->group.name), t->group) ||
        !copy(f->group.service, sizeof(f->group.service),
              t->group_service != NULL ? t->group_service : SERVICE) ||
        !copy(f->peer.name, sizeof(f->peer.name), t->host) ||
        !copy(f->peer.service, sizeof(f->peer.service),
              t->service != NULL ? t->service : SERVICE) ||
        !copy(f->path, sizeof(f->path), t->path) ||
        !copy(f->local.folder, sizeof(f->local.folder),
              t->folder != NULL ? t->folder : ".")) {
        return SARATOGA_ERR_INVAL;
    }
    if (file == NULL && receives(t->type)) {
        file = last_name(f->path);
    }
    if (file != NULL && saratoga__path_clean(file, f->local.name) != 0) {
        return SARATOGA_ERR_INVAL;
    }
    f->has_options = true;
    f->send.shares_rate = t->options == NULL;
    return saratoga__options_keep(&f->options, &f->strings,
                                  t->options != NULL ? t->options
                                                     : &f->u->options);
}

/* Fills in fields that an older caller does not know as unset. */
static saratoga_node_transfer whole(const saratoga_node_transfer *t) {
    saratoga_node_transfer all;

    saratoga_node_transfer_init(&all);
    cmn__sized_take(&all, sizeof(all), t);
    return all;
}

int saratoga_node_start(saratoga_node *u, const saratoga_node_transfer *t,
                        uint64_t *id) {
    saratoga_node_transfer all;
    saratoga__file *f;
    int rv;

    if (t == NULL || id == NULL) {
        return SARATOGA_ERR_INVAL;
    }
    all = whole(t);
    f = saratoga__file_new(u);
    if (f == NULL) {
        return SARATOGA_ERR_NOMEM;
    }
    rv = u->loop.closing ? SARATOGA_ERR_STATE : client_take(f, &all);
    if (rv == 0) {
        f->done = saratoga__event_new();
        rv = f->done != NULL ? 0 : SARATOGA_ERR_NOMEM;
    }
    if (rv != 0) {
        saratoga__file_free(f);
        return rv;
    }
    f->id = ++u->next_id;
    f->request = all.type;
    f->user = all.user;
    f->recv.overwrite = all.overwrite || f->options.update_check;
    f->recv.resume = all.resume;
    if (all.type == SARATOGA_GETDIR) {
        f->local.medium = SARATOGA__MEMORY;
    }
    *id = f->id;
    saratoga__file_job(f, prepare, prepared);
    saratoga__wake(u);
    return 0;
}

static int cancel_served(saratoga_node *u) {
    saratoga__file *next;
    int rv = SARATOGA_ERR_GONE;

    for (saratoga__file *f = u->files; f != NULL; f = next) {
        next = f->next;
        if (f->id == 0 && f->phase == SARATOGA__RUNNING) {
            saratoga__file_cancel(f);
            rv = 0;
        }
    }
    return rv;
}

int saratoga_node_cancel(saratoga_node *u, uint64_t id) {
    saratoga__file *f;

    if (id == 0) {
        return cancel_served(u);
    }
    f = saratoga__file_find(u, id);
    if (f == NULL) {
        return SARATOGA_ERR_GONE;
    }
    saratoga__file_cancel(f);
    return 0;
}

int saratoga_node_get_stats(saratoga_node *u, uint64_t id, saratoga_stats *st) {
    saratoga__file *f = id != 0 ? saratoga__file_find(u, id) : NULL;

    if (f == NULL || f->handle == 0) {
        return SARATOGA_ERR_GONE;
    }
    return saratoga_transfer_get_stats(u->engine, f->handle, st,
                                       saratoga__now());
}

void saratoga_node_transfer_init_sized(saratoga_node_transfer *t, size_t size) {
    memset(t, 0, size);
    t->struct_size = size;
}
