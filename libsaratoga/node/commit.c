/* SPDX-License-Identifier: MPL-2.0 */
/* Verifies a received file and gives it its name. */
#include "libsaratoga/node/commit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal/secure/secret.h"
#include "libsaratoga/node/errors.h"
#include "libsaratoga/node/file_io.h"

#define CHUNK ((size_t)256 * 1024)

/* --- The checksum of received data --------------------------------------- */

/* The checksum from the beginning to `end`. */
int64_t saratoga__digest_to(saratoga__file *f, uint32_t type, uint64_t end) {
    int64_t rv = saratoga__hash_begin(&f->work.hash, type);

    if (rv != 0) {
        return rv;
    }
    if (f->local.medium != SARATOGA__MEMORY) {
        return saratoga__hash_catch_up(&f->work.hash,
                                       f->local.medium == SARATOGA__EXISTING
                                           ? f->local.fd
                                           : f->recv.part.fd,
                                       end);
    }
    if (end > f->local.memory_len) {
        return UV_EIO;
    }
    rv = (int64_t)saratoga__hash_at(&f->work.hash);
    saratoga__hash_offer(&f->work.hash, (uint64_t)rv, f->local.memory + rv,
                         (size_t)(end - (uint64_t)rv), true);
    return 0;
}

/* Finishes the checksum and compares it. */
static int64_t compare_sum(saratoga__file *f, uint32_t type,
                           const uint8_t *digest) {
    uint8_t sum[SARATOGA_CHECKSUM_MAX];
    int64_t rv = saratoga__hash_begin(&f->work.hash, type);

    rv = rv == 0 ? saratoga__hash_end(&f->work.hash, sum) : rv;
    if (rv != 0) {
        return rv;
    }
    /* Constant time: a keyed checksum must not be guessed byte by byte. */
    return sec__equal(sum, digest, saratoga_digest_len(type))
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
        return 0; /* none, or of an unknown type */
    }
    rv = compare_sum(f, w->checksum, w->digest);
    /* Some peers use that name for the other CRC. */
    if (rv == SARATOGA__BAD_SUM && w->checksum == SARATOGA_CRC32C &&
        takes_ieee(f)) {
        rv = saratoga__digest_to(f, SARATOGA_CRC32_IEEE, w->length);
        rv = rv == 0 ? compare_sum(f, SARATOGA_CRC32_IEEE, w->digest) : rv;
    }
    return rv;
}

/* --- Reading back -------------------------------------------------------- */

static int add_file(saratoga_digest *d, int fd, uint64_t length) {
    uint8_t *chunk = malloc(CHUNK);
    int64_t n = chunk != NULL ? 0 : UV_ENOMEM;

    for (uint64_t at = 0; n >= 0 && at < length; at += (uint64_t)n) {
        uint64_t left = length - at;

        n = saratoga__read_at(fd, chunk, left < CHUNK ? (size_t)left : CHUNK,
                              at);
        if (n == 0 || (n > 0 && saratoga_digest_update(d, chunk, (size_t)n))) {
            n = UV_EIO;
        }
    }
    free(chunk);
    return n < 0 ? (int)n : 0;
}

static int sum_file(const saratoga__file *f, int fd, uint32_t type,
                    uint64_t length, uint8_t *sum) {
    saratoga_digest *d = saratoga__digest_begin(
        type, f->u->auth_key, f->u->engine_config.auth_key_len);
    int rv = d != NULL ? add_file(d, fd, length) : UV_ENOMEM;

    if (rv == 0 && saratoga_digest_final(d, sum) != 0) {
        rv = UV_EIO;
    }
    saratoga_digest_free(d);
    return rv;
}

/* Drops the synced, clean pages from the cache. */
static void drop_cache(int fd) {
#if defined(POSIX_FADV_DONTNEED)
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
#else
    (void)fd;
#endif
}

/* Returns 0 or UV_EIO. */
static int compare_disk(const saratoga__file *f, int fd, uint32_t type,
                        uint64_t length, const uint8_t *digest) {
    uint8_t sum[SARATOGA_CHECKSUM_MAX];
    int rv;

    drop_cache(fd);
    rv = sum_file(f, fd, type, length, sum);
    if (rv != 0) {
        return rv;
    }
    return sec__equal(sum, digest, saratoga_digest_len(type)) ? 0 : UV_EIO;
}

static int read_back_unsummed(const saratoga__file *f, int fd,
                              uint64_t length) {
    uint8_t sum[SARATOGA_CHECKSUM_MAX];
    int rv = sum_file(f, fd, SARATOGA_CRC32C, length, sum);

    return rv != 0 ? rv : compare_disk(f, fd, SARATOGA_CRC32C, length, sum);
}

/* Whether the peer will delete its copy. */
static bool is_last_copy(const saratoga__file *f) {
    return f->request == SARATOGA_TAKE || f->request == SARATOGA_GIVE;
}

/* Before the last other copy is deleted, reads the file back from disk,
 * bypassing the cache: some systems lose writes silently. */
static int read_back(const saratoga__file *f, int fd, const saratoga_work *w) {
    int rv;

    if (!is_last_copy(f) || f->u->config.trust_cache) {
        return 0;
    }
    if (saratoga_digest_len(w->checksum) == 0) {
        return read_back_unsummed(f, fd, w->length);
    }
    rv = compare_disk(f, fd, w->checksum, w->length, w->digest);
    if (rv == UV_EIO && w->checksum == SARATOGA_CRC32C && takes_ieee(f)) {
        rv = compare_disk(f, fd, SARATOGA_CRC32_IEEE, w->length, w->digest);
    }
    return rv;
}

/* --- The commit ---------------------------------------------------------- */

static int commit_existing(saratoga__file *f, const saratoga_work *w) {
    int rv;

    if ((uint64_t)f->local.st.st_size != w->length) {
        return SARATOGA__EXISTS;
    }
    if (fsync(f->local.fd) != 0) {
        return uv_translate_sys_error(errno);
    }
    rv = read_back(f, f->local.fd, w);
    return rv != 0 ? rv
                   : saratoga__root_sync_above(f->local.root, f->local.name);
}

static int commit_part(saratoga__file *f, const saratoga_work *w) {
    bool plain = f->u->engine_config.time_y2k_plain;
    saratoga__part *p = &f->recv.part;
    struct timespec mtime = {.tv_nsec = UTIME_NOW};
    int rv;

    if (f->recv.described) {
        mtime.tv_sec =
            (time_t)saratoga_time_to_posix(f->recv.partial.entry.mtime, plain);
        mtime.tv_nsec = 0;
    }
    rv = saratoga__part_sync(p, w->length, &mtime);
    if (rv == 0) {
        rv = read_back(f, p->fd, w);
        p->sync_error = rv;
    }
    return rv != 0 ? rv : saratoga__part_publish(p);
}

int64_t saratoga__commit(saratoga__file *f, const saratoga_work *w) {
    int64_t rv = verify(f, w);

    if (rv != 0 || f->local.medium == SARATOGA__MEMORY ||
        f->local.medium == SARATOGA__OUTPUT) {
        return rv;
    }
    uv_mutex_lock(&f->recv.map_lock);
    rv = f->local.medium == SARATOGA__EXISTING ? commit_existing(f, w)
                                               : commit_part(f, w);
    uv_mutex_unlock(&f->recv.map_lock);
    return rv;
}
