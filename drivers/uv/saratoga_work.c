/* SPDX-License-Identifier: MPL-2.0 */
#include "drivers/uv/saratoga_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The engine's work on files: blocks read, written, digested, and the end. */

#define PIECE ((size_t)128 * 1024)

struct saratoga__op {
    uv_work_t work;
    saratoga__op *next; /* in the file's queue */
    saratoga__file *file;
    saratoga_work todo;
    int64_t result; /* bytes, or UV_E... or SARATOGA__... */
};

/* --- In a thread --------------------------------------------------------- */

/* Bytes read, fewer at the end of the file; or UV_E... */
static int64_t read_at(int fd, uint8_t *to, size_t len, uint64_t at) {
    size_t done = 0;

    while (done < len) {
        ssize_t n = pread(fd, to + done, len - done, (off_t)(at + done));

        if (n == 0) {
            break;
        }
        if (n < 0 && errno != EINTR) {
            return uv_translate_sys_error(errno);
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return (int64_t)done;
}

static int64_t write_at(int fd, const uint8_t *from, size_t len, uint64_t at) {
    while (len > 0) {
        ssize_t n = pwrite(fd, from, len, (off_t)at);

        if (n < 0 && errno != EINTR) {
            return uv_translate_sys_error(errno);
        }
        if (n > 0) {
            from += n;
            len -= (size_t)n;
            at += (uint64_t)n;
        }
    }
    return 0;
}

static int64_t do_read(const saratoga__file *f, const saratoga_work *w) {
    int64_t n = read_at(f->fd, w->buf, w->len, w->offset);

    return n >= 0 && saratoga__source_changed(f) ? SARATOGA__CHANGED : n;
}

/* What comes must be what is there. */
static int64_t compare(const saratoga__file *f, const saratoga_work *w) {
    uint8_t *here = malloc(w->len);
    int64_t rv = UV_ENOMEM;

    if (here != NULL) {
        rv = read_at(f->fd, here, w->len, w->offset);
    }
    if (rv >= 0) {
        rv = (size_t)rv == w->len && memcmp(here, w->buf, w->len) == 0
                 ? 0
                 : SARATOGA__EXISTS;
    }
    free(here);
    return rv;
}

static int64_t do_write(const saratoga__file *f, const saratoga_work *w) {
    return f->exists ? compare(f, w)
                     : write_at(f->part.fd, w->buf, w->len, w->offset);
}

static int digest_begin(saratoga__file *f, uint32_t type) {
    if (f->digest != NULL && f->digest_type == type) {
        return 0;
    }
    saratoga_digest_free(f->digest);
    f->digest = saratoga__digest_begin(f->u, type);
    f->digest_type = type;
    return f->digest != NULL ? 0 : UV_ENOMEM;
}

static int64_t digest_file(saratoga__file *f, uint64_t at, uint64_t left) {
    int fd = f->exists ? f->fd : f->part.fd;
    uint8_t *piece = malloc(PIECE);
    int64_t rv = piece != NULL ? 0 : UV_ENOMEM;

    while (rv == 0 && left > 0) {
        size_t want = left < PIECE ? (size_t)left : PIECE;
        int64_t n = read_at(fd, piece, want, at);

        if (n != (int64_t)want) {
            rv = n < 0 ? n : UV_EIO;
        } else if (saratoga_digest_update(f->digest, piece, want) != 0) {
            rv = UV_EIO;
        }
        at += want;
        left -= want;
    }
    free(piece);
    return rv;
}

static int64_t digest_range(saratoga__file *f, uint64_t at, uint64_t length) {
    if (!f->in_memory) {
        return digest_file(f, at, length);
    }
    if (at > f->memory_len || length > f->memory_len - at) {
        return UV_EIO;
    }
    return saratoga_digest_update(f->digest, f->memory + at, (size_t)length) ==
                   0
               ? 0
               : UV_EIO;
}

static int64_t do_digest(saratoga__file *f, const saratoga_work *w) {
    int64_t rv = digest_begin(f, w->checksum);

    return rv == 0 ? digest_range(f, w->offset, w->length) : rv;
}

/* Ends the checksum of what was digested, and compares. */
static int64_t compare_sum(saratoga__file *f, uint32_t type,
                           const uint8_t *digest) {
    uint8_t sum[SARATOGA_CHECKSUM_MAX];
    int64_t rv = digest_begin(f, type);

    if (rv == 0 && saratoga_digest_final(f->digest, sum) != 0) {
        rv = UV_EIO;
    }
    saratoga_digest_free(f->digest);
    f->digest = NULL;
    if (rv != 0) {
        return rv;
    }
    return memcmp(sum, digest, saratoga_digest_len(type)) == 0
               ? 0
               : SARATOGA__BAD_SUM;
}

static bool takes_ieee(const saratoga__file *f) {
    return f->has_options ? f->options.accept_ieee_crc
                          : f->u->options.accept_ieee_crc;
}

static int64_t verify(saratoga__file *f, const saratoga_work *w) {
    int64_t rv;

    if (saratoga_digest_len(w->checksum) == 0) {
        return 0; /* none, or one that nobody here knows */
    }
    rv = compare_sum(f, w->checksum, w->digest);
    if (rv == SARATOGA__BAD_SUM && w->checksum == SARATOGA_CRC32C &&
        takes_ieee(f)) { /* some mean the other CRC by that name */
        rv = digest_begin(f, SARATOGA_CRC32_IEEE);
        rv = rv == 0 ? digest_range(f, 0, w->length) : rv;
        rv = rv == 0 ? compare_sum(f, SARATOGA_CRC32_IEEE, w->digest) : rv;
    }
    return rv;
}

static int64_t do_commit(saratoga__file *f, const saratoga_work *w) {
    bool plain = f->u->engine.time_y2k_plain;
    struct timespec mtime = {.tv_nsec = UTIME_NOW};
    int64_t rv = verify(f, w);

    if (rv != 0 || f->in_memory) {
        return rv;
    }
    if (f->exists) {
        return (uint64_t)f->st.st_size == w->length ? 0 : SARATOGA__EXISTS;
    }
    if (f->described) {
        mtime.tv_sec =
            (time_t)saratoga_time_to_posix(f->partial.entry.mtime, plain);
        mtime.tv_nsec = 0;
    }
    uv_mutex_lock(&f->map_lock);
    rv = saratoga__part_finish(&f->part, w->length, &mtime);
    uv_mutex_unlock(&f->map_lock);
    return rv;
}

static int64_t do_truncate(saratoga__file *f, const saratoga_work *w) {
    saratoga_digest_free(f->digest);
    f->digest = NULL;
    if (f->in_memory) {
        f->memory_len =
            w->offset < f->memory_len ? (size_t)w->offset : f->memory_len;
        return 0;
    }
    if (f->exists) {
        return SARATOGA__EXISTS;
    }
    return saratoga__part_cut(&f->part, w->offset);
}

static void run(uv_work_t *work) {
    struct saratoga__op *op = work->data;
    const saratoga_work *w = &op->todo;

    switch (w->type) {
    case SARATOGA_WORK_READ:
        op->result = do_read(op->file, w);
        break;
    case SARATOGA_WORK_WRITE:
        op->result = do_write(op->file, w);
        break;
    case SARATOGA_WORK_DIGEST:
        op->result = do_digest(op->file, w);
        break;
    case SARATOGA_WORK_COMMIT:
        op->result = do_commit(op->file, w);
        break;
    case SARATOGA_WORK_TRUNCATE:
        op->result = do_truncate(op->file, w);
        break;
    default:
        op->result = UV_EINVAL;
        break;
    }
}

/* --- On the loop --------------------------------------------------------- */

static void answer(saratoga_uv *u, saratoga__file *f, const saratoga_work *w,
                   int64_t result) {
    if (result < 0 && f != NULL) {
        f->status = f->status != 0 ? f->status : (int)result;
        f->bad_sum = f->bad_sum || result == SARATOGA__BAD_SUM;
    } else if (f != NULL && w->type == SARATOGA_WORK_COMMIT) {
        f->committed = true;
    }
    result = result < 0 ? saratoga__error_of((int)result) : result;
    (void)saratoga_node_work_done(u->node, w->id, result, saratoga__now());
    saratoga__kick(u);
}

static void done(uv_work_t *work, int status) {
    struct saratoga__op *op = work->data;
    saratoga__file *f = op->file;

    f->pending--;
    answer(f->u, f, &op->todo, status != 0 ? status : op->result);
    if (op->todo.type == SARATOGA_WORK_TRUNCATE) {
        f->cutting = false;
        saratoga__work_release(f, 0);
    }
    free(op);
    saratoga__file_settle(f);
}

/* Into memory: at once, since the block may have to move. */
static int64_t write_memory(saratoga__file *f, const saratoga_work *w) {
    uint64_t end = w->offset + w->len;

    if (end < w->offset || end > SARATOGA__MEMORY_MAX) {
        return UV_EFBIG;
    }
    if (end > f->memory_cap) {
        size_t cap = (size_t)end * 2;
        uint8_t *grown = realloc(f->memory, cap);

        if (grown == NULL) {
            return UV_ENOMEM;
        }
        memset(grown + f->memory_cap, 0, cap - f->memory_cap);
        f->memory = grown;
        f->memory_cap = cap;
    }
    memcpy(f->memory + w->offset, w->buf, w->len);
    f->memory_len = end > f->memory_len ? (size_t)end : f->memory_len;
    return 0;
}

static int64_t read_memory(const saratoga__file *f, const saratoga_work *w) {
    size_t left =
        w->offset < f->memory_len ? f->memory_len - (size_t)w->offset : 0;
    size_t n = left < w->len ? left : w->len;

    if (n > 0) {
        memcpy(w->buf, f->memory + w->offset, n);
    }
    return (int64_t)n;
}

static void in_memory(saratoga__file *f, const saratoga_work *w) {
    struct saratoga__op op = {.file = f, .todo = *w};

    if (w->type == SARATOGA_WORK_WRITE) {
        op.result = write_memory(f, w);
    } else if (w->type == SARATOGA_WORK_READ) {
        op.result = read_memory(f, w);
    } else {
        op.work.data = &op;
        run(&op.work);
    }
    answer(f->u, f, w, op.result);
}

static void queue(struct saratoga__op *op) {
    saratoga__file *f = op->file;

    op->work.data = op;
    f->cutting = f->cutting || op->todo.type == SARATOGA_WORK_TRUNCATE;
    f->pending++;
    if (uv_queue_work(f->u->loop, &op->work, run, done) != 0) {
        f->pending--;
        answer(f->u, f, &op->todo, UV_ENOMEM);
        free(op);
    }
}

static bool has_place(const saratoga__file *f) {
    return (f->fd >= 0 || f->has_part) && !f->cutting;
}

static void submit(struct saratoga__op *op) {
    saratoga__file *f = op->file;

    if (has_place(f)) {
        queue(op);
        return;
    }
    op->next = NULL;
    *(f->waiting_last != NULL ? &f->waiting_last->next : &f->waiting) = op;
    f->waiting_last = op;
}

/* What a stream brings is counted as it comes: nobody told its size. */
static bool fits_quota(saratoga__file *f, const saratoga_work *w) {
    saratoga_uv *u = f->u;

    if (!f->endless || f->id != 0 || w->type != SARATOGA_WORK_WRITE) {
        return true;
    }
    u->taken += w->len;
    return u->config.quota == 0 || u->taken <= u->config.quota;
}

void saratoga__work_start(saratoga_uv *u, const saratoga_work *w) {
    saratoga__file *f = w->user;
    struct saratoga__op *op;

    if (f == NULL || (f->ended && f->fd < 0 && !f->has_part && !f->in_memory)) {
        answer(u, f, w, UV_ECANCELED);
        return;
    }
    if (f->in_memory) {
        in_memory(f, w);
        return;
    }
    op = fits_quota(f, w) ? calloc(1, sizeof(*op)) : NULL;
    if (op == NULL) {
        answer(u, f, w, f->endless ? UV_ENOSPC : UV_ENOMEM);
        return;
    }
    op->file = f;
    op->todo = *w;
    submit(op);
}

void saratoga__work_release(saratoga__file *f, int status) {
    struct saratoga__op *op = f->waiting;

    f->waiting = NULL;
    f->waiting_last = NULL;
    while (op != NULL) {
        struct saratoga__op *next = op->next;

        if (status == 0) {
            submit(op);
        } else {
            answer(f->u, f, &op->todo, status);
            free(op);
        }
        op = next;
    }
}
