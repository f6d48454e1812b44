/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_SECRET_H
#define LIBTLTCP_SECRET_H

#include <tltcp/conn.h>

/* Unpredictable numbers and address tokens from a seed of the driver's:
 * HMAC-SHA-256 with the seed as key. */
typedef struct tltcp__secret {
    uint8_t key[TLTCP_SEED_LEN];
    uint64_t counter;
} tltcp__secret;

/* Keys of address tokens.  A key is used for a minute; the one before stays
 * good for what it has signed. */
typedef struct tltcp__tokens {
    uint8_t key[TLTCP_SEED_LEN];
    uint8_t before[TLTCP_SEED_LEN];
    tltcp_time since; /* when `key` was made */
} tltcp__tokens;

#define TLTCP__TOKEN_LEN 24u /* time and half an HMAC */

void tltcp__secret_init(tltcp__secret *s, const uint8_t *seed);
/* Wipes the key. */
void tltcp__secret_clear(tltcp__secret *s);
/* The next unpredictable number, never 0. */
uint64_t tltcp__secret_next(tltcp__secret *s);
/* A seed for something that hangs off this one. */
void tltcp__secret_derive(tltcp__secret *s, uint8_t *seed);

void tltcp__tokens_init(tltcp__tokens *t, tltcp__secret *s, tltcp_time now);
/* Wipes the keys. */
void tltcp__tokens_clear(tltcp__tokens *t);
/* A token that only someone at `path` who calls himself `id` can return. */
void tltcp__tokens_make(tltcp__tokens *t, tltcp__secret *s, uint64_t path,
                        uint64_t id, tltcp_time now, uint8_t *token);
bool tltcp__tokens_valid(const tltcp__tokens *t, uint64_t path, uint64_t id,
                         tltcp_time now, const uint8_t *token, size_t len);

#endif /* LIBTLTCP_SECRET_H */
