/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_PACKET_H
#define LIBTLTCP_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/wire.h"

/* Packets on the wire: docs/tltcp-protocol.md, section 3. */

#define TLTCP__VERSION UINT32_C(0x544c0001)
/* A version that nobody speaks, to keep negotiation exercised. */
#define TLTCP__VERSION_GREASE UINT32_C(0x544c0a0a)

enum tltcp__packet_type {
    TLTCP__SHORT = 0x50,
    TLTCP__INITIAL = 0x58,
    TLTCP__ANSWER = 0x59,
    TLTCP__RETRY = 0x5a,
    TLTCP__VERSIONS = 0x5b,
    TLTCP__REJECT = 0x5c
};

/* Bit of a SHORT packet's type: which of two keys in turn sealed it. */
#define TLTCP__PHASE 0x01u

#define TLTCP__SHORT_LEN 13u /* type, connection id, packet number */
#define TLTCP__LONG_LEN 26u  /* type, version, two ids, number, token length */
#define TLTCP__CHECK_LEN 4u  /* CRC-32C behind everything */
#define TLTCP__DATAGRAM_MIN 1200u
#define TLTCP__DATAGRAM_MAX 65000u
#define TLTCP__TOKEN_MAX 64u
#define TLTCP__VERSIONS_MAX 16u

typedef struct tltcp__packet {
    uint8_t type;
    uint32_t version;     /* of all but SHORT */
    uint64_t dcid;        /* id that the receiver chose; 0 in INITIAL */
    uint64_t scid;        /* id that the sender chose; not in SHORT */
    uint32_t pn;          /* of SHORT, INITIAL and ANSWER */
    const uint8_t *token; /* of INITIAL and RETRY */
    size_t token_len;
    const uint8_t *body; /* chunks, or versions in VERSIONS */
    size_t body_len;
} tltcp__packet;

/* Takes a datagram apart; what it points to lies in the datagram.  False when
 * malformed or damaged. */
bool tltcp__packet_parse(const void *dgram, size_t len, tltcp__packet *out);

/* Takes the header off a sealed SHORT packet; the body is what is sealed, tag
 * included. */
bool tltcp__packet_parse_sealed(const void *dgram, size_t len,
                                tltcp__packet *out);

/* The connection id that a datagram is addressed to, without checking it. */
bool tltcp__packet_peek(const void *dgram, size_t len, uint8_t *type,
                        uint64_t *dcid);

/* Writes everything before the body. */
void tltcp__packet_put(cmn__writer *w, const tltcp__packet *p);

/* Appends the check to the bytes from start to w->p. */
void tltcp__packet_seal(cmn__writer *w, const uint8_t *start);

#endif /* LIBTLTCP_PACKET_H */
