/* SPDX-License-Identifier: MPL-2.0 */
/* Virtual time: timers, and a loop that jumps from one to the next. */
#include "sim/event.h"

#include <stdlib.h>

static bool event_before(const struct sim_timer *a, const struct sim_timer *b) {
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void place(struct sim_loop *l, size_t i, struct sim_timer *t) {
    l->queue[i] = t;
    t->slot = i + 1;
}

static void rise(struct sim_loop *l, size_t i, struct sim_timer *t) {
    while (i > 0 && event_before(t, l->queue[(i - 1) / 2])) {
        place(l, i, l->queue[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    place(l, i, t);
}

static void sink(struct sim_loop *l, size_t i, struct sim_timer *t) {
    size_t child;
    while ((child = 2 * i + 1) < l->count) {
        if (child + 1 < l->count &&
            event_before(l->queue[child + 1], l->queue[child])) {
            child++;
        }
        if (!event_before(l->queue[child], t)) {
            break;
        }
        place(l, i, l->queue[child]);
        i = child;
    }
    place(l, i, t);
}

static bool reserve(struct sim_loop *l) {
    size_t cap = l->cap != 0 ? l->cap * 2 : 16;
    struct sim_timer **q;
    if (l->count < l->cap) {
        return true;
    }
    q = realloc(l->queue, cap * sizeof(struct sim_timer *));
    if (q == NULL) {
        return false;
    }
    l->queue = q;
    l->cap = cap;
    return true;
}

void sim_loop_stop(struct sim_loop *l, struct sim_timer *t) {
    struct sim_timer *last;
    size_t i = t->slot;
    if (i-- == 0) {
        return;
    }
    t->slot = 0;
    last = l->queue[--l->count];
    if (last == t) {
        return;
    }
    if (i > 0 && event_before(last, l->queue[(i - 1) / 2])) {
        rise(l, i, last);
    } else {
        sink(l, i, last);
    }
}

bool sim_loop_arm(struct sim_loop *l, struct sim_timer *t, uint64_t at) {
    if (at != SIM_NEVER && at < l->now) {
        at = l->now;
    }
    if (t->slot != 0 && t->at == at) {
        return true;
    }
    sim_loop_stop(l, t);
    if (at == SIM_NEVER) {
        return true;
    }
    if (!reserve(l)) {
        return false;
    }
    t->at = at;
    t->order = l->order++;
    rise(l, l->count++, t);
    return true;
}

bool sim_loop_step(struct sim_loop *l, uint64_t until) {
    struct sim_timer *t = l->count != 0 ? l->queue[0] : NULL;
    if (t == NULL || t->at > until) {
        if (until != SIM_NEVER && until > l->now) {
            l->now = until;
        }
        return false;
    }
    l->now = t->at;
    sim_loop_stop(l, t);
    l->fired++;
    t->fire(t, l->now);
    return true;
}

void sim_loop_run(struct sim_loop *l, uint64_t until) {
    while (sim_loop_step(l, until)) {
    }
}

void sim_loop_free(struct sim_loop *l) {
    for (size_t i = 0; i < l->count; i++) {
        l->queue[i]->slot = 0;
    }
    free(l->queue);
    *l = (struct sim_loop){.now = l->now};
}
