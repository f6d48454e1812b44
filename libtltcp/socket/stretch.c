/* SPDX-License-Identifier: MPL-2.0 */
/* Stretches passphrases on libuv's thread pool. */
#include "libtltcp/socket/stretch.h"

#include <stdlib.h>

#include "libtltcp/socket/schedule.h"

struct tltcp__stretching {
    uv_work_t work;
    struct tltcp__io_thread *io;
    tltcp_socket *s; /* NULL: it is gone */
    tltcp_key_job *job;
};

static void stretch_on_pool(uv_work_t *work) {
    const struct tltcp__stretching *x = work->data;

    tltcp_key_job_run(x->job);
}

static void stretch_on_done(uv_work_t *work, int status) {
    struct tltcp__stretching *x = work->data;

    (void)status;
    uv_mutex_lock(&x->io->mx);
    if (x->s != NULL) {
        x->s->port->calling->stretching = NULL;
        tltcp_conn_take_key(tltcp__engine(x->s), x->job, tltcp_now());
        tltcp__schedule(x->s);
    } else {
        tltcp_conn_take_key(NULL, x->job, 0);
    }
    uv_mutex_unlock(&x->io->mx);
    free(x);
}

static bool stretch_queue(tltcp_socket *s, tltcp_key_job *job) {
    struct tltcp__io_thread *io = s->port->io;
    struct tltcp__stretching *x = calloc(1, sizeof(*x));

    if (x == NULL) {
        return false;
    }
    x->io = io;
    x->s = s;
    x->job = job;
    x->work.data = x;
    if (uv_queue_work(&io->loop, &x->work, stretch_on_pool, stretch_on_done) !=
        0) {
        free(x);
        return false;
    }
    s->port->calling->stretching = x;
    return true;
}

void tltcp__stretch(tltcp_socket *s) {
    tltcp_key_job *job;

    if (s->port->calling->stretching != NULL) {
        return;
    }
    job = tltcp_conn_key_job(s->conn);
    if (job != NULL && !stretch_queue(s, job)) {
        tltcp_key_job_run(job);
        tltcp_conn_take_key(tltcp__engine(s), job, tltcp_now());
    }
}

void tltcp__stretch_forget(tltcp_socket *s) {
    struct tltcp__calling *c = s->port->calling;

    if (c != NULL && c->stretching != NULL) {
        c->stretching->s = NULL;
        c->stretching = NULL;
    }
}
