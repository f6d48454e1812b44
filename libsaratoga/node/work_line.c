/* SPDX-License-Identifier: MPL-2.0 */
#include "libsaratoga/node/node_impl.h"

/* Works before others may have the thread. */
#define TURN 8

void saratoga__ops_add(saratoga__ops *ops, saratoga__op *op) {
    op->next = NULL;
    *(ops->first != NULL ? &ops->last->next : &ops->first) = op;
    ops->last = op;
    ops->count++;
}

saratoga__op *saratoga__ops_take(saratoga__ops *ops) {
    saratoga__op *op = ops->first;

    if (op != NULL) {
        ops->first = op->next;
        ops->count--;
    }
    return op;
}

/* --- What was done ------------------------------------------------------- */

static void work_line_tell(struct saratoga__done *d, saratoga__op *op) {
    uv_mutex_lock(&d->lock);
    saratoga__ops_add(&d->ops, op);
    uv_mutex_unlock(&d->lock);
    (void)uv_async_send(&d->told);
}

static void on_told(uv_async_t *told) {
    saratoga_node *u = told->data;
    saratoga__ops ops;

    uv_mutex_lock(&u->done.lock);
    ops = u->done.ops;
    u->done.ops = (saratoga__ops){0};
    uv_mutex_unlock(&u->done.lock);
    while (ops.first != NULL) {
        saratoga__op_done(saratoga__ops_take(&ops));
    }
}

int saratoga__done_init(struct saratoga__done *d, saratoga_node *u) {
    int rv = uv_mutex_init(&d->lock);

    if (rv != 0) {
        return rv;
    }
    rv = uv_async_init(u->loop, &d->told, on_told);
    if (rv != 0) {
        uv_mutex_destroy(&d->lock);
    }
    d->told.data = u;
    return rv;
}

void saratoga__done_close(struct saratoga__done *d) {
    uv_mutex_destroy(&d->lock);
    uv_close((uv_handle_t *)&d->told, NULL);
}

/* --- The line ------------------------------------------------------------ */

static saratoga__op *next(struct saratoga__line *l) {
    saratoga__op *op;

    uv_mutex_lock(&l->lock);
    op = saratoga__ops_take(&l->ops);
    uv_mutex_unlock(&l->lock);
    return op;
}

unsigned saratoga__line_waiting(saratoga__file *f) {
    unsigned n;

    uv_mutex_lock(&f->line.lock);
    n = f->line.ops.count;
    uv_mutex_unlock(&f->line.lock);
    return n;
}

static void run(uv_work_t *work) {
    saratoga__file *f = work->data;
    saratoga__op *op;

    for (int i = 0; i < TURN && (op = next(&f->line)) != NULL; i++) {
        saratoga__op_run(op);
        work_line_tell(&f->u->done, op);
    }
}

static void work_line_start(saratoga__file *f);

static void ended(uv_work_t *work, int status) {
    saratoga__file *f = work->data;

    (void)status;
    f->line.busy = false;
    f->pending--;
    if (saratoga__line_waiting(f) > 0) {
        work_line_start(f);
    } else {
        saratoga__file_settle(f);
    }
}

static void work_line_start(saratoga__file *f) {
    f->line.busy = true;
    f->line.work.data = f;
    f->pending++;
    (void)uv_queue_work(f->u->loop, &f->line.work, run, ended);
}

void saratoga__line_add(saratoga__file *f, saratoga__op *op) {
    f->pending++;
    uv_mutex_lock(&f->line.lock);
    saratoga__ops_add(&f->line.ops, op);
    uv_mutex_unlock(&f->line.lock);
    if (!f->line.busy) {
        work_line_start(f);
    }
}
