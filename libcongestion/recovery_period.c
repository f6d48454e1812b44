/* SPDX-License-Identifier: MPL-2.0 */
/* Recovery periods over numbered packets, and undo. */
#include <congestion/recovery_period.h>

#include "libcongestion/internal.h"

#include <math.h>

void cong_recovery_period_init(struct cong_recovery_period *p, uint64_t next) {
    *p = (struct cong_recovery_period){.reduced = next,
                                       .restored = next,
                                       .repeated = next,
                                       .end = next,
                                       .final = true};
}

static void period_add(struct cong_lost_packets *lost, uint64_t number) {
    if (lost->count == 0 || number < lost->first) {
        lost->first = number;
    }
    if (lost->count == 0 || number > lost->last) {
        lost->last = number;
    }
    lost->count++;
}

static bool period_has(const struct cong_lost_packets *lost, uint64_t number) {
    return lost->count > 0 && number >= lost->first && number <= lost->last;
}

/* A lost retransmission belongs to the period of the first loss. */
void cong_recovery_period_on_lost(struct cong_recovery_period *p,
                                  uint64_t number, unsigned nth) {
    bool repair = p->state == CONG_RECOVERY_STATE_REPAIR && nth > 1;
    period_add(number >= p->reduced && !repair ? &p->next : &p->lost, number);
    if (number >= p->repeated && nth > p->nth) {
        p->nth = nth;
    }
}

/* Numbers outside these bounds were lost in an earlier period. */
void cong_recovery_period_on_late(struct cong_recovery_period *p,
                                  uint64_t number) {
    if (period_has(&p->next, number)) {
        p->next.count--;
    } else if (period_has(&p->lost, number)) {
        p->late++;
    }
}

void cong_recovery_period_on_ce(struct cong_recovery_period *p,
                                uint64_t number) {
    p->ce = true;
    p->new_ce |= number >= p->reduced;
}

bool cong_recovery_period_in_recovery(const struct cong_recovery_period *p) {
    return p->state == CONG_RECOVERY_STATE_REPAIR || p->next.count > 0 ||
           p->new_ce;
}

static void period_notify(struct cong *cc, enum cong_cause cause,
                          unsigned count,
                          const struct cong_recovery_report *r) {
    const struct cong_event ev = {
        .now = r->now,
        .cause = cause,
        .flight = r->flight,
        .missing = r->missing,
        .count = count,
    };
    cc->ops->event(cc, &ev);
}

/* Saves the state that an undo restores. */
static void period_begin(struct cong_recovery_period *p, const struct cong *cc,
                         enum cong_recovery_state state) {
    p->state = state;
    p->final = false;
    p->restored = p->reduced;
    p->cwnd = cc->cwnd;
    p->ssthresh = cc->ssthresh;
    p->lost = (struct cong_lost_packets){0};
    p->late = 0;
}

/* The reduction covers every loss so far. */
static void period_reduce(struct cong_recovery_period *p, uint64_t next) {
    struct cong_lost_packets *lost = &p->lost;
    if (p->next.count > 0 && lost->count == 0) {
        *lost = p->next;
    } else if (p->next.count > 0) {
        lost->count += p->next.count;
        lost->first = p->next.first < lost->first ? p->next.first : lost->first;
        lost->last = p->next.last > lost->last ? p->next.last : lost->last;
    }
    p->next.count = 0;
    p->reduced = next;
}

static void period_mark(struct cong_recovery_period *p, uint64_t next) {
    period_reduce(p, next);
    p->repeated = next;
    p->end = next;
}

static unsigned period_undo(struct cong_recovery_period *p, struct cong *cc,
                            const struct cong_recovery_report *r) {
    if (p->final || p->lost.count == 0 || p->late < p->lost.count) {
        return CONG_RECOVERY_UNCHANGED;
    }
    p->final = true;
    p->state = CONG_RECOVERY_STATE_NONE;
    p->reduced = p->restored;
    cong__set_cwnd(cc, fmax(cc->cwnd, p->cwnd));
    cc->ssthresh = fmax(cc->ssthresh, p->ssthresh);
    period_notify(cc, CONG_UNDO, 0, r);
    return CONG_RECOVERY_UNDONE;
}

