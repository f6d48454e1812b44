/* SPDX-License-Identifier: MPL-2.0 */
/* Confines paths of peers to a folder. */
#include "libsaratoga/node/root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <uv.h>

#include "libsaratoga/node/file_io.h"

#if defined(__linux__)
#include <sys/syscall.h>
#endif

#define FOLDER (O_RDONLY | O_DIRECTORY | O_CLOEXEC)
/* O_NONBLOCK: a pipe must not block the thread before it is detected. */
#define READ (O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

static int system_error(void) {
    /* A forbidden link, or a path out of the root. */
    return errno == ELOOP || errno == EXDEV ? UV_EACCES
                                            : uv_translate_sys_error(errno);
}

int saratoga__root_open(saratoga__root *r, const char *folder) {
    memset(r, 0, sizeof(*r));
    r->fd = open(folder, FOLDER);
    return r->fd >= 0 ? 0 : uv_translate_sys_error(errno);
}

void saratoga__root_close(saratoga__root *r) {
    if (r->fd >= 0) {
        (void)close(r->fd);
    }
    r->fd = -1;
}

/* Some disks do not tell cases apart. */
bool saratoga__name_is_own(const char *name) {
    return strncasecmp(name, SARATOGA__OWN_PREFIX,
                       strlen(SARATOGA__OWN_PREFIX)) == 0;
}

static bool is_dots(const char *name, size_t len, size_t dots) {
    return len == dots && memcmp(name, "..", dots) == 0;
}

int saratoga__path_clean(const char *path, char *clean) {
    size_t out = 0;

    if (strlen(path) >= SARATOGA__PATH_MAX) {
        return UV_ENAMETOOLONG;
    }
    while (*path != '\0') {
        size_t len = strcspn(path, "/");

        if (is_dots(path, len, 2) || saratoga__name_is_own(path)) {
            return UV_EACCES;
        }
        if (len > 0 && !is_dots(path, len, 1)) {
            if (out > 0) {
                clean[out++] = '/';
            }
            memcpy(clean + out, path, len);
            out += len;
        }
        path += len + (path[len] == '/' ? 1 : 0);
    }
    clean[out] = '\0';
    return 0;
}

#if defined(__linux__) && defined(SYS_openat2)
/* As in <linux/openat2.h>, which old systems lack and some <fcntl.h> include.
 */
struct how {
    uint64_t flags;
    uint64_t mode;
    uint64_t resolve;
};
#ifndef RESOLVE_BENEATH
#define RESOLVE_NO_MAGICLINKS 0x02u
#define RESOLVE_BENEATH 0x08u
#endif

/* -1 with ENOSYS: not supported by the kernel. */
static int open_beneath(int at, const char *path, int flags) {
    struct how how = {.flags = (uint64_t)flags,
                      .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};

    return (int)syscall(SYS_openat2, at, path, &how, sizeof(how));
}
#else
static int open_beneath(int at, const char *path, int flags) {
    (void)at;
    (void)path;
    (void)flags;
    errno = ENOSYS;
    return -1;
}
#endif

/* Opens component by component and refuses links. */
static int open_by_steps(int at, const char *path, int flags) {
    int here = fcntl(at, F_DUPFD_CLOEXEC, 0);

    while (here >= 0) {
        char name[SARATOGA__PATH_MAX];
        size_t len = strcspn(path, "/");
        bool last = path[len] == '\0';
        int next;
        int error;

        memcpy(name, path, len);
        name[len] = '\0';
        next = openat(here, name, (last ? flags : FOLDER) | O_NOFOLLOW);
        error = errno;
        (void)close(here);
        errno = error;
        if (last || next < 0) {
            return next;
        }
        here = next;
        path += len + 1;
    }
    return -1;
}

static int open_below(const saratoga__root *r, const char *path, int flags) {
    int fd = -1;

    if (*path == '\0') {
        path = ".";
    }
    errno = ENOSYS;
    if (!r->no_openat2) {
        fd = open_beneath(r->fd, path, flags);
    }
    /* A sandbox may forbid the call with EPERM. */
    if (fd < 0 && (errno == ENOSYS || errno == EPERM)) {
        fd = open_by_steps(r->fd, path, flags);
    }
    return fd >= 0 ? fd : system_error();
}

static int check_type(int fd, mode_t type, struct stat *st) {
    if (fstat(fd, st) != 0) {
        return uv_translate_sys_error(errno);
    }
    if ((st->st_mode & S_IFMT) == type) {
        return 0;
    }
    return S_ISDIR(st->st_mode) ? UV_EISDIR : UV_EACCES;
}

#if defined(O_PATH)
static int look(const saratoga__root *r, const char *path, mode_t type,
                struct stat *st) {
    int fd = open_below(r, path, O_PATH | O_CLOEXEC);
    int rv = fd;

    if (fd >= 0) {
        rv = check_type(fd, type, st);
        (void)close(fd);
    }
    return rv;
}
#else
static int look(const saratoga__root *r, const char *path, mode_t type,
                struct stat *st) {
    (void)r;
    (void)path;
    (void)type;
    (void)st;
    return 0;
}
#endif

/* Checks the type first: opening a pipe for a moment would wake its writer,
 * which may then be killed by SIGPIPE, and some devices act when opened. */
