/* SPDX-License-Identifier: MPL-2.0 */
/* Limits on memory and handshakes of a listener's callers. */
#include "libtltcp/engine/budget.h"

/* Limits for callers with a token, as multiples of those for callers
 * without. */
#define TOKEN_TIMES 16u
/* Share of max_memory, in quarters: address, /56, /48. */
static const uint64_t budget_quarters[SEC__BLOCKS] = {1, 2, 3};

void tltcp__budget_init(tltcp__budget *b, const cmn__mem *mem,
                        const tltcp_listener_options *o, uint64_t luck) {
    *b = (tltcp__budget){.max_memory = o->max_memory,
                         .max_half_open =
                             (uint64_t)TOKEN_TIMES * o->max_half_open,
                         .max_half_open_of = (uint64_t)TOKEN_TIMES *
                                             o->max_half_open_per_address,
                         .luck = luck};
    sec__origins_init(&b->origins, mem);
}

void tltcp__budget_free(tltcp__budget *b) {
    sec__origins_free(&b->origins);
}

sec__origin tltcp__origin_of(const tltcp_pktinfo *info) {
    return (sec__origin){{info->network, info->block56, info->block48}};
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

/* Whether a block has reached its limit. */
static bool budget_is_full(const tltcp__budget *b, const sec__origin *o,
                           int i) {
    const uint64_t *more = sec__origins_more(&b->origins, o, i);
    return more != NULL &&
           more[SEC__ORIGIN_HALF_OPEN] >=
               sec__origins_limit(i, b->max_half_open_of, b->max_half_open);
}

bool tltcp__budget_admits(tltcp__budget *b, const sec__origin *o) {
    bool drop = budget_drops(b);
    for (int i = 0; i < SEC__BLOCKS; i++) {
        drop |= budget_is_full(b, o, i);
    }
    b->dropped += drop;
    return !drop;
}

int tltcp__budget_enter(tltcp__budget *b, const sec__origin *o) {
    if (sec__origins_enter(&b->origins, o) != 0) {
        return -1;
    }
    b->count++;
    b->half_open++;
    return 0;
}

void tltcp__budget_on_proven(tltcp__budget *b, const sec__origin *o) {
    b->half_open--;
    sec__origins_on_proven(&b->origins, o);
}

void tltcp__budget_leave(tltcp__budget *b, const sec__origin *o, bool proven) {
    b->count--;
    b->half_open -= proven ? 0 : 1;
    sec__origins_leave(&b->origins, o, proven);
}

/* Memory beyond a connection's own share. */
static size_t budget_beyond(size_t held) {
    return held > TLTCP__BUDGET_OWN ? held - TLTCP__BUDGET_OWN : 0;
}

bool tltcp__budget_allows(const tltcp__budget *b, const sec__origin *o,
                          size_t held, size_t more) {
    uint64_t taken = b->count * TLTCP__BUDGET_OWN + b->held;
    uint64_t wants = budget_beyond(held + more);
    if (wants == 0) {
        return true;
    }
    if (taken >= b->max_memory || wants > b->max_memory - taken) {
        return false;
    }
    for (int i = 0; i < SEC__BLOCKS; i++) {
        const uint64_t *of = sec__origins_more(&b->origins, o, i);
        if (of != NULL && of[SEC__ORIGIN_OWN] + more >
                              b->max_memory / 4 * budget_quarters[i]) {
            return false;
        }
    }
    return true;
}

void tltcp__budget_charge(tltcp__budget *b, const sec__origin *o, size_t was,
                          size_t is) {
    size_t before = budget_beyond(was);
    size_t after = budget_beyond(is);
    if (before == after) {
        return;
    }
    b->held = b->held - before + after;
    for (int i = 0; i < SEC__BLOCKS; i++) {
        uint64_t *of = sec__origins_more(&b->origins, o, i);
        if (of != NULL) {
            of[SEC__ORIGIN_OWN] = of[SEC__ORIGIN_OWN] - before + after;
        }
    }
}
