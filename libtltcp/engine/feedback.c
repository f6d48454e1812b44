/* SPDX-License-Identifier: MPL-2.0 */
/* The sender's reaction to acknowledgements and to their absence: `packet`
 * recovery (RFC 9002, RFC 8985). */
#include "libtltcp/engine/acks.h"
#include "libtltcp/engine/sender.h"

#define URGENT_PACKETS 3  /* delivered above a hole: no wait for reordering */
#define PERSISTENT_PTOS 3 /* RFC 9002, 7.6 */
#define KEEP_LOST_RTTS 3  /* how long a spurious loss can be detected */

/* Contiguous acknowledged pieces of one section. */
typedef struct run {
    uint64_t section;
    uint64_t start, end;
    uint32_t pieces; /* 0: none yet */
} run;

/* Sum of one feedback. */
typedef struct feedback {
    run run; /* not yet credited */
    tltcp__feedback_result *result;
    struct cong_ack ack;
    tltcp__cross_sample newest; /* of the RTT in ack */
    tltcp_time now;
    tltcp_time came; /* when it would have come on a fast return path */
    tltcp_time unheard_since; /* nothing sent since then got through, ... */
    tltcp_time unheard;       /* ... and the longest such time */
    uint64_t last_lost;       /* number */
    uint64_t largest;         /* number acknowledged, plus one */
    unsigned data;            /* data packets newly acknowledged */
    unsigned ect;             /* ECT packets newly acknowledged */
    uint64_t lost_packets;
    bool unnoted; /* the losses are not to be noted in the recovery period */
    int error;
} feedback;

static void first_error(feedback *fb, int rv) {
    if (fb->error == 0) {
        fb->error = rv;
    }
}

static void credit_run(tltcp__sender *s, feedback *fb) {
    run *r = &fb->run;
    if (r->pieces > 0) {
        first_error(fb, tltcp__sections_on_acked(&s->sec, r->section, r->start,
                                                 r->end, r->pieces));
        r->pieces = 0;
    }
}

static void credit_chunk(tltcp__sender *s, const tltcp__sent_chunk *chunk,
                         feedback *fb) {
    run *r = &fb->run;
    if (r->pieces > 0 && r->section == chunk->section &&
        r->end == chunk->start) {
        r->end += chunk->len;
        r->pieces++;
        return;
    }
    credit_run(s, fb);
    *r = (run){chunk->section, chunk->start, chunk->start + chunk->len, 1};
}

static void credit_late(tltcp__sender *s, const tltcp__sent_chunk *chunk,
                        feedback *fb) {
    credit_run(s, fb);
    first_error(fb,
                tltcp__sections_on_late(&s->sec, chunk->section, chunk->start,
                                        chunk->start + chunk->len));
}

static void credit_packet(tltcp__sender *s, const tltcp__sent *rec, bool late,
                          feedback *fb) {
    for (unsigned i = 0; i < rec->chunks; i++) {
        const tltcp__sent_chunk *chunk = tltcp__sentmap_chunk(&s->map, rec, i);
        if (chunk->kind == TLTCP__SENT_CHUNK_DATA && late) {
            credit_late(s, chunk, fb);
        } else if (chunk->kind == TLTCP__SENT_CHUNK_DATA) {
            credit_chunk(s, chunk, fb);
        } else if (chunk->kind == TLTCP__SENT_CHUNK_SEGMENT) {
            tltcp__dupack_on_arrived(s->dup, chunk->start,
                                     chunk->start + chunk->len);
        } else if (chunk->kind == TLTCP__SENT_CHUNK_REPAIR && !late) {
            credit_run(s, fb);
            tltcp__sections_on_forgotten(&s->sec, chunk->section);
        }
    }
    fb->data += (rec->flags & TLTCP__SENT_DATA) != 0;
}

