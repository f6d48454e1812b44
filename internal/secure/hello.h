/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SECURE_HELLO_H
#define SECURE_HELLO_H

#include "internal/common/wire.h"
#include "internal/secure/keys.h"
#include "internal/secure/noise.h"
#include "internal/secure/seal.h"

/* The secured handshake, in INITIAL and ANSWER.
 *
 *   INITIAL  the cipher; u64 key id, first Noise message with the caller's
 *            payload
 *   ANSWER   second message; payload: u64 id of the server, then its own
 *
 * A message is made once and repeated as it is: a second one with other
 * contents would use a nonce twice. */

#define SEC__HELLO_MAX 768u

typedef struct sec__hello {
    sec__noise noise;
    sec__key key;
    uint8_t msg[SEC__HELLO_MAX]; /* own, as sent */
    size_t len;                  /* 0: not made yet */
    uint32_t version;            /* of the protocol; set by the owner */
    uint8_t suite;
} sec__hello;

/* A message as it came. */
typedef struct sec__hello_msg {
    const uint8_t *body;
    size_t len;
    uint8_t suite; /* of the first */
} sec__hello_msg;

enum sec__hello_result { SEC__HELLO_FINE, SEC__HELLO_WRONG, SEC__HELLO_NOMEM };

/* Makes the caller's first message. */
bool sec__hello_call(sec__hello *h, uint64_t own_id, const uint8_t *e,
                     const void *payload, size_t len);
/* Opens a caller's message with the key it names, out of n keys. */
enum sec__hello_result
sec__hello_take_call(sec__hello *h, const sec__hello_msg *m, uint64_t caller_id,
                     const sec__key *keys, int n, const uint8_t *e,
                     uint8_t *payload, size_t *len);
/* Makes the listener's message. */
bool sec__hello_answer(sec__hello *h, uint64_t own_id, const void *payload,
                       size_t len);
/* Opens the listener's message, which must name it as peer_id. */
bool sec__hello_take_answer(sec__hello *h, const sec__hello_msg *m,
                            uint64_t peer_id, uint8_t *payload, size_t *len);
/* The packets' protection, once both messages are known. */
sec__seal *sec__hello_seal(const sec__hello *h, const cmn__mem *mem,
                           bool caller, size_t room, uint64_t limit);
void sec__hello_free(sec__hello *h, const cmn__mem *mem);

#endif /* SECURE_HELLO_H */
