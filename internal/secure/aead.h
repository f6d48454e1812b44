/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SECURE_AEAD_H
#define SECURE_AEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "internal/secure/cipher.h"

/* The two ciphers of the secured mode and their key derivation, on libcrypto.
 */

enum sec__suite { SEC__AES_GCM = 1, SEC__CHACHA_POLY = 2 };

#define SEC__KEY_LEN 32u
#define SEC__TAG_LEN 16u
#define SEC__NONCE_LEN 12u

/* The faster cipher on this machine. */
uint8_t sec__suite_preferred(void);
bool sec__suite_known(uint8_t suite);

/* The nonce for number n (Noise, sections 12.3 and 12.4). */
void sec__aead_nonce(uint8_t suite, uint64_t n, uint8_t *out);
/* A cipher with its key, or NULL. */
sec__cipher *sec__aead_new(uint8_t suite, const uint8_t *key, bool seal);
/* Seals len bytes from in to out, which may be the same, and appends the
 * tag. */
bool sec__aead_seal(sec__cipher *c, const uint8_t *nonce, const uint8_t *ad,
                    size_t ad_len, const uint8_t *in, size_t len, uint8_t *out);
/* Opens; len includes the tag. */
bool sec__aead_open(sec__cipher *c, const uint8_t *nonce, const uint8_t *ad,
                    size_t ad_len, const uint8_t *in, size_t len, uint8_t *out);
/* One message with a one-time key; len is that of in. */
bool sec__aead_seal_once(uint8_t suite, const uint8_t *key, uint64_t nonce,
                         const uint8_t *ad, size_t ad_len, const uint8_t *in,
                         size_t len, uint8_t *out);
bool sec__aead_open_once(uint8_t suite, const uint8_t *key, uint64_t nonce,
                         const uint8_t *ad, size_t ad_len, const uint8_t *in,
                         size_t len, uint8_t *out);

/* HKDF of Noise: `count` outputs of 32 bytes, 1 to 3. */
bool sec__hkdf(const uint8_t *ck, const uint8_t *input, size_t len,
               uint8_t out[][SEC__KEY_LEN], unsigned count);

#endif /* SECURE_AEAD_H */
