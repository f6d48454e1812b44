/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_AUTH_H
#define LIBSARATOGA_AUTH_H

#include <saratoga/config.h>

#include "internal/common/mem.h"
#include "internal/common/rng.h"

/* The authentication field of a REQUEST, and of the STATUS that ends a take or
 * give, for peers that share a key:
 *
 *   format 1 (1 octet) | time (8) | nonce (8) | HMAC-SHA-256 (32)
 *
 * The HMAC covers a label, the length of the packet without the field, its
 * octets from the first through the path (of a STATUS: through In-Response-To),
 * and the field in front of the HMAC. The HMAC does not cover addresses: a
 * sender does not know which of its addresses a packet will carry, and NATs
 * change it. Instead, each pair of time (POSIX, ns) and nonce is valid once. */
#define SARATOGA__AUTH_LEN ((size_t)49)

typedef struct saratoga__auth_seen {
    uint64_t time;
    uint64_t nonce;
} saratoga__auth_seen;

typedef struct saratoga__auth {
    const cmn__mem *mem;
    uint8_t key[SARATOGA_KEY_MAX];
    size_t key_len; /* 0: no authentication required */
    saratoga_time window;
    saratoga__auth_seen *seen; /* ring of those accepted */
    uint32_t count;
    uint32_t next;
    uint64_t floor; /* fields not newer than this may have been forgotten, or
                       sent before this engine started */
} saratoga__auth;

enum saratoga__verdict {
    SARATOGA__GENUINE,
    SARATOGA__FORGED, /* or without the field, or outside the time window */
    SARATOGA__REPLAYED
};

void saratoga__auth_init(saratoga__auth *a, const cmn__mem *mem,
                         const saratoga_config *c, uint64_t time);
void saratoga__auth_free(saratoga__auth *a);
/* Writes the field for a packet, given the octets in front of it. */
void saratoga__auth_write(const saratoga__auth *a, const uint8_t *packet,
                          size_t len, uint64_t time, cmn__rng *rng,
                          uint8_t *out);
/* Checks a field and records a genuine one. */
enum saratoga__verdict saratoga__auth_judge(saratoga__auth *a,
                                            const uint8_t *packet, size_t len,
                                            const uint8_t *field,
                                            size_t field_len, uint64_t time);

#endif /* LIBSARATOGA_AUTH_H */
