/* SPDX-License-Identifier: MPL-2.0 */
/* Chooses what to send beside cross traffic, where the rate of the path cannot
 * be known ahead. The rules go by what depends on a section. */
#include "libtltcp/engine/lookahead.h"

#include "libtltcp/engine/lookahead_times.h"

#define SLOTS_MAX 128 /* sections considered, including expected ones */
#define EXPECT_MAX 48 /* expected sections of one stream */
#define NS_PER_S 1e9
/* A slightly late reference is kept: pictures between it and the next one may
 * still be in time. */
#define LATE ((int64_t)TLTCP_S / 6)
#define LATE_IN_CHAIN ((int64_t)TLTCP_S / 20)
#define CHAIN_SECTIONS 500u /* sections without a DISPOSABLE */

enum tier { MUST, CHAIN, OPTIONAL };

/* Times are from now. */
typedef struct slot {
    int64_t written; /* cannot leave before */
    int64_t due;
    int64_t deadline;
    int64_t cost;  /* of sending it */
    int64_t there; /* when it is complete, if taken */
    int64_t late;  /* lateness that no omission avoids */
    uint8_t tier;
    uint8_t stream;
    uint8_t cls;
    bool guessed; /* expected, may not be written */
    bool taken;
} slot;

typedef struct plan {
    slot slots[SLOTS_MAX]; /* in order of sending */
    size_t count;
    double ns_per_byte;
    const tltcp__path_estimate *path;
    int64_t late;  /* accepted lateness of a reference */
    int64_t start; /* when the first slot could leave */
} plan;

/* Sections without a deadline are reliable. */
static uint8_t tier_of(uint8_t cls, tltcp_time deadline) {
    return deadline == TLTCP_TIME_NEVER ? MUST
           : cls == TL_CLASS_DISPOSABLE ? OPTIONAL
           : cls == TL_CLASS_REFERENCE  ? CHAIN
                                        : MUST;
}

/* How much earlier than due a section should be complete, for what repairs
 * usually take. */
static int64_t tiers_early(const plan *p, double bytes, uint8_t cls) {
    double loss = tltcp__loss_of(p->path, cls);
    double missing = tltcp__chance_missing(loss, bytes / p->path->packet, 0);
    return (int64_t)(missing * (double)p->path->repair) +
           (int64_t)p->path->lead;
}

static void tiers_add_queued(plan *p, const cmn__ring *recs, uint64_t first,
                             tltcp_time now) {
    int64_t lead = (int64_t)p->path->lead;
    double bytes;
    for (uint64_t i = first; i < recs->tail && p->count < TLTCP__QUEUED_MAX;
         i++) {
        const tltcp__section *s = cmn__ring_at(recs, i);
        if (!tltcp__is_queued(s)) {
            continue;
        }
        bytes = (double)(s->end - s->start);
        p->slots[p->count++] = (slot){
            .written = tltcp__from_now(s->written, now),
            .due = tltcp__time_minus(tltcp__from_now(s->due, now),
                                     tiers_early(p, bytes, s->cls)),
            .deadline =
                tltcp__time_minus(tltcp__from_now(s->deadline, now), lead),
            .cost = tltcp__time_of_sending(bytes, p->ns_per_byte),
            .tier = tier_of(s->cls, s->deadline),
            .stream = s->stream,
            .cls = s->cls,
        };
    }
}

/* Inserts a slot, ordered by time of writing across streams. */
static void tiers_insert(plan *p, const slot *x) {
    size_t i = p->count;
    if (p->count == SLOTS_MAX) {
        return;
    }
    for (; i > 0 && p->slots[i - 1].written > x->written; i--) {
        p->slots[i] = p->slots[i - 1];
    }
    p->slots[i] = *x;
    p->count++;
}

static void tiers_add_expected(plan *p, const tltcp__stream *t, uint8_t stream,
                               tltcp_time now) {
    const tltcp__cadence *c = &t->cadence;
    tltcp__expected e = tltcp__expected_first(c);
    for (int i = 0; i < EXPECT_MAX && tltcp__expected_next(&e, c, now); i++) {
        slot x = {.written = e.written, .stream = stream, .guessed = e.guessed};
        x.cls = e.key ? TL_CLASS_KEY : TL_CLASS_REFERENCE;
        x.due = tltcp__time_minus(tltcp__time_plus(x.written, c->due[e.key]),
                                  tiers_early(p, c->bytes[e.key], x.cls));
        x.deadline =
            tltcp__time_minus(tltcp__time_plus(x.written, c->dead[e.key]),
                              (int64_t)p->path->lead);
        x.cost = tltcp__time_of_sending(c->bytes[e.key], p->ns_per_byte);
        x.tier = tier_of(x.cls, c->dead[e.key]);
        tiers_insert(p, &x);
        if (e.key && !e.guessed) {
            break;
        }
    }
}

/* Time by which a slot must be complete when optional ones are added. */
static int64_t tiers_limit(const slot *s) {
    return s->tier == OPTIONAL ? s->due
                               : tltcp__time_with_reserve(s->due, s->written);
}

static int64_t lateness(const slot *s) {
    int64_t by = tiers_limit(s);
    return s->taken && s->there > by ? s->there - by : 0;
}

static void lay_out(plan *p) {
    int64_t at = p->start;
    for (size_t i = 0; i < p->count; i++) {
        slot *s = &p->slots[i];
        if (s->taken) {
            at = (at > s->written ? at : s->written) + s->cost;
            s->there = at;
        }
    }
}

