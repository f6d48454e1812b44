/* SPDX-License-Identifier: MPL-2.0 */
/*
 * What it shows when others on the path pause.
 *
 * While they do, what the flow has in the queue leaves it at the rate of the
 * link: as the queue falls, packets arrive much faster than before. In a short
 * queue others let it fall more often, when they only slow down.
 *
 * BBRv1 is recognized by its pauses. Every ten seconds it sends next to nothing
 * for 200 ms, to measure the round trip without a queue, and then fills the
 * queue again within a few round trips. So the queue falls by what it sent: by
 * 1 - s per unit of time, s being this flow's own part of the link. Flows that
 * yield to losses still send half of what they sent, or more, and take longer
 * to fill a queue that is deeper than the pipe. Such a queue loses few packets
 * beside BBRv1, whose window is twice its share of the pipe, so losses do not
 * tell it from them.
 */
#ifndef LIBCONGESTION_PAUSE_H
#define LIBCONGESTION_PAUSE_H

#include "libcongestion/internal.h"
#include "libcongestion/peak_rate.h"

/* Floats save memory: each connection has one of these. */
struct cong__pause {
    float high;         /* longest recent queue, ns */
    float full;         /* newest long queue, ns */
    float fall;         /* bytes that left since then ... */
    float link;         /* ... and their rate when others paused, bytes/ns */
    cong_time fell;     /* when the queue was long; 0: it is short */
    cong_time low;      /* when it was last short */
    cong_time fallen;   /* when it last became so; 0: never */
    cong_time paused;   /* when others last paused; 0: never */
    cong_time emptied;  /* when BBR may have left the queue; 0: it is long */
    cong_time refilled; /* when BBR last filled it again; 0: never */
};

void cong__pause_ack(struct cong__pause *p, const struct cong_ack *ack,
                     double mss, const struct cong__peak_rate *peak);
/* Rate of the link, bytes/ns, that a recent pause showed; 0: none did. */
double cong__pause_link(const struct cong__pause *p, cong_time now);
/* BBRv1 is there: it paused not long ago. */
bool cong__pause_is_bbr(const struct cong__pause *p, cong_time now);
/* The queue has stood for longer than BBRv1 lets it. */
bool cong__pause_excludes_bbr(const struct cong__pause *p,
                              const struct cong_ack *ack);
/* It also fills the queue now. */
bool cong__pause_bbr_fills(const struct cong__pause *p,
                           const struct cong_ack *ack);

#endif /* LIBCONGESTION_PAUSE_H */
