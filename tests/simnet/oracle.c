/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/simnet/oracle.h"

#include <math.h>

#define NEWEST 8 /* pictures to which others may refer */
#define SETS (1u << NEWEST)
#define STEP 1e-3 /* s */
#define STEPS 1000

/* A state of the link: how far it is behind, and what was shown until then. */
struct reach {
    double behind; /* s; the least in this step */
    double got;    /* the most in this step; -1: cannot be */
};

/* By which of the newest pictures were sent, and by steps behind. */
struct frontier {
    struct reach at[SETS][STEPS];
    int used[SETS]; /* steps up to which there is one */
};

static struct frontier frontiers[2]; /* large */

static void forget(struct frontier *f) {
    for (unsigned set = 0; set < SETS; set++) {
        for (int i = 0; i < f->used[set]; i++) {
            f->at[set][i].got = -1;
        }
        f->used[set] = 0;
    }
}

static void begin(struct frontier *f) {
    for (unsigned set = 0; set < SETS; set++) {
        f->used[set] = STEPS;
    }
    forget(f);
}

static void note(struct frontier *f, unsigned set, double behind, double got) {
    int step = (int)(behind / STEP);
    struct reach *r = &f->at[set][step];
    if (step >= STEPS) {
        return; /* hopeless for all that follows */
    }
    r->behind = r->got < 0 ? behind : fmin(r->behind, behind);
    r->got = fmax(r->got, got);
    f->used[set] = step >= f->used[set] ? step + 1 : f->used[set];
}

static double seconds_of(uint64_t ns) {
    return (double)ns * 1e-9;
}

static bool has_parent(const struct clip *c, uint32_t i, unsigned set) {
    uint32_t back = i - c->parent[i];
    return back == 0 || (back <= NEWEST && (set >> (back - 1) & 1) != 0);
}

/* All that may become of picture i when the link is so far behind. */
static void decide(const struct clip *c, uint32_t i, double rate, bool bytes,
                   unsigned set, const struct reach *r, struct frontier *next) {
    double interval = seconds_of(CLIP_INTERVAL);
    unsigned older = set << 1 & (SETS - 1);
    double at = r->behind + c->bytes[i] / rate;
    bool shown = at <= seconds_of(c->shown[i] + c->latency);
    note(next, older, fmax(r->behind - interval, 0), r->got);
    if (has_parent(c, i, set)) {
        note(next, older | 1, fmax(at - interval, 0),
             r->got + (shown ? (bytes ? c->bytes[i] : 1) : 0));
    }
}

/* Drops states that another one beats in both respects. */
static void prune(struct frontier *f, unsigned set) {
    double most = -1;
    for (int i = 0; i < f->used[set]; i++) {
        struct reach *r = &f->at[set][i];
        if (r->got <= most) {
            r->got = -1;
        }
        most = fmax(most, r->got);
    }
}

double oracle_most(const struct clip *c, double rate, bool bytes) {
    struct frontier *now = &frontiers[0];
    struct frontier *next = &frontiers[1];
    double most = 0;
    begin(now);
    begin(next);
    note(now, 0, 0, 0);
    for (uint32_t i = 0; i < c->count; i++) {
        struct frontier *was = now;
        for (unsigned set = 0; set < SETS; set++) {
            prune(now, set);
            for (int k = 0; k < now->used[set]; k++) {
                if (now->at[set][k].got >= 0) {
                    decide(c, i, rate, bytes, set, &now->at[set][k], next);
                }
            }
        }
        forget(now);
        now = next;
        next = was;
    }
    for (unsigned set = 0; set < SETS; set++) {
        for (int k = 0; k < now->used[set]; k++) {
            most = fmax(most, now->at[set][k].got);
        }
    }
    return most;
}

/* By which of the newest pictures were sent, and by how many were not shown
 * since one was: how far the link is behind at least; NONE: cannot be. */
#define DARK_MAX 512
#define NONE 1e9

struct darkness {
    double behind[SETS][DARK_MAX];
};

static struct darkness darkness[2]; /* large */

static void forget_darkness(struct darkness *d, unsigned most) {
    for (unsigned set = 0; set < SETS; set++) {
        for (unsigned dark = 0; dark <= most; dark++) {
            d->behind[set][dark] = NONE;
        }
    }
}

static void note_darkness(struct darkness *d, unsigned set, unsigned dark,
                          unsigned most, double behind) {
    if (dark <= most) {
        d->behind[set][dark] = fmin(
            d->behind[set][dark], fmax(behind - seconds_of(CLIP_INTERVAL), 0));
    }
}

static bool is_possible(const struct darkness *d, unsigned most) {
    for (unsigned set = 0; set < SETS; set++) {
        for (unsigned dark = 0; dark <= most; dark++) {
            if (d->behind[set][dark] < NONE) {
                return true;
            }
        }
    }
    return false;
}

static void go_on(const struct clip *c, uint32_t i, double rate, unsigned most,
                  const struct darkness *from, struct darkness *to) {
    forget_darkness(to, most);
    for (unsigned set = 0; set < SETS; set++) {
        unsigned older = set << 1 & (SETS - 1);
        for (unsigned dark = 0; dark <= most; dark++) {
            double behind = from->behind[set][dark];
            double at = behind + c->bytes[i] / rate;
            bool shown = at <= seconds_of(c->shown[i] + c->latency);
            if (behind >= NONE) {
                continue;
            }
            note_darkness(to, older, dark + 1, most, behind);
            if (has_parent(c, i, set)) {
                note_darkness(to, older | 1, shown ? 0 : dark + 1, most, at);
            }
        }
    }
}

/* Whether no more than so many in a row need to be missing. */
static bool can_show(const struct clip *c, double rate, unsigned most) {
    forget_darkness(&darkness[0], most);
    darkness[0].behind[0][0] = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        go_on(c, i, rate, most, &darkness[i % 2], &darkness[(i + 1) % 2]);
    }
    return is_possible(&darkness[c->count % 2], most);
}

uint64_t oracle_freeze(const struct clip *c, double rate) {
    unsigned least = 0;
    unsigned most = DARK_MAX - 1;
    while (least < most) {
        unsigned middle = (least + most) / 2;
        if (can_show(c, rate, middle)) {
            most = middle;
        } else {
            least = middle + 1;
        }
    }
    return least * CLIP_INTERVAL;
}
