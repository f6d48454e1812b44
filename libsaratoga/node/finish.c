/* SPDX-License-Identifier: MPL-2.0 */
/* Finishes each transfer. */
#include "libsaratoga/node/finish.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "libsaratoga/node/address.h"
#include "libsaratoga/node/checkpoint.h"
#include "libsaratoga/node/errors.h"
#include "libsaratoga/node/event_queue.h"
#include "libsaratoga/node/receive_file.h"
#include "libsaratoga/node/send_file.h"
#include "libsaratoga/node/stream.h"
#include "libsaratoga/node/transfer.h"

/* --- In a thread --------------------------------------------------------- */

static void close_part(saratoga__file *f) {
    struct saratoga__receive *r = &f->recv;

    if (r->verdict == SARATOGA__COMMITTED) {
        saratoga__part_close(&r->part);
        return;
    }
    if (r->map != NULL && r->verdict == SARATOGA__PENDING) {
        (void)saratoga__checkpoint_save(f);
    }
    if (r->verdict != SARATOGA__PENDING || r->part.sync_error != 0 ||
        (r->map == NULL && !r->resumable)) {
        saratoga__part_discard(&r->part);
    } else {
        r->kept = true;
        saratoga__part_close(&r->part);
    }
}

/* The peer has a good copy of exactly this file: deletes it. */
static int remove_source(saratoga__file *f) {
    struct stat st;
    int fd = saratoga__root_read(f->local.root, f->local.name, &st);

    if (fd < 0) {
        return fd;
    }
    (void)close(fd);
    if (st.st_ino != f->local.st.st_ino || st.st_dev != f->local.st.st_dev ||
        saratoga__source_changed(f)) {
        return SARATOGA__CHANGED;
    }
    return saratoga__root_unlink(f->local.root, f->local.name);
}

static int close_all(saratoga__file *f) {
    int rv = 0;

    if (f->local.medium == SARATOGA__PART) {
        close_part(f);
    }
    if (f->send.remove) {
        rv = remove_source(f);
    }
    if (f->local.fd >= 0) {
        (void)close(f->local.fd);
    }
    f->local.fd = -1;
    if (f->input.owned) {
        (void)close(f->input.fd);
    }
    saratoga__root_close(&f->local.own_root);
    return rv;
}

/* --- On the loop --------------------------------------------------------- */

static void describe_end(saratoga__file *f, int status) {
    saratoga_node_event *r = &f->result;

    r->type = f->id != 0 ? SARATOGA_NODE_DONE : SARATOGA_NODE_SERVED;
    r->id = f->id;
    r->user = f->user;
    r->request = f->request;
    (void)snprintf(r->path, sizeof(r->path), "%s", f->path);
    saratoga__address_text(&f->peer.route.remote, r->address);
    if (f->send.remove && status != 0 && r->error == 0) {
        r->error = saratoga__error_of(status);
        (void)snprintf(
            r->text, sizeof(r->text),
            "the peer has it, but the local file could not be deleted: %s",
            saratoga__error_text(status));
    }
}

static void file_closed(saratoga__file *f, int status) {
    uint8_t *record = NULL;

    describe_end(f, status);
    saratoga__sink_settle_quota(f);
    if (f->handle != 0) {
        (void)saratoga_transfer_release(f->u->engine, f->handle,
                                        saratoga__now());
    }
    if (f->local.medium == SARATOGA__MEMORY && f->id != 0) {
        record = f->local.memory;
        f->result.record = f->local.memory;
        f->result.record_len = f->local.memory_len;
        f->local.memory = NULL;
    }
    saratoga__event_add(f->u, f->done, &f->result, record);
    f->done = NULL;
    saratoga__file_free(f);
}

static bool is_idle(saratoga__file *f) {
    return f->work.pending == 0 && !f->work.queue.busy && !f->work.job.busy &&
           saratoga__stream_unwatch(f);
}

static void finish(saratoga__file *f) {
    if (f->phase != SARATOGA__ENDED || !is_idle(f)) {
        return;
    }
    f->phase = SARATOGA__CLOSING;
    free(f->recv.map);
    f->recv.map = NULL;
    if (f->local.medium == SARATOGA__PART &&
        f->recv.verdict == SARATOGA__PENDING && f->handle != 0) {
        (void)saratoga__checkpoint_draw(f);
    }
    if (f->handle != 0) { /* no work may find it from now on */
        (void)saratoga_transfer_set_user(f->u->engine, f->handle, NULL);
    }
    saratoga__file_job(f, close_all, file_closed);
}

void saratoga__finish_all(saratoga_node *u) {
    saratoga__file *f;

    while ((f = u->to_check) != NULL) {
        u->to_check = f->next_check;
        f->to_check = false;
        finish(f);
    }
}
