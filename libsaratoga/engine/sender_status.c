/* SPDX-License-Identifier: MPL-2.0 */
/* STATUS at a sender: what arrived, and what to retransmit. */
#include "libsaratoga/engine/session.h"

#include "libsaratoga/engine/timestamp.h"

#define NO_IRT UINT64_MAX
#define PENDING_METADATA SARATOGA_S
/* Maximum lateness of a reordered packet. */
#define STRAGGLER (200 * SARATOGA_MS)

/* A STATUS in terms of its transfer. */
typedef struct report {
    uint64_t progress;
    uint64_t irt;
    uint64_t edge; /* it reports on everything below */
    uint64_t d;    /* the transmission it answers; 0: not known */
    cong_time rtt; /* sample; -1: none */
    bool full;     /* the whole list of holes */
    bool stale;    /* a newer answer was processed before */
} report;

/* Unwraps an offset of a stream. */
static bool unwrap_offset(const saratoga__session *s, const saratoga__wide *x,
                          uint64_t *out) {
    const saratoga__sender *o = &s->out;
    uint64_t top = saratoga__highest(s->descriptor);
    uint64_t back = (o->next - x->lo) & top; /* how far below next */
    *out = o->next - back;
    return back <= o->next;
}

/* Converts a wire offset to an offset in the file or stream. */
static bool sender_status_offset(const saratoga__session *s,
                                 const saratoga__wide *x, uint64_t *out) {
    const saratoga__sender *o = &s->out;
    if (s->kind == SARATOGA_STREAM && s->descriptor < SARATOGA_64_BIT) {
        return unwrap_offset(s, x, out);
    }
    *out = x->lo;
    return x->hi == 0 && (o->size == SARATOGA_SIZE_UNKNOWN ? x->lo <= o->next
                                                           : x->lo <= o->size);
}

/* The range that can be retransmitted: of a stream, only the sent data still
 * buffered. */
static cmn__range repairable(const saratoga__session *s) {
    const saratoga__sender *o = &s->out;
    bool open = o->size == SARATOGA_SIZE_UNKNOWN;
    return (cmn__range){s->kind == SARATOGA_STREAM ? o->base : 0,
                        open ? o->next : o->size};
}

/* A complete list replaces all earlier ones: below its edge nothing else is to
 * be sent. */
static bool replaces(const saratoga__session *s, const report *r) {
    return r->full && !r->stale && !s->opt.multicast;
}

/* Queues the parts of a hole that no later retransmission covers. False: no
 * memory. */
static bool queue_repair(saratoga__sender *o, cmn__range hole) {
    cmn__range piece;
    if (o->log.later.count == 0) {
        return cmn__ranges_add(&o->todo, hole.start, hole.end, NULL) == 0;
    }
    while (hole.start < hole.end &&
           saratoga__sentlog_due(&o->log, hole.start, hole.end, &piece)) {
        if (cmn__ranges_add(&o->todo, piece.start, piece.end, NULL) != 0) {
            return false;
        }
        hole.start = piece.end;
    }
    return true;
}

/* Reads a hole, clipped to `whole`; false: it is invalid. */
static bool read_hole(const saratoga__session *s, const saratoga__status_pkt *p,
                      size_t i, cmn__range whole, cmn__range *hole) {
    saratoga__wide from;
    saratoga__wide to;
    uint64_t last;
    saratoga__status_hole(p, i, &from, &to);
    if (!sender_status_offset(s, &from, &hole->start) ||
        !sender_status_offset(s, &to, &last) || last < hole->start) {
        return false;
    }
    hole->start = hole->start > whole.start ? hole->start : whole.start;
    hole->end = last < whole.end ? last + 1 : whole.end;
    return hole->start < hole->end;
}

