/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SECURE_CARRIER_H
#define SECURE_CARRIER_H

#include "internal/common/mem.h"
#include "internal/secure/admission.h"
#include "internal/secure/keys.h"

/* Carries the datagrams of another protocol over untrusted networks: sealed,
 * between peers that share a key, in the packets of TLTCP's secured mode
 * (docs/protocols/tltcp.md, sections 3 and 12).
 *
 * Like the engines, it has no clock and no socket. The first side with data for
 * an address calls there (one round trip); either side may be the caller, even
 * both at once. Datagrams sent meanwhile are queued within limits; beyond them
 * they are lost, which the protocol above repairs. A peer that has lost the
 * session is called again after some seconds of silence.
 *
 * After the handshake, a packet's plaintext begins with a type byte:
 *
 *   1 CARGO      a datagram
 *   2 CHALLENGE  u64, to be returned
 *   3 RESPONSE   u64 of a CHALLENGE
 *   4 BYE        the session is over
 *
 * A CHALLENGE verifies that the peer has the current keys before the next ones
 * are used, and that it receives at the source address of a packet. */

/* Overhead of a sealed datagram in bytes: header, type, tag. */
#define SEC__CARRIER_OVERHEAD (SEC__SHORT_LEN + 1u + SEC__TAG_LEN)

/* Location of a peer, as tokens of the driver. */
typedef struct sec__place {
    uint64_t host;      /* token of the address */
    uint64_t path;      /* with the port */
    sec__origin origin; /* for limits */
} sec__place;

typedef struct sec__carrier_config {
    sec__key_source keys; /* copied; none: refuses every caller */
    sec__limits limits;
    uint32_t version; /* version of the carried protocol: must be equal at both
                         ends */
    size_t max_datagram;
    uint64_t rekey_packets; /* 0: well before the cipher's limit */
} sec__carrier_config;

enum sec__carried {
    SEC__NOTHING, /* dropped */
    SEC__TAKEN,   /* for the carrier itself, from a peer with a key */
    SEC__CARGO,   /* for the protocol above */
    SEC__ANSWERED /* send `word` back at once, to an unknown peer */
};

typedef struct sec__delivery {
    const uint8_t *cargo; /* valid until the next call */
    size_t len;           /* of cargo or of word */
    sec__place from;      /* identifies the peer to the protocol above, wherever
                             it is */
    uint8_t word[SEC__WORD_MAX];
} sec__delivery;

/* A rejected call. */
typedef struct sec__refused {
    sec__place peer;
    uint32_t why; /* sec__refusal */
} sec__refused;

typedef struct sec__carrier_stats {
    uint64_t sessions; /* current sessions, including half-open ones */
    uint64_t opened;
    uint64_t foreign;  /* dropped: plain, without a session, or damaged */
    uint64_t forged;   /* dropped: authentication failed */
    uint64_t repeated; /* dropped: replayed, or too old to tell */
    uint64_t lost;     /* not sent: no session yet, and no room in the queue */
    uint64_t rejected; /* callers with a wrong or missing key */
} sec__carrier_stats;

typedef struct sec__carrier sec__carrier;

/* 0, or -1 without memory. */
int sec__carrier_new(sec__carrier **out, const cmn__mem *mem,
                     const sec__carrier_config *config, const uint8_t *seed,
                     uint64_t now);
void sec__carrier_free(sec__carrier *c);

/* Jobs that the driver runs derive keys from passphrases, not the processing of
 * a datagram. */
void sec__carrier_defer_keys(sec__carrier *c);
/* Whether a call waits for a key that nobody makes yet. */
bool sec__carrier_wants_key(const sec__carrier *c);
/* Fills in the job then, to be run in any thread. */
void sec__carrier_key_job(sec__carrier *c, sec__key_job *job);
/* The job was run. */
void sec__carrier_take_key(sec__carrier *c, sec__key_job *job);

/* A datagram from the network. */
enum sec__carried sec__carrier_recv(sec__carrier *c, const sec__place *from,
                                    const uint8_t *dgram, size_t len,
                                    sec__delivery *out, uint64_t now);
/* Seals a datagram into buf, which has SEC__CARRIER_OVERHEAD more bytes.
 * Returns its length, and its destination in *path; 0: queued or lost. */
size_t sec__carrier_seal(sec__carrier *c, const sec__place *to,
                         const uint8_t *dgram, size_t len, uint8_t *buf,
                         uint64_t *path, uint64_t now);
/* The next datagram of the carrier itself, or of the queue; 0: none. `cap`: the
 * largest datagram sent, at least SEC__DATAGRAM_MIN. */
size_t sec__carrier_send(sec__carrier *c, uint8_t *buf, size_t cap,
                         uint64_t *path, uint64_t now);
/* When sec__carrier_on_timeout() is due. */
uint64_t sec__carrier_timeout(const sec__carrier *c);
void sec__carrier_on_timeout(sec__carrier *c, uint64_t now);
/* The oldest refusal not yet reported; false: none. */
bool sec__carrier_next_refusal(sec__carrier *c, sec__refused *out);
/* Ends every session: sec__carrier_send() gives the final messages. */
void sec__carrier_close(sec__carrier *c);
/* Callers with a wrong or missing key. */
uint64_t sec__carrier_rejected(const sec__carrier *c);
void sec__carrier_get_stats(const sec__carrier *c, sec__carrier_stats *st);

#endif /* SECURE_CARRIER_H */
