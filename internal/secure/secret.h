/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SECURE_SECRET_H
#define SECURE_SECRET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEC__SEED_LEN 32u
#define SEC__S UINT64_C(1000000000) /* times are ns */

/* Unpredictable numbers and address tokens from a seed of the driver's:
 * HMAC-SHA-256 with the seed as key. */
typedef struct sec__secret {
    uint8_t key[SEC__SEED_LEN];
    uint64_t counter;
} sec__secret;

struct evp_mac_ctx_st;

/* Keys of address tokens.  A key is used for a minute; the one before stays
 * good for what it has signed.  They stand ready in libcrypto: taking them up
 * for each token costs several times the token. */
typedef struct sec__tokens {
    struct evp_mac_ctx_st *key; /* NULL: no memory, and no token is valid */
    struct evp_mac_ctx_st *before;
    uint64_t since; /* when `key` was made */
} sec__tokens;

#define SEC__TOKEN_LEN 24u /* time and half an HMAC */

/* Compares in a time that tells nothing. */
bool sec__equal(const void *a, const void *b, size_t len);

/* Overwrites what must not stay in memory. */
void sec__wipe(void *p, size_t len);

void sec__secret_init(sec__secret *s, const uint8_t *seed);
/* Wipes the key. */
void sec__secret_clear(sec__secret *s);
/* The next unpredictable number; 0 only without memory. */
uint64_t sec__secret_next(sec__secret *s);
/* A seed for something that hangs off this one.  False without memory. */
bool sec__secret_derive(sec__secret *s, uint8_t *seed);
/* An ephemeral key, SEC__SEED_LEN bytes, which nothing that stays here tells
 * again: who reads the memory later cannot open what was recorded before.
 * False without memory. */
bool sec__secret_ephemeral(sec__secret *s, uint8_t *e);

void sec__tokens_init(sec__tokens *t, sec__secret *s, uint64_t now);
/* Wipes the keys. */
void sec__tokens_clear(sec__tokens *t);
/* A token that only someone at `path` who calls himself `id` can return. */
void sec__tokens_make(sec__tokens *t, sec__secret *s, uint64_t path,
                      uint64_t id, uint64_t now, uint8_t *token);
bool sec__tokens_valid(const sec__tokens *t, uint64_t path, uint64_t id,
                       uint64_t now, const uint8_t *token, size_t len);

#endif /* SECURE_SECRET_H */
