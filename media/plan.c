/* SPDX-License-Identifier: MPL-2.0 */
#include "media/plan.h"

#include <string.h>

#include "media/deadline.h"
#include "media/framing.h"

#define NS_PER_S INT64_C(1000000000)
/* Expected frames in a plan at most, and how far ahead they are looked for. */
#define EXPECT_MAX 48
#define EXPECT_NS (3 * NS_PER_S)
/* Sizes and gaps are smoothed by 1/4. */
#define SMOOTH 4
/* A reference is kept that comes a little late: a player that shows it late is
 * better off than one that shows nothing up to the next key frame. */
#define LATE_NS (NS_PER_S / 5)

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

/* The mean over a GOP is the gap to count with; until the first one is whole,
 * a smoothed one. */
static void learn_gaps(media_rhythm *r, const media_item *item, bool key) {
    int64_t gap = item->arrival - r->last_arrival;

    if (!r->gop && r->last_arrival && gap > 0 && gap < EXPECT_NS) {
        r->gap = smooth(r->gap, gap);
    }
    if (key && r->last_key && item->arrival > r->last_key) {
        r->gop = item->arrival - r->last_key;
        r->gap = r->gop / r->frames;
    }
    r->frames = key ? 1 : r->frames + 1;
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
        .frame_class = item->frame.frame_class,
        .stream = item->stream,
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

void media__plan_expect(media_plan *p, const media_rhythm *r, uint8_t stream) {
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
            .frame_class = key ? MEDIA_CLASS_KEY : MEDIA_CLASS_REFERENCE,
            .stream = stream,
        };
        insert_by_arrival(p, &slot);
    }
}

static bool is_optional(const media_slot *s) {
    return s->frame_class == MEDIA_CLASS_DISPOSABLE;
}

/* How long after its time a frame comes.  Those that others need keep half of
 * their time in reserve: frames larger than expected, and what the path does
 * next, live on it. */
static int64_t lateness(const media_slot *s) {
    int64_t wanted = s->due;

    if (s->due == MEDIA_NEVER) {
        return 0;
    }
    if (!is_optional(s)) {
        wanted -= (s->due - s->arrival) / 2;
    }
    return s->there > wanted ? s->there - wanted : 0;
}

/* When what is taken arrives.  What stands on the path goes before, and drains
 * while nothing is sent. */
static void lay_out(media_plan *p, const media_link *link, int64_t now) {
    int64_t at =
        now + link->delay + media__leave_time(link->unsent, link->rate_bps);

    for (size_t i = 0; i < p->count; i++) {
        media_slot *s = &p->slots[i];
        if (s->state == MEDIA_SLOT_TAKEN) {
            at = at > s->arrival ? at : s->arrival;
            at += media__leave_time(s->bytes, link->rate_bps);
            at = at < MEDIA_NEVER / 2 ? at : MEDIA_NEVER / 2;
            s->there = at;
        }
    }
}

static bool is_cuttable(const media_plan *p, size_t i) {
    return p->slots[i].frame_class == MEDIA_CLASS_REFERENCE &&
           p->slots[i].stream == p->slots[0].stream;
}

/* The next key frame of the first frame's stream; 0: none in sight. */
static size_t find_key(const media_plan *p) {
    for (size_t i = 1; i < p->count; i++) {
        if (p->slots[i].frame_class == MEDIA_CLASS_KEY &&
            p->slots[i].stream == p->slots[0].stream) {
            return i;
        }
    }
    return 0;
}

static void set_references(media_plan *p, const media_link *link, int64_t now,
                           size_t end, int state) {
    for (size_t i = 0; i < end; i++) {
        if (is_cuttable(p, i)) {
            p->slots[i].state = state;
        }
    }
    lay_out(p, link, now);
}

/* By when the next key frame should be there: half of what it has beyond the
 * least possible, which is without the references before it, is kept for what
 * was not expected.  MEDIA_NEVER: it cannot be helped. */
static int64_t key_time(media_plan *p, const media_link *link, int64_t now,
                        size_t key) {
    const media_slot *k = &p->slots[key];

    set_references(p, link, now, key, MEDIA_SLOT_OUT);
    int64_t least = k->there;
    set_references(p, link, now, key, MEDIA_SLOT_TAKEN);
    if (k->due == MEDIA_NEVER || least >= k->due) {
        return MEDIA_NEVER;
    }
    return least + (k->due - least) / 2;
}

/* What stands between the first frame that is cut off and the next key frame
 * refers to it. */
static void leave_out_dependents(media_plan *p, size_t first, size_t key) {
    for (size_t i = first; i < key; i++) {
        if (is_optional(&p->slots[i]) &&
            p->slots[i].stream == p->slots[0].stream) {
            p->slots[i].state = MEDIA_SLOT_OUT;
        }
    }
}

static void cut_tail(media_plan *p, const media_link *link, int64_t now) {
    size_t key = find_key(p);
    if (!key) {
        return; /* a stream without key frames has nothing to wait for */
    }
    int64_t key_by = key_time(p, link, now, key);
    size_t first = key;
    for (size_t i = key; i-- > 0;) {
        media_slot *s = &p->slots[i];
        if (!is_cuttable(p, i)) {
            continue;
        }
        if (p->slots[key].there <= key_by &&
            (s->due == MEDIA_NEVER || s->there <= s->due + LATE_NS)) {
            break;
        }
        s->state = MEDIA_SLOT_OUT;
        first = i;
        lay_out(p, link, now);
    }
    leave_out_dependents(p, first, key);
}

static bool harms_none(const media_plan *p) {
    for (size_t i = 0; i < p->count; i++) {
        const media_slot *s = &p->slots[i];
        if (s->state == MEDIA_SLOT_TAKEN &&
            lateness(s) > (is_optional(s) ? 0 : s->late)) {
            return false;
        }
    }
    return true;
}

static media_slot *smallest_open(media_plan *p) {
    media_slot *best = NULL;

    for (size_t i = 0; i < p->count; i++) {
        media_slot *s = &p->slots[i];
        if (s->state == MEDIA_SLOT_OPEN && (!best || s->bytes < best->bytes)) {
            best = s;
        }
    }
    return best;
}

void media__plan_choose(media_plan *p, const media_link *link, int64_t now) {
    media_slot *s;

    for (size_t i = 0; i < p->count; i++) {
        p->slots[i].state =
            is_optional(&p->slots[i]) ? MEDIA_SLOT_OPEN : MEDIA_SLOT_TAKEN;
    }
    lay_out(p, link, now);
    cut_tail(p, link, now);
    for (size_t i = 0; i < p->count; i++) {
        p->slots[i].late = lateness(&p->slots[i]);
    }
    while ((s = smallest_open(p))) {
        s->state = MEDIA_SLOT_TAKEN;
        lay_out(p, link, now);
        if (!harms_none(p)) {
            s->state = MEDIA_SLOT_OUT;
        }
    }
}
