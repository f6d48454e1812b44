/* SPDX-License-Identifier: MPL-2.0 */
/* The sender's reaction to acknowledgements and to their absence: `packet`
 * recovery (RFC 9002, RFC 8985). */
#include "libtltcp/engine/sender.h"

#define URGENT_PACKETS 3  /* delivered above a hole: no reordering wait */
#define PERSISTENT_PTOS 3 /* RFC 9002, 7.6 */
#define KEEP_LOST_RTTS 3  /* how long a false loss can be noticed */

/* Pieces of one section that were acknowledged and follow each other. */
typedef struct run {
    uint64_t section;
    uint64_t start, end;
    uint32_t pieces; /* 0: none yet */
} run;

/* What one feedback adds up to. */
typedef struct tally {
    run run; /* not credited yet */
    tltcp__feedback_result *result;
    struct cong_ack ack;
    tltcp__cross_sample newest; /* of the RTT in ack */
    tltcp_time now;
    tltcp_time unheard_since; /* nothing sent from then on got through, ... */
    tltcp_time unheard;       /* ... and the longest such time */
    uint64_t last_lost;       /* number */
    uint64_t largest;         /* number acknowledged, plus one */
    unsigned data;            /* data packets newly acknowledged */
    unsigned ect;             /* ECT packets newly acknowledged */
    uint64_t lost_packets;
    bool unnoted; /* the recovery period knows of the losses */
    int error;
} tally;

static void first_error(tally *t, int rv) {
    if (t->error == 0) {
        t->error = rv;
    }
}

static void credit_run(tltcp__sender *s, tally *t) {
    run *r = &t->run;
    if (r->pieces > 0) {
        first_error(t, tltcp__sections_on_acked(&s->sec, r->section, r->start,
                                                r->end, r->pieces));
        r->pieces = 0;
    }
}

static void credit_chunk(tltcp__sender *s, const tltcp__sent_chunk *f,
                         tally *t) {
    run *r = &t->run;
    if (r->pieces > 0 && r->section == f->section && r->end == f->start) {
        r->end += f->len;
        r->pieces++;
        return;
    }
    credit_run(s, t);
    *r = (run){f->section, f->start, f->start + f->len, 1};
}

static void credit_late(tltcp__sender *s, const tltcp__sent_chunk *f,
                        tally *t) {
    credit_run(s, t);
    first_error(t, tltcp__sections_on_late(&s->sec, f->section, f->start,
                                           f->start + f->len));
}

static void credit_packet(tltcp__sender *s, const tltcp__sent *rec, bool late,
                          tally *t) {
    for (unsigned i = 0; i < rec->chunks; i++) {
        const tltcp__sent_chunk *f = tltcp__sentmap_chunk(&s->map, rec, i);
        if (f->kind == TLTCP__SENT_CHUNK_DATA && late) {
            credit_late(s, f, t);
        } else if (f->kind == TLTCP__SENT_CHUNK_DATA) {
            credit_chunk(s, f, t);
        } else if (f->kind == TLTCP__SENT_CHUNK_REPAIR && !late) {
            credit_run(s, t);
            tltcp__sections_on_forgotten(&s->sec, f->section);
        }
    }
    t->data += (rec->flags & TLTCP__SENT_DATA) != 0;
}

static void sample_rtt(tltcp__sender *s, const tltcp__sent *rec,
                       tltcp_time delay, tally *t) {
    cong_time rtt = (cong_time)(t->now - rec->at);
    cong_time wait =
        (cong_time)(delay < s->peer_ack_delay ? delay : s->peer_ack_delay);
    /* never below the lowest: what was small has waited for less on the way */
    if (s->cc.rtt.min_rtt >= 0 && rtt > s->cc.rtt.min_rtt) {
        rtt = rtt - wait > s->cc.rtt.min_rtt ? rtt - wait : s->cc.rtt.min_rtt;
    }
    rtt = rtt > 0 ? rtt : 1;
    cong_rtt_sample_at(&s->cc.rtt, rtt, (cong_time)t->now);
    s->cc.held = (cong_time)(t->now - rec->at) - rtt;
    t->ack.rtt = rtt;
    t->newest = (tltcp__cross_sample){
        (cong_time)rec->at,
        rec->snap.delivered + rec->snap.lost + rec->snap.tx_in_flight, rtt};
}