/* Skips invalid holes; the STATUS still counts. */
static void take_holes(saratoga__session *s, const saratoga__status_pkt *p,
                       report *r) {
    saratoga__sender *o = &s->out;
    bool new_picture = replaces(s, r);
    uint64_t lowest = NO_IRT;
    cmn__range whole = repairable(s);
    if (new_picture) {
        (void)cmn__ranges_sub(&o->todo, 0, r->edge, NULL);
    }
    saratoga__sentlog_answered(&o->log, r->d);
    for (size_t i = 0; i < p->hole_count; i++) {
        cmn__range hole;
        if (!read_hole(s, p, i, whole, &hole)) {
            continue;
        }
        if (new_picture && hole.end > r->edge) {
            (void)cmn__ranges_sub(&o->todo, r->edge, hole.end, NULL);
        }
        r->edge = hole.end > r->edge ? hole.end : r->edge;
        if (cmn__ranges_add(&o->miss, hole.start, hole.end, NULL) != 0 ||
            !queue_repair(o, hole)) {
            r->full = false; /* another STATUS has the rest */
            break;
        }
        lowest = hole.start < lowest ? hole.start : lowest;
        s->st.holes_reported++;
    }
    r->progress = lowest < r->progress ? lowest : r->progress;
}

/* A later transmission with the same end looks like an earlier one. While no
 * RTT is known, at least a second lies between them. */
static bool is_certain(const saratoga__session *s, const saratoga__sent *sent,
                       uint64_t irt) {
    return sent->offset + sent->len == irt &&
           (s->rtt.srtt <= 0 || (sent->len > 0 && !sent->again));
}

/* Finds the transmission that is answered, and the RTT if it is certain. */
static void match_transmission(saratoga__session *s,
                               const saratoga__status_pkt *p, report *r,
                               saratoga_time now) {
    const saratoga__sentlog *log = &s->out.log;
    saratoga_time recent =
        s->rtt.srtt > 0 ? (saratoga_time)s->rtt.srtt : SARATOGA_S;
    uint64_t low;
    uint64_t high;
    bool by_name = false;
    r->rtt = -1;
    if (p->timestamp != NULL &&
        saratoga__timestamp_read(s->opt.timestamps, p->timestamp, &low,
                                 &high)) {
        r->d = saratoga__sentlog_by_timestamp(log, low, high, r->irt);
        by_name = low == high;
    } else {
        r->d = saratoga__sentlog_by_end(log, r->irt);
    }
    if (r->d != 0 && !p->voluntary) {
        const saratoga__sent *sent = saratoga__sentlog_at(log, r->d);
        if ((by_name || is_certain(s, sent, r->irt)) && now > sent->at) {
            r->rtt = (cong_time)(now - sent->at);
        }
    }
    if (r->d == 0) {
        r->d = saratoga__sentlog_by_time(log, now > recent ? now - recent : 0);
    }
}

/* An unsolicited STATUS echoes the timestamp of the highest offset, even if
 * other DATA came later. DATA sent to a group longer ago than an answer takes
 * counts as answered. */
static void match_in_group(saratoga__session *s, report *r, saratoga_time now) {
    saratoga_time trip =
        s->rtt.srtt > 0 ? (saratoga_time)s->rtt.srtt : s->opt.poll;
    uint64_t d =
        saratoga__sentlog_by_time(&s->out.log, now > trip ? now - trip : 0);
    r->d = d > r->d ? d : r->d;
}

static void end_cycle(saratoga__session *s, uint64_t d, uint64_t irt,
                      cong_time sample, saratoga_time now) {
    saratoga__sender *o = &s->out;
    saratoga_time before = o->pace.cycle_at;
    const saratoga__path path = {
        .rtt = s->rtt.srtt,
        .since = before > 0 ? (cong_time)(now - before) : 0,
        .symmetry = s->opt.symmetry,
        .mss = (double)o->payload,
        .holdover = 3,
        .no_history = !saratoga__pace_has_equation(&o->pace)};
    saratoga__cycle c;
    const saratoga__pace_report ended = {.cycle = &c,
                                         .rtt = &s->rtt,
                                         .sample = sample,
                                         .flight = (double)o->log.flight,
                                         .missing = (double)o->miss.total};
    if (d <= o->log.done ||
        !saratoga__sentlog_cycle(&o->log, d, irt, &o->miss, &path, &c)) {
        return;
    }
    if (!(c.acked + c.lost > 0)) {
        return; /* polls alone say nothing about the rate of the path */
    }
    saratoga__pace_on_cycle(&o->pace, &ended, now);
    s->st.loss_events = o->pace.law == SARATOGA__STFRC
                            ? o->log.stfrc.events
                            : s->st.loss_events + (c.lost_packets > 0 ? 1 : 0);
}

