/* SPDX-License-Identifier: MPL-2.0 */
/* Opens files to send, and computes their checksums. */
#include "libsaratoga/node/send_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libsaratoga/node/errors.h"
#include "libsaratoga/node/strangers.h"
#include "libsaratoga/node/transfer.h"

/* Up to this size, a checksum is computed before anything is sent; for larger
 * files, from the blocks read for sending. If those are read slowly, the
 * checksum goes ahead, in steps that leave the pool to others: a receiver that
 * knows the checksum can resume later. */
#define AT_ONCE ((uint64_t)16 * 1024 * 1024)
#define STEP ((uint64_t)32 * 1024 * 1024)
/* Result of a step. */
#define DIGEST_KNOWN 1
#define SLOW ((uint64_t)4 * 1024 * 1024) /* bytes per tick */

static bool same_time(const struct timespec *a, const struct timespec *b) {
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

bool saratoga__source_changed(const saratoga__file *f) {
    struct stat st;

    return fstat(f->local.fd, &st) != 0 || st.st_size != f->local.st.st_size ||
           !same_time(&st.st_mtim, &f->local.st.st_mtim);
}

int saratoga__source_open(saratoga__file *f) {
    bool plain = f->u->engine_config.time_y2k_plain;
    saratoga_entry *e = &f->send.source.entry;
    int fd = saratoga__root_read(f->local.root, f->local.name, &f->local.st);

    if (fd < 0) {
        return fd;
    }
    f->local.fd = fd;
    f->work.job.medium = SARATOGA__SOURCE;
    f->send.source.kind = SARATOGA_FILE;
    e->size = (uint64_t)f->local.st.st_size;
    e->mtime = saratoga_time_from_posix(f->local.st.st_mtim.tv_sec, plain);
    e->ctime = saratoga_time_from_posix(f->local.st.st_ctim.tv_sec, plain);
    e->descriptor = SARATOGA_DESCRIPTOR_FIT;
    memcpy(e->path, f->path, sizeof(e->path));
    return 0;
}

/* --- Checksums ----------------------------------------------------------- */

static uint32_t wanted(const saratoga__file *f) {
    return f->has_options ? f->options.checksum : f->u->options.checksum;
}

/* METADATA that announce a later checksum are our extension: other
 * implementations would take them as final. */
static bool may_follow(const saratoga__file *f) {
    const saratoga_options *o = f->has_options ? &f->options : &f->u->options;

    return o->profile == SARATOGA_DRAFT;
}

static struct saratoga__digest_entry *known(const saratoga__file *f) {
    for (unsigned i = 0; i < SARATOGA__DIGESTS; i++) {
        struct saratoga__digest_entry *s = &f->u->digests.entry[i];

        if (s->checksum == wanted(f) && s->inode == f->local.st.st_ino &&
            s->device == f->local.st.st_dev && s->size == f->local.st.st_size &&
            same_time(&s->mtime, &f->local.st.st_mtim) &&
            same_time(&s->ctime, &f->local.st.st_ctim)) {
            return s;
        }
    }
    return NULL;
}

static void send_file_remember(const saratoga__file *f) {
    saratoga_node *u = f->u;
    struct saratoga__digest_entry *s =
        &u->digests.entry[u->digests.next++ % SARATOGA__DIGESTS];

    s->checksum = f->send.source.checksum;
    s->device = f->local.st.st_dev;
    s->inode = f->local.st.st_ino;
    s->size = f->local.st.st_size;
    s->mtime = f->local.st.st_mtim;
    s->ctime = f->local.st.st_ctim;
    memcpy(s->digest, f->send.source.digest, sizeof(s->digest));
}

/* Adds up to STEP bytes, and those read meanwhile; or finishes it. */
static int digest_step(saratoga__file *f) {
    uint64_t size = f->send.source.entry.size;
    uint64_t at = saratoga__hash_at(&f->work.hash);
    int rv = saratoga__hash_catch_up(&f->work.hash, f->local.fd,
                                     size - at > STEP ? at + STEP : size);

    if (rv != 0 || saratoga__hash_at(&f->work.hash) < size) {
        return rv;
    }
    rv = saratoga__hash_end(&f->work.hash, f->send.source.digest);
    if (rv == 0 && saratoga__source_changed(f)) {
        rv = SARATOGA__CHANGED;
    }
    return rv != 0 ? rv : DIGEST_KNOWN;
}

static void set_digest(saratoga__file *f) {
    send_file_remember(f);
    (void)saratoga_transfer_set_digest(f->u->engine, f->handle,
                                       f->send.source.checksum,
                                       f->send.source.digest, saratoga__now());
}

static void digest_goes_on(saratoga__file *f, int status) {
    uint64_t at = saratoga__hash_at(&f->work.hash);

    if (saratoga__has_ended(f)) {
        saratoga__file_check(f);
    } else if (status < 0) {
        f->send.digest_due = false;
        saratoga__file_stop(f, status, SARATOGA_CANNOT_SEND);
    } else if (status == DIGEST_KNOWN) {
        f->send.digest_due = false;
        set_digest(f);
    } else if (at != f->send.read_end || at == f->send.source.entry.size) {
        saratoga__file_job(f, digest_step, digest_goes_on);
    } /* otherwise the reads continue it */
}

static bool is_stranger(const saratoga__file *f) {
    return f->id == 0 && !f->peer.proven;
}

static void go_ahead(saratoga__file *f) {
    if (!f->work.job.busy && !saratoga__has_ended(f) && !is_stranger(f)) {
        saratoga__file_job(f, digest_step, digest_goes_on);
    }
}

void saratoga__source_digest_later(saratoga__file *f) {
    int rv = saratoga__hash_begin(&f->work.hash, f->send.source.checksum);

    f->send.source.digest_later = false;
    f->send.digest_due = rv == 0;
    if (rv != 0) {
        saratoga__file_stop(f, rv, SARATOGA_CANNOT_SEND);
    }
}

void saratoga__source_read(saratoga__file *f, uint64_t end) {
    f->send.read_end = end > f->send.read_end ? end : f->send.read_end;
    if (f->send.digest_due &&
        saratoga__hash_at(&f->work.hash) == f->send.source.entry.size) {
        go_ahead(f);
    }
}

void saratoga__source_proven(saratoga__file *f) {
    if (f->send.digest_due) {
        go_ahead(f);
    }
}

void saratoga__source_tick(saratoga__file *f) {
    uint64_t at;

    if (f->work.job.busy || !f->send.digest_due) {
        return;
    }
    at = saratoga__hash_at(&f->work.hash);
    if (at < f->send.digested + SLOW) {
        go_ahead(f);
    }
    f->send.digested = at;
}

static void digest_before(saratoga__file *f, int status) {
    if (status == 0 && f->phase == SARATOGA__RUNNING) {
        saratoga__file_job(f, digest_step, digest_before);
        return;
    }
    if (status == DIGEST_KNOWN) {
        send_file_remember(f);
    } else {
        f->work.status = status;
    }
    f->send.then(f);
}

/* Whether the checksum is deferred. An unproven peer that needs it at once gets
 * none. */
static bool is_put_off(const saratoga__file *f) {
    uint64_t size = f->send.source.entry.size;

    return is_stranger(f)
               ? size > AT_ONCE || !saratoga__stranger_may_hash(f->u, size)
               : size > AT_ONCE && may_follow(f);
}

void saratoga__source_digest(saratoga__file *f,
                             void (*then)(saratoga__file *f)) {
    const struct saratoga__digest_entry *s;

    f->send.source.checksum = wanted(f);
    f->send.then = then;
    if (f->send.source.checksum == SARATOGA_NONE ||
        f->local.medium == SARATOGA__MEMORY) {
        then(f);
        return;
    }
    s = known(f);
    if (s != NULL) {
        memcpy(f->send.source.digest, s->digest, sizeof(s->digest));
        then(f);
    } else if (is_put_off(f)) {
        f->send.source.digest_later = may_follow(f);
        f->send.source.checksum =
            may_follow(f) ? f->send.source.checksum : (uint32_t)SARATOGA_NONE;
        then(f);
    } else if (saratoga__hash_begin(&f->work.hash, f->send.source.checksum) !=
               0) {
        f->work.status = UV_ENOMEM;
        then(f);
    } else {
        saratoga__file_job(f, digest_step, digest_before);
    }
}

void saratoga__source_digest_memory(saratoga__file *f) {
    saratoga_digest *d;

    f->send.source.checksum = wanted(f);
    d = saratoga__digest_begin(f->send.source.checksum, f->u->auth_key,
                               f->u->engine_config.auth_key_len);
    if (d == NULL ||
        saratoga_digest_update(d, f->local.memory, f->local.memory_len) != 0 ||
        saratoga_digest_final(d, f->send.source.digest) != 0) {
        f->send.source.checksum = SARATOGA_NONE;
    }
    saratoga_digest_free(d);
}
