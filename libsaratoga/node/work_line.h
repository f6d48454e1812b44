/* SPDX-License-Identifier: MPL-2.0 */
#ifndef DRIVERS_UV_SARATOGA_LINE_H
#define DRIVERS_UV_SARATOGA_LINE_H

#include <saratoga/event.h>

#include <stdbool.h>

#include <uv.h>

/*
 * Works on one file, done one after another by one thread of the pool.
 *
 * The thread stays while there is more for it, so that under load nobody need
 * be woken for each block, writers of one file do not wait for one another, and
 * a checksum can follow the blocks.  Now and then it lets other files have the
 * thread.
 */

struct saratoga__file;
struct saratoga_node;

typedef struct saratoga__op {
    struct saratoga__op *next;
    struct saratoga__file *file;
    uv_work_t work; /* outside of the line */
    saratoga_work todo;
    int64_t result; /* bytes, or UV_E... or SARATOGA__... */
} saratoga__op;

typedef struct saratoga__ops {
    saratoga__op *first;
    saratoga__op *last;
    unsigned count;
} saratoga__ops;

struct saratoga__line {
    uv_mutex_t lock;
    uv_work_t work;
    saratoga__ops ops;
    bool busy; /* has a thread */
};

/* Of a node: what was done. */
struct saratoga__done {
    uv_mutex_t lock;
    uv_async_t told;
    saratoga__ops ops;
};

void saratoga__ops_add(saratoga__ops *ops, saratoga__op *op);
saratoga__op *saratoga__ops_take(saratoga__ops *ops);

/* Returns 0 or UV_E... */
int saratoga__done_init(struct saratoga__done *d, struct saratoga_node *u);
void saratoga__done_close(struct saratoga__done *d);

/* In a thread: does one; on the loop: it is done. */
void saratoga__op_run(saratoga__op *op);
void saratoga__op_done(saratoga__op *op);

/* Has op done after those before; the file counts it as pending. */
void saratoga__line_add(struct saratoga__file *f, saratoga__op *op);
/* Those that wait, as a thread of the line sees it. */
unsigned saratoga__line_waiting(struct saratoga__file *f);

#endif /* DRIVERS_UV_SARATOGA_LINE_H */
