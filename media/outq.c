/* SPDX-License-Identifier: MPL-2.0 */
#include "media/outq.h"

#include <stdlib.h>
#include <string.h>

#include "media/plan.h"

#define MS INT64_C(1000000)
/* What the connection has to send is kept between these, so that it never runs
 * dry between two looks at it and decisions are still late. */
#define BACKLOG_MIN 4000
#define BACKLOG_NS (10 * MS)
#define BACKLOG_UNKNOWN 65536
#define BACKLOG_MAX (4u << 20)
/* When it ran dry all the same, this many times as much, at most. */
#define BOOST_MAX 256
/* Longest wait for a key frame. */
#define KEY_WAIT_NS (10000 * MS)
/* Between two looks. */
#define LOOK_MIN_NS (1 * MS)
#define LOOK_MAX_NS (10 * MS)

/* What is lost of a stream.  Orders count what was pushed, from 1. */
struct chain {
    int64_t until;       /* when waiting for a key frame ends; 0: no wait */
    uint64_t first_lost; /* only what comes behind it waits */
    uint64_t last_lost;  /* the newest loss */
    uint64_t restart;    /* the newest key frame sent */
    int64_t leading_due; /* what is due before needs what was lost */
};

struct media_outq {
    int policy;
    size_t max_items;
    size_t max_bytes;
    size_t first; /* of count items, in a ring of max_items */
    size_t count;
    size_t bytes;
    bool held;       /* the last answer was to wait for the connection */
    unsigned boost;  /* of the backlog, at least 1 */
    uint64_t pushed; /* items so far */
    struct chain chains[256]; /* by stream */
    media_rhythm rhythm[MEDIA_RHYTHM_STREAMS];
    media_plan plan; /* scratch */
    media_item ring[];
};

static media_item *item_at(const media_outq *q, size_t i) {
    return (media_item *)&q->ring[(q->first + i) % q->max_items];
}

media_outq *media__outq_new(int policy, size_t max_items, size_t max_bytes) {
    if (!max_items || max_items > SIZE_MAX / 2 / sizeof(media_item)) {
        return NULL;
    }
    media_outq *q =
        calloc(1, sizeof(media_outq) + max_items * sizeof(media_item));
    if (!q) {
        return NULL;
    }
    q->policy = policy;
    q->max_items = max_items;
    q->max_bytes = max_bytes;
    q->boost = 1;
    return q;
}

void media__outq_free(media_outq *q, void (*drop)(void *user, media_item *item),
                      void *user) {
    for (size_t i = 0; q && drop && i < q->count; i++) {
        drop(user, item_at(q, i));
    }
    free(q);
}

void media__outq_set_policy(media_outq *q, int policy) {
    q->policy = policy;
    if (policy == MEDIA_DROP_SECTION) {
        memset(q->chains, 0, sizeof(q->chains));
    }
}

static bool is_picture(const media_item *item) {
    return item->frame.frame_class == MEDIA_CLASS_KEY ||
           item->frame.frame_class == MEDIA_CLASS_REFERENCE ||
           item->frame.frame_class == MEDIA_CLASS_DISPOSABLE;
}

static bool is_needed(const media_item *item) {
    return is_picture(item) &&
           item->frame.frame_class != MEDIA_CLASS_DISPOSABLE;
}

static bool breaks_chain(const media_outq *q, const media_item *item) {
    if (q->policy == MEDIA_DROP_DEPENDENTS) {
        return is_needed(item);
    }
    return q->policy == MEDIA_DROP_UNTIL_KEYFRAME && is_picture(item);
}

static void break_chain(struct chain *c, uint64_t order, int64_t now) {
    if (!c->until || order < c->first_lost) {
        c->first_lost = order;
    }
    if (order > c->last_lost) {
        c->last_lost = order;
    }
    c->until = now + KEY_WAIT_NS;
}

/* A loss behind the key frame, in a queue that was full, still counts.  The
 * pictures behind the key frame of an open GOP that are shown before it refer
 * to the GOP before. */
static void begin_chain(struct chain *c, const media_item *item) {
    bool open = c->until && !item->frame.closed_gop && item->due != MEDIA_NEVER;

    c->leading_due = open ? item->due : INT64_MIN;
    c->restart = item->order;
    c->first_lost = c->last_lost;
    if (c->last_lost < item->order) {
        c->until = 0;
    }
}

/* A frame that stands alone needs no key frame, nor does its stream. */
static bool starts_chain(const media_item *item) {
    return item->frame.key || item->frame.recovery ||
           item->frame.frame_class == MEDIA_CLASS_OTHER;
}

static bool waits_for_key(const media_outq *q, const media_item *item,
                          int64_t now) {
    const struct chain *c = &q->chains[item->stream];
    bool restart = item->frame.key || item->frame.recovery;

    if (!is_picture(item) || restart) {
        return false;
    }
    return (c->until > now && item->order > c->first_lost) ||
           (c->restart && item->due < c->leading_due);
}

bool media__outq_on_lost(media_outq *q, const media_item *item) {
    struct chain *c = &q->chains[item->stream];

    /* What came before the newest key frame harms nobody any more. */
    if (item->order < c->restart) {
        return false;
    }
    if (breaks_chain(q, item)) {
        break_chain(c, item->order, item->arrival);
    }
    return is_needed(item);
}

bool media__outq_push(media_outq *q, const media_item *item) {
    media_item mine = *item;

    mine.order = ++q->pushed;
    if (is_needed(item) && item->stream < MEDIA_RHYTHM_STREAMS) {
        media__rhythm_learn(&q->rhythm[item->stream], item);
    }
    if (q->count == q->max_items ||
        (q->count && item->bytes > q->max_bytes - q->bytes)) {
        media__outq_on_lost(q, &mine);
        return false;
    }
    *item_at(q, q->count++) = mine;
    q->bytes += item->bytes;
    return true;
}

