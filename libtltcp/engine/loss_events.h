/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_LOSS_EVENTS_H
#define LIBTLTCP_LOSS_EVENTS_H

#include <congestion/stfrc.h>

#include "libtltcp/engine/cc.h"
#include "libtltcp/engine/sentmap.h"

/* What the controller "stfrc" needs to know of the path, measured by the sender
 * from the fates of its packets (Shahriar et al. 2011). A cycle ends each round
 * trip, and at once when a loss event begins, as a TFRC receiver's reports do
 * (RFC 5348 section 6.2). */
typedef struct tltcp__loss_events {
    struct cong_stfrc stfrc;
    uint64_t next;       /* first packet whose fate is not reported */
    uint64_t cycle;      /* an answer to this packet ends the cycle */
    tltcp_time sent;     /* when the newest reported packet left */
    tltcp_time ended_at; /* end of the last cycle; 0: none */
    bool is_lossy;       /* packets were lost in this cycle */
} tltcp__loss_events;

/* Whether the sender measures for this controller. */
bool tltcp__loss_events_needed(const tltcp__cc *cc);
/* NULL without memory. */
tltcp__loss_events *tltcp__loss_events_new(const cmn__mem *mem, double mss);
/* Begins anew with packet pn, on another path. */
void tltcp__loss_events_restart(tltcp__loss_events *e, uint64_t pn);
/* Reports the fates that are known in order of the packets; call it before the
 * map forgets them.  True: a cycle ended, and *out is for the controller. */
bool tltcp__loss_events_take(tltcp__loss_events *e, tltcp__sentmap *map,
                             cong_time srtt, tltcp_time now,
                             struct cong_stfrc_report *out);

#endif /* LIBTLTCP_LOSS_EVENTS_H */
