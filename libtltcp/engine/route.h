/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_ROUTE_H
#define LIBTLTCP_ROUTE_H

#include <congestion/congestion.h>
#include <stdbool.h>

#include "internal/common/mem.h"

/* Notices that the path has become longer, as after a hand-over.
 *
 * A queue that grows shows in each RTT a little more. A link that stalls gives
 * packets that were sent later a lower RTT. A link that is slow after a stall
 * delivers slowly what is in flight. So the path is longer if the RTT jumps
 * from one sample to the next, while packets were sent and acknowledged, if it
 * is as high for a packet that was sent after the jump was seen, and for all
 * between, and if packets came so fast meanwhile that a queue for that time
 * would have needed more than what was in flight. */
typedef struct tltcp__route_jump {
    cong_time before; /* RTT before it */
    cong_time seen;   /* when it was seen */
    cong_time high;   /* RTT that showed it */
    cong_time low;    /* lowest since then */
    double flight;    /* most bytes in flight since then */
    double rate;      /* at which bytes came since then, bytes/ns; highest */
    cong_time span;   /* since when the newest rate is measured ... */
    double came;      /* ... and the bytes until now */
} tltcp__route_jump;

typedef struct tltcp__route {
    cong_time at;            /* of the newest sample */
    cong_time rtt;           /* newest; 0: none yet */
    tltcp__route_jump *jump; /* neither confirmed nor refuted; NULL: none */
} tltcp__route;

/* Takes a feedback.  The RTT of the longer path without a queue, if it confirms
 * one; else -1.  Without memory, it misses a jump. */
cong_time tltcp__route_on_ack(tltcp__route *r, const cmn__mem *mem,
                              const struct cong_ack *ack, cong_time min_rtt);
/* Forgets the path. */
void tltcp__route_free(tltcp__route *r, const cmn__mem *mem);
/* Whether a jump is neither confirmed nor refuted yet: what is measured now may
 * be of a path that is gone. */
static inline bool tltcp__route_is_in_doubt(const tltcp__route *r) {
    return r->jump != NULL;
}

#endif /* LIBTLTCP_ROUTE_H */
