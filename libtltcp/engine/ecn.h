/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_ECN_H
#define LIBTLTCP_ECN_H

#include <stdbool.h>
#include <stdint.h>

#include "libtltcp/engine/chunk.h"

/* ECN codepoints of the IP header (RFC 3168), as in tltcp_pktinfo::ecn. */
enum tltcp__ecn_codepoint {
    TLTCP__ECN_NOT_ECT = 0,
    TLTCP__ECN_ECT1 = 1,
    TLTCP__ECN_ECT0 = 2,
    TLTCP__ECN_CE = 3
};

/* The sender's part of ECN: whether to mark packets, and validation of the path
 * and the peer (RFC 9000 section 13.4.2).
 *
 *   on --invalid counts of the peer, or silence--> off
 *   off --another path--> on */
typedef struct tltcp__ecn {
    uint64_t sent; /* packets sent as ECT(0) or ECT(1) */
    uint32_t ect0; /* the peer's newest counts */
    uint32_t ect1;
    uint32_t ce;
    bool on;    /* mark packets */
    bool heard; /* the peer's counts have validated this path */
} tltcp__ecn;

/* Starts on a new path, or the first one. */
void tltcp__ecn_start(tltcp__ecn *e, bool on);
/* The codepoint of sent packets; l4s: for a controller that responds to marks
 * as RFC 9331 requires. */
uint32_t tltcp__ecn_codepoint(const tltcp__ecn *e, bool l4s);
/* Probe timeouts in a row: the path may drop ECN-capable packets. */
void tltcp__ecn_on_silence(tltcp__ecn *e, unsigned timeouts);

/* Processes an ACK that newly acknowledges `ect` packets sent ECN-capable, at
 * least 1. `moved`: packets were sent on other paths before, which the counts
 * include. Returns the fraction, 0 to 1, of the packets acknowledged here that
 * arrived with a congestion mark. */
double tltcp__ecn_on_ack(tltcp__ecn *e, const tltcp__ack *ack, bool l4s,
                         bool moved, uint32_t ect);

#endif /* LIBTLTCP_ECN_H */
