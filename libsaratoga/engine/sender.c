/* SPDX-License-Identifier: MPL-2.0 */
/* A sender: chooses what to send and writes DATA. */
#include "libsaratoga/engine/session.h"

#include "libsaratoga/engine/timestamp.h"

#define LOG_MAX ((uint64_t)1 << 18)
#define NS_PER_S 1e9
#define OVERDUE_MAX 8 /* maximum doublings of the wait for an answer */
#define WINDOW_ASKS 4 /* STATUS requests per RTT for a window controller */

static double granularity(const saratoga__session *s) {
    return (double)s->ctx->cfg.timer_granularity_us * 1e-6;
}

static size_t head_len(const saratoga__session *s) {
    size_t timestamp =
        s->opt.timestamps == SARATOGA_TS_OFF ? 0 : SARATOGA__TIMESTAMP_LEN;
    return 8 + timestamp + saratoga__width(s->descriptor);
}

/* METADATA give the width; an unproven peer does not have them. */
static size_t poll_len(const saratoga__session *s) {
    return saratoga__proof_by_echo(s) ? 8 + SARATOGA__TIMESTAMP_LEN + 2
                                      : head_len(s);
}

static size_t payload_len(const saratoga__session *s) {
    const saratoga_config *c = &s->ctx->cfg;
    size_t room = c->mtu - s->overhead - head_len(s);
    return s->opt.payload > 0 && s->opt.payload < room ? s->opt.payload : room;
}

bool saratoga__sender_is_one_way(const saratoga__session *s) {
    return s->opt.no_status || s->opt.multicast || s->opt.unreliable;
}

static int sender_open_source(saratoga__session *s) {
    saratoga__sender *o = &s->out;
    if (s->kind == SARATOGA_STREAM) {
        o->size = o->finished ? o->base : SARATOGA_SIZE_UNKNOWN;
        return 0;
    }
    o->size = s->entry.size;
    if (s->unchanged) { /* METADATA is all that is sent */
        o->next = o->size;
        o->eod_sent = true;
        return 0;
    }
    if (cmn__ranges_add(&o->todo, 0, o->size, NULL) != 0) {
        return SARATOGA_ERR_NOMEM;
    }
    return saratoga__source_init(&o->source, &s->ctx->queue, s->handle, &s->opt,
                                 o->payload, o->size);
}

static int open_pace(saratoga__session *s, saratoga_time now) {
    const saratoga__pace_terms terms = {.mss = (double)s->out.payload,
                                        .overhead =
                                            (double)(head_len(s) + s->overhead),
                                        .granularity = granularity(s),
                                        .rtt = s->rtt.srtt};
    return saratoga__pace_init(&s->out.pace, &s->ctx->mem, &s->opt, &terms,
                               now);
}

void saratoga__sender_restart_pace(saratoga__session *s, saratoga_time now) {
    saratoga__pace_free(&s->out.pace, &s->ctx->mem);
    if (open_pace(s, now) != 0) {
        saratoga__session_fail(s, SARATOGA_ERR_NOMEM, now);
    }
}

int saratoga__sender_open(saratoga__session *s, saratoga_time now) {
    saratoga__sender *o = &s->out;
    const cmn__mem *mem = &s->ctx->mem;
    int rv;
    o->payload = payload_len(s);
    cmn__ranges_init(&o->todo, mem, s->opt.max_holes + 2);
    cmn__ranges_init(&o->tail, mem, s->opt.max_holes + 2);
    cmn__ranges_init(&o->miss, mem, s->opt.max_holes + 2);
    cmn__bytes_init(&o->window, mem);
    saratoga__sentlog_init(&o->log, mem, LOG_MAX, s->opt.max_holes);
    rv = sender_open_source(s);
    if (rv == 0) {
        rv = open_pace(s, now);
    }
    o->lite = s->opt.lite && (s->peer_abilities & SARATOGA_LITE) != 0;
    o->unanswered = SARATOGA_TIME_NEVER;
    o->poll_at = SARATOGA_TIME_NEVER;
    o->rto_at = SARATOGA_TIME_NEVER;
    o->copies = s->opt.copies - 1;
    o->passes = s->opt.cycles;
    o->quick_polls = SARATOGA__QUICK_POLLS;
    o->ask_at = now;
    o->awaited = SARATOGA_TIME_NEVER;
    o->confirmed = s->rtt.srtt > 0 && s->opt.rtt_hint == 0;
    o->poll_due = o->size == 0 && !s->unchanged;
    o->begins_anew = saratoga__proof_is_missing(s);
    o->poll_due |= saratoga__proof_by_echo(s);
    s->send_metadata = true;
    s->heard = now;
    if (rv == 0) {
        saratoga__sender_plan(s);
    }
    return rv;
}

