/* SPDX-License-Identifier: MPL-2.0 */
/* Written sections until their fate is known. */
#include "libtltcp/engine/sections.h"

#include <assert.h>

/* How far beyond its window a peer must accept a seq_update. */
#define AHEAD_MAX (UINT64_C(1) << 30)

static void slot_moved(void *owner, uint64_t number, uint32_t slot) {
    tltcp__sections_rec(owner, number)->slot = slot;
}

void tltcp__sections_init(tltcp__sections *s, const cmn__mem *mem, size_t limit,
                          uint32_t max_sections, tltcp__counters *stats) {
    *s = (tltcp__sections){
        .limit = limit,
        .max_sections = max_sections,
        .policy = TLTCP_DROP_SECTION,
        .dependents_from = UINT64_MAX,
        .ahead = {.section = TLTCP__NO_SECTION, .credit = TLTCP__AHEAD_CREDIT},
        .stats = stats};
    cmn__ring_init(&s->recs, mem, sizeof(tltcp__section), 0);
    cmn__ring_init(&s->ahead.waiting, mem, sizeof(uint64_t), 0);
    cmn__ring_init(&s->orphans, mem, sizeof(uint64_t), 0);
    cmn__bytes_init(&s->buf, mem);
    cmn__heap_init(&s->deadlines, mem, slot_moved, s);
    cmn__ranges_init(&s->acked, mem, UINT32_MAX);
    cmn__ranges_init(&s->skips, mem, UINT32_MAX);
    tltcp__fec_sender_init(&s->fec, mem, TLTCP_FEC_OFF);
    for (int i = 0; i < TLTCP__LOST_LEVELS; i++) {
        cmn__ranges_init(&s->lost[i], mem, UINT32_MAX);
    }
}

void tltcp__sections_free(tltcp__sections *s) {
    cmn__ring_free(&s->recs);
    cmn__ring_free(&s->ahead.waiting);
    cmn__ring_free(&s->orphans);
    cmn__bytes_free(&s->buf);
    cmn__heap_free(&s->deadlines);
    cmn__ranges_free(&s->acked);
    cmn__ranges_free(&s->skips);
    for (int i = 0; i < TLTCP__LOST_LEVELS; i++) {
        cmn__ranges_free(&s->lost[i]);
    }
    tltcp__fec_sender_free(&s->fec);
    if (s->dependencies != NULL) {
        tltcp__dependencies_free(s->dependencies);
        cmn__free(s->recs.mem, s->dependencies);
    }
}

size_t tltcp__sections_room(const tltcp__sections *s) {
    uint64_t room = s->limit - (s->end - s->una);
    uint64_t ahead = s->peer_seq + AHEAD_MAX - s->end;
    if (cmn__ring_len(&s->recs) >= s->max_sections) {
        return 0;
    }
    return (size_t)(room < ahead ? room : ahead);
}

static bool has_meta(const struct tltcp_meta *m) {
    return m->section_class != TL_CLASS_OTHER ||
           (m->depends != 0 && m->depends != TL_DEPENDS_NONE);
}

