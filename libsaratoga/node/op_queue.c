/* SPDX-License-Identifier: MPL-2.0 */
/* Runs operations on one file in order on the thread pool. */
#include "libsaratoga/node/op_queue.h"

/* Operations before the thread serves other files. */
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

/* --- Back to the loop ---------------------------------------------------- */

static void completions_add(saratoga__completions *c, saratoga__op *op) {
    uv_mutex_lock(&c->lock);
    saratoga__ops_add(&c->ops, op);
    uv_mutex_unlock(&c->lock);
    (void)uv_async_send(&c->async);
}

static void on_completions(uv_async_t *async) {
    saratoga__completions *c = async->data;
    saratoga__ops ops;

    uv_mutex_lock(&c->lock);
    ops = c->ops;
    c->ops = (saratoga__ops){0};
    uv_mutex_unlock(&c->lock);
    while (ops.first != NULL) {
        c->done(saratoga__ops_take(&ops));
    }
}

int saratoga__completions_init(saratoga__completions *c, uv_loop_t *loop,
                               void (*run)(saratoga__op *op),
                               void (*done)(saratoga__op *op)) {
    int rv = uv_mutex_init(&c->lock);

    if (rv != 0) {
        return rv;
    }
    rv = uv_async_init(loop, &c->async, on_completions);
    if (rv != 0) {
        uv_mutex_destroy(&c->lock);
    }
    c->async.data = c;
    c->run = run;
    c->done = done;
    return rv;
}

void saratoga__completions_close(saratoga__completions *c) {
    uv_mutex_destroy(&c->lock);
    uv_close((uv_handle_t *)&c->async, NULL);
}

/* --- In a thread --------------------------------------------------------- */

static saratoga__op *op_queue_next(saratoga__op_queue *q) {
    saratoga__op *op;

    uv_mutex_lock(&q->lock);
    op = saratoga__ops_take(&q->ops);
    uv_mutex_unlock(&q->lock);
    return op;
}

unsigned saratoga__op_queue_waiting(saratoga__op_queue *q) {
    unsigned n;

    uv_mutex_lock(&q->lock);
    n = q->ops.count;
    uv_mutex_unlock(&q->lock);
    return n;
}

static void op_queue_run(uv_work_t *work) {
    saratoga__op_queue *q = work->data;
    saratoga__op *op;

    for (int i = 0; i < TURN && (op = op_queue_next(q)) != NULL; i++) {
        q->completions->run(op);
        completions_add(q->completions, op);
    }
}

/* --- On the loop --------------------------------------------------------- */

static void op_queue_start(saratoga__op_queue *q);

static void op_queue_ended(uv_work_t *work, int status) {
    saratoga__op_queue *q = work->data;

    (void)status;
    q->busy = false;
    if (saratoga__op_queue_waiting(q) > 0) {
        op_queue_start(q);
    } else {
        q->idle(q);
    }
}

static void op_queue_start(saratoga__op_queue *q) {
    q->busy = true;
    q->work.data = q;
    (void)uv_queue_work(q->completions->async.loop, &q->work, op_queue_run,
                        op_queue_ended);
}

void saratoga__op_queue_add(saratoga__op_queue *q, saratoga__op *op) {
    uv_mutex_lock(&q->lock);
    saratoga__ops_add(&q->ops, op);
    uv_mutex_unlock(&q->lock);
    if (!q->busy) {
        op_queue_start(q);
    }
}

int saratoga__op_queue_init(saratoga__op_queue *q, saratoga__completions *c,
                            void (*idle)(saratoga__op_queue *q)) {
    q->completions = c;
    q->idle = idle;
    return uv_mutex_init(&q->lock);
}

void saratoga__op_queue_free(saratoga__op_queue *q) {
    uv_mutex_destroy(&q->lock);
}