void saratoga__sender_free(saratoga__session *s) {
    saratoga__sender *o = &s->out;
    if (o->todo.mem == NULL) {
        return;
    }
    cmn__ranges_free(&o->todo);
    cmn__ranges_free(&o->tail);
    cmn__ranges_free(&o->miss);
    cmn__bytes_free(&o->window);
    saratoga__source_free(&o->source);
    saratoga__sentlog_free(&o->log);
    saratoga__pace_free(&o->pace, &s->ctx->mem);
    o->todo.mem = NULL;
}

void saratoga__sender_plan(saratoga__session *s) {
    s->out.starved = false;
    if (s->state == SARATOGA__OPEN && s->kind != SARATOGA_STREAM) {
        saratoga__source_plan(&s->out.source, &s->out.todo,
                              !saratoga__proof_is_missing(s));
    }
}

bool saratoga__sender_is_drained(const saratoga__session *s) {
    const saratoga__sender *o = &s->out;
    return o->todo.count == 0 && o->size != SARATOGA_SIZE_UNKNOWN &&
           o->next >= o->size;
}

/* ---- when to ask ---- */

/* Spaces requests so that answers of the size seen use only their share of a
 * thin uplink. The uplink rate is measured: the parts of a long hole list leave
 * together and arrive at that rate. A list that takes minutes does not silence
 * the sender. */
static saratoga_time uplink_spacing(const saratoga__session *s) {
    const saratoga__sender *o = &s->out;
    double bytes = (double)(o->answer_len > o->answer_last ? o->answer_len
                                                           : o->answer_last);
    double share = s->ctx->cfg.status_share;
    if (s->opt.uplink_bps > 0) {
        return (saratoga_time)(bytes / (share * (double)s->opt.uplink_bps / 8) *
                               NS_PER_S);
    }
    if (o->train_len == 0 || !(share > 0)) {
        return 0;
    }
    return saratoga__sooner(
        (saratoga_time)(bytes / share * (double)o->train_time /
                        (double)o->train_len),
        s->opt.inactivity / 4);
}

/* Once per RTT; several times per RTT for a window, which advances with each
 * report. */
static saratoga_time wanted_spacing(const saratoga__session *s) {
    const saratoga__pace *p = &s->out.pace;
    saratoga_time srtt = (saratoga_time)s->rtt.srtt;
    if (s->rtt.srtt <= 0) {
        return s->opt.first_spacing;
    }
    if (s->rtt.latest > 0 && s->rtt.latest < s->rtt.srtt / 2) {
        srtt = (saratoga_time)s->rtt.latest; /* the queue has drained */
    }
    if (p->cong == NULL) {
        return saratoga__sooner(srtt, s->opt.status_spacing);
    }
    return p->law == SARATOGA__WINDOW ? srtt / WINDOW_ASKS : srtt;
}

static saratoga_time spacing(const saratoga__session *s) {
    saratoga_time grain = s->ctx->cfg.timer_granularity_us * UINT64_C(1000);
    saratoga_time thin = uplink_spacing(s);
    saratoga_time least = thin > grain ? thin : grain;
    saratoga_time wanted = wanted_spacing(s);
    return wanted > least ? wanted : least;
}

/* If answers take longer than before, they queue on a thin uplink; more
 * requests would make it worse. */
