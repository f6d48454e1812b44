/* SPDX-License-Identifier: MPL-2.0 */
#include "libsaratoga/node/node_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Transfers that this side asks for. */

#define SERVICE "7542"

/* Whether who asks sends the file. */
static bool sends(uint32_t request) {
    return request == SARATOGA_PUT || request == SARATOGA_GIVE ||
           request == SARATOGA_BLIND_PUT;
}

static bool may_stream(uint32_t request) {
    return request == SARATOGA_PUT || request == SARATOGA_BLIND_PUT ||
           request == SARATOGA_GET;
}

static bool receives(uint32_t request) {
    return request == SARATOGA_GET || request == SARATOGA_TAKE;
}

/* --- In a thread --------------------------------------------------------- */

/* What is here already, for the peer to say whether it has something else. */
static int describe_copy(saratoga__file *f) {
    bool plain = f->u->engine.time_y2k_plain;
    saratoga_entry *e = &f->partial.entry;
    struct stat st;
    int fd = saratoga__root_read(f->root, f->name, &st);

    if (fd == UV_ENOENT) {
        return 0;
    }
    if (fd < 0) {
        return fd;
    }
    (void)close(fd);
    f->ranges = malloc(sizeof(*f->ranges));
    if (f->ranges == NULL) {
        return UV_ENOMEM;
    }
    *f->ranges = (saratoga_range){0, (uint64_t)st.st_size};
    f->partial.ranges = f->ranges;
    f->partial.count = st.st_size > 0 ? 1 : 0;
    e->size = (uint64_t)st.st_size;
    e->mtime = saratoga_time_from_posix(st.st_mtim.tv_sec, plain);
    e->ctime = saratoga_time_from_posix(st.st_ctim.tv_sec, plain);
    memcpy(e->path, f->path, sizeof(e->path));
    f->updates = true;
    return 0;
}

static int open_here(saratoga__file *f) {
    int rv;

    f->stage = f->folder;
    if (saratoga__is_stream(f)) {
        return saratoga__stream_describe(f);
    }
    rv = saratoga__root_open(&f->own_root, f->folder);
    if (rv != 0) {
        return rv;
    }
    f->root = &f->own_root;
    f->stage = f->name[0] != '\0' ? f->name : f->folder;
    if (sends(f->request)) {
        return saratoga__source_open(f);
    }
    if (f->name[0] == '\0' || f->output >= 0) { /* METADATA will tell */
        return 0;
    }
    rv = saratoga__sink_open(f);
    /* A part of it is no copy. */
    f->options.update_check = f->options.update_check && !f->resumable;
    if (rv == 0 && f->options.update_check) {
        rv = describe_copy(f);
    }
    return rv;
}

/* Where the answer may go beside here. */
static int find_group(saratoga__file *f) {
    int rv = 0;

    if (f->group_host[0] != '\0') {
        f->stage = f->group_host;
        rv = saratoga__resolve(f->group_host, f->group_service, false,
                               &f->group);
        rv = rv == 0 && !saratoga__is_group(&f->group) ? UV_EINVAL : rv;
        f->in_group = rv == 0;
    } else if (f->request == SARATOGA_GET &&
               saratoga__is_group(&f->peer.remote)) {
        f->group = f->peer.remote;
        f->in_group = true;
    }
    return rv;
}

static void prepare(saratoga__file *f) {
    f->stage = f->host_name;
    f->status =
        saratoga__resolve(f->host_name, f->service, false, &f->peer.remote);
    if (f->status == 0) {
        f->status = find_group(f);
    }
    if (f->status == 0 && (sends(f->request) || receives(f->request))) {
        f->status = open_here(f);
    }
}

/* --- On the loop --------------------------------------------------------- */

static const char *what(int error) {
    return error == SARATOGA_ERR_STATE ? "the same transfer is running already"
                                       : saratoga_strerror(error);
}

/* Cancelled while a job ran: nothing begins any more. */
static bool is_called_off(saratoga__file *f) {
    bool off = f->cancelled;

    if (off) { /* which may free it */
        saratoga__file_fail(f, SARATOGA_ERR_CANCELLED, "%s",
                            saratoga_strerror(SARATOGA_ERR_CANCELLED));
    }
    return off;
}

/* What members of a group miss, they tell the group. */
static bool hears_group(saratoga__file *f) {
    int rv = 0;

    if (f->in_group) {
        rv = saratoga__ear_open(f->u, &f->group, true);
    } else if (f->options.multicast && saratoga__is_group(&f->peer.remote)) {
        rv = saratoga__ear_open(f->u, &f->peer.remote, false);
    }
    if (rv != 0) {
        saratoga__file_fail(f, saratoga__error_of(rv),
                            "cannot hear the group %s: %s", f->host_name,
                            saratoga__error_text(rv));
    }
    return rv == 0;
}

static void fail_at_stage(saratoga__file *f) {
    bool below = f->stage == f->name && strcmp(f->folder, ".") != 0;

    saratoga__file_fail(f, saratoga__error_of(f->status), "%s%s%s: %s",
                        below ? f->folder : "", below ? "/" : "", f->stage,
                        saratoga__error_text(f->status));
}

static bool can_be_sealed(saratoga__file *f) {
    const net__addr *to = f->in_group ? &f->group : &f->peer.remote;
    const char *objection =
        saratoga__is_secured(f->u)
            ? saratoga__secure_objection(f->u, to, &f->options)
            : NULL;

    if (objection != NULL) {
        saratoga__file_fail(f, SARATOGA_ERR_INVAL, "%s: %s", f->host_name,
                            objection);
    }
    return objection == NULL;
}

