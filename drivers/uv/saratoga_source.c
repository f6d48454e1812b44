/* SPDX-License-Identifier: MPL-2.0 */
#include "drivers/uv/saratoga_impl.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <uv.h>

/* Files to send: opening them, and their checksums. */

#define PIECE ((size_t)128 * 1024)
/* Up to here a checksum is computed before anything is sent, beyond it while
 * the first bytes are on their way, in steps that leave the pool to others. */
#define AT_ONCE ((uint64_t)16 * 1024 * 1024)
#define STEP ((uint64_t)32 * 1024 * 1024)

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

static void remember(const saratoga__file *f) {
    saratoga_uv *u = f->u;
    struct saratoga__sum *s = &u->sum[u->next_sum++ % SARATOGA__SUMS];

    s->checksum = f->source.checksum;
    s->device = f->st.st_dev;
    s->inode = f->st.st_ino;
    s->size = f->st.st_size;
    s->mtime = f->st.st_mtim;
    s->ctime = f->st.st_ctim;
    memcpy(s->digest, f->source.digest, sizeof(s->digest));
}

saratoga_digest *saratoga__digest_begin(const saratoga_uv *u, uint32_t type) {
    if (type == SARATOGA_HMAC_SHA256) {
        return u->engine.auth_key_len > 0
                   ? saratoga_digest_new_keyed(type, u->auth_key,
                                               u->engine.auth_key_len)
                   : NULL;
    }
    return saratoga_digest_new(type);
}

static int add_piece(saratoga__file *f, uint8_t *piece, size_t len) {
    size_t done = 0;

    while (done < len) {
        ssize_t n = pread(f->fd, piece + done, len - done,
                          (off_t)(f->digest_at + done));

        if (n <= 0) {
            return n == 0 ? SARATOGA__CHANGED : UV_EIO;
        }
        done += (size_t)n;
    }
    f->digest_at += len;
    return saratoga_digest_update(f->digest, piece, len) == 0 ? 0 : UV_EIO;
}

static int end_sum(saratoga__file *f) {
    int rv =
        saratoga_digest_final(f->digest, f->source.digest) == 0 ? 0 : UV_EIO;

    saratoga_digest_free(f->digest);
    f->digest = NULL;
    return rv == 0 && saratoga__source_changed(f) ? SARATOGA__CHANGED : rv;
}

/* The next STEP bytes of it. */
static void sum_step(saratoga__file *f) {
    uint64_t size = f->source.entry.size;
    uint64_t end = size - f->digest_at > STEP ? f->digest_at + STEP : size;
    uint8_t *piece = malloc(PIECE);

    if (f->digest == NULL) {
        f->digest = saratoga__digest_begin(f->u, f->source.checksum);
    }
    f->sum_status = piece != NULL && f->digest != NULL ? 0 : UV_ENOMEM;
    while (f->sum_status == 0 && f->digest_at < end) {
        uint64_t left = end - f->digest_at;

        f->sum_status =
            add_piece(f, piece, left < PIECE ? (size_t)left : PIECE);
    }
    if (f->sum_status == 0 && end == size) {
        f->sum_status = end_sum(f);
    }
    free(piece);
}

static void sum_told(saratoga__file *f) {
    if (f->sum_status == 0) {
        remember(f);
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
    if (f->ended) {
        saratoga__file_settle(f);
    } else if (f->sum_status == 0 && f->digest != NULL) {
        saratoga__file_job(f, sum_step, sum_goes_on);
    } else {
        sum_told(f);
    }
}

void saratoga__source_sum_later(saratoga__file *f) {
    f->source.digest_later = false;
    saratoga__file_job(f, sum_step, sum_goes_on);
}

static void sum_was_quick(saratoga__file *f) {
    if (f->sum_status == 0) {
        remember(f);
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
    } else if (f->source.entry.size <= AT_ONCE) {
        saratoga__file_job(f, sum_step, sum_was_quick);
    } else {
        f->source.digest_later = true;
        then(f);
    }
}

void saratoga__source_sum_memory(saratoga__file *f) {
    saratoga_digest *d;

    f->source.checksum = wanted(f);
    d = saratoga__digest_begin(f->u, f->source.checksum);
    if (d == NULL || saratoga_digest_update(d, f->memory, f->memory_len) != 0 ||
        saratoga_digest_final(d, f->source.digest) != 0) {
        f->source.checksum = SARATOGA_NONE;
    }
    saratoga_digest_free(d);
}
