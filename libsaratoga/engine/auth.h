/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_AUTH_H
#define LIBSARATOGA_AUTH_H

#include <saratoga/config.h>

#include "internal/common/mem.h"
#include "internal/common/rng.h"
#include "libsaratoga/engine/challenge.h"

/* The authentication field of peers that share a key.
 *
 * In a REQUEST it is bound to the server by a challenge of the server's:
 *
 *   format 2 (1 octet) | Id of the challenge (4) | challenge (16) | nonce (8) |
 *   HMAC-SHA-256 (32)
 *
 * Where nobody can answer with a challenge (a REQUEST to a group, a no-op, the
 * STATUS that ends a take or give) it is bound to the time:
 *
 *   format 1 (1 octet) | time (8) | nonce (8) | HMAC-SHA-256 (32)
 *
 * The HMAC covers a label, the length of the packet without the field, its
 * octets from the first through the path (of a STATUS: through In-Response-To),
 * and the field in front of the HMAC.  Addresses are left out of the
 * pseudo-header: a sender does not know which of its own a packet will bear,
 * and NATs change it.  Each field is good once. */
#define SARATOGA__AUTH_LEN ((size_t)49)  /* format 1 */
#define SARATOGA__BOUND_LEN ((size_t)61) /* format 2 */

/* The octets of a packet that its authentication covers, and that field. */
typedef struct saratoga__signed {
    const uint8_t *packet;
    size_t len;
    const uint8_t *field;
    size_t field_len;
} saratoga__signed;

typedef struct saratoga__auth_seen {
    uint64_t time;
    uint64_t nonce;
} saratoga__auth_seen;

/* The fields that were accepted, as far as remembered. */
typedef struct saratoga__auth_memory {
    saratoga__auth_seen *seen; /* ring */
    uint32_t count;
    uint32_t next;
    uint64_t floor; /* what is not newer may have been forgotten */
} saratoga__auth_memory;

typedef struct saratoga__auth {
    const cmn__mem *mem;
    uint8_t key[SARATOGA_KEY_MAX];
    size_t key_len; /* 0: no field is asked for */
    saratoga_time window;
    saratoga__auth_memory timed; /* its floor begins where this engine did */
    saratoga__auth_memory bound;
} saratoga__auth;

enum saratoga__verdict {
    SARATOGA__GENUINE,
    SARATOGA__FORGED, /* or without the field, or from another time */
    SARATOGA__REPLAYED,
    SARATOGA__UNBOUND /* genuine, but without a valid challenge */
};

void saratoga__auth_init(saratoga__auth *a, const cmn__mem *mem,
                         const saratoga_config *c, uint64_t time);
void saratoga__auth_free(saratoga__auth *a);

/* --- Bound to the time --------------------------------------------------- */

/* Writes the field for a packet, from the octets before it. */
void saratoga__auth_write(const saratoga__auth *a, const uint8_t *packet,
                          size_t len, uint64_t time, cmn__rng *rng,
                          uint8_t *out);
/* Checks a field and records a genuine one. */
enum saratoga__verdict saratoga__auth_judge(saratoga__auth *a,
                                            const saratoga__signed *s,
                                            uint64_t time);

/* --- Bound to a challenge ------------------------------------------------ */

/* Writes the field; c: the server's challenge, zeroed while none is known. */
void saratoga__auth_bind(const saratoga__auth *a, const uint8_t *packet,
                         size_t len, const saratoga__challenge *c,
                         cmn__rng *rng, uint8_t *out);
/* Whether the writer of the field has the key. Also gives the nonce and the
 * challenge, which may be that of another server. */
bool saratoga__auth_is_bound(const saratoga__auth *a, const saratoga__signed *s,
                             saratoga__challenge *c, uint64_t *nonce);
/* Remembers a field whose challenge was made at that time. */
enum saratoga__verdict saratoga__auth_spend(saratoga__auth *a, uint64_t time,
                                            uint64_t nonce);

#endif /* LIBSARATOGA_AUTH_H */
