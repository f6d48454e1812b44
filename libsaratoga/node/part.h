/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_PART_H
#define LIBSARATOGA_NODE_PART_H

#include "libsaratoga/node/errors.h"
#include "libsaratoga/node/map.h"
#include "libsaratoga/node/root.h"

#include <limits.h>
#include <time.h>

/*
 * A partial file. It lies in the folder of the final file, under a name of
 * ours, with its map beside it, and is locked while in use. All calls block.
 */

#define SARATOGA__PART_NAME 48

typedef struct saratoga__part {
    int folder;
    int fd;
    char leaf[NAME_MAX + 1];
    char name[SARATOGA__PART_NAME];
    char map[SARATOGA__PART_NAME];
    const saratoga__root *root;
    char path[SARATOGA__PATH_MAX]; /* path of the file below root */
    bool overwrite;
    bool exists;      /* the target exists */
    bool has_map;     /* a map may be on disk */
    bool name_synced; /* the part's name is on disk */
    bool finished;    /* it has its final name, and no map */
    unsigned made;    /* folders above it that were created */
    int sync_error;   /* UV_E... of the first sync that failed */
    struct stat target;
} saratoga__part;

/* Opens or creates the partial file of `path`. `left` receives the part already
 * held, with its ranges in memory from malloc(). NULL: starts from nothing.
 * Returns 0, UV_EBUSY if another session has it, or another UV_E... */
int saratoga__part_open(saratoga__part *p, const saratoga__root *r,
                        const char *path, bool overwrite,
                        saratoga_partial *left, saratoga_range **ranges);
/* Syncs the octets to disk, then the map, which must not name any others.
 * Returns 0, or UV_E... if the octets did not reach the disk; if the map cannot
 * be written, the previous one stays.
 *
 * A failed sync is final: the kernel reports an error once and drops the pages,
 * so a later sync says nothing about them. From then on every call fails, and
 * the part must be discarded. */
int saratoga__part_save(saratoga__part *p, const uint8_t *map, size_t len);
/* Shortens it. */
int saratoga__part_cut(saratoga__part *p, uint64_t size);
/* Sets its length to `size` octets and syncs them to disk. */
int saratoga__part_sync(saratoga__part *p, uint64_t size,
                        const struct timespec *mtime);
/* Then gives it its final name, and syncs that to disk with all folders up to
 * the root. SARATOGA__EXISTS: the file exists and must not be replaced; the
 * partial file stays. */
int saratoga__part_publish(saratoga__part *p);
void saratoga__part_discard(saratoga__part *p);
void saratoga__part_close(saratoga__part *p);

#endif /* LIBSARATOGA_NODE_PART_H */
