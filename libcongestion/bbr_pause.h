/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Recognizes BBRv1 beside this flow by its pauses.
 *
 * Every ten seconds, BBRv1 sends next to nothing for 200 ms, to measure the
 * round trip without a queue, and then fills the queue again within a few
 * round trips. So the queue falls by what it sent: by 1 - s per unit of time, s
 * being this flow's own part of the link. Flows that yield to losses still send
 * half of what they sent, or more, and take longer to fill a queue that is
 * deeper than the pipe. Such a queue loses few packets beside BBRv1, whose
 * window is twice its share of the pipe, so losses do not tell it from them.
 */
#ifndef LIBCONGESTION_BBR_PAUSE_H
#define LIBCONGESTION_BBR_PAUSE_H

#include "libcongestion/internal.h"

/* Floats save memory: each connection has one of these. */
struct cong__bbr_pause {
    float full;         /* newest long queue, ns */
    cong_time fell;     /* when that was; 0: the queue is short */
    cong_time low;      /* when it was last short */
    cong_time emptied;  /* when others left the queue; 0: it is long again */
    cong_time refilled; /* when they last filled it again; 0: never */
};

/* high: longest recent queue, ns; part: of the link, that this flow has. */
void cong__bbr_pause_ack(struct cong__bbr_pause *p, const struct cong_ack *ack,
                         double high, double part);
/* The last pause was not long ago. */
bool cong__bbr_pause_is_recent(const struct cong__bbr_pause *p, cong_time now);

#endif /* LIBCONGESTION_BBR_PAUSE_H */
