/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Keeps the queue on the path short while it is the flow's own; ignores it when
 * other flows fill it.
 *
 * Once per round trip, the mean RTT is compared with a target above the path's
 * lowest RTT: the window shrinks to what fills the path and the target, and
 * near the target it grows by at most a segment per round trip. So a flow first
 * yields to any queue. If the queue stays long although the flow yields, and
 * the flow's own share of it is clearly small (queue_share.h), the queue is
 * foreign: the window is restored, and the queue is ignored until the flow's
 * share is large again or uncertain, or the queue is gone. Flows that all use
 * this rule settle at the target and need not find each other foreign.
 *
 * A queue that is never empty hides the path's lowest RTT, so every few seconds
 * the window leaves part of the path unused for one round trip.
 */
#ifndef LIBCONGESTION_SHORT_QUEUE_H
#define LIBCONGESTION_SHORT_QUEUE_H

#include "libcongestion/queue_share.h"

struct cong__short_queue {
    struct cong__queue_share share;
    double low, sum;     /* RTTs of this round, ns */
    unsigned count;      /* number of those RTTs */
    bool settling;       /* the newest window change has not taken effect yet */
    bool foreign;        /* others fill the queue */
    bool was_own;        /* the queue was the flow's own at least once */
    bool stands;         /* a queue was too long since the newest loss */
    bool full;           /* the window was the limit in this round */
    unsigned clear;      /* full rounds in a row without a queue */
    double yielded;      /* window before it yielded to a queue, bytes */
    double drained;      /* window before it drained the queue, bytes */
    double excess;       /* queue above the tolerable length, ns * s */
    cong_time judged;    /* newest round */
    cong_time stood;     /* newest round with a queue above the target; 0:
                            none */
    cong_time confirmed; /* newest round in which it was clearly foreign */
    cong_time emptied;   /* newest RTT near the lowest */
};

/* Processes a feedback and adjusts the window; keep: the queue may be kept
 * short. True when the queue has just turned out to be foreign. */
bool cong__short_queue_ack(struct cong__short_queue *q, struct cong *cc,
                           const struct cong_ack *ack, bool guest, bool keep);
/* Forgets the queue of a path that has changed. */
void cong__short_queue_forget(struct cong__short_queue *q);
/* The window should grow slowly. */
bool cong__short_queue_is_near(const struct cong__short_queue *q,
                               cong_time now);

#endif /* LIBCONGESTION_SHORT_QUEUE_H */
