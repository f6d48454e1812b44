/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_MAP_H
#define LIBSARATOGA_NODE_MAP_H

#include <stddef.h>
#include <stdint.h>

#include <saratoga/transfer.h>

/*
 * The map stored beside a partial file, so that a later session can resume it:
 * the sender's description of the file, and the ranges held. The encoding ends
 * with a CRC-32C; an invalid map counts as none. No side effects other than
 * memory allocation.
 */

/* Maximum number of ranges in a map. */
#define SARATOGA__RANGES_MAX 262144u

/* Encodes a map into memory from malloc(); NULL: out of memory. */
uint8_t *saratoga__map_encode(const saratoga_partial *p, size_t *len);
/* Reads a map into `p`, its ranges into memory from malloc() (*ranges).  Ranges
 * beyond `size`, the end of the partial file, are dropped.  Returns 0,
 * UV_EINVAL or UV_ENOMEM. */
int saratoga__map_decode(const uint8_t *map, size_t len, uint64_t size,
                         saratoga_partial *p, saratoga_range **ranges);

#endif /* LIBSARATOGA_NODE_MAP_H */
