/* SPDX-License-Identifier: MPL-2.0 */
#include "libsaratoga/node/node_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Between two saves of a map: what a crash may cost.  The first come soon after
 * one another: of a short pass, too, something is to be left. */
#define SAVE_FIRST (250 * SARATOGA_MS)
#define SAVE_EVERY (2 * SARATOGA_S)

static bool init_locks(saratoga__file *f, const saratoga_node *u) {
    if (uv_mutex_init(&f->map_lock) != 0) {
        return false;
    }
    if (uv_mutex_init(&f->line.lock) != 0) {
        uv_mutex_destroy(&f->map_lock);
        return false;
    }
    if (saratoga__hash_init(&f->hash, u->auth_key, u->engine.auth_key_len) !=
        0) {
        uv_mutex_destroy(&f->line.lock);
        uv_mutex_destroy(&f->map_lock);
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
    f->fd = -1;
    f->input = -1;
    f->output = -1;
    atomic_init(&f->cut, false);
    f->own_root.fd = -1;
    f->part.fd = -1;
    f->part.folder = -1;
    f->next = u->files;
    if (f->next != NULL) {
        f->next->prev = f;
    }
    u->files = f;
    u->n_files++;
    return f;
}

void saratoga__file_free(saratoga__file *f) {
    saratoga_node *u = f->u;

    *(f->prev != NULL ? &f->prev->next : &u->files) = f->next;
    if (f->next != NULL) {
        f->next->prev = f->prev;
    }
    u->n_files--;
    free(f->memory);
    free(f->ranges);
    free(f->map);
    free(f->piece);
    saratoga__hash_free(&f->hash);
    uv_mutex_destroy(&f->line.lock);
    uv_mutex_destroy(&f->map_lock);
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
        if (f->root == &u->root && !f->ended && strcmp(f->name, name) == 0 &&
            f->request != SARATOGA_DELETE) {
            return true;
        }
    }
    return false;
}

/* --- Jobs ---------------------------------------------------------------- */

static void job_run(uv_work_t *work) {
    saratoga__file *f = work->data;

    f->job.run(f);
}

static void job_done(uv_work_t *work, int status) {
    saratoga__file *f = work->data;

    f->job.busy = false;
    f->status = f->status == 0 ? status : f->status;
    saratoga__kick(f->u);
    f->job.done(f); /* may free it */
}

void saratoga__file_job(saratoga__file *f, void (*run)(saratoga__file *),
                        void (*done)(saratoga__file *)) {
    f->job.run = run;
    f->job.done = done;
    f->job.busy = true;
    f->job.work.data = f;
    if (uv_queue_work(f->u->loop, &f->job.work, job_run, job_done) != 0) {
        job_done(&f->job.work, UV_ENOMEM);
    }
}

/* --- The map ------------------------------------------------------------- */

static size_t count_ranges(const saratoga__file *f, uint64_t *bytes) {
    saratoga_range r = {0, 0};
    size_t n = 0;

    *bytes = 0;
    while (n < SARATOGA__RANGES_MAX &&
           saratoga_transfer_held(f->u->node, f->handle, r.end, &r) == 1) {
        *bytes += r.end - r.start;
        n++;
    }
    return n;
}

/* The map as of now into f->map; false: there is nothing to say. */
static bool draw_map(saratoga__file *f) {
    saratoga_partial p = f->partial;
    saratoga_range *ranges;
    saratoga_range r = {0, 0};
    size_t n = count_ranges(f, &f->saved);

    if (n == 0 || !f->described || f->endless) {
        return false;
    }
    ranges = malloc(n * sizeof(*ranges));
    if (ranges == NULL) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        (void)saratoga_transfer_held(f->u->node, f->handle, r.end, &r);
        ranges[i] = r;
    }
    p.ranges = ranges;
    p.count = n;
    free(f->map);
    f->map = saratoga__map_encode(&p, &f->map_len);
    free(ranges);
    return f->map != NULL;
}

static void save(saratoga__file *f) {
    uv_mutex_lock(&f->map_lock);
    if (!f->part.finished) { /* should it fail, the map before is still true */
        (void)saratoga__part_save(&f->part, f->map, f->map_len);
    }
    uv_mutex_unlock(&f->map_lock);
}