/* A list in parts: the parts so far count when another answer begins. */
static void begin_list(saratoga__session *s, const report *r,
                       saratoga_time now) {
    saratoga__sender *o = &s->out;
    if (o->group_d != 0 && (r->d != o->group_d || r->full)) {
        if (r->d != o->group_d) {
            end_cycle(s, o->group_d, o->group_irt, -1, now);
        }
        o->group_d = 0;
    }
    if (o->group_d == 0) {
        cmn__ranges_clear(&o->miss);
    }
}

/* Group members are not polled at the end, and data beyond the last that a
 * member saw is not a hole. */
static void queue_tail(saratoga__session *s, const report *r,
                       saratoga_time now) {
    saratoga__sender *o = &s->out;
    if (s->opt.multicast && r->full && saratoga__sender_is_drained(s) &&
        r->edge < o->size && now >= saratoga__later(o->sent_at, s->opt.poll)) {
        (void)cmn__ranges_add(&o->todo, r->edge, o->size, NULL);
    }
}

/* All packets of a list except the last are full. */
static bool ends_list(saratoga__sender *o, const saratoga__status_pkt *p) {
    bool shorter = o->group_d != 0 && p->hole_count < o->group_holes;
    o->group_holes = p->hole_count;
    return shorter;
}

/* The parts of a list say too little about what was gained. */
static void note_gain(saratoga__session *s, const report *r) {
    saratoga__sender *o = &s->out;
    bool gain = !r->full || r->progress > o->proven || o->held > o->most_held;
    o->unacked_packets = gain ? 0 : o->unacked_packets;
    o->most_held = o->held > o->most_held ? o->held : o->most_held;
    o->patient = !gain && o->next >= o->size &&
                 !saratoga__sender_is_one_way(s) &&
                 (o->miss.total == 0 ||
                  o->unacked_packets >= SARATOGA__NO_PROGRESS_PACKETS);
}

static void apply(saratoga__session *s, const report *r, saratoga_time now) {
    saratoga__sender *o = &s->out;
    uint64_t missing = o->miss.total;
    if (!r->stale) {
        o->status_d = r->d;
    }
    if (r->full && !r->stale) {
        o->held = r->edge > missing ? r->edge - missing : 0;
        if (!s->opt.multicast && r->edge > o->next) { /* it resumes */
            if (o->resumed == 0) { /* what has left may be in it */
                o->resumed = o->held > o->next ? o->held - o->next : 0;
            }
            o->resumed_edge = r->edge;
            o->next = r->edge;
        }
        s->st.holes = o->miss.count;
        s->st.hole_bytes = missing;
    }
    note_gain(s, r);
    o->proven = r->progress > o->proven ? r->progress : o->proven;
    queue_tail(s, r, now);
    saratoga__sender_plan(s);
}

/* The acceptance of an empty file looks like the completed STATUS, and there is
 * one per REQUEST sent. Acceptances contain no echo. */
static bool is_like_acceptance(const saratoga__session *s,
                               const saratoga__status_pkt *p) {
    return s->initiator && s->out.size == 0 && p->timestamp == NULL;
}

/* Whether a STATUS that looks like completion may say something else. Whoever
 * gets an empty file has it with the METADATA, and may leave before the end. */
static bool is_doubtful(const saratoga__session *s) {
    return saratoga__moves(s) || s->kind == SARATOGA_STREAM ||
           (s->out.size == 0 && (s->initiator || !s->out.meta_sent));
}

/* Whether it may have been sent before the peer knew the end. A file that was
 * never sent must not be deleted. */
static bool is_too_soon(const saratoga__session *s,
                        const saratoga__status_pkt *p, saratoga_time now) {
    const saratoga__sender *o = &s->out;
    saratoga_time wait =
        s->rtt.min_rtt > 0 ? (saratoga_time)s->rtt.min_rtt / 2 : 0;
    if (is_like_acceptance(s, p)) {
        wait = o->eod_at - s->born + STRAGGLER;
    } else if (s->kind == SARATOGA_STREAM && o->size > 0 &&
               (p->timestamp != NULL || s->opt.timestamps == SARATOGA_TS_OFF)) {
        /* may answer the last data, which left without the end flag */
        wait = 2 * (saratoga_time)s->rtt.srtt + STRAGGLER;
    }
    return !s->unchanged && (!o->eod_sent || now < o->eod_at + wait);
}

