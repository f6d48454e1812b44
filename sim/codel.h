/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file sim/codel.h
 * @brief CoDel: active queue management by queueing delay (RFC 8289).
 */
#ifndef SIM_CODEL_H
#define SIM_CODEL_H

#include <stdbool.h>
#include <stdint.h>

/** @brief Parameters (RFC 8289, 4.2 and 4.3). */
struct sim_codel_config {
    uint64_t target;   /**< acceptable standing delay, ns */
    uint64_t interval; /**< time above the target before dropping, ns */
};

/** @brief State, initially zeroed; names as in RFC 8289 section 5.2. */
struct sim_codel {
    uint64_t first_above; /**< when to act if the delay persists; 0: it is
                               short */
    uint64_t drop_next;   /**< when to drop again */
    uint64_t count;       /**< drops since dropping began */
    uint64_t last_count;  /**< count when dropping last began */
    bool dropping;        /**< in the dropping state */
};

/** @brief Sets the RFC's 5 ms and 100 ms. @param c  config */
void sim_codel_config_init(struct sim_codel_config *c);
/**
 * @brief Judges a packet that leaves the queue.
 * @param s        state
 * @param c        parameters
 * @param now      current time, ns
 * @param waited   how long the packet was in the queue, ns
 * @param backlog  bytes queued behind it
 * @return true: drop it (then judge the next one), or mark and send it
 */
bool sim_codel_judge(struct sim_codel *s, const struct sim_codel_config *c,
                     uint64_t now, uint64_t waited, uint64_t backlog);

#endif /* SIM_CODEL_H */
