/* SPDX-License-Identifier: MPL-2.0 */
#include "media/plan.h"

#include <string.h>

#include "media/deadline.h"
#include "media/framing.h"

#define NS_PER_S INT64_C(1000000000)
/* Expected frames in a plan at most, and how far ahead they are looked for. */
#define EXPECT_MAX 48
#define EXPECT_NS (3 * NS_PER_S)
#define RESERVE_PART 4
/* Sizes and gaps are smoothed by 1/4. */
#define SMOOTH 4

int64_t media__leave_time(size_t bytes, uint64_t rate_bps) {
    uint64_t ns_per_byte = (uint64_t)(8 * NS_PER_S) / rate_bps;
    uint64_t rest = (uint64_t)(8 * NS_PER_S) % rate_bps;

    if (bytes > UINT32_MAX || ns_per_byte > UINT32_MAX / 2) {
        return MEDIA_NEVER / 4;
    }
    return (int64_t)(bytes * ns_per_byte + bytes * rest / rate_bps);
}

static int64_t smooth(int64_t old, int64_t sample) {
    return old ? old + (sample - old) / SMOOTH : sample;
}

static void learn_gaps(media_rhythm *r, const media_item *item, bool key) {
    int64_t gap = item->arrival - r->last_arrival;

    if (r->last_arrival && gap > 0 && gap < EXPECT_NS) {
        r->gap = smooth(r->gap, gap);
    }
    if (key && r->last_key && item->arrival > r->last_key) {
        r->gop = item->arrival - r->last_key;
    }
    r->last_arrival = item->arrival;
    if (key) {
        r->last_key = item->arrival;
    }
}

void media__rhythm_learn(media_rhythm *r, const media_item *item) {
    bool key = item->frame.frame_class == MEDIA_CLASS_KEY;

    learn_gaps(r, item, key);
    if (item->due != MEDIA_NEVER) {
        *(key ? &r->key_slack : &r->ref_slack) = item->due - item->arrival;
    }
    if (key) {
        r->key_bytes = item->bytes;
    } else {
        r->ref_bytes =
            (size_t)smooth((int64_t)r->ref_bytes, (int64_t)item->bytes);
    }
}

void media__plan_add(media_plan *p, const media_item *item) {
    if (p->count == MEDIA_PLAN_MAX) {
        return;
    }
    p->slots[p->count++] = (media_slot){
        .arrival = item->arrival,
        .due = item->due,
        .bytes = item->bytes,
        .optional = item->frame.frame_class == MEDIA_CLASS_DISPOSABLE,
    };
}

/* Keeps the expected frames of several streams in order of arrival. */
static void insert_by_arrival(media_plan *p, const media_slot *slot) {
    size_t i = p->count;

    if (p->count == MEDIA_PLAN_MAX) {
        return;
    }
    while (i > 0 && p->slots[i - 1].arrival > slot->arrival) {
        i--;
    }
    memmove(&p->slots[i + 1], &p->slots[i],
            (p->count - i) * sizeof(p->slots[0]));
    p->slots[i] = *slot;
    p->count++;
}

void media__plan_expect(media_plan *p, const media_rhythm *r) {
    int64_t at = r->last_arrival;
    int64_t next_key = r->gop ? r->last_key + r->gop : MEDIA_NEVER;
    bool key = false;

    if (!r->gap || !r->ref_bytes) {
        return;
    }
    for (int i = 0; i < EXPECT_MAX && !key; i++) {
        at += r->gap;
        if (at - r->last_arrival > EXPECT_NS) {
            return;
        }
        key = at >= next_key - r->gap / 2;
        media_slot slot = {
            .arrival = at,
            .due = at + (key ? r->key_slack : r->ref_slack),
            .bytes = key ? r->key_bytes : r->ref_bytes,
        };
        insert_by_arrival(p, &slot);
    }
}

/* By when a frame should be there.  Those that others need keep half of their
 * time in reserve: frames larger than expected, and what the path does next,
 * live on it. */
static int64_t wanted(const media_slot *s) {
    if (s->optional || s->due == MEDIA_NEVER) {
        return s->due;
    }
    return s->due - (s->due - s->arrival) / 2;
}

/* What stands on the path goes before, and drains while nothing is sent.
 *
 * Lays the plan out and says whether it is good: all that is optional in time,
 * nothing else later than it has to be.  The first time notes how late that
 * is. */
static bool lay_out(media_plan *p, const media_link *link, int64_t now,
                    bool first) {
    int64_t at =
        now + link->delay + media__leave_time(link->unsent, link->rate_bps);

    for (size_t i = 0; i < p->count; i++) {
        media_slot *s = &p->slots[i];
        if (s->optional && !s->taken) {
            continue;
        }
        at = at > s->arrival ? at : s->arrival;
        at += media__leave_time(s->bytes, link->rate_bps);
        if (at > MEDIA_NEVER / 2) {
            return false;
        }
        int64_t late = at - wanted(s);
        late = late > 0 ? late : 0;
        if (first) {
            s->late = late;
        } else if (late > (s->optional ? 0 : s->late)) {
            return false;
        }
    }
    return true;
}

/* The smallest optional frame behind those that were tried. */
static media_slot *next_smallest(media_plan *p, const media_slot *after) {
    media_slot *best = NULL;

    for (size_t i = 0; i < p->count; i++) {
        media_slot *s = &p->slots[i];
        bool tried = after && (s->bytes < after->bytes ||
                               (s->bytes == after->bytes && s <= after));
        if (s->optional && !tried && (!best || s->bytes < best->bytes)) {
            best = s;
        }
    }
    return best;
}

void media__plan_choose(media_plan *p, const media_link *link, int64_t now) {
    lay_out(p, link, now, true);
    for (media_slot *s = next_smallest(p, NULL); s; s = next_smallest(p, s)) {
        s->taken = true;
        s->taken = lay_out(p, link, now, false);
    }
}
