/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SECURE_CURVE_H
#define SECURE_CURVE_H

#include <stdbool.h>
#include <stdint.h>

/* X25519 (RFC 7748) of libcrypto.
 *
 * Uses the functions that libcrypto's providers publish for its front end
 * (provider-keymgmt(7), provider-keyexch(7)). The front end itself, EVP, looks
 * through the names of all algorithms for each key, which costs a fifth of the
 * time of a Diffie-Hellman. Where the provider of X25519 lacks one of these
 * functions, or one fails, EVP decides. */

#define SEC__CURVE_LEN 32u

/* All have SEC__CURVE_LEN bytes. False for a point of low order, and without
 * memory. `public_key` is that of `secret`: without any, libcrypto would
 * compute it. */
bool sec__curve_shared(const uint8_t *secret, const uint8_t *public_key,
                       const uint8_t *peer, uint8_t *out);
/* The public key of a secret one. */
bool sec__curve_public(const uint8_t *secret, uint8_t *out);

#endif /* SECURE_CURVE_H */
