/* SPDX-License-Identifier: MPL-2.0 */
/* Chooses the part of the stream to send next. */
#include "libtltcp/engine/sections.h"

/* No repair symbols for this time after a section has yielded. */
#define SCARCE (2 * TLTCP_S)

static bool may_send_new(const tltcp__sections *s) {
    return s->nxt < s->end && s->nxt < s->peer_seq &&
           s->nxt_section < s->peer_section;
}

bool tltcp__sections_has(const tltcp__sections *s, bool new_data) {
    for (int i = 0; i < TLTCP__LOST_LEVELS; i++) {
        if (s->lost[i].count > 0) {
            return true;
        }
    }
    return new_data &&
           (may_send_new(s) || s->ahead.section != TLTCP__NO_SECTION);
}

tltcp__meta tltcp__sections_meta(const tltcp__sections *s, uint64_t number) {
    const tltcp__section *r = tltcp__sections_rec(s, number);
    return (tltcp__meta){.tag = r->tag,
                         .depends = r->depends,
                         .cls = r->cls,
                         .stream = r->stream};
}

/* The piece with the first byte carries the metadata. */
static uint8_t opening_flags(const tltcp__sections *s, uint64_t number) {
    tltcp__meta m = tltcp__sections_meta(s, number);
    return TLTCP__DATA_START | (s->sends_meta ? tltcp__meta_flags(&m) : 0);
}

static void describe(const tltcp__sections *s, tltcp__piece *p, uint64_t max) {
    const tltcp__section *r = tltcp__sections_rec(s, p->section);
    uint8_t flags = p->start == r->start ? opening_flags(s, p->section) : 0;
    max -= tltcp__meta_len(flags);
    if (p->end > r->end) {
        p->end = r->end;
    }
    if (p->end - p->start > max) {
        p->end = p->start + max;
    }
    p->flags = flags | (p->end == r->end ? TLTCP__DATA_END : 0);
}

static bool take_retransmission(tltcp__sections *s, uint64_t max,
                                tltcp__piece *out) {
    cmn__range best = {UINT64_MAX, UINT64_MAX};
    int level = -1;
    for (int i = 0; i < TLTCP__LOST_LEVELS; i++) {
        cmn__range r;
        if (cmn__ranges_next(&s->lost[i], 0, &r) && r.start < best.start) {
            best = r;
            level = i;
        }
    }
    if (level < 0) {
        return false;
    }
    *out = (tltcp__piece){.start = best.start,
                          .end = best.end,
                          .section = tltcp__sections_find(s, best.start),
                          .losses = (uint8_t)(level + 1)};
    describe(s, out, max);
    /* shortens a range at its head: needs no memory */
    (void)cmn__ranges_sub(&s->lost[level], out->start, out->end, NULL);
    return true;
}

/* Whether the next section must yield so that others arrive complete. */
static bool must_yield(const tltcp__sections *s, tltcp_time now) {
    return s->dependencies != NULL && s->look_ahead &&
           tltcp__sections_rec(s, s->nxt_section)->start == s->nxt &&
           !tltcp__lookahead_keeps(s->dependencies, &s->recs, s->nxt_section,
                                   tltcp__sections_missing(s), &s->path, now);
}

/* When a section that begins now would be sent completely. */
static tltcp_time through(const tltcp__sections *s, const tltcp__section *r,
                          tltcp_time now) {
    double wait =
        s->path.rate > 0 ? (double)(r->end - r->start) / s->path.rate * 1e9 : 0;
    return now + s->path.lead + (tltcp_time)wait;
}

/* Call it before the first byte of a section is sent. */
static void protect(tltcp__sections *s, uint64_t number, tltcp_time now) {
    const tltcp__section *r = tltcp__sections_rec(s, number);
    if (s->fec.on) {
        tltcp__fec_sender_protect(&s->fec, number, r, through(s, r, now),
                                  number != s->nxt_section);
    }
}

/* Start and section of the next new data to send; false: none. */
static bool next_new(const tltcp__sections *s, uint64_t *start,
                     uint64_t *section) {
    if (tltcp__sections_next_ahead(s, section)) {
        *start = s->ahead.section == *section
                     ? s->ahead.nxt
                     : tltcp__sections_rec(s, *section)->start;
        return true;
    }
    *start = s->nxt;
    *section = s->nxt_section;
    return may_send_new(s);
}

/* Gives up the sections next in turn that must yield. 0 or TLTCP_ERR_NOMEM. */
static int thin_out(tltcp__sections *s, tltcp_time now) {
    uint64_t ahead;
    int rv = 0;
    while (rv == 0 && !tltcp__sections_next_ahead(s, &ahead) &&
           may_send_new(s) && must_yield(s, now)) {
        if (!s->path.starved) { /* otherwise nothing has overflowed */
            s->fec.scarce = now + SCARCE;
        }
        rv = tltcp__sections_give_up(s, s->nxt_section, TLTCP_CAUSE_YIELDED);
        if (rv == 0) {
            rv = tltcp__sections_expire(s, now); /* with its dependents */
        }
        tltcp__sections_advance(s);
    }
    return rv;
}

