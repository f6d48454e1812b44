/* SPDX-License-Identifier: MPL-2.0 */
/* Opens the destination of a received file. */
#include "libsaratoga/node/receive_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/statvfs.h>

#include "libsaratoga/node/errors.h"
#include "libsaratoga/node/transfer.h"
#include "libsaratoga/node/worker.h"

static bool may_compare(const saratoga__file *f) {
    return f->recv.resume || f->id == 0;
}

int saratoga__sink_open(saratoga__file *f) {
    int rv = saratoga__part_open(
        &f->recv.part, f->local.root, f->local.name, f->recv.overwrite,
        f->recv.resume ? &f->recv.partial : NULL, &f->recv.ranges);

    if (rv == 0) {
        f->work.job.medium = SARATOGA__PART;
        f->recv.resumable = f->recv.ranges != NULL;
        f->recv.described = f->recv.resumable;
        return 0;
    }
    saratoga__part_close(&f->recv.part);
    if (rv == SARATOGA__EXISTS && may_compare(f)) {
        /* It may be complete, and only the confirmation was lost. */
        f->local.fd =
            saratoga__root_read(f->local.root, f->local.name, &f->local.st);
        if (f->local.fd < 0) {
            return f->local.fd;
        }
        f->work.job.medium = SARATOGA__EXISTING;
        rv = 0;
    }
    return rv;
}

/* --- METADATA ------------------------------------------------------------ */

/* Whether the disk has room for the rest of the file. */
static bool receive_file_has_room(const saratoga__file *f, uint64_t size,
                                  uint64_t held) {
    struct statvfs fs;

    if (f->local.medium != SARATOGA__PART ||
        fstatvfs(f->recv.part.fd, &fs) != 0) {
        return true;
    }
    return size - (held < size ? held : size) <=
           (uint64_t)fs.f_bavail * fs.f_frsize;
}

/* Charges what is still to come, so that concurrent transfers do not exceed the
 * quota together. */
static bool in_quota(saratoga__file *f, uint64_t size, uint64_t held) {
    saratoga_node *u = f->u;
    uint64_t more = size - (held < size ? held : size);

    if (f->id != 0 || f->recv.counted || f->local.medium != SARATOGA__PART) {
        return true;
    }
    if (u->config.quota != 0 &&
        (more > u->config.quota || u->stored > u->config.quota - more)) {
        return false;
    }
    u->stored += more;
    f->recv.counted = true;
    f->recv.charged = more;
    f->recv.resumed = held;
    return true;
}

void saratoga__sink_settle_quota(saratoga__file *f) {
    struct saratoga__receive *r = &f->recv;
    uint64_t due = 0;

    if (r->verdict == SARATOGA__COMMITTED) {
        due = r->charged;
    } else if (r->kept && r->saved > r->resumed) {
        due = r->saved - r->resumed;
    }
    f->u->stored -= due < r->charged ? r->charged - due : 0;
    r->charged = 0;
}

static void check(saratoga__file *f, uint64_t held) {
    uint64_t size = f->recv.partial.entry.size;

    if (f->local.medium == SARATOGA__EXISTING &&
        (uint64_t)f->local.st.st_size != size) {
        saratoga__file_stop(f, SARATOGA__EXISTS,
                            SARATOGA_DENIED(SARATOGA_DENIED_EXISTS));
    } else if (!in_quota(f, size, held)) {
        if (!f->recv.resumable) { /* the first block is discarded, too */
            f->recv.verdict = SARATOGA__REJECTED;
        }
        saratoga__file_stop(f, SARATOGA__OVER_QUOTA, SARATOGA_CANNOT_RECEIVE);
    } else if (!receive_file_has_room(f, size, held)) {
        saratoga__file_stop(f, UV_ENOSPC, SARATOGA_CANNOT_RECEIVE);
    }
}

static void opened(saratoga__file *f, int status) {
    f->work.status = status;
    if (f->work.status != 0 && !saratoga__has_ended(f)) {
        saratoga__file_stop(
            f, f->work.status,
            saratoga__status_of(f->work.status, SARATOGA_CANNOT_RECEIVE));
    } else if (f->work.status == 0) {
        check(f, 0);
    }
    saratoga__work_release(f, f->work.status);
    saratoga__file_check(f);
}

/* A peer that names a file must not create one that shells and programs read on
 * their own, or whose name misleads. */
static bool receive_file_is_plain(const char *leaf) {
    bool plain = leaf[0] != '\0' && leaf[0] != '.';

    for (; *leaf != '\0'; leaf++) {
        plain = plain && (unsigned char)*leaf >= 0x20 && *leaf != 0x7f;
    }
    return plain;
}

/* The peer chose the file and its name, or it could have been a stream. */
static void open_by_name(saratoga__file *f, const char *path) {
    const char *leaf = strrchr(path, '/');

    leaf = leaf != NULL ? leaf + 1 : path;
    if (f->local.name[0] == '\0' &&
        (!receive_file_is_plain(leaf) ||
         saratoga__path_clean(leaf, f->local.name) != 0)) {
        saratoga__file_stop(f, SARATOGA__BAD_NAME,
                            SARATOGA_DENIED(SARATOGA_DENIED_NAME));
        return;
    }
    saratoga__file_job(f, saratoga__sink_open, opened);
}

void saratoga__sink_metadata(saratoga__file *f, const saratoga_event *ev) {
    bool again = f->recv.described; /* repeated with the checksum */

    f->recv.partial.entry = ev->entry;
    f->recv.partial.checksum = ev->checksum;
    memcpy(f->recv.partial.digest, ev->digest, sizeof(f->recv.partial.digest));
    f->recv.described = true;
    f->recv.endless = ev->kind == SARATOGA_STREAM;
    f->result.checksum = ev->checksum;
    f->result.entry = ev->entry;
    if ((ev->kind == SARATOGA_DIRECTORY) !=
        (f->local.medium == SARATOGA__MEMORY)) {
        saratoga__file_stop(f, UV_EINVAL, SARATOGA_FLAGS_CHANGED);
    } else if (f->recv.endless && f->output.fd >= 0) {
        f->local.medium = SARATOGA__OUTPUT;
        saratoga__work_release(f, 0);
    } else if (!again && f->local.medium == SARATOGA__UNOPENED) {
        open_by_name(f, ev->entry.path);
    } else {
        check(f, ev->resumed);
    }
}
