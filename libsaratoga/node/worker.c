/* SPDX-License-Identifier: MPL-2.0 */
/* Performs the engine's file operations on the thread pool. */
#include "libsaratoga/node/worker.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libsaratoga/node/commit.h"
#include "libsaratoga/node/errors.h"
#include "libsaratoga/node/file_io.h"
#include "libsaratoga/node/send_file.h"
#include "libsaratoga/node/stream.h"
#include "libsaratoga/node/transfer.h"

/* A writer with this many blocks waiting defers the checksum. */
#define BACKLOG 4u

/* --- In a thread --------------------------------------------------------- */

static int64_t do_read(saratoga__file *f, const saratoga_work *w) {
    int64_t n = saratoga__read_at(f->local.fd, w->buf, w->len, w->offset);

    if (n >= 0 && saratoga__source_changed(f)) {
        return SARATOGA__CHANGED;
    }
    if (n > 0) {
        saratoga__hash_offer(&f->work.hash, w->offset, w->buf, (size_t)n, true);
    }
    return n;
}

/* Received data must match the existing file. */
static int64_t compare(const saratoga__file *f, const saratoga_work *w) {
    uint8_t *here = malloc(w->len);
    int64_t rv = UV_ENOMEM;

    if (here != NULL) {
        rv = saratoga__read_at(f->local.fd, here, w->len, w->offset);
    }
    if (rv >= 0) {
        rv = (size_t)rv == w->len && memcmp(here, w->buf, w->len) == 0
                 ? 0
                 : SARATOGA__EXISTS;
    }
    free(here);
    return rv;
}

static int64_t do_write(saratoga__file *f, const saratoga_work *w) {
    int64_t rv;

    if (f->local.medium == SARATOGA__OUTPUT) {
        return saratoga__stream_write(f, w);
    }
    rv = f->local.medium == SARATOGA__EXISTING
             ? compare(f, w)
             : saratoga__write_at(f->recv.part.fd, w->buf, w->len, w->offset);
    if (rv == 0) {
        saratoga__hash_offer(&f->work.hash, w->offset, w->buf, w->len,
                             saratoga__op_queue_waiting(&f->work.queue) <=
                                 BACKLOG);
    }
    return rv;
}

static int64_t do_truncate(saratoga__file *f, const saratoga_work *w) {
    saratoga__hash_reset(&f->work.hash);
    if (f->local.medium == SARATOGA__MEMORY) {
        f->local.memory_len = w->offset < f->local.memory_len
                                  ? (size_t)w->offset
                                  : f->local.memory_len;
        return 0;
    }
    if (f->local.medium == SARATOGA__EXISTING) {
        return SARATOGA__EXISTS;
    }
    return saratoga__part_cut(&f->recv.part, w->offset);
}

void saratoga__worker_run(saratoga__op *op) {
    const saratoga_work *w = &op->todo;

    switch (w->type) {
    case SARATOGA_WORK_READ:
        op->result = do_read(op->file, w);
        break;
    case SARATOGA_WORK_WRITE:
        op->result = do_write(op->file, w);
        break;
    case SARATOGA_WORK_DIGEST:
        op->result =
            saratoga__digest_to(op->file, w->checksum, w->offset + w->length);
        break;
    case SARATOGA_WORK_COMMIT:
        op->result = saratoga__commit(op->file, w);
        break;
    case SARATOGA_WORK_TRUNCATE:
        op->result = do_truncate(op->file, w);
        break;
    default:
        op->result = UV_EINVAL;
        break;
    }
}

/* --- On the loop --------------------------------------------------------- */

static void answer(saratoga_node *u, saratoga__file *f, const saratoga_work *w,
                   int64_t result) {
    if (result == UV_EPIPE && f != NULL &&
        f->local.medium == SARATOGA__OUTPUT) {
        (void)saratoga_transfer_cancel(
            u->engine, f->handle, SARATOGA_NOT_INTERESTED, saratoga__now());
    } else if (result == SARATOGA__EXISTS && f != NULL) {
        (void)saratoga_transfer_cancel(u->engine, f->handle,
                                       saratoga__status_of(SARATOGA__EXISTS, 0),
                                       saratoga__now());
    }
    if (result < 0 && f != NULL) {
        f->work.status = f->work.status != 0 ? f->work.status : (int)result;
        f->recv.verdict =
            result == SARATOGA__BAD_SUM ? SARATOGA__REJECTED : f->recv.verdict;
    } else if (f != NULL && w->type == SARATOGA_WORK_COMMIT) {
        f->recv.verdict = SARATOGA__COMMITTED;
    }
    result = result < 0 ? saratoga__error_of((int)result) : result;
    (void)saratoga_engine_work_done(u->engine, w->id, result, saratoga__now());
    saratoga__wake(u);
}

