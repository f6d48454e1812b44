/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SECURE_KEY_PROOF_H
#define SECURE_KEY_PROOF_H

#include <stdbool.h>
#include <stdint.h>

#include "internal/secure/cipher.h"

/* The MAC by which a caller proves its key: AES-256-CMAC (NIST SP 800-38B) of a
 * digest.  A listener computes one for each of its keys before it knows whose
 * call it is.  Two blocks of AES take an eighth of the time of an HMAC. */

#define SEC__DIGEST_LEN 32u
#define SEC__PROOF_LEN 16u

typedef struct sec__key_proof {
    sec__cipher *cipher;          /* NULL: not made */
    uint8_t last[SEC__PROOF_LEN]; /* added to the last block; CMAC's K1 */
} sec__key_proof;

/* key: SEC__KEY_LEN bytes.  False without memory. */
bool sec__key_proof_init(sec__key_proof *p, const uint8_t *key);
/* Wipes the key. */
void sec__key_proof_clear(sec__key_proof *p);
/* digest: SEC__DIGEST_LEN bytes.  Writes SEC__PROOF_LEN bytes.  False when
 * libcrypto fails. */
bool sec__key_proof_write(const sec__key_proof *p, const uint8_t *digest,
                          uint8_t *out);

#endif /* SECURE_KEY_PROOF_H */
