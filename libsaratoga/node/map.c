/* SPDX-License-Identifier: MPL-2.0 */
/* Encodes and decodes the map of a partial file. */
#include "libsaratoga/node/map.h"

#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "internal/common/crc32c.h"

/* Magic, size, times, flags, widths, checksum and its bytes, range count. */
#define HEAD ((size_t)(8 + 8 + 4 + 4 + 1 + 1 + 2 + SARATOGA_CHECKSUM_MAX + 4))
#define RANGE ((size_t)16)
#define CRC ((size_t)4)
/* The path follows the head, including its NUL. */
#define PATH ((size_t)SARATOGA_PATH_MAX)

static const uint8_t magic[8] = {'S', 'a', 'r', 'M', 'a', 'p', '1', '\n'};

static void map_put(uint8_t **at, uint64_t value, unsigned octets) {
    for (unsigned i = octets; i-- > 0;) {
        *(*at)++ = (uint8_t)(value >> (8 * i));
    }
}

static uint64_t get(const uint8_t **at, unsigned octets) {
    uint64_t value = 0;

    for (unsigned i = 0; i < octets; i++) {
        value = value << 8 | *(*at)++;
    }
    return value;
}

static void put_head(uint8_t **at, const saratoga_partial *p) {
    memcpy(*at, magic, sizeof(magic));
    *at += sizeof(magic);
    map_put(at, p->entry.size, 8);
    map_put(at, p->entry.mtime, 4);
    map_put(at, p->entry.ctime, 4);
    map_put(at,
            (p->entry.directory ? 1u : 0) | (p->entry.special ? 2u : 0) |
                (p->entry.lite ? 4u : 0),
            1);
    map_put(at, p->entry.descriptor, 1);
    map_put(at, p->checksum, 2);
    memcpy(*at, p->digest, sizeof(p->digest));
    *at += sizeof(p->digest);
    map_put(at, p->count, 4);
    memcpy(*at, p->entry.path, PATH);
    *at += PATH;
}

static void get_head(const uint8_t **at, saratoga_partial *p) {
    uint64_t flags;

    p->entry.size = get(at, 8);
    p->entry.mtime = (uint32_t)get(at, 4);
    p->entry.ctime = (uint32_t)get(at, 4);
    flags = get(at, 1);
    p->entry.directory = (flags & 1u) != 0;
    p->entry.special = (flags & 2u) != 0;
    p->entry.lite = (flags & 4u) != 0;
    p->entry.descriptor = (uint32_t)get(at, 1);
    p->checksum = (uint32_t)get(at, 2);
    memcpy(p->digest, *at, sizeof(p->digest));
    *at += sizeof(p->digest);
    p->count = (size_t)get(at, 4);
    memcpy(p->entry.path, *at, PATH);
    p->entry.path[PATH - 1] = '\0';
    *at += PATH;
}

uint8_t *saratoga__map_encode(const saratoga_partial *p, size_t *len) {
    size_t want = HEAD + PATH + p->count * RANGE + CRC;
    uint8_t *map = malloc(want);
    uint8_t *at = map;

    if (map == NULL) {
        return NULL;
    }
    put_head(&at, p);
    for (size_t i = 0; i < p->count; i++) {
        map_put(&at, p->ranges[i].start, 8);
        map_put(&at, p->ranges[i].end, 8);
    }
    map_put(&at, cmn__crc32c(0, map, (size_t)(at - map)), 4);
    *len = want;
    return map;
}

/* Ranges must be ascending, disjoint and inside the file: otherwise the map is
 * not ours. */
static int take_ranges(const uint8_t *at, uint64_t size, saratoga_partial *p,
                       saratoga_range *out) {
    uint64_t last = 0;
    size_t n = 0;

    for (size_t i = 0; i < p->count; i++) {
        saratoga_range r;

        r.start = get(&at, 8);
        r.end = get(&at, 8);
        if (r.start < last || r.end <= r.start) {
            return UV_EINVAL;
        }
        last = r.end;
        r.end = r.end < size ? r.end : size;
        if (r.start < r.end) {
            out[n++] = r;
        }
    }
    p->ranges = out;
    p->count = n;
    return 0;
}

int saratoga__map_decode(const uint8_t *map, size_t len, uint64_t size,
                         saratoga_partial *p, saratoga_range **ranges) {
    const uint8_t *at = map + sizeof(magic);
    const uint8_t *crc;
    int rv;

    *ranges = NULL;
    memset(p, 0, sizeof(*p));
    if (len < HEAD + PATH + CRC || memcmp(map, magic, sizeof(magic)) != 0) {
        return UV_EINVAL;
    }
    crc = map + len - CRC;
    get_head(&at, p);
    if (p->count > SARATOGA__RANGES_MAX ||
        len != HEAD + PATH + p->count * RANGE + CRC ||
        get(&crc, 4) != cmn__crc32c(0, map, len - CRC)) {
        return UV_EINVAL;
    }
    *ranges = malloc((p->count + 1) * sizeof(**ranges));
    if (*ranges == NULL) {
        return UV_ENOMEM;
    }
    rv = take_ranges(at, size, p, *ranges);
    if (rv != 0) {
        free(*ranges);
        *ranges = NULL;
    }
    return rv;
}