static void note_lateness(plan *p) {
    for (size_t i = 0; i < p->count; i++) {
        p->slots[i].late = lateness(&p->slots[i]);
    }
}

/* Whether nothing is later than noted. */
static bool harms_none(plan *p) {
    lay_out(p);
    for (size_t i = 0; i < p->count; i++) {
        if (lateness(&p->slots[i]) > p->slots[i].late) {
            return false;
        }
    }
    return true;
}

static void take_tier(plan *p, int tier) {
    for (size_t i = 0; i < p->count; i++) {
        p->slots[i].taken |= p->slots[i].tier == tier;
    }
}

/* The next KEY of the first slot's stream; 0: none. */
static size_t find_key(const plan *p) {
    for (size_t i = 1; i < p->count; i++) {
        if (p->slots[i].cls == TL_CLASS_KEY && !p->slots[i].guessed &&
            p->slots[i].stream == p->slots[0].stream) {
            return i;
        }
    }
    return 0;
}

/* Even a late section is useful while nothing better waits: an unfilled window
 * does not grow. */
static bool is_of_use(const plan *p, const slot *s, size_t key) {
    bool in_time = s->there <= s->deadline && s->there - p->late <= s->due;
    bool key_waits = key > 0 && p->slots[key].written <= 0;
    return in_time || !key_waits;
}

static bool can_be_cut(const plan *p, size_t i) {
    return p->slots[i].tier == CHAIN &&
           p->slots[i].stream == p->slots[0].stream;
}

/* Time by which the next KEY should arrive. The earliest possible time is
 * without the references before it; most of the slack beyond that is reserved
 * for the unexpected. A KEY that is late at best delays all its dependents: it
 * waits for none. TLTCP__NEVER: it is late in any case. */
static int64_t key_time(plan *p, size_t key) {
    const slot *k = &p->slots[key];
    int64_t room;
    lay_out(p);
    if (k->there >= k->deadline) {
        return TLTCP__NEVER;
    }
    room = k->due - k->there;
    return k->there + (room > 0 ? room / TLTCP__RESERVE_PART : 0);
}

/* Only the chain of the stream in question may be cut, from its end. */
static void take_chain(plan *p) {
    size_t key = find_key(p);
    int64_t key_by = TLTCP__NEVER;
    for (size_t i = 0; i < p->count; i++) {
        p->slots[i].taken |= p->slots[i].tier == CHAIN && !can_be_cut(p, i);
    }
    if (key > 0) {
        key_by = key_time(p, key);
    }
    for (size_t i = 0; i < (key > 0 ? key : p->count); i++) {
        p->slots[i].taken |= can_be_cut(p, i);
    }
    lay_out(p);
    for (size_t i = key; i-- > 0;) {
        slot *s = &p->slots[i];
        if (!can_be_cut(p, i)) {
            continue;
        }
        if (p->slots[key].there <= key_by && is_of_use(p, s, key)) {
            break;
        }
        s->taken = false;
        lay_out(p);
    }
}

/* The smallest optional slot not tried yet. */
static slot *next_smallest(plan *p, const slot *after) {
    slot *best = NULL;
    for (size_t i = 0; i < p->count; i++) {
        slot *s = &p->slots[i];
        bool tried = after != NULL && (s->cost < after->cost ||
                                       (s->cost == after->cost && s <= after));
        if (s->tier == OPTIONAL && !tried &&
            (best == NULL || s->cost < best->cost)) {
            best = s;
        }
    }
    return best;
}

/* Adds optional slots up to the first one, which is to be decided. */
static void take_optional(plan *p) {
    slot *s = NULL;
    while (s != &p->slots[0] && (s = next_smallest(p, s)) != NULL) {
        s->taken = true;
        s->taken = harms_none(p);
    }
}

/* True when the first is taken. */
static bool choose(plan *p) {
    take_tier(p, MUST);
    take_chain(p);
    if (p->slots[0].tier == OPTIONAL) {
        note_lateness(p);
        take_optional(p);
    }
    return p->slots[0].taken;
}

/* Usually everything fits in time. */
static bool tiers_all_fits(plan *p) {
    bool fits;
    for (int tier = MUST; tier <= OPTIONAL; tier++) {
        take_tier(p, tier);
    }
    fits = harms_none(p);
    for (size_t i = 0; !fits && i < p->count; i++) {
        p->slots[i].taken = false;
    }
    return fits;
}

static bool is_chain(const tltcp__stream *t) {
    return t->disposable == 0 || t->newest - t->disposable > CHAIN_SECTIONS;
}

bool tltcp__lookahead_tiers_keeps(const tltcp__dependencies *d,
                                  const cmn__ring *recs, uint64_t first,
                                  uint64_t before,
                                  const tltcp__path_estimate *path,
                                  tltcp_time now) {
    const tltcp__section *s = cmn__ring_at(recs, first);
    uint8_t tier = tier_of(s->cls, s->deadline);
    plan p;
    if (tier == MUST) {
        return true;
    }
    p.count = 0;
    p.path = path;
    p.late = is_chain(&d->stream[s->stream]) ? LATE_IN_CHAIN : LATE;
    p.ns_per_byte = NS_PER_S / path->rate;
    p.start = (int64_t)path->delay +
              tltcp__time_of_sending((double)before, p.ns_per_byte);
    tiers_add_queued(&p, recs, first, now);
    for (uint8_t i = 0; i < TL_STREAMS_MAX; i++) {
        tiers_add_expected(&p, &d->stream[i], i, now);
    }
    return tiers_all_fits(&p) || choose(&p);
}
