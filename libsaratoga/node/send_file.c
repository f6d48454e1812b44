/* SPDX-License-Identifier: MPL-2.0 */
#include "libsaratoga/node/node_impl.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <uv.h>

/* Files to send: opening them, and their checksums. */

/* Up to here a checksum is computed before anything is sent, beyond it from the
 * blocks that are read to be sent.  When those come slowly it goes ahead, in
 * steps that leave the pool to others: a receiver that knows the checksum can
 * resume later. */
#define AT_ONCE ((uint64_t)16 * 1024 * 1024)
#define STEP ((uint64_t)32 * 1024 * 1024)
#define SLOW ((uint64_t)4 * 1024 * 1024) /* from tick to tick */

static bool same_time(const struct timespec *a, const struct timespec *b) {
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

bool saratoga__source_changed(const saratoga__file *f) {
    struct stat st;

    return fstat(f->fd, &st) != 0 || st.st_size != f->st.st_size ||
           !same_time(&st.st_mtim, &f->st.st_mtim);
}

int saratoga__source_open(saratoga__file *f) {
    bool plain = f->u->engine.time_y2k_plain;
    saratoga_entry *e = &f->source.entry;
    int fd = saratoga__root_read(f->root, f->name, &f->st);

    if (fd < 0) {
        return fd;
    }
    f->fd = fd;
    f->source.kind = SARATOGA_FILE;
    e->size = (uint64_t)f->st.st_size;
    e->mtime = saratoga_time_from_posix(f->st.st_mtim.tv_sec, plain);
    e->ctime = saratoga_time_from_posix(f->st.st_ctim.tv_sec, plain);
    e->descriptor = SARATOGA_DESCRIPTOR_FIT;
    memcpy(e->path, f->path, sizeof(e->path));
    return 0;
}

/* --- Checksums ----------------------------------------------------------- */

static uint32_t wanted(const saratoga__file *f) {
    return f->has_options ? f->options.checksum : f->u->options.checksum;
}

static struct saratoga__sum *known(const saratoga__file *f) {
    for (unsigned i = 0; i < SARATOGA__SUMS; i++) {
        struct saratoga__sum *s = &f->u->sum[i];

        if (s->checksum == wanted(f) && s->inode == f->st.st_ino &&
            s->device == f->st.st_dev && s->size == f->st.st_size &&
            same_time(&s->mtime, &f->st.st_mtim) &&
            same_time(&s->ctime, &f->st.st_ctim)) {
            return s;
        }
    }
    return NULL;
}

static void send_file_remember(const saratoga__file *f) {
    saratoga_node *u = f->u;
    struct saratoga__sum *s = &u->sum[u->next_sum++ % SARATOGA__SUMS];

    s->checksum = f->source.checksum;
    s->device = f->st.st_dev;
    s->inode = f->st.st_ino;
    s->size = f->st.st_size;
    s->mtime = f->st.st_mtim;
    s->ctime = f->st.st_ctim;
    memcpy(s->digest, f->source.digest, sizeof(s->digest));
}

/* Up to STEP bytes of it, and what was read meanwhile; or its end. */
static void sum_step(saratoga__file *f) {
    uint64_t size = f->source.entry.size;
    uint64_t at = saratoga__hash_at(&f->hash);

    f->sum_status = saratoga__hash_catch_up(
        &f->hash, f->fd, size - at > STEP ? at + STEP : size);
    if (f->sum_status != 0 || saratoga__hash_at(&f->hash) < size) {
        return;
    }
    f->sum_status = saratoga__hash_end(&f->hash, f->source.digest);
    f->sum_ended = true;
    if (f->sum_status == 0 && saratoga__source_changed(f)) {
        f->sum_status = SARATOGA__CHANGED;
    }
}

static void sum_told(saratoga__file *f) {
    if (f->sum_status == 0) {
        send_file_remember(f);
        (void)saratoga_transfer_set_digest(f->u->node, f->handle,
                                           f->source.checksum, f->source.digest,
                                           saratoga__now());
        return;
    }
    f->status = f->sum_status;
    (void)saratoga_transfer_cancel(f->u->node, f->handle, SARATOGA_CANNOT_SEND,
                                   saratoga__now());
}

static void sum_goes_on(saratoga__file *f) {
    uint64_t at = saratoga__hash_at(&f->hash);

    if (f->ended) {
        saratoga__file_settle(f);
    } else if (f->sum_status != 0 || f->sum_ended) {
        f->sum_due = false;
        sum_told(f);
    } else if (at != f->read_end || at == f->source.entry.size) {
        saratoga__file_job(f, sum_step, sum_goes_on);
    } /* otherwise the reads carry it on */
}

static void go_ahead(saratoga__file *f) {
    if (!f->job.busy && !f->ended) {
        saratoga__file_job(f, sum_step, sum_goes_on);
    }
}

void saratoga__source_sum_later(saratoga__file *f) {
    f->source.digest_later = false;
    f->sum_due = true;
    f->sum_status = saratoga__hash_begin(&f->hash, f->source.checksum);
    if (f->sum_status != 0) {
        sum_goes_on(f);
    }
}

void saratoga__source_read(saratoga__file *f, uint64_t end) {
    f->read_end = end > f->read_end ? end : f->read_end;
    if (f->sum_due && saratoga__hash_at(&f->hash) == f->source.entry.size) {
        go_ahead(f);
    }
}

void saratoga__source_tick(saratoga__file *f) {
    uint64_t at;

    if (f->job.busy || !f->sum_due) {
        return;
    }
    at = saratoga__hash_at(&f->hash);
    if (at < f->sum_told + SLOW) {
        go_ahead(f);
    }
    f->sum_told = at;
}

static void sum_was_quick(saratoga__file *f) {
    if (f->sum_status == 0) {
        send_file_remember(f);
    } else {
        f->status = f->sum_status;
    }
    f->after_sum(f);
}

void saratoga__source_sum(saratoga__file *f, void (*then)(saratoga__file *f)) {
    const struct saratoga__sum *s;

    f->source.checksum = wanted(f);
    f->after_sum = then;
    if (f->source.checksum == SARATOGA_NONE || f->in_memory) {
        then(f);
        return;
    }
    s = known(f);
    if (s != NULL) {
        memcpy(f->source.digest, s->digest, sizeof(s->digest));
        then(f);
    } else if (f->source.entry.size > AT_ONCE) {
        f->source.digest_later = true;
        then(f);
    } else if (saratoga__hash_begin(&f->hash, f->source.checksum) != 0) {
        f->status = UV_ENOMEM;
        then(f);
    } else {
        saratoga__file_job(f, sum_step, sum_was_quick);
    }
}

void saratoga__source_sum_memory(saratoga__file *f) {
    saratoga_digest *d;

    f->source.checksum = wanted(f);
    d = saratoga__digest_begin(f->source.checksum, f->u->auth_key,
                               f->u->engine.auth_key_len);
    if (d == NULL || saratoga_digest_update(d, f->memory, f->memory_len) != 0 ||
        saratoga_digest_final(d, f->source.digest) != 0) {
        f->source.checksum = SARATOGA_NONE;
    }
    saratoga_digest_free(d);
}
