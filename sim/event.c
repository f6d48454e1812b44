/* SPDX-License-Identifier: MPL-2.0 */
/* Virtual time: timers, and a loop that jumps from one to the next. */
#include "sim/event.h"

#include <stdlib.h>

#define WAYS 4 /* children of an entry: fewer levels than a binary heap */

static bool event_before(const struct sim_event *a, const struct sim_event *b) {
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void place(struct sim_loop *l, size_t i, struct sim_event e) {
    l->queue[i] = e;
    if (e.timer != NULL) {
        e.timer->slot = i + 1;
    }
}

static void rise(struct sim_loop *l, size_t i, struct sim_event e) {
    while (i > 0 && event_before(&e, &l->queue[(i - 1) / WAYS])) {
        place(l, i, l->queue[(i - 1) / WAYS]);
        i = (i - 1) / WAYS;
    }
    place(l, i, e);
}

static size_t first_child(const struct sim_loop *l, size_t i) {
    size_t first = WAYS * i + 1;
    size_t end = first + WAYS < l->count ? first + WAYS : l->count;
    size_t best = first;
    for (size_t child = first + 1; child < end; child++) {
        if (event_before(&l->queue[child], &l->queue[best])) {
            best = child;
        }
    }
    return best;
}

static void sink(struct sim_loop *l, size_t i, struct sim_event e) {
    while (WAYS * i + 1 < l->count) {
        size_t child = first_child(l, i);
        if (!event_before(&l->queue[child], &e)) {
            break;
        }
        place(l, i, l->queue[child]);
        i = child;
    }
    place(l, i, e);
}

static bool reserve(struct sim_loop *l) {
    size_t cap = l->cap != 0 ? l->cap * 2 : 16;
    struct sim_event *q;
    if (l->count < l->cap) {
        return true;
    }
    q = realloc(l->queue, cap * sizeof(*q));
    if (q == NULL) {
        return false;
    }
    l->queue = q;
    l->cap = cap;
    return true;
}

static void loop_remove(struct sim_loop *l, size_t i) {
    struct sim_event last = l->queue[--l->count];
    if (i == l->count) {
        return;
    }
    if (i > 0 && event_before(&last, &l->queue[(i - 1) / WAYS])) {
        rise(l, i, last);
    } else {
        sink(l, i, last);
    }
}

/* The place of the timer that fires is kept for what it arms first. */
static void close_gap(struct sim_loop *l) {
    if (l->gap) {
        l->gap = false;
        loop_remove(l, 0);
    }
}

void sim_loop_stop(struct sim_loop *l, struct sim_timer *t) {
    size_t i = t->slot;
    if (i-- != 0) {
        t->slot = 0;
        loop_remove(l, i);
    }
}

bool sim_loop_arm(struct sim_loop *l, struct sim_timer *t, uint64_t at) {
    struct sim_event e;
    if (at != SIM_NEVER && at < l->now) {
        at = l->now;
    }
    if (t->slot != 0 && t->at == at) {
        return true;
    }
    if (at == SIM_NEVER) {
        sim_loop_stop(l, t);
        return true;
    }
    e = (struct sim_event){at, l->order, t};
    if (t->slot != 0) { /* a later order: among equal times it goes last */
        size_t i = t->slot - 1;
        if (at < t->at) {
            rise(l, i, e);
        } else {
            sink(l, i, e);
        }
    } else if (l->gap) {
        l->gap = false;
        sink(l, 0, e);
    } else if (reserve(l)) {
        rise(l, l->count++, e);
    } else {
        return false;
    }
    t->at = at;
    l->order++;
    return true;
}

uint64_t sim_loop_next(struct sim_loop *l) {
    close_gap(l);
    return l->count != 0 ? l->queue[0].at : SIM_NEVER;
}

bool sim_loop_step(struct sim_loop *l, uint64_t until) {
    struct sim_timer *t;
    uint64_t at = sim_loop_next(l); /* a timer may run the loop itself */
    if (at == SIM_NEVER || at > until) {
        if (until != SIM_NEVER && until > l->now) {
            l->now = until;
        }
        return false;
    }
    t = l->queue[0].timer;
    l->now = at;
    l->queue[0].timer = NULL;
    l->gap = true;
    t->slot = 0;
    l->fired++;
    t->fire(t, l->now);
    close_gap(l);
    return true;
}

void sim_loop_run(struct sim_loop *l, uint64_t until) {
    while (sim_loop_step(l, until)) {
    }
}

void sim_loop_free(struct sim_loop *l) {
    for (size_t i = 0; i < l->count; i++) {
        if (l->queue[i].timer != NULL) {
            l->queue[i].timer->slot = 0;
        }
    }
    free(l->queue);
    *l = (struct sim_loop){.now = l->now};
}
