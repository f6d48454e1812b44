/* SPDX-License-Identifier: MPL-2.0 */
/* A reproducible pseudorandom number generator. */
#include "internal/common/rng.h"

static uint64_t rotl(uint64_t x, int k) {
    return x << k | x >> (64 - k);
}

void cmn__rng_seed(cmn__rng *g, uint64_t seed) {
    /* splitmix64, as the authors of xoshiro recommend. */
    for (int i = 0; i < 4; i++) {
        uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        g->s[i] = z ^ z >> 31;
    }
}

uint64_t cmn__rng_next(cmn__rng *g) {
    uint64_t *s = g->s;
    uint64_t out = rotl(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
    return out;
}

uint64_t cmn__rng_below(cmn__rng *g, uint64_t bound) {
    uint64_t skip = (0 - bound) % bound; /* rejects values that would cause
                                            bias */
    uint64_t x = cmn__rng_next(g);
    while (x < skip) {
        x = cmn__rng_next(g);
    }
    return x % bound;
}

double cmn__rng_unit(cmn__rng *g) {
    return (double)(cmn__rng_next(g) >> 11) * 0x1p-53;
}
