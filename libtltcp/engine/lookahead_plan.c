/* SPDX-License-Identifier: MPL-2.0 */
/* Chooses what to send on a path without cross traffic: it plans all queued and
 * expected sections. */
#include "libtltcp/engine/lookahead.h"

#include "libtltcp/engine/lookahead_times.h"
#include "libtltcp/engine/send_plan.h"

#define EXPECT_MAX 96 /* expected sections of one stream */
#define NS_PER_S 1e9
#define DOUBTFUL 0.1 /* probability of needing a repair */
/* Worth of audio and unclassified sections; 1: that of a mean REFERENCE. */
#define WORTH_OTHERS 2.0

typedef struct plan {
    tltcp__send_plan send;
    double ns_per_byte;
    double mean; /* bytes of a REFERENCE */
    const tltcp__path_estimate *path;
    bool cuts; /* a chain, perhaps */
} plan;

/* Bytes are quality, and a REFERENCE is larger than what depends on it. */
static double picture_worth(const plan *p, double bytes) {
    return p->mean > 0 ? bytes / p->mean : 1;
}

static bool shows_something(uint8_t cls) {
    return cls >= TL_CLASS_KEY && cls <= TL_CLASS_DISPOSABLE;
}

/* Only the stream in question may be cut. Sections without a deadline are
 * reliable. */
static uint8_t kind_of(uint8_t cls, tltcp_time deadline, bool same_stream) {
    if (!same_stream) {
        return TLTCP__SLOT_MUST;
    }
    return cls == TL_CLASS_KEY            ? TLTCP__SLOT_KEY
           : deadline == TLTCP_TIME_NEVER ? TLTCP__SLOT_MUST
           : cls == TL_CLASS_DISPOSABLE   ? TLTCP__SLOT_OPTIONAL
           : cls == TL_CLASS_REFERENCE    ? TLTCP__SLOT_CHAIN
                                          : TLTCP__SLOT_MUST;
}

static void note_missing(const plan *p, tltcp__slot *x, uint8_t cls,
                         double bytes) {
    double loss = tltcp__loss_of(p->path, cls);
    for (unsigned i = 0; i < TLTCP__REPAIRS; i++) {
        x->missing[i] = tltcp__chance_missing(loss, bytes / p->path->packet, i);
    }
}

static tltcp__slot queued_slot(const plan *p, const tltcp__section *s,
                               uint8_t stream, tltcp_time now) {
    double bytes = (double)(s->end - s->start);
    tltcp__slot x = {
        .written = tltcp__from_now(s->written, now),
        .due = tltcp__time_minus(tltcp__from_now(s->due, now),
                                 (int64_t)p->path->lead),
        .cost = tltcp__time_of_sending(bytes, p->ns_per_byte),
        .worth =
            shows_something(s->cls) ? picture_worth(p, bytes) : WORTH_OTHERS,
        .kind = kind_of(s->cls, s->deadline, s->stream == stream),
    };
    note_missing(p, &x, s->cls, bytes);
    return x;
}

/* A DISPOSABLE to which others refer is a branch. */
static void add_queued(plan *p, const cmn__ring *recs, uint64_t first,
                       tltcp_time now) {
    const tltcp__section *decided = cmn__ring_at(recs, first);
    tltcp__send_plan *q = &p->send;
    uint64_t number[TLTCP__QUEUED_MAX];
    for (uint64_t i = first; i < recs->tail && q->count < TLTCP__QUEUED_MAX;
         i++) {
        const tltcp__section *s = cmn__ring_at(recs, i);
        if (!tltcp__is_queued(s)) {
            continue;
        }
        number[q->count] = i;
        q->slot[q->count] = queued_slot(p, s, decided->stream, now);
        for (size_t k = q->count; k-- > 0;) {
            tltcp__slot *parent = &q->slot[k];
            if (number[k] == s->refers &&
                parent->kind == TLTCP__SLOT_OPTIONAL) {
                parent->is_branch = true;
                q->slot[q->count].on_branch = true;
            }
        }
        q->count++;
    }
}