saratoga_time saratoga__sender_next_ask(const saratoga__session *s) {
    const saratoga__sender *o = &s->out;
    saratoga_time rtt = s->rtt.min_rtt > 0 ? (saratoga_time)s->rtt.min_rtt : 0;
    saratoga_time patience = saratoga__later(rtt, 2 * spacing(s));
    saratoga_time at = o->ask_at;
    if (s->rtt.srtt > 0 && at > saratoga__later(o->awaited, patience)) {
        at = saratoga__later(o->asked_at, patience << o->overdue);
    }
    if (o->group_d != 0 && o->group_d == o->train_d) { /* more parts follow */
        saratoga_time more = saratoga__later(o->answer_at, 2 * o->part_gap);
        at = more > at ? more : at;
    }
    return at;
}

/* Measures the arrival of a long hole list. */
static void time_parts(saratoga__session *s, uint64_t d, size_t len, bool part,
                       saratoga_time now) {
    saratoga__sender *o = &s->out;
    if (part && d == o->status_d) {
        o->part_gap = now - o->answer_at;
        o->train_len = d == o->train_d ? o->train_len : 0;
        o->train_time = d == o->train_d ? o->train_time : 0;
        o->train_d = d;
        o->train_len += len + s->overhead;
        o->train_time += o->part_gap;
    }
    o->answer_at = now;
}

void saratoga__sender_on_answer(saratoga__session *s, uint64_t d, size_t len,
                                bool part, saratoga_time now) {
    saratoga__sender *o = &s->out;
    time_parts(s, d, len, part, now);
    if (d > o->status_d) {
        o->answer_last = o->answer_len;
        o->answer_len = 0;
        o->overdue = 0;
        o->awaited = saratoga__sentlog_next_ask(&o->log, d);
    }
    o->answer_len += len + s->overhead;
}

/* An open loop needs no answer per RTT if that means every packet. */
static bool has_sent_enough(const saratoga__session *s, saratoga_time now) {
    const saratoga__sender *o = &s->out;
    return o->pace.cong != NULL || o->since_ask + 1 >= s->opt.spacing_packets ||
           now >= saratoga__later(o->ask_at, s->opt.status_spacing);
}

bool saratoga__sender_is_window_shut(const saratoga__session *s) {
    const saratoga__sender *o = &s->out;
    return o->pace.law == SARATOGA__WINDOW && s->rtt.srtt > 0 && !o->stalled &&
           o->todo.count > 0 &&
           saratoga__pace_is_shut(&o->pace, (double)o->log.flight);
}

/* The first answer gives the RTT, without which later ones are useless; the
 * answer to an empty packet may not. */
static bool asks_for_rtt(const saratoga__session *s) {
    const saratoga__sender *o = &s->out;
    return o->pace.law == SARATOGA__WINDOW && s->rtt.srtt <= 0 &&
           saratoga__pace_is_shut(&o->pace,
                                  (double)o->log.flight + o->pace.mss);
}

static bool wants_answer(const saratoga__session *s, saratoga_time now) {
    const saratoga__sender *o = &s->out;
    if (saratoga__proof_is_missing(s)) {
        return o->unanswered == SARATOGA_TIME_NEVER || s->proof.drawn > 0;
    }
    if (saratoga__sender_is_one_way(s)) {
        return false;
    }
    return o->log.ring.tail == 1 || asks_for_rtt(s) ||
           (now >= saratoga__sender_next_ask(s) && has_sent_enough(s, now));
}

static void on_asked(saratoga__session *s, saratoga_time now) {
    saratoga__sender *o = &s->out;
    bool late = saratoga__sender_next_ask(s) > o->ask_at;
    o->overdue += late && o->overdue < OVERDUE_MAX ? 1 : 0;
    o->awaited = saratoga__sooner(o->awaited, now);
    o->asked_at = now;
    o->ask_at = saratoga__later(now, spacing(s));
    o->since_ask = 0;
    o->poll_due = false;
    if (o->unanswered == SARATOGA_TIME_NEVER) {
        o->unanswered = now;
        saratoga__pace_await(&o->pace, now);
    }
    if (o->rto_at == SARATOGA_TIME_NEVER) {
        o->rto_at = saratoga__later(now, (saratoga_time)cong_rtt_rto(&s->rtt));
    }
    s->st.requests_packets++;
}

