/* SPDX-License-Identifier: MPL-2.0 */
/* Tracks which received frames can be decoded. */
#include "internal/media/stream/reftrack.h"

#include <string.h>

/* Relevant properties of a frame. */
struct step {
    unsigned frame_class;
    bool recovery;
    bool closed;
    bool branch;
    bool intact;
    uint32_t recovery_cnt;
    int64_t pts;
};

void media__reftrack_init(media_reftrack *t) {
    memset(t, 0, sizeof(*t));
    t->key_pts = MEDIA_TIME_NONE;
}

static void lose_reference(media_reftrack *t) {
    t->chain_ok = false;
    t->recovering = 0;
}

static bool on_key(media_reftrack *t, const struct step *s) {
    t->before_ok = s->closed || t->chain_ok;
    t->chain_ok = s->intact;
    t->recovering = 0;
    t->key_pts = s->pts;
    return s->intact;
}

static bool shown_before_key(const media_reftrack *t, const struct step *s) {
    return s->pts != MEDIA_TIME_NONE && t->key_pts != MEDIA_TIME_NONE &&
           s->pts < t->key_pts;
}

static bool on_reference(media_reftrack *t, const struct step *s) {
    if (!s->intact) {
        lose_reference(t);
        return false;
    }
    if (s->recovery && !t->chain_ok && !t->recovering) {
        t->recovering = s->recovery_cnt + 1;
    }
    if (t->recovering && --t->recovering == 0) {
        t->chain_ok = true;
        t->before_ok = false;
        t->key_pts = s->pts;
    }
    return t->chain_ok && (t->before_ok || !shown_before_key(t, s));
}

static bool reftrack_step(media_reftrack *t, const struct step *s) {
    switch (s->branch ? MEDIA_CLASS_DISPOSABLE : s->frame_class) {
    case MEDIA_CLASS_KEY:
        return on_key(t, s);
    case MEDIA_CLASS_REFERENCE:
        return on_reference(t, s);
    case MEDIA_CLASS_DISPOSABLE:
        return s->intact && t->chain_ok &&
               (t->before_ok || !shown_before_key(t, s));
    case MEDIA_CLASS_HEADER:
        if (!s->intact) {
            lose_reference(t);
        }
        return s->intact;
    case MEDIA_CLASS_AUDIO:
        return s->intact;
    default: /* decodable alone, so its stream has no chains to break */
        if (s->intact) {
            t->chain_ok = t->before_ok = true;
        }
        return s->intact;
    }
}

/* Decreasing numbers mean that the sender restarted. */
static void find_missing(media_reftrack *t, const media_header *h) {
    uint32_t missing = h->number - t->next;
    uint32_t refs = h->refs - t->refs;

    if (!t->started) {
        return;
    }
    if (missing > INT32_MAX || refs > missing) {
        lose_reference(t);
        return;
    }
    t->lost += missing;
    t->lost_refs += refs;
    if (refs) {
        lose_reference(t);
    }
}

bool media__reftrack_frame(media_reftrack *t, const media_header *h,
                           bool intact) {
    struct step s = {
        .frame_class = h->frame_class,
        .recovery = h->flags & MEDIA_FLAG_RECOVERY,
        .closed = h->flags & MEDIA_FLAG_CLOSED,
        .branch = h->flags & MEDIA_FLAG_BRANCH,
        .intact = intact && !(h->flags & MEDIA_FLAG_CORRUPTED),
        .recovery_cnt = h->flags >> MEDIA_RECOVERY_SHIFT,
        .pts = h->pts,
    };

    /* Headers are not counted: they never expire and may be repeated. */
    if (h->frame_class == MEDIA_CLASS_HEADER) {
        return reftrack_step(t, &s);
    }
    find_missing(t, h);
    t->started = true;
    t->next = h->number + 1;
    t->refs = h->refs + (h->frame_class != MEDIA_CLASS_DISPOSABLE && !s.branch);
    return reftrack_step(t, &s);
}

/* Sections before the first, and those too long ago, are unknown. */
bool media__arrivals_has_parent(const media_arrivals *a, uint64_t section,
                                uint32_t depends) {
    uint64_t parent = section - depends;

    return !depends || depends >= MEDIA_ARRIVALS || depends > section ||
           !a->first || parent + 1 < a->first ||
           a->good[parent % MEDIA_ARRIVALS] == parent + 1;
}

void media__arrivals_note(media_arrivals *a, uint64_t section, bool good) {
    a->first = a->first ? a->first : section + 1;
    a->good[section % MEDIA_ARRIVALS] = good ? section + 1 : 0;
}
