/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file sim/stage.h
 * @brief A scenario as a running network.
 */
#ifndef SIM_STAGE_H
#define SIM_STAGE_H

#include "sim/flow.h"

/** @brief A network with the flows of a scenario in it. */
struct stage {
    const struct scenario *scenario;
    struct sim_net *net;
    uint32_t *nodes; /**< nodes of the network, by node of the scenario */
    uint32_t *links; /**< links of the network, by link of the scenario */
    struct flow *flows;
    uint32_t n_flows;
    struct flow **sender_of;   /**< by node of the network, or NULL */
    struct flow **receiver_of; /**< likewise */
    uint32_t n_hosts;          /**< room in these two */
    struct sim_timer *changes;
};

/**
 * @brief Builds the network at time 0.
 * @param[out] t    to be freed with stage_free() in any case
 * @param s         owned by the caller
 * @param[out] why  SCENARIO_WHY_MAX bytes
 * @return false: error
 */
bool stage_build(struct stage *t, const struct scenario *s, char *why);
/** @brief Runs until a time. @param t  stage @param until  ns */
void stage_run(struct stage *t, uint64_t until);
/** @brief A link of the scenario. @param t  stage @param link  its number
 * @return as it is now */
const struct sim_link *stage_link(const struct stage *t, uint32_t link);
/** @brief Frees it. @param t  stage */
void stage_free(struct stage *t);

#endif /* SIM_STAGE_H */