void saratoga__file_tick(saratoga__file *f, uint64_t now) {
    saratoga_stats st;

    if (!f->has_part || f->ended || f->committed || f->job.busy ||
        f->handle == 0 || now < f->next_save) {
        return;
    }
    f->save_wait = f->save_wait == 0 ? SAVE_FIRST : 2 * f->save_wait;
    f->save_wait = f->save_wait < SAVE_EVERY ? f->save_wait : SAVE_EVERY;
    f->next_save = now + f->save_wait;
    saratoga_stats_init(&st);
    if (saratoga_transfer_get_stats(f->u->node, f->handle, &st,
                                    saratoga__now()) == 0 &&
        st.written_bytes != f->saved && draw_map(f)) {
        f->saved = st.written_bytes;
        saratoga__file_job(f, save, saratoga__file_settle);
    }
}

/* --- The end ------------------------------------------------------------- */

static void close_part(saratoga__file *f) {
    if (f->committed) {
        saratoga__part_close(&f->part);
    } else if (f->bad_sum || (f->map == NULL && !f->resumable)) {
        saratoga__part_discard(&f->part);
    } else {
        if (f->map != NULL) {
            save(f);
        }
        saratoga__part_close(&f->part);
    }
}

/* The peer has a good copy of what was sent: nothing else goes. */
static int remove_source(saratoga__file *f) {
    struct stat st;
    int fd = saratoga__root_read(f->root, f->name, &st);

    if (fd < 0) {
        return fd;
    }
    (void)close(fd);
    if (st.st_ino != f->st.st_ino || st.st_dev != f->st.st_dev ||
        saratoga__source_changed(f)) {
        return SARATOGA__CHANGED;
    }
    return saratoga__root_unlink(f->root, f->name);
}

static void close_all(saratoga__file *f) {
    if (f->has_part) {
        close_part(f);
    }
    if (f->remove) {
        f->status = remove_source(f);
    }
    if (f->fd >= 0) {
        (void)close(f->fd);
    }
    f->fd = -1;
    if (f->owns_input) {
        (void)close(f->input);
    }
    f->has_part = false;
    saratoga__root_close(&f->own_root);
}

static void describe_end(saratoga__file *f) {
    saratoga_node_event *r = &f->result;

    r->type = f->id != 0 ? SARATOGA_NODE_DONE : SARATOGA_NODE_SERVED;
    r->id = f->id;
    r->user = f->user;
    r->request = f->request;
    (void)snprintf(r->path, sizeof(r->path), "%s", f->path);
    saratoga__address_text(&f->peer.remote, r->address);
    if (f->remove && f->status != 0 && r->error == 0) {
        r->error = saratoga__error_of(f->status);
        (void)snprintf(r->text, sizeof(r->text),
                       "the peer has it, but it could not be deleted here: %s",
                       saratoga__error_text(f->status));
    }
}

static void closed(saratoga__file *f) {
    uint8_t *record = NULL;

    describe_end(f);
    if (f->handle != 0) {
        (void)saratoga_transfer_release(f->u->node, f->handle, saratoga__now());
    }
    if (f->in_memory && f->id != 0) {
        record = f->memory;
        f->result.record = f->memory;
        f->result.record_len = f->memory_len;
        f->memory = NULL;
    }
    saratoga__tell(f->u, &f->result, record);
    saratoga__file_free(f);
}

void saratoga__file_settle(saratoga__file *f) {
    if (!f->ended) {
        return;
    }
    atomic_store(&f->cut, true);
    if (f->closing || f->pending > 0 || f->job.busy ||
        !saratoga__stream_unwatch(f)) {
        return;
    }
    f->closing = true;
    f->status = f->remove ? 0 : f->status;
    free(f->map);
    f->map = NULL;
    if (f->has_part && !f->committed && !f->bad_sum && !f->unchanged &&
        f->handle != 0) {
        (void)draw_map(f);
    }
    if (f->handle != 0) { /* no work may find it from here on */
        (void)saratoga_transfer_set_user(f->u->node, f->handle, NULL);
    }
    saratoga__file_job(f, close_all, closed);
}

void saratoga__file_fail(saratoga__file *f, int error, const char *format,
                         ...) {
    va_list args;

    va_start(args, format);
    (void)vsnprintf(f->result.text, sizeof(f->result.text), format, args);
    va_end(args);
    f->result.error = error;
    f->ended = true;
    saratoga__file_settle(f);
}
