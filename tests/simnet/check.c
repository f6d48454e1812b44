/* SPDX-License-Identifier: MPL-2.0 */
#include <inttypes.h>
#include <stdlib.h>

#include "libtltcp/engine/chunk.h"
#include "libtltcp/engine/conn.h"
#include "libtltcp/engine/params.h"
#include "tests/simnet/world.h"

/* The section that holds a place, or the count when there is none. */
static uint64_t section_at(const struct flow *f, uint64_t seq) {
    uint64_t lo = 0;
    uint64_t hi = f->source.count;
    while (lo < hi) {
        uint64_t mid = lo + (hi - lo) / 2;
        const struct sim_section *s = &f->source.sections[mid];
        if (s->seq + s->len > seq) {
            hi = mid;
        } else {
            lo = mid + 1;
        }
    }
    return lo;
}

static const struct sim_section *section(const struct flow *f, uint64_t i) {
    return &f->source.sections[i];
}

static bool reserve(struct flow *f, uint64_t n) {
    uint64_t cap = f->cap != 0 ? f->cap : 64;
    struct tally *wide;
    if (n <= f->cap) {
        return true;
    }
    while (cap < n) {
        cap *= 2;
    }
    wide = realloc(f->tally, (size_t)cap * sizeof(*wide));
    if (wide == NULL) {
        return false;
    }
    memset(wide + f->cap, 0, (size_t)(cap - f->cap) * sizeof(*wide));
    f->tally = wide;
    f->cap = cap;
    return true;
}

/* By how much sections expire before their deadline: half the least RTT where
 * the deadline means arrival. */
static uint64_t lead_of(struct end *e) {
    uint64_t lead =
        e->world->plan.config[e - e->world->end].deadline_at_receiver
            ? end_stats(e).min_rtt_ns / 2
            : 0;
    e->lead = lead > e->lead ? lead : e->lead;
    return lead;
}

void check_lead(struct end *e) {
    (void)lead_of(e);
}

/* ---- datagrams that leave ---- */

static void check_data(struct end *e, const tltcp__chunk *c) {
    struct world *w = e->world;
    const struct flow *f = e->out;
    tltcp_time now = sim_host_now(e->host);
    const struct sim_section *s;
    tltcp__data d;
    uint64_t seq;
    uint64_t i;
    if (!tltcp__data_parse(c, &d) || !f->first_seq_known) {
        world_fault(w, "DATA chunk malformed or before PARAMS");
        return;
    }
    seq = cmn__widen(d.seq - f->first_seq, f->source.bytes);
    i = section_at(f, seq);
    if (i == f->source.count ||
        seq + d.len > section(f, i)->seq + section(f, i)->len) {
        world_fault(w, "DATA %" PRIu64 "+%zu is in no section", seq, d.len);
        return;
    }
    s = section(f, i);
    e->data = true;
    if (s->deadline <= now + lead_of(e)) {
        world_fault(w,
                    "byte %" PRIu64 " of section %" PRIu64 " leaves %" PRIu64
                    " ns after its deadline",
                    seq, i, now - s->deadline);
    } else if (e->slack == 0 || s->deadline - now < e->slack) {
        e->slack = s->deadline - now;
    }
    if (d.section != (uint32_t)i ||
        ((c->flags & TLTCP__DATA_START) != 0) != (seq == s->seq) ||
        ((c->flags & TLTCP__DATA_END) != 0) !=
            (seq + d.len == s->seq + s->len)) {
        world_fault(w, "DATA %" PRIu64 ": section %u or flags %u are wrong",
                    seq, d.section, c->flags);
    }
    if (!sim_source_check(f->source.cfg.seed, seq, d.bytes, d.len)) {
        world_fault(w, "DATA %" PRIu64 "+%zu: other bytes than written", seq,
                    d.len);
    }
}

/* Without memory for it a fate is not told. */
static bool may_be_untold(const struct flow *f, uint64_t i) {
    return f->world->plan.no_delivery_check && f->tally[i].fate == 0;
}