static void packet_acked(tltcp__sender *s, uint64_t pn, tltcp_time delay,
                         tally *t) {
    tltcp__sent *rec = tltcp__sentmap_get(&s->map, pn);
    bool late = rec->state == TLTCP__SENT_LOST;
    if (rec->state == TLTCP__SENT_SILENT || rec->state == TLTCP__SENT_ACKED) {
        return;
    }
    credit_packet(s, rec, late, t);
    tltcp__sentmap_on_acked(&s->map, rec);
    t->result->acked |= rec->flags;
    t->ack.probes_acked += (rec->flags & TLTCP__SENT_DUMMY) != 0;
    t->ect += (rec->flags & TLTCP__SENT_ECT) != 0;
    if (rec->acked_upto > t->result->acked_upto) {
        t->result->acked_upto = rec->acked_upto;
    }
    if ((rec->flags & TLTCP__SENT_MTU_PROBE) != 0) {
        t->result->mtu_probe_acked = rec->size;
    }
    if (late) {
        if (pn >= s->path_pn) {
            cong_recovery_period_on_late(&s->cc.period, pn);
        }
        s->stats->packets_spurious++;
        cong_rack_reordered(&s->rack, true);
        return;
    }
    tltcp__fec_sender_on_packet(&s->sec.fec, false);
    if (pn + 1 < s->largest_acked) {
        cong_rack_reordered(&s->rack, false);
    }
    if (pn + 1 == t->largest) {
        /* The paper's recovery times its data itself, as TCP does. */
        if (pn >= s->path_pn &&
            (s->dup == NULL || (rec->flags & TLTCP__SENT_DATA) == 0)) {
            sample_rtt(s, rec, delay, t);
        }
    }
    cong_rack_delivered(&s->rack, (cong_time)rec->at,
                        (cong_time)(t->now - rec->at));
    if (pn >= s->path_pn) {
        cong_rate_on_acked(&s->cc.rate, &rec->snap, rec->size,
                           (cong_time)t->now);
    }
    t->ack.acked += rec->size;
    t->result->bytes += rec->size;
    if (rec->size > t->result->largest_size) {
        t->result->largest_size = rec->size;
    }
}

/* A number in [lo, hi) was never used. */
static bool is_optimistic(const tltcp__sender *s, uint64_t lo, uint64_t hi) {
    for (unsigned i = 0; i < TLTCP__SKIPPED_NUMBERS; i++) {
        if (s->skipped_numbers[i] != 0 && s->skipped_numbers[i] >= lo &&
            s->skipped_numbers[i] < hi) {
            return true;
        }
    }
    return false;
}

/* Takes [lo, hi) as acknowledged; visits only numbers not yet known to be. */
static int take_run(tltcp__sender *s, uint64_t lo, uint64_t hi,
                    tltcp_time delay, tally *t) {
    uint64_t pn = lo > s->map.packets.head ? lo : s->map.packets.head;
    uint64_t from = pn;
    if (is_optimistic(s, lo, hi)) {
        return TLTCP_ERR_ACK;
    }
    while (pn < hi) {
        cmn__range known = {hi, hi};
        (void)cmn__ranges_next(&s->map.acked, pn, &known);
        for (; pn < hi && pn < known.start; pn++) {
            packet_acked(s, pn, delay, t);
        }
        pn = known.end > pn ? known.end : pn;
    }
    if (from < hi && cmn__ranges_add(&s->map.acked, from, hi, NULL) != 0) {
        first_error(t, TLTCP_ERR_NOMEM);
    }
    return 0;
}