/* A controller signals a restart by a window of one segment. */
static unsigned period_answer(struct cong_recovery_period *p,
                              const struct cong *cc) {
    if (cc->cwnd > cc->mss) {
        return CONG_RECOVERY_UNCHANGED;
    }
    p->state = CONG_RECOVERY_STATE_RESTART;
    p->final = true;
    return CONG_RECOVERY_RESTARTED;
}

/* Marks reduced a scalable controller's window, and a loss did not. */
static bool period_hides_loss(const struct cong_recovery_period *p,
                              const struct cong *cc) {
    return cc->ect1 && p->marks_only && p->lost.count > 0;
}

static unsigned period_enter(struct cong_recovery_period *p, struct cong *cc,
                             const struct cong_recovery_report *r) {
    bool lossy = p->next.count > 0 || period_hides_loss(p, cc);
    period_begin(p, cc, CONG_RECOVERY_STATE_REPAIR);
    period_mark(p, r->next);
    p->final = p->ce;
    p->marks_only = !lossy;
    if (!lossy) {
        period_notify(cc, CONG_ECN, 1, r);
        return CONG_RECOVERY_ENTERED;
    }
    period_notify(cc, CONG_LOSS, 1, r);
    return CONG_RECOVERY_ENTERED | period_answer(p, cc);
}

/* Within a period: a retransmission was lost, or a packet sent after the
 * reduction was marked, or the first of the period was lost. */
static unsigned period_repeat(struct cong_recovery_period *p, struct cong *cc,
                              const struct cong_recovery_report *r) {
    double before = cc->cwnd;
    unsigned outcome = CONG_RECOVERY_REPEATED;
    if (p->nth > 1 || period_hides_loss(p, cc)) {
        p->repeated = r->next;
        p->marks_only = false;
        period_notify(cc, CONG_LOSS, p->nth > 1 ? p->nth : 1, r);
        outcome |= period_answer(p, cc);
    } else if (p->new_ce) {
        period_notify(cc, CONG_ECN, 1, r);
    } else {
        return CONG_RECOVERY_UNCHANGED;
    }
    if (p->new_ce || cc->cwnd < before) {
        period_reduce(p, r->next);
    }
    return outcome;
}

static void period_forget_notes(struct cong_recovery_period *p) {
    p->nth = 0;
    p->ce = false;
    p->new_ce = false;
}

unsigned cong_recovery_period_report(struct cong_recovery_period *p,
                                     struct cong *cc,
                                     const struct cong_recovery_report *r) {
    unsigned outcome;
    p->final |= p->ce;
    outcome = period_undo(p, cc, r);
    if (p->state == CONG_RECOVERY_STATE_REPAIR) {
        outcome |= period_repeat(p, cc, r);
    } else if (p->next.count > 0 || p->new_ce ||
               (p->state == CONG_RECOVERY_STATE_NONE &&
                period_hides_loss(p, cc))) {
        outcome |= period_enter(p, cc, r);
    }
    period_forget_notes(p);
    return outcome;
}

void cong_recovery_period_timeout(struct cong_recovery_period *p,
                                  struct cong *cc,
                                  const struct cong_recovery_report *r,
                                  unsigned nth) {
    if (nth <= 1 && p->state != CONG_RECOVERY_STATE_REPAIR) {
        period_begin(p, cc, CONG_RECOVERY_STATE_RESTART);
    }
    p->state = CONG_RECOVERY_STATE_RESTART;
    p->marks_only = false;
    p->final |= p->ce;
    period_mark(p, r->next);
    period_forget_notes(p);
    period_notify(cc, CONG_RTO, nth, r);
}

bool cong_recovery_period_end(struct cong_recovery_period *p, struct cong *cc,
                              uint64_t oldest, double flight, cong_time now) {
    const struct cong_recovery_report r = {.now = now, .flight = flight};
    if (p->state == CONG_RECOVERY_STATE_NONE || oldest < p->end) {
        return false;
    }
    p->state = CONG_RECOVERY_STATE_NONE;
    period_notify(cc, CONG_RECOVERED, 0, &r);
    return true;
}
