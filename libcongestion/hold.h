/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Holds a part of the link beside flows that do not yield to losses.
 *
 * TCP flows that share a full queue lose about 1.5 of w * w packets, w being
 * their window in packets (Mathis et al., CCR 27(3), 1997). If one of them does
 * not yield, the others do, and the loss ratio stays of that order. A flow that
 * sends at a rate of its own and regards losses as noise, as BBRv1 does, keeps
 * the queue full in any case. Yielding to it reduces neither the queue nor the
 * losses: in a queue of one bandwidth-delay product, a flow that responds to
 * each loss ends with a tenth of the link and loses 15 % of its packets.
 *
 * A flow that keeps losing much in a queue of others therefore tries for some
 * round trips not to yield, at a rate of up to its part of the link. If it
 * loses far more than TCP flows would cause, it keeps a paced rate: that grows
 * up to the part, and shrinks when more is lost than its share of the link
 * justifies. The trial and the hold end as soon as losses are what TCP flows
 * cause, or the queue is gone.
 *
 * In a deep queue, BBRv1 causes few losses, but shows by its pauses (pause.h).
 * Then the rate is held without a trial. The pauses also show the link's rate.
 */
#ifndef LIBCONGESTION_HOLD_H
#define LIBCONGESTION_HOLD_H

#include "libcongestion/internal.h"
#include "libcongestion/loss_ratio.h"
#include "libcongestion/pause.h"
#include "libcongestion/peak_rate.h"

enum cong__hold_state { CONG__HOLD_OFF, CONG__HOLD_TRIAL, CONG__HOLD_ON };

/* A float saves memory: each connection has one of these. */
struct cong__hold {
    enum cong__hold_state state;
    unsigned short rounds;          /* of the trial */
    unsigned char failed;           /* trials in a row */
    struct cong__loss_ratio recent; /* over some packets */
    struct cong__loss_ratio sum;    /* over more, since the trial measures */
    struct cong__pause pause;
    cong_time since; /* when that began, or the rate has been held */
    cong_time again; /* no trial before this time */
    float pace;      /* rate that is held, bytes/ns */
    cong_time stood; /* when others last filled the queue */
    cong_time much;  /* since when much is lost; 0: it is not */
};

/* What the controller knows of the path. */
struct cong__hold_path {
    bool stands; /* others fill the queue */
    double link; /* rate of the link by another estimate, bytes/ns; 0: not
                    known */
    const struct cong__peak_rate *peak;
    double part; /* of the link that may be held */
};

/* Processes feedback. Returns true while a rate is held or tried, and sets
 * window and pacing rate then. */
bool cong__hold_ack(struct cong__hold *h, struct cong *cc,
                    const struct cong_ack *ack,
                    const struct cong__hold_path *path);
/* Gives up the rate; the window then allows about the same. */
void cong__hold_leave(struct cong__hold *h, struct cong *cc);

static inline bool cong__hold_is_on(const struct cong__hold *h) {
    return h->state != CONG__HOLD_OFF;
}

#endif /* LIBCONGESTION_HOLD_H */
