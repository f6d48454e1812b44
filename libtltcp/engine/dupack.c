/* SPDX-License-Identifier: MPL-2.0 */
/* The paper's loss recovery: duplicate acknowledgements and RTO. */
#include "libtltcp/engine/dupack.h"

#define NOWHERE UINT64_MAX

static tltcp__extent *extent(const tltcp__dupack *d, uint64_t i) {
    return cmn__ring_at(&d->out, i);
}

void tltcp__dupack_init(tltcp__dupack *d, const cmn__mem *mem,
                        const struct cong_recovery *how) {
    *d = (tltcp__dupack){
        .recovery = *how,
        .again = NOWHERE,
        .gap = NOWHERE,
        .rto_at = TLTCP_TIME_NEVER,
    };
    cmn__ring_init(&d->out, mem, sizeof(tltcp__extent), 0);
}

void tltcp__dupack_free(tltcp__dupack *d) {
    cmn__ring_free(&d->out);
}

static uint32_t flying(const tltcp__dupack *d, const tltcp__extent *x) {
    return x->epoch == d->epoch ? x->flying : 0;
}

/* len bytes of an extent are no longer in flight. */
static void take_off(tltcp__dupack *d, tltcp__extent *x, uint64_t len) {
    x->flying = flying(d, x) + (uint32_t)len;
    x->epoch = d->epoch;
    d->flight += len;
}

/* Its bytes below cum are acknowledged. */
static void land_below(tltcp__dupack *d, tltcp__extent *x, uint64_t cum) {
    uint32_t out = flying(d, x);
    uint32_t left = x->end > cum ? (uint32_t)(x->end - cum) : 0;
    if (out > left) {
        d->flight -= out - left;
        x->flying = left;
    }
}

static tltcp_time rto_wait(const tltcp__dupack *d, const tltcp__cc *cc) {
    cong_time rto = cong_rtt_rto(&cc->rtt);
    return rto < cc->rtt.rto_max ? (tltcp_time)rto
                                 : tltcp__uneven((tltcp_time)rto, d->expiries);
}

static void restart_rto(tltcp__dupack *d, const tltcp__cc *cc, tltcp_time now) {
    if (d->skipped > 0 && d->rto_at != TLTCP_TIME_NEVER) {
        return; /* runs for what was skipped */
    }
    d->rto_at = d->flight > 0 ? now + rto_wait(d, cc) : TLTCP_TIME_NEVER;
}

/* Counts everything in flight as lost: TCP's snd_nxt = snd_una. */
static void go_back(tltcp__dupack *d) {
    d->resend = d->out.head;
    d->resend_to = d->out.tail;
    d->resend_at = 0;
    d->epoch++;
    d->flight = 0;
    d->skipped = 0;
    d->again = NOWHERE;
}

static uint64_t sent_end(const tltcp__dupack *d) {
    return cmn__ring_len(&d->out) > 0 ? extent(d, d->out.tail - 1)->end
                                      : d->una;
}

static bool is_live(const tltcp__sections *sec, const tltcp__extent *x) {
    return x->end > sec->update && x->section >= sec->update_section &&
           tltcp__sections_is_live(sec, x->section);
}

/* Whether it keeps its place in the window: it is obsolete, and it or something
 * before it in its section is missing. */
static bool holds_place(tltcp__dupack *d, const tltcp__sections *sec,
                        const tltcp__extent *x) {
    if (!d->hold_skipped || is_live(sec, x)) {
        return false;
    }
    if (!x->reached) {
        d->gap = x->section;
    }
    return d->gap == x->section;
}

/* Removes the records below cum; returns their bytes and, in *at, when the
 * newest of them left (0: gives no RTT). */