static int feedback_take_runs(tltcp__sender *s, const tltcp__ack *ack,
                              tally *t) {
    cmn__reader r = ack->ranges;
    tltcp_time delay = (tltcp_time)ack->delay_us * TLTCP_US;
    uint64_t hi = t->largest;
    uint64_t lo;
    int rv;
    if (ack->first >= hi) {
        return TLTCP_ERR_ACK;
    }
    lo = hi - ack->first - 1;
    rv = take_run(s, lo, hi, delay, t);
    while (rv == 0 && r.p < r.end) {
        uint64_t missing = (uint64_t)cmn__get32(&r) + 1;
        uint64_t present = (uint64_t)cmn__get32(&r) + 1;
        if (missing + present > lo) {
            return TLTCP_ERR_ACK;
        }
        hi = lo - missing;
        lo = hi - present;
        rv = take_run(s, lo, hi, delay, t);
    }
    return rv;
}

/* Returns which loss of the same data it is at most, from 1. */
static unsigned lose_chunks(tltcp__sender *s, const tltcp__sent *rec,
                            tally *t) {
    unsigned nth = 1;
    bool current = false;
    for (unsigned i = 0; i < rec->chunks; i++) {
        const tltcp__sent_chunk *f = tltcp__sentmap_chunk(&s->map, rec, i);
        uint64_t end = f->start + f->len;
        if (f->kind == TLTCP__SENT_CHUNK_SKIP) {
            current = true;
            first_error(t,
                        tltcp__sections_on_skip_lost(&s->sec, f->start, end));
            continue;
        }
        if (f->kind == TLTCP__SENT_CHUNK_REPAIR) {
            tltcp__sections_on_forgotten(&s->sec, f->section);
            continue;
        }
        first_error(t, tltcp__sections_on_lost(&s->sec, f->section, f->start,
                                               end, f->losses, &current));
        nth = f->losses + 1u > nth ? f->losses + 1u : nth;
    }
    s->stats->packets_lost_obsolete += rec->chunks > 0 && !current;
    return nth;
}

/* Lost packets come by their numbers. */
static void note_unheard(const tltcp__sender *s, uint64_t pn,
                         const tltcp__sent *rec, tally *t) {
    cmn__range through;
    if (t->lost_packets == 0 ||
        (cmn__ranges_next(&s->map.acked, t->last_lost, &through) &&
         through.start < pn)) {
        t->unheard_since = rec->at;
    }
    t->last_lost = pn;
    if (rec->at - t->unheard_since > t->unheard) {
        t->unheard = rec->at - t->unheard_since;
    }
}

static void packet_lost(tltcp__sender *s, uint64_t pn, tltcp__sent *rec,
                        tally *t) {
    unsigned nth;
    tltcp__sentmap_on_lost(&s->map, rec);
    if ((rec->flags & TLTCP__SENT_MTU_PROBE) != 0) {
        t->result->mtu_probe_lost = rec->size;
        return;
    }
    if ((rec->flags & TLTCP__SENT_DUMMY) != 0) {
        return;
    }
    if ((rec->flags & TLTCP__SENT_HELLO) != 0) {
        /* one that an impatient timer repeated is answered by nobody */
        s->resend |= rec->flags;
        return;
    }
    nth = lose_chunks(s, rec, t);
    tltcp__fec_sender_on_packet(&s->sec.fec, true);
    s->stats->packets_lost++;
    s->resend |= rec->flags;
    if (pn + 1 == s->update_pn) {
        s->update_sent = 0;
    }
    if (pn < s->path_pn) {
        return; /* says nothing about this path */
    }
    s->cc.rate.lost += rec->size;
    t->ack.lost += rec->size;
    if (!t->unnoted && s->dup == NULL) {
        cong_recovery_period_on_lost(&s->cc.period, pn, nth);
    }
    note_unheard(s, pn, rec, t);
    t->lost_packets++;
    if (rec->size > t->result->largest_lost) {
        t->result->largest_lost = rec->size;
    }
}