/* A receiver that had the whole file signs before any timestamp arrives.  The
 * next poll brings it one. */
static bool is_before_data(const saratoga__session *s,
                           const saratoga__status_pkt *p) {
    return p->is_signed && p->timestamp == NULL && saratoga__end_is_signed(s) &&
           s->opt.timestamps != SARATOGA_TS_OFF;
}

/* Whether a STATUS means completion, exactly as section 6.6 defines it: a
 * sender that deletes its copy then cannot accept less. */
static bool is_completed(const saratoga__session *s,
                         const saratoga__status_pkt *p, const report *r,
                         saratoga_time now) {
    const saratoga__sender *o = &s->out;
    bool deletes = saratoga__moves(s);
    uint64_t size = o->size;
    if (size == SARATOGA_SIZE_UNKNOWN || p->no_metadata || p->incomplete ||
        p->hole_count != 0 || is_before_data(s, p) ||
        (is_doubtful(s) && is_too_soon(s, p, now))) {
        return false;
    }
    if (r->progress == size && r->irt == size) {
        return p->voluntary || !deletes;
    }
    if (s->opt.profile == SARATOGA_VALLONA && !deletes && size > 0) {
        return r->progress == size - 1 && o->eod_sent;
    }
    return s->opt.profile == SARATOGA_NASA_PERL && !deletes &&
           r->progress == size && r->irt + 1 == size;
}

/* A timestamp of this transfer binds what is signed to it; without timestamps
 * its Id alone does. */
static bool is_of_this_transfer(const saratoga__session *s,
                                const saratoga__status_pkt *p) {
    return s->opt.timestamps == SARATOGA_TS_OFF ||
           (p->timestamp != NULL &&
            saratoga__token_is_genuine(s->ctx->token_key, s->host, s->id,
                                       p->timestamp));
}

/* With a key, only the peer may confirm a transfer that deletes a copy. */
static bool is_peers_word(saratoga__session *s, const saratoga__status_pkt *p,
                          saratoga_time now) {
    saratoga__context *e = s->ctx;
    const saratoga__signed field = {p->head, p->head_len, p->holes,
                                    SARATOGA__AUTH_LEN};
    return !saratoga__end_is_signed(s) || s->unchanged ||
           (p->is_signed && is_of_this_transfer(s, p) &&
            saratoga__auth_judge(&e->auth, &field,
                                 now + (uint64_t)e->cfg.posix_offset) ==
                SARATOGA__GENUINE);
}

static void on_completed(saratoga__session *s, const saratoga__status_pkt *p,
                         saratoga_time now) {
    saratoga__sender *o = &s->out;
    o->held = o->size;
    o->proven = o->size;
    s->st.holes = 0;
    if (is_peers_word(s, p, now)) {
        saratoga__session_end(s, 0, SARATOGA_SUCCESS, true, false, now);
    } else { /* the peer may have the file; keep the copy */
        saratoga__session_end(s, SARATOGA_ERR_AUTH, SARATOGA_ACCESS_DENIED,
                              false, false, now);
    }
}

static void advance_stream(saratoga__session *s) {
    saratoga__sender *o = &s->out;
    saratoga_event ev = {0};
    if (s->kind != SARATOGA_STREAM || o->proven <= o->base) {
        return;
    }
    o->base = o->proven;
    if (o->wants_room) {
        o->wants_room = false;
        (void)saratoga__session_event(s, SARATOGA_EVENT_WRITABLE, &ev);
    }
}

static void note_heard(saratoga__session *s, size_t len) {
    saratoga__sender *o = &s->out;
    o->confirmed = true;
    o->stalled = false;
    o->unanswered = SARATOGA_TIME_NEVER;
    o->rto_at = SARATOGA_TIME_NEVER;
    o->timeouts = 0;
    s->st.status_packets++;
    s->st.status_bytes += len;
}

static void trace_status(const saratoga__session *s, const report *r,
                         saratoga_time now) {
    static const char *const keys[] = {"progress", "irt",  "missing",
                                       "rtt_ms",   "rate", NULL};
    double values[] = {(double)r->progress, (double)r->irt,
                       (double)s->out.miss.total, (double)r->rtt * 1e-6,
                       8 * s->out.pace.pacer.rate};
    saratoga__context_trace(s->ctx, "saratoga:status_received", s->handle, now,
                            keys, values, NULL);
}