static double settle_below(tltcp__dupack *d, tltcp__sections *sec, uint64_t cum,
                           tltcp_time *at) {
    double bytes = 0;
    *at = 0;
    while (cmn__ring_len(&d->out) > 0) {
        tltcp__extent *x = extent(d, d->out.head);
        if (x->start >= cum) {
            break;
        }
        if (holds_place(d, sec, x)) {
            d->skipped += flying(d, x);
        } else {
            land_below(d, x, cum);
            bytes += (double)((x->end < cum ? x->end : cum) - x->start);
        }
        if (x->end > cum) {
            d->arrived -= x->arrived ? cum - x->start : 0;
            x->start = cum;
            break;
        }
        *at = x->start >= d->untimed ? x->at : 0;
        d->arrived -= x->arrived ? x->end - x->start : 0;
        tltcp__sections_on_forgotten(sec, x->section);
        cmn__ring_pop(&d->out);
    }
    if (d->resend < d->out.head) {
        d->resend = d->out.head;
        d->resend_at = 0;
    }
    if (d->resend_to < d->out.head) {
        d->resend_to = d->out.head;
    }
    return bytes;
}

/* The extent that holds offset seq, or the first one behind it. */
static uint64_t dupack_find(const tltcp__dupack *d, uint64_t seq) {
    uint64_t lo = d->out.head;
    uint64_t hi = d->out.tail;
    while (lo < hi) {
        uint64_t mid = lo + (hi - lo) / 2;
        if (extent(d, mid)->end > seq) {
            hi = mid;
        } else {
            lo = mid + 1;
        }
    }
    return lo;
}

void tltcp__dupack_on_arrived(tltcp__dupack *d, uint64_t start, uint64_t end) {
    for (uint64_t i = dupack_find(d, start); i < d->out.tail; i++) {
        tltcp__extent *x = extent(d, i);
        if (x->start < start || x->end > end) {
            break; /* in two parts: known when the cumulative point is there */
        }
        x->reached = true;
        if (tltcp__dupack_is_sack(d) && !x->arrived) {
            land_below(d, x, x->end);
            x->arrived = true;
            d->arrived += x->end - x->start;
            cong_recovery_arrived(&d->recovery, x->start);
        }
    }
}

/* Takes lost segments out of the pipe and schedules their retransmission. */
static void mark_lost(tltcp__dupack *d) {
    uint64_t below = cong_recovery_lost_below(&d->recovery);
    while (d->resend_to < d->out.tail &&
           extent(d, d->resend_to)->start < below) {
        tltcp__extent *x = extent(d, d->resend_to++);
        land_below(d, x, x->end);
    }
}

/* The hole counts as lost from the beginning. */
static void begin_scoreboard(tltcp__dupack *d) {
    tltcp__extent *hole = extent(d, d->out.head);
    land_below(d, hole, hole->end);
    d->resend = d->out.head;
    d->resend_to = d->out.head + 1;
    d->resend_at = 0;
    mark_lost(d);
}

/* Does what the recovery's state machine asks for. */
static void act(tltcp__dupack *d, tltcp__cc *cc, unsigned todo,
                tltcp_time now) {
    if ((todo & CONG_RECOVERY_RESTART_RTO) != 0) {
        restart_rto(d, cc, now);
    }
    if ((todo & CONG_RECOVERY_GO_BACK) != 0) {
        go_back(d);
    }
    if ((todo & CONG_RECOVERY_REPAIR) != 0) {
        d->again = d->una;
        if (tltcp__dupack_is_sack(d)) {
            begin_scoreboard(d);
        }
    }
    tltcp__cc_set_pace(cc);
}

/* The window grows with newly arrived data, not with data below the cumulative
 * number that arrived long before (RFC 5681 section 3.1): otherwise one ACK
 * after a timeout would open it at once. */
static void dupack_grow(tltcp__dupack *d, tltcp__cc *cc, double bytes,
                        double flight, cong_time rtt, tltcp_time now) {
    struct cong_ack ack = {
        .now = (cong_time)now,
        .rtt = rtt,
        .acked = bytes,
        .flight = flight,
        .recovery = d->recovery.open,
        .round = d->una >= d->round_end,
    };
    if (ack.round) {
        d->round_end = sent_end(d);
    }
    tltcp__cc_on_ack(cc, &ack, true);
}