/* A seq_update or skip may only cover what has expired or was delivered. */
static void check_skipped(struct end *e, uint64_t start, uint64_t end) {
    const struct flow *f = e->out;
    tltcp_time now = sim_host_now(e->host);
    uint64_t i = section_at(f, start);
    for (; i < f->source.count && section(f, i)->seq < end; i++) {
        if (section(f, i)->deadline > now + e->lead &&
            !e->world->plan.gives_up &&
            f->tally[i].fate != TLTCP_FATE_DELIVERED && !may_be_untold(f, i)) {
            world_fault(e->world,
                        "section %" PRIu64 " is skipped before its deadline",
                        i);
            return;
        }
    }
    if (end > f->source.bytes) {
        world_fault(e->world, "skip up to %" PRIu64 ", written %" PRIu64, end,
                    f->source.bytes);
    }
}

static void check_update(struct end *e, const tltcp__chunk *c) {
    const struct flow *f = e->out;
    tltcp__position at;
    uint64_t seq;
    if (!tltcp__position_parse(c, &at)) {
        world_fault(e->world, "UPDATE malformed");
        return;
    }
    seq = cmn__widen(at.seq - f->first_seq, f->source.bytes);
    check_skipped(e, f->next_seq < seq ? f->next_seq : seq, seq);
}

static void check_skip(struct end *e, const tltcp__chunk *c) {
    const struct flow *f = e->out;
    tltcp__skip s;
    if (!tltcp__skip_parse(c, &s)) {
        world_fault(e->world, "SKIP malformed");
        return;
    }
    check_skipped(e, cmn__widen(s.start - f->first_seq, f->source.bytes),
                  cmn__widen(s.end - f->first_seq, f->source.bytes));
}

static void check_params(struct end *e, const tltcp__chunk *c) {
    tltcp__params p;
    if (!tltcp__params_parse(c, &p)) {
        world_fault(e->world, "PARAMS malformed");
        return;
    }
    e->out->first_seq = p.first_seq;
    e->out->first_seq_known = true;
}

static void check_chunk(struct end *e, const tltcp__chunk *c) {
    if (!reserve(e->out, e->out->source.count + 1)) {
        return;
    }
    switch (c->type) {
    case TLTCP__DATA:
        check_data(e, c);
        break;
    case TLTCP__UPDATE:
        check_update(e, c);
        break;
    case TLTCP__SKIP:
        check_skip(e, c);
        break;
    case TLTCP__PARAMS:
        check_params(e, c);
        break;
    default:
        break;
    }
}

static bool has_chunks(uint8_t type) {
    return type == SEC__SHORT || type == SEC__INITIAL || type == SEC__ANSWER;
}

void check_path(struct end *e, uint64_t path, const void *dgram, size_t len) {
    sec__packet p;
    tltcp__chunk c;
    cmn__reader r;
    if (path == e->peer->conn->paths.current || world_is_sealed(e->world) ||
        !sec__packet_parse(dgram, len, &p)) {
        return;
    }
    r = cmn__reader_of(p.body, p.body_len);
    if (!tltcp__chunk_next(&r, &c) ||
        (c.type != TLTCP__CHALLENGE && c.type != TLTCP__RESPONSE)) {
        world_fault(e->world,
                    "%zu bytes that prove nothing leave for another address",
                    len);
    }
}

void check_datagram(struct end *e, const void *dgram, size_t len) {
    sec__packet p;
    tltcp__chunk c;
    cmn__reader r;
    e->data = false;
    (void)lead_of(e);
    if (world_is_sealed(e->world)) {
        return;
    }
    if (!sec__packet_parse(dgram, len, &p)) {
        world_fault(e->world, "a datagram of %zu bytes is malformed", len);
        return;
    }
    if (!has_chunks(p.type)) {
        return;
    }
    r = cmn__reader_of(p.body, p.body_len);
    while (tltcp__chunk_next(&r, &c)) {
        check_chunk(e, &c);
    }
    if (r.bad) {
        world_fault(e->world, "a chunk of own making is malformed");
    }
}

