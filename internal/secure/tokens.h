/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SECURE_TOKENS_H
#define SECURE_TOKENS_H

#include "internal/common/mem.h"
#include "internal/secure/aead.h"
#include "internal/secure/mac.h"
#include "internal/secure/secret.h"

/* Address tokens: a truncated HMAC over the address and the time. With them, a
 * listener with a key hands out a Diffie-Hellman key, which lives as long as
 * the token key, and accepts each token once. */

#define SEC__TOKEN_LEN 24u /* time and half an HMAC */

typedef struct sec__token_keys {
    sec__mac *mac; /* NULL: no token is valid */
    uint8_t secret[SEC__KEY_LEN];
    uint8_t public_key[SEC__KEY_LEN];
} sec__token_keys;

typedef struct sec__spent sec__spent;

/* Keys are used for a minute. The previous ones stay valid for their tokens;
 * they are wiped when the first token is made after those have expired. */
typedef struct sec__tokens {
    sec__token_keys now;
    sec__token_keys before;
    uint64_t since; /* when `now` was created */
    uint64_t floor; /* older tokens may have been used */
    sec__spent *spent;
    bool paired; /* paired with Diffie-Hellman keys */
} sec__tokens;

/* The holder of a token. */
typedef struct sec__bearer {
    uint64_t path;
    uint64_t id; /* its connection id */
} sec__bearer;

void sec__tokens_init(sec__tokens *t, sec__secret *s, bool paired,
                      uint64_t now);
/* Wipes the keys. */
void sec__tokens_clear(sec__tokens *t, const cmn__mem *mem);
/* Renews the keys and wipes old ones, when due. */
void sec__tokens_age(sec__tokens *t, sec__secret *s, uint64_t now);
/* A token that only `to` can return. */
void sec__tokens_make(sec__tokens *t, sec__secret *s, const sec__bearer *to,
                      uint64_t now, uint8_t *token);
/* The keys with which the token was made; NULL: invalid. */
const sec__token_keys *sec__tokens_keys(const sec__tokens *t,
                                        const sec__bearer *from, uint64_t now,
                                        const uint8_t *token, size_t len);
/* Marks a valid token as used. False if it is used already, or without
 * memory. */
bool sec__tokens_spend(sec__tokens *t, const cmn__mem *mem,
                       const uint8_t *token, uint64_t now);

#endif /* SECURE_TOKENS_H */
