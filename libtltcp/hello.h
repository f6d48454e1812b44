/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_HELLO_H
#define LIBTLTCP_HELLO_H

#include <tltcp/config.h>

#include "libtltcp/chunk.h"
#include "libtltcp/noise.h"
#include "libtltcp/seal.h"

/* The secured handshake: NOISE chunks in INITIAL and ANSWER.
 *
 *   INITIAL  flags: cipher; body: u64 key id, first Noise message whose payload
 *            is the PARAMS chunk
 *   ANSWER   body: second message; payload: u64 id of the server, then PARAMS
 *            or CLOSE
 *
 * A message is made once and repeated as it is: a second one with other
 * contents would use a nonce twice. */

typedef struct tltcp__key {
    uint8_t key[TLTCP__KEY_LEN];
    uint64_t id; /* by which a listener finds it; tells nothing of it */
} tltcp__key;

#define TLTCP__HELLO_MAX 768u
#define TLTCP__KEYS_MAX 16 /* of a listener */

typedef struct tltcp__hello {
    tltcp__noise noise;
    tltcp__key key;
    uint8_t msg[TLTCP__HELLO_MAX]; /* own, as sent */
    size_t len;                    /* 0: not made yet */
    uint8_t suite;
} tltcp__hello;

/* The keys that a config names, at most max; the first is a caller's own.
 * Returns how many, or TLTCP_ERR_NOMEM. */
int tltcp__keys_take(const tltcp_config *cfg, tltcp__key *keys, int max);

void tltcp__keys_clear(tltcp__key *keys, int n);

/* Makes the caller's first message. */
bool tltcp__hello_call(tltcp__hello *h, uint64_t own_id, const uint8_t *e,
                       const void *payload, size_t len);
/* Opens a caller's message with the key it names, out of n keys.  0,
 * TLTCP_ERR_AUTH or TLTCP_ERR_NOMEM. */
int tltcp__hello_take_call(tltcp__hello *h, const tltcp__chunk *k,
                           uint64_t caller_id, const tltcp__key *keys, int n,
                           const uint8_t *e, uint8_t *payload, size_t *len);
/* Makes the listener's message. */
bool tltcp__hello_answer(tltcp__hello *h, uint64_t own_id, const void *payload,
                         size_t len);
/* Opens the listener's message, which must name it as peer_id. */
bool tltcp__hello_take_answer(tltcp__hello *h, const tltcp__chunk *k,
                              uint64_t peer_id, uint8_t *payload, size_t *len);
/* Puts the message made into a packet. */
void tltcp__hello_put(const tltcp__hello *h, cmn__writer *w);
/* The packets' protection, once both messages are known. */
tltcp__seal *tltcp__hello_seal(const tltcp__hello *h, const cmn__mem *mem,
                               bool caller, size_t room, uint64_t limit);
void tltcp__hello_free(tltcp__hello *h, const cmn__mem *mem);

#endif /* LIBTLTCP_HELLO_H */
