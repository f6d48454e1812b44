/* SPDX-License-Identifier: MPL-2.0 */
/* Chooses what to send of a plan. */
#include "libtltcp/engine/send_plan.h"

#include <math.h>

#define STEPS 128 /* by which a path can be behind */
#define STATES 4u
#define ALIVE 1u       /* the chain was sent so far */
#define BRANCH 2u      /* the newest branch was sent */
#define REACH 1.25     /* times the longest time to due: behind beyond help */
#define DOUBT 10e6     /* ns by which a time of completion may be wrong, ... */
#define GROWTH 0.2     /* ... and more for each ns that it is away */
#define NOWHERE (-1e9) /* worth of what cannot be */

/* The best way to be so far behind. */
typedef struct way {
    double behind; /* ns after the newest slot was written */
    double worth;
} way;

typedef struct ways {
    way at[STATES][STEPS];
} ways;

static double longest(const tltcp__send_plan *s) {
    int64_t most = s->rest_due;
    for (size_t i = 0; i < s->count; i++) {
        const tltcp__slot *x = &s->slot[i];
        if (x->due < TLTCP__NEVER && x->due - x->written > most) {
            most = x->due - x->written;
        }
    }
    return most > 0 ? (double)most * REACH : 1;
}

static void forget(ways *w) {
    for (unsigned state = 0; state < STATES; state++) {
        for (int i = 0; i < STEPS; i++) {
            w->at[state][i] = (way){0, NOWHERE};
        }
    }
}

static void note_way(ways *w, unsigned state, double behind, double worth,
                     double step) {
    double i = fmin(behind / step, STEPS - 1);
    way *x = &w->at[state][(int)i];
    if (worth > x->worth || (worth >= x->worth && behind < x->behind)) {
        *x = (way){behind, worth};
    }
}

/* Probability that something is in time that should be complete at `there`. */
static double chance(double there, double due) {
    double doubt = DOUBT + GROWTH * fmax(there, 0);
    return fmin(fmax((due - there) / doubt / 2 + 0.5, 0), 1);
}

/* Of a slot that would be complete at `there` if nothing was lost. */
static double expected_worth(const tltcp__send_plan *s, const tltcp__slot *x,
                             double there) {
    double due = (double)x->due;
    double sum = 0;
    double missing = 1;
    if (x->due >= TLTCP__NEVER) {
        return x->worth;
    }
    for (unsigned i = 0; i < TLTCP__REPAIRS; i++) {
        sum += (missing - x->missing[i]) * chance(there, due);
        missing = x->missing[i];
        there += (double)s->repair;
    }
    return x->worth * (sum + missing * chance(there, due));
}

static bool can_send(const tltcp__slot *x, unsigned state) {
    return x->kind <= TLTCP__SLOT_KEY ||
           ((state & ALIVE) != 0 && (!x->on_branch || (state & BRANCH) != 0));
}

static bool can_omit(const tltcp__slot *x) {
    return x->kind > TLTCP__SLOT_KEY;
}

static unsigned state_after(const tltcp__slot *x, unsigned state, bool sent) {
    switch (x->kind) {
    case TLTCP__SLOT_KEY:
        return ALIVE;
    case TLTCP__SLOT_CHAIN:
        return sent ? state & ALIVE : 0;
    case TLTCP__SLOT_OPTIONAL:
        return !x->is_branch ? state : sent ? state | BRANCH : state & ~BRANCH;
    default:
        return state;
    }
}

/* Both fates of a slot, or one, from one way to get to it. */
static void decide(const tltcp__send_plan *s, size_t i, unsigned state,
                   const way *from, double step, ways *next) {
    const tltcp__slot *x = &s->slot[i];
    double written = (double)x->written;
    double gap =
        i + 1 < s->count ? (double)s->slot[i + 1].written - written : 0;
    if (can_omit(x)) {
        note_way(next, state_after(x, state, false),
                 fmax(from->behind - gap, 0), from->worth, step);
    }
    if (can_send(x, state)) {
        double behind = from->behind + (double)x->cost;
        note_way(next, state_after(x, state, true), fmax(behind - gap, 0),
                 from->worth + expected_worth(s, x, written + behind), step);
    }
}

/* The best end, with what follows the last slot if the chain goes on. */
static double best_end(const tltcp__send_plan *s, const ways *w) {
    double best = NOWHERE;
    for (unsigned state = 0; state < STATES; state++) {
        for (int i = 0; i < STEPS; i++) {
            const way *x = &w->at[state][i];
            double left = 1 - x->behind / fmax((double)s->rest_due, 1);
            double rest = (state & ALIVE) != 0 ? s->rest * fmax(left, 0) : 0;
            best = fmax(best, x->worth + rest);
        }
    }
    return best;
}

/* The ways after the first slot with one fate. */
static void start(const tltcp__send_plan *s, bool sent, double step, ways *to) {
    const tltcp__slot *x = &s->slot[0];
    double behind = fmax((double)(s->start - x->written), 0);
    double gap = s->count > 1 ? (double)(s->slot[1].written - x->written) : 0;
    double worth = 0;
    if (sent) {
        behind += (double)x->cost;
        worth = expected_worth(s, x, (double)x->written + behind);
    }
    forget(to);
    note_way(to, state_after(x, ALIVE | BRANCH, sent), fmax(behind - gap, 0),
             worth, step);
}

static void go_on(const tltcp__send_plan *s, size_t i, const ways *from,
                  double step, ways *to) {
    forget(to);
    for (unsigned state = 0; state < STATES; state++) {
        double best = NOWHERE;
        for (int k = 0; k < STEPS; k++) {
            const way *x = &from->at[state][k];
            /* Farther behind for no more worth leads nowhere better. */
            if (x->worth > best) {
                best = x->worth;
                decide(s, i, state, x, step, to);
            }
        }
    }
}

static double value(const tltcp__send_plan *s, bool first) {
    ways pair[2];
    double step = longest(s) / STEPS;
    start(s, first, step, &pair[0]);
    for (size_t i = 1; i < s->count; i++) {
        go_on(s, i, &pair[(i + 1) % 2], step, &pair[i % 2]);
    }
    return best_end(s, &pair[(s->count + 1) % 2]);
}

bool tltcp__send_plan_takes_first(const tltcp__send_plan *s) {
    double taken = value(s, true);
    double omitted = value(s, false);
    return taken > omitted;
}
