/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SECURE_CARRIER_H
#define SECURE_CARRIER_H

#include "internal/common/mem.h"
#include "internal/secure/admission.h"
#include "internal/secure/keys.h"

/* Carries the datagrams of another protocol over networks that anybody can send
 * into: sealed, between those who share a key, in the packets of TLTCP's
 * secured mode (docs/protocols/tltcp.md, sections 3 and 12).
 *
 * Like the engines it has no clock and no socket.  Whoever first has something
 * for an address calls there (one round trip); either side may be the caller,
 * and both may be at once.  What is to leave meanwhile is kept, within limits;
 * beyond them it is lost, which the protocol above repairs.  A peer that has
 * forgotten the session is called again once it was silent for some seconds.
 *
 * After the handshake a packet's text is a byte that says what follows:
 *
 *   1 CARGO      a datagram
 *   2 CHALLENGE  u64: to be returned
 *   3 RESPONSE   u64: of a CHALLENGE
 *   4 BYE        the session is over
 *
 * A CHALLENGE asks whether the present keys have arrived, before the next ones
 * are used, and whether the peer is where a packet seemed to come from. */

/* Bytes that a sealed datagram is longer: header, kind, tag. */
#define SEC__CARRIER_OVERHEAD (SEC__SHORT_LEN + 1u + SEC__TAG_LEN)

/* Where somebody is, as the driver names it. */
typedef struct sec__place {
    uint64_t host;    /* the address */
    uint64_t path;    /* and port */
    uint64_t network; /* of the limits; 0: none */
} sec__place;

typedef struct sec__carrier_config {
    sec__key_source keys; /* copied; none: refuses every caller */
    sec__limits limits;
    uint32_t version; /* of what is carried: both must name the same */
    size_t max_datagram;
    uint64_t rekey_packets; /* 0: well before the cipher's limit */
} sec__carrier_config;

enum sec__carried {
    SEC__NOTHING, /* dropped */
    SEC__TAKEN,   /* the carrier's own affair, of somebody who has a key */
    SEC__CARGO,   /* of the protocol above */
    SEC__ANSWERED /* `word` is to go back at once, to nobody known */
};

typedef struct sec__delivery {
    const uint8_t *cargo; /* valid until the next call */
    size_t len;           /* of cargo or of word */
    sec__place from;      /* by this name it is known above, wherever it is */
    uint8_t word[SEC__WORD_MAX];
} sec__delivery;

/* A call that was turned away. */
typedef struct sec__refused {
    sec__place peer;
    uint32_t why; /* sec__refusal */
} sec__refused;

typedef struct sec__carrier_stats {
    uint64_t sessions; /* at present, those being made included */
    uint64_t opened;
    uint64_t foreign;  /* dropped: plain ones, of no session, damaged */
    uint64_t forged;   /* dropped: did not open */
    uint64_t repeated; /* dropped: seen before, or too old to tell */
    uint64_t lost;     /* not sent: no session yet, and no room to wait */
    uint64_t rejected; /* callers with a wrong key, or none */
} sec__carrier_stats;

typedef struct sec__carrier sec__carrier;

/* 0, or -1 without memory. */
int sec__carrier_new(sec__carrier **out, const cmn__mem *mem,
                     const sec__carrier_config *config, const uint8_t *seed,
                     uint64_t now);
void sec__carrier_free(sec__carrier *c);

/* Keys of passphrases are made by jobs of the driver's, not while a datagram is
 * taken. */
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
/* Seals a datagram into buf, which has SEC__CARRIER_OVERHEAD more bytes.  Its
 * length and, in *path, where to; 0 when it is kept for later or lost. */
size_t sec__carrier_seal(sec__carrier *c, const sec__place *to,
                         const uint8_t *dgram, size_t len, uint8_t *buf,
                         uint64_t *path, uint64_t now);
/* The next datagram of the carrier's own, or of those kept; 0: none.  `cap`:
 * the largest that ever leaves, SEC__DATAGRAM_MIN at least. */
size_t sec__carrier_send(sec__carrier *c, uint8_t *buf, size_t cap,
                         uint64_t *path, uint64_t now);
/* When sec__carrier_on_timeout() is due. */
uint64_t sec__carrier_timeout(const sec__carrier *c);
void sec__carrier_on_timeout(sec__carrier *c, uint64_t now);
/* The oldest refusal not yet told of; false: none. */
bool sec__carrier_next_refusal(sec__carrier *c, sec__refused *out);
/* Every session ends: sec__carrier_send() has the last words. */
void sec__carrier_close(sec__carrier *c);
void sec__carrier_get_stats(const sec__carrier *c, sec__carrier_stats *st);

#endif /* SECURE_CARRIER_H */