static void on_advance(tltcp__dupack *d, tltcp__sections *sec, tltcp__cc *cc,
                       uint64_t cum, unsigned data, tltcp_time now) {
    double flight = (double)(d->flight + d->arrived);
    double arrived = data * cc->cong->mss;
    tltcp_time at;
    double bytes = settle_below(d, sec, cum, &at);
    cong_time rtt = -1;
    d->una = cum;
    d->expiries = 0;
    if (at > 0 && now > at) {
        rtt = (cong_time)(now - at);
        cong_rtt_sample_at(&cc->rtt, rtt, (cong_time)now);
        /* Times one segment per round trip (Jacobson): samples from every ACK
         * would shrink the variance within one window, and the timeout would
         * fire spuriously while a queue grows. */
        d->untimed = sent_end(d);
    }
    dupack_grow(d, cc, d->recovery.open || bytes < arrived ? bytes : arrived,
                flight, rtt, now);
    act(d, cc,
        cong_recovery_advance(&d->recovery, cc->cong, cum, bytes,
                              (double)d->flight, (cong_time)now),
        now);
}

/* `data` data packets arrived above the hole. */
static void on_duplicates(tltcp__dupack *d, tltcp__sections *sec, tltcp__cc *cc,
                          unsigned data, tltcp_time now) {
    unsigned todo = CONG_RECOVERY_NOTHING;
    if (d->recovery.duplicates == 0) {
        d->level = d->flight + d->arrived;
    }
    for (unsigned i = 0; i < data && todo == CONG_RECOVERY_NOTHING; i++) {
        todo =
            cong_recovery_duplicate(&d->recovery, cc->cong, d->una, sent_end(d),
                                    (double)d->level, (cong_time)now);
    }
    if (todo != CONG_RECOVERY_NOTHING) {
        sec->stats->congestion_events++;
        act(d, cc, todo, now);
    }
}

int tltcp__dupack_on_ack(tltcp__dupack *d, tltcp__sections *sec, tltcp__cc *cc,
                         uint64_t cum, unsigned data, tltcp_time now) {
    if (cum > d->una) {
        on_advance(d, sec, cc, cum, data, now);
    } else if (d->flight > 0 || d->arrived > 0) {
        on_duplicates(d, sec, cc, data, now);
    }
    if (tltcp__dupack_is_sack(d) && d->recovery.open) {
        mark_lost(d);
    }
    return 0;
}

/* The lowest live data in flight at or above the hole, or NULL. */
static tltcp__extent *lowest_current(const tltcp__dupack *d,
                                     const tltcp__sections *sec) {
    uint64_t i =
        dupack_find(d, d->again > sec->update ? d->again : sec->update);
    while (i < d->out.tail && !is_live(sec, extent(d, i))) {
        i++;
    }
    return i < d->out.tail ? extent(d, i) : NULL;
}

void tltcp__dupack_refresh(tltcp__dupack *d, const tltcp__sections *sec) {
    while (d->resend < d->resend_to && (extent(d, d->resend)->arrived ||
                                        !is_live(sec, extent(d, d->resend)))) {
        d->resend++; /* TCP would count it as lost: not in flight */
        d->resend_at = 0;
    }
    if (d->again != NOWHERE && lowest_current(d, sec) == NULL) {
        d->again = NOWHERE;
    }
}

bool tltcp__dupack_has(const tltcp__dupack *d, const tltcp__sections *sec,
                       const tltcp__cc *cc) {
    return (d->again != NOWHERE && !tltcp__dupack_is_sack(d)) ||
           d->resend < d->resend_to ||
           (!cc->cong->repair_only && tltcp__sections_has(sec, true));
}

/* The allowed flight. Limited transmit is for new data (RFC 3042) and stays
 * within the receiver's window. */