static void sample_rtt(tltcp__sender *s, const tltcp__sent *rec,
                       tltcp_time delay, feedback *fb) {
    cong_time rtt = (cong_time)(fb->now - rec->at);
    tltcp_time most =
        s->frequency.calm ? TLTCP__ACK_DELAY_MAX : tltcp__sender_ack_delay(s);
    cong_time wait = (cong_time)tltcp__earlier(delay, most);
    /* never below the lowest RTT: small packets wait less in the network */
    if (s->cc.rtt.min_rtt >= 0 && rtt > s->cc.rtt.min_rtt) {
        rtt = rtt - wait > s->cc.rtt.min_rtt ? rtt - wait : s->cc.rtt.min_rtt;
    }
    rtt = rtt > 0 ? rtt : 1;
    rtt = tltcp__cc_on_rtt(&s->cc, rtt, rec->size, (cong_time)fb->now);
    s->cc.held = (cong_time)(fb->now - rec->at) - rtt;
    fb->ack.rtt = rtt;
    fb->newest = (tltcp__cross_sample){
        (cong_time)rec->at,
        rec->snap.delivered + rec->snap.lost + rec->snap.tx_in_flight, rtt};
}

static void packet_acked(tltcp__sender *s, uint64_t pn, tltcp_time delay,
                         feedback *fb) {
    tltcp__sent *rec = tltcp__sentmap_get(&s->map, pn);
    bool late = rec->state == TLTCP__PACKET_LOST;
    if (rec->state == TLTCP__PACKET_SILENT ||
        rec->state == TLTCP__PACKET_ACKED) {
        return;
    }
    credit_packet(s, rec, late, fb);
    tltcp__sentmap_on_acked(&s->map, rec);
    fb->result->acked |= rec->flags;
    fb->ack.probes_acked += (rec->flags & TLTCP__SENT_DUMMY) != 0;
    fb->ect += (rec->flags & TLTCP__SENT_ECT) != 0;
    if (rec->acked_upto > fb->result->acked_upto) {
        fb->result->acked_upto = rec->acked_upto;
    }
    if ((rec->flags & TLTCP__SENT_MTU_PROBE) != 0) {
        fb->result->mtu_probe_acked = rec->size;
    }
    if (late) {
        if (pn >= s->path_pn) {
            cong_recovery_period_on_late(&s->cc.period, pn);
        }
        s->sec.stats->packets_spurious++;
        cong_rack_reordered(&s->rack, true);
        return;
    }
    tltcp__fec_sender_on_packet(&s->sec.fec, false);
    if (pn + 1 < s->largest_acked) {
        cong_rack_reordered(&s->rack, false);
    }
    if (pn + 1 == fb->largest) {
        /* The paper's recovery measures RTTs of data itself, as TCP does. */
        if (pn >= s->path_pn &&
            (s->dup == NULL || (rec->flags & TLTCP__SENT_DATA) == 0)) {
            sample_rtt(s, rec, delay, fb);
        }
    }
    cong_rack_delivered(&s->rack, (cong_time)rec->at,
                        (cong_time)(fb->now - rec->at));
    if (pn >= s->path_pn) {
        cong_rate_on_acked(&s->cc.rate, &rec->snap, rec->size,
                           (cong_time)fb->came);
    }
    fb->ack.acked += rec->size;
    fb->result->bytes += rec->size;
    if (rec->size > fb->result->largest_size) {
        fb->result->largest_size = rec->size;
    }
}

/* The controller does not hear of what waits on the return path. */
static void leave_out_return(tltcp__sender *s, const tltcp__ack *ack,
                             feedback *fb) {
    cong_time rtt = fb->ack.rtt;
    cong_time without = fb->largest > s->path_pn
                            ? tltcp__sender_without_return(s, ack, rtt, fb->now)
                            : -1;
    if (without > 0) {
        fb->ack.rtt = without;
        fb->newest.rtt = without;
        s->cc.held += rtt - without - s->cc.lag;
    }
}

/* Whether what an ACK of the packet changes can be noted for several at
 * once. */
static bool is_plain(const tltcp__sender *s, const tltcp__sent *rec) {
    const unsigned plain =
        TLTCP__SENT_UPDATE | TLTCP__SENT_DATA | TLTCP__SENT_ECT;
    return rec->state == TLTCP__PACKET_FLYING && rec->chunks == 1 &&
           (rec->flags & ~plain) == 0 && rec->acked_upto == 0 &&
           tltcp__sentmap_chunk(&s->map, rec, 0)->kind ==
               TLTCP__SENT_CHUNK_DATA;
}