/* The window of the present recovery: the controller's window, reduced step by
 * step in an episode, or inflated by duplicates in the paper's.  Live data over
 * a path that keeps losing has one more after each of four probe timeouts. */
static double window_of(const tltcp__sender *s) {
    unsigned n = s->pto_count < 4 ? s->pto_count : 4;
    return tltcp__cc_window(&s->cc) * (tltcp__sender_loses(s) ? 1 + n : 1) +
           (s->dup != NULL ? s->dup->recovery.inflation : 0);
}

/* Bytes in flight grow beyond the window only by one packet, a probe of the
 * MTU, or the probes that a timeout sends whatever the window. */
void check_flight(struct end *e) {
    tltcp_stats st = end_stats(e);
    const struct tltcp_conn *c = e->peer->conn;
    bool probing;
    double over = (double)st.bytes_in_flight - window_of(&c->sender);
    if (st.probes_sent != e->probes || st.rto_count != e->retries) {
        e->probed_at = world_now(e->world);
    }
    probing = e->probed_at == world_now(e->world);
    e->repair |= st.congestion_events != e->cuts;
    e->cuts = st.congestion_events;
    if (e->data && st.bytes_in_flight > e->flight && !probing &&
        over > (double)(st.datagram_bytes + c->mtu.probe) &&
        !e->world->plan.no_flight_check) {
        if (c->sender.dup == NULL || !e->repair) {
            world_fault(e->world,
                        "end %d: %" PRIu64 " bytes in flight, window %.0f",
                        (int)(e - e->world->end), st.bytes_in_flight,
                        window_of(&c->sender));
        }
        e->repair = false; /* the one that begins a recovery */
    }
    e->flight = st.bytes_in_flight;
    e->probes = st.probes_sent;
    e->retries = st.rto_count;
}

/* ---- pieces that come out ---- */

/* Data and gaps tile each section from its start to its end, once. */
static void tile(struct world *w, struct flow *f, uint64_t seq, uint64_t len,
                 bool data) {
    uint64_t i = section_at(f, seq);
    while (len > 0 && i < f->source.count) {
        const struct sim_section *s = section(f, i);
        uint64_t n = s->seq + s->len - seq;
        n = n < len ? n : len;
        if (seq - s->seq != f->tally[i].tiled) {
            world_fault(w, "section %" PRIu64 " comes twice or with a hole", i);
        }
        f->tally[i].tiled += n;
        f->tally[i].got += data ? n : 0;
        f->tally[i].whole = f->tally[i].got == s->len ? world_now(w) : 0;
        seq += n;
        len -= n;
        i++;
    }
}

static void check_gap(struct world *w, const struct flow *f,
                      const struct tltcp_segment *seg, uint64_t len) {
    const struct end *sender = &w->end[f == &w->flow[CLIENT] ? CLIENT : SERVER];
    tltcp_time now = sim_host_now(sender->host);
    uint64_t first = section_at(f, seg->seq);
    uint64_t i = first;
    for (; i < f->source.count && section(f, i)->seq < seg->seq + len; i++) {
        if (section(f, i)->deadline > now + sender->lead && !w->plan.gives_up) {
            world_fault(w, "gap in section %" PRIu64 " before its deadline", i);
        }
    }
    if (seg->section != TLTCP_SECTION_UNKNOWN && seg->section != first) {
        world_fault(w, "gap says section %" PRIu64 ", it is %" PRIu64,
                    seg->section, first);
    }
    if ((seg->flags & TL_SECTION_START) != 0 &&
        section(f, first)->seq != seg->seq) {
        world_fault(w, "gap %" PRIu64 " begins no section", seg->seq);
    }
    i = section_at(f, seg->seq + len);
    if ((seg->flags & TL_SECTION_END) != 0 && i < f->source.count &&
        section(f, i)->seq != seg->seq + len) {
        world_fault(w, "gap %" PRIu64 "+%" PRIu64 " ends no section", seg->seq,
                    len);
    }
}