static double window(const tltcp__dupack *d, const struct cong *cc) {
    struct cong_recovery r = d->recovery;
    double bytes;
    r.limited_transmit &= d->resend >= d->resend_to;
    bytes = cong_recovery_window(&r, cc);
    return r.open || bytes < cc->cwnd_max ? bytes : cc->cwnd_max;
}

bool tltcp__dupack_open(const tltcp__dupack *d, const tltcp__cc *cc) {
    return d->again != NOWHERE ||
           (double)d->flight + cc->cong->mss <= window(d, cc->cong);
}

/* Section 5.5 of the paper: the slot of a retransmission goes to the lowest
 * unacknowledged live data, even if that was not lost. */
static bool take_again(tltcp__dupack *d, tltcp__sections *sec, uint64_t max,
                       tltcp_time now, tltcp__piece *out) {
    tltcp__extent *x = lowest_current(d, sec);
    uint64_t hole = d->again;
    d->again = NOWHERE;
    if (x == NULL ||
        !tltcp__sections_again(sec, x->start, x->end, max, now, out)) {
        return false;
    }
    sec->stats->pseudo_retransmissions += x->start > hole;
    d->untimed = sent_end(d);
    return true;
}

bool tltcp__dupack_next(tltcp__dupack *d, tltcp__sections *sec, uint64_t max,
                        tltcp_time now, tltcp__piece *out) {
    const tltcp__extent *x;
    uint64_t start;
    if (d->again != NOWHERE && !tltcp__dupack_is_sack(d) &&
        take_again(d, sec, max, now, out)) {
        return true;
    }
    tltcp__dupack_refresh(d, sec);
    if (d->resend >= d->resend_to) {
        return tltcp__sections_next(sec, max, true, now, out);
    }
    x = extent(d, d->resend);
    start = d->resend_at > x->start ? d->resend_at : x->start;
    return tltcp__sections_again(sec, start, x->end, max, now, out);
}

static bool is_resend(const tltcp__dupack *d, const tltcp__piece *p) {
    const tltcp__extent *x;
    if (d->resend >= d->resend_to) {
        return false;
    }
    x = extent(d, d->resend);
    return p->start == (d->resend_at > x->start ? d->resend_at : x->start);
}

int tltcp__dupack_on_sent(tltcp__dupack *d, tltcp__cc *cc,
                          const tltcp__piece *p, tltcp_time now) {
    tltcp__extent *x;
    if (tltcp__dupack_is_sack(d)) {
        d->again = NOWHERE; /* its slot is taken */
    }
    if (p->losses == 0) {
        x = cmn__ring_push(&d->out);
        if (x == NULL) {
            return TLTCP_ERR_NOMEM;
        }
        *x = (tltcp__extent){
            .start = p->start, .end = p->end, .section = p->section, .at = now};
        take_off(d, x, p->end - p->start);
    } else if (is_resend(d, p)) {
        x = extent(d, d->resend);
        d->untimed = sent_end(d);
        take_off(d, x, p->end - p->start);
        d->resend_at = p->end;
        if (p->end == x->end) {
            d->resend++;
            d->resend_at = 0;
        }
    }
    if (d->rto_at == TLTCP_TIME_NEVER) {
        restart_rto(d, cc, now);
    }
    return 0;
}

void tltcp__dupack_on_timeout(tltcp__dupack *d, tltcp__cc *cc,
                              tltcp__sections *sec, tltcp_time now) {
    unsigned todo;
    cc->rtt.backoff++;
    todo =
        cong_recovery_timeout(&d->recovery, cc->cong, sent_end(d),
                              (double)d->flight, ++d->expiries, (cong_time)now);
    act(d, cc, todo, now);
    tltcp__dupack_refresh(d, sec);
    d->rto_at =
        d->resend < d->resend_to ? now + rto_wait(d, cc) : TLTCP_TIME_NEVER;
}
