/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SECURE_GCM_H
#define SECURE_GCM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* AES-256-GCM by Intel's ipsec-mb, where it was found when this was built and
 * the processor has the instructions for AES.  With VAES it is much faster than
 * libcrypto 3.0 (docs/measurements/sealing.md). The output is the same.
 *
 * A key works in one direction.  Lengths are in bytes; the nonce has
 * SEC__NONCE_LEN, the tag SEC__TAG_LEN (secure/aead.h). */

typedef struct sec__gcm sec__gcm;

/* Whether there is one.  The first call of a process takes some milliseconds,
 * because the library tests itself. */
bool sec__gcm_available(void);
/* A key of SEC__KEY_LEN bytes; NULL when there is none or no memory. */
sec__gcm *sec__gcm_new(const uint8_t *key, bool seal);
/* Wipes the key. */
void sec__gcm_free(sec__gcm *g);
/* len bytes from in to out, which may be the same, and the tag behind them.
 * False with a key for opening. */
bool sec__gcm_seal(const sec__gcm *g, const uint8_t *nonce, const uint8_t *ad,
                   size_t ad_len, const uint8_t *in, size_t len, uint8_t *out);
/* The other way; len includes the tag.  False when forged: then out is zero. */
bool sec__gcm_open(const sec__gcm *g, const uint8_t *nonce, const uint8_t *ad,
                   size_t ad_len, const uint8_t *in, size_t len, uint8_t *out);

#endif /* SECURE_GCM_H */