/* Takes plain packets from pn on, none of them the largest acknowledged, as
 * packet_acked() takes each. Returns the number after the last one. */
static uint64_t plain_acked(tltcp__sender *s, uint64_t pn, uint64_t end,
                            feedback *fb) {
    const tltcp__sent *last = NULL;
    uint64_t first = pn;
    uint64_t bytes = 0;
    if (s->dup != NULL || pn < s->path_pn) {
        return pn;
    }
    for (; pn < end && pn + 1 < fb->largest; pn++) {
        tltcp__sent *rec = tltcp__sentmap_get(&s->map, pn);
        if (!is_plain(s, rec) || (last != NULL && rec->at < last->at)) {
            break;
        }
        credit_chunk(s, tltcp__sentmap_chunk(&s->map, rec, 0), fb);
        tltcp__sentmap_on_acked(&s->map, rec);
        tltcp__fec_sender_on_packet(&s->sec.fec, false);
        fb->data += (rec->flags & TLTCP__SENT_DATA) != 0;
        fb->ect += (rec->flags & TLTCP__SENT_ECT) != 0;
        fb->result->acked |= rec->flags;
        if (rec->size > fb->result->largest_size) {
            fb->result->largest_size = rec->size;
        }
        bytes += rec->size;
        last = rec;
    }
    if (last == NULL) {
        return pn;
    }
    if (first + 1 < s->largest_acked) {
        cong_rack_reordered(&s->rack, false);
    }
    cong_rack_delivered(&s->rack, (cong_time)last->at,
                        (cong_time)(fb->now - last->at));
    /* the newest packet's sample replaces those of the others */
    cong_rate_on_acked(&s->cc.rate, &last->snap, (double)bytes,
                       (cong_time)fb->came);
    fb->ack.acked += (double)bytes;
    fb->result->bytes += bytes;
    return pn;
}

/* Processes [lo, hi) as acknowledged; visits only newly acknowledged
 * numbers. */
static int take_run(tltcp__sender *s, uint64_t lo, uint64_t hi,
                    tltcp_time delay, feedback *fb) {
    uint64_t pn = lo > s->map.packets.head ? lo : s->map.packets.head;
    uint64_t from = pn;
    if (tltcp__sender_is_optimistic(s, lo, hi)) {
        return TLTCP_ERR_ACK;
    }
    while (pn < hi) {
        cmn__range known = {hi, hi};
        uint64_t stop;
        (void)cmn__ranges_next(&s->map.acked, pn, &known);
        stop = known.start < hi ? known.start : hi;
        while (pn < stop) {
            pn = plain_acked(s, pn, stop, fb);
            if (pn < stop) {
                packet_acked(s, pn++, delay, fb);
            }
        }
        pn = known.end > pn ? known.end : pn;
    }
    if (from < hi && cmn__ranges_add(&s->map.acked, from, hi, NULL) != 0) {
        first_error(fb, TLTCP_ERR_NOMEM);
    }
    return 0;
}

static int feedback_take_runs(tltcp__sender *s, const tltcp__ack *ack,
                              feedback *fb) {
    cmn__reader r = ack->ranges;
    tltcp_time delay = (tltcp_time)ack->delay_us * TLTCP_US;
    uint64_t hi = fb->largest;
    uint64_t lo;
    int rv;
    if (ack->first >= hi) {
        return TLTCP_ERR_ACK;
    }
    lo = hi - ack->first - 1;
    rv = take_run(s, lo, hi, delay, fb);
    while (rv == 0 && r.p < r.end) {
        uint64_t missing = (uint64_t)cmn__get32(&r) + 1;
        uint64_t present = (uint64_t)cmn__get32(&r) + 1;
        if (missing + present > lo) {
            return TLTCP_ERR_ACK;
        }
        hi = lo - missing;
        lo = hi - present;
        rv = take_run(s, lo, hi, delay, fb);
    }
    return rv;
}