/* Restarts the unsolicited repetitions and the polls. A receiver that needs
 * time, and says so each time it is asked, is asked ever less often. */
static void plan_polls(saratoga__session *s, saratoga_time now) {
    saratoga__sender *o = &s->out;
    cmn__ranges_clear(&o->tail);
    if (o->patient && o->poll_wait > 0) {
        o->poll_at =
            saratoga__sooner(o->poll_at, saratoga__later(now, o->poll_wait));
        return;
    }
    o->copies = s->opt.copies - 1;
    o->quick_polls = SARATOGA__QUICK_POLLS;
    saratoga__sender_restart_poll(s, now);
}

/* Requested METADATA may already be on their way; while the checksum is being
 * computed, all receivers request them. */
static saratoga_time repeat_after(const saratoga__session *s) {
    if (s->out.digest_pending) {
        return PENDING_METADATA;
    }
    return s->rtt.srtt > 0 ? (saratoga_time)s->rtt.srtt / 2 : 0;
}

/* The few packets sent before the peer was proven say nothing about the path
 * except its RTT: the controller restarts from it. */
static void begin_anew(saratoga__session *s, saratoga_time now) {
    saratoga__sender *o = &s->out;
    if (!o->begins_anew || saratoga__proof_is_missing(s)) {
        return;
    }
    o->begins_anew = false;
    saratoga__sentlog_give_up(&o->log);
    saratoga__sender_restart_pace(s, now);
}

/* A receiver that knows nothing after it gained data has restarted: all that it
 * holds from now on is a gain. */
static void note_restart(saratoga__session *s, const saratoga__status_pkt *p) {
    saratoga__sender *o = &s->out;
    if (!p->no_metadata || p->progress.lo != 0 || p->irt.lo != 0 ||
        o->most_held == 0 || s->kind == SARATOGA_STREAM || s->opt.multicast) {
        return;
    }
    o->held = o->most_held = o->proven = 0;
    o->unacked_packets = 0;
    o->patient = false;
}

void saratoga__sender_on_status(saratoga__session *s,
                                const saratoga__status_pkt *p, size_t len,
                                saratoga_time now) {
    saratoga__sender *o = &s->out;
    report r = {.full = !p->incomplete};
    note_heard(s, len);
    saratoga__pace_await(&o->pace, now);
    if (p->no_metadata && now >= saratoga__later(o->meta_at, repeat_after(s))) {
        s->send_metadata = true;
    }
    if (!sender_status_offset(s, &p->progress, &r.progress) ||
        !sender_status_offset(s, &p->irt, &r.irt)) {
        saratoga__sender_restart_poll(s, now);
        return;
    }
    if (s->opt.multicast) { /* other members may lack data */
        r.progress = 0;
    } else if (is_completed(s, p, &r, now)) {
        on_completed(s, p, now);
        return;
    }
    r.edge = r.irt > r.progress ? r.irt : r.progress;
    match_transmission(s, p, &r, now);
    if (s->opt.multicast) {
        match_in_group(s, &r, now);
    }
    r.stale = r.d < o->status_d;
    if (!r.stale) {
        note_restart(s, p);
    }
    r.rtt = r.d > o->status_d ? r.rtt : -1; /* the parts of a long list do not
                                               measure the RTT */
    if (r.rtt > 0) {
        cong_rtt_sample_at(&s->rtt, r.rtt, (cong_time)now);
    }
    begin_anew(s, now);
    if (s->state != SARATOGA__OPEN) {
        return;
    }
    saratoga__sender_on_answer(s, r.d, len, p->incomplete && !p->voluntary,
                               now);
    begin_list(s, &r, now);
    take_holes(s, p, &r);
    trace_status(s, &r, now);
    if (r.full || ends_list(o, p)) {
        end_cycle(s, r.d, r.edge, r.rtt, now);
        o->group_d = 0;
    } else {
        o->group_d = r.d;
        o->group_irt = r.edge;
    }
    apply(s, &r, now);
    advance_stream(s);
    plan_polls(s, now);
}