/* ---- polls at the end, or when nothing is heard ---- */

saratoga_time saratoga__sender_first_wait(const saratoga__session *s) {
    saratoga_time wait = s->opt.poll;
    if (s->rtt.srtt <= 0) {
        return wait > SARATOGA_S ? wait : SARATOGA_S;
    }
    return 2 * (saratoga_time)s->rtt.srtt > wait
               ? 2 * (saratoga_time)s->rtt.srtt
               : wait;
}

void saratoga__sender_restart_poll(saratoga__session *s, saratoga_time now) {
    saratoga__sender *o = &s->out;
    o->poll_wait = saratoga__sender_first_wait(s);
    o->poll_at = SARATOGA_TIME_NEVER;
    if (!saratoga__sender_is_one_way(s) && (o->stalled || o->todo.count == 0) &&
        (o->next > o->proven || saratoga__sender_is_drained(s))) {
        o->poll_at = saratoga__later(now, o->poll_wait);
    }
}

/* The last requests may be lost: a few more follow soon. */
static void arm_poll(saratoga__session *s, saratoga_time now) {
    saratoga__sender *o = &s->out;
    saratoga_time wait =
        o->poll_wait > 0 ? o->poll_wait : saratoga__sender_first_wait(s);
    saratoga_time most = s->opt.poll_max;
    if (saratoga__sender_is_one_way(s)) {
        return;
    }
    if (o->quick_polls > 0 && saratoga__sender_is_drained(s) &&
        s->rtt.srtt > 0) {
        o->quick_polls--;
        o->poll_at = saratoga__later(now, (saratoga_time)s->rtt.srtt / 8);
        return;
    }
    o->poll_at = saratoga__later(now, wait);
    if (o->stalled) { /* the link may return at any time */
        most = saratoga__sooner(most, SARATOGA_S);
        most = most > saratoga__sender_first_wait(s)
                   ? most
                   : saratoga__sender_first_wait(s);
    }
    o->poll_wait = saratoga__sooner(2 * wait, most > wait ? most : wait);
}

/* ---- writing ---- */

static uint64_t next_timestamp(saratoga__session *s, saratoga_time now) {
    saratoga__sender *o = &s->out;
    uint64_t x = saratoga__timestamp_clock(now, s->ctx->cfg.posix_offset);
    if (s->opt.timestamps == SARATOGA_TS_LOCAL) {
        x = o->log.ring.tail;
    }
    /* Each transmission has a unique timestamp, so that an echo identifies
     * it. */
    o->last_timestamp = x > o->last_timestamp ? x : o->last_timestamp + 1;
    return o->last_timestamp;
}

/* When a receiver resumes, data in its holes was not sent before, although
 * later data is already held. */
static bool is_repeat(saratoga__sender *o, const saratoga__sent *sent) {
    bool resumes = sent->offset < o->resumed_edge;
    bool first = resumes && sent->offset >= o->resumed_sent;
    uint64_t end = sent->offset + sent->len;
    o->resumed_sent = first ? end : o->resumed_sent;
    return sent->again && !first;
}

static void note(saratoga__session *s, cmn__range r, bool asks,
                 uint64_t timestamp, saratoga_time now) {
    saratoga__sender *o = &s->out;
    saratoga__sent sent = {.offset = r.start,
                           .timestamp = timestamp,
                           .at = now,
                           .len = (uint32_t)(r.end - r.start),
                           .asks = asks,
                           .again = r.end > r.start && r.start < o->next};
    (void)saratoga__sentlog_add(&o->log, &sent);
    s->st.data_packets++;
    s->st.data_bytes += sent.len;
    o->since_ask++;
    o->sent_at = now;
    if (sent.len > 0) {
        o->unacked_since = o->unacked_packets > 0 ? o->unacked_since : now;
        o->unacked_packets +=
            o->unacked_packets < SARATOGA__NO_PROGRESS_PACKETS ? 1 : 0;
    }
    if (is_repeat(o, &sent)) {
        s->st.retransmitted_packets++;
        s->st.retransmitted_bytes += sent.len;
    }
    if (sent.again && o->next >= o->size) {
        (void)cmn__ranges_add(&o->tail, r.start, r.end, NULL);
    }
    if (asks) {
        on_asked(s, now);
    }
    o->next = r.end > o->next ? r.end : o->next;
}

