/* SPDX-License-Identifier: MPL-2.0 */
/* Which sections depend on which, and the cadence of GOPs. */
#include "libtltcp/engine/dependencies.h"

/* Sections whose losses are remembered. */
#define MEMORY 4096u
/* Longest wait for a KEY; some streams have none. */
#define KEY_WAIT (10 * TLTCP_S)
/* Longer gaps are pauses. */
#define GAP_MAX (3 * TLTCP_S)
#define SMOOTH 4

void tltcp__dependencies_init(tltcp__dependencies *d, const cmn__mem *mem,
                              uint32_t policy) {
    *d = (tltcp__dependencies){.policy = policy};
    cmn__ranges_init(&d->lost, mem, UINT32_MAX);
}

void tltcp__dependencies_free(tltcp__dependencies *d) {
    cmn__ranges_free(&d->lost);
}

static bool is_needed(const tltcp__section *s) {
    return s->cls == TL_CLASS_KEY || s->cls == TL_CLASS_REFERENCE;
}

static bool is_picture(const tltcp__section *s) {
    return is_needed(s) || s->cls == TL_CLASS_DISPOSABLE;
}

static bool is_lost(const tltcp__dependencies *d, uint64_t number) {
    return cmn__ranges_has(&d->lost, number);
}

/* Whether its class depends on another picture. */
static bool follows(const tltcp__section *s) {
    return is_picture(s) && s->cls != TL_CLASS_KEY;
}

/* The dependency given by the application; its own number: none. */
static uint64_t stated(const tltcp__dependencies *d, uint64_t number,
                       const tltcp__section *s, uint32_t depends) {
    uint64_t before = d->stream[s->stream].reference;
    if (depends == 0) {
        return follows(s) && before > 0 ? before - 1 : number;
    }
    return depends <= number && depends != TL_DEPENDS_NONE ? number - depends
                                                           : number;
}

/* The section it is dropped with: under TLTCP_DROP_UNTIL_KEY, each picture up
 * to the next KEY is dropped with the previous one. */
static uint64_t needed(const tltcp__dependencies *d, uint64_t number,
                       const tltcp__section *s, uint32_t depends) {
    uint64_t before = d->stream[s->stream].picture;
    uint64_t named = stated(d, number, s, depends);
    if (d->policy != TLTCP_DROP_UNTIL_KEY || !follows(s) ||
        depends == TL_DEPENDS_NONE || (depends != 0 && is_lost(d, named))) {
        return named;
    }
    return before > 0 ? before - 1 : number;
}

static tltcp_time smooth(tltcp_time old, tltcp_time sample) {
    return old == 0 ? sample : old - old / SMOOTH + sample / SMOOTH;
}

static tltcp_time span(tltcp_time from, tltcp_time to) {
    return to == TLTCP_TIME_NEVER ? to : to > from ? to - from : 0;
}

static void learn(tltcp__cadence *c, const tltcp__section *s) {
    bool key = s->cls == TL_CLASS_KEY;
    double bytes = (double)(s->end - s->start);
    tltcp_time gap = s->written - c->last;
    /* the mean over a GOP, or since its KEY until the first one is complete */
    if (c->gop == 0 && c->last != 0 && gap > 0 && gap < GAP_MAX) {
        c->gap = c->last_key != 0 && !key
                     ? (s->written - c->last_key) / c->count
                     : smooth(c->gap, gap);
    }
    if (key && c->last_key != 0 && s->written > c->last_key) {
        c->gop = s->written - c->last_key;
        c->gap = c->gop / c->count;
    }
    c->count = key ? 1 : c->count + 1;
    c->last = s->written;
    c->last_key = key ? s->written : c->last_key;
    c->due[key] = span(s->written, s->due);
    c->dead[key] = span(s->written, s->deadline);
    if (key || c->bytes[0] <= 0) {
        c->bytes[key] = bytes;
    } else {
        c->bytes[0] += (bytes - c->bytes[0]) / SMOOTH;
    }
}

void tltcp__dependencies_on_written(tltcp__dependencies *d, uint64_t number,
                                    tltcp__section *s, uint32_t depends) {
    tltcp__stream *t = &d->stream[s->stream];
    s->depends = (uint32_t)(number - stated(d, number, s, depends));
    s->refers = needed(d, number, s, depends);
    /* audio is decoded independently, even in a shared stream */
    s->after = s->cls == TL_CLASS_AUDIO ? s->refers
               : t->newest > 0          ? t->newest - 1
                                        : number;
    t->newest = number + 1;
    if (t->broken != 0 && s->written - t->broken > KEY_WAIT) {
        s->refers = number; /* the wait is over */
        t->broken = 0;
    }
    if (s->cls == TL_CLASS_KEY) {
        t->key = number + 1;
        t->broken = 0;
    }
    if (is_needed(s)) {
        t->reference = number + 1;
        learn(&t->cadence, s);
    }
    if (is_picture(s)) {
        t->picture = number + 1;
    }
    if (s->cls == TL_CLASS_DISPOSABLE) {
        t->disposable = number + 1;
    }
}

int tltcp__dependencies_on_lost(tltcp__dependencies *d, uint64_t number,
                                const tltcp__section *s) {
    tltcp__stream *t = &d->stream[s->stream];
    if (d->policy == TLTCP_DROP_SECTION) {
        return 0;
    }
    if (number > MEMORY) {
        (void)cmn__ranges_sub(&d->lost, 0, number - MEMORY, NULL);
    }
    if (t->broken == 0 && number + 1 >= t->key &&
        (is_needed(s) ||
         (is_picture(s) && d->policy == TLTCP_DROP_UNTIL_KEY))) {
        t->broken = s->written;
    }
    return cmn__ranges_add(&d->lost, number, number + 1, NULL) == 0
               ? 0
               : TLTCP_ERR_NOMEM;
}

bool tltcp__dependencies_lost(const tltcp__dependencies *d, uint64_t number,
                              const tltcp__section *s) {
    return s->refers != number && s->deadline != TLTCP_TIME_NEVER &&
           is_lost(d, s->refers);
}
