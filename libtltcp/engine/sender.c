/* SPDX-License-Identifier: MPL-2.0 */
/* Decides whether to send, and fills packets with data. */
#include "libtltcp/engine/sender.h"

#include <math.h>

#include "libtltcp/engine/config.h"

/* Smallest piece that is cut to fill a packet; above TLTCP__META_MAX.
 */
#define PIECE_MIN 64u
#define SKIPS_MAX 8        /* per packet */
#define LOSES 0.01         /* of recent packets, ... */
#define LOSES_QUEUE_PART 2 /* ... without a queue of this part of ... */
#define LOSES_QUEUE_MIN ((cong_time)20 * (cong_time)TLTCP_MS) /* the RTT */
/* In a silence, as RFC 5348 keeps its rate for four RTTs (section 4.3). */
#define SILENT_WINDOWS 4u
#define PAYLOAD_SHARE 0.96         /* of a packet, without chunk headers */
#define PTO_FIRST (400 * TLTCP_MS) /* before there is an RTT */
/* Over a reliable transport, silence means that it recovers losses itself. A
 * probe is needed only if the peer had no memory for the newest packets. */
#define PTO_RELIABLE TLTCP_S

/* The paper's recovery of data, of a kind of cong_recovery_kind. */
static int init_dupack(tltcp__sender *s, const tltcp_config *cfg, int kind) {
    struct cong_recovery how;
    s->dup = cmn__alloc(s->cc.mem, sizeof(*s->dup));
    if (s->dup == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    cong_recovery_init(&how, (enum cong_recovery_kind)kind);
    how.limited_transmit = cfg->paper.limited_transmit;
    tltcp__dupack_init(s->dup, s->cc.mem, &how);
    s->dup->hold_skipped = cfg->paper.hold_skipped;
    s->sec.no_skips = true;
    s->sec.in_order = true;
    return 0;
}

static int init_loss_events(tltcp__sender *s) {
    if (!tltcp__loss_events_needed(&s->cc)) {
        return 0;
    }
    s->loss_events = tltcp__loss_events_new(s->cc.mem, s->cc.cong->mss);
    return s->loss_events != NULL ? 0 : TLTCP_ERR_NOMEM;
}

int tltcp__sender_init(tltcp__sender *s, const cmn__mem *mem,
                       const tltcp_config *cfg, tltcp__counters *stats,
                       tltcp_time now) {
    int kind = -1;
    int rv;
    (void)tltcp__config_recovery(cfg, &kind);
    *s = (tltcp__sender){.loss_at = TLTCP_TIME_NEVER,
                         .report_by = TLTCP_TIME_NEVER,
                         .arrival = cfg->deadline_at_receiver,
                         .ecn = {.on = cfg->packets.ecn && kind < 0},
                         .hold = true,
                         .peer_ack_delay = 25 * TLTCP_MS};
    tltcp__sections_init(&s->sec, mem, cfg->send_buffer, cfg->max_sections,
                         stats);
    tltcp__sentmap_init(&s->map, mem, 0);
    /* room for a round trip of small packets and lone ACKs */
    s->map.max += (cfg->send_buffer + cfg->recv_buffer) / 512;
    cong_rack_init(&s->rack);
    rv = tltcp__cc_init(&s->cc, mem, cfg, cfg->packets.base_datagram, now);
    if (rv == 0) {
        rv = init_loss_events(s);
    }
    if (rv == 0 && kind >= 0) {
        return init_dupack(s, cfg, kind);
    }
    s->sec.policy = cfg->drop_policy;
    s->sec.in_order = cfg->paper.in_order;
    s->sec.look_ahead = cfg->look_ahead;
    s->sec.fec.mode = (uint8_t)cfg->fec;
    return rv;
}

/* What only data needs to know of the path. */
static void forget_path(tltcp__sender *s) {
    cmn__free(s->cc.mem, s->target);
    s->target = NULL;
    tltcp__sender_forget_return(s);
}

void tltcp__sender_free(tltcp__sender *s, const cmn__mem *mem) {
    tltcp__sections_free(&s->sec);
    tltcp__sentmap_free(&s->map);
    tltcp__cc_free(&s->cc);
    cmn__free(mem, s->loss_events);
    forget_path(s);
    if (s->dup != NULL) {
        tltcp__dupack_free(s->dup);
        cmn__free(mem, s->dup);
    }
}

void tltcp__sender_trim(tltcp__sender *s) {
    forget_path(s);
    if (s->map.flying == 0) {
        tltcp__cc_forget_bandwidth(&s->cc);
    }
    tltcp__sentmap_give_back(&s->map);
}

void tltcp__sender_rest(tltcp__sender *s) {
    tltcp__sentmap_give_back(&s->map);
    if (s->dup == NULL && s->map.flying == 0) {
        tltcp__cc_rest(&s->cc);
    }
}

void tltcp__sender_skip_number(tltcp__sender *s) {
    uint64_t pn = tltcp__sentmap_next(&s->map);
    if (tltcp__sentmap_open(&s->map) != NULL) {
        s->skipped_numbers[s->skipped_at] = (uint32_t)pn;
        s->skipped_at = (s->skipped_at + 1) % TLTCP__SKIPPED_NUMBERS;
    }
}

bool tltcp__sender_is_optimistic(const tltcp__sender *s, uint64_t lo,
                                 uint64_t hi) {
    for (unsigned i = 0; i < TLTCP__SKIPPED_NUMBERS; i++) {
        uint64_t pn = cmn__widen(s->skipped_numbers[i], s->map.packets.tail);
        if (s->skipped_numbers[i] != 0 && pn >= lo && pn < hi) {
            return true;
        }
    }
    return false;
}

void tltcp__sender_on_new_path(tltcp__sender *s, bool ecn, tltcp_time now) {
    tltcp__cc_restart(&s->cc, now);
    tltcp__ack_frequency_restart(&s->frequency);
    forget_path(s);
    cong_rack_init(&s->rack);
    s->path_pn = tltcp__sentmap_next(&s->map);
    cong_recovery_period_init(&s->cc.period, s->path_pn);
    s->round_pn = s->path_pn;
    if (s->loss_events != NULL) {
        tltcp__loss_events_restart(s->loss_events, s->path_pn);
    }
    s->pto_count = 0;
    tltcp__ecn_start(&s->ecn, ecn);
}

void tltcp__sender_on_window(tltcp__sender *s, tltcp__position window) {
    uint64_t seq = cmn__widen(window.seq - s->first_seq, s->sec.peer_seq);
    uint64_t section = cmn__widen(window.section, s->sec.peer_section);
    if (seq > s->sec.peer_seq) {
        s->sec.peer_seq = seq;
    }
    if (section > s->sec.peer_section) {
        s->sec.peer_section = section;
    }
}

void tltcp__sender_expect_report(tltcp__sender *s, tltcp_time now) {
    s->report_by = tltcp__cc_has_feedback_timer(&s->cc)
                       ? now + (tltcp_time)s->cc.cong->feedback_timeout
                       : TLTCP_TIME_NEVER;
}

void tltcp__sender_on_report(tltcp__sender *s, const tltcp__report *r,
                             tltcp_time now) {
    if (tltcp__sender_wants_reports(s)) {
        tltcp__cc_on_report(&s->cc, r->p, r->x_recv, tltcp__sender_flight(s),
                            now);
        tltcp__sender_expect_report(s, now);
    }
}

double tltcp__sender_flight(const tltcp__sender *s) {
    return s->dup != NULL ? (double)s->dup->flight : (double)s->map.bytes;
}

/* Whether a seq_update was not sent to the peer, or perhaps lost. */
static bool update_due(const tltcp__sender *s) {
    return s->sec.update > s->peer_cum && s->sec.update > s->update_sent;
}

static bool fec_waits(const tltcp__sender *s) {
    tltcp__fec_symbol p;
    return tltcp__sections_next_fec_symbol(&s->sec, &p);
}

bool tltcp__sender_loses(const tltcp__sender *s) {
    const struct cong_rtt *r = &s->cc.rtt;
    cong_time part = r->min_rtt / LOSES_QUEUE_PART;
    return s->sec.live && s->sec.fec.loss > LOSES &&
           r->latest - r->min_rtt <=
               (part > LOSES_QUEUE_MIN ? part : LOSES_QUEUE_MIN);
}

/* Bytes that may be in flight beyond the window while nothing is heard: one
 * window more after each probe timeout, up to SILENT_WINDOWS. A burst of
 * losses, or of lost ACKs, leaves the window full of packets that have long
 * left the path. */
static double beyond_window(const tltcp__sender *s) {
    unsigned n = s->pto_count < SILENT_WINDOWS ? s->pto_count : SILENT_WINDOWS;
    return n > 0 && tltcp__sender_loses(s) ? tltcp__cc_window(&s->cc) * n : 0;
}

/* Whether data waits and the window is open; sets *limited if it waits for the
 * window. */
static bool data_waits(const tltcp__sender *s, bool *limited) {
    double flight = tltcp__sender_flight(s);
    bool open =
        s->dup != NULL
            ? tltcp__dupack_open(s->dup, &s->cc)
            : s->pto_probes > 0 || flight <= 0 ||
                  tltcp__cc_window_open(&s->cc, flight - beyond_window(s));
    bool waits = s->dup != NULL
                     ? tltcp__dupack_has(s->dup, &s->sec, &s->cc)
                     : tltcp__sections_has(&s->sec, !s->cc.cong->repair_only) ||
                           fec_waits(s);
    *limited = waits && !open;
    return waits && open;
}

/* Notes that data waits for the window or pacer although no limit of the path
 * is known; this holds until everything has been sent. */
static void note_starving(tltcp__sender *s, bool limited) {
    if (s->sec.nxt == s->sec.end || s->sec.path.rate > 0) {
        s->sec.path.starved = false;
    } else if (limited) {
        s->sec.path.starved = true;
    }
}

static bool data_ready(tltcp__sender *s) {
    bool limited;
    bool ready = data_waits(s, &limited);
    if (limited) {
        tltcp__cc_on_full(&s->cc);
    }
    note_starving(s, limited);
    return ready;
}

void tltcp__sender_on_blocked(tltcp__sender *s) {
    bool limited;
    bool waits = data_waits(s, &limited) || limited;
    if (waits) {
        tltcp__cc_on_full(&s->cc);
    }
    note_starving(s, waits);
}

/* While data waits for the window, UPDATE and SKIP wait with it: a separate
 * packet would take the place of a full one. */
static bool control_waits(const tltcp__sender *s) {
    bool limited;
    if (s->sec.skips.count == 0 && !update_due(s)) {
        return s->pto_probes > 0;
    }
    (void)data_waits(s, &limited);
    return !limited;
}

bool tltcp__sender_would_send(const tltcp__sender *s) {
    bool limited;
    return !s->hold && (control_waits(s) || data_waits(s, &limited));
}

bool tltcp__sender_ready(tltcp__sender *s, tltcp_time now) {
    if (s->hold || tltcp__sections_expire(&s->sec, now) != 0) {
        return false;
    }
    if (s->dup != NULL) {
        tltcp__dupack_refresh(s->dup, &s->sec);
    }
    return control_waits(s) || data_ready(s);
}

bool tltcp__sender_may_send(tltcp__sender *s, tltcp_time now) {
    bool open;
    if (!tltcp__sender_ready(s, now)) {
        s->cc.t_due = -1;
        return false;
    }
    open = s->pto_probes > 0 ||
           tltcp__cc_pacer_open(&s->cc, tltcp__sender_flight(s), now);
    note_starving(s, !open);
    return open;
}

static int put_skips(tltcp__sender *s, tltcp__sent *rec, cmn__writer *w) {
    tltcp__piece p;
    for (int i = 0; i < SKIPS_MAX && cmn__writer_left(w) >= TLTCP__SKIP_LEN &&
                    tltcp__sections_next_skip(&s->sec, &p);
         i++) {
        tltcp__sent_chunk *chunk = tltcp__sentmap_add(&s->map, rec);
        tltcp__skip skip = {
            .start = (uint32_t)p.start + s->first_seq,
            .end = (uint32_t)p.end + s->first_seq,
            .section = (uint32_t)p.section,
        };
        if (chunk == NULL) {
            return TLTCP_ERR_NOMEM;
        }
        *chunk = (tltcp__sent_chunk){.start = p.start,
                                     .section = p.section,
                                     .len = (uint32_t)(p.end - p.start),
                                     .kind = TLTCP__SENT_CHUNK_SKIP};
        tltcp__skip_put(w, &skip);
    }
    return 0;
}

/* RFC 5348 section 3.2.1: the RTT goes into each data packet. */
static void put_rtt(const tltcp__sender *s, cmn__writer *w) {
    cong_time us = s->cc.rtt.srtt / (cong_time)TLTCP_US;
    if (tltcp__sender_wants_reports(s) && us > 0) {
        tltcp__rtt_put(w, us < UINT32_MAX ? (uint32_t)us : UINT32_MAX);
    }
}

/* Uses the room of RTT, which only TFRC sends. */
/* NOLINTNEXTLINE(misc-redundant-expression): they are equal today. */
_Static_assert(TLTCP__ACK_FREQUENCY_LEN <= TLTCP__RTT_LEN,
               "ACK_FREQUENCY does not fit in the room of RTT");

static void put_frequency(tltcp__sender *s, tltcp__sent *rec, cmn__writer *w) {
    if (s->frequency.due) {
        tltcp__ack_frequency_put(&s->frequency, w);
        rec->flags |= TLTCP__SENT_FREQUENCY;
    }
}

static void put_update(tltcp__sender *s, tltcp__sent *rec, cmn__writer *w) {
    tltcp__position at = {(uint32_t)s->sec.update + s->first_seq,
                          (uint32_t)s->sec.update_section};
    tltcp__position_put(w, TLTCP__UPDATE, at);
    rec->flags |= TLTCP__SENT_UPDATE;
    s->update_pn = tltcp__sentmap_next(&s->map); /* rec's own number plus one */
    s->update_sent = s->sec.update;
}

/* On a probe timeout, sends the oldest data in flight again, so that its repair
 * is not delayed if it was lost. */
static bool next_pto_probe(tltcp__sender *s, uint64_t max, tltcp_time now,
                           tltcp__piece *out) {
    uint64_t first;
    if (tltcp__sentmap_oldest(&s->map, &first) == NULL) {
        return false;
    }
    for (uint64_t pn = first; pn < first + TLTCP__PTO_PROBES; pn++) {
        tltcp__sent *rec = tltcp__sentmap_get(&s->map, pn);
        const tltcp__sent_chunk *chunk;
        if (rec == NULL || rec->state != TLTCP__PACKET_FLYING ||
            rec->chunks == 0 || (rec->flags & TLTCP__SENT_PTO_REPEATED) != 0) {
            continue;
        }
        rec->flags |= TLTCP__SENT_PTO_REPEATED;
        chunk = tltcp__sentmap_chunk(&s->map, rec, 0);
        if (chunk->kind == TLTCP__SENT_CHUNK_DATA &&
            tltcp__sections_again(&s->sec, chunk->start,
                                  chunk->start + chunk->len, max, now, out)) {
            return true;
        }
    }
    return false;
}

static bool next_piece(tltcp__sender *s, uint64_t max, tltcp_time now,
                       tltcp__piece *p) {
    bool new_data = !s->cc.cong->repair_only;
    if (s->dup != NULL) {
        return tltcp__dupack_next(s->dup, &s->sec, max, now, p);
    }
    if (s->pto_probes > 0 && s->sec.lost[0].count == 0 &&
        next_pto_probe(s, max, now, p)) {
        return true;
    }
    return tltcp__sections_next(&s->sec, max, new_data, now, p);
}

static int put_piece(tltcp__sender *s, tltcp__sent *rec, cmn__writer *w,
                     const tltcp__piece *p, tltcp_time now) {
    size_t len = (size_t)(p->end - p->start);
    tltcp__meta meta = tltcp__sections_meta(&s->sec, p->section);
    rec->flags |= TLTCP__SENT_DATA;
    if (s->dup == NULL || tltcp__dupack_notes(s->dup)) {
        tltcp__sent_chunk *chunk = tltcp__sentmap_add(&s->map, rec);
        if (chunk == NULL) {
            return TLTCP_ERR_NOMEM;
        }
        *chunk = (tltcp__sent_chunk){.start = p->start,
                                     .section = p->section,
                                     .len = (uint32_t)len,
                                     .losses = p->losses,
                                     .kind = s->dup == NULL
                                                 ? TLTCP__SENT_CHUNK_DATA
                                                 : TLTCP__SENT_CHUNK_SEGMENT};
    }
    tltcp__data_put(w, p->flags, (uint32_t)p->start + s->first_seq,
                    (uint32_t)p->section, len);
    tltcp__meta_put(w, p->flags, &meta);
    tltcp__sections_copy(&s->sec, p->start, w->p, len);
    w->p += len;
    /* an extent of the paper's recovery covers all its copies */
    tltcp__sections_on_sent(&s->sec, p, s->dup == NULL || p->losses == 0);
    return s->dup != NULL ? tltcp__dupack_on_sent(s->dup, &s->cc, p, now) : 0;
}

/* Adds a repair symbol if the packet has room. */
static int put_repair(tltcp__sender *s, tltcp__sent *rec, cmn__writer *w,
                      bool *put) {
    tltcp__fec_symbol p;
    tltcp__sent_chunk *chunk;
    *put = false;
    if (!tltcp__sections_next_fec_symbol(&s->sec, &p) ||
        cmn__writer_left(w) <
            TLTCP__REPAIR_LEN + tltcp__meta_len(p.flags) + p.size) {
        return 0;
    }
    chunk = tltcp__sentmap_add(&s->map, rec);
    if (chunk == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    *chunk = (tltcp__sent_chunk){.start = p.start,
                                 .section = p.section,
                                 .len = (uint32_t)(p.end - p.start),
                                 .kind = TLTCP__SENT_CHUNK_REPAIR};
    tltcp__repair_put(
        w, p.flags,
        &(tltcp__repair_chunk){.start = (uint32_t)p.start + s->first_seq,
                               .section = (uint32_t)p.section,
                               .len = (uint32_t)(p.end - p.start),
                               .index = p.index,
                               .meta = tltcp__sections_meta(&s->sec, p.section),
                               .symbol = p.symbol,
                               .size = p.size});
    rec->flags |= TLTCP__SENT_DATA;
    s->sec.stats->repair_bytes_sent += p.size;
    tltcp__sections_on_fec_symbol_sent(&s->sec, p.section);
    *put = true;
    return 0;
}

/* Whether the next data should begin a new packet: a symbol split over two
 * packets is lost twice as easily. */
static bool wants_a_packet(const tltcp__sender *s, const tltcp__sent *rec,
                           size_t left, tltcp_time now) {
    return (rec->flags & TLTCP__SENT_DATA) != 0 && s->sec.fec.on &&
           (fec_waits(s) || left < tltcp__sections_next_symbol(&s->sec, now));
}

/* Whether a probe may repeat data in flight. */
static bool repeats_on_probe(const tltcp__sender *s) {
    return s->dup == NULL && s->pto_probes > 0;
}

static bool has_room(const cmn__writer *w) {
    return cmn__writer_left(w) > TLTCP__DATA_LEN + PIECE_MIN;
}

/* Ready: data_ready() has just said so. */
static int put_data(tltcp__sender *s, tltcp__sent *rec, cmn__writer *w,
                    bool ready, tltcp_time now) {
    tltcp__piece p;
    bool repaired;
    int rv = put_repair(s, rec, w, &repaired);
    if (!repaired && fec_waits(s)) {
        return rv; /* the next packet has room */
    }
    while (
        rv == 0 && !repaired && has_room(w) && (ready || repeats_on_probe(s)) &&
        !wants_a_packet(s, rec, cmn__writer_left(w) - TLTCP__DATA_LEN, now) &&
        next_piece(s, cmn__writer_left(w) - TLTCP__DATA_LEN, now, &p)) {
        rv = put_piece(s, rec, w, &p, now);
        if (s->pto_probes > 0 || s->dup != NULL) {
            break; /* one segment per packet */
        }
        ready = has_room(w) && data_ready(s);
    }
    return rv;
}

/* What is queued leaves at up to twice the rate in slow start, as far as the
 * path is known to carry it. */
static double rate_to_come(const tltcp__cc *cc, double rate) {
    double known = PAYLOAD_SHARE * tltcp__cc_bandwidth(cc)->rate;
    bool grows = cc->cong->cwnd < cc->cong->ssthresh;
    return grows && rate < known ? fmin(2 * rate, known) : rate;
}

/* What the window lets through, and will within an RTT of slow start. */
static double rate_of_window(const tltcp__cc *cc) {
    double rate = tltcp__cc_offered(cc);
    return cc->rtt.srtt <= 0                     ? 0
           : cc->cong->cwnd < cc->cong->ssthresh ? 2 * rate
                                                 : rate;
}

/* Tells the look-ahead what is known of the path now. */
static void update_path_estimate(tltcp__sender *s, tltcp_time now) {
    const tltcp__bandwidth *b = tltcp__cc_bandwidth(&s->cc);
    double rate = rate_to_come(&s->cc, tltcp__bandwidth_limit(b, now)) /
                  (1 + tltcp__fec_sender_share(&s->sec.fec, now));
    double rtt = (double)s->cc.rtt.min_rtt;
    double queue = rate > 0 ? (double)s->map.bytes / rate * 1e9 - rtt : 0;
    /* RACK waits a quarter of an RTT for reordered packets */
    s->sec.fec.round =
        s->cc.rtt.srtt > 0 ? (tltcp_time)(s->cc.rtt.srtt / 4 * 5) : 0;
    s->sec.path.packet = (uint16_t)s->cc.cong->mss;
    s->sec.path.loss = (float)s->sec.fec.loss;
    s->sec.path.repair = s->sec.fec.round;
    s->sec.path.repairs = s->sec.fec.on;
    if (!tltcp__route_is_in_doubt(&s->cc.route)) {
        s->sec.path.settled = tltcp__bandwidth_is_settled(b, now);
        s->sec.path.rate = rate;
        s->sec.path.window = rate_of_window(&s->cc) /
                             (1 + tltcp__fec_sender_share(&s->sec.fec, now));
        s->sec.path.delay = (tltcp_time)(rtt > 0 && queue > 0 ? queue : 0);
    }
}

int tltcp__sender_fill(tltcp__sender *s, tltcp__sent *rec, cmn__writer *w,
                       tltcp_time now, bool *eliciting) {
    const uint8_t *start = w->p;
    int rv = put_skips(s, rec, w);
    bool ready;
    update_path_estimate(s, now);
    ready = data_ready(s);
    if (rv == 0 && (update_due(s) || s->pto_probes > 0 || ready) &&
        cmn__writer_left(w) >= TLTCP__UPDATE_LEN + TLTCP__RTT_LEN) {
        put_rtt(s, w);
        put_frequency(s, rec, w);
        put_update(s, rec, w);
        rv = put_data(s, rec, w, ready, now);
        if ((rec->flags & TLTCP__SENT_DATA) != 0) {
            tltcp__cc_estimate_bandwidth(&s->cc, s->acked_at, now);
        }
        s->sec.stats->seq_updates_sent += (rec->flags & TLTCP__SENT_DATA) == 0;
        s->pto_probes -= s->pto_probes > 0;
    }
    if (w->p != start) {
        *eliciting = true;
    }
    return rv;
}

tltcp_time tltcp__sender_dummy_at(const tltcp__sender *s) {
    return s->cc.cong->probes > 0 && !s->hold ? s->dummy_at : TLTCP_TIME_NEVER;
}

void tltcp__sender_on_dummy(tltcp__sender *s, tltcp_time now) {
    s->cc.cong->probes--;
    s->dummy_at = now + (tltcp_time)s->cc.cong->probe_gap;
}

void tltcp__sender_on_sent(tltcp__sender *s, tltcp__sent *rec, bool eliciting,
                           tltcp_time now) {
    rec->at = now;
    if (eliciting && s->report_by == TLTCP_TIME_NEVER) {
        tltcp__sender_expect_report(s, now);
    }
    if (eliciting) {
        cong_rate_on_sent(&s->cc.rate, &rec->snap, (double)s->map.bytes,
                          rec->size, (cong_time)now);
        tltcp__cc_on_sent(&s->cc, rec->size, now);
        s->t_eliciting = now;
    }
    s->ecn.sent += (rec->flags & TLTCP__SENT_ECT) != 0;
    tltcp__sentmap_commit(&s->map, rec, eliciting);
}

tltcp_time tltcp__sender_pto(const tltcp__sender *s) {
    const struct cong_rtt *r = &s->cc.rtt;
    tltcp_time var = (tltcp_time)(4 * r->rttvar);
    tltcp_time least = s->reliable ? PTO_RELIABLE : 0;
    tltcp_time pto;
    if (r->srtt < 0) {
        return s->reliable ? PTO_RELIABLE : PTO_FIRST;
    }
    var = var > TLTCP_MS ? var : TLTCP_MS;
    pto = (tltcp_time)r->srtt + var + tltcp__sender_ack_delay(s);
    return pto > least ? pto : least;
}

int tltcp__sender_on_rebuilt(tltcp__sender *s, uint32_t start, uint32_t len) {
    uint64_t from = cmn__widen(start - s->first_seq, s->peer_cum);
    if (!tltcp__sections_was_sent(&s->sec, from, from + len)) {
        return TLTCP_ERR_ACK;
    }
    return tltcp__sections_on_rebuilt(&s->sec, from, from + len);
}