static int make_dependencies(tltcp__sections *s) {
    s->dependencies = cmn__alloc(s->recs.mem, sizeof(*s->dependencies));
    if (s->dependencies == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    tltcp__dependencies_init(s->dependencies, s->recs.mem, s->policy);
    return 0;
}

static size_t section_len(const tltcp_section *in) {
    size_t len = 0;
    for (size_t i = 0; i < in->count; i++) {
        len += in->data[i].iov_len;
    }
    return len;
}

/* Copies the parts of a section to the end of the stream. */
static void gather(tltcp__sections *s, const tltcp_section *in) {
    uint64_t at = s->end;
    for (size_t i = 0; i < in->count; i++) {
        const struct iovec *part = &in->data[i];
        if (part->iov_len > 0) {
            cmn__bytes_put(&s->buf, at, part->iov_base, part->iov_len);
            at += part->iov_len;
        }
    }
}

/* Checks that a section can be accepted and reserves memory. 0 or an error. */
static int sections_prepare(tltcp__sections *s, const tltcp_section *in,
                            size_t len) {
    if (len > s->limit) {
        return TLTCP_ERR_TOO_BIG;
    }
    if (len > tltcp__sections_room(s)) {
        return TLTCP_ERR_AGAIN;
    }
    if (cmn__bytes_reserve(&s->buf, s->una, s->end, s->end + len) != 0) {
        return TLTCP_ERR_NOMEM;
    }
    return s->dependencies == NULL && has_meta(&in->meta) ? make_dependencies(s)
                                                          : 0;
}

static void fill_in(tltcp__section *r, const tltcp_section *in, uint64_t start,
                    size_t len, tltcp_time now) {
    r->start = start;
    r->end = start + len;
    r->deadline = in->deadline;
    r->due = in->meta.due != 0 && in->meta.due < in->deadline ? in->meta.due
                                                              : in->deadline;
    r->written = now;
    r->tag = in->meta.tag;
    r->cls = (uint8_t)in->meta.section_class;
    r->stream = (uint8_t)in->meta.stream;
}

/* Notes that it refers to an earlier section. */
static void add_dependent(tltcp__section *to, uint64_t distance,
                          tltcp__section *r) {
    r->before = to->newest != 0 ? (uint32_t)distance - to->newest : 0;
    to->newest = (uint32_t)distance;
}

/* Sets its dependency, which may already be lost. */
static void relate(tltcp__sections *s, uint64_t number, uint32_t depends) {
    tltcp__section *r = tltcp__sections_rec(s, number);
    r->refers = number;
    r->after = number;
    if (s->dependencies == NULL) {
        return;
    }
    tltcp__dependencies_on_written(s->dependencies, number, r, depends);
    if (tltcp__sections_knows(s, r->refers) && r->refers != number) {
        add_dependent(tltcp__sections_rec(s, r->refers), number - r->refers, r);
    }
    if (tltcp__dependencies_lost(s->dependencies, number, r) &&
        number < s->dependents_from) {
        s->dependents_from = number;
    }
}

int tltcp__sections_write(tltcp__sections *s, const tltcp_section *in,
                          tltcp_time now) {
    uint64_t number = s->recs.tail;
    size_t len = section_len(in);
    int rv = sections_prepare(s, in, len);
    tltcp__section *r;
    if (rv != 0) {
        return rv;
    }
    r = cmn__ring_push(&s->recs);
    if (r == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    r->slot = CMN__HEAP_NONE;
    if (in->deadline != TLTCP_TIME_NEVER &&
        cmn__heap_add(&s->deadlines, in->deadline, number) != 0) {
        s->recs.tail--;
        return TLTCP_ERR_NOMEM;
    }
    fill_in(r, in, s->end, len, now);
    relate(s, number, in->meta.depends);
    tltcp__sections_offer_ahead(s, number);
    gather(s, in);
    s->end = r->end;
    s->live = in->deadline != TLTCP_TIME_NEVER;
    s->stats->sections_offered++;
    s->stats->bytes_offered += len;
    return 0;
}

void tltcp__sections_settle(tltcp__sections *s, uint64_t number, int fate) {
    tltcp__section *r = tltcp__sections_rec(s, number);
    r->state = TLTCP__SECTION_DONE;
    if (fate == TLTCP_FATE_DELIVERED) {
        s->stats->sections_delivered++;
    } else if (fate == TLTCP_FATE_PARTIAL) {
        s->stats->sections_partial++;
    } else if (fate != TLTCP_FATE_ABANDONED) {
        s->stats->sections_expired++;
    }
    if (s->on_fate != NULL) {
        s->on_fate(s->owner, number, r, fate);
    }
}

/* Marks the dependents of a section for dropping. 0 or TLTCP_ERR_NOMEM. */
static int orphan(tltcp__sections *s, uint64_t number) {
    const tltcp__section *r = tltcp__sections_rec(s, number);
    uint64_t *newest;
    if (r->newest == 0 || s->policy == TLTCP_DROP_SECTION) {
        return 0;
    }
    newest = cmn__ring_push(&s->orphans);
    if (newest == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    *newest = number + r->newest;
    return 0;
}

/* The section will not arrive whole. 0 or TLTCP_ERR_NOMEM. */
static int lose(tltcp__sections *s, uint64_t number) {
    tltcp__section *r = tltcp__sections_rec(s, number);
    int rv = 0;
    if (!r->lost && s->dependencies != NULL) {
        rv = tltcp__dependencies_on_lost(s->dependencies, number, r);
        rv = rv == 0 ? orphan(s, number) : rv;
    }
    r->lost = true;
    return rv;
}

int tltcp__sections_settle_expired(tltcp__sections *s, uint64_t number) {
    const tltcp__section *r = tltcp__sections_rec(s, number);
    int rv = 0;
    int fate;
    if (r->state != TLTCP__SECTION_EXPIRED || r->flying > 0) {
        return 0;
    }
    fate = r->acked == r->end - r->start ? TLTCP_FATE_DELIVERED
           : r->acked > 0                ? TLTCP_FATE_PARTIAL
           : r->sent                     ? TLTCP_FATE_EXPIRED
                                         : TLTCP_FATE_UNSENT;
    if (fate != TLTCP_FATE_DELIVERED) {
        s->stats->bytes_expired += r->end - r->start - r->acked;
        s->stats->sections_dependent += r->cause == TLTCP_CAUSE_DEPENDS;
        s->stats->sections_yielded += r->cause == TLTCP_CAUSE_YIELDED;
        rv = lose(s, number);
    }
    tltcp__sections_settle(s, number, fate);
    return rv;
}

void tltcp__sections_advance(tltcp__sections *s) {
    cmn__range r;
    while (s->update_section < s->recs.tail &&
           tltcp__sections_rec(s, s->update_section)->state !=
               TLTCP__SECTION_LIVE) {
        s->update_section++;
    }
    s->update = s->update_section < s->recs.tail
                    ? tltcp__sections_rec(s, s->update_section)->start
                    : s->end;
    if (s->una < s->update) {
        s->una = s->update;
    }
    if (cmn__ranges_next(&s->acked, s->una, &r) && r.start <= s->una) {
        s->una = r.end;
    }
    if (s->nxt < s->una) {
        s->nxt = s->una;
    }
    if (s->skips.count > 0) {
        (void)cmn__ranges_sub(&s->skips, 0, s->update, NULL);
    }
    while (s->recs.head < s->recs.tail &&
           tltcp__sections_rec(s, s->recs.head)->state == TLTCP__SECTION_DONE) {
        cmn__ring_pop(&s->recs);
    }
    if (s->acked.count > 0) {
        (void)cmn__ranges_sub(&s->acked, 0, tltcp__sections_base(s), NULL);
    }
    if (s->nxt_section < s->recs.head) {
        s->nxt_section = s->recs.head;
    }
    tltcp__sections_find_new(s);
    assert(s->update <= s->una && s->una <= s->nxt && s->nxt <= s->end);
}

int tltcp__sections_drop_retransmissions(tltcp__sections *s, uint64_t start,
                                         uint64_t end) {
    for (int i = 0; i < TLTCP__LOST_LEVELS; i++) {
        if (s->lost[i].count > 0 &&
            cmn__ranges_sub(&s->lost[i], start, end, NULL) != 0) {
            return TLTCP_ERR_NOMEM;
        }
    }
    return 0;
}

void tltcp__sections_off_the_clock(tltcp__sections *s, tltcp__section *r) {
    if (r->slot != CMN__HEAP_NONE) {
        cmn__heap_remove(&s->deadlines, r->slot);
    }
}

static bool awaits_retransmission(const tltcp__sections *s,
                                  const tltcp__section *r) {
    cmn__range x;
    for (int i = 0; i < TLTCP__LOST_LEVELS; i++) {
        if (cmn__ranges_next(&s->lost[i], r->start, &x) && x.start < r->end) {
            return true;
        }
    }
    return false;
}

int tltcp__sections_give_up(tltcp__sections *s, uint64_t number,
                            uint8_t cause) {
    tltcp__section *r = tltcp__sections_rec(s, number);
    uint64_t start = r->start;
    uint64_t end = r->end;
    bool unsent = tltcp__sections_left_upto(s, number) < end;
    bool lost = unsent || awaits_retransmission(s, r);
    int rv = tltcp__sections_drop_retransmissions(s, start, end);
    if (rv == 0 && !s->no_skips &&
        cmn__ranges_add(&s->skips, start, end, NULL) != 0) {
        rv = TLTCP_ERR_NOMEM;
    }
    tltcp__sections_off_the_clock(s, r);
    r->state = TLTCP__SECTION_EXPIRED;
    r->cause = cause;
    if (unsent && cause == TLTCP_CAUSE_DEADLINE && s->path.starved) {
        /* its dependents are sent anyway: an unfilled window would never
         * grow */
        r->lost = true;
    } else if (rv == 0 && lost) {
        rv = lose(s, number);
    }
    return rv != 0 ? rv : tltcp__sections_settle_expired(s, number);
}

/* Gives up a section whose dependency is lost. */
static int drop_dependent(tltcp__sections *s, uint64_t number) {
    const tltcp__section *r = tltcp__sections_rec(s, number);
    return r->state == TLTCP__SECTION_LIVE && r->deadline != TLTCP_TIME_NEVER
               ? tltcp__sections_give_up(s, number, TLTCP_CAUSE_DEPENDS)
               : 0;
}

/* Those that refer to the same section, from the newest on. Of those that are
 * no longer known, all earlier ones are not known either. */
static int drop_all_before(tltcp__sections *s, uint64_t number) {
    uint64_t distance = 0;
    int rv = 0;
    do {
        number -= distance;
        if (number < s->recs.head) {
            break;
        }
        distance = tltcp__sections_rec(s, number)->before;
        rv = drop_dependent(s, number);
    } while (rv == 0 && distance > 0);
    return rv;
}

static bool has_orphans(const tltcp__sections *s) {
    return s->dependents_from != UINT64_MAX || cmn__ring_len(&s->orphans) > 0;
}

/* Gives up all direct and indirect dependents of lost sections. Each is visited
 * once, however many sections there are. */
static int drop_dependents(tltcp__sections *s) {
    uint64_t i =
        s->dependents_from > s->recs.head ? s->dependents_from : s->recs.head;
    int rv = 0;
    for (; rv == 0 && i < s->recs.tail; i++) {
        if (tltcp__dependencies_lost(s->dependencies, i,
                                     tltcp__sections_rec(s, i))) {
            rv = drop_dependent(s, i);
        }
    }
    s->dependents_from = UINT64_MAX;
    while (rv == 0 && cmn__ring_len(&s->orphans) > 0) {
        i = *(uint64_t *)cmn__ring_at(&s->orphans, s->orphans.head);
        cmn__ring_pop(&s->orphans);
        rv = drop_all_before(s, i);
    }
    return rv;
}

tltcp_time tltcp__sections_deadline(const tltcp__sections *s) {
    cmn__heap_item first;
    if (!cmn__heap_first(&s->deadlines, &first)) {
        return TLTCP_TIME_NEVER;
    }
    return first.key > s->path.lead ? first.key - s->path.lead : 0;
}

int tltcp__sections_expire(tltcp__sections *s, tltcp_time now) {
    cmn__heap_item first;
    bool any = has_orphans(s);
    int rv = 0;
    while (rv == 0 && cmn__heap_first(&s->deadlines, &first) &&
           first.key <= now + s->path.lead) {
        rv = tltcp__sections_give_up(s, first.id, TLTCP_CAUSE_DEADLINE);
        any = true;
    }
    if (rv == 0 && has_orphans(s)) {
        rv = drop_dependents(s);
    }
    if (any) {
        tltcp__sections_advance(s);
    }
    return rv;
}

void tltcp__sections_copy(const tltcp__sections *s, uint64_t start, void *to,
                          size_t len) {
    cmn__bytes_get(&s->buf, start, to, len);
    cmn__bytes_fetch(&s->buf, start + len, len); /* usually read next */
}

uint8_t *tltcp__sections_at(const tltcp__sections *s, uint64_t start,
                            size_t len) {
    return cmn__bytes_at(&s->buf, start, len);
}

uint64_t tltcp__sections_backlog(const tltcp__sections *s, tltcp_time before) {
    uint64_t lo = s->nxt_section;
    uint64_t hi = s->recs.tail;
    uint64_t upto;
    while (lo < hi) {
        uint64_t mid = lo + (hi - lo) / 2;
        if (tltcp__sections_rec(s, mid)->written >= before) {
            hi = mid;
        } else {
            lo = mid + 1;
        }
    }
    upto = lo < s->recs.tail ? tltcp__sections_rec(s, lo)->start : s->end;
    return upto > s->nxt ? upto - s->nxt : 0;
}

uint64_t tltcp__sections_missing(const tltcp__sections *s) {
    uint64_t n = 0;
    for (int i = 0; i < TLTCP__LOST_LEVELS; i++) {
        n += s->lost[i].total;
    }
    return n;
}

bool tltcp__sections_settled(const tltcp__sections *s) {
    return s->update == s->end;
}

void tltcp__sections_abandon(tltcp__sections *s) {
    for (uint64_t i = s->recs.head; i < s->recs.tail; i++) {
        tltcp__section *r = tltcp__sections_rec(s, i);
        tltcp__sections_off_the_clock(s, r);
        if (r->state == TLTCP__SECTION_LIVE) {
            tltcp__sections_settle(s, i, TLTCP_FATE_ABANDONED);
        } else if (r->state == TLTCP__SECTION_EXPIRED) {
            r->flying = 0;
            (void)tltcp__sections_settle_expired(s, i);
        }
        (void)tltcp__sections_drop_retransmissions(s, r->start, r->end);
    }
    tltcp__sections_advance(s);
}

void tltcp__sections_trim(tltcp__sections *s) {
    if (s->una == s->end) {
        cmn__bytes_free(&s->buf);
        cmn__ring_trim(&s->recs);
        cmn__ring_trim(&s->ahead.waiting);
        cmn__ring_trim(&s->orphans);
        tltcp__fec_sender_trim(&s->fec);
        cmn__ranges_trim(&s->acked);
        cmn__ranges_trim(&s->skips);
        for (int i = 0; i < TLTCP__LOST_LEVELS; i++) {
            cmn__ranges_trim(&s->lost[i]);
        }
    }
}
