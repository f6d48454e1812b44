/* SPDX-License-Identifier: MPL-2.0 */
/* The random numbers of the simulator. */
#include "sim/random.h"

void sim_random_init(struct sim_random *r, uint64_t seed) {
    cmn__rng_seed(&r->rng, seed);
}

uint64_t sim_random_u64(struct sim_random *r) {
    return cmn__rng_next(&r->rng);
}

double sim_random_unit(struct sim_random *r) {
    return cmn__rng_unit(&r->rng);
}

uint64_t sim_random_below(struct sim_random *r, uint64_t n) {
    return n == 0 ? 0 : cmn__rng_below(&r->rng, n);
}

bool sim_random_chance(struct sim_random *r, double p) {
    if (p <= 0) {
        return false;
    }
    return p >= 1 || sim_random_unit(r) < p;
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
