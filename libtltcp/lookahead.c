/* SPDX-License-Identifier: MPL-2.0 */
#include "libtltcp/lookahead.h"

#define QUEUED_MAX 64   /* sections looked at */
#define SLOTS_MAX 128   /* with those expected */
#define EXPECT_MAX 48   /* of one stream */
#define HORIZON TLTCP_S /* how far ahead is looked for those expected */
#define NEVER (INT64_MAX / 4)
#define NS_PER_S 1e9
/* Sections that others need keep a part of their time in reserve: larger ones
 * than expected, and what the path does next, live on it. */
#define RESERVE_PART 3

enum tier { MUST, CHAIN, OPTIONAL };

/* Times are from now. */
typedef struct slot {
    int64_t written; /* cannot leave before */
    int64_t due;
    int64_t deadline;
    int64_t cost; /* of sending it */
    int64_t late; /* by as much it is late whatever is left out */
    uint8_t tier;
    uint8_t stream;
    uint8_t cls;
    bool taken;
} slot;

typedef struct plan {
    slot slots[SLOTS_MAX]; /* in order of sending */
    size_t count;
    double ns_per_byte;
    int64_t start; /* when the first of them could leave */
} plan;

static int64_t from_now(tltcp_time t, tltcp_time now) {
    if (t == TLTCP_TIME_NEVER) {
        return NEVER;
    }
    return t >= now ? (int64_t)(t - now) : -(int64_t)(now - t);
}

static int64_t cost_of(const plan *p, double bytes) {
    double ns = bytes * p->ns_per_byte;
    return ns < (double)NEVER / SLOTS_MAX ? (int64_t)ns : NEVER / SLOTS_MAX;
}

/* What has no deadline is reliable. */
static uint8_t tier_of(uint8_t cls, tltcp_time deadline) {
    return deadline == TLTCP_TIME_NEVER ? MUST
           : cls == TL_CLASS_DISPOSABLE ? OPTIONAL
           : cls == TL_CLASS_REFERENCE  ? CHAIN
                                        : MUST;
}

static void add_queued(plan *p, const cmn__ring *recs, uint64_t first,
                       tltcp_time now) {
    for (uint64_t i = first; i < recs->tail && p->count < QUEUED_MAX; i++) {
        const tltcp__section *s = cmn__ring_at(recs, i);
        if (s->state != TLTCP__LIVE) {
            continue;
        }
        p->slots[p->count++] = (slot){
            .written = from_now(s->written, now),
            .due = from_now(s->due, now),
            .deadline = from_now(s->deadline, now),
            .cost = cost_of(p, (double)(s->end - s->start)),
            .tier = tier_of(s->cls, s->deadline),
            .stream = s->stream,
            .cls = s->cls,
        };
    }
}

/* Keeps those of several streams in order of writing. */
static void insert(plan *p, const slot *x) {
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

static int64_t later(int64_t at, tltcp_time span) {
    return span >= (tltcp_time)NEVER ? NEVER : at + (int64_t)span;
}

static void add_expected(plan *p, const tltcp__stream *t, uint8_t stream,
                         tltcp_time now) {
    const tltcp__rhythm *r = &t->rhythm;
    tltcp_time at = r->last;
    tltcp_time next_key = r->gop != 0 ? r->last_key + r->gop : TLTCP_TIME_NEVER;
    bool key = false;
    if (r->gap == 0) {
        return;
    }
    for (int i = 0; i < EXPECT_MAX && !key && at <= now + HORIZON; i++) {
        slot x = {.stream = stream};
        at += r->gap;
        key = at >= next_key - r->gap / 2;
        x.written = from_now(at, now);
        x.written = x.written > 0 ? x.written : 0; /* it is overdue */
        x.due = later(x.written, r->due[key]);
        x.deadline = later(x.written, r->dead[key]);
        x.cost = cost_of(p, r->bytes[key]);
        x.cls = key ? TL_CLASS_KEY : TL_CLASS_REFERENCE;
        x.tier = tier_of(x.cls, r->dead[key]);
        insert(p, &x);
    }
}

static int64_t part_before(int64_t end, int64_t written) {
    return end >= NEVER ? end : end - (end - written) / RESERVE_PART;
}

/* By when a slot must be through while slots of a tier are added. */
static int64_t limit(const slot *s, int adding) {
    if (s->tier == OPTIONAL) {
        return s->due;
    }
    if (adding == OPTIONAL) {
        return part_before(s->due, s->written);
    }
    return s->tier == CHAIN ? s->deadline
                            : part_before(s->deadline, s->written);
}

/* Lays out what was taken.  False when something comes later than it has to.
 * With `note` that is how late it comes now. */
static bool lay_out(plan *p, int adding, bool note) {
    int64_t at = p->start;
    for (size_t i = 0; i < p->count; i++) {
        slot *s = &p->slots[i];
        int64_t late;
        if (!s->taken) {
            continue;
        }
        at = (at > s->written ? at : s->written) + s->cost;
        late = at - limit(s, adding);
        late = late > 0 ? late : 0;
        if (note) {
            s->late = late;
        } else if (late > s->late) {
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

static void take_chain(plan *p) {
    uint32_t broken = 0; /* streams, a bit each */
    for (size_t i = 0; i < p->count; i++) {
        slot *s = &p->slots[i];
        uint32_t bit = UINT32_C(1) << s->stream;
        if (s->cls == TL_CLASS_KEY) {
            broken &= ~bit;
        }
        if (s->tier == CHAIN && (broken & bit) == 0) {
            s->taken = true;
            s->taken = lay_out(p, CHAIN, false);
            broken |= s->taken ? 0 : bit;
        }
    }
}

/* The smallest optional slot behind those that were tried. */
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

/* Up to the first slot, which is what the question is about. */
static void take_optional(plan *p) {
    slot *s = NULL;
    while (s != &p->slots[0] && (s = next_smallest(p, s)) != NULL) {
        s->taken = true;
        s->taken = lay_out(p, OPTIONAL, false);
    }
}

/* True when the first is taken. */
static bool choose(plan *p) {
    take_tier(p, MUST);
    (void)lay_out(p, CHAIN, true);
    take_chain(p);
    if (p->slots[0].tier == OPTIONAL) {
        (void)lay_out(p, OPTIONAL, true);
        take_optional(p);
    }
    return p->slots[0].taken;
}

/* Most of the time all goes in time. */
static bool all_fits(plan *p) {
    bool fits;
    for (int tier = MUST; tier <= OPTIONAL; tier++) {
        take_tier(p, tier);
    }
    fits = lay_out(p, OPTIONAL, false);
    for (size_t i = 0; !fits && i < p->count; i++) {
        p->slots[i].taken = false;
    }
    return fits;
}

bool tltcp__lookahead_keeps(const tltcp__lineage *l, const cmn__ring *recs,
                            uint64_t first, uint64_t before,
                            const tltcp__outlook *path, tltcp_time now) {
    const tltcp__section *s = cmn__ring_at(recs, first);
    uint8_t tier = tier_of(s->cls, s->deadline);
    plan p;
    /* a REFERENCE given up in error costs a whole chain */
    if (path->rate <= 0 || tier == MUST || (tier == CHAIN && !path->settled)) {
        return true;
    }
    p.count = 0;
    p.ns_per_byte = NS_PER_S / path->rate;
    p.start = (int64_t)path->delay + cost_of(&p, (double)before);
    add_queued(&p, recs, first, now);
    for (uint8_t i = 0; i < TL_STREAMS_MAX; i++) {
        add_expected(&p, &l->stream[i], i, now);
    }
    return all_fits(&p) || choose(&p);
}
