/* SPDX-License-Identifier: MPL-2.0 */
/* Connections of a listener, per address and IPv6 network. */
#include "internal/secure/origin.h"

static const uint64_t origins_times[SEC__BLOCKS] = {1, 2, 4};

void sec__origins_init(sec__origins *t, const cmn__mem *mem) {
    for (int i = 0; i < SEC__BLOCKS; i++) {
        cmn__tally_init(&t->of[i], mem);
    }
}

void sec__origins_free(sec__origins *t) {
    for (int i = 0; i < SEC__BLOCKS; i++) {
        cmn__tally_free(&t->of[i]);
    }
}

uint64_t sec__origins_count(const sec__origins *t, const sec__origin *o,
                            int i) {
    return o->block[i] != 0 ? cmn__tally_get(&t->of[i], o->block[i]) : 0;
}

uint64_t *sec__origins_more(const sec__origins *t, const sec__origin *o,
                            int i) {
    return o->block[i] != 0 ? cmn__tally_more(&t->of[i], o->block[i]) : NULL;
}

uint64_t sec__origins_limit(int i, uint64_t most, uint64_t all) {
    uint64_t limit = origins_times[i] * most;
    uint64_t share = all - all / 4;
    return i > 0 && most < all && limit > share ? share : limit;
}

static void origins_forget(sec__origins *t, const sec__origin *o, int i) {
    if (o->block[i] != 0) {
        cmn__tally_down(&t->of[i], o->block[i]);
    }
}

int sec__origins_enter(sec__origins *t, const sec__origin *o) {
    for (int i = 0; i < SEC__BLOCKS; i++) {
        if (o->block[i] != 0 && cmn__tally_up(&t->of[i], o->block[i]) != 0) {
            while (i-- > 0) {
                origins_forget(t, o, i);
            }
            return -1;
        }
    }
    for (int i = 0; i < SEC__BLOCKS; i++) {
        uint64_t *more = sec__origins_more(t, o, i);
        if (more != NULL) {
            more[SEC__ORIGIN_HALF_OPEN]++;
        }
    }
    return 0;
}

void sec__origins_on_proven(sec__origins *t, const sec__origin *o) {
    for (int i = 0; i < SEC__BLOCKS; i++) {
        uint64_t *more = sec__origins_more(t, o, i);
        if (more != NULL) {
            more[SEC__ORIGIN_HALF_OPEN]--;
        }
    }
}

void sec__origins_leave(sec__origins *t, const sec__origin *o, bool proven) {
    if (!proven) {
        sec__origins_on_proven(t, o);
    }
    for (int i = 0; i < SEC__BLOCKS; i++) {
        origins_forget(t, o, i);
    }
}

bool sec__origins_are_full(const sec__origins *t, const sec__origin *o,
                           uint64_t most, uint64_t all) {
    bool full = false;
    for (int i = 0; i < SEC__BLOCKS; i++) {
        full |= o->block[i] != 0 &&
                sec__origins_count(t, o, i) >= sec__origins_limit(i, most, all);
    }
    return full;
}

bool sec__origins_are_half_open(const sec__origins *t, const sec__origin *o,
                                uint64_t most, uint64_t all) {
    bool full = false;
    for (int i = 0; i < SEC__BLOCKS; i++) {
        const uint64_t *more = sec__origins_more(t, o, i);
        uint64_t n = more != NULL ? more[SEC__ORIGIN_HALF_OPEN] : 0;
        full |= o->block[i] != 0 && n >= sec__origins_limit(i, most, all);
    }
    return full;
}