static void find_losses(tltcp__sender *s, tally *t) {
    tltcp__sent *rec;
    uint64_t pn;
    s->loss_at = TLTCP_TIME_NEVER;
    while ((rec = tltcp__sentmap_oldest(&s->map, &pn)) != NULL &&
           pn + 1 < s->largest_acked) {
        bool urgent = tltcp__cc_recovers(&s->cc) ||
                      s->largest_acked - 1 - pn >= URGENT_PACKETS;
        cong_time reo =
            cong_rack_reo(&s->rack, s->cc.rtt.min_rtt, s->cc.rtt.srtt, urgent);
        /* packets of one batch share a send time; their numbers order them */
        cong_time sent = (cong_time)rec->at < s->rack.t_sent
                             ? (cong_time)rec->at
                             : s->rack.t_sent - 1;
        cong_time at = cong_rack_deadline(&s->rack, sent, reo);
        if (at < 0 || at > (cong_time)t->now) {
            s->loss_at = at < 0 ? TLTCP_TIME_NEVER : (tltcp_time)at;
            return;
        }
        packet_lost(s, pn, rec, t);
    }
}

static void lose_all(tltcp__sender *s, tally *t) {
    tltcp__sent *rec;
    uint64_t pn;
    while ((rec = tltcp__sentmap_oldest(&s->map, &pn)) != NULL) {
        packet_lost(s, pn, rec, t);
    }
}

/* RFC 9002, 7.6: nothing sent over so long a time got through. */
static bool persistent(const tltcp__sender *s, const tally *t) {
    return s->cc.rtt.srtt >= 0 &&
           t->unheard > PERSISTENT_PTOS * tltcp__sender_pto(s);
}

static struct cong_recovery_report recovery_report(const tltcp__sender *s,
                                                   const tally *t) {
    return (struct cong_recovery_report){
        .now = (cong_time)t->now,
        .next = tltcp__sentmap_next(&s->map),
        .flight = t->ack.flight,
        .missing = (double)tltcp__sections_missing(&s->sec)};
}

static void begin_recovery(tltcp__sender *s) {
    s->recovery_seq = s->sec.nxt;
    s->stats->congestion_events++;
}

static void report_losses(tltcp__sender *s, tally *t) {
    const struct cong_recovery_report r = recovery_report(s, t);
    unsigned out;
    if (t->lost_packets > 0 && persistent(s, t)) {
        s->stats->rto_count++;
        tltcp__cc_on_persistent(&s->cc, &r);
        begin_recovery(s);
        return;
    }
    out = tltcp__cc_report(&s->cc, &r);
    if ((out & CONG_RECOVERY_ENTERED) != 0) {
        begin_recovery(s);
    }
    if ((out & CONG_RECOVERY_RESTARTED) != 0) {
        t->unnoted = true;
        lose_all(s, t);
    }
}

/* What became known, in the order that controllers expect. */
static void feedback_report(tltcp__sender *s, tally *t, bool advanced) {
    t->ack.now = (cong_time)t->now;
    t->ack.recovery = cong_recovery_period_in_recovery(&s->cc.period);
    if (s->largest_acked > s->round_pn) {
        t->ack.round = true;
        s->round_pn = tltcp__sentmap_next(&s->map);
    }
    tltcp__cc_on_ack(&s->cc, &t->ack, advanced && t->lost_packets == 0);
    report_losses(s, t);
}

/* The recovery period ends when all that was out at its beginning is accounted
 * for. */
static void end_recovery(tltcp__sender *s, tltcp_time now) {
    uint64_t oldest;
    if (s->dup != NULL || s->cc.period.state == CONG_RECOVERY_STATE_NONE ||
        s->sec.una < s->recovery_seq) {
        return;
    }
    if (tltcp__sentmap_oldest(&s->map, &oldest) == NULL) {
        oldest = tltcp__sentmap_next(&s->map);
    }
    if (tltcp__cc_on_settled(&s->cc, oldest, (double)s->map.bytes, now)) {
        cong_rack_recovered(&s->rack);
    }
}

static tally tally_of(tltcp__sender *s, tltcp__feedback_result *result,
                      tltcp_time now) {
    return (tally){
        .result = result,
        .now = now,
        .ack = {.rtt = -1, .flight = (double)s->map.bytes},
    };
}

