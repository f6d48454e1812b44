/* SPDX-License-Identifier: MPL-2.0 */
/* Small sections that are sent before their turn, past large queued ones. */
#include "libtltcp/engine/sections.h"

/* A section sent ahead must be small: the others are at least this many times
 * its size. */
#define TIMES 4

/* Time only reduces the data to overtake, so a negative answer is final. */
static bool is_worth_it(const tltcp__sections *s, const tltcp__section *r) {
    return !r->ahead && r->start >= s->nxt &&
           r->start - s->nxt >= TIMES * (r->end - r->start);
}

/* Whether the section that it cannot overtake has been or is being sent. */
static bool is_free(const tltcp__sections *s, uint64_t number,
                    const tltcp__section *r) {
    return r->after == number || r->after < s->nxt_section ||
           !tltcp__sections_knows(s, r->after) ||
           tltcp__sections_rec(s, r->after)->ahead;
}

static uint64_t first_waiting(const tltcp__sections *s) {
    return *(uint64_t *)cmn__ring_at(&s->ahead.waiting, s->ahead.waiting.head);
}

static bool is_still_wanted(const tltcp__sections *s, uint64_t number) {
    const tltcp__section *r;
    if (!tltcp__sections_is_live(s, number)) {
        return false;
    }
    r = tltcp__sections_rec(s, number);
    return is_worth_it(s, r) && is_free(s, number, r);
}

void tltcp__sections_update_ahead(tltcp__sections *s) {
    if (!tltcp__sections_is_live(s, s->ahead.section)) {
        s->ahead.section = TLTCP__NO_SECTION;
    }
    while (cmn__ring_len(&s->ahead.waiting) > 0) {
        uint64_t number = first_waiting(s);
        if (is_still_wanted(s, number)) {
            break;
        }
        cmn__ring_pop(&s->ahead.waiting);
    }
}

/* Sections without a deadline can wait. */
void tltcp__sections_offer_ahead(tltcp__sections *s, uint64_t number) {
    const tltcp__section *r = tltcp__sections_rec(s, number);
    bool urgent = r->cls == TL_CLASS_AUDIO || r->cls == TL_CLASS_HEADER ||
                  r->cls == TL_CLASS_KEY;
    uint64_t *slot;
    if (s->in_order || !urgent || r->deadline == TLTCP_TIME_NEVER ||
        !is_worth_it(s, r)) {
        return;
    }
    slot = cmn__ring_push(&s->ahead.waiting);
    if (slot != NULL) { /* otherwise it waits for its turn */
        *slot = number;
        tltcp__sections_update_ahead(s);
    }
}

bool tltcp__sections_next_ahead(const tltcp__sections *s, uint64_t *number) {
    const tltcp__section *r;
    if (s->ahead.section != TLTCP__NO_SECTION) {
        *number = s->ahead.section;
        return true;
    }
    if (cmn__ring_len(&s->ahead.waiting) == 0) {
        return false;
    }
    *number = first_waiting(s);
    r = tltcp__sections_rec(s, *number);
    return s->ahead.credit >= r->end - r->start && r->end <= s->peer_seq &&
           *number < s->peer_section;
}

void tltcp__sections_on_taken(tltcp__sections *s, const tltcp__piece *p) {
    uint64_t len = p->end - p->start;
    if (p->section == s->nxt_section) {
        s->nxt = p->end;
        s->ahead.credit += len;
        s->ahead.credit = s->ahead.credit < TLTCP__AHEAD_CREDIT
                              ? s->ahead.credit
                              : TLTCP__AHEAD_CREDIT;
    } else {
        tltcp__section *r = tltcp__sections_rec(s, p->section);
        r->ahead = true;
        s->ahead.section = p->end < r->end ? p->section : TLTCP__NO_SECTION;
        s->ahead.nxt = p->end;
        s->ahead.credit -= len;
    }
    tltcp__sections_find_new(s);
}

uint64_t tltcp__sections_left_upto(const tltcp__sections *s, uint64_t number) {
    const tltcp__section *r = tltcp__sections_rec(s, number);
    if (!r->ahead) {
        return s->nxt;
    }
    return s->ahead.section == number ? s->ahead.nxt : r->end;
}

bool tltcp__sections_was_sent(const tltcp__sections *s, uint64_t start,
                              uint64_t end) {
    uint64_t number;
    if (end <= s->nxt) {
        return true;
    }
    if (start < s->nxt || end > s->end) {
        return false;
    }
    number = tltcp__sections_find(s, start);
    return end <= tltcp__sections_rec(s, number)->end &&
           end <= tltcp__sections_left_upto(s, number);
}

void tltcp__sections_find_new(tltcp__sections *s) {
    while (s->nxt_section < s->recs.tail) {
        const tltcp__section *r = tltcp__sections_rec(s, s->nxt_section);
        if (r->state == TLTCP__SECTION_LIVE && !r->ahead && s->nxt < r->end) {
            s->nxt = s->nxt > r->start ? s->nxt : r->start;
            break;
        }
        s->nxt = s->nxt > r->end ? s->nxt : r->end;
        s->nxt_section++;
    }
    tltcp__sections_update_ahead(s);
}