static bool take_new(tltcp__sections *s, uint64_t max, tltcp_time now,
                     tltcp__piece *out) {
    uint64_t start;
    uint64_t section;
    if (thin_out(s, now) != 0 || !next_new(s, &start, &section)) {
        return false;
    }
    if (start == tltcp__sections_rec(s, section)->start) {
        protect(s, section, now);
    }
    tltcp__fec_sender_reach(&s->fec, section, start, &s->buf);
    *out = (tltcp__piece){.start = start,
                          .end = s->end < s->peer_seq ? s->end : s->peer_seq,
                          .section = section};
    out->end =
        tltcp__fec_sender_cut(&s->fec, out->section, out->start, out->end);
    describe(s, out, max);
    tltcp__sections_on_taken(s, out);
    return true;
}

bool tltcp__sections_next(tltcp__sections *s, uint64_t max, bool new_data,
                          tltcp_time now, tltcp__piece *out) {
    if (max == 0 || tltcp__sections_expire(s, now) != 0) {
        return false;
    }
    return take_retransmission(s, max, out) ||
           (new_data && take_new(s, max, now, out));
}

bool tltcp__sections_again(tltcp__sections *s, uint64_t start, uint64_t end,
                           uint64_t max, tltcp_time now, tltcp__piece *out) {
    uint64_t number;
    if (tltcp__sections_expire(s, now) != 0 || start < s->una ||
        start >= s->end) {
        return false;
    }
    number = tltcp__sections_find(s, start);
    if (!tltcp__sections_is_live(s, number)) {
        return false;
    }
    *out = (tltcp__piece){
        .start = start, .end = end, .section = number, .losses = 1};
    describe(s, out, max);
    return true;
}

void tltcp__sections_on_sent(tltcp__sections *s, const tltcp__piece *p,
                             bool tracked) {
    tltcp__section *r = tltcp__sections_rec(s, p->section);
    r->flying += tracked;
    r->sent = true;
    s->stats->bytes_sent += p->end - p->start;
    if (p->losses > 0) {
        s->stats->bytes_retransmitted += p->end - p->start;
    }
}

uint64_t tltcp__sections_run(const tltcp__sections *s, size_t len) {
    const tltcp__section *r;
    uint64_t end;
    if (!may_send_new(s) || tltcp__sections_missing(s) > 0 ||
        s->skips.count > 0 || s->fec.maker != NULL ||
        s->ahead.section != TLTCP__NO_SECTION ||
        cmn__ring_len(&s->ahead.waiting) > 0) {
        return 0;
    }
    r = tltcp__sections_rec(s, s->nxt_section);
    end = r->end - 1 < s->peer_seq ? r->end - 1 : s->peer_seq;
    return s->nxt > r->start && s->nxt < end ? (end - s->nxt) / len : 0;
}

void tltcp__sections_on_run_sent(tltcp__sections *s, uint32_t pieces,
                                 uint64_t end) {
    tltcp__piece all = {.start = s->nxt, .end = end, .section = s->nxt_section};
    tltcp__sections_on_taken(s, &all);
    tltcp__sections_on_sent(s, &all, false);
    tltcp__sections_rec(s, all.section)->flying += pieces;
}

void tltcp__sections_on_fec_symbol_sent(tltcp__sections *s, uint64_t section) {
    tltcp__sections_rec(s, section)->flying++;
    tltcp__fec_sender_sent(&s->fec, section);
}

bool tltcp__sections_next_fec_symbol(const tltcp__sections *s,
                                     tltcp__fec_symbol *out) {
    bool found = false;
    if (s->fec.maker == NULL) { /* each packet asks several times */
        return false;
    }
    for (unsigned i = 0; !found && i < TLTCP__FEC_SETS; i++) {
        const tltcp__fec_set *t = tltcp__fec_sender_set(&s->fec, i);
        /* symbols for larger datagrams would wait forever */
        found = t != NULL && t->size <= s->fec.room &&
                tltcp__sections_is_live(s, t->section) &&
                tltcp__fec_sender_next(
                    t, tltcp__sections_left_upto(s, t->section), out);
    }
    if (found && (out->flags & TLTCP__DATA_START) != 0) {
        out->flags |= opening_flags(s, out->section);
    }
    return found;
}

size_t tltcp__sections_next_symbol(const tltcp__sections *s, tltcp_time now) {
    const tltcp__section *r;
    uint64_t start;
    uint64_t section;
    if (!next_new(s, &start, &section)) {
        return 0;
    }
    r = tltcp__sections_rec(s, section);
    if (start == r->start) { /* its symbols are not decided yet */
        size_t len = (size_t)(r->end - r->start);
        len = len < s->fec.room ? len : s->fec.room;
        return tltcp__fec_sender_wants(&s->fec, r, through(s, r, now))
                   ? len + tltcp__meta_len(opening_flags(s, section))
                   : 0;
    }
    return tltcp__fec_sender_protects(&s->fec, section)
               ? (size_t)(tltcp__fec_sender_cut(&s->fec, section, start,
                                                r->end) -
                          start)
               : 0;
}

bool tltcp__sections_next_skip(tltcp__sections *s, tltcp__piece *out) {
    cmn__range r;
    if (!cmn__ranges_next(&s->skips, s->update, &r)) {
        return false;
    }
    *out = (tltcp__piece){.start = r.start, .end = r.end};
    out->section =
        r.end == s->end ? s->recs.tail : tltcp__sections_find(s, r.end);
    (void)cmn__ranges_sub(&s->skips, r.start, r.end, NULL);
    return true;
}
