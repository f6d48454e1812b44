/* SPDX-License-Identifier: MPL-2.0 */
/* Partial files: opening, locking, publishing. */
#include "libsaratoga/node/part.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <uv.h>

#include "libsaratoga/node/file_io.h"

#define PART (O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
#define MAP_WRITE (O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC)
#define MAP_READ (O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
/* A map of SARATOGA__RANGES_MAX ranges is about this long. */
#define MAP_MAX ((off_t)5 * 1024 * 1024)
/* Another process may finish its file between our opening and locking it. */
#define LOCK_TRIES 8

static int last_error(void) {
    return uv_translate_sys_error(errno);
}

/* --- Opening ------------------------------------------------------------- */

/* FNV-1a hash: a name may already have the maximum length, and ours are
 * longer. */
static void part_name_it(saratoga__part *p, const char *leaf) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (const char *c = leaf; *c != '\0'; c++) {
        hash = (hash ^ (uint8_t)*c) * UINT64_C(0x100000001b3);
    }
    (void)snprintf(p->leaf, sizeof(p->leaf), "%s", leaf);
    (void)snprintf(p->name, sizeof(p->name),
                   SARATOGA__OWN_PREFIX "%016" PRIx64 ".part", hash);
    (void)snprintf(p->map, sizeof(p->map),
                   SARATOGA__OWN_PREFIX "%016" PRIx64 ".map", hash);
}

