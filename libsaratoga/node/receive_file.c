/* SPDX-License-Identifier: MPL-2.0 */
#include "libsaratoga/node/node_impl.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/statvfs.h>

/* Files that are received: opening them, and what METADATA says of them. */

static bool may_compare(const saratoga__file *f) {
    return f->resume || f->id == 0;
}

int saratoga__sink_open(saratoga__file *f) {
    int rv = saratoga__part_open(&f->part, f->root, f->name, f->overwrite,
                                 f->resume ? &f->partial : NULL, &f->ranges);

    if (rv == 0) {
        f->has_part = true;
        f->resumable = f->ranges != NULL;
        f->described = f->resumable;
        return 0;
    }
    saratoga__part_close(&f->part);
    if (rv == SARATOGA__EXISTS && may_compare(f)) {
        /* It may have come whole, and only word of it have been lost. */
        f->fd = saratoga__root_read(f->root, f->name, &f->st);
        f->exists = f->fd >= 0;
        rv = f->exists ? 0 : f->fd;
    }
    return rv;
}

/* --- METADATA ------------------------------------------------------------ */

static void receive_file_stop(saratoga__file *f, int error, unsigned status) {
    f->status = error;
    (void)saratoga_transfer_cancel(f->u->node, f->handle, status,
                                   saratoga__now());
    saratoga__kick(f->u);
}

/* Room on the disk for what is still to come. */
static bool receive_file_has_room(const saratoga__file *f, uint64_t size,
                                  uint64_t held) {
    struct statvfs fs;

    if (!f->has_part || fstatvfs(f->part.fd, &fs) != 0) {
        return true;
    }
    return size - (held < size ? held : size) <=
           (uint64_t)fs.f_bavail * fs.f_frsize;
}

static bool in_quota(saratoga__file *f, uint64_t size) {
    saratoga_node *u = f->u;

    if (f->id != 0 || f->counted || f->in_memory) {
        return true;
    }
    if (u->config.quota != 0 &&
        (size > u->config.quota || u->taken > u->config.quota - size)) {
        return false;
    }
    u->taken += size;
    f->counted = true;
    return true;
}

static void check(saratoga__file *f, uint64_t held) {
    uint64_t size = f->partial.entry.size;

    if (f->exists && (uint64_t)f->st.st_size != size) {
        receive_file_stop(f, SARATOGA__EXISTS, SARATOGA_ACCESS_DENIED);
    } else if (!in_quota(f, size)) {
        receive_file_stop(f, SARATOGA__OVER_QUOTA, SARATOGA_CANNOT_RECEIVE);
    } else if (!receive_file_has_room(f, size, held)) {
        receive_file_stop(f, UV_ENOSPC, SARATOGA_CANNOT_RECEIVE);
    }
}

static void open_now(saratoga__file *f) {
    f->status = saratoga__sink_open(f);
}

static void opened(saratoga__file *f) {
    if (f->status != 0 && !f->ended) {
        receive_file_stop(
            f, f->status,
            saratoga__status_of(f->status, SARATOGA_CANNOT_RECEIVE));
    } else if (f->status == 0) {
        check(f, 0);
    }
    saratoga__work_release(f, f->status);
    saratoga__file_settle(f);
}

/* The peer chose the file, and so its name; or it could have been a stream. */
static void open_by_name(saratoga__file *f, const char *path) {
    const char *leaf = strrchr(path, '/');

    leaf = leaf != NULL ? leaf + 1 : path;
    if (f->name[0] == '\0' &&
        (saratoga__path_clean(leaf, f->name) != 0 || f->name[0] == '\0')) {
        receive_file_stop(f, UV_EACCES, SARATOGA_ACCESS_DENIED);
        return;
    }
    saratoga__file_job(f, open_now, opened);
}

void saratoga__sink_metadata(saratoga__file *f, const saratoga_event *ev) {
    bool again = f->described; /* now with the checksum */

    f->partial.entry = ev->entry;
    f->partial.checksum = ev->checksum;
    memcpy(f->partial.digest, ev->digest, sizeof(f->partial.digest));
    f->described = true;
    f->endless = ev->kind == SARATOGA_STREAM;
    f->result.checksum = ev->checksum;
    f->result.entry = ev->entry;
    if ((ev->kind == SARATOGA_DIRECTORY) != f->in_memory) {
        receive_file_stop(f, UV_EINVAL, SARATOGA_FLAGS_CHANGED);
    } else if (f->endless && f->output >= 0) {
        f->to_output = true;
        saratoga__work_release(f, 0);
    } else if (!again && !f->in_memory && !f->has_part && !f->exists) {
        open_by_name(f, ev->entry.path);
    } else {
        check(f, ev->resumed);
    }
}
