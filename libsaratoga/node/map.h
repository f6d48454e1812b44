/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_MAP_H
#define LIBSARATOGA_NODE_MAP_H

#include <stddef.h>
#include <stdint.h>

#include <saratoga/transfer.h>

/*
 * What is kept beside a partial file, so that a later session can go on: what
 * the sender said about the file, and which bytes are there.  The coding ends
 * with a CRC-32C; anything that does not fit is as good as no map.  Pure but
 * for memory.
 */

/* Ranges that a map may name. */
#define SARATOGA__RANGES_MAX 262144u

/* Codes it into memory from malloc(); NULL: none left. */
uint8_t *saratoga__map_encode(const saratoga_partial *p, size_t *len);
/* Reads a map into `p`, its ranges into memory from malloc() (*ranges).  Bytes
 * from `size` on are left out: the partial file ends there.  Returns 0,
 * UV_EINVAL or UV_ENOMEM. */
int saratoga__map_decode(const uint8_t *map, size_t len, uint64_t size,
                         saratoga_partial *p, saratoga_range **ranges);

#endif /* LIBSARATOGA_NODE_MAP_H */
