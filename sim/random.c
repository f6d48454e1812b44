/* SPDX-License-Identifier: MPL-2.0 */
#include "sim/random.h"

#include <math.h>

static uint64_t splitmix(uint64_t *x) {
    uint64_t z = (*x += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t rotl(uint64_t x, int k) {
    return (x << k) | (x >> (64 - k));
}

void sim_random_init(struct sim_random *r, uint64_t seed) {
    for (size_t i = 0; i < 4; i++) {
        r->s[i] = splitmix(&seed);
    }
}

uint64_t sim_random_u64(struct sim_random *r) {
    uint64_t *s = r->s;
    uint64_t result = rotl(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
    return result;
}

double sim_random_unit(struct sim_random *r) {
    return (double)(sim_random_u64(r) >> 11) * 0x1p-53;
}

uint64_t sim_random_below(struct sim_random *r, uint64_t n) {
    /* Draw again in the incomplete last stretch: no value is favoured. */
    uint64_t limit = n == 0 ? 0 : UINT64_MAX - UINT64_MAX % n;
    uint64_t x;
    if (n == 0) {
        return 0;
    }
    do {
        x = sim_random_u64(r);
    } while (x >= limit);
    return x % n;
}

bool sim_random_chance(struct sim_random *r, double p) {
    if (p <= 0) {
        return false;
    }
    return p >= 1 || sim_random_unit(r) < p;
}

double sim_random_exponential(struct sim_random *r, double mean) {
    return -mean * log1p(-sim_random_unit(r));
}

void sim_random_bytes(struct sim_random *r, void *buf, size_t len) {
    uint8_t *p = buf;
    uint64_t x = 0;
    for (size_t i = 0; i < len; i++) {
        if (i % 8 == 0) {
            x = sim_random_u64(r);
        }
        p[i] = (uint8_t)(x >> (i % 8 * 8));
    }
}
