/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_PART_H
#define LIBSARATOGA_NODE_PART_H

#include "libsaratoga/node/errors.h"
#include "libsaratoga/node/map.h"
#include "libsaratoga/node/root.h"

#include <limits.h>
#include <time.h>

/*
 * A file that is not whole yet.  It lies in the folder of the file it is to
 * become, under a name of our own, with its map beside it, and is locked as
 * long as somebody works on it.  All calls block.
 */

#define SARATOGA__PART_NAME 48

typedef struct saratoga__part {
    int folder;
    int fd;
    char leaf[NAME_MAX + 1];
    char name[SARATOGA__PART_NAME];
    char map[SARATOGA__PART_NAME];
    const saratoga__root *root;
    char path[SARATOGA__PATH_MAX]; /* of the file, below root */
    bool overwrite;
    bool exists;      /* the target does */
    bool has_map;     /* a map may be on the disk */
    bool name_synced; /* that the part has its name */
    bool finished;    /* it has its name, and no map any more */
    unsigned made;    /* folders above it that were not there before */
    int sync_error;   /* UV_E... of the first sync that failed */
    struct stat target;
} saratoga__part;

/* Opens or makes the partial file of `path`.  `left`: wants what is there of
 * it, its ranges in memory from malloc(); NULL: begins anew.  Returns 0,
 * UV_EBUSY when another session has it, another UV_E... */
int saratoga__part_open(saratoga__part *p, const saratoga__root *r,
                        const char *path, bool overwrite,
                        saratoga_partial *left, saratoga_range **ranges);
/* Puts the octets on the disk, then the map, which may name no others.  Returns
 * 0, or UV_E... when the octets did not reach the disk; a map that cannot be
 * written leaves the one before.
 *
 * A sync that fails is final: the kernel reports an error once and drops the
 * pages, so that a later sync says nothing about them.  From then on every call
 * fails, and what is there must be discarded. */
int saratoga__part_save(saratoga__part *p, const uint8_t *map, size_t len);
/* Shortens it. */
int saratoga__part_cut(saratoga__part *p, uint64_t size);
/* Makes it `size` octets long and puts them on the disk. */
int saratoga__part_sync(saratoga__part *p, uint64_t size,
                        const struct timespec *mtime);
/* Then gives it the name of the file it is to become, and puts that on the disk
 * with all folders up to the root.  SARATOGA__EXISTS: there is one, and it may
 * not be replaced; the partial file stays. */
int saratoga__part_publish(saratoga__part *p);
void saratoga__part_discard(saratoga__part *p);
void saratoga__part_close(saratoga__part *p);

#endif /* LIBSARATOGA_NODE_PART_H */