/* Inserts a slot, ordered by time of writing across streams. */
static void insert(tltcp__send_plan *q, const tltcp__slot *x) {
    size_t i = q->count;
    if (q->count == TLTCP__SLOTS_MAX) {
        return;
    }
    for (; i > 0 && q->slot[i - 1].written > x->written; i--) {
        q->slot[i] = q->slot[i - 1];
    }
    q->slot[i] = *x;
    q->count++;
}

static tltcp__slot expected_slot(const plan *p, const tltcp__cadence *c,
                                 int64_t written, bool key) {
    int64_t due = tltcp__time_plus(written, c->due[key]);
    return (tltcp__slot){
        .written = written,
        .due = tltcp__time_minus(due, (int64_t)p->path->lead),
        .cost = tltcp__time_of_sending(c->bytes[key], p->ns_per_byte),
        .worth = picture_worth(p, c->bytes[key])};
}

/* A guessed KEY ends no chain, and is no reason to cut one. */
static void add_expected(plan *p, const tltcp__cadence *c, bool same_stream,
                         tltcp_time now) {
    tltcp__expected e = tltcp__expected_first(c);
    bool known = c->gop != 0;
    if (c->gap == 0) {
        return;
    }
    for (int i = 0; i < EXPECT_MAX && tltcp__expected_next(&e, c, now); i++) {
        bool key = e.key && !(e.guessed && p->cuts);
        tltcp__slot x = expected_slot(p, c, e.written, key);
        uint8_t cls = key && known ? TL_CLASS_KEY : TL_CLASS_REFERENCE;
        x.kind = kind_of(cls, c->dead[key], same_stream);
        note_missing(p, &x, cls, c->bytes[key]);
        insert(&p->send, &x);
    }
    if (same_stream) {
        p->send.rest =
            (double)(known && e.next_key > e.at ? e.next_key - e.at : TLTCP_S) /
            (double)c->gap;
        p->send.rest_due = tltcp__time_plus(0, c->due[0]);
    }
}

/* Usually everything fits in time. */
static bool all_fits(const tltcp__send_plan *q) {
    int64_t at = q->start;
    for (size_t i = 0; i < q->count; i++) {
        const tltcp__slot *s = &q->slot[i];
        int64_t due = s->missing[0] > DOUBTFUL
                          ? tltcp__time_minus(s->due, q->repair)
                          : s->due;
        at = (at > s->written ? at : s->written) + s->cost;
        if (at > (s->kind == TLTCP__SLOT_OPTIONAL
                      ? due
                      : tltcp__time_with_reserve(due, s->written))) {
            return false;
        }
    }
    return true;
}

bool tltcp__lookahead_plan_keeps(const tltcp__dependencies *d,
                                 const cmn__ring *recs, uint64_t first,
                                 uint64_t before,
                                 const tltcp__path_estimate *path,
                                 tltcp_time now) {
    const tltcp__section *s = cmn__ring_at(recs, first);
    plan p;
    if (kind_of(s->cls, s->deadline, true) <= TLTCP__SLOT_KEY) {
        return true;
    }
    p.send.count = 0;
    p.send.rest = 0;
    p.send.rest_due = 0;
    p.mean = d->stream[s->stream].cadence.bytes[0];
    p.path = path;
    p.send.repair = (int64_t)path->repair;
    p.cuts = kind_of(s->cls, s->deadline, true) == TLTCP__SLOT_CHAIN;
    p.ns_per_byte = NS_PER_S / path->rate;
    p.send.start = (int64_t)path->delay +
                   tltcp__time_of_sending((double)before, p.ns_per_byte);
    add_queued(&p, recs, first, now);
    for (uint8_t i = 0; i < TL_STREAMS_MAX; i++) {
        add_expected(&p, &d->stream[i].cadence, i == s->stream, now);
    }
    return all_fits(&p.send) || tltcp__send_plan_takes_first(&p.send);
}
