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

/* The sender's part of ECN: whether to mark packets, and whether the path and
 * the peer treat marks as they should (RFC 9000, 13.4.2).
 *
 *   on --counts of the peer make no sense, or silence--> off
 *   off --another path--> on */
typedef struct tltcp__ecn {
    uint64_t sent; /* packets that left as ECT(0) or ECT(1) */
    uint32_t ect0; /* the peer's counts, as last heard */
    uint32_t ect1;
    uint32_t ce;
    bool on;    /* mark packets */
    bool heard; /* the peer's counts have shown that this path works */
} tltcp__ecn;

/* Another path, or the first one. */
void tltcp__ecn_start(tltcp__ecn *e, bool on);
/* How packets leave; l4s: for a controller that answers to marks as RFC 9331
 * asks. */
uint32_t tltcp__ecn_codepoint(const tltcp__ecn *e, bool l4s);
/* Probe timeouts in a row: perhaps the path drops what is marked. */
void tltcp__ecn_on_silence(tltcp__ecn *e, unsigned timeouts);

/* An ACK that newly acknowledges `ect` packets which left ECN-capable, at
 * least 1.  `moved`: packets left on other paths before; what became of them is
 * in the counts too.  Returns the share, 0 to 1, of packets acknowledged here
 * that arrived with a congestion mark. */
double tltcp__ecn_on_ack(tltcp__ecn *e, const tltcp__ack *ack, bool l4s,
                         bool moved, uint32_t ect);

#endif /* LIBTLTCP_ECN_H */
