/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_CHUNK_H
#define LIBTLTCP_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "internal/common/wire.h"

#define TLTCP__VERSION UINT32_C(0x544c0002)
/* A reserved version that exercises version negotiation. */
#define TLTCP__VERSION_GREASE UINT32_C(0x544c0a0a)

/* Chunks, of which packets are made: docs/protocols/tltcp.md, section 4. */

enum tltcp__chunk_type {
    TLTCP__PADDING = 0x00, /* one byte; only padding follows */
    TLTCP__DATA = 0x01,
    TLTCP__UPDATE = 0x02, /* seq_update of the paper, 5.3 */
    TLTCP__SKIP = 0x03,
    TLTCP__ACK = 0x04,
    TLTCP__WINDOW = 0x05,
    TLTCP__PING = 0x06,
    TLTCP__CHALLENGE = 0x07,
    TLTCP__RESPONSE = 0x08,
    TLTCP__FIN = 0x09,
    TLTCP__CLOSE = 0x0a,
    TLTCP__REPORT = 0x0b,  /* loss event rate and receive rate, RFC 5348 */
    TLTCP__RTT = 0x0c,     /* the sender's RTT; requests REPORTs */
    TLTCP__REPAIR = 0x0d,  /* a symbol of forward error correction */
    TLTCP__REBUILT = 0x0e, /* bytes rebuilt from REPAIRs */
    TLTCP__ACK_FREQUENCY = 0x0f, /* how often to acknowledge */
    TLTCP__PARAMS = 0x10,
    TLTCP__NOISE = 0x11,    /* handshake message of the secured mode */
    TLTCP__NEW_ID = 0x13,   /* a spare connection id; sealed only */
    TLTCP__RETIRE_ID = 0x14 /* connection ids that are no longer used */
};

#define TLTCP__CHUNK_MAY_SKIP 0x80 /* types from here on may be ignored */

/* Flags. */
#define TLTCP__DATA_START 0x01u
#define TLTCP__DATA_END 0x02u
#define TLTCP__DATA_CLASS 0x04u   /* with START: u8, class and stream */
#define TLTCP__DATA_DEPENDS 0x08u /* u32 */
#define TLTCP__DATA_TAG 0x10u     /* u64 */
#define TLTCP__DATA_META \
    (TLTCP__DATA_CLASS | TLTCP__DATA_DEPENDS | TLTCP__DATA_TAG)
#define TLTCP__ACK_ECN 0x01u
#define TLTCP__ACK_TIME 0x02u
#define TLTCP__CLOSE_ECHO 0x01u
#define TLTCP__FREQUENCY_CALM 0x01u /* gaps do not hasten ACKs */

#define TLTCP__CHUNK_LEN 4u /* type, flags, length */
#define TLTCP__DATA_LEN (TLTCP__CHUNK_LEN + 8u)
#define TLTCP__UPDATE_LEN (TLTCP__CHUNK_LEN + 8u)
#define TLTCP__SKIP_LEN (TLTCP__CHUNK_LEN + 12u)
#define TLTCP__ACK_LEN (TLTCP__CHUNK_LEN + 24u)
#define TLTCP__ACK_ECN_LEN 12u
#define TLTCP__ACK_TIME_LEN 4u
#define TLTCP__ACK_RANGE_LEN 8u
#define TLTCP__RTT_LEN (TLTCP__CHUNK_LEN + 4u)
#define TLTCP__ACK_FREQUENCY_LEN (TLTCP__CHUNK_LEN + 4u)
#define TLTCP__REPAIR_LEN (TLTCP__CHUNK_LEN + 13u)
#define TLTCP__REBUILT_LEN (TLTCP__CHUNK_LEN + 8u)
#define TLTCP__NEW_ID_LEN (TLTCP__CHUNK_LEN + 16u)
#define TLTCP__RETIRE_ID_LEN (TLTCP__CHUNK_LEN + 4u)
#define TLTCP__META_MAX 13u /* in addition to DATA_LEN and REPAIR_LEN */

typedef struct tltcp__chunk {
    uint8_t type;
    uint8_t flags;
    const uint8_t *body;
    size_t len;
} tltcp__chunk;

/* Takes the next chunk; false at the end, with r->bad set when malformed. */
bool tltcp__chunk_next(cmn__reader *r, tltcp__chunk *out);

/* Metadata of a section, sent with its first byte.  All zero: none. */
typedef struct tltcp__meta {
    uint64_t tag;
    uint32_t depends; /* distance in sections to its dependency; 0: none */
    uint8_t cls;      /* tltcp_class */
    uint8_t stream;   /* below TL_STREAMS_MAX */
} tltcp__meta;

