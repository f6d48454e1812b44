/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SECURE_NOISE_H
#define SECURE_NOISE_H

#include "internal/secure/aead.h"

/* The handshake Noise_NKpsk0_25519_<cipher>_SHA256 (Noise protocol framework,
 * revision 34), two messages after the responder's key is known:
 *
 *   responder  <- s
 *   ...
 *   initiator  -> psk, e, es   payload
 *   responder  <- e, ee        payload
 *
 * Here s lives for a minute, so that even the first payload stays secret if the
 * psk is disclosed later. */

/* Overhead of a message: a public key and a tag. */
#define SEC__NOISE_OVERHEAD (SEC__KEY_LEN + SEC__TAG_LEN)

typedef struct sec__noise {
    uint8_t ck[SEC__KEY_LEN];
    uint8_t h[SEC__KEY_LEN];
    uint8_t k[SEC__KEY_LEN];
    uint8_t s[SEC__KEY_LEN];    /* responder's static key: secret at the
                                   responder, public at the initiator */
    uint8_t e[SEC__KEY_LEN];    /* own ephemeral secret */
    uint8_t peer[SEC__KEY_LEN]; /* the other's ephemeral public key */
    uint64_t n;
    uint8_t suite;
} sec__noise;

typedef struct sec__noise_terms {
    const uint8_t *psk; /* 32 bytes, as all keys */
    const void *prologue;
    size_t prologue_len;
    const uint8_t *public_key; /* the responder's s */
    const uint8_t *secret_key; /* its secret; NULL at the initiator */
    const uint8_t *e;          /* own ephemeral secret */
    uint8_t suite;
} sec__noise_terms;

/* SHA-256: 32 bytes.  False without memory. */
bool sec__noise_hash(const void *data, size_t len, uint8_t *out);
/* The public key of a secret one. */
bool sec__noise_public(const uint8_t *secret, uint8_t *out);
bool sec__noise_init(sec__noise *s, const sec__noise_terms *t);
/* Writes the first or second message into out, which has room for len +
 * SEC__NOISE_OVERHEAD bytes. */
bool sec__noise_write(sec__noise *s, bool second, const void *payload,
                      size_t len, uint8_t *out);
/* Reads the payload of the peer's message into out (len - SEC__NOISE_OVERHEAD
 * bytes). False: s is unchanged. */
bool sec__noise_read(sec__noise *s, bool second, const uint8_t *msg, size_t len,
                     uint8_t *out);
/* After both messages: keys of the initiator's and the responder's packets. */
bool sec__noise_split(const sec__noise *s, uint8_t *initiator,
                      uint8_t *responder);
void sec__noise_clear(sec__noise *s);

#endif /* SECURE_NOISE_H */
