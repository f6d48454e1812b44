/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_PARAMS_H
#define LIBTLTCP_PARAMS_H

#include <tltcp/types.h>

#include "libtltcp/engine/chunk.h"

/* Parameters that each side declares once, in the PARAMS chunk of INITIAL and
 * ANSWER: docs/protocols/tltcp.md, section 6. */

enum tltcp__param {
    TLTCP__PARAM_WINDOW = 1,       /* initial flow-control window, bytes */
    TLTCP__PARAM_SECTIONS = 2,     /* initial flow-control window, sections */
    TLTCP__PARAM_IDLE_MS = 3,      /* idle timeout; 0: none */
    TLTCP__PARAM_DATAGRAM = 4,     /* largest datagram accepted */
    TLTCP__PARAM_FEATURES = 5,     /* TLTCP__FEATURE_* */
    TLTCP__PARAM_ACK_EVERY = 6,    /* request: acknowledge every n-th packet */
    TLTCP__PARAM_ACK_DELAY_MS = 7, /* longest delay of own acknowledgements */
    TLTCP__PARAM_STREAM_ID = 8,    /* bytes; only from the client */
    TLTCP__PARAM_FIRST_SEQ = 9,    /* wire number of stream offset 0 */
    TLTCP__PARAM_LOCAL = 10        /* proof that the peer is on this machine */
};

#define TLTCP__FEATURE_SKIP 0x01u      /* understands SKIP chunks */
#define TLTCP__FEATURE_REPAIR 0x02u    /* understands REPAIR chunks */
#define TLTCP__FEATURE_META 0x04u      /* understands flags TLTCP__DATA_META */
#define TLTCP__FEATURE_IDS 0x08u       /* understands NEW_ID and RETIRE_ID */
#define TLTCP__FEATURE_FREQUENCY 0x10u /* understands ACK_FREQUENCY chunks */
#define TLTCP__FEATURE_TIMES 0x20u     /* understands flag TLTCP__ACK_TIME */

typedef struct tltcp__params {
    uint32_t window;
    uint32_t sections;
    uint32_t idle_ms;
    uint32_t datagram;
    uint32_t features;
    uint32_t ack_every;
    uint32_t ack_delay_ms;
    uint32_t first_seq;
    uint64_t local; /* 0: none */
    size_t stream_id_len;
    char stream_id[TLTCP_STREAM_ID_MAX + 1];
} tltcp__params;

/* False when malformed or out of range; unknown parameters are skipped. */
bool tltcp__params_parse(const tltcp__chunk *c, tltcp__params *out);
void tltcp__params_put(cmn__writer *w, const tltcp__params *p);

#endif /* LIBTLTCP_PARAMS_H */