/* Returns the highest number of losses of the same data, from 1. */
static unsigned lose_chunks(tltcp__sender *s, const tltcp__sent *rec,
                            feedback *fb) {
    unsigned nth = 1;
    bool current = false;
    for (unsigned i = 0; i < rec->chunks; i++) {
        const tltcp__sent_chunk *chunk = tltcp__sentmap_chunk(&s->map, rec, i);
        uint64_t end = chunk->start + chunk->len;
        if (chunk->kind == TLTCP__SENT_CHUNK_SEGMENT) {
            current = true; /* its scoreboard knows what is lost */
            continue;
        }
        if (chunk->kind == TLTCP__SENT_CHUNK_SKIP) {
            current = true;
            first_error(
                fb, tltcp__sections_on_skip_lost(&s->sec, chunk->start, end));
            continue;
        }
        if (chunk->kind == TLTCP__SENT_CHUNK_REPAIR) {
            tltcp__sections_on_forgotten(&s->sec, chunk->section);
            continue;
        }
        first_error(fb, tltcp__sections_on_lost(&s->sec, chunk->section,
                                                chunk->start, end,
                                                chunk->losses, &current));
        nth = chunk->losses + 1u > nth ? chunk->losses + 1u : nth;
    }
    s->sec.stats->packets_lost_obsolete += rec->chunks > 0 && !current;
    return nth;
}

/* Lost packets arrive in order of their numbers. */
static void note_unheard(const tltcp__sender *s, uint64_t pn,
                         const tltcp__sent *rec, feedback *fb) {
    cmn__range through;
    if (fb->lost_packets == 0 ||
        (cmn__ranges_next(&s->map.acked, fb->last_lost, &through) &&
         through.start < pn)) {
        fb->unheard_since = rec->at;
    }
    fb->last_lost = pn;
    if (rec->at - fb->unheard_since > fb->unheard) {
        fb->unheard = rec->at - fb->unheard_since;
    }
}

static void packet_lost(tltcp__sender *s, uint64_t pn, tltcp__sent *rec,
                        feedback *fb) {
    unsigned nth;
    tltcp__sentmap_on_lost(&s->map, rec);
    if ((rec->flags & TLTCP__SENT_MTU_PROBE) != 0) {
        fb->result->mtu_probe_lost = rec->size;
        return;
    }
    if ((rec->flags & TLTCP__SENT_DUMMY) != 0) {
        return;
    }
    if ((rec->flags & TLTCP__SENT_HELLO) != 0) {
        /* the copy sent by an early timer may have been lost too */
        s->resend |= rec->flags;
        return;
    }
    nth = lose_chunks(s, rec, fb);
    tltcp__fec_sender_on_packet(&s->sec.fec, true);
    s->sec.stats->packets_lost++;
    s->resend |= rec->flags;
    if (pn + 1 == s->update_pn) {
        s->update_sent = 0;
    }
    if (pn < s->path_pn) {
        return; /* it says nothing about this path */
    }
    s->cc.rate.lost += rec->size;
    fb->ack.lost += rec->size;
    if (!fb->unnoted && s->dup == NULL) {
        cong_recovery_period_on_lost(&s->cc.period, pn, nth);
    }
    note_unheard(s, pn, rec, fb);
    fb->lost_packets++;
    if (rec->size > fb->result->largest_lost) {
        fb->result->largest_lost = rec->size;
    }
}

static void find_losses(tltcp__sender *s, feedback *fb) {
    tltcp__sent *rec;
    uint64_t pn;
    s->loss_at = TLTCP_TIME_NEVER;
    while ((rec = tltcp__sentmap_oldest(&s->map, &pn)) != NULL &&
           pn + 1 < s->largest_acked) {
        bool urgent = tltcp__cc_recovers(&s->cc) ||
                      s->largest_acked - 1 - pn >= URGENT_PACKETS;
        cong_time reo =
            cong_rack_reo(&s->rack, s->cc.rtt.min_rtt, s->cc.rtt.srtt, urgent);
        /* packets of a batch share a send time; their numbers order them */
        cong_time sent = (cong_time)rec->at < s->rack.t_sent
                             ? (cong_time)rec->at
                             : s->rack.t_sent - 1;
        cong_time at = cong_rack_deadline(&s->rack, sent, reo);
        if (at < 0 || at > (cong_time)fb->now) {
            s->loss_at = at < 0 ? TLTCP_TIME_NEVER : (tltcp_time)at;
            return;
        }
        packet_lost(s, pn, rec, fb);
    }
}

