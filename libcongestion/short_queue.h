/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Keeps the queue on the path short while it is the flow's own, and leaves it
 * alone when other flows fill it.
 *
 * Once per round trip the mean RTT is held against a target above the path's
 * lowest: the window shrinks to what fills the path and the target, and grows
 * by no more than a segment per round trip while the target is near.  So a flow
 * yields to any queue at first.  One that stays long although the flow yields,
 * and of which the flow's own part is small without doubt (queue_share.h), is
 * foreign: the window is given back, and the queue is left alone until the
 * flow's part is large again, in doubt, or the queue is gone.  Flows that all
 * use this rule stop at one target and need not find each other foreign.
 *
 * A queue that is never empty hides the path's lowest RTT, so for one round
 * trip in some seconds the window leaves a part of the path unused.
 */
#ifndef LIBCONGESTION_SHORT_QUEUE_H
#define LIBCONGESTION_SHORT_QUEUE_H

#include "libcongestion/queue_share.h"

struct cong__short_queue {
    struct cong__queue_share share;
    double low, sum;     /* RTTs of this round, ns */
    unsigned count;      /* of them */
    bool settling;       /* the newest change of the window is not seen yet */
    bool foreign;        /* others fill the queue */
    bool was_own;        /* ever */
    double yielded;      /* the window before it yielded to a queue, bytes */
    double drained;      /* the window before it let the queue run empty */
    double excess;       /* of the queue over what is bearable, ns * s */
    cong_time judged;    /* newest round */
    cong_time stood;     /* newest round with a queue above the target; 0 */
    cong_time confirmed; /* newest round in which it was surely foreign */
    cong_time emptied;   /* newest RTT near the lowest */
};

/* Takes a feedback, and the window with it; keep: the queue may be kept short.
 * True when the queue has just turned out to be foreign. */
bool cong__short_queue_ack(struct cong__short_queue *q, struct cong *cc,
                           const struct cong_ack *ack, bool guest, bool keep);
/* The window should grow slowly. */
bool cong__short_queue_is_near(const struct cong__short_queue *q,
                               cong_time now);

#endif /* LIBCONGESTION_SHORT_QUEUE_H */