static int open_only(const saratoga__root *r, const char *path, mode_t type,
                     struct stat *st) {
    int rv = look(r, path, type, st);
    int fd = rv == 0 ? open_below(r, path, READ) : rv;

    rv = fd >= 0 ? check_type(fd, type, st) : 0;
    if (rv != 0) {
        (void)close(fd);
        return rv;
    }
    return fd == UV_ENXIO ? UV_EACCES : fd; /* a socket or a device */
}

int saratoga__root_read(const saratoga__root *r, const char *path,
                        struct stat *st) {
    return open_only(r, path, S_IFREG, st);
}

int saratoga__root_pipe(const saratoga__root *r, const char *path) {
    struct stat st;

    return open_only(r, path, S_IFIFO, &st);
}

/* Creates the last component of `path`; the others exist. */
static int make_folder(const saratoga__root *r, const char *path) {
    const char *leaf = NULL;
    int parent = saratoga__root_parent(r, path, false, &leaf);
    int rv = 0;

    if (parent < 0) {
        return parent;
    }
    if (mkdirat(parent, leaf, 0777) != 0 && errno != EEXIST) {
        rv = system_error();
    }
    (void)close(parent);
    return rv;
}

static int make_folders(const saratoga__root *r, const char *path) {
    char upto[SARATOGA__PATH_MAX];
    size_t at = 0;
    int rv = 0;

    while (rv == 0 && path[at] != '\0') {
        at += strcspn(path + at, "/");
        memcpy(upto, path, at);
        upto[at] = '\0';
        rv = make_folder(r, upto);
        at += path[at] == '/' ? 1 : 0;
    }
    return rv;
}

int saratoga__root_folder(const saratoga__root *r, const char *path,
                          bool make) {
    int fd = open_below(r, path, FOLDER);
    int rv;

    if (fd != UV_ENOENT || !make) {
        return fd;
    }
    rv = make_folders(r, path);
    return rv == 0 ? open_below(r, path, FOLDER) : rv;
}

int saratoga__root_parent(const saratoga__root *r, const char *path, bool make,
                          const char **leaf) {
    char folder[SARATOGA__PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t len = slash != NULL ? (size_t)(slash - path) : 0;

    *leaf = slash != NULL ? slash + 1 : path;
    if (**leaf == '\0') {
        return UV_EISDIR; /* the root itself has no name */
    }
    memcpy(folder, path, len);
    folder[len] = '\0';
    return saratoga__root_folder(r, folder, make);
}

int saratoga__root_sync_above(const saratoga__root *r, const char *path) {
    char upto[SARATOGA__PATH_MAX];
    size_t len = strlen(path);
    int rv = 0;

    if (len >= sizeof(upto)) {
        return UV_ENAMETOOLONG;
    }
    memcpy(upto, path, len + 1);
    do {
        char *slash = strrchr(upto, '/');
        int fd;

        len = slash != NULL ? (size_t)(slash - upto) : 0;
        upto[len] = '\0';
        fd = open_below(r, upto, FOLDER);
        rv = fd < 0 ? fd : saratoga__sync_folder(fd);
        if (fd >= 0) {
            (void)close(fd);
        }
    } while (rv == 0 && len > 0);
    return rv;
}

int saratoga__root_may_unlink(const saratoga__root *r, const char *path) {
    const char *leaf = NULL;
    int parent = saratoga__root_parent(r, path, false, &leaf);
    int rv = 0;

    if (parent < 0) {
        return parent;
    }
    if (faccessat(parent, ".", W_OK | X_OK, AT_EACCESS) != 0) {
        rv = system_error();
    }
    (void)close(parent);
    return rv;
}

/* Removes the last component; false: none left. */
static bool go_up(char *path) {
    char *slash = strrchr(path, '/');

    if (slash == NULL) {
        return false;
    }
    *slash = '\0';
    return true;
}

unsigned saratoga__root_missing_folders(const saratoga__root *r,
                                        const char *path) {
    char upto[SARATOGA__PATH_MAX];
    unsigned missing = 0;
    int fd = -1;

    (void)snprintf(upto, sizeof(upto), "%s", path);
    while (fd < 0 && go_up(upto)) {
        fd = open_below(r, upto, FOLDER);
        missing += fd < 0 ? 1u : 0;
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return missing;
}

void saratoga__root_remove_folders(const saratoga__root *r, const char *path,
                                   unsigned count) {
    char upto[SARATOGA__PATH_MAX];

    (void)snprintf(upto, sizeof(upto), "%s", path);
    for (unsigned i = 0; i < count && go_up(upto); i++) {
        const char *leaf = NULL;
        int parent = saratoga__root_parent(r, upto, false, &leaf);

        if (parent >= 0) {
            (void)unlinkat(parent, leaf, AT_REMOVEDIR);
            (void)close(parent);
        }
    }
}

int saratoga__root_unlink(const saratoga__root *r, const char *path) {
    const char *leaf = NULL;
    struct stat st;
    int parent = saratoga__root_parent(r, path, false, &leaf);
    int rv = 0;

    if (parent < 0) {
        return parent;
    }
    rv = fstatat(parent, leaf, &st, AT_SYMLINK_NOFOLLOW);
    if (rv == 0 && !S_ISREG(st.st_mode)) {
        (void)close(parent);
        return UV_EACCES;
    }
    if (rv == 0) {
        rv = unlinkat(parent, leaf, 0);
    }
    rv = rv != 0 ? system_error() : 0;
    (void)close(parent);
    return rv;
}
