/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_RNG_H
#define COMMON_RNG_H

#include <stdint.h>

/* xoshiro256** (Blackman, Vigna 2018): reproducible from a seed; not for
 * secrets.
 */
typedef struct cmn__rng {
    uint64_t s[4];
} cmn__rng;

void cmn__rng_seed(cmn__rng *g, uint64_t seed);
uint64_t cmn__rng_next(cmn__rng *g);
/* Uniform over [0, bound); bound > 0. */
uint64_t cmn__rng_below(cmn__rng *g, uint64_t bound);
/* Uniform over [0, 1). */
double cmn__rng_unit(cmn__rng *g);

#endif /* COMMON_RNG_H */
