/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_OP_QUEUE_H
#define LIBSARATOGA_NODE_OP_QUEUE_H

#include <saratoga/event.h>

#include <stdbool.h>

#include <uv.h>

/*
 * Operations on one file, run in sequence by one thread of the pool.
 *
 * The thread stays while there is work for it, so that under load no thread is
 * woken per block, writers of one file do not wait for each other, and a
 * checksum can follow the blocks. After some operations it yields to other
 * files.
 */

struct saratoga__file;

typedef struct saratoga__op {
    struct saratoga__op *next;
    struct saratoga__file *file;
    uv_work_t work; /* outside of a queue */
    saratoga_work todo;
    int64_t result; /* bytes, or UV_E... or SARATOGA__... */
} saratoga__op;

typedef struct saratoga__ops {
    saratoga__op *first;
    saratoga__op *last;
    unsigned count;
} saratoga__ops;

/* Per node: completed operations, on their way back to the loop. */
typedef struct saratoga__completions {
    uv_mutex_t lock;
    uv_async_t async;
    saratoga__ops ops;
    void (*run)(saratoga__op *op);  /* in a thread: performs one */
    void (*done)(saratoga__op *op); /* on the loop: it is complete */
} saratoga__completions;

/* The queue of one file. */
typedef struct saratoga__op_queue {
    uv_mutex_t lock;
    uv_work_t work;
    saratoga__ops ops;
    saratoga__completions *completions;
    void (*idle)(struct saratoga__op_queue *q); /* on the loop: the queue is
                                                   empty */
    bool busy;                                  /* a thread is working */
} saratoga__op_queue;

void saratoga__ops_add(saratoga__ops *ops, saratoga__op *op);
saratoga__op *saratoga__ops_take(saratoga__ops *ops);

/* Returns 0 or UV_E... */
int saratoga__completions_init(saratoga__completions *c, uv_loop_t *loop,
                               void (*run)(saratoga__op *op),
                               void (*done)(saratoga__op *op));
void saratoga__completions_close(saratoga__completions *c);

/* Returns 0 or UV_E... */
int saratoga__op_queue_init(saratoga__op_queue *q, saratoga__completions *c,
                            void (*idle)(saratoga__op_queue *q));
void saratoga__op_queue_free(saratoga__op_queue *q);
/* Queues `op`. */
void saratoga__op_queue_add(saratoga__op_queue *q, saratoga__op *op);
/* Number of waiting operations, called from a thread of the queue. */
unsigned saratoga__op_queue_waiting(saratoga__op_queue *q);

#endif /* LIBSARATOGA_NODE_OP_QUEUE_H */