void saratoga__worker_done(saratoga__op *op) {
    saratoga__file *f = op->file;

    f->work.pending--;
    answer(f->u, f, &op->todo, op->result);
    if (op->todo.type == SARATOGA_WORK_READ && !saratoga__has_ended(f)) {
        saratoga__source_read(f, op->todo.offset + op->todo.len);
    }
    free(op);
    saratoga__file_check(f);
}

/* Writes to memory at once, since the buffer may move. */
static int64_t write_memory(saratoga__file *f, const saratoga_work *w) {
    uint64_t end = w->offset + w->len;

    if (end < w->offset || end > SARATOGA__MEMORY_MAX) {
        return UV_EFBIG;
    }
    if (end > f->local.memory_cap) {
        size_t cap = (size_t)end * 2;
        uint8_t *grown = realloc(f->local.memory, cap);

        if (grown == NULL) {
            return UV_ENOMEM;
        }
        memset(grown + f->local.memory_cap, 0, cap - f->local.memory_cap);
        f->local.memory = grown;
        f->local.memory_cap = cap;
    }
    memcpy(f->local.memory + w->offset, w->buf, w->len);
    f->local.memory_len =
        end > f->local.memory_len ? (size_t)end : f->local.memory_len;
    return 0;
}

static int64_t read_memory(const saratoga__file *f, const saratoga_work *w) {
    size_t left = w->offset < f->local.memory_len
                      ? f->local.memory_len - (size_t)w->offset
                      : 0;
    size_t n = left < w->len ? left : w->len;

    if (n > 0) {
        memcpy(w->buf, f->local.memory + w->offset, n);
    }
    return (int64_t)n;
}

static void in_memory(saratoga__file *f, const saratoga_work *w) {
    saratoga__op op = {.file = f, .todo = *w};

    if (w->type == SARATOGA_WORK_WRITE) {
        op.result = write_memory(f, w);
    } else if (w->type == SARATOGA_WORK_READ) {
        op.result = read_memory(f, w);
    } else {
        saratoga__worker_run(&op);
    }
    answer(f->u, f, w, op.result);
}

static void run_beside(uv_work_t *work) {
    saratoga__worker_run(work->data);
}

static void done_beside(uv_work_t *work, int status) {
    saratoga__op *op = work->data;

    (void)status;
    saratoga__worker_done(op);
}

/* Recently written data is not read again; the rest is read by a separate
 * thread, so that no block waits for it. */
static void digest(saratoga__op *op) {
    saratoga__file *f = op->file;

    f->work.pending++;
    if (saratoga__hash_at(&f->work.hash) >= op->todo.offset + op->todo.length) {
        saratoga__worker_done(op);
        return;
    }
    op->work.data = op;
    (void)uv_queue_work(f->u->loop.uv, &op->work, run_beside, done_beside);
}

static bool is_placed(const saratoga__file *f) {
    return f->local.medium != SARATOGA__UNOPENED;
}

static void worker_submit(saratoga__op *op) {
    saratoga__file *f = op->file;

    if (!is_placed(f)) {
        saratoga__ops_add(&f->work.waiting, op);
    } else if (op->todo.type == SARATOGA_WORK_DIGEST) {
        digest(op);
    } else {
        f->work.pending++;
        saratoga__op_queue_add(&f->work.queue, op);
    }
}

/* Counts the bytes of a stream as they arrive: its size is not known before. */
static bool fits_quota(saratoga__file *f, const saratoga_work *w) {
    saratoga_node *u = f->u;

    if (!f->recv.endless || f->id != 0 || w->type != SARATOGA_WORK_WRITE) {
        return true;
    }
    u->stored += w->len;
    f->recv.charged += w->len;
    return u->config.quota == 0 || u->stored <= u->config.quota;
}

void saratoga__work_start(saratoga_node *u, const saratoga_work *w) {
    saratoga__file *f = w->user;
    saratoga__op *op;

    if (f == NULL || (saratoga__has_ended(f) && !is_placed(f))) {
        answer(u, f, w, UV_ECANCELED);
        return;
    }
    if (f->local.medium == SARATOGA__MEMORY) {
        in_memory(f, w);
        return;
    }
    if (!fits_quota(f, w)) {
        answer(u, f, w, SARATOGA__OVER_QUOTA);
        return;
    }
    op = calloc(1, sizeof(*op));
    if (op == NULL) {
        answer(u, f, w, UV_ENOMEM);
        return;
    }
    op->file = f;
    op->todo = *w;
    worker_submit(op);
}

void saratoga__work_release(saratoga__file *f, int status) {
    saratoga__ops ops = f->work.waiting;

    f->work.waiting = (saratoga__ops){0};
    while (ops.first != NULL) {
        saratoga__op *op = saratoga__ops_take(&ops);

        if (status == 0) {
            worker_submit(op);
        } else {
            answer(f->u, f, &op->todo, status);
            free(op);
        }
    }
}
