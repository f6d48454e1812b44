/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SECURE_HELLO_H
#define SECURE_HELLO_H

#include "internal/common/wire.h"
#include "internal/secure/keys.h"
#include "internal/secure/noise.h"
#include "internal/secure/packet.h"
#include "internal/secure/seal.h"
#include "internal/secure/tokens.h"

/* The secured handshake (docs/protocols/tltcp.md, section 12).
 *
 *   INITIAL  NOISE, empty
 *   RETRY    a token and an OFFER: u32 number of the INITIAL, the listener's
 *            salt, its Diffie-Hellman key of this minute
 *   INITIAL  the token; NOISE: the cipher, and whether there are static keys;
 * 16 bytes of CMAC over a digest of all that counts, first Noise message with
 * the caller's payload ANSWER   NOISE: second message; payload: u64 id of the
 * server, then its own
 *
 * A message is made once and repeated unchanged: a second one with other
 * contents would reuse a nonce. */

#define SEC__HELLO_MAX 768u
#define SEC__OFFER_LEN (4u + SEC__SALT_LEN + SEC__KEY_LEN)

typedef struct sec__hello {
    sec__noise noise;
    uint8_t msg[SEC__HELLO_MAX]; /* own message, as sent */
    size_t len;                  /* 0: not yet made */
    uint32_t first_pn;           /* caller: number of the first INITIAL with the
                                    message */
    uint8_t suite;
    uint8_t key; /* listener: place of the caller's key in the ring */
} sec__hello;

/* A listener's offer to a caller. */
typedef struct sec__offer {
    uint32_t pn; /* number of the INITIAL that this answers */
    uint8_t salt[SEC__SALT_LEN];
    uint8_t public_key[SEC__KEY_LEN];
} sec__offer;

/* Flag of a NOISE chunk beside the cipher: with static keys. */
#define SEC__HELLO_MUTUAL 0x80u

/* Values that the handshake authenticates at both ends. */
typedef struct sec__terms {
    uint32_t version; /* of the protocol */
    uint64_t caller_id;
    const uint8_t *token;
    size_t token_len;
    const uint8_t *salt;
    const uint8_t *public_key; /* offered with the token */
    sec__statics statics;      /* own static keys */
} sec__terms;

/* A received message. */
typedef struct sec__hello_msg {
    const uint8_t *body;
    size_t len;
    uint8_t suite; /* of the first */
    bool mutual;   /* likewise */
} sec__hello_msg;

enum sec__hello_result {
    SEC__HELLO_FINE,
    SEC__HELLO_WRONG,
    SEC__HELLO_FORGED, /* the key is proven, and the message does not open */
    SEC__HELLO_NOMEM
};

/* Writes the message as a chunk. */
void sec__hello_put(cmn__writer *w, const sec__hello *h);
/* Reads the first chunk of a packet. False if that is not a hello. */
bool sec__hello_get(const sec__packet *p, sec__hello_msg *m);
void sec__offer_put(cmn__writer *w, const sec__offer *o);
/* Reads the offer of a RETRY. False if there is none. */
bool sec__offer_get(const sec__packet *p, sec__offer *o);

/* Makes the caller's first message. */
bool sec__hello_call(sec__hello *h, const sec__terms *t, const sec__key *key,
                     const uint8_t *e, const void *payload, size_t len);
/* Whether the offer may answer the current message, and not an earlier one. */
bool sec__hello_is_answered(const sec__hello *h, const sec__offer *o);
/* The keys with which a listener opens calls. */
typedef struct sec__keyring {
    const sec__key *keys;
    int n;
    const uint8_t *secret; /* secret of the public key in the terms */
    sec__secret *source;   /* source of an ephemeral key, for a caller that has
                              proven its key */
    sec__statics statics;  /* with a secret: each caller must have static keys,
                              else none may */
} sec__keyring;

/* Opens a caller's message with the key that fits.  A caller that has none of
 * them costs a CMAC of 32 bytes for each. */
enum sec__hello_result sec__hello_take_call(sec__hello *h,
                                            const sec__hello_msg *m,
                                            const sec__terms *t,
                                            const sec__keyring *ring,
                                            uint8_t *payload, size_t *len);
/* Makes the listener's message. */
bool sec__hello_answer(sec__hello *h, uint64_t own_id, const void *payload,
                       size_t len);
/* Opens the listener's message, which must name it as peer_id. */
bool sec__hello_take_answer(sec__hello *h, const sec__hello_msg *m,
                            uint64_t peer_id, uint8_t *payload, size_t *len);
/* The static public key of the other end, after its message. NULL: none. */
const uint8_t *sec__hello_identity(const sec__hello *h);
/* Creates the packet protection, once both messages are known. */
sec__seal *sec__hello_seal(const sec__hello *h, const cmn__mem *mem,
                           bool caller, size_t room, uint64_t limit);
void sec__hello_free(sec__hello *h, const cmn__mem *mem);

#endif /* SECURE_HELLO_H */