void media__outq_wait_key(media_outq *q, uint8_t stream, int64_t now) {
    if (q->policy != MEDIA_DROP_SECTION) {
        break_chain(&q->chains[stream], q->pushed, now);
    }
}

size_t media__outq_items(const media_outq *q) {
    return q->count;
}

size_t media__outq_bytes(const media_outq *q) {
    return q->bytes;
}

int64_t media__item_deadline(const media_item *item, const media_link *link) {
    int64_t deadline = item->deadline;

    if (deadline != MEDIA_NEVER &&
        item->frame.frame_class == MEDIA_CLASS_DISPOSABLE) {
        deadline -= link->delay;
    }
    return deadline;
}

/* When the oldest frame would have left, if it were sent now. */
static int64_t leaves(const media_item *item, const media_link *link,
                      int64_t now) {
    if (!link->rate_bps || link->growing) {
        return now;
    }
    return now + media__leave_time(link->unsent + item->bytes, link->rate_bps);
}

/* A key frame that cannot make it is tried all the same while its deadline is
 * not over: the estimate may be wrong, and all depends on it. */
static bool is_late(const media_item *item, const media_link *link,
                    int64_t now) {
    if (item->frame.frame_class == MEDIA_CLASS_DISPOSABLE) {
        return leaves(item, link, now) > media__item_deadline(item, link);
    }
    return now >= item->deadline;
}

/* (3) and (4) of the header */
static bool is_left_out(media_outq *q, const media_link *link, int64_t now) {
    int frame_class = item_at(q, 0)->frame.frame_class;

    if ((frame_class != MEDIA_CLASS_DISPOSABLE &&
         frame_class != MEDIA_CLASS_REFERENCE) ||
        !link->rate_bps || link->growing) {
        return false;
    }
    q->plan.count = 0;
    for (size_t i = 0; i < q->count && i < MEDIA_PLAN_MAX / 2; i++) {
        media__plan_add(&q->plan, item_at(q, i));
    }
    for (uint8_t i = 0; i < MEDIA_RHYTHM_STREAMS; i++) {
        media__plan_expect(&q->plan, &q->rhythm[i], i);
    }
    media__plan_choose(&q->plan, link, now);
    return q->plan.slots[0].state == MEDIA_SLOT_OUT;
}

static int judge_head(media_outq *q, const media_link *link, int64_t now) {
    const media_item *head = item_at(q, 0);

    if (is_late(head, link, now)) {
        return MEDIA_DROP_LATE;
    }
    if (q->policy == MEDIA_DROP_SECTION) {
        return MEDIA_DROP_NONE;
    }
    if (waits_for_key(q, head, now)) {
        return MEDIA_DROP_DEPENDS;
    }
    if (q->policy == MEDIA_DROP_DEPENDENTS && is_left_out(q, link, now)) {
        return MEDIA_DROP_YIELDED;
    }
    return MEDIA_DROP_NONE;
}

static size_t backlog_wanted(const media_outq *q, const media_link *link) {
    size_t bytes = BACKLOG_UNKNOWN;

    if (link->rate_bps) {
        bytes = (size_t)(link->rate_bps / 8 * (BACKLOG_NS / MS) / 1000);
    }
    bytes = bytes > BACKLOG_MIN ? bytes : BACKLOG_MIN;
    return bytes < BACKLOG_MAX / q->boost ? bytes * q->boost : BACKLOG_MAX;
}

/* A connection that had nothing left when it was looked at is faster than its
 * rate says: what limits it is how often it is looked at. */
static void adapt(media_outq *q, const media_link *link, size_t wanted) {
    if (q->held && !link->unsent && q->boost < BOOST_MAX) {
        q->boost *= 2;
    } else if (q->held && link->unsent > wanted / 2 && q->boost > 1) {
        q->boost--;
    }
    q->held = false;
}

static int64_t look_again(const media_link *link, size_t wanted, int64_t now) {
    int64_t wait = LOOK_MAX_NS;

    if (link->rate_bps) {
        wait = media__leave_time(link->unsent - wanted, link->rate_bps);
    }
    wait = wait < LOOK_MIN_NS ? LOOK_MIN_NS : wait;
    return now + (wait > LOOK_MAX_NS ? LOOK_MAX_NS : wait);
}

static void take_head(media_outq *q, int reason, media_next *next) {
    next->item = *item_at(q, 0);
    next->reason = reason;
    next->verdict = reason ? MEDIA_DROP : MEDIA_SEND;
    q->first = (q->first + 1) % q->max_items;
    q->count--;
    q->bytes -= next->item.bytes;
    if (reason) {
        media__outq_on_lost(q, &next->item);
    } else if (starts_chain(&next->item)) {
        begin_chain(&q->chains[next->item.stream], &next->item);
    }
}

void media__outq_next(media_outq *q, const media_link *link, int64_t now,
                      media_next *next) {
    size_t wanted = backlog_wanted(q, link);

    memset(next, 0, sizeof(*next));
    next->verdict = MEDIA_WAIT;
    next->when = MEDIA_NEVER;
    if (!q->count) {
        return;
    }
    if (link->unsent > wanted) {
        next->when = look_again(link, wanted, now);
        q->held = true;
    } else {
        adapt(q, link, wanted);
        take_head(q, judge_head(q, link, now), next);
    }
}

const char *media__drop_name(int reason) {
    static const char *const names[MEDIA_DROP_REASONS] = {
        "none", "late", "depends", "yielded", "overflow"};

    return names[reason > 0 && reason < MEDIA_DROP_REASONS ? reason : 0];
}
