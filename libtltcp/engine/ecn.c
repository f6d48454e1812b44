/* SPDX-License-Identifier: MPL-2.0 */
/* ECN validation (RFC 9000, 13.4.2). */
#include "libtltcp/engine/ecn.h"

#define SILENT_TIMEOUTS 3u /* RFC 9000, A.4 */

void tltcp__ecn_start(tltcp__ecn *e, bool on) {
    e->on = on;
    e->heard = false;
}

uint32_t tltcp__ecn_codepoint(const tltcp__ecn *e, bool l4s) {
    if (!e->on) {
        return TLTCP__ECN_NOT_ECT;
    }
    return l4s ? TLTCP__ECN_ECT1 : TLTCP__ECN_ECT0;
}

void tltcp__ecn_on_silence(tltcp__ecn *e, unsigned timeouts) {
    if (timeouts >= SILENT_TIMEOUTS && e->sent > 0 && !e->heard) {
        e->on = false;
    }
}

/* Counts packets, which differ little in size when marks matter. */
static double ecn_share(uint32_t unmarked, uint32_t ce) {
    return ce > 0 ? (double)ce / ((double)unmarked + ce) : 0;
}

double tltcp__ecn_on_ack(tltcp__ecn *e, const tltcp__ack *ack, bool l4s,
                         bool moved, uint32_t ect) {
    uint32_t own = l4s ? ack->ect1 : ack->ect0;
    uint32_t other = l4s ? ack->ect0 : ack->ect1;
    uint32_t unmarked = own - (l4s ? e->ect1 : e->ect0);
    uint32_t ce = ack->ce - e->ce;
    bool first = moved && !e->heard;
    /* the counts must cover the acknowledged packets, and at most those sent */
    if (!ack->has_ecn || unmarked + ce < ect ||
        (other != (l4s ? e->ect0 : e->ect1) && !first) ||
        (uint64_t)own + ack->ce > e->sent) {
        e->on = false;
        return 0;
    }
    e->heard = true;
    e->ect1 = ack->ect1;
    e->ect0 = ack->ect0;
    e->ce = ack->ce;
    return e->on && !first ? ecn_share(unmarked, ce) : 0;
}
