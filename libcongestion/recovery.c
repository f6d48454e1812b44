/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Duplicate ACKs and inflation (RFC 5681 section 3.2, RFC 6582 section 3.2),
 * and the pipe (RFC 6675).
 *
 * Interpretations: of the two exits of RFC 6582, this uses the one that needs
 * no burst limiter, min(ssthresh, max(flight, MSS) + MSS). Three duplicates
 * begin a recovery only when the cumulative number has passed everything that
 * was outstanding at the last one (NewReno), or has reached it (SACK). SACK
 * needs no limited transmit: what arrives behind the hole leaves the pipe.
 */
#include <congestion/recovery.h>

#include "libcongestion/internal.h"

#include <math.h>

#define DUPLICATES CONG_RECOVERY_DUPLICATES

void cong_recovery_init(struct cong_recovery *r, enum cong_recovery_kind kind) {
    *r = (struct cong_recovery){.kind = kind};
}

double cong_recovery_window(const struct cong_recovery *r,
                            const struct cong *cc) {
    double window = cc->cwnd + r->inflation;
    if (r->limited_transmit && r->kind != CONG_RECOVERY_SACK && !r->open &&
        r->duplicates < DUPLICATES) {
        window += r->duplicates * cc->mss;
    }
    return fmax(fmin(window, cc->cwnd_max), cc->mss);
}

static void recovery_notify(struct cong *cc, enum cong_cause cause,
                            double flight, double missing, unsigned count,
                            cong_time now) {
    const struct cong_event ev = {
        .now = now,
        .cause = cause,
        .flight = flight,
        .missing = missing,
        .count = count,
    };
    cc->ops->event(cc, &ev);
}

static void recovery_close(struct cong_recovery *r) {
    r->open = false;
    r->partial = false;
    r->inflation = 0;
}

/* Everything outstanding belongs to this congestion event. */
static void recovery_guard(struct cong_recovery *r, uint64_t next) {
    r->recover = next;
    r->guarded = true;
    r->restarted = false;
}

static unsigned recovery_begin(struct cong_recovery *r, struct cong *cc,
                               uint64_t next, double flight, cong_time now) {
    recovery_guard(r, next);
    recovery_notify(cc, CONG_LOSS, flight, cc->mss, 1, now);
    if (r->kind == CONG_RECOVERY_TAHOE || cc->cwnd <= cc->mss) {
        recovery_close(r);
        r->restarted = true;
        r->duplicates = 0;
        return CONG_RECOVERY_GO_BACK | CONG_RECOVERY_RESTART_RTO;
    }
    r->open = true;
    r->partial = false;
    if (r->kind != CONG_RECOVERY_SACK) {
        r->inflation = DUPLICATES * cc->mss;
    }
    /* The retransmission gets a full timeout: with a steady RTT, the running
     * timer would expire just before its ACK. */
    return CONG_RECOVERY_REPAIR | CONG_RECOVERY_RESTART_RTO;
}

void cong_recovery_arrived(struct cong_recovery *r, uint64_t start) {
    for (size_t i = 0; i < CONG__COUNT(r->arrived); i++) {
        if (start > r->arrived[i]) {
            uint64_t lower = r->arrived[i];
            r->arrived[i] = start;
            start = lower;
        }
    }
}

uint64_t cong_recovery_lost_below(const struct cong_recovery *r) {
    return r->arrived[DUPLICATES - 1];
}

/* The duplicates, or what arrived, say that the hole is lost. */
static bool recovery_is_due(struct cong_recovery *r, uint64_t una) {
    r->duplicates++;
    switch (r->kind) {
    case CONG_RECOVERY_TAHOE:
    case CONG_RECOVERY_NEWRENO:
        return r->duplicates == DUPLICATES &&
               !(r->guarded && una <= r->recover);
    case CONG_RECOVERY_SACK:
        return (r->duplicates >= DUPLICATES ||
                una < cong_recovery_lost_below(r)) &&
               !(r->guarded && una < r->recover);
    case CONG_RECOVERY_RENO:
        break;
    }
    return r->duplicates == DUPLICATES;
}

unsigned cong_recovery_duplicate(struct cong_recovery *r, struct cong *cc,
                                 uint64_t una, uint64_t next, double flight,
                                 cong_time now) {
    if (r->open && r->kind == CONG_RECOVERY_SACK) {
        return CONG_RECOVERY_NOTHING;
    }
    if (r->open) { /* duplicates beyond the segments outstanding are forged */
        double most = fmax((double)(next - una), r->inflation);
        r->inflation = fmin(r->inflation + cc->mss, most);
        return CONG_RECOVERY_NOTHING;
    }
    return recovery_is_due(r, una) ? recovery_begin(r, cc, next, flight, now)
                                   : CONG_RECOVERY_NOTHING;
}

static void recovery_finish(struct cong_recovery *r, struct cong *cc,
                            double flight, cong_time now) {
    recovery_close(r);
    recovery_notify(cc, CONG_RECOVERED, flight, 0, 0, now);
    if (r->kind == CONG_RECOVERY_NEWRENO) {
        double bound = fmax(flight, cc->mss) + cc->mss;
        cong__set_cwnd(cc, fmin(cc->cwnd, bound));
    }
}

/* The next hole is lost too; the window deflates by the acknowledged bytes. */
static unsigned recovery_repair_next(struct cong_recovery *r,
                                     const struct cong *cc, double acked) {
    unsigned todo = CONG_RECOVERY_REPAIR;
    if (!r->partial) {
        todo |= CONG_RECOVERY_RESTART_RTO;
    }
    r->partial = true;
    r->inflation -= acked;
    if (acked >= cc->mss) {
        r->inflation += cc->mss;
    }
    return todo;
}

unsigned cong_recovery_advance(struct cong_recovery *r, struct cong *cc,
                               uint64_t una, double acked, double flight,
                               cong_time now) {
    r->duplicates = 0;
    if (!r->open) {
        if (r->restarted && una >= r->recover) {
            r->restarted = false;
            recovery_notify(cc, CONG_RECOVERED, flight, 0, 0, now);
        }
        return CONG_RECOVERY_RESTART_RTO;
    }
    if (r->kind == CONG_RECOVERY_NEWRENO && una < r->recover) {
        return recovery_repair_next(r, cc, acked);
    }
    if (r->kind == CONG_RECOVERY_SACK && una < r->recover) {
        return CONG_RECOVERY_RESTART_RTO;
    }
    recovery_finish(r, cc, flight, now);
    return CONG_RECOVERY_RESTART_RTO;
}

unsigned cong_recovery_timeout(struct cong_recovery *r, struct cong *cc,
                               uint64_t next, double flight, unsigned nth,
                               cong_time now) {
    recovery_guard(r, next);
    recovery_close(r);
    r->restarted = true;
    r->duplicates = 0;
    recovery_notify(cc, CONG_RTO, flight, flight, nth, now);
    return CONG_RECOVERY_GO_BACK | CONG_RECOVERY_RESTART_RTO;
}
