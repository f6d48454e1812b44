/* SPDX-License-Identifier: MPL-2.0 */
/* Limits on memory and handshakes of a listener's callers. */
#include "libtltcp/engine/budget.h"

/* Limits for callers with a token, as multiples of those for callers
 * without. */
#define TOKEN_TIMES 16u
/* Share of max_memory, in quarters: address, /56, /48. */
static const uint64_t budget_quarters[TLTCP__BLOCKS] = {1, 2, 3};
/* Multiples of the limits of an address. */
static const uint64_t budget_times[TLTCP__BLOCKS] = {1, 2, 4};

void tltcp__budget_init(tltcp__budget *b, const cmn__mem *mem,
                        const tltcp_listener_options *o, uint64_t luck) {
    *b = (tltcp__budget){.max_memory = o->max_memory,
                         .max_half_open =
                             (uint64_t)TOKEN_TIMES * o->max_half_open,
                         .max_half_open_of = (uint64_t)TOKEN_TIMES *
                                             o->max_half_open_per_address,
                         .max_of = o->max_per_address,
                         .luck = luck};
    for (int i = 0; i < TLTCP__BLOCKS; i++) {
        cmn__tally_init(&b->of[i], mem);
    }
}

void tltcp__budget_free(tltcp__budget *b) {
    for (int i = 0; i < TLTCP__BLOCKS; i++) {
        cmn__tally_free(&b->of[i]);
    }
}

tltcp__origin tltcp__origin_of(const tltcp_pktinfo *info) {
    return (tltcp__origin){{info->network, info->block56, info->block48}};
}

/* Counters of a block beside its connections; NULL: unknown block. */
enum { HALF_OPEN, MEMORY };

static uint64_t *budget_more(const tltcp__budget *b, const tltcp__origin *o,
                             int i) {
    return o->block[i] != 0 ? cmn__tally_more(&b->of[i], o->block[i]) : NULL;
}

/* xorshift64 (Marsaglia, 2003) */
static uint64_t budget_draw(tltcp__budget *b) {
    b->luck ^= b->luck << 13;
    b->luck ^= b->luck >> 7;
    b->luck ^= b->luck << 17;
    return b->luck;
}

/* Random early drop: never below half of the limit, always at it. */
static bool budget_drops(tltcp__budget *b) {
    uint64_t start = b->max_half_open / 2;
    uint64_t span = b->max_half_open - start;
    return b->half_open >= b->max_half_open ||
           (b->half_open > start &&
            budget_draw(b) % span < b->half_open - start);
}

static void budget_forget(tltcp__budget *b, const tltcp__origin *o, int i) {
    if (o->block[i] != 0) {
        cmn__tally_down(&b->of[i], o->block[i]);
    }
}

/* Whether a block has reached its limits. */
static bool budget_is_full(const tltcp__budget *b, const tltcp__origin *o,
                           int i) {
    const uint64_t *more = budget_more(b, o, i);
    return more != NULL &&
           (more[HALF_OPEN] >= budget_times[i] * b->max_half_open_of ||
            cmn__tally_get(&b->of[i], o->block[i]) >=
                budget_times[i] * b->max_of);
}

bool tltcp__budget_admits(tltcp__budget *b, const tltcp__origin *o) {
    bool drop = budget_drops(b);
    for (int i = 0; i < TLTCP__BLOCKS; i++) {
        drop |= budget_is_full(b, o, i);
    }
    b->dropped += drop;
    return !drop;
}

int tltcp__budget_enter(tltcp__budget *b, const tltcp__origin *o) {
    for (int i = 0; i < TLTCP__BLOCKS; i++) {
        if (o->block[i] != 0 && cmn__tally_up(&b->of[i], o->block[i]) != 0) {
            while (i-- > 0) {
                budget_forget(b, o, i);
            }
            return -1;
        }
    }
    for (int i = 0; i < TLTCP__BLOCKS; i++) {
        uint64_t *more = budget_more(b, o, i);
        if (more != NULL) {
            more[HALF_OPEN]++;
        }
    }
    b->count++;
    b->half_open++;
    return 0;
}

void tltcp__budget_on_proven(tltcp__budget *b, const tltcp__origin *o) {
    b->half_open--;
    for (int i = 0; i < TLTCP__BLOCKS; i++) {
        uint64_t *more = budget_more(b, o, i);
        if (more != NULL) {
            more[HALF_OPEN]--;
        }
    }
}

void tltcp__budget_leave(tltcp__budget *b, const tltcp__origin *o,
                         bool proven) {
    if (!proven) {
        tltcp__budget_on_proven(b, o);
    }
    b->count--;
    for (int i = 0; i < TLTCP__BLOCKS; i++) {
        budget_forget(b, o, i);
    }
}

/* Memory beyond a connection's own share. */
static size_t budget_beyond(size_t held) {
    return held > TLTCP__BUDGET_OWN ? held - TLTCP__BUDGET_OWN : 0;
}

bool tltcp__budget_allows(const tltcp__budget *b, const tltcp__origin *o,
                          size_t held, size_t more) {
    uint64_t taken = b->count * TLTCP__BUDGET_OWN + b->held;
    uint64_t wants = budget_beyond(held + more);
    if (wants == 0) {
        return true;
    }
    if (taken >= b->max_memory || wants > b->max_memory - taken) {
        return false;
    }
    for (int i = 0; i < TLTCP__BLOCKS; i++) {
        const uint64_t *of = budget_more(b, o, i);
        if (of != NULL &&
            of[MEMORY] + more > b->max_memory / 4 * budget_quarters[i]) {
            return false;
        }
    }
    return true;
}

void tltcp__budget_charge(tltcp__budget *b, const tltcp__origin *o, size_t was,
                          size_t is) {
    size_t before = budget_beyond(was);
    size_t after = budget_beyond(is);
    if (before == after) {
        return;
    }
    b->held = b->held - before + after;
    for (int i = 0; i < TLTCP__BLOCKS; i++) {
        uint64_t *of = budget_more(b, o, i);
        if (of != NULL) {
            of[MEMORY] = of[MEMORY] - before + after;
        }
    }
}