static void feedback_settle(tltcp__sender *s, tltcp_time now) {
    tltcp_time keep = KEEP_LOST_RTTS * tltcp__sender_pto(s);
    if (s->arrival && s->cc.rtt.min_rtt > 0) {
        s->sec.lead = (tltcp_time)s->cc.rtt.min_rtt / 2;
    }
    end_recovery(s, now);
    tltcp__sentmap_trim(&s->map, now > keep ? now - keep : 0);
}

int tltcp__sender_detect(tltcp__sender *s, tltcp_time now,
                         tltcp__feedback_result *result) {
    tally t = tally_of(s, result, now);
    find_losses(s, &t);
    if (t.lost_packets > 0 && s->dup == NULL) {
        feedback_report(s, &t, false);
    }
    feedback_settle(s, now);
    return t.error;
}

/* An ACK that other packets have overtaken, or that is about another path, says
 * nothing. */
static void on_ecn(tltcp__sender *s, const tltcp__ack *ack, tally *t) {
    double marked;
    if (t->largest < s->largest_acked || t->largest <= s->path_pn ||
        t->ect == 0) {
        return;
    }
    marked = tltcp__ecn_on_ack(&s->ecn, ack, s->cc.cong->ect1, s->path_pn > 0,
                               t->ect);
    s->stats->ecn_ce = s->ecn.ce;
    if (marked > 0) {
        t->ack.ce = t->ack.acked * marked;
        cong_recovery_period_on_ce(&s->cc.period, t->largest - 1);
    }
}

static int on_cumulative(tltcp__sender *s, uint32_t wire, tally *t,
                         bool *advanced) {
    uint64_t cum = cmn__widen(wire - s->first_seq, s->peer_cum);
    *advanced = false;
    if (cum <= s->peer_cum) {
        return 0; /* overtaken by a later one */
    }
    if (cum > s->sec.nxt) {
        return TLTCP_ERR_ACK;
    }
    *advanced = true;
    s->peer_cum = cum;
    first_error(t, tltcp__sections_on_cumulative(&s->sec, cum));
    return 0;
}

int tltcp__sender_on_rebuilt(tltcp__sender *s, uint32_t start, uint32_t len) {
    uint64_t from = cmn__widen(start - s->first_seq, s->peer_cum);
    if (!tltcp__sections_was_sent(&s->sec, from, from + len)) {
        return TLTCP_ERR_ACK;
    }
    return tltcp__sections_on_rebuilt(&s->sec, from, from + len);
}

int tltcp__sender_on_ack(tltcp__sender *s, const tltcp__ack *ack,
                         tltcp_time now, tltcp__feedback_result *result) {
    tally t = tally_of(s, result, now);
    bool advanced;
    int rv;
    t.largest = cmn__widen(ack->largest, s->map.packets.tail) + 1;
    if (t.largest > s->map.packets.tail) {
        return TLTCP_ERR_ACK;
    }
    rv = feedback_take_runs(s, ack, &t);
    credit_run(s, &t);
    if (rv == 0) {
        rv = on_cumulative(s, ack->cumulative, &t, &advanced);
    }
    if (rv != 0) {
        return rv;
    }
    if (t.largest > s->largest_acked) {
        s->largest_acked = t.largest;
    }
    if (t.ack.acked > 0) {
        s->pto_count = 0;
        s->pto_probes = 0;
    }
    tltcp__sender_on_window(s, ack->window);
    find_losses(s, &t);
    if (s->dup != NULL) {
        first_error(&t, tltcp__dupack_on_ack(s->dup, &s->sec, &s->cc,
                                             s->peer_cum, t.data, now));
    } else if (t.ack.acked > 0 || t.lost_packets > 0 ||
               t.ack.probes_acked > 0) {
        on_ecn(s, ack, &t);
        feedback_report(s, &t, advanced);
    }
    tltcp__sender_update_target(s, t.ack.acked, t.ack.rtt, &t.newest, now);
    feedback_settle(s, now);
    return t.error;
}
