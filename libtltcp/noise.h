/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_NOISE_H
#define LIBTLTCP_NOISE_H

#include "libtltcp/aead.h"

/* The handshake Noise_NNpsk0_25519_<cipher>_SHA256 (Noise protocol framework,
 * revision 34), two messages:
 *
 *   initiator  -> psk, e   payload
 *   responder  <- e, ee    payload
 */

/* What a message is longer than its payload: a public key and a tag. */
#define TLTCP__NOISE_OVERHEAD (TLTCP__KEY_LEN + TLTCP__TAG_LEN)

typedef struct tltcp__noise {
    uint8_t ck[TLTCP__KEY_LEN];
    uint8_t h[TLTCP__KEY_LEN];
    uint8_t k[TLTCP__KEY_LEN];
    uint8_t e[TLTCP__KEY_LEN];    /* own ephemeral secret */
    uint8_t peer[TLTCP__KEY_LEN]; /* the other's ephemeral public key */
    uint64_t n;
    uint8_t suite;
} tltcp__noise;

/* psk and e are keys of 32 bytes. */
bool tltcp__noise_init(tltcp__noise *s, uint8_t suite, const uint8_t *psk,
                       const void *prologue, size_t len, const uint8_t *e);
/* First or second message into out, which has room for
 * len + TLTCP__NOISE_OVERHEAD bytes. */
bool tltcp__noise_write(tltcp__noise *s, bool second, const void *payload,
                        size_t len, uint8_t *out);
/* The payload of the other's message into out (len - TLTCP__NOISE_OVERHEAD
 * bytes); when false, s is as before. */
bool tltcp__noise_read(tltcp__noise *s, bool second, const uint8_t *msg,
                       size_t len, uint8_t *out);
/* After both messages: keys of the initiator's and the responder's packets. */
bool tltcp__noise_split(const tltcp__noise *s, uint8_t *initiator,
                        uint8_t *responder);
void tltcp__noise_clear(tltcp__noise *s);

#endif /* LIBTLTCP_NOISE_H */
