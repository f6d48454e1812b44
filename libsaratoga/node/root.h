/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_ROOT_H
#define LIBSARATOGA_NODE_ROOT_H

#include <stdbool.h>
#include <stddef.h>

#include <sys/stat.h>

/*
 * The part of the file system that peers may access.
 *
 * Paths are relative to a folder. "..", special files and symbolic links that
 * lead out are refused, by the kernel if it can (openat2() of Linux 5.6),
 * otherwise component by component; then all links are refused. Names with the
 * prefix of this library's own files are refused, too. All calls block: run
 * them on the thread pool.
 */

#define SARATOGA__PATH_MAX 1024 /* octets including the NUL, as on the wire */
#define SARATOGA__OWN_PREFIX ".saratoga-"

typedef struct saratoga__root {
    int fd;
    bool no_openat2; /* for tests: use the portable way */
} saratoga__root;

/* Each returns 0 or UV_E... */
int saratoga__root_open(saratoga__root *r, const char *folder);
void saratoga__root_close(saratoga__root *r);

/* Writes `path` without leading, doubled and trailing slashes and without "."
 * into `clean`, SARATOGA__PATH_MAX bytes; the root itself is "". Returns 0,
 * UV_EACCES if it leads out or names one of our own files, or UV_ENAMETOOLONG.
 * Pure function. */
int saratoga__path_clean(const char *path, char *clean);

/* Whether a name is one of our own files, to be omitted from listings. Pure
 * function. */
bool saratoga__name_is_own(const char *name);

/* Opens a regular file for reading.  Returns a descriptor or UV_E... */
int saratoga__root_read(const saratoga__root *r, const char *path,
                        struct stat *st);
/* Opens a named pipe for reading, with O_NONBLOCK: it needs no writer. Returns
 * a descriptor or UV_E... */
int saratoga__root_pipe(const saratoga__root *r, const char *path);
/* Opens a folder. `make`: also creates it and those above it. */
int saratoga__root_folder(const saratoga__root *r, const char *path, bool make);
/* Opens the folder that holds `path`, whose last name is *leaf in `path`. */
int saratoga__root_parent(const saratoga__root *r, const char *path, bool make,
                          const char **leaf);
/* Syncs the folder that holds `path` to disk, and all folders above it up to
 * the root. */
int saratoga__root_sync_above(const saratoga__root *r, const char *path);
/* Whether names may be removed from the folder that holds `path`.  Returns 0 or
 * UV_E... */
int saratoga__root_may_unlink(const saratoga__root *r, const char *path);
/* Removes the `count` lowest folders above `path` if they are empty. */
void saratoga__root_remove_folders(const saratoga__root *r, const char *path,
                                   unsigned count);
/* How many of the folders above `path` do not exist. */
unsigned saratoga__root_missing_folders(const saratoga__root *r,
                                        const char *path);
/* Removes a regular file; UV_ENOENT if there is none. */
int saratoga__root_unlink(const saratoga__root *r, const char *path);

#endif /* LIBSARATOGA_NODE_ROOT_H */
