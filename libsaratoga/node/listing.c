/* SPDX-License-Identifier: MPL-2.0 */
/* Lists directories, and chooses a file for requests for any file. */
#include "libsaratoga/node/listing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libsaratoga/node/worker.h"

#define ENTRY_MAX (10 + 16 + SARATOGA_PATH_MAX)

static void describe(const saratoga__file *f, const char *name,
                     const struct stat *st, saratoga_entry *e) {
    bool plain = f->u->engine_config.time_y2k_plain;

    memset(e, 0, sizeof(*e));
    e->directory = S_ISDIR(st->st_mode);
    e->special = !e->directory && !S_ISREG(st->st_mode);
    e->size = e->directory || e->special ? 0 : (uint64_t)st->st_size;
    e->mtime = saratoga_time_from_posix(st->st_mtim.tv_sec, plain);
    e->ctime = saratoga_time_from_posix(st->st_ctim.tv_sec, plain);
    e->descriptor = SARATOGA_DESCRIPTOR_FIT;
    (void)snprintf(e->path, sizeof(e->path), "%s", name);
}

static int append(saratoga__file *f, const saratoga_entry *e, uint32_t widest) {
    if (f->local.memory_cap - f->local.memory_len < ENTRY_MAX) {
        size_t cap = f->local.memory_cap * 2 + (size_t)64 * 1024;
        uint8_t *grown =
            cap <= SARATOGA__MEMORY_MAX ? realloc(f->local.memory, cap) : NULL;

        if (grown == NULL) {
            return UV_ENOMEM;
        }
        f->local.memory = grown;
        f->local.memory_cap = cap;
    }
    f->local.memory_len += saratoga_entry_write(
        e, widest, f->local.memory + f->local.memory_len, ENTRY_MAX);
    return 0;
}

struct names {
    char **name;
    size_t count;
    size_t cap;
};

static int add_name(struct names *n, const char *name) {
    if (n->count == n->cap) {
        size_t cap = n->cap * 2 + 64;
        char **grown = realloc(n->name, cap * sizeof(*grown));

        if (grown == NULL) {
            return UV_ENOMEM;
        }
        n->name = grown;
        n->cap = cap;
    }
    n->name[n->count] = strdup(name);
    if (n->name[n->count] == NULL) {
        return UV_ENOMEM;
    }
    n->count++;
    return 0;
}

static void free_names(struct names *n) {
    for (size_t i = 0; i < n->count; i++) {
        free(n->name[i]);
    }
    free(n->name);
}

/* Reads the names in a folder, which stays open. Free them even after an
 * error. */
static int names_of(int folder, struct names *n) {
    int again = fcntl(folder, F_DUPFD_CLOEXEC, 0);
    DIR *d = again >= 0 ? fdopendir(again) : NULL;
    const struct dirent *e;
    int rv = 0;

    *n = (struct names){0};
    if (d == NULL) {
        rv = uv_translate_sys_error(errno);
        if (again >= 0) {
            (void)close(again);
        }
        return rv;
    }
    errno = 0;
    while (rv == 0 && (e = readdir(d)) != NULL) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            !saratoga__name_is_own(e->d_name)) {
            rv = add_name(n, e->d_name);
        }
        errno = 0;
    }
    if (rv == 0 && errno != 0) { /* a part of a list must not look whole */
        rv = uv_translate_sys_error(errno);
    }
    (void)closedir(d);
    return rv;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list_folder(saratoga__file *f, int folder, uint32_t widest) {
    struct names n;
    int rv = names_of(folder, &n);

    if (n.count > 1) {
        qsort(n.name, n.count, sizeof(*n.name), by_name);
    }
    for (size_t i = 0; i < n.count && rv == 0; i++) {
        struct stat st;
        saratoga_entry e;

        if (fstatat(folder, n.name[i], &st, AT_SYMLINK_NOFOLLOW) == 0) {
            describe(f, n.name[i], &st, &e);
            rv = append(f, &e, widest);
        }
    }
    free_names(&n);
    return rv;
}

static int list_file(saratoga__file *f, uint32_t widest) {
    const char *leaf = strrchr(f->local.name, '/');
    saratoga_entry e;
    int fd = saratoga__root_read(f->local.root, f->local.name, &f->local.st);

    if (fd < 0) {
        return fd;
    }
    (void)close(fd);
    describe(f, leaf != NULL ? leaf + 1 : f->local.name, &f->local.st, &e);
    return append(f, &e, widest);
}

int saratoga__source_list(saratoga__file *f, uint32_t widest) {
    int folder = saratoga__root_folder(f->local.root, f->local.name, false);
    int rv = folder;

    f->work.job.medium = SARATOGA__MEMORY;
    if (folder == UV_ENOTDIR) {
        rv = list_file(f, widest);
    } else if (folder >= 0) {
        rv = fstat(folder, &f->local.st) == 0 ? list_folder(f, folder, widest)
                                              : UV_EIO;
        (void)close(folder);
    }
    if (rv != 0) {
        return rv;
    }
    describe(f, f->path, &f->local.st, &f->send.source.entry);
    f->send.source.entry.directory = folder >= 0;
    f->send.source.entry.size = f->local.memory_len;
    f->send.source.kind = SARATOGA_DIRECTORY;
    return 0;
}

static bool is_older(const struct stat *a, const struct timespec *b) {
    return a->st_mtim.tv_sec < b->tv_sec ||
           (a->st_mtim.tv_sec == b->tv_sec && a->st_mtim.tv_nsec < b->tv_nsec);
}

int saratoga__source_pick(saratoga__file *f) {
    int folder = saratoga__root_folder(f->local.root, "", false);
    struct timespec oldest = {0, 0};
    struct names n;
    int rv;

    if (folder < 0) {
        return folder;
    }
    rv = names_of(folder, &n);
    for (size_t i = 0; i < n.count && rv == 0; i++) {
        struct stat st;

        if (fstatat(folder, n.name[i], &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(st.st_mode) &&
            (f->local.name[0] == '\0' || is_older(&st, &oldest))) {
            oldest = st.st_mtim;
            (void)snprintf(f->local.name, sizeof(f->local.name), "%s",
                           n.name[i]);
        }
    }
    free_names(&n);
    (void)close(folder);
    (void)snprintf(f->path, sizeof(f->path), "%s", f->local.name);
    return rv == 0 && f->local.name[0] == '\0' ? UV_ENOENT : rv;
}