typedef struct tltcp__data {
    uint32_t seq;
    uint32_t section;
    tltcp__meta meta;
    const uint8_t *bytes;
    size_t len;
} tltcp__data;

typedef struct tltcp__skip {
    uint32_t start;
    uint32_t end;
    uint32_t section; /* number of the section that begins at end */
} tltcp__skip;

/* A stream offset where a section begins: UPDATE, FIN, WINDOW (in WINDOW, the
 * first offset and section not allowed). */
typedef struct tltcp__position {
    uint32_t seq;
    uint32_t section;
} tltcp__position;

typedef struct tltcp__ack {
    uint32_t largest;       /* highest packet number received */
    uint32_t delay_us;      /* between its arrival and this chunk */
    uint32_t cumulative;    /* everything below was received or skipped */
    tltcp__position window; /* as in WINDOW */
    uint32_t first;         /* contiguous packets below largest */
    bool has_ecn;
    uint32_t ect0, ect1, ce; /* packets received with each codepoint */
    bool has_time;           /* in place of ect1, which is 0 */
    uint32_t came_us;        /* when largest arrived, by the peer's clock */
    cmn__reader ranges;      /* {missing - 1, present - 1} downwards */
} tltcp__ack;

/* A repair symbol (FEC) for the block [start, start + len) of a section. */
typedef struct tltcp__repair_chunk {
    uint32_t start;
    uint32_t section;
    uint32_t len;
    uint8_t index;
    tltcp__meta meta;
    const uint8_t *symbol;
    size_t size;
} tltcp__repair_chunk;

/* A receiver's report (RFC 5348 section 3.2.2). */
typedef struct tltcp__report {
    double p;      /* loss event rate, 0 to 1; 32 bits of fraction */
    double x_recv; /* bytes/s, integer */
} tltcp__report;

/* All return false when malformed. */
bool tltcp__data_parse(const tltcp__chunk *c, tltcp__data *out);
bool tltcp__skip_parse(const tltcp__chunk *c, tltcp__skip *out);
bool tltcp__position_parse(const tltcp__chunk *c, tltcp__position *out);
bool tltcp__ack_parse(const tltcp__chunk *c, tltcp__ack *out);
bool tltcp__repair_parse(const tltcp__chunk *c, tltcp__repair_chunk *out);
bool tltcp__rebuilt_parse(const tltcp__chunk *c, uint32_t *start,
                          uint32_t *len);
bool tltcp__report_parse(const tltcp__chunk *c, tltcp__report *out);
bool tltcp__rtt_parse(const tltcp__chunk *c, uint32_t *us);
bool tltcp__new_id_parse(const tltcp__chunk *c, uint32_t *number, uint64_t *id,
                         uint32_t *offset);
bool tltcp__retire_id_parse(const tltcp__chunk *c, uint32_t *below);

void tltcp__chunk_put(cmn__writer *w, uint8_t type, uint8_t flags, size_t len);
/* The flags of its non-zero fields, and the bytes that these flags announce. */
uint8_t tltcp__meta_flags(const tltcp__meta *m);
size_t tltcp__meta_len(unsigned flags);
void tltcp__meta_put(cmn__writer *w, unsigned flags, const tltcp__meta *m);
/* Writes the header of a DATA chunk; the fields its flags announce and its len
 * bytes follow.
 */
void tltcp__data_put(cmn__writer *w, uint8_t flags, uint32_t seq,
                     uint32_t section, size_t len);
/* Includes its symbol; flags of the block, as in DATA. */
void tltcp__repair_put(cmn__writer *w, uint8_t flags,
                       const tltcp__repair_chunk *r);
void tltcp__rebuilt_put(cmn__writer *w, uint32_t start, uint32_t len);
void tltcp__skip_put(cmn__writer *w, const tltcp__skip *s);
void tltcp__position_put(cmn__writer *w, uint8_t type, tltcp__position p);
void tltcp__close_put(cmn__writer *w, uint8_t flags, uint32_t code,
                      const char *reason);
void tltcp__report_put(cmn__writer *w, const tltcp__report *r);
void tltcp__rtt_put(cmn__writer *w, uint32_t us);
void tltcp__new_id_put(cmn__writer *w, uint32_t number, uint64_t id,
                       uint32_t offset);
void tltcp__retire_id_put(cmn__writer *w, uint32_t below);
/* Writes the fixed part of an ACK chunk; n_ranges ranges follow. */
void tltcp__ack_put(cmn__writer *w, const tltcp__ack *a, size_t n_ranges);

#endif /* LIBTLTCP_CHUNK_H */