/* Whether the name still refers to the open file, which has no other. */
static bool is_current(const saratoga__part *p) {
    struct stat here;
    struct stat there;

    if (fstat(p->fd, &here) != 0 ||
        fstatat(p->folder, p->name, &there, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(here.st_mode) || here.st_ino != there.st_ino ||
        here.st_dev != there.st_dev) {
        return false;
    }
    if (here.st_nlink > 1) {
        /* After a crash in rename_new() the target is the other name. Somebody
         * else's link keeps the file busy. */
        if (p->exists && p->target.st_ino == here.st_ino &&
            p->target.st_dev == here.st_dev) {
            (void)unlinkat(p->folder, p->name, 0);
        }
        return false;
    }
    return true;
}

static int open_locked(saratoga__part *p) {
    for (int i = 0; i < LOCK_TRIES; i++) {
        p->fd = openat(p->folder, p->name, PART, 0666);
        if (p->fd < 0) {
            return last_error();
        }
        if (flock(p->fd, LOCK_EX | LOCK_NB) != 0) {
            break;
        }
        if (is_current(p)) {
            return 0;
        }
        (void)close(p->fd);
        p->fd = -1;
    }
    return UV_EBUSY;
}

static int look_at_target(saratoga__part *p) {
    if (fstatat(p->folder, p->leaf, &p->target, AT_SYMLINK_NOFOLLOW) != 0) {
        return errno == ENOENT ? 0 : last_error();
    }
    p->exists = true;
    if (S_ISDIR(p->target.st_mode)) {
        return UV_EISDIR;
    }
    return S_ISREG(p->target.st_mode) ? 0 : UV_EACCES;
}

static uint8_t *read_map(const saratoga__part *p, size_t *len) {
    int fd = openat(p->folder, p->map, MAP_READ);
    uint8_t *map = NULL;
    struct stat st;

    *len = 0;
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        st.st_size > 0 && st.st_size <= MAP_MAX) {
        map = malloc((size_t)st.st_size);
    }
    if (map != NULL) {
        int64_t n = saratoga__read_at(fd, map, (size_t)st.st_size, 0);
        *len = n > 0 ? (size_t)n : 0;
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return map;
}

static int part_failed(saratoga__part *p, int error) {
    p->sync_error = p->sync_error != 0 ? p->sync_error : error;
    return error;
}

static int part_sync_folder(saratoga__part *p) {
    int rv = saratoga__sync_folder(p->folder);

    return rv == 0 ? 0 : part_failed(p, rv);
}

/* The removal of a map must reach the disk before octets that it would claim
 * are written: a power failure may restore it. */
static int drop_map(saratoga__part *p) {
    int rv;

    if (!p->has_map) {
        return 0;
    }
    if (unlinkat(p->folder, p->map, 0) != 0) {
        if (errno != ENOENT) {
            return last_error();
        }
        p->has_map = false;
        return 0;
    }
    rv = part_sync_folder(p);
    p->has_map = p->has_map && rv != 0;
    return rv;
}

/* The part's name must reach the disk before the map: otherwise, after a power
 * failure, the map would be read with an older part of that name. */
static int part_sync_name(saratoga__part *p) {
    int rv = p->name_synced ? 0 : part_sync_folder(p);
    p->name_synced = rv == 0;
    return rv;
}

/* Discards the existing part. */
static int part_forget(saratoga__part *p) {
    int rv = drop_map(p);

    if (rv != 0) {
        return rv;
    }
    return ftruncate(p->fd, 0) == 0 ? 0 : last_error();
}

static int take_left(saratoga__part *p, saratoga_partial *left,
                     saratoga_range **ranges) {
    size_t len;
    uint8_t *map = read_map(p, &len);
    struct stat st;
    int rv = UV_EINVAL;

    if (map != NULL && fstat(p->fd, &st) == 0) {
        rv = saratoga__map_decode(map, len, (uint64_t)st.st_size, left, ranges);
    }
    free(map);
    /* An old map would claim the octets received now. */
    if (rv != 0 || left->count == 0) {
        free(*ranges);
        memset(left, 0, sizeof(*left));
        *ranges = NULL;
        return part_forget(p);
    }
    return 0;
}

int saratoga__part_open(saratoga__part *p, const saratoga__root *r,
                        const char *path, bool overwrite,
                        saratoga_partial *left, saratoga_range **ranges) {
    const char *leaf = NULL;
    int rv;

    memset(p, 0, sizeof(*p));
    p->fd = -1;
    p->overwrite = overwrite;
    p->root = r;
    p->has_map = true; /* assumed until checked */
    (void)snprintf(p->path, sizeof(p->path), "%s", path);
    p->made = saratoga__root_missing_folders(r, path);
    p->folder = saratoga__root_parent(r, path, true, &leaf);
    if (p->folder < 0) {
        return p->folder;
    }
    if (strlen(leaf) > NAME_MAX) {
        return UV_ENAMETOOLONG;
    }
    part_name_it(p, leaf);
    rv = look_at_target(p);
    if (rv == 0 && p->exists && !overwrite) {
        rv = SARATOGA__EXISTS;
    }
    if (rv == 0) {
        rv = open_locked(p);
    }
    if (rv == 0) {
        rv = left != NULL ? take_left(p, left, ranges) : part_forget(p);
    }
    return rv;
}

/* --- While it grows ------------------------------------------------------ */

int saratoga__part_cut(saratoga__part *p, uint64_t size) {
    int rv = size == 0 ? part_forget(p) : drop_map(p);

    if (rv != 0 || size == 0) {
        return rv;
    }
    return ftruncate(p->fd, (off_t)size) == 0 ? 0 : last_error();
}

static int write_whole(int fd, const uint8_t *data, size_t len) {
    while (len > 0) {
        ssize_t n = write(fd, data, len);

        if (n < 0 && errno != EINTR) {
            return last_error();
        }
        if (n > 0) {
            data += n;
            len -= (size_t)n;
        }
    }
    return fsync(fd) == 0 ? 0 : last_error();
}

static int part_flush(int fd) {
#ifdef __APPLE__ /* its fsync leaves data in the drive's cache */
    return fcntl(fd, F_FULLFSYNC) == -1 ? fsync(fd) : 0;
#else
    return fdatasync(fd);
#endif
}

int saratoga__part_save(saratoga__part *p, const uint8_t *map, size_t len) {
    char fresh[SARATOGA__PART_NAME + 8];
    int fd;
    int rv;

    if (p->sync_error != 0) {
        return p->sync_error;
    }
    if (part_flush(p->fd) != 0) {
        return part_failed(p, last_error());
    }
    rv = part_sync_name(p);
    if (rv != 0) {
        return rv;
    }
    (void)snprintf(fresh, sizeof(fresh), "%s.new", p->map);
    fd = openat(p->folder, fresh, MAP_WRITE, 0666);
    if (fd < 0) {
        return 0;
    }
    rv = write_whole(fd, map, len);
    (void)close(fd);
    if (rv == 0) {
        p->has_map = true;
        rv = renameat(p->folder, fresh, p->folder, p->map);
    }
    if (rv != 0) {
        (void)unlinkat(p->folder, fresh, 0);
    }
    return 0;
}

/* --- The end ------------------------------------------------------------- */

static int rename_new(saratoga__part *p) {
#if defined(RENAME_NOREPLACE)
    if (renameat2(p->folder, p->name, p->folder, p->leaf, RENAME_NOREPLACE) ==
        0) {
        return 0;
    }
    if (errno != EINVAL && errno != ENOSYS) {
        return errno == EEXIST ? SARATOGA__EXISTS : last_error();
    }
#endif
    /* Two names for a moment: neither ever refers to an incomplete file. */
    if (linkat(p->folder, p->name, p->folder, p->leaf, 0) != 0) {
        return errno == EEXIST ? SARATOGA__EXISTS : last_error();
    }
    return unlinkat(p->folder, p->name, 0) == 0 ? 0 : last_error();
}

static int give_name(saratoga__part *p) {
    if (!p->overwrite) {
        return rename_new(p);
    }
    return renameat(p->folder, p->name, p->folder, p->leaf) == 0 ? 0
                                                                 : last_error();
}

int saratoga__part_sync(saratoga__part *p, uint64_t size,
                        const struct timespec *mtime) {
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, *mtime};

    if (p->sync_error != 0) {
        return p->sync_error;
    }
    if (ftruncate(p->fd, (off_t)size) != 0) {
        return last_error();
    }
    (void)futimens(p->fd, times); /* timestamps are best effort */
    return fsync(p->fd) == 0 ? 0 : part_failed(p, last_error());
}

int saratoga__part_publish(saratoga__part *p) {
    int rv = p->sync_error != 0 ? p->sync_error : give_name(p);

    if (rv != 0) {
        return rv;
    }
    p->finished = true;
    (void)unlinkat(p->folder, p->map, 0);
    rv = saratoga__root_sync_above(p->root, p->path);
    if (rv != 0) {
        (void)part_failed(p, rv);
        if (!p->overwrite) { /* the name may not survive a crash */
            (void)unlinkat(p->folder, p->leaf, 0);
            saratoga__root_remove_folders(p->root, p->path, p->made);
        }
    }
    return rv;
}

void saratoga__part_discard(saratoga__part *p) {
    if (p->fd >= 0) {
        (void)drop_map(p); /* it would claim octets of the next part */
        (void)unlinkat(p->folder, p->name, 0);
    }
    saratoga__part_close(p);
}

void saratoga__part_close(saratoga__part *p) {
    if (p->fd >= 0) {
        (void)close(p->fd);
    }
    if (p->folder >= 0) {
        (void)close(p->folder);
    }
    p->fd = -1;
    p->folder = -1;
}
