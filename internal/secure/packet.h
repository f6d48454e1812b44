/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SECURE_PACKET_H
#define SECURE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "internal/common/wire.h"

/* Packets on the wire: docs/protocols/tltcp.md, section 3. */

enum sec__packet_type {
    SEC__SHORT = 0x50,
    SEC__INITIAL = 0x58,
    SEC__ANSWER = 0x59,
    SEC__RETRY = 0x5a,
    SEC__VERSIONS = 0x5b,
    SEC__REJECT = 0x5c
};

/* Chunks of the secured handshake. */
enum sec__chunk { SEC__CHUNK_NOISE = 0x11, SEC__CHUNK_OFFER = 0x12 };

/* Reasons in a REJECT. */
enum sec__refusal {
    SEC__REFUSED = 9,        /* too many from that address */
    SEC__OTHER_VERSION = 10, /* not in a packet: the answer was VERSIONS */
    SEC__FULL = 14,
    SEC__WRONG_KEY = 19
};

/* Bit of a SHORT packet's type: key phase. */
#define SEC__PHASE 0x01u

#define SEC__SHORT_LEN 13u    /* type, connection id, packet number */
#define SEC__SHORT_ID_LAST 8u /* place of the last byte of the id */
#define SEC__CHECK_LEN 4u     /* CRC-32C at the end */
#define SEC__DATAGRAM_MIN 1200u
#define SEC__DATAGRAM_MAX 65000u
#define SEC__TOKEN_MAX 64u

typedef struct sec__packet {
    uint8_t type;
    uint32_t version;     /* not in SHORT */
    uint64_t dcid;        /* id that the receiver chose; 0 in INITIAL */
    uint64_t scid;        /* id that the sender chose; not in SHORT */
    uint32_t pn;          /* of SHORT, INITIAL and ANSWER */
    const uint8_t *token; /* of INITIAL and RETRY */
    size_t token_len;
    const uint8_t *body; /* chunks, or versions in VERSIONS */
    size_t body_len;
} sec__packet;

/* Parses a datagram; pointers refer to the datagram. False: malformed or
 * damaged. */
bool sec__packet_parse(const void *dgram, size_t len, sec__packet *out);

/* The same, but a SHORT packet may have 0 in place of its checksum. */
bool sec__packet_parse_local(const void *dgram, size_t len, sec__packet *out);

/* Whether the checksum at the end of a datagram is right; len is at least
 * SEC__CHECK_LEN. */
bool sec__packet_is_intact(const uint8_t *dgram, size_t len);
/* Whether there is 0 in its place; len as above. */
bool sec__packet_is_unchecked(const uint8_t *dgram, size_t len);

/* Parses the header of a sealed SHORT packet; the body is the sealed text
 * including its tag. */
bool sec__packet_parse_sealed(const void *dgram, size_t len, sec__packet *out);

/* The destination connection id of an unchecked datagram. */
bool sec__packet_peek(const void *dgram, size_t len, uint8_t *type,
                      uint64_t *dcid);

/* Writes everything before the body. */
void sec__packet_put(cmn__writer *w, const sec__packet *p);

/* Appends the checksum of the bytes from start to w->p. */
void sec__packet_seal(cmn__writer *w, const uint8_t *start);

#endif /* SECURE_PACKET_H */