static void check_data_piece(struct world *w, const struct flow *f,
                             const struct tltcp_segment *seg,
                             const uint8_t *data, uint64_t len) {
    uint64_t i = section_at(f, seg->seq);
    const struct sim_section *s = section(f, i);
    if (seg->seq + len > s->seq + s->len) {
        world_fault(w, "data %" PRIu64 "+%" PRIu64 " is in no section",
                    seg->seq, len);
        return;
    }
    if (seg->section != i ||
        ((seg->flags & TL_SECTION_START) != 0) != (seg->seq == s->seq) ||
        ((seg->flags & TL_SECTION_END) != 0) !=
            (seg->seq + len == s->seq + s->len)) {
        world_fault(w,
                    "data %" PRIu64 "+%" PRIu64 ": section %" PRIu64
                    " (is %" PRIu64 ") or flags %u are wrong",
                    seg->seq, len, seg->section, i, seg->flags);
    }
    if (!sim_source_check(f->source.cfg.seed, seg->seq, data, (size_t)len)) {
        world_fault(w, "data %" PRIu64 "+%" PRIu64 " is not what was written",
                    seg->seq, len);
    }
}

/* The references of a section, as the receiver should know them. */
static uint32_t reference_of(const struct flow *f, uint64_t i) {
    const struct tltcp_meta *m = &section(f, i)->meta;
    if (m->depends == 0 && (m->section_class == TL_CLASS_REFERENCE ||
                            m->section_class == TL_CLASS_DISPOSABLE)) {
        for (uint64_t k = i; k-- > 0;) {
            const struct tltcp_meta *n = &section(f, k)->meta;
            if (n->stream == m->stream &&
                (n->section_class == TL_CLASS_KEY ||
                 n->section_class == TL_CLASS_REFERENCE)) {
                return (uint32_t)(i - k);
            }
        }
    }
    return m->depends != 0 && m->depends <= i ? m->depends : TL_DEPENDS_NONE;
}

/* The receiver knows of a section what was said of it, from its first byte on;
 * where that never came, nothing. */
static void check_meta(struct world *w, struct flow *f,
                       const struct tltcp_segment *seg,
                       const struct tltcp_meta *meta) {
    static const struct tltcp_meta nothing;
    uint64_t i = section_at(f, seg->seq);
    const struct tltcp_meta *m = &section(f, i)->meta;
    bool told = f->source.peer->conn->sender.sec.sends_meta &&
                (m->section_class != 0 || m->stream != 0 || m->tag != 0);
    bool known = memcmp(meta, &nothing, sizeof(nothing)) != 0;
    f->told += known;
    if (!known ? told && (seg->flags & TL_SECTION_START) != 0
               : !told || meta->section_class != m->section_class ||
                     meta->stream != m->stream || meta->tag != m->tag ||
                     meta->depends != reference_of(f, i)) {
        world_fault(w,
                    "section %" PRIu64 ": class %u, stream %u, tag %" PRIu64
                    ", refers back %u",
                    i, meta->section_class, meta->stream, meta->tag,
                    meta->depends);
    }
}

void check_piece(void *user, const struct tltcp_segment *seg,
                 const struct tltcp_meta *meta, const uint8_t *data,
                 uint64_t len) {
    struct flow *f = user;
    struct world *w = f->world;
    if (len == 0 || (seg->kind == TL_DATA) != (data != NULL)) {
        world_fault(w, "an empty piece, or of no kind");
    }
    if (!f->unordered && seg->seq != f->next_seq) {
        world_fault(w, "piece at %" PRIu64 ", expected %" PRIu64, seg->seq,
                    f->next_seq);
    }
    if (seg->seq + len > f->source.bytes || !reserve(f, f->source.count)) {
        world_fault(w, "piece beyond what was written");
        return;
    }
    if (data != NULL) {
        check_data_piece(w, f, seg, data, len);
        check_meta(w, f, seg, meta);
    } else {
        check_gap(w, f, seg, len);
    }
    tile(w, f, seg->seq, len, data != NULL);
    f->next_seq = seg->seq + len > f->next_seq ? seg->seq + len : f->next_seq;
}

