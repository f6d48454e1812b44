/* SPDX-License-Identifier: MPL-2.0 */
/* The replay window. */
#include "internal/secure/replay.h"

/* Whole words are cleared as the window moves. */
#define WORDS (SEC__REPLAY_BITS / 64)
#define WINDOW (SEC__REPLAY_BITS - 64)

bool sec__replay_fresh(const sec__replay *w, uint64_t pn) {
    return pn >= w->top || (w->top - 1 - pn < WINDOW &&
                            (w->seen[pn / 64 % WORDS] >> pn % 64 & 1) == 0);
}

bool sec__replay_mark(sec__replay *w, uint64_t pn) {
    bool highest = pn >= w->top;
    if (highest) {
        uint64_t word = w->top > 0 ? (w->top - 1) / 64 : 0;
        for (unsigned n = 0; word < pn / 64 && n < WORDS; n++) {
            w->seen[++word % WORDS] = 0;
        }
        w->top = pn + 1;
    }
    w->seen[pn / 64 % WORDS] |= UINT64_C(1) << pn % 64;
    return highest;
}
