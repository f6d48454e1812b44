/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SECURE_CIPHER_H
#define SECURE_CIPHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An AEAD cipher of libcrypto with one key, in one direction.
 *
 * Uses the functions that libcrypto's providers publish for its front end
 * (provider-cipher(7)). The front end itself, EVP, searches its parameters at
 * every step, which costs 2 to 4 % per packet. */

typedef struct sec__cipher sec__cipher;

/* The cipher of this name; NULL: not available, or out of memory. */
sec__cipher *sec__cipher_new(const char *name, const uint8_t *key,
                             size_t key_len, bool seal);
void sec__cipher_free(sec__cipher *c);
/* A parameter by its name in openssl/core_names.h. */
bool sec__cipher_set(sec__cipher *c, const char *name, const void *value,
                     size_t len);
bool sec__cipher_get(sec__cipher *c, const char *name, void *value, size_t len);
/* Processes one TLS record (see secure/record.h) at io, in place. */
bool sec__cipher_record(sec__cipher *c, const uint8_t *ad, size_t ad_len,
                        uint8_t *io, size_t len);
/* Process one message: its nonce, its associated data (out is NULL), its text
 * (in and out may be equal), and the end. */
bool sec__cipher_begin(sec__cipher *c, const uint8_t *nonce, size_t len);
bool sec__cipher_update(sec__cipher *c, uint8_t *out, const uint8_t *in,
                        size_t len);
bool sec__cipher_end(sec__cipher *c);

#endif /* SECURE_CIPHER_H */
