/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Preloaded into a program: records what it does to files below the folder
 * DISK_ROOT into the file DISK_LOG, and has one call fail.
 *
 * DISK_FAULT is CALL:N:ERRNO, such as fdatasync:2:5; the Nth call of that name
 * fails.  What a failed sync has not put on the disk is lost, though the file
 * system shows it, as on Linux.  A record is a line, then as many bytes as its
 * last number says.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&(name)))(void *)dlsym(RTLD_NEXT, #name))

static atomic_int calls;

static bool fails(const char *call) {
    const char *fault = getenv("DISK_FAULT");
    size_t len = strlen(call);
    int nth = 0;
    int error = 0;

    if (fault == NULL || strncmp(fault, call, len) != 0 || fault[len] != ':' ||
        sscanf(fault + len + 1, "%d:%d", &nth, &error) != 2 ||
        atomic_fetch_add(&calls, 1) + 1 != nth) {
        return false;
    }
    errno = error;
    return true;
}

static bool is_ours(int fd) {
    const char *root = getenv("DISK_ROOT");
    char link[64];
    char path[PATH_MAX];
    ssize_t n;

    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    n = readlink(link, path, sizeof(path) - 1);
    return root != NULL && n > 0 && strncmp(path, root, strlen(root)) == 0;
}

static unsigned long inode(int fd) {
    struct stat st;

    return fstat(fd, &st) == 0 ? (unsigned long)st.st_ino : 0;
}

static unsigned long inode_at(int folder, const char *name) {
    struct stat st;

    return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0
               ? (unsigned long)st.st_ino
               : 0;
}

static int log_fd = -1;

/* Early: the program may later be forbidden to open anything. */
__attribute__((constructor)) static void open_log(void) {
    const char *path = getenv("DISK_LOG");

    if (path != NULL) {
        log_fd =
            NEXT(open)(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    }
}

static void put_record(const char *line, const void *data, size_t len) {
    int saved = errno;
    struct iovec v[2] = {{(void *)(size_t)line, strlen(line)},
                         {(void *)(size_t)data, len}};

    if (log_fd >= 0 && writev(log_fd, v, len > 0 ? 2 : 1) < 0) {
        abort();
    }
    errno = saved;
}

static void record(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

static void record(const char *format, ...) {
    char line[2 * NAME_MAX + 100];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    put_record(line, NULL, 0);
}

static void record_write(int fd, const void *data, size_t len, off_t at) {
    char line[100];

    (void)snprintf(line, sizeof(line), "write %lu %lld %zu\n", inode(fd),
                   (long long)at, len);
    put_record(line, data, len);
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t at) {
    ssize_t n;

    if (!is_ours(fd)) {
        return NEXT(pwrite)(fd, data, len, at);
    }
    if (fails("pwrite")) {
        return -1;
    }
    n = NEXT(pwrite)(fd, data, len, at);
    if (n > 0) {
        record_write(fd, data, (size_t)n, at);
    }
    return n;
}

ssize_t pwrite64(int fd, const void *data, size_t len, off64_t at) {
    return pwrite(fd, data, len, (off_t)at);
}

ssize_t write(int fd, const void *data, size_t len) {
    off_t at;
    ssize_t n;

    if (!is_ours(fd)) {
        return NEXT(write)(fd, data, len);
    }
    if (fails("write")) {
        return -1;
    }
    at = lseek(fd, 0, SEEK_CUR);
    n = NEXT(write)(fd, data, len);
    if (n > 0) {
        record_write(fd, data, (size_t)n, at);
    }
    return n;
}

int ftruncate(int fd, off_t size) {
    int rv;

    if (!is_ours(fd)) {
        return NEXT(ftruncate)(fd, size);
    }
    if (fails("ftruncate")) {
        return -1;
    }
    rv = NEXT(ftruncate)(fd, size);
    if (rv == 0) {
        record("truncate %lu %lld 0\n", inode(fd), (long long)size);
    }
    return rv;
}

int ftruncate64(int fd, off64_t size) {
    return ftruncate(fd, (off_t)size);
}

static int sync_with(const char *name, int fd) {
    if (is_ours(fd)) {
        if (fails(name)) {
            record("lost %lu 0\n", inode(fd));
            return -1;
        }
        record("sync %lu 0\n", inode(fd)); /* all before it has returned */
    }
    return 0;
}

int fsync(int fd) {
    struct stat st;
    bool folder = fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);

    return sync_with(folder ? "fsync_folder" : "fsync", fd);
}

int fdatasync(int fd) {
    return sync_with("fdatasync", fd);
}

static int open_at(int folder, const char *name, int flags, mode_t mode) {
    bool fresh = (flags & O_CREAT) != 0 && inode_at(folder, name) == 0;
    int fd;

    if ((flags & O_CREAT) != 0 && is_ours(folder) && fails("create")) {
        return -1;
    }
    fd = NEXT(openat)(folder, name, flags, mode);
    if (fd >= 0 && is_ours(fd)) {
        if (fresh) {
            record("name %lu %s %lu 0\n", inode(folder), name, inode(fd));
        } else if ((flags & O_TRUNC) != 0) {
            record("truncate %lu 0 0\n", inode(fd));
        }
    }
    return fd;
}

int openat(int folder, const char *name, int flags, ...) {
    mode_t mode = 0;

    if ((flags & O_CREAT) != 0) {
        va_list args;

        va_start(args, flags);
        mode = va_arg(args, mode_t);
        va_end(args);
    }
    return open_at(folder, name, flags, mode);
}

int openat64(int folder, const char *name, int flags, ...) {
    mode_t mode = 0;

    if ((flags & O_CREAT) != 0) {
        va_list args;

        va_start(args, flags);
        mode = va_arg(args, mode_t);
        va_end(args);
    }
    return open_at(folder, name, flags, mode);
}

int mkdirat(int folder, const char *name, mode_t mode) {
    int rv;

    if (is_ours(folder) && fails("mkdirat")) {
        return -1;
    }
    rv = NEXT(mkdirat)(folder, name, mode);
    if (rv == 0 && is_ours(folder)) {
        record("folder %lu %s %lu 0\n", inode(folder), name,
               inode_at(folder, name));
    }
    return rv;
}

static int renamed(int rv, int folder, const char *from, const char *to) {
    if (rv == 0) {
        record("rename %lu %s %s %lu 0\n", inode(folder), from, to,
               inode_at(folder, to));
    }
    return rv;
}

int renameat(int a, const char *from, int b, const char *to) {
    if (!is_ours(b)) {
        return NEXT(renameat)(a, from, b, to);
    }
    return fails("rename")
               ? -1
               : renamed(NEXT(renameat)(a, from, b, to), b, from, to);
}

int renameat2(int a, const char *from, int b, const char *to,
              unsigned int flags) {
    if (!is_ours(b)) {
        return NEXT(renameat2)(a, from, b, to, flags);
    }
    return fails("rename")
               ? -1
               : renamed(NEXT(renameat2)(a, from, b, to, flags), b, from, to);
}

int unlinkat(int folder, const char *name, int flags) {
    unsigned long gone = inode_at(folder, name);

    if (!is_ours(folder)) {
        return NEXT(unlinkat)(folder, name, flags);
    }
    if (fails("unlinkat")) {
        return -1;
    }
    if (gone != 0) { /* before it happens: what follows may rely on it */
        record("unlink %lu %s 0\n", inode(folder), name);
    }
    return NEXT(unlinkat)(folder, name, flags);
}