static void lose_all(tltcp__sender *s, feedback *fb) {
    tltcp__sent *rec;
    uint64_t pn;
    while ((rec = tltcp__sentmap_oldest(&s->map, &pn)) != NULL) {
        packet_lost(s, pn, rec, fb);
    }
}

/* Persistent congestion (RFC 9002 section 7.6): nothing sent over this time got
 * through. */
static bool persistent(const tltcp__sender *s, const feedback *fb) {
    return s->cc.rtt.srtt >= 0 &&
           fb->unheard > PERSISTENT_PTOS * tltcp__sender_pto(s);
}

static struct cong_recovery_report recovery_report(tltcp__sender *s,
                                                   const feedback *fb) {
    return (struct cong_recovery_report){
        .now = tltcp__cc_clock(&s->cc, fb->now),
        .next = tltcp__sentmap_next(&s->map),
        .flight = fb->ack.flight,
        .missing = (double)tltcp__sections_missing(&s->sec)};
}

static void begin_recovery(tltcp__sender *s) {
    s->recovery_seq = s->sec.nxt;
    s->sec.stats->congestion_events++;
}

static void report_losses(tltcp__sender *s, feedback *fb) {
    const struct cong_recovery_report r = recovery_report(s, fb);
    unsigned out;
    if (fb->lost_packets > 0 && persistent(s, fb)) {
        s->sec.stats->rto_count++;
        tltcp__cc_on_persistent(&s->cc, &r);
        begin_recovery(s);
        return;
    }
    out = tltcp__cc_on_congestion(&s->cc, &r);
    if ((out & CONG_RECOVERY_ENTERED) != 0) {
        begin_recovery(s);
    }
    if ((out & CONG_RECOVERY_RESTARTED) != 0) {
        fb->unnoted = true;
        lose_all(s, fb);
    }
}

/* What was in flight and lost until now says nothing about the longer path. */
static void note_route(tltcp__sender *s, const feedback *fb) {
    struct cong_ack ack = fb->ack;
    cong_time longer;
    ack.now = (cong_time)fb->now; /* jumps are told by the host's clock */
    longer =
        tltcp__route_on_ack(&s->cc.route, s->cc.mem, &ack, s->cc.rtt.min_rtt);
    if (longer > 0) {
        tltcp__sender_forget_return(s);
        tltcp__cc_on_longer_path(&s->cc, longer, fb->now);
        cong_recovery_period_init(&s->cc.period, tltcp__sentmap_next(&s->map));
    }
}

/* Reports the feedback in the order that controllers expect. */
static void feedback_report(tltcp__sender *s, feedback *fb, bool advanced) {
    fb->ack.now = tltcp__cc_clock(&s->cc, fb->now);
    note_route(s, fb);
    tltcp__sender_leave_out_jitter(s, &fb->ack, &fb->newest);
    fb->ack.recovery = cong_recovery_period_in_recovery(&s->cc.period);
    if (s->largest_acked > s->round_pn) {
        fb->ack.round = true;
        s->round_pn = tltcp__sentmap_next(&s->map);
    }
    tltcp__cc_on_ack(&s->cc, &fb->ack, advanced && fb->lost_packets == 0);
    report_losses(s, fb);
}

/* The recovery period ends when the fate of everything in flight at its
 * beginning is known. */
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

static feedback feedback_begin(tltcp__sender *s, tltcp__feedback_result *result,
                               tltcp_time now) {
    return (feedback){
        .result = result,
        .now = now,
        .came = now,
        .ack = {.rtt = -1, .flight = (double)s->map.bytes},
    };
}

/* Measures here what a TFRC receiver would report. */
static void feedback_measure(tltcp__sender *s, tltcp_time now) {
    struct cong_stfrc_report r;
    if (s->loss_events != NULL &&
        tltcp__loss_events_take(s->loss_events, &s->map, s->cc.rtt.srtt, now,
                                &r)) {
        tltcp__cc_on_report(&s->cc, r.p, r.x_recv, tltcp__sender_flight(s),
                            now);
        tltcp__sender_expect_report(s, now);
    }
}