static int ask(saratoga__file *f) {
    saratoga_request r;

    saratoga_request_init(&r);
    r.type = f->request;
    r.path = f->path;
    r.peer_name = f->host_name;
    r.options = &f->options;
    r.source = sends(f->request) ? &f->source : NULL;
    r.partial = f->resumable || f->updates ? &f->partial : NULL;
    r.user = f;
    saratoga__pktinfo(f->u, &f->peer, &r.to);
    f->host = r.to.host;
    f->path_token = r.to.path;
    return saratoga_transfer_start(f->u->node, &r, &f->handle, saratoga__now());
}

static void client_start(saratoga__file *f) {
    int rv;

    if (f->status != 0) {
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
    saratoga__share_rate(f->u);
    if (f->request == SARATOGA_BLIND_PUT) { /* nobody has to accept it */
        saratoga__stream_go_on(f);
    }
    if (f->source.digest_later) {
        saratoga__source_sum_later(f);
    }
    saratoga__kick(f->u);
}

static void prepared(saratoga__file *f) {
    saratoga_node *u = f->u;
    net__addr own;

    if (is_called_off(f)) {
        return;
    }
    if (net__udp_local(u->udp, &own) == 0 && own.sa.sa_family == AF_INET6) {
        net__addr_map(&f->peer.remote);
    }
    if (f->status == 0 && sends(f->request) && !saratoga__is_stream(f)) {
        saratoga__source_sum(f, client_start);
    } else {
        client_start(f);
    }
}

/* False: too long for its place. */
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

static int client_take_options(saratoga__file *f, const saratoga_options *o) {
    f->options = o != NULL ? *o : f->u->options;
    f->has_options = true;
    f->shares_rate = o == NULL;
    if (f->options.congestion == NULL) {
        return 0;
    }
    if (!copy(f->congestion, sizeof(f->congestion), f->options.congestion)) {
        return SARATOGA_ERR_ALGORITHM;
    }
    f->options.congestion = f->congestion;
    return 0;
}

/* The name of a file here, when none was given. */
static const char *last_name(const char *path) {
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static int client_take(saratoga__file *f, const saratoga_node_transfer *t) {
    const char *file = t->file;

    if (t->host == NULL || (sends(t->type) && file == NULL && !t->stream) ||
        (t->stream && !may_stream(t->type)) ||
        (t->group != NULL && t->type != SARATOGA_GET)) {
        return SARATOGA_ERR_INVAL;
    }
    f->input = t->stream && sends(t->type) ? t->input : -1;
    f->output = t->stream && !sends(t->type) ? t->output : -1;
    if (!copy(f->group_host, sizeof(f->group_host), t->group) ||
        !copy(f->group_service, sizeof(f->group_service),
              t->group_service != NULL ? t->group_service : SERVICE) ||
        !copy(f->host_name, sizeof(f->host_name), t->host) ||
        !copy(f->service, sizeof(f->service),
              t->service != NULL ? t->service : SERVICE) ||
        !copy(f->path, sizeof(f->path), t->path) ||
        !copy(f->folder, sizeof(f->folder),
              t->folder != NULL ? t->folder : ".")) {
        return SARATOGA_ERR_INVAL;
    }
    if (file == NULL && receives(t->type)) {
        file = last_name(f->path);
    }
    if (file != NULL && saratoga__path_clean(file, f->name) != 0) {
        return SARATOGA_ERR_INVAL;
    }
    return client_take_options(f, t->options);
}

/* Of a caller that knows fewer fields the others are as if not set. */
static saratoga_node_transfer whole(const saratoga_node_transfer *t) {
    saratoga_node_transfer all;

    saratoga_node_transfer_init(&all);
    memcpy(&all, t,
           t->struct_size < sizeof(all) ? t->struct_size : sizeof(all));
    return all;
}

int saratoga_node_start(saratoga_node *u, const saratoga_node_transfer *t,
                        uint64_t *id) {
    const saratoga_node_transfer all = whole(t);
    saratoga__file *f = saratoga__file_new(u);
    int rv;

    if (f == NULL) {
        return SARATOGA_ERR_NOMEM;
    }
    rv = u->closing ? SARATOGA_ERR_STATE : client_take(f, &all);
    if (rv != 0) {
        saratoga__file_free(f);
        return rv;
    }
    f->id = ++u->next_id;
    f->request = all.type;
    f->user = all.user;
    f->overwrite = all.overwrite || f->options.update_check;
    f->resume = all.resume;
    f->in_memory = all.type == SARATOGA_GETDIR;
    *id = f->id;
    saratoga__file_job(f, prepare, prepared);
    saratoga__kick(u);
    return 0;
}

void saratoga__file_cancel(saratoga__file *f) {
    bool asked_here = f->id != 0;
    unsigned status = sends(f->request) == asked_here ? SARATOGA_CANNOT_SEND
                                                      : SARATOGA_NOT_INTERESTED;

    f->cancelled = true;
    if (f->handle != 0 && !f->ended) {
        (void)saratoga_transfer_cancel(f->u->node, f->handle, status,
                                       saratoga__now());
    }
    saratoga__kick(f->u);
}

int saratoga_node_cancel(saratoga_node *u, uint64_t id) {
    saratoga__file *f = id != 0 ? saratoga__file_find(u, id) : NULL;

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
    return saratoga_transfer_get_stats(u->node, f->handle, st, saratoga__now());
}

void saratoga_node_transfer_init_sized(saratoga_node_transfer *t, size_t size) {
    memset(t, 0, size);
    t->struct_size = size;
}
