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
 * psk is disclosed later.
 *
 * With static keys, Noise_IKpsk0+offer_25519_<cipher>_SHA256: IKpsk0, in which
 * s is the responder's static key, and the key of the offer is o.  The token
 * eo is the Diffie-Hellman of e and o:
 *
 *   responder  <- s
 *   responder  <- o
 *   ...
 *   initiator  -> psk, e, eo, es, s, ss   payload
 *   responder  <- e, ee, se               payload */

/* Overhead of a message: a public key and a tag. */
#define SEC__NOISE_OVERHEAD (SEC__KEY_LEN + SEC__TAG_LEN)
/* Added to the first message by static keys: the initiator's, and a tag. */
#define SEC__NOISE_STATIC (SEC__KEY_LEN + SEC__TAG_LEN)

/* The public key is kept beside the secret one, since to compute it takes as
 * long as a Diffie-Hellman. */
typedef struct sec__pair {
    uint8_t secret[SEC__KEY_LEN];
    uint8_t public_key[SEC__KEY_LEN];
} sec__pair;

typedef struct sec__noise {
    uint8_t ck[SEC__KEY_LEN];
    uint8_t h[SEC__KEY_LEN];
    uint8_t k[SEC__KEY_LEN];
    sec__pair s;                 /* responder's static key; its secret only at
                                    the responder */
    sec__pair e;                 /* own ephemeral key; its public key once the
                                    own message was written */
    uint8_t peer[SEC__KEY_LEN];  /* the other's ephemeral public key */
    sec__pair identity;          /* own static key */
    uint8_t other[SEC__KEY_LEN]; /* the other's static public key; the
                                    responder reads it in the first message */
    uint64_t n;
    uint8_t suite;
    bool mutual; /* with static keys */
} sec__noise;

/* Static keys of one end. */
typedef struct sec__statics {
    const uint8_t *secret;     /* own secret key; NULL: without static keys */
    const uint8_t *public_key; /* own public key */
    const uint8_t *listener;   /* the responder's public key */
} sec__statics;

typedef struct sec__noise_terms {
    const uint8_t *psk; /* 32 bytes, as all keys */
    const void *prologue;
    size_t prologue_len;
    const uint8_t *public_key; /* the responder's s */
    const uint8_t *secret_key; /* its secret; NULL at the initiator */
    const uint8_t *e;          /* own ephemeral secret */
    sec__statics statics;
    uint8_t suite;
} sec__noise_terms;

/* SHA-256: 32 bytes.  False without memory. */
bool sec__noise_hash(const void *data, size_t len, uint8_t *out);
bool sec__noise_init(sec__noise *s, const sec__noise_terms *t);
/* What a message adds to its payload, in bytes. */
size_t sec__noise_overhead(const sec__noise *s, bool second);
/* Writes the first or second message into out, which has room for len and the
 * overhead. */
bool sec__noise_write(sec__noise *s, bool second, const void *payload,
                      size_t len, uint8_t *out);
/* Reads the payload of the peer's message into out (len less the overhead).
 * False: s is unchanged. */
bool sec__noise_read(sec__noise *s, bool second, const uint8_t *msg, size_t len,
                     uint8_t *out);
/* After both messages: keys of the initiator's and the responder's packets. */
bool sec__noise_split(const sec__noise *s, uint8_t *initiator,
                      uint8_t *responder);
void sec__noise_clear(sec__noise *s);

#endif /* SECURE_NOISE_H */