/* ---- fates ---- */

void check_fate(struct end *e, const tltcp_event *ev) {
    struct flow *f = e->out;
    const struct sim_section *s;
    if (ev->section >= f->source.count || ev->tag != ev->section ||
        ev->fate < TLTCP_FATE_DELIVERED || ev->fate > TLTCP_FATE_ABANDONED ||
        !reserve(f, f->source.count)) {
        world_fault(e->world, "fate %u of section %" PRIu64 ", tag %" PRIu64,
                    ev->fate, ev->section, ev->tag);
        return;
    }
    s = section(f, ev->section);
    (void)lead_of(e);
    if (f->tally[ev->section].fate != 0) {
        world_fault(e->world, "section %" PRIu64 " has a second fate",
                    ev->section);
    }
    f->tally[ev->section].fate = ev->fate;
    f->tally[ev->section].late =
        ev->now + e->lead >= s->deadline || ev->cause != TLTCP_CAUSE_NONE;
    f->tally[ev->section].cause = ev->cause;
    f->fates[ev->fate]++;
    if (ev->bytes != s->len || ev->acked > s->len ||
        ev->deadline != s->deadline || ev->written != s->written ||
        (ev->fate == TLTCP_FATE_DELIVERED) != (ev->acked == s->len)) {
        world_fault(e->world,
                    "fate %u of section %" PRIu64 ": %" PRIu64 " of %" PRIu64
                    " bytes",
                    ev->fate, ev->section, ev->acked, s->len);
    }
    if (ev->fate != TLTCP_FATE_DELIVERED && ev->fate != TLTCP_FATE_ABANDONED &&
        ev->now + e->lead < s->deadline &&
        (ev->cause == TLTCP_CAUSE_DEADLINE || !e->world->plan.gives_up)) {
        world_fault(e->world, "section %" PRIu64 " given up before its time",
                    ev->section);
    }
}

static void check_section_end(struct world *w, const struct flow *f,
                              uint64_t i) {
    const struct sim_section *s = section(f, i);
    const struct tally *t = &f->tally[i];
    if (t->tiled != s->len) {
        world_fault(w, "section %" PRIu64 " was not handed over whole", i);
    }
    if (t->got < s->len && s->deadline == NEVER) {
        world_fault(w, "reliable section %" PRIu64 " came only in part", i);
    }
    if (t->fate == 0 || t->fate == TLTCP_FATE_ABANDONED) {
        world_fault(w, "section %" PRIu64 " has fate %u", i, t->fate);
    }
    /* Once it was given up, bytes may come too late for the reader, who has
     * passed over them; that they came is all that the sender can know. */
    if (t->fate == TLTCP_FATE_DELIVERED && !t->late && t->got != s->len) {
        world_fault(w,
                    "section %" PRIu64 " is called delivered; %" PRIu64
                    " of %" PRIu64 " bytes came",
                    i, t->got, s->len);
    }
    if (t->fate == TLTCP_FATE_UNSENT && t->got != 0) {
        world_fault(w, "section %" PRIu64 " is called unsent, but came", i);
    }
}

void check_flow_end(struct world *w, struct flow *f) {
    uint64_t n = f->source.count;
    if (!reserve(f, n + 1)) {
        return;
    }
    if (!f->source.done || f->source.error != 0 ||
        (f->source.cfg.sections != n)) {
        world_fault(w, "the source wrote %" PRIu64 " sections, error %d", n,
                    f->source.error);
    }
    if (!f->reader.ended) {
        world_fault(w, "end not read: %" PRIu64 " of %" PRIu64 ", error %d",
                    f->next_seq, f->source.bytes, f->reader.error);
    }
    if (!f->unordered && f->next_seq != f->source.bytes) {
        world_fault(w, "read %" PRIu64 " of %" PRIu64, f->next_seq,
                    f->source.bytes);
    }
    for (uint64_t i = 0; i < n; i++) {
        check_section_end(w, f, i);
    }
}