static void feedback_settle(tltcp__sender *s, tltcp_time now) {
    tltcp_time keep = KEEP_LOST_RTTS * tltcp__sender_pto(s);
    feedback_measure(s, now);
    if (s->arrival && s->cc.rtt.min_rtt > 0) {
        s->sec.path.lead = (tltcp_time)s->cc.rtt.min_rtt / 2;
    }
    end_recovery(s, now);
    tltcp__sentmap_trim(&s->map, now > keep ? now - keep : 0);
}

int tltcp__sender_detect(tltcp__sender *s, tltcp_time now,
                         tltcp__feedback_result *result) {
    feedback fb = feedback_begin(s, result, now);
    find_losses(s, &fb);
    if (fb.lost_packets > 0 && s->dup == NULL) {
        feedback_report(s, &fb, false);
    }
    feedback_settle(s, now);
    return fb.error;
}

/* An ACK that other packets have overtaken, or that is about another path, says
 * nothing. */
static void on_ecn(tltcp__sender *s, const tltcp__ack *ack, feedback *fb) {
    double marked;
    if (fb->largest < s->largest_acked || fb->largest <= s->path_pn ||
        fb->ect == 0) {
        return;
    }
    marked = tltcp__ecn_on_ack(&s->ecn, ack, s->cc.cong->ect1, s->path_pn > 0,
                               fb->ect);
    s->sec.stats->ecn_ce = s->ecn.ce;
    if (marked > 0) {
        fb->ack.ce = fb->ack.acked * marked;
        cong_recovery_period_on_ce(&s->cc.period, fb->largest - 1);
    }
}

static int on_cumulative(tltcp__sender *s, uint32_t wire, feedback *fb,
                         bool *advanced) {
    uint64_t cum = cmn__widen(wire - s->first_seq, s->peer_cum);
    *advanced = false;
    if (cum <= s->peer_cum) {
        return 0; /* reordered: a later one arrived first */
    }
    if (cum > s->sec.nxt) {
        return TLTCP_ERR_ACK;
    }
    *advanced = true;
    s->peer_cum = cum;
    first_error(fb, tltcp__sections_on_cumulative(&s->sec, cum));
    return 0;
}

int tltcp__sender_on_ack(tltcp__sender *s, const tltcp__ack *ack,
                         tltcp_time now, tltcp__feedback_result *result) {
    feedback fb = feedback_begin(s, result, now);
    bool advanced;
    int rv;
    fb.largest = cmn__widen(ack->largest, s->map.packets.tail) + 1;
    if (fb.largest > s->map.packets.tail) {
        return TLTCP_ERR_ACK;
    }
    s->cc.lag = tltcp__sender_return_lag(s, ack, now);
    fb.came = now - (tltcp_time)s->cc.lag;
    rv = feedback_take_runs(s, ack, &fb);
    credit_run(s, &fb);
    leave_out_return(s, ack, &fb);
    if (rv == 0) {
        rv = on_cumulative(s, ack->cumulative, &fb, &advanced);
    }
    if (rv != 0) {
        return rv;
    }
    if (fb.largest > s->largest_acked) {
        s->largest_acked = fb.largest;
    }
    if (fb.ack.acked > 0) {
        s->pto_count = 0;
        s->pto_probes = 0;
    }
    tltcp__sender_on_window(s, ack->window);
    find_losses(s, &fb);
    if (s->dup != NULL) {
        first_error(&fb, tltcp__dupack_on_ack(s->dup, &s->sec, &s->cc,
                                              s->peer_cum, fb.data, now));
    } else if (fb.ack.acked > 0 || fb.lost_packets > 0 ||
               fb.ack.probes_acked > 0) {
        on_ecn(s, ack, &fb);
        feedback_report(s, &fb, advanced);
    }
    tltcp__sender_update_target(s, fb.ack.acked, fb.ack.rtt, &fb.newest,
                                (tltcp_time)tltcp__cc_clock(&s->cc, now));
    feedback_settle(s, now);
    return fb.error;
}