static size_t write_head(saratoga__session *s, cmn__writer *w, cmn__range r,
                         bool asks, saratoga_time now) {
    uint8_t timestamp[SARATOGA__TIMESTAMP_LEN];
    uint64_t x = next_timestamp(s, now);
    bool probe = saratoga__proof_by_echo(s);
    saratoga__data d = {.descriptor =
                            probe ? (uint32_t)SARATOGA_16_BIT : s->descriptor,
                        .kind = s->kind,
                        .asks = asks,
                        .eod = r.end == s->out.size && !probe,
                        .id = s->id,
                        .offset = {0, r.start}};
    if (s->opt.timestamps != SARATOGA_TS_OFF) {
        saratoga__timestamp_write(s->opt.timestamps, x, timestamp);
        if (asks || saratoga__end_is_signed(s)) {
            saratoga__proof_seal(s, timestamp);
        }
        d.timestamp = timestamp;
    }
    saratoga__data_write_head(w, &d);
    if (d.eod && !s->out.eod_sent) {
        s->out.eod_sent = true;
        s->out.eod_at = now;
    }
    note(s, r, asks, x, now);
    saratoga__proof_on_data(s, r.end);
    return w->bad ? 0 : 1;
}

static size_t write_poll(saratoga__session *s, uint8_t *buf, size_t cap,
                         saratoga_time now) {
    cmn__writer w = cmn__writer_of(buf, cap);
    saratoga__sender *o = &s->out;
    cmn__range at = {o->next, o->next};
    bool asks =
        !saratoga__sender_is_one_way(s) || saratoga__proof_is_missing(s);
    size_t len;
    (void)write_head(s, &w, at, asks, now);
    len = (size_t)(w.p - buf);
    o->poll_due = false;
    s->st.polls++;
    /* not charged to the rate: polls would use up a very low rate */
    arm_poll(s, now);
    return len;
}

/* The lowest bytes to be sent, at most one packet. At the end of a multicast or
 * one-way pass, the next pass begins. */
static bool next_range(saratoga__session *s, cmn__range *r) {
    saratoga__sender *o = &s->out;
    size_t room = saratoga__proof_room(s);
    size_t head = head_len(s);
    size_t most = room < head ? 0 : room - head;
    if (!cmn__ranges_next(&o->todo, 0, r)) {
        return false;
    }
    most = most < o->payload ? most : o->payload;
    if (o->source.aligned && o->payload > 0) {
        size_t left = o->payload - (size_t)(r->start % o->payload);
        most = most < left ? most : left;
    }
    if (r->end - r->start > most) {
        r->end = r->start + most;
    }
    return true;
}

static bool copy_payload(saratoga__session *s, cmn__range r, uint8_t *to) {
    size_t len = (size_t)(r.end - r.start);
    if (s->kind == SARATOGA_STREAM) {
        cmn__bytes_get(&s->out.window, r.start, to, len);
        return true;
    }
    return saratoga__source_copy(&s->out.source, r.start, to, len);
}

bool saratoga__sender_is_held_up(const saratoga__session *s) {
    const saratoga__sender *o = &s->out;
    return o->stalled || o->patient || o->starved || o->todo.count == 0 ||
           saratoga__proof_by_echo(s) || saratoga__proof_awaits_answer(s) ||
           saratoga__proof_room(s) <= head_len(s);
}

static bool may_send(saratoga__session *s, saratoga_time now) {
    saratoga__sender *o = &s->out;
    saratoga_time at;
    if (saratoga__sender_is_held_up(s)) {
        return false;
    }
    at = saratoga__pace_next(&o->pace, (double)o->log.flight, now);
    if (at > now) {
        o->pace.limited = true;
        o->pace.waits = at != SARATOGA_TIME_NEVER;
    }
    return at <= now;
}

