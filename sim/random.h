/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file sim/random.h
 * @brief The simulator's generator: xoshiro256** (Blackman and Vigna), seeded
 * by splitmix64, so that a seed identifies a run on every machine.
 */
#ifndef SIM_RANDOM_H
#define SIM_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "internal/common/rng.h"

/** @brief State of one independent sequence. */
struct sim_random {
    cmn__rng rng; /**< generator of internal/common */
};

/**
 * @brief Starts a sequence.
 * @param r     state
 * @param seed  any number; equal seeds give equal sequences
 */
void sim_random_init(struct sim_random *r, uint64_t seed);
/** @brief The next 64 bits. @param r  state @return uniform */
uint64_t sim_random_u64(struct sim_random *r);
/** @brief A real number. @param r  state @return uniform in [0, 1) */
double sim_random_unit(struct sim_random *r);
/**
 * @brief A whole number.
 * @param r  state
 * @param n  number of values
 * @return uniform in 0 .. n - 1; 0 when @p n is 0
 */
uint64_t sim_random_below(struct sim_random *r, uint64_t n);
/**
 * @brief A random event; draws no number if the outcome is certain, so that
 * switching one impairment on does not shift the others.
 * @param r  state
 * @param p  probability, 0 to 1
 * @return true with probability @p p
 */
bool sim_random_chance(struct sim_random *r, double p);
/**
 * @brief Fills memory.
 * @param r    state
 * @param buf  where to
 * @param len  bytes
 */
void sim_random_bytes(struct sim_random *r, void *buf, size_t len);

#endif /* SIM_RANDOM_H */
