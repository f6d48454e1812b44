/* SPDX-License-Identifier: MPL-2.0 */
/* The life of a transfer: jobs, cancelling, failing. */
#include "libsaratoga/node/transfer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Making and finding -------------------------------------------------- */

static void on_queue_idle(saratoga__op_queue *q) {
    size_t offset = offsetof(saratoga__file, work.queue);

    saratoga__file_check((saratoga__file *)(void *)((char *)q - offset));
}

static bool init_locks(saratoga__file *f, saratoga_node *u) {
    if (uv_mutex_init(&f->recv.map_lock) != 0) {
        return false;
    }
    if (saratoga__op_queue_init(&f->work.queue, &u->completions,
                                on_queue_idle) != 0) {
        uv_mutex_destroy(&f->recv.map_lock);
        return false;
    }
    if (saratoga__hash_init(&f->work.hash, u->auth_key,
                            u->engine_config.auth_key_len) != 0) {
        saratoga__op_queue_free(&f->work.queue);
        uv_mutex_destroy(&f->recv.map_lock);
        return false;
    }
    return true;
}

saratoga__file *saratoga__file_new(saratoga_node *u) {
    saratoga__file *f = calloc(1, sizeof(*f));

    if (f == NULL || !init_locks(f, u)) {
        free(f);
        return NULL;
    }
    f->u = u;
    f->local.fd = -1;
    f->local.own_root.fd = -1;
    f->input.fd = -1;
    f->work.job.input = -1;
    f->output.fd = -1;
    atomic_init(&f->output.cancelled, false);
    f->recv.part.fd = -1;
    f->recv.part.folder = -1;
    saratoga__file_link(u, f);
    return f;
}

static void leave_checks(saratoga__file *f) {
    saratoga__file **at = &f->u->to_check;

    while (f->to_check && *at != f) {
        at = &(*at)->next_check;
    }
    if (f->to_check) {
        *at = f->next_check;
    }
}

void saratoga__file_free(saratoga__file *f) {
    saratoga_node *u = f->u;

    leave_checks(f);
    saratoga__places_leave(&u->places, &f->peer.place);
    *(f->prev != NULL ? &f->prev->next : &u->files) = f->next;
    if (f->next != NULL) {
        f->next->prev = f->prev;
    }
    u->n_files--;
    free(f->strings);
    free(f->done);
    free(f->local.memory);
    free(f->recv.ranges);
    free(f->recv.map);
    free(f->input.chunk);
    saratoga__hash_free(&f->work.hash);
    saratoga__op_queue_free(&f->work.queue);
    uv_mutex_destroy(&f->recv.map_lock);
    free(f);
}

saratoga__file *saratoga__file_find(saratoga_node *u, uint64_t id) {
    for (saratoga__file *f = u->files; f != NULL; f = f->next) {
        if (f->id == id) {
            return f;
        }
    }
    return NULL;
}

bool saratoga__file_in_use(const saratoga_node *u, const char *name) {
    for (const saratoga__file *f = u->files; f != NULL; f = f->next) {
        if (f->local.root == &u->root && !saratoga__has_ended(f) &&
            strcmp(f->local.name, name) == 0 && f->request != SARATOGA_DELETE) {
            return true;
        }
    }
    return false;
}

bool saratoga__requester_sends(uint32_t request) {
    return request == SARATOGA_PUT || request == SARATOGA_GIVE ||
           request == SARATOGA_BLIND_PUT;
}

bool saratoga__is_stream(const saratoga__file *f) {
    return f->input.fd >= 0;
}

/* --- Jobs ---------------------------------------------------------------- */

static void job_run(uv_work_t *work) {
    saratoga__file *f = work->data;

    f->work.job.status = f->work.job.run(f);
}

static void job_done(uv_work_t *work, int status) {
    saratoga__file *f = work->data;
    struct saratoga__job *job = &f->work.job;

    job->busy = false;
    if (job->medium != SARATOGA__UNOPENED) {
        f->local.medium = job->medium;
        job->medium = SARATOGA__UNOPENED;
    }
    if (job->input >= 0) {
        f->input.fd = job->input;
        job->input = -1;
    }
    saratoga__wake(f->u);
    job->done(f, status != 0 ? status : job->status); /* may free it */
}

void saratoga__file_job(saratoga__file *f, int (*run)(saratoga__file *f),
                        void (*done)(saratoga__file *f, int status)) {
    struct saratoga__job *job = &f->work.job;

    job->run = run;
    job->done = done;
    job->busy = true;
    job->status = 0;
    job->work.data = f;
    if (uv_queue_work(f->u->loop.uv, &job->work, job_run, job_done) != 0) {
        job_done(&job->work, UV_ENOMEM);
    }
}

/* --- Towards the end ----------------------------------------------------- */

void saratoga__file_check(saratoga__file *f) {
    if (f->phase != SARATOGA__ENDED) {
        return;
    }
    atomic_store(&f->output.cancelled, true);
    if (!f->to_check) {
        f->to_check = true;
        f->next_check = f->u->to_check;
        f->u->to_check = f;
    }
    saratoga__wake(f->u);
}

void saratoga__file_cancel(saratoga__file *f) {
    bool asked_here = f->id != 0;
    bool sends = saratoga__requester_sends(f->request) == asked_here;

    if (f->phase == SARATOGA__RUNNING) {
        f->phase = SARATOGA__CANCELLED;
    }
    if (f->handle != 0 && !saratoga__has_ended(f)) {
        (void)saratoga_transfer_cancel(f->u->engine, f->handle,
                                       sends ? SARATOGA_CANNOT_SEND
                                             : SARATOGA_NOT_INTERESTED,
                                       saratoga__now());
    }
    saratoga__wake(f->u);
}

void saratoga__file_stop(saratoga__file *f, int error, unsigned status) {
    f->work.status = error;
    (void)saratoga_transfer_cancel(f->u->engine, f->handle, status,
                                   saratoga__now());
    saratoga__wake(f->u);
}

void saratoga__file_fail(saratoga__file *f, int error, const char *format,
                         ...) {
    va_list args;

    va_start(args, format);
    (void)vsnprintf(f->result.text, sizeof(f->result.text), format, args);
    va_end(args);
    f->result.error = error;
    f->phase = SARATOGA__ENDED;
    saratoga__file_check(f);
}
