/* SPDX-License-Identifier: MPL-2.0 */
/* Fates of sent pieces. */
#include "libtltcp/engine/sections.h"

static int credit(tltcp__sections *s, uint64_t number, uint64_t start,
                  uint64_t end) {
    tltcp__section *r = tltcp__sections_rec(s, number);
    uint64_t added;
    if (r->state == TLTCP__SECTION_DONE) {
        return 0;
    }
    if (cmn__ranges_add(&s->acked, start, end, &added) != 0) {
        return TLTCP_ERR_NOMEM;
    }
    r->acked += added;
    s->stats->bytes_delivered += added;
    if (added > 0 && tltcp__sections_drop_retransmissions(s, start, end) != 0) {
        return TLTCP_ERR_NOMEM;
    }
    if (r->state == TLTCP__SECTION_LIVE && r->acked == r->end - r->start) {
        tltcp__sections_off_the_clock(s, r);
        tltcp__sections_settle(s, number, TLTCP_FATE_DELIVERED);
    }
    return 0;
}

static int landed(tltcp__sections *s, uint64_t number, uint32_t pieces) {
    tltcp__section *r = tltcp__sections_rec(s, number);
    r->flying -= pieces < r->flying ? pieces : r->flying;
    return tltcp__sections_settle_expired(s, number);
}

int tltcp__sections_on_acked(tltcp__sections *s, uint64_t section,
                             uint64_t start, uint64_t end, uint32_t pieces) {
    int rv;
    if (!tltcp__sections_knows(s, section)) {
        return 0;
    }
    rv = credit(s, section, start, end);
    if (rv == 0) {
        rv = landed(s, section, pieces);
    }
    tltcp__sections_advance(s);
    return rv;
}

void tltcp__sections_on_forgotten(tltcp__sections *s, uint64_t section) {
    if (tltcp__sections_knows(s, section)) {
        (void)landed(s, section, 1); /* its dependents wait for its deadline */
        tltcp__sections_advance(s);
    }
}

int tltcp__sections_on_late(tltcp__sections *s, uint64_t section,
                            uint64_t start, uint64_t end) {
    int rv =
        tltcp__sections_knows(s, section) ? credit(s, section, start, end) : 0;
    tltcp__sections_advance(s);
    return rv;
}

/* Queues the parts of [start, end) not acknowledged meanwhile for
 * retransmission. */
static int queue_retransmission(tltcp__sections *s, uint64_t start,
                                uint64_t end, unsigned level, bool *current) {
    while (start < end) {
        cmn__range r;
        uint64_t stop = end;
        if (cmn__ranges_next(&s->acked, start, &r) && r.start < end) {
            stop = r.start > start ? r.start : start;
        } else {
            r.end = end;
        }
        if (stop > start) {
            *current = true;
            if (cmn__ranges_add(&s->lost[level], start, stop, NULL) != 0) {
                return TLTCP_ERR_NOMEM;
            }
        }
        start = r.end;
    }
    return 0;
}

int tltcp__sections_on_lost(tltcp__sections *s, uint64_t section,
                            uint64_t start, uint64_t end, unsigned losses,
                            bool *current) {
    unsigned level =
        losses < TLTCP__LOST_LEVELS ? losses : TLTCP__LOST_LEVELS - 1;
    int rv = 0;
    if (!tltcp__sections_knows(s, section)) {
        return 0;
    }
    if (tltcp__sections_rec(s, section)->state == TLTCP__SECTION_LIVE) {
        rv = tltcp__sections_drop_retransmissions(s, start, end);
        if (rv == 0) {
            rv = queue_retransmission(s, start, end, level, current);
        }
    }
    if (rv == 0) {
        rv = landed(s, section, 1);
    }
    tltcp__sections_advance(s);
    return rv;
}

int tltcp__sections_on_cumulative(tltcp__sections *s, uint64_t seq) {
    uint64_t number = s->update_section;
    int rv = 0;
    if (seq <= s->una) {
        return 0;
    }
    while (rv == 0 && number < s->recs.tail &&
           tltcp__sections_rec(s, number)->start < seq) {
        const tltcp__section *r = tltcp__sections_rec(s, number);
        if (r->state == TLTCP__SECTION_LIVE) {
            rv = credit(s, number, r->start, r->end < seq ? r->end : seq);
        }
        number++;
    }
    tltcp__sections_advance(s);
    return rv;
}

int tltcp__sections_on_rebuilt(tltcp__sections *s, uint64_t start,
                               uint64_t end) {
    uint64_t number;
    uint64_t stop;
    int rv;
    if (start < tltcp__sections_base(s) || start >= s->end) {
        return 0; /* its section is settled */
    }
    number = tltcp__sections_find(s, start);
    stop = tltcp__sections_rec(s, number)->end;
    rv = credit(s, number, start, end < stop ? end : stop);
    tltcp__sections_advance(s);
    return rv;
}

int tltcp__sections_on_skip_lost(tltcp__sections *s, uint64_t start,
                                 uint64_t end) {
    start = start > s->update ? start : s->update;
    return cmn__ranges_add(&s->skips, start, end, NULL) == 0 ? 0
                                                             : TLTCP_ERR_NOMEM;
}