/* Whether this is the last packet to be sent, which must request the STATUS. */
static bool is_last(const saratoga__sender *o, cmn__range r) {
    return o->todo.total == r.end - r.start;
}

static size_t write_one(saratoga__session *s, cmn__range r, uint8_t *buf,
                        size_t cap, saratoga_time now) {
    saratoga__sender *o = &s->out;
    size_t head = head_len(s);
    size_t len = head + (size_t)(r.end - r.start);
    bool newest = r.end >= o->next;
    bool ask = wants_answer(s, now) ||
               (is_last(o, r) && !saratoga__sender_is_one_way(s));
    cmn__writer w = cmn__writer_of(buf, cap);
    if (len > cap || !copy_payload(s, r, buf + head)) {
        o->starved = len <= cap; /* until a read ends */
        return 0;
    }
    /* A STATUS covers the data below the requesting packet, so a retransmission
     * does not request one: an empty packet at the far end does. */
    o->poll_due |= ask && !newest;
    (void)write_head(s, &w, r, ask && newest, now);
    (void)cmn__ranges_sub(&o->todo, r.start, r.end, NULL);
    if (s->opt.unreliable && r.end > o->proven) {
        o->proven = r.end;
    }
    saratoga__pace_sent(&o->pace, (double)(len + s->overhead), now);
    s->st.wire_bytes += len + s->overhead;
    return len;
}

static size_t write_batch(saratoga__session *s, uint8_t *buf, size_t cap,
                          size_t *segment, saratoga_time now) {
    saratoga__sender *o = &s->out;
    size_t total = 0;
    cmn__range r;
    *segment = 0;
    while (next_range(s, &r) && may_send(s, now)) {
        size_t len = head_len(s) + (size_t)(r.end - r.start);
        if (*segment != 0 && (len > *segment || o->poll_due)) {
            break;
        }
        r.end = saratoga__proof_draw_end(s, r);
        len = write_one(s, r, buf + total, cap - total, now);
        if (len == 0) {
            break;
        }
        *segment = *segment == 0 ? len : *segment;
        total += len;
        if (len < *segment) {
            break;
        }
    }
    if (total > 0) {
        saratoga__sender_plan(s);
    }
    return total;
}

/* Sends a small last batch of retransmissions more than once: the link is idle
 * anyway, and another loss would cost a round trip. */
static void repeat_tail(saratoga__session *s) {
    saratoga__sender *o = &s->out;
    double least = 4 * (double)o->payload;
    double most = o->pace.pacer.rate * (double)s->rtt.srtt / (4 * NS_PER_S);
    cmn__range r = {0, 0};
    if (o->copies == 0 ||
        (double)o->tail.total > (most > least ? most : least)) {
        return;
    }
    o->copies--;
    while (cmn__ranges_next(&o->tail, r.end, &r)) {
        (void)cmn__ranges_add(&o->todo, r.start, r.end, NULL);
    }
    cmn__ranges_clear(&o->tail);
}

size_t saratoga__sender_write(saratoga__session *s, uint8_t *buf, size_t cap,
                              size_t *segment, uint32_t *flags,
                              saratoga_time now) {
    saratoga__sender *o = &s->out;
    size_t n = 0;
    o->pace.waits &= !saratoga__sender_is_held_up(s);
    saratoga__pace_update(&o->pace, s->rtt.srtt);
    if (!o->meta_sent && !saratoga__proof_is_missing(s)) {
        return 0; /* METADATA leaves first */
    }
    *segment = 0;
    if (o->poll_due && cap >= poll_len(s)) {
        n = write_poll(s, buf, cap, now);
        *segment = n;
    } else if (o->todo.count > 0) {
        n = write_batch(s, buf, cap, segment, now);
        if (n > 0 && o->todo.count == 0) {
            repeat_tail(s);
            saratoga__sender_plan(s);
            arm_poll(s, now);
        }
    }
    if (n > 0 && o->lite) {
        *flags |= SARATOGA_PKT_LITE;
    }
    return n;
}
